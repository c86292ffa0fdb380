//! The one writer of JSON: values, texts, lists and objects, new or copied from what was read, each in a `Style`,
//! streamed into a `Sink`.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};

use crate::json::{BLOCK, Kind, Member, Tape, Value, are_plain, plain_until};
use crate::pieces::{Piece, first_piece};
use crate::text::{Shown, Untrusted};

/// Bytes of a text that is looked at as a whole: two blocks less its quotes.
const SHORT: usize = 2 * BLOCK - 2;

/// Target of JSON, piece by piece.
pub trait Sink {
    /// Takes the next bytes.
    fn put(&mut self, bytes: &[u8]);

    /// Takes the next byte: most pieces are a quote, a comma or a bracket.
    fn push(&mut self, byte: u8) {
        self.put(&[byte]);
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn push(&mut self, byte: u8) {
        self.push(byte);
    }
}

/// Sink of any type that owns what it fills.
pub type AnySink = dyn Sink;

/// Spelling of the letters of strings. `"`, `\` and controls are always escaped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Letters {
    /// As themselves; lone surrogates in the generalised form of [`Untrusted`], for text that stays data.
    Kept,
    /// The same, with short escapes only of line ends and tabs.
    Stored,
    /// As themselves; lone surrogates, which UTF-8 does not know, as escapes, and invalid bytes as U+FFFD.
    All,
    /// As escapes but for printable ASCII: safe in any terminal, log or pipe.
    Ascii,
    /// The same with `\b` and `\f`, as Python's `ensure_ascii` has them.
    PythonAscii,
    /// As themselves; controls by number only, lone surrogates as escapes, invalid bytes as they are.
    Canonical,
}

/// Separators between items, and between key and value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// `,` and `:`, as clients send bodies.
    Tight,
    /// `, ` and `: `, as `json.dumps` does by default.
    Wide,
    /// One item per line, with an indent of two.
    Indented,
}

/// Treatment of the members and numbers of a value that was read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reading {
    /// Every member as it stands, duplicates and all; numbers with their digits.
    Written,
    /// Members in the order of their keys' code points, of duplicates the last; numbers with their digits.
    Sorted,
    /// Members as a dict holds them; numbers as Python prints them.
    Python,
}

/// Style of written JSON.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Style {
    /// Spelling of letters.
    pub letters: Letters,
    /// Separators.
    pub spacing: Spacing,
    /// Treatment of values that were read.
    pub reading: Reading,
}

impl Style {
    /// Style of stores, byte for byte.
    pub const STORED: Self = Self { letters: Letters::Stored, ..Self::ASCII };
    /// One line that is safe in a terminal, values as they were written.
    pub const ASCII: Self = Self { letters: Letters::Ascii, spacing: Spacing::Tight, reading: Reading::Written };
    /// The same with the members of objects in order.
    pub const SORTED: Self = Self { reading: Reading::Sorted, ..Self::ASCII };
    /// Forks and replies that are saved: in ASCII as Python has it.
    pub const SAVED: Self = Self { letters: Letters::PythonAscii, ..Self::ASCII };
    /// Bodies of requests.
    pub const BODY: Self = Self::python(Letters::All, Spacing::Tight);
    /// Strings of [`crate::canonical`].
    pub(crate) const CANONICAL: Self = Self { letters: Letters::Canonical, ..Self::ASCII };

    /// `json.dumps` of what `json.loads` makes of a value.
    pub const fn python(letters: Letters, spacing: Spacing) -> Self {
        Self { letters, spacing, reading: Reading::Python }
    }

    /// A value's JSON.
    pub fn of(self, value: impl Json) -> Vec<u8> {
        let mut out = Vec::new();
        self.append(value, &mut out);
        out
    }

    /// Appends a value's JSON.
    pub fn append(self, value: impl Json, out: &mut AnySink) {
        value.write(&mut Writer { out, style: self, level: 0 });
    }

    /// The JSON of an object.
    pub fn object(self, members: impl FnOnce(&mut Object<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        self.append_object(&mut out, members);
        out
    }

    /// Appends the JSON of an object and the end of its line.
    pub fn line(self, out: &mut AnySink, members: impl FnOnce(&mut Object<'_>)) {
        self.append_object(out, members);
        out.push(b'\n');
    }

    /// Appends the JSON of an object.
    pub fn append_object(self, out: &mut AnySink, members: impl FnOnce(&mut Object<'_>)) {
        Writer { out, style: self, level: 0 }.object(members);
    }
}

/// A value that can be written as JSON.
pub trait Json {
    /// Writes it.
    fn write(&self, writer: &mut Writer<'_>);
}

/// The place of one value that is about to be written.
pub struct Writer<'o> {
    out: &'o mut AnySink,
    style: Style,
    level: usize,
}

impl Writer<'_> {
    /// Text that is JSON already.
    pub fn raw(&mut self, json: impl AsRef<[u8]>) {
        self.out.put(json.as_ref());
    }

    /// A value that prints as JSON, such as an integer.
    pub fn display(&mut self, value: impl Display) {
        /// Makes a `fmt::Write` of a sink, which needs no allocation.
        struct Words<'s>(&'s mut AnySink);
        impl std::fmt::Write for Words<'_> {
            fn write_str(&mut self, words: &str) -> std::fmt::Result {
                self.0.put(words.as_bytes());
                Ok(())
            }
        }
        let _ = write!(Words(self.out), "{value}");
    }

    /// A string.
    pub fn text(&mut self, text: impl AsRef<[u8]>) {
        self.bytes(text.as_ref());
    }

    fn bytes(&mut self, mut rest: &[u8]) {
        if let Some((spelled, len)) = short_and_plain(rest) {
            return self.out.put(&spelled[..len]);
        }
        self.out.push(b'"');
        let letters = self.style.letters;
        loop {
            let plain = match letters {
                Letters::Kept | Letters::Stored => plain_until::<false>(rest, 0),
                _ => plain_until::<true>(rest, 0),
            };
            let (head, tail) = rest.split_at(plain);
            self.out.put(head);
            if tail.is_empty() {
                break;
            }
            let (len, piece) = first_piece(tail);
            let (letter, behind) = tail.split_at(len);
            self.letter(piece, letter);
            rest = behind;
        }
        self.out.push(b'"');
    }

    /// A letter that is not plain ASCII.
    fn letter(&mut self, piece: Piece, bytes: &[u8]) {
        let letters = self.style.letters;
        let is_ascii = matches!(letters, Letters::Ascii | Letters::PythonAscii);
        let has_short = letters != Letters::Canonical;
        let has_all_short = has_short && !matches!(letters, Letters::Ascii | Letters::Stored);
        match piece {
            Piece::Char('"') => self.out.put(b"\\\""),
            Piece::Char('\\') => self.out.put(b"\\\\"),
            Piece::Char('\n') if has_short => self.out.put(b"\\n"),
            Piece::Char('\r') if has_short => self.out.put(b"\\r"),
            Piece::Char('\t') if has_short => self.out.put(b"\\t"),
            Piece::Char('\u{8}') if has_all_short => self.out.put(b"\\b"),
            Piece::Char('\u{c}') if has_all_short => self.out.put(b"\\f"),
            Piece::Char(c) if is_ascii || c < ' ' => {
                c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| self.unit(u32::from(*unit)));
            }
            Piece::Surrogate(code) => self.unit(code),
            Piece::Byte(_) if is_ascii => self.out.put(b"\\ufffd"),
            Piece::Byte(_) if letters == Letters::All => self.out.put("\u{fffd}".as_bytes()),
            _ => self.out.put(bytes),
        }
    }

    /// A unit of UTF-16 as an escape.
    fn unit(&mut self, unit: u32) {
        let digit = |shift: u32| char::from_digit(unit >> shift & 15, 16).map_or(b'0', |digit| digit as u8);
        self.out.put(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
    }

    /// A list; `write` writes one item.
    pub fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut write: impl FnMut(T, &mut Writer<'_>)) {
        self.out.push(b'[');
        let mut any = false;
        for item in items {
            write(item, &mut self.next(&mut any));
        }
        self.close(any, b']');
    }

    /// An object.
    pub fn object(&mut self, members: impl FnOnce(&mut Object<'_>)) {
        self.out.push(b'{');
        let mut object = Object { writer: Writer { out: self.out, style: self.style, level: self.level }, any: false };
        members(&mut object);
        let any = object.any;
        self.close(any, b'}');
    }

    /// The place of the next item of the container that stands here.
    #[inline]
    fn next(&mut self, any: &mut bool) -> Writer<'_> {
        match (std::mem::replace(any, true), self.style.spacing) {
            (true, Spacing::Wide) => self.out.put(b", "),
            (true, _) => self.out.push(b','),
            (false, _) => {}
        }
        self.line(self.level + 1);
        Writer { out: self.out, style: self.style, level: self.level + 1 }
    }

    #[inline]
    fn close(&mut self, any: bool, bracket: u8) {
        if any {
            self.line(self.level);
        }
        self.out.push(bracket);
    }

    #[inline]
    fn line(&mut self, level: usize) {
        if self.style.spacing == Spacing::Indented {
            self.indented(level);
        }
    }

    fn indented(&mut self, level: usize) {
        self.out.push(b'\n');
        (0..level).for_each(|_| self.out.put(b"  "));
    }
}

/// An object that is being written: members in the order in which they are given.
pub struct Object<'o> {
    writer: Writer<'o>,
    any: bool,
}

impl Object<'_> {
    fn named(&mut self, key: impl FnOnce(&mut Writer<'_>)) -> Writer<'_> {
        let mut writer = self.writer.next(&mut self.any);
        key(&mut writer);
        writer.out.push(b':');
        if writer.style.spacing != Spacing::Tight {
            writer.out.push(b' ');
        }
        writer
    }

    /// The place of the value of a key.
    pub fn key(&mut self, key: impl AsRef<[u8]>) -> Writer<'_> {
        self.named(|writer| writer.text(key))
    }

    /// The place of the value of a key that is spelled already, quotes and all.
    pub fn spelled(&mut self, key: impl AsRef<[u8]>) -> Writer<'_> {
        self.named(|writer| writer.raw(key))
    }

    /// A member.
    pub fn put(&mut self, key: impl AsRef<[u8]>, value: impl Json) -> &mut Self {
        value.write(&mut self.key(key));
        self
    }

    /// A member, if there is a value.
    pub fn maybe(&mut self, key: impl AsRef<[u8]>, value: Option<impl Json>) -> &mut Self {
        match value {
            Some(value) => self.put(key, value),
            None => self,
        }
    }

    /// A text.
    pub fn text(&mut self, key: &str, text: impl AsRef<[u8]>) -> &mut Self {
        self.key(key).text(text);
        self
    }

    /// A list.
    pub fn list(&mut self, key: &str, items: impl IntoIterator<Item = impl Json>) -> &mut Self {
        self.key(key).list(items, |item, writer| item.write(writer));
        self
    }

    /// A list, if it is not empty; `write` writes one item.
    pub fn filled<T>(&mut self, key: &str, items: &[T], write: impl FnMut(&T, &mut Writer<'_>)) -> &mut Self {
        if !items.is_empty() {
            self.key(key).list(items, write);
        }
        self
    }

    /// A list of objects; `members` writes those of one.
    pub fn objects<T>(
        &mut self,
        key: &str,
        items: impl IntoIterator<Item = T>,
        mut members: impl FnMut(T, &mut Object<'_>),
    ) -> &mut Self {
        self.key(key).list(items, |item, writer| writer.object(|object| members(item, object)));
        self
    }

    /// An object inside.
    pub fn object(&mut self, key: &str, members: impl FnOnce(&mut Object<'_>)) -> &mut Self {
        self.key(key).object(members);
        self
    }
}

/// Text that is JSON already.
#[derive(Clone, Copy, Debug)]
pub struct Raw<T>(pub T);

impl<T: AsRef<[u8]>> Json for Raw<T> {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.raw(&self.0);
    }
}

impl Json for Value<'_> {
    fn write(&self, writer: &mut Writer<'_>) {
        read(*self, writer);
    }
}

impl<'a> Value<'a> {
    /// Its JSON with every letter as itself: as it was written, or written anew where a letter is escaped by its number
    /// or a slash by a backslash. What is looked for in it is found whatever wrote the file.
    pub fn unescaped(self) -> Cow<'a, [u8]> {
        let raw = self.raw();
        if self.plain_string().is_some() || self.is_number() {
            return Cow::Borrowed(raw);
        }
        let is_escaped = |at: usize| matches!(raw.get(at + 1), Some(b'u' | b'/'));
        if memchr::memchr_iter(b'\\', raw).any(is_escaped) {
            let style = Style { letters: Letters::Kept, ..Style::ASCII };
            return Cow::Owned(style.of(self));
        }
        Cow::Borrowed(raw)
    }
}

/// A short text in quotes with its length, if all of it is printable ASCII, as most keys and words are: it is spelled the
/// same in all styles.
#[inline]
fn short_and_plain(text: &[u8]) -> Option<([u8; SHORT + 2], usize)> {
    let mut spelled = [b' '; SHORT + 2];
    spelled.get_mut(1..=text.len())?.copy_from_slice(text);
    if !are_plain(&spelled) {
        return None;
    }
    *spelled.first_mut()? = b'"';
    *spelled.get_mut(text.len() + 1)? = b'"';
    Some((spelled, text.len() + 2))
}

/// Writes a value that was read. The reader's limit on depth is the limit of this recursion.
fn read(value: Value<'_>, writer: &mut Writer<'_>) {
    let reading = writer.style.reading;
    match value.kind() {
        Kind::String | Kind::Key => string(value, writer),
        Kind::Array => writer.list(value.items(), read),
        Kind::Object if reading == Reading::Written => writer.object(|object| members(value.members(), object)),
        Kind::Object if reading == Reading::Sorted => {
            writer.object(|object| value.each_in_order(|member| copy_member(member, object)));
        }
        Kind::Object => writer.object(|object| members(value.entries(), object)),
        Kind::Int if reading == Reading::Python => writer.raw(int_digits(value)),
        Kind::Float | Kind::NotFinite if reading == Reading::Python => {
            writer.raw(python_float(value.float().unwrap_or(f64::NAN)));
        }
        _ => copy(value, writer),
    }
}

/// A value as it was written.
#[inline]
fn copy(value: Value<'_>, writer: &mut Writer<'_>) {
    writer.out.put(value.raw());
}

fn members<'a>(members: impl IntoIterator<Item = Member<'a>>, object: &mut Object<'_>) {
    members.into_iter().for_each(|member| copy_member(member, object));
}

fn copy_member(member: Member<'_>, object: &mut Object<'_>) {
    read(member.value, &mut object.named(|writer| string(member.key, writer)));
}

/// A string as it was read: printable ASCII without an escape is spelled the same in all styles.
#[inline]
fn string(value: Value<'_>, writer: &mut Writer<'_>) {
    if value.plain_string().is_some_and(|plain| plain_until::<true>(plain, 0) == plain.len()) {
        copy(value, writer);
    } else {
        writer.text(value.string().expect("a string or a key"));
    }
}

/// The digits of an integer: as written, but Python has no negative zero among its integers.
pub fn int_digits(value: Value<'_>) -> &[u8] {
    match value.raw() {
        b"-0" => b"0",
        raw => raw,
    }
}

/// Python's `repr` of a float: the shortest digits that read back, with an exponent below 1e-4 and from 1e16 on.
pub(crate) fn repr_float(float: f64) -> String {
    if float.is_nan() {
        return "nan".to_owned();
    }
    if float.is_infinite() {
        return if float > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    // Rust gives the same shortest digits; only where the exponent begins differs.
    if float == 0.0 || (1e-4..1e16).contains(&float.abs()) {
        let plain = format!("{float}");
        return if plain.contains('.') { plain } else { plain + ".0" };
    }
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, exponent) = exponent.strip_prefix('-').map_or(('+', exponent), |exponent| ('-', exponent));
    format!("{digits}e{sign}{exponent:0>2}")
}

/// A float as `json.dumps` prints it: Python's `repr`, but for what is not finite.
pub fn python_float(number: f64) -> String {
    match number {
        _ if number.is_nan() => "NaN".to_owned(),
        f64::INFINITY => "Infinity".to_owned(),
        f64::NEG_INFINITY => "-Infinity".to_owned(),
        _ => repr_float(number),
    }
}

/// A number as Python's clients write it: without a fraction where it has none.
pub fn client_number(number: f64) -> Raw<String> {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e15;
    Raw(if is_whole { format!("{number:.0}") } else { python_float(number) })
}

/// A value on one line in ASCII: every number with its digits as they stand, every key as often as it stands.
pub fn tight(value: Value<'_>) -> Raw<Vec<u8>> {
    Raw(Style::ASCII.of(value))
}

/// The same of a JSON text; what is none becomes a text.
pub fn one_line(json: &[u8]) -> Raw<Vec<u8>> {
    let mut tape = Tape::default();
    tape.parse(json).map_or_else(|| Raw(Style::ASCII.of(Untrusted::new(json))), tight)
}

/// A JSON text on one line in ASCII, members in order; what is no JSON is nothing.
pub fn sorted(json: &[u8]) -> Option<Raw<Vec<u8>>> {
    let mut tape = Tape::default();
    tape.parse(json).map(|value| Raw(Style::SORTED.of(value)))
}

/// Numbers that are not finite are `null`.
impl Json for f64 {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.raw(if self.is_finite() { repr_float(*self) } else { "null".to_owned() });
    }
}

impl<T: Json + ?Sized> Json for &T {
    fn write(&self, writer: &mut Writer<'_>) {
        (*self).write(writer);
    }
}

/// An absent value is `null`.
impl<T: Json> Json for Option<T> {
    fn write(&self, writer: &mut Writer<'_>) {
        match self {
            Some(value) => value.write(writer),
            None => writer.raw("null"),
        }
    }
}

impl<T: Json> Json for [T] {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.list(self, Json::write);
    }
}

impl<T: Json> Json for Vec<T> {
    fn write(&self, writer: &mut Writer<'_>) {
        self.as_slice().write(writer);
    }
}

macro_rules! written {
    ($way:ident: $($kind:ty),*) => {$(
        impl Json for $kind {
            fn write(&self, writer: &mut Writer<'_>) {
                writer.$way(self);
            }
        }
    )*};
}

written!(display: bool, i32, i64, u16, u32, u64, usize);
written!(text: str, String, Untrusted<'_>);

impl Json for Shown {
    fn write(&self, writer: &mut Writer<'_>) {
        writer.text(self.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(json: Vec<u8>) -> String {
        String::from_utf8(json).unwrap()
    }

    fn written(json: &[u8], style: Style) -> String {
        let mut tape = Tape::default();
        String::from_utf8_lossy(&style.of(tape.parse(json).unwrap())).into_owned()
    }

    #[test]
    fn objects_are_json() {
        let object = |letters| {
            text(Style { letters, ..Style::BODY }.object(|object| {
                object.text("é\"", "\u{1b}漢").put("n", 7).maybe("no", None::<&str>);
                object.list("list", [Untrusted::from("a\n")]).put("x", [Some(0.5), None].as_slice());
                object.objects("o", 1..3_u32, |n, object| _ = object.put("n", n)).object("p", |_| {});
            }))
        };
        let all = r#"{"é\"":"\u001b漢","n":7,"list":["a\n"],"x":[0.5,null],"o":[{"n":1},{"n":2}],"p":{}}"#;
        assert_eq!(object(Letters::All), all);
        assert_eq!(object(Letters::Ascii), all.replace('é', "\\u00e9").replace('漢', "\\u6f22"));
        assert_eq!(text(Style::ASCII.object(|_| {})), "{}");
        assert_eq!((client_number(-0.0).0.as_str(), client_number(0.5).0.as_str()), ("-0", "0.5"));
        let odd = "{ \"a\" : [1.50, \"é\u{9b}\",\n NaN, {}], \"a\": 1e400 }";
        assert_eq!(text(one_line(odd.as_bytes()).0), r#"{"a":[1.50,"\u00e9\u009b",NaN,{}],"a":1e400}"#);
        assert_eq!(text(one_line(b"{").0), "\"{\"");
    }

    #[test]
    fn letters_are_spelled_as_asked() {
        let odd = Untrusted::new(b"\"\\\n\r\t\x08\x0c\x01\x7f\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xff");
        for (letters, expected) in [
            (Letters::Kept, &b"\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\x7f\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xff\""[..]),
            (
                Letters::Stored,
                b"\"\\\"\\\\\\n\\r\\t\\u0008\\u000c\\u0001\x7f\xc3\xa9\xed\xa0\x80\xf0\x9f\x98\x80\xff\"",
            ),
            (Letters::All, "\"\\\"\\\\\\n\\r\\t\\b\\f\\u0001\u{7f}é\\ud800😀\u{fffd}\"".as_bytes()),
            (Letters::Ascii, br#""\"\\\n\r\t\u0008\u000c\u0001\u007f\u00e9\ud800\ud83d\ude00\ufffd""#),
            (Letters::PythonAscii, br#""\"\\\n\r\t\b\f\u0001\u007f\u00e9\ud800\ud83d\ude00\ufffd""#),
            (
                Letters::Canonical,
                b"\"\\\"\\\\\\u000a\\u000d\\u0009\\u0008\\u000c\\u0001\x7f\xc3\xa9\\ud800\xf0\x9f\x98\x80\xff\"",
            ),
        ] {
            assert_eq!(Style { letters, ..Style::ASCII }.of(&odd), expected, "{letters:?}");
        }
        assert_eq!(Style::ASCII.of(Untrusted::new(b"\xed\xbf\xbf")), br#""\udfff""#);
    }

    #[test]
    fn floats_are_pythons() {
        for (number, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e-7, "1e-07"),
            (1e-4, "0.0001"),
            (1.5e-5, "1.5e-05"),
            (1e15, "1000000000000000.0"),
            (1e16, "1e+16"),
            (1.2345e22, "1.2345e+22"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
            (5e-324, "5e-324"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308"),
            (0.1 + 0.2, "0.30000000000000004"),
            (f64::INFINITY, "Infinity"),
            (f64::NEG_INFINITY, "-Infinity"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(python_float(number), text);
        }
        assert_eq!(Style::ASCII.of(f64::NAN), b"null");
    }

    #[test]
    fn one_line_is_wide_or_tight() {
        let line = |spacing| written(br#"{"a":[1,2.0,{}],"b":"\u00e9","a":[]}"#, Style::python(Letters::All, spacing));
        assert_eq!(line(Spacing::Wide), r#"{"a": [], "b": "é"}"#);
        assert_eq!(line(Spacing::Tight), r#"{"a":[],"b":"é"}"#);
    }

    #[test]
    fn values_are_dumped_as_python_does() {
        let dumped = |json: &str| written(json.as_bytes(), Style::python(Letters::Kept, Spacing::Indented));
        assert_eq!(dumped("{}"), "{}");
        assert_eq!(dumped("[[], {}]"), "[\n  [],\n  {}\n]");
        assert_eq!(
            dumped(r#"{"a": 1, "b": {"c": [1, -0, 1e400, 2.50]}, "a": "\u00e9\u0001\/\t\u007f"}"#),
            "{\n  \"a\": \"é\\u0001/\\t\u{7f}\",\n  \"b\": {\n    \"c\": [\n      1,\n      0,\n      Infinity,\n      2.5\n    ]\n  }\n}"
        );
        assert_eq!(dumped("18446744073709551616"), "18446744073709551616");
    }
}
