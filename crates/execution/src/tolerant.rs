//! The JSON of a reply at which upstream ends: what is around it is left out, and commas before a closing bracket. The
//! way of a run that takes such replies, and says so.

use stepscope_base::json::{Kind, Tape};
use stepscope_base::pyload::loads;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_record::reply::{Parts, parts, thoughts};

/// Reply as it is taken: its JSON, and the text around it that was left out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TakenReply {
    /// The text that counts as the reply.
    pub json: Vec<u8>,
    /// Text that was left out of the reply, in words; `None`: it is taken exactly as it came.
    pub tolerated: Option<Shown>,
}

impl TakenReply {
    /// Takes a reply exactly as it came, as upstream does.
    pub(crate) fn exact(content: &[u8]) -> Self {
        Self { json: content.to_vec(), tolerated: None }
    }

    /// Takes the object in a reply that was asked for with these keys. Without one the reply is taken as it came.
    pub(crate) fn tolerant(content: &[u8], keys: &[Untrusted<'_>]) -> Self {
        if is_object(content) {
            return Self::exact(content);
        }
        let found = found(content, keys, "").or_else(|| {
            let cleaned = without_commas(content)?;
            found(&cleaned, keys, "a comma before a closing bracket")
        });
        found.unwrap_or_else(|| Self::exact(content))
    }
}

/// The object among what is around it, if it can be read. `also`: what was left out before.
fn found(content: &[u8], keys: &[Untrusted<'_>], also: &'static str) -> Option<TakenReply> {
    let parts = parts(content, keys);
    let json = parts.text(content);
    is_object(json).then(|| TakenReply { json: json.to_vec(), tolerated: Some(words(&parts, also)) })
}

fn words(parts: &Parts, also: &'static str) -> Shown {
    let quoted = if parts.decoded.is_some() { "quotation marks around it" } else { "" };
    let said = [also, parts.around.words(), quoted].into_iter().filter(|words| !words.is_empty()).map(Shown::own);
    Shown::listed(said.chain(parts.choice()), usize::MAX)
}

fn is_object(text: &[u8]) -> bool {
    let mut tape = Tape::default();
    loads(&mut tape, text).is_ok_and(|value| value.kind() == Kind::Object)
}

/// A reply without the commas before closing brackets; `None`: there are none. Only what is between the first bracket
/// behind the thoughts and the last one is looked at: before it a quotation mark may have no partner.
fn without_commas(content: &[u8]) -> Option<Vec<u8>> {
    let (_, from) = thoughts(content);
    let behind = content.get(from..)?;
    let start = from + memchr::memchr(b'{', behind)?;
    let end = memchr::memrchr(b'}', content).filter(|end| *end > start)?;
    let (mut cleaned, mut in_string, mut is_escaped) = (content.get(..start)?.to_vec(), false, false);
    // Place of a comma behind which nothing but blanks came.
    let mut comma: Option<usize> = None;
    for &byte in content.get(start..=end)? {
        match byte {
            b'"' if !is_escaped => (in_string, comma) = (!in_string, None),
            b',' if !in_string => comma = Some(cleaned.len()),
            b'}' | b']' if !in_string => {
                if let Some(at) = comma.take() {
                    cleaned.remove(at);
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        is_escaped = in_string && byte == b'\\' && !is_escaped;
        cleaned.push(byte);
    }
    cleaned.extend_from_slice(content.get(end + 1..)?);
    (cleaned.len() < content.len()).then_some(cleaned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_upstream_ends_at_is_taken_and_named() {
        let keys = [Untrusted::from("a")];
        for (reply, json, tolerated) in [
            (" {\"a\": 1}\n", " {\"a\": 1}\n", None),
            ("```json\n{\"a\": 1}\n```", "{\"a\": 1}", Some("a code fence around it")),
            ("Here's the answer: {\"a\": 1}", "{\"a\": 1}", Some("other text around it")),
            ("<think>[1, 2,]</think>{\"a\": 1}", "{\"a\": 1}", Some("reasoning before it")),
            ("{\"a\": [1, 2,],\n}", "{\"a\": [1, 2]\n}", Some("a comma before a closing bracket")),
            (
                "Say \"hm:\n```\n{\"a\": \",]\\\",}\", }\n```",
                "{\"a\": \",]\\\",}\" }",
                Some("a comma before a closing bracket, other text around it"),
            ),
            ("\"{\\\"a\\\": 1}\"", "{\"a\": 1}", Some("quotation marks around it")),
            ("{\"b\": 2} or {\"a\": 1}", "{\"a\": 1}", None),
            ("nothing", "nothing", None),
            ("{\"a\": 1", "{\"a\": 1", None),
            ("[1, 2]", "[1, 2]", None),
            ("{,}", "{}", Some("a comma before a closing bracket")),
        ] {
            let taken = TakenReply::tolerant(reply.as_bytes(), &keys);
            assert_eq!(String::from_utf8_lossy(&taken.json), json, "{reply}");
            if let Some(tolerated) = tolerated {
                assert_eq!(taken.tolerated.as_ref().map(Shown::as_str), Some(tolerated), "{reply}");
            } else {
                assert_eq!(taken.tolerated.is_some(), json != reply, "{reply}");
            }
        }
    }
}
