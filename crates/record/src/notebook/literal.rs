//! Output of Python's `repr` for dicts, lists, texts and numbers, as JSON.

use stepscope_base::json::push_code;
use stepscope_base::json::write::Style;
use stepscope_base::text::Untrusted;

/// Deeper values are not read.
const MAX_DEPTH: usize = 100;

/// The JSON of the value that a text begins with, and what follows it. `None`: it is no such value.
pub(super) fn to_json(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let (json, len) = measured(text);
    Some((json?, &text[len..]))
}

/// The same, and how much of the text was looked at.
pub(super) fn measured(text: &[u8]) -> (Option<Vec<u8>>, usize) {
    let mut reader = LiteralReader { text, at: 0, out: Vec::new() };
    let read = reader.value(0);
    (read.map(|()| reader.out), reader.at)
}

struct LiteralReader<'t> {
    text: &'t [u8],
    at: usize,
    out: Vec<u8>,
}

impl LiteralReader<'_> {
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        match self.peek()? {
            b'{' => self.dict(depth),
            b'[' => self.list(b']', depth),
            b'(' => self.list(b')', depth),
            b'\'' | b'"' => {
                let mut text = self.string()?;
                // Python joins texts that stand next to each other; `pprint` cuts long ones so.
                while matches!(self.peek(), Some(b'\'' | b'"')) {
                    text.extend(self.string()?);
                }
                Style::ASCII.append(Untrusted::new(&text), &mut self.out);
                Some(())
            }
            _ => self.word(),
        }
    }

    fn dict(&mut self, depth: usize) -> Option<()> {
        self.parts(b'}', *b"{}", |this| {
            if matches!(this.peek()?, b'\'' | b'"') {
                this.value(depth + 1)?;
            } else {
                // As `json.dumps` writes keys that are no texts.
                let before = this.out.len();
                this.word()?;
                let key = this.out.split_off(before);
                Style::ASCII.append(Untrusted::new(&key), &mut this.out);
            }
            if this.peek()? != b':' {
                return None;
            }
            this.at += 1;
            this.out.push(b':');
            this.value(depth + 1)
        })
    }

    fn list(&mut self, end: u8, depth: usize) -> Option<()> {
        self.parts(end, *b"[]", |this| this.value(depth + 1))
    }

    /// Reads what commas separate up to its end, and writes it in these brackets.
    fn parts(&mut self, end: u8, [open, close]: [u8; 2], part: impl Fn(&mut Self) -> Option<()>) -> Option<()> {
        self.at += 1;
        self.out.push(open);
        let mut any = false;
        loop {
            match self.peek()? {
                byte if byte == end => break,
                b',' if any => self.at += 1,
                _ if any => return None,
                _ => {}
            }
            if self.peek()? == end {
                break;
            }
            if any {
                self.out.push(b',');
            }
            part(self)?;
            any = true;
        }
        self.at += 1;
        self.out.push(close);
        Some(())
    }

    fn string(&mut self) -> Option<Vec<u8>> {
        let quote = self.peek()?;
        self.at += 1;
        let mut text = Vec::new();
        loop {
            let rest = self.text.get(self.at..)?;
            let Some(plain) = memchr::memchr2(quote, b'\\', rest) else {
                self.at = self.text.len();
                return None;
            };
            text.extend_from_slice(rest.get(..plain)?);
            self.at += plain + 1;
            if rest.get(plain) == Some(&quote) {
                return Some(text);
            }
            let escape = *self.text.get(self.at)?;
            self.at += 1;
            match escape {
                b'n' => text.push(b'\n'),
                b't' => text.push(b'\t'),
                b'r' => text.push(b'\r'),
                b'\\' | b'\'' | b'"' => text.push(escape),
                b'x' => self.code(2, &mut text)?,
                b'u' => self.code(4, &mut text)?,
                b'U' => self.code(8, &mut text)?,
                _ => return None,
            }
        }
    }

    /// A character by its number.
    fn code(&mut self, digits: usize, text: &mut Vec<u8>) -> Option<()> {
        let hex = self.text.get(self.at..self.at + digits)?;
        let code = u32::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok()?;
        self.at += digits;
        (code <= char::MAX.into()).then(|| push_code(text, code))
    }

    fn word(&mut self) -> Option<()> {
        self.peek()?;
        let rest = self.text.get(self.at..)?;
        let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.' | b'_');
        let len = rest.iter().take_while(is_part).count();
        let word = rest.get(..len)?;
        let json: &[u8] = match word {
            b"True" => b"true",
            b"False" => b"false",
            b"None" => b"null",
            b"nan" => b"NaN",
            b"inf" => b"Infinity",
            b"-inf" => b"-Infinity",
            _ if is_number(word) => word,
            _ => return None,
        };
        self.at += len;
        self.out.extend_from_slice(json);
        Some(())
    }
}

/// Tells whether JSON has this number too: `1`, `-2.5`, `1e-07`; Python prints no other.
fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    let is_plain = digits.first().is_some_and(u8::is_ascii_digit) && digits.last().is_some_and(u8::is_ascii_digit);
    let has_zero = digits.len() > 1 && digits.starts_with(b"0") && digits.get(1).is_some_and(u8::is_ascii_digit);
    is_plain && !has_zero && std::str::from_utf8(word).is_ok_and(|word| word.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::to_json;

    fn read(text: &str) -> Option<String> {
        to_json(text.as_bytes())
            .map(|(json, rest)| String::from_utf8(json).unwrap() + std::str::from_utf8(rest).unwrap())
    }

    #[test]
    fn what_python_prints_becomes_json() {
        for (text, json) in [
            ("{'a': 1, 'b': [True, None, 'x']}", r#"{"a":1,"b":[true,null,"x"]}"#),
            (r#"{'a': "it's", "b": 'say "x"\n\t\\'}"#, r#"{"a":"it's","b":"say \"x\"\n\t\\"}"#),
            (r"{'a': '\x1b\u202e\U0001f600\ud800'}", r#"{"a":"\u001b\u202e\ud83d\ude00\ud800"}"#),
            ("(1, 2.50, -1e-07, nan, inf, -inf)", "[1,2.50,-1e-07,NaN,Infinity,-Infinity]"),
            ("[ 1,\n 2, ] rest", "[1,2] rest"),
            ("{'a': 'one '\n      \"two's \"\n      'three',\n 'b': 1}", r#"{"a":"one two's three","b":1}"#),
            ("{1: 'a', None: {}}", r#"{"1":"a","null":{}}"#),
            ("()", "[]"),
            ("(1,)", "[1]"),
        ] {
            assert_eq!(read(text).as_deref(), Some(json), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let deep = "[".repeat(200_000);
        for text in [
            "",
            "{",
            "{'a'}",
            "{'a': }",
            "{'a': 1 'b': 2}",
            "{k: state[k] for k in ['a']}",
            "array([1])",
            "'x",
            "{1, 2}",
        ]
        .into_iter()
        .chain([deep.as_str(), "01", "1.", "+1", "1_0", "'\\q'", "'\\x1'", "'\\Uffffffff'", "[,]", "[1 2]"])
        {
            assert_eq!(read(text), None, "{}", &text[..text.len().min(40)]);
        }
    }
}
