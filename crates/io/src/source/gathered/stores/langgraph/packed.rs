//! Values of LangGraph's checkpoints: msgpack with extensions for classes of Python. A class becomes its fields, or the text
//! that it is made of; none is ever made.

use rmp::Marker;

use super::super::super::plain::{Members, Plain, object};
use super::super::room::ValueRoom;
use super::messages::{is_message, message};
use stepscope_base::json::write::python_float;

/// Values that lie deeper are not read.
const MAX_DEPTH: usize = 64;

/// Reads a packed value; `None`: it is none, is too deep, or there is no room for it.
pub(super) fn unpack(bytes: &[u8], room: &mut ValueRoom) -> Option<Plain> {
    let mut reader = Unpacker { rest: bytes, room };
    let value = reader.value(0)?;
    reader.rest.is_empty().then_some(value)
}

struct Unpacker<'b, 'r> {
    rest: &'b [u8],
    room: &'r mut ValueRoom,
}

impl<'b> Unpacker<'b, '_> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        Some(taken)
    }

    fn unsigned(&mut self, size: usize) -> Option<u64> {
        Some(self.take(size)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn len(&mut self, size: usize) -> Option<usize> {
        usize::try_from(self.unsigned(size)?).ok()
    }

    fn signed(&mut self, size: usize) -> Option<Plain> {
        let shift = 64 - 8 * u32::try_from(size).ok()?;
        let number = (self.unsigned(size)? << shift).cast_signed() >> shift;
        Some(raw(number.to_string()))
    }

    fn value(&mut self, depth: usize) -> Option<Plain> {
        if depth > MAX_DEPTH || !self.room.take(0) {
            return None;
        }
        let marker = Marker::from_u8(*self.take(1)?.first()?);
        match marker {
            Marker::Null => Some(Plain::null()),
            Marker::True => Some(raw("true".into())),
            Marker::False => Some(raw("false".into())),
            Marker::FixPos(number) => Some(raw(number.to_string())),
            Marker::FixNeg(number) => Some(raw(number.to_string())),
            Marker::U8 => Some(raw(self.unsigned(1)?.to_string())),
            Marker::U16 => Some(raw(self.unsigned(2)?.to_string())),
            Marker::U32 => Some(raw(self.unsigned(4)?.to_string())),
            Marker::U64 => Some(raw(self.unsigned(8)?.to_string())),
            Marker::I8 => self.signed(1),
            Marker::I16 => self.signed(2),
            Marker::I32 => self.signed(4),
            Marker::I64 => self.signed(8),
            Marker::F32 => Some(float(f64::from(f32::from_bits(u32::try_from(self.unsigned(4)?).ok()?)))),
            Marker::F64 => Some(float(f64::from_bits(self.unsigned(8)?))),
            Marker::FixStr(len) => self.text(usize::from(len)),
            Marker::Str8 => self.len(1).and_then(|len| self.text(len)),
            Marker::Str16 => self.len(2).and_then(|len| self.text(len)),
            Marker::Str32 => self.len(4).and_then(|len| self.text(len)),
            Marker::Bin8 => self.len(1).and_then(|len| self.bytes(len)),
            Marker::Bin16 => self.len(2).and_then(|len| self.bytes(len)),
            Marker::Bin32 => self.len(4).and_then(|len| self.bytes(len)),
            Marker::FixArray(len) => self.list(usize::from(len), depth),
            Marker::Array16 => self.len(2).and_then(|len| self.list(len, depth)),
            Marker::Array32 => self.len(4).and_then(|len| self.list(len, depth)),
            Marker::FixMap(len) => self.map(usize::from(len), depth),
            Marker::Map16 => self.len(2).and_then(|len| self.map(len, depth)),
            Marker::Map32 => self.len(4).and_then(|len| self.map(len, depth)),
            Marker::FixExt1 => self.extension(1, depth),
            Marker::FixExt2 => self.extension(2, depth),
            Marker::FixExt4 => self.extension(4, depth),
            Marker::FixExt8 => self.extension(8, depth),
            Marker::FixExt16 => self.extension(16, depth),
            Marker::Ext8 => self.len(1).and_then(|len| self.extension(len, depth)),
            Marker::Ext16 => self.len(2).and_then(|len| self.extension(len, depth)),
            Marker::Ext32 => self.len(4).and_then(|len| self.extension(len, depth)),
            Marker::Reserved => None,
        }
    }

    fn text(&mut self, len: usize) -> Option<Plain> {
        let text = self.take(len)?;
        self.room.take(len).then(|| Plain::text_of(text))
    }

    /// Reads bytes, of which only the number is kept.
    fn bytes(&mut self, len: usize) -> Option<Plain> {
        self.take(len)?;
        Some(object([("bytes", Some(raw(len.to_string())))]))
    }

    fn list(&mut self, len: usize, depth: usize) -> Option<Plain> {
        let mut items = Vec::new();
        for _ in 0..len {
            items.push(self.value(depth + 1)?);
        }
        Some(Plain::List(items))
    }

    fn map(&mut self, len: usize, depth: usize) -> Option<Plain> {
        let mut members = Members::new();
        for _ in 0..len {
            let key = self.value(depth + 1)?.as_text();
            members.push((key, self.value(depth + 1)?));
        }
        Some(Plain::Object(members))
    }

    fn extension(&mut self, len: usize, depth: usize) -> Option<Plain> {
        let code = self.take(1)?.first()?.cast_signed();
        let payload = self.take(len)?;
        if !(0..=7).contains(&code) {
            return Some(object([("extension", Some(raw(code.to_string()))), ("bytes", Some(raw(len.to_string())))]));
        }
        let mut inner = Unpacker { rest: payload, room: &mut *self.room };
        let told = inner.value(depth + 1)?;
        if !inner.rest.is_empty() {
            return None;
        }
        Some(of_class(code, told))
    }
}

/// Returns what an extension tells of a value: the module and the class in front, then what the class is made of.
fn of_class(code: i8, told: Plain) -> Plain {
    // A snapshot is the value itself.
    if code == 7 {
        return told;
    }
    let Plain::List(parts) = told else { return told };
    if code == 6 {
        return object([("array", parts.first().cloned()), ("shape", parts.get(1).cloned())]);
    }
    let [module, class, argument, ..] = parts.as_slice() else { return Plain::List(parts) };
    let (module, class) = (module.text().unwrap_or(b""), class.text().unwrap_or(b""));
    let argument = argument.clone();
    match (code, class) {
        (1, b"Send") => {
            let mut arguments = argument.items().iter().cloned();
            object([("node", arguments.next()), ("arg", arguments.next())])
        }
        (1, b"date") => date(&argument).unwrap_or(argument),
        (1, _) if module.starts_with(b"pathlib") => Plain::Text(path(&argument)),
        (1, _) => match argument.items() {
            [only] => only.clone(),
            _ => argument,
        },
        (4 | 5, _) if is_message(module, class, &argument) => message(argument),
        _ => argument,
    }
}

/// Returns a day of its year, month and day.
fn date(arguments: &Plain) -> Option<Plain> {
    let number = |at: usize| std::str::from_utf8(&arguments.items().get(at)?.json()).ok()?.parse::<i16>().ok();
    let (month, day) = (i8::try_from(number(1)?).ok()?, i8::try_from(number(2)?).ok()?);
    let day = jiff::civil::Date::new(number(0)?, month, day).ok()?;
    Some(Plain::Text(day.to_string().into_bytes()))
}

fn path(parts: &Plain) -> Vec<u8> {
    let parts: Vec<Vec<u8>> = parts.items().iter().map(Plain::as_text).collect();
    let path = parts.join(&b'/');
    path.strip_prefix(b"//").map_or_else(|| path.clone(), |rest| [b"/", rest].concat())
}

fn raw(json: String) -> Plain {
    Plain::Raw(json.into_bytes())
}

/// Returns a number as Python writes it.
fn float(number: f64) -> Plain {
    let text = match number {
        number if number.is_nan() => "NaN".to_owned(),
        number if number.is_infinite() && number > 0.0 => "Infinity".to_owned(),
        number if number.is_infinite() => "-Infinity".to_owned(),
        number => python_float(number),
    };
    raw(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(bytes: &[u8]) -> Option<String> {
        Some(String::from_utf8(unpack(bytes, &mut ValueRoom::default())?.json()).unwrap())
    }

    /// Packs an extension with a short payload.
    fn extension(code: u8, payload: &[u8]) -> Vec<u8> {
        [&[0xc7, u8::try_from(payload.len()).unwrap(), code], payload].concat()
    }

    #[test]
    fn plain_values_keep_their_digits() {
        for (bytes, expected) in [
            (&b"\xc0"[..], "null"),
            (b"\xc3", "true"),
            (b"\x7f", "127"),
            (b"\xe0", "-32"),
            (b"\xd0\x80", "-128"),
            (b"\xd1\x80\x00", "-32768"),
            (b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00", "-9223372036854775808"),
            (b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "18446744073709551615"),
            (b"\xcb\x40\x69\x00\x00\x00\x00\x00\x00", "200.0"),
            (b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00", "NaN"),
            (b"\xa2hi", "\"hi\""),
            (b"\xc4\x03abc", "{\"bytes\":3}"),
            (b"\x92\x01\x81\xa1a\x90", "[1,{\"a\":[]}]"),
            (b"\x81\x01\x02", "{\"1\":2}"),
        ] {
            assert_eq!(json(bytes).as_deref(), Some(expected), "{bytes:?}");
        }
    }

    #[test]
    fn classes_are_their_fields() {
        for (code, payload, expected) in [
            (0, &b"\x93\xa8builtins\xa3set\x92\x01\x02"[..], "[1,2]"),
            (1, b"\x93\xa8datetime\xa4date\x93\xcd\x07\xea\x0b\x1c", "\"2026-11-28\""),
            (1, b"\x93\xa7pathlib\xa9PosixPath\x93\xa1/\xa1a\xa1b", "\"/a/b\""),
            (1, b"\x93\xafl.langgraph.typ\xa4Send\x92\xa4read\x81\xa1p\x01", "{\"node\":\"read\",\"arg\":{\"p\":1}}"),
            (3, b"\x94\xa8datetime\xa8datetime\xa42026\xadfromisoformat", "\"2026\""),
            (5, b"\x94\xa1m\xa6Amount\x81\xa1v\x01\xa1x", "{\"v\":1}"),
            (7, b"\x91\xa2in", "[\"in\"]"),
        ] {
            assert_eq!(json(&extension(code, payload)).as_deref(), Some(expected), "{code}");
        }
        assert_eq!(json(&extension(99, b"abc")).as_deref(), Some("{\"extension\":99,\"bytes\":3}"));
    }

    #[test]
    fn what_is_cut_deep_or_too_much_is_none() {
        assert_eq!(json(b"\x92\x01"), None, "cut");
        assert_eq!(json(b"\x01\x01"), None, "more than one");
        assert_eq!(json(b"\xc1"), None);
        assert_eq!(json(b"\xdb\xff\xff\xff\xffabc"), None);
        assert_eq!(json(&[&[0x91; 200][..], &[0xc0]].concat()), None, "deep");
        assert!(json(&[&[0x91; MAX_DEPTH][..], &[0xc0]].concat()).is_some());
        let around = |inner: Vec<u8>, _| [&[0xc9][..], &(inner.len() as u32).to_be_bytes(), &[7], &inner].concat();
        let nested: Vec<u8> = (0..80).fold(vec![0xc0], around);
        assert_eq!(json(&nested[..]), None, "extensions inside of extensions");
        let bomb = [&[0xdd, 0x00, 0xff, 0xff, 0xff][..], &vec![0xc0; 0x00ff_ffff]].concat();
        assert_eq!(json(&bomb), None, "sixteen million values of a byte each");
    }
}
