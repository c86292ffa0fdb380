//! Units of measure and periods, as documents write them in several languages.

use super::{FigureReader, FigureTokenKind};
use stepscope_arithmetic::number::Number;

/// Dimension of a unit; only units of one dimension are converted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FigureDimension {
    /// Seconds.
    Time,
    /// Months: how many days they have differs.
    Months,
    /// Millimetres.
    Length,
    /// Milligrams.
    Weight,
    /// Millilitres.
    Volume,
    /// Square centimetres.
    Area,
    /// Degrees Celsius.
    Celsius,
    /// Degrees Fahrenheit.
    Fahrenheit,
    /// Milliwatts.
    Power,
    /// Watt hours.
    Energy,
    /// Pascals.
    Pressure,
    /// Hertz.
    Frequency,
    /// Millivolts.
    Voltage,
    /// Bytes.
    Data,
}

/// A unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FigureMeasure {
    /// Dimension.
    pub dimension: FigureDimension,
    /// Size in the smallest unit of its dimension, in thousandths.
    size: i64,
}

impl FigureMeasure {
    /// Degrees of a scale of temperature.
    pub const fn degrees(dimension: FigureDimension) -> Self {
        Self { dimension, size: 1_000 }
    }

    /// A number of these in the smallest unit of the dimension.
    pub fn base(self, number: Number) -> Option<Number> {
        number.times(Number::fraction(self.size, 1_000)?)
    }
}

/// Symbols, by their exact letters.
const SYMBOLS: &[(&str, FigureDimension, i64)] = &[
    ("mm", FigureDimension::Length, 1_000),
    ("cm", FigureDimension::Length, 10_000),
    ("m", FigureDimension::Length, 1_000_000),
    ("km", FigureDimension::Length, 1_000_000_000),
    ("in", FigureDimension::Length, 25_400),
    ("ft", FigureDimension::Length, 304_800),
    ("µg", FigureDimension::Weight, 1),
    ("μg", FigureDimension::Weight, 1),
    ("mcg", FigureDimension::Weight, 1),
    ("mg", FigureDimension::Weight, 1_000),
    ("g", FigureDimension::Weight, 1_000_000),
    ("kg", FigureDimension::Weight, 1_000_000_000),
    ("t", FigureDimension::Weight, 1_000_000_000_000),
    ("Mg", FigureDimension::Weight, 1_000_000_000_000),
    ("lb", FigureDimension::Weight, 453_592_370),
    ("lbs", FigureDimension::Weight, 453_592_370),
    ("oz", FigureDimension::Weight, 28_349_523),
    ("ml", FigureDimension::Volume, 1_000),
    ("mL", FigureDimension::Volume, 1_000),
    ("cl", FigureDimension::Volume, 10_000),
    ("dl", FigureDimension::Volume, 100_000),
    ("l", FigureDimension::Volume, 1_000_000),
    ("L", FigureDimension::Volume, 1_000_000),
    ("qm", FigureDimension::Area, 10_000_000),
    ("sqm", FigureDimension::Area, 10_000_000),
    ("ha", FigureDimension::Area, 100_000_000_000),
    ("mW", FigureDimension::Power, 1_000),
    ("W", FigureDimension::Power, 1_000_000),
    ("kW", FigureDimension::Power, 1_000_000_000),
    ("MW", FigureDimension::Power, 1_000_000_000_000),
    ("Wh", FigureDimension::Energy, 1_000),
    ("kWh", FigureDimension::Energy, 1_000_000),
    ("MWh", FigureDimension::Energy, 1_000_000_000),
    ("GWh", FigureDimension::Energy, 1_000_000_000_000),
    ("Pa", FigureDimension::Pressure, 1_000),
    ("hPa", FigureDimension::Pressure, 100_000),
    ("kPa", FigureDimension::Pressure, 1_000_000),
    ("MPa", FigureDimension::Pressure, 1_000_000_000),
    ("mbar", FigureDimension::Pressure, 100_000),
    ("bar", FigureDimension::Pressure, 100_000_000),
    ("Hz", FigureDimension::Frequency, 1_000),
    ("kHz", FigureDimension::Frequency, 1_000_000),
    ("MHz", FigureDimension::Frequency, 1_000_000_000),
    ("GHz", FigureDimension::Frequency, 1_000_000_000_000),
    ("mV", FigureDimension::Voltage, 1_000),
    ("V", FigureDimension::Voltage, 1_000_000),
    ("kV", FigureDimension::Voltage, 1_000_000_000),
    ("kB", FigureDimension::Data, 1_000_000),
    ("KB", FigureDimension::Data, 1_000_000),
    ("MB", FigureDimension::Data, 1_000_000_000),
    ("GB", FigureDimension::Data, 1_000_000_000_000),
    ("TB", FigureDimension::Data, 1_000_000_000_000_000),
    ("s", FigureDimension::Time, 1_000),
    ("min", FigureDimension::Time, 60_000),
    ("h", FigureDimension::Time, 3_600_000),
];

/// Names, in small letters.
const NAMES: &[(&str, FigureDimension, i64)] = &[
    ("second seconds sec secs sekunde sekunden seconde secondes", FigureDimension::Time, 1_000),
    ("minute minutes mins minuten minuto minutos minuti minuut", FigureDimension::Time, 60_000),
    ("hour hours hrs hr stunde stunden std heure heures hora horas ora ore uur uren", FigureDimension::Time, 3_600_000),
    (
        "day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen werktag werktage werktagen kalendertage kalendertagen arbeitstage arbeitstagen",
        FigureDimension::Time,
        86_400_000,
    ),
    (
        "week weeks woche wochen semaine semaines semana semanas settimana settimane weken",
        FigureDimension::Time,
        604_800_000,
    ),
    ("month months monat monate monaten mois mes meses mês mese mesi maand maanden", FigureDimension::Months, 1_000),
    (
        "quarter quarters quartal quartale quartalen trimestre trimestres trimestri kwartaal",
        FigureDimension::Months,
        3_000,
    ),
    (
        "year years jahr jahre jahren an ans année années año años ano anos anno anni jaar jaren yrs yr",
        FigureDimension::Months,
        12_000,
    ),
    ("millimetre millimetres millimeter millimeters millimètres", FigureDimension::Length, 1_000),
    ("centimetre centimetres centimeter centimeters zentimeter centimètres", FigureDimension::Length, 10_000),
    ("metre metres meter meters metern mètre mètres", FigureDimension::Length, 1_000_000),
    (
        "kilometre kilometres kilometer kilometers kilometern kilomètre kilomètres",
        FigureDimension::Length,
        1_000_000_000,
    ),
    ("inch inches zoll", FigureDimension::Length, 25_400),
    ("foot feet", FigureDimension::Length, 304_800),
    ("mile miles", FigureDimension::Length, 1_609_344_000),
    ("milligram milligrams milligramm milligrammes", FigureDimension::Weight, 1_000),
    ("gram grams gramme grammes gramm", FigureDimension::Weight, 1_000_000),
    ("kilogram kilograms kilo kilos kilogramm kilogrammes", FigureDimension::Weight, 1_000_000_000),
    ("tonne tonnes tonnen", FigureDimension::Weight, 1_000_000_000_000),
    ("pound pounds", FigureDimension::Weight, 453_592_370),
    ("ounce ounces", FigureDimension::Weight, 28_349_523),
    ("millilitre millilitres milliliter milliliters", FigureDimension::Volume, 1_000),
    ("litre litres liter liters litern", FigureDimension::Volume, 1_000_000),
    ("gallon gallons", FigureDimension::Volume, 3_785_411_784),
    ("hectare hectares hektar", FigureDimension::Area, 100_000_000_000),
    ("quadratmeter quadratmetern", FigureDimension::Area, 10_000_000),
    ("watt watts", FigureDimension::Power, 1_000_000),
    ("kilowatt kilowatts", FigureDimension::Power, 1_000_000_000),
    ("volt volts", FigureDimension::Voltage, 1_000_000),
];

/// The unit of a word.
pub fn measure(word: &str) -> Option<FigureMeasure> {
    let symbol = SYMBOLS.iter().find(|(symbol, ..)| *symbol == word);
    if let Some((_, dimension, size)) = symbol {
        return Some(FigureMeasure { dimension: *dimension, size: *size });
    }
    let lower = word.to_lowercase();
    let (_, dimension, size) = NAMES.iter().find(|(names, ..)| names.split(' ').any(|name| name == lower))?;
    Some(FigureMeasure { dimension: *dimension, size: *size })
}

/// The unit at a token, and the token behind it.
pub(super) fn at(reader: &FigureReader<'_>, at: usize) -> Option<(FigureMeasure, usize)> {
    const QUALIFIERS: &str =
        "working business calendar consecutive full further whole complete clear volle vollen ganze weitere";
    match reader.kind(at)? {
        FigureTokenKind::Sign('℃') => Some((FigureMeasure::degrees(FigureDimension::Celsius), at + 1)),
        FigureTokenKind::Sign('℉') => Some((FigureMeasure::degrees(FigureDimension::Fahrenheit), at + 1)),
        FigureTokenKind::Sign('°' | 'º') => {
            let letter = reader.past_blanks(at + 1);
            let dimension = match reader.str(letter) {
                "C" => FigureDimension::Celsius,
                "F" => FigureDimension::Fahrenheit,
                _ => return None,
            };
            Some((FigureMeasure::degrees(dimension), letter + 1))
        }
        FigureTokenKind::Word => {
            let raw = reader.str(at);
            let lower = raw.to_lowercase();
            let second = reader.past_blanks(at + 1);
            if matches!(lower.as_str(), "degrees" | "degree" | "grad" | "degrés") {
                let dimension = match reader.word(second)?.as_str() {
                    "celsius" | "c" | "centigrade" => FigureDimension::Celsius,
                    "fahrenheit" | "f" => FigureDimension::Fahrenheit,
                    _ => return None,
                };
                return Some((FigureMeasure::degrees(dimension), second + 1));
            }
            let is_square =
                matches!(lower.as_str(), "square" | "sq") && reader.kind(second) == Some(FigureTokenKind::Word);
            if is_square {
                let metres = measure(reader.str(second))?;
                let is_metre = metres.dimension == FigureDimension::Length && metres.size == 1_000_000;
                return is_metre
                    .then_some((FigureMeasure { dimension: FigureDimension::Area, size: 10_000_000 }, second + 1));
            }
            if QUALIFIERS.split(' ').any(|known| known == lower) {
                let unit = measure(reader.str(second))?;
                return (unit.dimension == FigureDimension::Time || unit.dimension == FigureDimension::Months)
                    .then_some((unit, second + 1));
            }
            // "m²", "m2"; "in" is mostly no inch.
            let squares = reader.is_sign(at + 1, &['²']) || reader.str(at + 1) == "2";
            if raw == "m" && squares {
                return Some((FigureMeasure { dimension: FigureDimension::Area, size: 10_000_000 }, at + 2));
            }
            let unit = measure(raw).filter(|_| !matches!(raw, "in" | "an" | "s" | "t"))?;
            Some((unit, at + 1))
        }
        _ => None,
    }
}

/// Period for which an amount is due.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Period {
    /// An hour.
    Hour,
    /// A day or night.
    Day,
    /// A week.
    Week,
    /// A month.
    Month,
    /// A quarter of a year.
    Quarter,
    /// Half a year.
    HalfYear,
    /// A year.
    Year,
}

impl Period {
    /// Number of months, where it has a whole one.
    pub const fn months(self) -> Option<f64> {
        match self {
            Self::Month => Some(1.0),
            Self::Quarter => Some(3.0),
            Self::HalfYear => Some(6.0),
            Self::Year => Some(12.0),
            Self::Hour | Self::Day | Self::Week => None,
        }
    }
}

/// The period that a word names: `monthly`, `Monat`, `annuel`, `Jahresprämie`. Words in small letters.
pub fn period(word: &str) -> Option<Period> {
    const STEMS: [(&str, Period); 34] = [
        ("hourly", Period::Hour),
        ("hour", Period::Hour),
        ("stunde", Period::Hour),
        ("stündlich", Period::Hour),
        ("heure", Period::Hour),
        ("horaire", Period::Hour),
        ("daily", Period::Day),
        ("day", Period::Day),
        ("täglich", Period::Day),
        ("tages", Period::Day),
        ("jour", Period::Day),
        ("weekly", Period::Week),
        ("week", Period::Week),
        ("woche", Period::Week),
        ("wöchentlich", Period::Week),
        ("semaine", Period::Week),
        ("hebdomadaire", Period::Week),
        ("month", Period::Month),
        ("monat", Period::Month),
        ("mtl", Period::Month),
        ("mois", Period::Month),
        ("mensu", Period::Month),
        ("quarter", Period::Quarter),
        ("quartal", Period::Quarter),
        ("vierteljahr", Period::Quarter),
        ("vierteljähr", Period::Quarter),
        ("trimestr", Period::Quarter),
        ("halbjähr", Period::HalfYear),
        ("semestr", Period::HalfYear),
        ("year", Period::Year),
        ("annual", Period::Year),
        ("jahr", Period::Year),
        ("jähr", Period::Year),
        ("annuel", Period::Year),
    ];
    let whole = match word {
        "annum" | "yr" | "an" | "année" | "pa" | "p.a" => Some(Period::Year),
        "tag" | "night" | "nacht" | "nuit" => Some(Period::Day),
        "pcm" | "pm" => Some(Period::Month),
        "pw" => Some(Period::Week),
        _ => None,
    };
    whole.or_else(|| STEMS.iter().find(|(stem, _)| word.starts_with(stem)).map(|(_, period)| *period))
}
