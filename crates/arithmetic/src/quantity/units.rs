//! Units of measurement, and what other words around a number mean. Words are lower case.

/// Dimension of a unit of measurement.
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
    pub const fn sizes(self) -> &'static [f64] {
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
    /// Dimension that it measures.
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
const NAMED_BY_NUMBER: &[&str] = stepscope_base::list![
    number no room route bus page chapter grade class level round section part question step day week month year
    team group season episode highway lane line track flight platform exit size act unit phase apartment box door
    gate shelf table model version
];

const MONTHS: &[&str] = stepscope_base::list![
    january february march april may june july august september october november december
];

/// Words before a year.
const BEFORE_A_YEAR: &[&str] = &["in", "since", "year", "during", "by", "until", "before", "after", "from", "of"];

fn is_among(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

pub(crate) fn names_by_number(word: &[u8]) -> bool {
    is_among(NAMED_BY_NUMBER, word)
}

pub(super) fn before_a_year(word: &[u8]) -> bool {
    is_among(BEFORE_A_YEAR, word) || is_month(word)
}

pub(super) fn is_month(word: &[u8]) -> bool {
    is_among(MONTHS, word)
}
