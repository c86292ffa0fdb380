//! The columns of an Arrow table, and how each lies in its buffers.

use super::flat::Flat;
use crate::source::columns::{MAX_DIGITS, Unread};
use crate::source::times::{TimeKind, TimeUnit};

/// Number of columns that are read, nested ones counted.
const MAX_FIELDS: usize = 4_096;
pub(super) const MAX_DEPTH: usize = 12;

/// A column, or a part of one.
#[derive(Debug)]
pub(super) struct ArrowField {
    pub(super) name: String,
    pub(super) kind: ArrowKind,
    pub(super) extension: Option<Extension>,
    /// Dictionary that holds the values, of which the column has the indices, and the type of these.
    pub(super) dictionary: Option<(i64, IntKind)>,
    pub(super) children: Vec<Self>,
}

/// Meaning of a column's values, where they are not what they are stored as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Extension {
    Uuid,
    /// Texts that are JSON.
    Json,
    /// Truth values of a byte each.
    Bool,
}

/// Whole numbers of so many bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct IntKind {
    pub(super) bytes: usize,
    pub(super) signed: bool,
}

/// The type of a column.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ArrowKind {
    Null,
    Bool,
    Int(IntKind),
    /// Dates and times, as whole numbers.
    Time(IntKind, TimeKind),
    /// Fractions of so many bytes.
    Float(usize),
    /// Digits of so many bytes, so many of which follow the point.
    Decimal {
        bytes: usize,
        scale: i32,
    },
    /// Texts or bytes, with places of 64 bits if they are wide.
    Bytes {
        wide: bool,
    },
    /// Bytes, so many each.
    FixedBytes(usize),
    /// Texts or bytes whose places come one by one.
    Views,
    /// Lists with places of 64 bits if they are wide, each with its length if they are views.
    List {
        wide: bool,
        is_view: bool,
    },
    /// Lists of so many items each.
    Lists(usize),
    Object,
    /// Objects with keys of their own.
    Map,
    /// A type that is not read, of this many buffers.
    Other(usize, &'static str),
}

impl ArrowField {
    /// Finds what of it cannot be read.
    pub(super) fn unread(&self) -> Option<Unread> {
        let is_nested =
            |kind| matches!(kind, ArrowKind::List { .. } | ArrowKind::Lists(_) | ArrowKind::Object | ArrowKind::Map);
        match (self.kind, self.children.as_slice()) {
            (ArrowKind::Other(_, what), _) => Some(Unread::new(what)),
            (ArrowKind::List { .. } | ArrowKind::Lists(_), [item]) => item.unread(),
            (ArrowKind::List { .. } | ArrowKind::Lists(_), _) => Some(Unread::new("list of nothing")),
            (ArrowKind::Map, [entry]) => match entry.children.as_slice() {
                [key, _] if is_nested(key.kind) => Some(Unread::new("map with lists or objects as keys")),
                [_, _] => entry.unread(),
                _ => Some(Unread::new("map of nothing")),
            },
            (ArrowKind::Map, _) => Some(Unread::new("map of nothing")),
            (_, members) => members.iter().find_map(|member| member.unread().map(|unread| unread.within(&member.name))),
        }
    }

    /// Finds the field of a dictionary.
    pub(super) fn with_dictionary(&self, id: i64) -> Option<&Self> {
        let is_it = self.dictionary.is_some_and(|(own, _)| own == id);
        if is_it { Some(self) } else { self.children.iter().find_map(|child| child.with_dictionary(id)) }
    }
}

/// Reads the columns of a schema; `None`: it is damaged, or has too many.
pub(super) fn fields(schema: Flat<'_>) -> Option<Vec<ArrowField>> {
    let mut left = MAX_FIELDS;
    schema.tables(1).map(|flat| field(flat?, 0, &mut left)).collect()
}

fn field(flat: Flat<'_>, depth: usize, left: &mut usize) -> Option<ArrowField> {
    *left = left.checked_sub(1).filter(|_| depth < MAX_DEPTH)?;
    let name = String::from_utf8_lossy(flat.text(0).unwrap_or_default()).into_owned();
    let children = flat.tables(5).map(|child| field(child?, depth + 1, left)).collect::<Option<_>>()?;
    let index = |encoding: Flat<'_>| (encoding.long(0).unwrap_or(0), encoding.table(1).map_or(INDEX, int));
    let dictionary = flat.table(4).map(index);
    let kind = kind(flat.byte(2).unwrap_or(0), flat.table(3)?)?;
    Some(ArrowField { name, kind, extension: extension(flat), dictionary, children })
}

fn extension(field: Flat<'_>) -> Option<Extension> {
    let name = field.tables(6).flatten().find(|pair| pair.text(0) == Some(b"ARROW:extension:name"))?;
    match name.text(1)? {
        b"arrow.uuid" => Some(Extension::Uuid),
        b"arrow.json" => Some(Extension::Json),
        b"arrow.bool8" => Some(Extension::Bool),
        _ => None,
    }
}

const INDEX: IntKind = IntKind { bytes: 4, signed: true };

fn int(flat: Flat<'_>) -> IntKind {
    IntKind { bytes: flat.int(0).unwrap_or(0) as usize / 8, signed: flat.byte(1).unwrap_or(0) != 0 }
}

fn decimal(flat: Flat<'_>) -> ArrowKind {
    let (bytes, scale) = (flat.int(2).unwrap_or(128) / 8, flat.int(1).unwrap_or(0));
    match bytes {
        4 | 8 | 16 | 32 if (-MAX_DIGITS..=MAX_DIGITS).contains(&scale) => {
            ArrowKind::Decimal { bytes: bytes as usize, scale }
        }
        _ => ArrowKind::Other(2, "decimal of more than 76 digits"),
    }
}

/// Maps the types of Arrow by their numbers in `Schema.fbs`.
fn kind(number: u8, flat: Flat<'_>) -> Option<ArrowKind> {
    let whole = |bits: i32| IntKind { bytes: if bits == 32 { 4 } else { 8 }, signed: true };
    let unit = |default: i16| match flat.short(0).unwrap_or(default) {
        0 => Some(TimeUnit::Seconds),
        1 => Some(TimeUnit::Millis),
        2 => Some(TimeUnit::Micros),
        3 => Some(TimeUnit::Nanos),
        _ => None,
    };
    Some(match number {
        1 => ArrowKind::Null,
        2 => match int(flat) {
            int @ IntKind { bytes: 1 | 2 | 4 | 8, .. } => ArrowKind::Int(int),
            _ => return None,
        },
        3 => match flat.short(0).unwrap_or(0) {
            0 => ArrowKind::Float(2),
            1 => ArrowKind::Float(4),
            2 => ArrowKind::Float(8),
            _ => return None,
        },
        4 | 5 => ArrowKind::Bytes { wide: false },
        6 => ArrowKind::Bool,
        7 => decimal(flat),
        11 => ArrowKind::Other(2, "interval"),
        8 if flat.short(0) == Some(0) => ArrowKind::Time(whole(32), TimeKind::Date(TimeUnit::Days)),
        8 => ArrowKind::Time(whole(64), TimeKind::Date(TimeUnit::Millis)),
        9 => ArrowKind::Time(whole(flat.int(1).unwrap_or(32)), TimeKind::Time(unit(1)?)),
        10 => {
            let in_utc = flat.text(1).is_some_and(|zone| !zone.is_empty());
            ArrowKind::Time(whole(64), TimeKind::Moment { unit: unit(0)?, in_utc })
        }
        // Durations.
        18 => ArrowKind::Int(whole(64)),
        12 => ArrowKind::List { wide: false, is_view: false },
        13 => ArrowKind::Object,
        // Which child, and for dense ones where in it.
        14 => ArrowKind::Other(if flat.short(0) == Some(1) { 2 } else { 1 }, "union"),
        15 => ArrowKind::FixedBytes(usize::try_from(flat.int(0).unwrap_or(0)).ok()?),
        16 => ArrowKind::Lists(usize::try_from(flat.int(0).unwrap_or(0)).ok()?),
        17 => ArrowKind::Map,
        19 | 20 => ArrowKind::Bytes { wide: true },
        21 => ArrowKind::List { wide: true, is_view: false },
        // All is in the children.
        22 => ArrowKind::Other(0, "run-end encoded"),
        23 | 24 => ArrowKind::Views,
        25 => ArrowKind::List { wide: false, is_view: true },
        26 => ArrowKind::List { wide: true, is_view: true },
        _ => return None,
    })
}

impl ArrowKind {
    /// Counts its own buffers; views have more.
    pub(super) const fn buffers(self) -> usize {
        match self {
            Self::Null => 0,
            Self::Lists(_) | Self::Object => 1,
            Self::Bool
            | Self::Int(_)
            | Self::Time(..)
            | Self::Float(_)
            | Self::Decimal { .. }
            | Self::List { is_view: false, .. }
            | Self::Map
            | Self::FixedBytes(_)
            | Self::Views => 2,
            Self::Bytes { .. } | Self::List { .. } => 3,
            Self::Other(buffers, _) => buffers,
        }
    }
}
