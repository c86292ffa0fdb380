//! What the words around and inside of quantities mean. Words are lower case.

/// Longer words mean nothing here.
pub(super) const LONGEST: usize = 11;

/// What a word contributes to a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NumberWord {
    /// 0 to 19.
    Small(u8),
    /// 20 to 90.
    Tens(u8),
    /// 100.
    Hundred,
    /// 1,000 and more.
    Scale(u64),
    /// `half`.
    Half,
    /// `third`, `fifth`: an ordinal, or a part of a whole. `true`: several parts, `thirds`.
    Nth(u8, bool),
    /// `first`, `second`, `thirteenth`: never a part.
    Ordinal(u8),
    /// `twice`, `tripled`.
    Multiple(u8),
    /// `dozen`.
    Dozen,
    /// `pair`, `couple`, `both`: two, perhaps.
    Two,
    /// `score`.
    Score,
    /// `each`, `per`, `every`, `once`: one of something.
    Each,
    /// A stretch of time that counts smaller ones: `week`, seven.
    Period(u8),
}

/// The value of one number word, as a fraction: `twelve`, `thirds`, `twice`, `dozen`. `None`: it is none, or only with
/// what stands beside it.
pub(crate) fn word_value(word: &[u8]) -> Option<(i64, i64)> {
    Some(match part(word)? {
        NumberWord::Small(n) | NumberWord::Tens(n) | NumberWord::Multiple(n) => (n.into(), 1),
        NumberWord::Hundred => (100, 1),
        NumberWord::Scale(n) => (n.try_into().ok()?, 1),
        NumberWord::Dozen => (12, 1),
        NumberWord::Half => (1, 2),
        NumberWord::Nth(n, _) => (1, n.into()),
        NumberWord::Ordinal(_) | NumberWord::Two | NumberWord::Score | NumberWord::Each | NumberWord::Period(_) => {
            return None;
        }
    })
}

/// Writes the table of words as a function and as a list.
macro_rules! words {
    ($($($word:literal)|+ => $part:expr,)+) => {
        /// What a word means, if it can stand in a quantity.
        pub(super) fn part(word: &[u8]) -> Option<NumberWord> {
            use NumberWord::{Dozen, Each, Half, Hundred, Multiple, Nth, Ordinal, Period, Scale, Score, Small, Tens, Two};
            Some(match word {
                $($($word)|+ => $part,)+
                _ => return None,
            })
        }

        /// Every word that means something.
        const WORDS: &[&[u8]] = &[$($($word,)+)+];
    };
}

words! {
    b"zero" => Small(0),
    b"one" => Small(1),
    b"two" => Small(2),
    b"three" => Small(3),
    b"four" => Small(4),
    b"five" => Small(5),
    b"six" => Small(6),
    b"seven" => Small(7),
    b"eight" => Small(8),
    b"nine" => Small(9),
    b"ten" => Small(10),
    b"eleven" => Small(11),
    b"twelve" => Small(12),
    b"thirteen" => Small(13),
    b"fourteen" => Small(14),
    b"fifteen" => Small(15),
    b"sixteen" => Small(16),
    b"seventeen" => Small(17),
    b"eighteen" => Small(18),
    b"nineteen" => Small(19),
    b"twenty" => Tens(20),
    b"thirty" => Tens(30),
    b"forty" | b"fourty" => Tens(40),
    b"fifty" => Tens(50),
    b"sixty" => Tens(60),
    b"seventy" => Tens(70),
    b"eighty" => Tens(80),
    b"ninety" => Tens(90),
    b"hundred" => Hundred,
    b"thousand" => Scale(1_000),
    b"million" => Scale(1_000_000),
    b"billion" => Scale(1_000_000_000),
    b"half" | b"halved" | b"halves" | b"halfway" => Half,
    b"third" => Nth(3, false),
    b"thirds" => Nth(3, true),
    b"quarter" | b"fourth" => Nth(4, false),
    b"quarters" | b"fourths" => Nth(4, true),
    b"fifth" => Nth(5, false),
    b"fifths" => Nth(5, true),
    b"sixth" => Nth(6, false),
    b"sixths" => Nth(6, true),
    b"seventh" => Nth(7, false),
    b"sevenths" => Nth(7, true),
    b"eighth" => Nth(8, false),
    b"eighths" => Nth(8, true),
    b"ninth" => Nth(9, false),
    b"ninths" => Nth(9, true),
    b"tenth" => Nth(10, false),
    b"tenths" => Nth(10, true),
    b"twelfth" => Nth(12, false),
    b"twelfths" => Nth(12, true),
    b"hundredth" => Nth(100, false),
    b"hundredths" => Nth(100, true),
    b"first" => Ordinal(1),
    b"second" => Ordinal(2),
    b"eleventh" => Ordinal(11),
    b"thirteenth" => Ordinal(13),
    b"fourteenth" => Ordinal(14),
    b"fifteenth" => Ordinal(15),
    b"twentieth" => Ordinal(20),
    b"twice" | b"double" | b"doubled" | b"doubles" | b"doubling" | b"twofold" => Multiple(2),
    b"thrice" | b"triple" | b"tripled" | b"triples" | b"tripling" | b"threefold" => Multiple(3),
    b"quadruple" | b"quadrupled" | b"quadruples" | b"fourfold" => Multiple(4),
    b"quintuple" | b"quintupled" | b"fivefold" => Multiple(5),
    b"tenfold" => Multiple(10),
    b"dozen" => Dozen,
    b"pair" | b"pairs" | b"couple" | b"both" | b"twin" | b"twins" => Two,
    b"score" => Score,
    b"each" | b"per" | b"every" | b"once" | b"apiece" => Each,
    b"weekly" | b"week" => Period(7),
    b"daily" | b"day" => Period(24),
    b"hourly" | b"hour" | b"minute" => Period(60),
    b"yearly" | b"annually" | b"year" => Period(12),
    b"decade" => Period(10),
    b"fortnight" => Period(14),
}

/// For each pair of first letters, the lengths of the words that begin so, one bit each.
const LENGTHS: [u16; 1024] = lengths();

#[expect(clippy::indexing_slicing, reason = "done by the compiler")]
const fn lengths() -> [u16; 1024] {
    let mut table = [0; 1024];
    let mut words = WORDS;
    while let [word, rest @ ..] = words {
        table[pair(word[0], word[1])] |= 1 << word.len();
        words = rest;
    }
    table
}

/// The number of two letters in any case, below 1,024.
const fn pair(first: u8, second: u8) -> usize {
    (first as usize & 31) << 5 | second as usize & 31
}

/// Whether a word of letters, in any case, may mean something: hardly any other begins as those do and is as long.
pub(super) fn may_mean(word: &[u8]) -> bool {
    let [first, second, ..] = word else { return false };
    let lengths = LENGTHS.get(pair(*first, *second)).copied().unwrap_or(0);
    word.len() <= LONGEST && lengths >> word.len() & 1 == 1
}

/// What is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dimension {
    /// Currency, counted in cents.
    Money,
    /// Seconds.
    Time,
    /// Millimetres.
    Length,
    /// Grams.
    Weight,
    /// Millilitres.
    Volume,
    /// Hundredths.
    Percent,
}

impl Dimension {
    /// The sizes of its units, in its smallest one here.
    pub(super) const fn sizes(self) -> &'static [f64] {
        match self {
            Self::Money => &[1.0, 100.0],
            Self::Time => &[
                1.0,
                60.0,
                3600.0,
                86_400.0,
                604_800.0,
                2_419_200.0,
                2_592_000.0,
                31_104_000.0,
                31_449_600.0,
                31_536_000.0,
            ],
            Self::Length => &[1.0, 10.0, 1000.0, 1_000_000.0, 25.4, 304.8, 914.4, 1_609_344.0],
            Self::Weight => &[0.001, 1.0, 1000.0, 1_000_000.0, 28.349_523_125, 453.592_37, 907_184.74],
            Self::Volume => {
                &[1.0, 10.0, 1000.0, 29.573_529_562_5, 236.588_236_5, 473.176_473, 946.352_946, 3_785.411_784]
            }
            Self::Percent => &[1.0],
        }
    }
}

/// A unit of measurement.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unit {
    /// What it measures.
    pub dimension: Dimension,
    /// Its size, in the smallest unit of its dimension.
    pub size: f64,
    /// Its name, singular.
    pub name: &'static str,
}

/// The unit that a word names, in the singular or the plural.
pub fn unit(word: &[u8]) -> Option<Unit> {
    use Dimension::{Length, Money, Percent, Time, Volume, Weight};
    let (dimension, size, name) = match word {
        b"dollar" | b"dollars" | b"buck" | b"bucks" | b"usd" => (Money, 100.0, "dollar"),
        b"cent" | b"cents" | b"penny" | b"pennies" => (Money, 1.0, "cent"),
        b"euro" | b"euros" | b"eur" => (Money, 100.0, "euro"),
        b"percent" | b"percentage" => (Percent, 1.0, "percent"),
        b"second" | b"seconds" | b"sec" | b"secs" => (Time, 1.0, "second"),
        b"minute" | b"minutes" | b"min" | b"mins" => (Time, 60.0, "minute"),
        b"hour" | b"hours" | b"hr" | b"hrs" => (Time, 3600.0, "hour"),
        b"day" | b"days" => (Time, 86_400.0, "day"),
        b"week" | b"weeks" => (Time, 604_800.0, "week"),
        b"fortnight" | b"fortnights" => (Time, 1_209_600.0, "fortnight"),
        b"month" | b"months" => (Time, 2_592_000.0, "month"),
        b"year" | b"years" => (Time, 31_104_000.0, "year"),
        b"decade" | b"decades" => (Time, 311_040_000.0, "decade"),
        b"mm" | b"millimeter" | b"millimeters" | b"millimetre" | b"millimetres" => (Length, 1.0, "millimetre"),
        b"cm" | b"centimeter" | b"centimeters" | b"centimetre" | b"centimetres" => (Length, 10.0, "centimetre"),
        b"m" | b"meter" | b"meters" | b"metre" | b"metres" => (Length, 1000.0, "metre"),
        b"km" | b"kilometer" | b"kilometers" | b"kilometre" | b"kilometres" => (Length, 1_000_000.0, "kilometre"),
        b"inch" | b"inches" => (Length, 25.4, "inch"),
        b"foot" | b"feet" | b"ft" => (Length, 304.8, "foot"),
        b"yard" | b"yards" => (Length, 914.4, "yard"),
        b"mile" | b"miles" => (Length, 1_609_344.0, "mile"),
        b"mg" | b"milligram" | b"milligrams" => (Weight, 0.001, "milligram"),
        b"g" | b"gram" | b"grams" => (Weight, 1.0, "gram"),
        b"kg" | b"kilo" | b"kilos" | b"kilogram" | b"kilograms" => (Weight, 1000.0, "kilogram"),
        b"ounce" | b"ounces" | b"oz" => (Weight, 28.349_523_125, "ounce"),
        b"pound" | b"pounds" | b"lb" | b"lbs" => (Weight, 453.592_37, "pound"),
        b"ton" | b"tons" => (Weight, 907_184.74, "ton"),
        b"tonne" | b"tonnes" => (Weight, 1_000_000.0, "tonne"),
        b"ml" | b"milliliter" | b"milliliters" | b"millilitre" | b"millilitres" => (Volume, 1.0, "millilitre"),
        b"cl" | b"centiliter" | b"centiliters" => (Volume, 10.0, "centilitre"),
        b"l" | b"liter" | b"liters" | b"litre" | b"litres" => (Volume, 1000.0, "litre"),
        b"cup" | b"cups" => (Volume, 236.588_236_5, "cup"),
        b"pint" | b"pints" => (Volume, 473.176_473, "pint"),
        b"quart" | b"quarts" => (Volume, 946.352_946, "quart"),
        b"gallon" | b"gallons" => (Volume, 3_785.411_784, "gallon"),
        _ => return None,
    };
    Some(Unit { dimension, size, name })
}

/// Words after which a number is a name: `chapter 5`.
pub(super) fn names_by_number(word: &[u8]) -> bool {
    matches!(
        word,
        b"number"
            | b"no"
            | b"room"
            | b"route"
            | b"bus"
            | b"page"
            | b"chapter"
            | b"grade"
            | b"class"
            | b"level"
            | b"round"
            | b"section"
            | b"part"
            | b"question"
            | b"step"
            | b"day"
            | b"week"
            | b"month"
            | b"year"
            | b"team"
            | b"group"
            | b"season"
            | b"episode"
            | b"highway"
            | b"lane"
            | b"line"
            | b"track"
            | b"flight"
            | b"platform"
            | b"exit"
            | b"size"
            | b"act"
            | b"unit"
            | b"phase"
            | b"apartment"
            | b"box"
            | b"door"
            | b"gate"
            | b"shelf"
            | b"table"
            | b"model"
            | b"version"
    )
}

/// Words before a year.
pub(super) fn before_a_year(word: &[u8]) -> bool {
    matches!(word, b"in" | b"since" | b"year" | b"during" | b"by" | b"until" | b"before" | b"after" | b"from" | b"of")
        || is_month(word)
}

/// The names of the months.
pub(super) fn is_month(word: &[u8]) -> bool {
    matches!(
        word,
        b"january"
            | b"february"
            | b"march"
            | b"april"
            | b"may"
            | b"june"
            | b"july"
            | b"august"
            | b"september"
            | b"october"
            | b"november"
            | b"december"
    )
}
