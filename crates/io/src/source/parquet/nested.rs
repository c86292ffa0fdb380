//! Lists and objects in columns: which leaves of the schema they are made of, and how their levels become JSON again.

use ::parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit as Unit};
use ::parquet::data_type::ByteArray;
use ::parquet::schema::types::Type;

use crate::source::columns::{Cell, Leaf, MAX_DIGITS, TOO_LARGE, Unread, is_said_by_null, json_key};
use crate::source::times::{TimeKind, TimeUnit};

/// Depth up to which columns are read.
const MAX_DEPTH: usize = 12;
const DAMAGED: &str = "its lists are damaged";

/// A column of a table: the whole, whatever is in it.
pub(super) struct TopColumn {
    pub(super) name: String,
    /// The whole value, or the part of it that cannot be read.
    pub(super) node: Result<Node, Unread>,
}

/// A value of a column, or what is in it. Each is there where the level of its leaves is as high as its own.
pub(super) enum Node {
    Leaf {
        leaf: usize,
        level: i16,
    },
    Object {
        level: i16,
        members: Vec<(String, Self)>,
    },
    /// `items`: where the list is not empty; `repeated`: the level with which all items but the first begin.
    List {
        level: i16,
        items: i16,
        repeated: i16,
        item: Box<Self>,
        is_map: bool,
    },
}

/// Meaning of the values of a leaf, where they are not what they are stored as.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LeafMeaning {
    Plain,
    Unsigned,
    Half,
    /// Digits, so many of which follow the point.
    Decimal(i32),
    Uuid,
    /// Texts that are JSON.
    Json,
    Time(TimeKind),
}

const fn unit(unit: Unit) -> TimeUnit {
    match unit {
        Unit::MILLIS => TimeUnit::Millis,
        Unit::MICROS => TimeUnit::Micros,
        Unit::NANOS => TimeUnit::Nanos,
    }
}

impl LeafMeaning {
    /// Returns the meaning of a leaf's values; `Err`: their type, which cannot be read.
    pub(super) fn of(field: &Type) -> Result<Self, &'static str> {
        let info = field.get_basic_info();
        let decimal = |scale: i32, precision: i32| {
            let is_read = (0..=MAX_DIGITS).contains(&scale) && precision <= MAX_DIGITS;
            if is_read { Ok(Self::Decimal(scale)) } else { Err("decimal of more than 76 digits") }
        };
        let time = |kind| Ok(Self::Time(kind));
        match (info.logical_type_ref(), info.converted_type()) {
            (Some(LogicalType::Decimal(is)), _) => decimal(is.scale, is.precision),
            (_, ConvertedType::DECIMAL) => decimal(field.get_scale(), field.get_precision()),
            (Some(LogicalType::Float16), _) => Ok(Self::Half),
            (Some(LogicalType::Uuid), _) => Ok(Self::Uuid),
            (Some(LogicalType::Json), _) | (_, ConvertedType::JSON) => Ok(Self::Json),
            (Some(LogicalType::Bson), _) | (_, ConvertedType::BSON) => Err("BSON"),
            (Some(LogicalType::Geometry(_)), _) => Err("geometry"),
            (Some(LogicalType::Geography(_)), _) => Err("geography"),
            (Some(LogicalType::Integer(is)), _) if !is.is_signed => Ok(Self::Unsigned),
            (_, ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64) => {
                Ok(Self::Unsigned)
            }
            (Some(LogicalType::Timestamp(is)), _) => {
                time(TimeKind::Moment { unit: unit(is.unit), in_utc: is.is_adjusted_to_u_t_c })
            }
            (Some(LogicalType::Time(is)), _) => time(TimeKind::Time(unit(is.unit))),
            (Some(LogicalType::Date), _) | (_, ConvertedType::DATE) => time(TimeKind::Date(TimeUnit::Days)),
            (_, ConvertedType::TIME_MILLIS) => time(TimeKind::Time(TimeUnit::Millis)),
            (_, ConvertedType::TIME_MICROS) => time(TimeKind::Time(TimeUnit::Micros)),
            // The old types were always in UTC.
            (_, ConvertedType::TIMESTAMP_MILLIS) => time(TimeKind::Moment { unit: TimeUnit::Millis, in_utc: true }),
            (_, ConvertedType::TIMESTAMP_MICROS) => time(TimeKind::Moment { unit: TimeUnit::Micros, in_utc: true }),
            (_, ConvertedType::INTERVAL) => Err("interval"),
            _ => Ok(Self::Plain),
        }
    }

    /// Makes a value of a number of 32 bits.
    pub(super) fn short(self, number: i32) -> Cell {
        match self {
            Self::Unsigned => Cell::Int(i64::from(number.cast_unsigned())),
            Self::Decimal(scale) => Cell::decimal(&number.to_be_bytes(), scale),
            _ => self.long(number.into()),
        }
    }

    /// Makes a value of a number of 64 bits.
    pub(super) fn long(self, number: i64) -> Cell {
        match self {
            Self::Unsigned => Cell::unsigned(number.cast_unsigned()),
            Self::Decimal(scale) => Cell::decimal(&number.to_be_bytes(), scale),
            Self::Time(kind) => Cell::time(number, kind),
            Self::Plain | Self::Half | Self::Uuid | Self::Json => Cell::Int(number),
        }
    }

    /// Makes a value of bytes, the highest first.
    pub(super) fn bytes(self, bytes: ByteArray) -> Cell {
        match (self, bytes.data()) {
            (Self::Uuid, data) => Cell::uuid(data).unwrap_or(Cell::Text(bytes)),
            (Self::Json, _) => Cell::JsonText(bytes),
            (Self::Half, [low, high]) => Cell::half(u16::from_le_bytes([*low, *high])),
            (Self::Decimal(scale), data) => Cell::decimal(data, scale),
            _ => Cell::Text(bytes),
        }
    }
}

/// The values of a leaf in some rows.
#[derive(Default)]
pub(super) struct LeafRows {
    values: Vec<LeafValue>,
    /// Number of those that were put into JSON.
    taken: usize,
}

struct LeafValue {
    /// Definition level: how much of the way to it is there.
    level: i16,
    /// Repetition level: that of the list of which an item begins here; 0 at the beginning of a row.
    begins: i16,
    /// Nothing where the value itself is not there.
    cell: Cell,
}

impl LeafRows {
    /// Size of a value, in bytes, in addition to its text.
    pub(super) const VALUE: usize = size_of::<LeafValue>();

    pub(super) fn push(&mut self, level: i16, begins: i16, cell: Cell) {
        self.values.push(LeafValue { level, begins, cell });
    }

    fn next(&self) -> Option<&LeafValue> {
        self.values.get(self.taken)
    }

    /// Takes the next value, which must begin where all that is around it does.
    fn take(&mut self, begins: i16) -> Result<Cell, &'static str> {
        let value = self.values.get_mut(self.taken).filter(|value| value.begins == begins).ok_or(DAMAGED)?;
        self.taken += 1;
        Ok(std::mem::replace(&mut value.cell, Cell::Null))
    }
}

impl TopColumn {
    /// Returns it as a column of any table.
    pub(super) fn leaf(&self) -> Leaf {
        Leaf { name: self.name.clone(), unread: self.node.as_ref().err().cloned() }
    }
}

/// Returns the columns of a schema.
pub(super) fn columns(root: &Type) -> Vec<TopColumn> {
    let mut next = 0;
    let column = |field: &std::sync::Arc<Type>| {
        let first = next;
        next += leaves(field);
        TopColumn { name: field.name().to_owned(), node: NodeBuilder { next: first, lists: 0 }.node(field, 0, 0) }
    };
    root.get_fields().iter().map(column).collect()
}

fn leaves(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|field| leaves(field)).sum() }
}

/// Tells whether a group is a map, as opposed to a list; `None`: it is an object.
fn map_or_list(group: &Type) -> Option<bool> {
    let info = group.get_basic_info();
    let is = |logical, converted| info.logical_type_ref() == Some(&logical) || info.converted_type() == converted;
    let is_map = is(LogicalType::Map, ConvertedType::MAP) || info.converted_type() == ConvertedType::MAP_KEY_VALUE;
    (is_map || is(LogicalType::List, ConvertedType::LIST)).then_some(is_map)
}

struct NodeBuilder {
    next: usize,
    /// Number of lists around.
    lists: i16,
}

impl NodeBuilder {
    fn node(&mut self, field: &Type, above: i16, depth: usize) -> Result<Node, Unread> {
        let info = field.get_basic_info();
        let repetition = info.has_repetition().then(|| info.repetition());
        if repetition == Some(Repetition::REPEATED) {
            return Err(Unread::new("repeated field outside a list"));
        }
        if depth > MAX_DEPTH {
            return Err(Unread::new("nested too deeply"));
        }
        let level = above + i16::from(repetition == Some(Repetition::OPTIONAL));
        if field.is_primitive() {
            return self.leaf(field, level);
        }
        if let Some(is_map) = map_or_list(field) {
            return self.list(field, level, depth, is_map);
        }
        if matches!(info.logical_type_ref(), Some(LogicalType::Variant(_))) {
            return Err(Unread::new("variant"));
        }
        self.object(field, level, depth)
    }

    fn leaf(&mut self, field: &Type, level: i16) -> Result<Node, Unread> {
        let leaf = self.next;
        self.next += 1;
        LeafMeaning::of(field).map_err(Unread::new)?;
        Ok(Node::Leaf { leaf, level })
    }

    fn object(&mut self, field: &Type, level: i16, depth: usize) -> Result<Node, Unread> {
        let mut member = |field: &std::sync::Arc<Type>| {
            let node = self.node(field, level, depth + 1).map_err(|unread| unread.within(field.name()))?;
            Ok((field.name().to_owned(), node))
        };
        let members = field.get_fields().iter().map(&mut member).collect::<Result<Vec<_>, _>>()?;
        if members.is_empty() { Err(Unread::new("object of nothing")) } else { Ok(Node::Object { level, members }) }
    }

    /// Reads a group of one repeated field, which is the item or holds nothing but the item.
    fn list(&mut self, field: &Type, level: i16, depth: usize, is_map: bool) -> Result<Node, Unread> {
        let is_repeated = |field: &Type| {
            let info = field.get_basic_info();
            info.has_repetition() && info.repetition() == Repetition::REPEATED
        };
        let [repeated] = field.get_fields() else { return Err(Unread::new("list of nothing")) };
        if !is_repeated(repeated) {
            return Err(Unread::new("list of nothing"));
        }
        self.lists += 1;
        let (items, level_of_items) = (level + 1, self.lists);
        let item = match repeated.is_primitive() {
            true => self.leaf(repeated, items)?,
            false if is_map => match self.object(repeated, items, depth + 1)? {
                pair @ Node::Object { .. } if pair.is_pair() => pair,
                _ => return Err(Unread::new("map with lists or objects as keys")),
            },
            false => match (map_or_list(repeated), repeated.get_fields()) {
                // Old lists in lists, where the item is the inner list itself.
                (Some(is_map), _) => self.list(repeated, items, depth + 1, is_map)?,
                // The old form of two levels, of which the name says that the group is the item.
                (None, [_]) if repeated.name() == "array" || repeated.name().ends_with("_tuple") => {
                    self.object(repeated, items, depth + 1)?
                }
                (None, [item]) => self.node(item, items, depth + 1)?,
                (None, _) => self.object(repeated, items, depth + 1)?,
            },
        };
        self.lists -= 1;
        Ok(Node::List { level, items, repeated: level_of_items, item: Box::new(item), is_map })
    }
}

impl Node {
    fn is_pair(&self) -> bool {
        matches!(self, Self::Object { members, .. } if matches!(members.as_slice(), [(_, Self::Leaf { .. }), _]))
    }

    /// Lists all leaves that it is made of, in order, with the level of a value.
    pub(super) fn leaves(&self, into: &mut Vec<(usize, i16)>) {
        match self {
            Self::Leaf { leaf, level } => into.push((*leaf, *level)),
            Self::Object { members, .. } => members.iter().for_each(|(_, member)| member.leaves(into)),
            Self::List { item, .. } => item.leaves(into),
        }
    }

    /// Returns the number of its first leaf.
    pub(super) fn first(&self) -> usize {
        match self {
            Self::Leaf { leaf, .. } => *leaf,
            Self::Object { members, .. } => members.first().map_or(0, |(_, member)| member.first()),
            Self::List { item, .. } => item.first(),
        }
    }
}

/// The leaves of a column in some rows.
pub(super) struct GroupLeaves {
    /// The number of the first.
    pub(super) first: usize,
    pub(super) leaves: Vec<LeafRows>,
}

impl GroupLeaves {
    /// Takes the value of the next row, of at most so many bytes.
    pub(super) fn cell(&mut self, node: &Node, most: usize) -> Result<Cell, &'static str> {
        let mut json = Vec::new();
        self.write(node, 0, &mut json, most)?;
        Ok(if json == b"null" { Cell::Null } else { Cell::Json(json.into()) })
    }

    /// Tells whether the rows took all values.
    pub(super) fn end(&self) -> Result<(), &'static str> {
        self.leaves.iter().all(|leaf| leaf.next().is_none()).then_some(()).ok_or(DAMAGED)
    }

    fn leaf(&mut self, leaf: usize) -> Result<&mut LeafRows, &'static str> {
        self.leaves.get_mut(leaf - self.first).ok_or(DAMAGED)
    }

    /// Returns how much of the way to the next value of its first leaf is there.
    fn level(&mut self, node: &Node) -> Result<i16, &'static str> {
        Ok(self.leaf(node.first())?.next().ok_or(DAMAGED)?.level)
    }

    /// Tells whether the next value is there, not null.
    fn is_there(&mut self, node: &Node) -> Result<bool, &'static str> {
        let (Node::Leaf { level, .. } | Node::Object { level, .. } | Node::List { level, .. }) = node;
        Ok(self.level(node)? >= *level)
    }

    /// Passes over the one value that each leaf has where what is around it is null or an empty list.
    fn pass(&mut self, node: &Node, begins: i16) -> Result<(), &'static str> {
        match node {
            Node::Leaf { leaf, .. } => self.leaf(*leaf)?.take(begins).map(drop),
            Node::Object { members, .. } => members.iter().try_for_each(|(_, member)| self.pass(member, begins)),
            Node::List { item, .. } => self.pass(item, begins),
        }
    }

    /// Takes a value, which begins with a level in all of its leaves.
    fn write(&mut self, node: &Node, begins: i16, out: &mut Vec<u8>, most: usize) -> Result<(), &'static str> {
        if out.len() > most {
            return Err(TOO_LARGE);
        }
        match node {
            _ if !self.is_there(node)? => {
                self.pass(node, begins)?;
                out.extend_from_slice(b"null");
            }
            Node::Leaf { leaf, .. } => self.leaf(*leaf)?.take(begins)?.append_json(out),
            Node::Object { members, .. } => {
                out.push(b'{');
                let mut n = 0;
                for (name, member) in members {
                    if !self.is_there(member)? && !is_said_by_null(name) {
                        self.pass(member, begins)?;
                        continue;
                    }
                    json_key(n, name.as_bytes(), out);
                    self.write(member, begins, out, most)?;
                    n += 1;
                }
                out.push(b'}');
            }
            Node::List { items, repeated, item, is_map, .. } => {
                out.push(if *is_map { b'{' } else { b'[' });
                if self.level(item)? < *items {
                    self.pass(item, begins)?;
                } else {
                    self.items(item, *is_map, begins, *repeated, out, most)?;
                }
                out.push(if *is_map { b'}' } else { b']' });
            }
        }
        Ok(())
    }

    /// Takes the items of a list, of which there is one at least.
    fn items(
        &mut self,
        item: &Node,
        is_map: bool,
        mut begins: i16,
        repeated: i16,
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), &'static str> {
        for n in 0.. {
            match item {
                Node::Object { members, .. } if is_map => self.entry(members, begins, n, out, most)?,
                _ => {
                    if n > 0 {
                        out.push(b',');
                    }
                    self.write(item, begins, out, most)?;
                }
            }
            if self.leaf(item.first())?.next().is_none_or(|value| value.begins != repeated) {
                break;
            }
            begins = repeated;
        }
        Ok(())
    }

    fn entry(
        &mut self,
        members: &[(String, Node)],
        begins: i16,
        n: usize,
        out: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), &'static str> {
        let [(_, Node::Leaf { leaf, .. }), (_, value)] = members else { return Err(DAMAGED) };
        self.leaf(*leaf)?.take(begins)?.append_key(n, out).ok_or(DAMAGED)?;
        self.write(value, begins, out, most)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::source::column_map::ColumnMap;
    use crate::source::columns::RowReader as _;
    use crate::source::open::Blob;
    use crate::source::rows;
    use ::parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
    use ::parquet::file::writer::SerializedFileWriter;
    use ::parquet::schema::parser::parse_message_type;
    use stepscope_base::text::Shown;

    fn stores() -> std::path::PathBuf {
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/stores")
    }

    /// Reads the records of a table, and the note on it.
    fn read(bytes: &[u8]) -> Result<Option<(String, Option<Shown>)>, String> {
        let rows = rows::read(&Blob::of_bytes(Shown::own("t"), bytes).unwrap(), &ColumnMap::default(), false);
        let rows = rows.map_err(|failure| failure.to_string())?;
        Ok(rows.map(|rows| (rows.text(), rows.note)))
    }

    /// Makes a table of records with one more column of whole numbers, of these levels.
    fn with_numbers(column: &str, numbers: &[i64], levels: &[i16], repeated: &[i16]) -> Vec<u8> {
        let schema = parse_message_type(&format!("message m {{ required binary steps (UTF8); {column} }}")).unwrap();
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.into(), Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let rows = repeated.iter().filter(|level| **level == 0).count();
        let mut column = group.next_column().unwrap().unwrap();
        let steps = vec![ByteArray::from("[\"1 + 1 = 2\"]"); rows];
        column.typed::<ByteArrayType>().write_batch(&steps, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(numbers, Some(levels), Some(repeated)).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.into_inner().unwrap()
    }

    const LIST: &str = "optional group a (LIST) { repeated group list { optional int64 element; } }";

    #[test]
    fn lists_and_objects_become_json() {
        let expected = std::fs::read_to_string(stores().join("keyed.jsonl")).unwrap();
        let (lines, note) = read(&std::fs::read(stores().join("tables/keyed.parquet")).unwrap()).unwrap().unwrap();
        assert_eq!((lines, note), (expected, None));
        let cells = |column: &str, numbers: &[i64], levels: &[i16], repeated: &[i16]| {
            let (lines, _) = read(&with_numbers(column, numbers, levels, repeated)).unwrap().unwrap();
            lines.lines().map(|line| line.replace(r#"{"steps":["1 + 1 = 2"]"#, "")).collect::<Vec<_>>().join(" ")
        };
        let found = cells(LIST, &[1, 2], &[0, 1, 3, 2, 3], &[0, 0, 0, 1, 1]);
        assert_eq!(found, r#"} ,"a":[]} ,"a":[1,null,2]}"#);
        // Times as they were named before they had units and zones.
        let time = |name, number: i64| cells(&format!("optional int64 a ({name});"), &[number], &[1], &[0]);
        assert_eq!(time("TIMESTAMP_MILLIS", 1_795_437_296_789), r#","a":"2026-11-23T12:34:56.789Z"}"#);
        assert_eq!(time("TIMESTAMP_MICROS", -1), r#","a":"1969-12-31T23:59:59.999999Z"}"#);
        assert_eq!(time("TIME_MICROS", 1), r#","a":"00:00:00.000001"}"#);
        assert_eq!(time("TIME_MICROS", i64::MAX), r#","a":9223372036854775807}"#);
        // The older forms of a list.
        let two = "optional group a (LIST) { repeated int64 element; }";
        assert_eq!(cells(two, &[1, 2], &[0, 1, 2, 2], &[0, 0, 0, 1]), r#"} ,"a":[]} ,"a":[1,2]}"#);
        let tuple = "optional group a (LIST) { repeated group a_tuple { optional int64 b; } }";
        assert_eq!(cells(tuple, &[1], &[2, 3], &[0, 1]), r#","a":[{},{"b":1}]}"#);
    }

    #[test]
    fn lists_in_lists_begin_and_end_where_their_levels_say() {
        let cells = |column: &str, numbers: &[i64], levels: &[i16], repeated: &[i16]| {
            let (lines, note) = read(&with_numbers(column, numbers, levels, repeated))?.unwrap();
            assert_eq!(note, None);
            Ok::<_, String>(lines.replace("{\"steps\":[\"1 + 1 = 2\"]", "").replace("}\n", " "))
        };
        let inner = "optional group element (LIST) { repeated group list { optional int64 element; } }";
        let lists = format!("optional group a (LIST) {{ repeated group list {{ {inner} }} }}");
        // null, [], [null], [[]], [[null]], and more of them in one.
        let levels = [0, 1, 2, 3, 4, 5, 5, 2, 3, 5, 4];
        let begins = [0, 0, 0, 0, 0, 0, 2, 1, 1, 1, 2];
        let found = cells(&lists, &[1, 2, 3], &levels, &begins);
        assert_eq!(found.unwrap(), r#" ,"a":[] ,"a":[null] ,"a":[[]] ,"a":[[null]] ,"a":[[1,2],null,[],[3,null]] "#);
        for (levels, begins) in [([1, 5], [0, 1]), ([2, 5], [0, 2])] {
            let why = cells(&lists, &[1], &levels, &begins).unwrap_err();
            assert!(why.contains("its lists are damaged"), "an item of a list that is not there: {why}");
        }
        // The older forms of an inner list.
        let two = "repeated group array (LIST) { repeated int64 array; }";
        let found = cells(&format!("required group a (LIST) {{ {two} }}"), &[1, 2], &[2, 2, 1, 0], &[0, 2, 1, 0]);
        assert_eq!(found.unwrap(), r#","a":[[1,2],[]] ,"a":[] "#);
    }

    #[test]
    fn lists_of_several_leaves_are_of_the_same_length() {
        let object = |begins: [&[i16]; 2]| {
            let inner = "optional group b (LIST) { repeated group list { required int64 c; required int64 d; } }";
            let schema = parse_message_type(&format!(
                "message m {{ required group a (LIST) {{ repeated group list {{ required group element {{ {inner} }} }} }} }}"
            ));
            let mut writer = SerializedFileWriter::new(Vec::new(), schema.unwrap().into(), Arc::default()).unwrap();
            let mut group = writer.next_row_group().unwrap();
            for begins in begins {
                let mut column = group.next_column().unwrap().unwrap();
                let (numbers, levels) = (vec![7; begins.len()], vec![3; begins.len()]);
                column.typed::<Int64Type>().write_batch(&numbers, Some(&levels), Some(begins)).unwrap();
                column.close().unwrap();
            }
            group.close().unwrap();
            let mut table = super::super::ParquetTable::open(
                &Blob::of_bytes(Shown::own("t"), &writer.into_inner().unwrap()).unwrap(),
            )
            .unwrap();
            let columns = table.next(&[true]).map_err(|failure| failure.to_string())?.unwrap();
            let mut json = Vec::new();
            columns.cell(0, 0).append_json(&mut json);
            Ok::<_, String>(String::from_utf8(json).unwrap())
        };
        let begins: &[i16] = &[0, 2, 1];
        let found = object([begins, begins]).unwrap();
        assert_eq!(found, r#"[{"b":[{"c":7,"d":7},{"c":7,"d":7}]},{"b":[{"c":7,"d":7}]}]"#);
        for other in [&[0, 1, 2][..], &[0, 2, 2], &[0, 2], &[0, 2, 1, 1], &[0, 2, 1, 2]] {
            assert!(object([begins, other]).unwrap_err().contains("its lists are damaged"), "{other:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_type() {
        let named = |column: &str| {
            let schema = parse_message_type(&format!("message m {{ {column} }}")).unwrap();
            super::columns(&schema)[0].leaf().unread_name().unwrap_or_default()
        };
        let deep = |depth| {
            (0..depth).fold("optional int64 a;".to_owned(), |inner, _| format!("optional group b {{ {inner} }}"))
        };
        let lists = |depth| {
            (0..depth).fold("optional int64 a;".to_owned(), |inner, _| {
                format!("optional group a (LIST) {{ repeated group list {{ {inner} }} }}")
            })
        };
        let key = "required group key { optional int64 a; } optional int64 value;";
        for (column, expected) in [
            ("required fixed_len_byte_array(12) after (INTERVAL);", "after (interval)"),
            ("required binary a (BSON);", "a (BSON)"),
            ("required fixed_len_byte_array(40) a (DECIMAL(90, 2));", "a (decimal of more than 76 digits)"),
            ("optional group a { optional group b { required binary c (BSON); } }", "a.b.c (BSON)"),
            ("repeated int64 a;", "a (repeated field outside a list)"),
            (&deep(13), &format!("b{}.a (nested too deeply)", ".b".repeat(12))),
            (&deep(12), ""),
            (&lists(13), "a (nested too deeply)"),
            (&lists(12), ""),
            (
                &format!("optional group a (MAP) {{ repeated group key_value {{ {key} }} }}"),
                "a (map with lists or objects as keys)",
            ),
            ("required fixed_len_byte_array(16) a (UUID);", ""),
            ("required int96 a;", ""),
        ] {
            assert_eq!(named(column), expected, "{column}");
        }
    }

    #[test]
    fn small_tables_of_long_lists_are_refused_before() {
        let list = |items: usize| {
            let repeated: Vec<i16> = (0..items).map(|n| i16::from(n > 0)).collect();
            with_numbers(LIST, &[], &vec![2; items], &repeated)
        };
        assert!(read(&list(100_000)).is_ok());
        let bytes = list(1_000_000);
        assert!(bytes.len() < 10_000, "{}", bytes.len());
        let why = read(&bytes).unwrap_err();
        assert!(why.contains("far more memory than its size suggests"), "{why}");
    }

    #[test]
    fn damaged_lists_are_told_and_hurt_nobody() {
        let sound = std::fs::read(stores().join("tables/keyed.parquet")).unwrap();
        let mut refused = 0;
        for at in (0..sound.len()).step_by(7) {
            for wrong in [0x01, 0x7f, 0xff] {
                let mut bytes = sound.clone();
                bytes[at] ^= wrong;
                refused += usize::from(read(&bytes).is_err_and(|why| why.starts_with("cannot read t: ")));
            }
        }
        assert!(refused > 200, "{refused}");
    }
}
