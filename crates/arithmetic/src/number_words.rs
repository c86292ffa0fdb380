//! Number words: what `twelve`, `thirds`, `twice` and `dozen` mean. The one table that all readers of texts ask; words are
//! lower case.

/// Longer words mean nothing here.
pub(crate) const LONGEST: usize = 11;

/// Contribution of a word to a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberWord {
    /// 0 to 19.
    Small(u8),
    /// 20 to 90.
    Tens(u8),
    /// 100.
    Hundred,
    /// 1,000 and more.
    Scale(i64),
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

impl NumberWord {
    /// The count that the word alone says: `twelve`, `forty`.
    pub fn count(self) -> Option<i64> {
        match self {
            Self::Small(n) | Self::Tens(n) => Some(n.into()),
            _ => None,
        }
    }

    /// The factor that the word is behind a number: `two hundred`, `3 dozen`.
    pub(crate) fn factor(self) -> Option<i64> {
        match self {
            Self::Hundred => Some(100),
            Self::Scale(n) => Some(n),
            Self::Dozen => Some(12),
            Self::Score => Some(20),
            _ => None,
        }
    }

    /// The value of the word alone, as a fraction; `None`: it has one only with what is next to it.
    pub fn value(self) -> Option<(i64, i64)> {
        match self {
            Self::Small(n) | Self::Tens(n) | Self::Multiple(n) => Some((n.into(), 1)),
            Self::Hundred | Self::Scale(_) | Self::Dozen => Some((self.factor()?, 1)),
            Self::Half => Some((1, 2)),
            Self::Nth(n, _) => Some((1, n.into())),
            Self::Ordinal(_) | Self::Two | Self::Score | Self::Each | Self::Period(_) => None,
        }
    }
}

/// Writes the table of words as a function and as a list.
macro_rules! table {
    ($($($word:literal)|+ => $meaning:expr,)+) => {
        /// Returns the meaning of a word, if it can be part of a number.
        pub fn number_word(word: &[u8]) -> Option<NumberWord> {
            use NumberWord::{Dozen, Each, Half, Hundred, Multiple, Nth, Ordinal, Period, Scale, Score, Small, Tens, Two};
            Some(match word {
                $($($word)|+ => $meaning,)+
                _ => return None,
            })
        }

        /// Every word that means something.
        const WORDS: &[&[u8]] = &[$($($word,)+)+];
    };
}

table! {
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
    b"lakh" | b"lakhs" => Scale(100_000),
    b"crore" | b"crores" => Scale(10_000_000),
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

/// The words that say a count alone, each with it.
pub(crate) fn counts() -> impl Iterator<Item = (i64, &'static [u8])> {
    WORDS.iter().filter_map(|word| Some((number_word(word)?.count()?, *word)))
}

/// The words for one of so many equal parts: `quarter`, `fourths`.
pub(crate) fn parts_of(count: i128) -> impl Iterator<Item = &'static [u8]> {
    WORDS.iter().copied().filter(move |word| match number_word(word) {
        Some(NumberWord::Nth(n, _)) => i128::from(n) == count,
        Some(NumberWord::Half) => count == 2,
        _ => false,
    })
}

/// For each pair of first letters, the lengths of the words that begin so, one bit each.
const LENGTHS: [u16; 1024] = lengths();

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

/// Tells whether a word of letters, in any case, may have a meaning, by its first two letters and its length.
pub(crate) fn may_mean(word: &[u8]) -> bool {
    let [first, second, ..] = word else { return false };
    let lengths = LENGTHS.get(pair(*first, *second)).copied().unwrap_or(0);
    word.len() <= LONGEST && lengths >> word.len() & 1 == 1
}
