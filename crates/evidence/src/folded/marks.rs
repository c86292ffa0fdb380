//! Marks that are written into a text without being part of it: references, HTML entities and tags.

use std::ops::Range;

/// Longest reference mark, in bytes.
const MAX_MARK: usize = 96;
/// Longest HTML entity, `&CounterClockwiseContourIntegral;`, and tag, in bytes.
const MAX_ENTITY: usize = 33;
const MAX_TAG: usize = 96;
/// Most words of a mark such as `[Smith et al., 2020; Doe 2019, p. 7]`.
const MAX_WORDS: usize = 14;

/// The length of a `[12]` mark at the beginning of a text that begins with a bracket: what the published check drops.
pub(crate) fn mark(text: &[u8]) -> Option<usize> {
    let digits = text.get(1..)?.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (digits > 0 && text.get(1 + digits) == Some(&b']')).then_some(digits + 2)
}

/// The length of a reference mark at the beginning of a text: `[38, 39]`, `[1, p. 7]`, `[^3]`, `[Smith 2020]`,
/// `【2†source】`.
pub(crate) fn reference(text: &[u8]) -> Option<usize> {
    const OPEN: &[u8] = "【".as_bytes();
    if text.first() == Some(&b'[') {
        let inner = enclosed(text, b"[", b"]")?;
        let is_mark = is_numbers(inner) || is_footnote_label(inner) || is_author_and_year(inner);
        return is_mark.then_some(inner.len() + 2);
    }
    if !text.starts_with(OPEN) {
        return None;
    }
    let inner = enclosed(text, OPEN, "】".as_bytes())?;
    let is_source = inner.contains('†') || (!inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_digit()));
    is_source.then_some(inner.len() + 2 * OPEN.len())
}

/// The text before the reference mark with which it ends.
pub(crate) fn before_last(text: &[u8]) -> Option<&[u8]> {
    if !text.ends_with(b"]") && !text.ends_with("】".as_bytes()) {
        return None;
    }
    let tail = &text[text.len().saturating_sub(MAX_MARK)..];
    let open = [&b"["[..], "【".as_bytes()].into_iter().filter_map(|open| memchr::memmem::rfind(tail, open)).max()?;
    let mark = tail.get(open..)?;
    text.get(..text.len() - mark.len()).filter(|_| reference(mark) == Some(mark.len()))
}

/// The length of `(Smith, 2020)` at the beginning of a text.
pub(crate) fn author_and_year(text: &[u8]) -> Option<usize> {
    let inner = enclosed(text, b"(", b")")?;
    is_author_and_year(inner).then_some(inner.len() + 2)
}

/// The text between two brackets, the first of which begins it; neither holds another.
fn enclosed<'t>(text: &'t [u8], open: &[u8], close: &[u8]) -> Option<&'t str> {
    let rest = text.strip_prefix(open)?;
    let rest = &rest[..rest.len().min(MAX_MARK)];
    let inner = rest.get(..memchr::memmem::find(rest, close)?)?;
    let inner = std::str::from_utf8(inner).ok()?;
    (!inner.contains(['[', '(', '\n'])).then_some(inner)
}

/// `38, 39`, `12–14`, `12; 13`, `1, p. 7`: numbers, and where to look in a work.
fn is_numbers(text: &str) -> bool {
    const WHERE: &[&str] = stepscope_base::list![p pp ch sec fig tab art no vol S f ff n];
    let is_sign = |c: char| matches!(c, ',' | ';' | ' ' | '-' | '–' | '—' | '‐' | '‑' | '§' | '\u{a0}');
    let is_word = |word: &str| {
        let number = word.trim_start_matches(|c: char| c.is_ascii_digit());
        let digits = word.len() - number.len();
        match digits {
            0 => WHERE.contains(&word.trim_end_matches('.')),
            1..=4 => number.is_empty() || (number.len() == 1 && number.bytes().all(|byte| byte.is_ascii_lowercase())),
            _ => false,
        }
    };
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric())
        && text.split(is_sign).filter(|word| !word.is_empty()).all(is_word)
}

/// `^3`, `^note-1`
fn is_footnote_label(text: &str) -> bool {
    const MAX_LABEL: usize = 24;
    let is_plain = |label: &str| label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    text.strip_prefix('^').is_some_and(|label| (1..=MAX_LABEL).contains(&label.len()) && is_plain(label))
}

/// `Smith 2020`, `Smith et al., 2020a; Doe & Roe, 2019, p. 7`: every part has a name and a year.
fn is_author_and_year(text: &str) -> bool {
    // Years stand behind months too, and behind what became of a law.
    const NO_NAMES: &[&str] = stepscope_base::list![
        january february march april may june july august september october november december jan feb mar apr jun jul aug
        sep sept oct nov dec spring summer autumn fall winter amended repealed effective revised version edition since
        until before after from as in by the act law section article rule form fy q1 q2 q3 q4 januar februar märz mai juni
        juli oktober dezember
    ];
    const SMALL: &[&str] = stepscope_base::list![et al and und y de del di da van von der den la le p pp S f ff ed eds];
    let is_year = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        let year = digits.parse::<u32>().is_ok_and(|year| (1500..2100).contains(&year));
        year && digits.len() == 4 && word.len() <= 5
    };
    let is_name = |word: &str| {
        word.starts_with(char::is_uppercase)
            && word.chars().count() > 1
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '-' | '\'' | '’' | '.'))
            && !NO_NAMES.contains(&word.to_lowercase().trim_end_matches('.'))
    };
    let is_work = |part: &str| {
        let words = part.split([' ', ',', '\u{a0}']).filter(|word| !word.is_empty() && *word != "&");
        let words: Vec<&str> = words.take(MAX_WORDS + 1).collect();
        let Some(year) = words.iter().position(|word| is_year(word)) else { return false };
        let (names, rest) = words.split_at(year);
        let is_initial = |word: &str| word.len() == 2 && word.ends_with('.') && word.starts_with(char::is_uppercase);
        let is_small = |word: &str| SMALL.contains(&word.trim_end_matches('.'));
        let is_page = |word: &&str| is_small(word) || word.split(['-', '–']).all(|n| n.parse::<u32>().is_ok());
        words.len() <= MAX_WORDS
            && names.first().is_some_and(|word| is_name(word) || is_small(word))
            && names.iter().any(|word| is_name(word))
            && names.iter().all(|word| is_name(word) || is_small(word) || is_initial(word))
            && rest.iter().skip(1).all(is_page)
    };
    text.split(';').all(is_work)
}

/// The length of an HTML entity at the beginning of a text that begins with `&`, and what it stands for.
pub(crate) fn entity(text: &[u8]) -> Option<(usize, String)> {
    let is_name = text.get(1).is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'#');
    let end = text.iter().take(MAX_ENTITY).position(|byte| *byte == b';').filter(|_| is_name)?;
    let entity = std::str::from_utf8(text.get(..=end)?).ok()?;
    match html_escape::decode_html_entities(entity) {
        std::borrow::Cow::Owned(decoded) if decoded != entity => Some((end + 1, decoded)),
        _ => None,
    }
}

/// Meaning of an HTML tag for the text around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    /// It ends a word: `<br>`, `</td>`.
    Break,
    /// It changes how letters look: `<b>`.
    Style,
    /// The following text is set high: `<sup>`.
    High,
}

/// The length of a well-known HTML tag at the beginning of a text that begins with `<`.
pub(crate) fn tag(text: &[u8]) -> Option<(usize, Tag)> {
    const BREAKS: &[&str] = stepscope_base::list![br p div td th tr li ul ol table];
    const STYLES: &[&str] = stepscope_base::list![b i u em strong small span sub a font mark];
    let closes = text.get(1) == Some(&b'/');
    let from = if closes { 2 } else { 1 };
    let name = text.get(from..)?;
    let name = name.get(..name.iter().take(MAX_TAG).take_while(|byte| byte.is_ascii_alphabetic()).count())?;
    let name = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
    // `a <b and c>` are no tags: behind the name there are attributes or the end.
    let rest = text.get(from + name.len()..)?;
    let end = rest
        .iter()
        .take(MAX_TAG)
        .position(|byte| matches!(byte, b'>' | b'<'))
        .filter(|end| rest.get(*end) == Some(&b'>'))?;
    let inner = rest.get(..end)?;
    if !(inner.is_empty() || inner.ends_with(b"/") || (inner.starts_with(b" ") && inner.contains(&b'='))) {
        return None;
    }
    let is_in = |list: &[&str]| list.iter().any(|known| name.eq_ignore_ascii_case(known));
    let tag = if is_in(BREAKS) {
        Tag::Break
    } else if name.eq_ignore_ascii_case("sup") {
        if closes { Tag::Style } else { Tag::High }
    } else if is_in(STYLES) {
        Tag::Style
    } else {
        return None;
    };
    Some((from + name.len() + end + 1, tag))
}

/// The reference marks of a text, in order.
pub(crate) fn marks(text: &[u8]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let Some(next) = memchr::memchr3(b'[', b'(', 0xe3, rest) else { break };
        at += next;
        let rest = &text[at..];
        match reference(rest).or_else(|| author_and_year(rest)) {
            Some(len) => {
                found.push(at..at + len);
                at += len;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_refers_elsewhere_is_a_mark_and_what_says_something_is_none() {
        for text in [
            "[12]",
            "[38, 39]",
            "[38,39]",
            "[12–14]",
            "[12-14]",
            "[12; 13]",
            "[1, p. 7]",
            "[3, pp. 7-9]",
            "[12a]",
            "[^3]",
            "[^note-1]",
            "[Smith 2020]",
            "[Smith et al., 2020]",
            "[Smith & Doe, 2019; Roe 2020a, p. 7]",
            "[van der Berg 1999]",
            "【2†source】",
            "【4:0†report.pdf】",
            "【7】",
        ] {
            assert_eq!(reference(text.as_bytes()), Some(text.len()), "{text}");
        }
        for text in [
            "[sic]",
            "[the tenant]",
            "[5 kg]",
            "[0.5, 1.2]",
            "[May 2020]",
            "[Amended 2020]",
            "[x, 44 U.S.C.]",
            "[]",
            "[12",
            "[123456]",
            "【重要】",
            "[12 months]",
            "[-5]",
            "12",
            "(12)",
        ] {
            assert_eq!(reference(text.as_bytes()), None, "{text}");
        }
        assert_eq!(author_and_year("(Müller, 2020) says".as_bytes()), Some("(Müller, 2020)".len()));
        assert_eq!(author_and_year(b"(in May 2020)"), None);
        assert_eq!(author_and_year(b"(2020)"), None);
    }

    #[test]
    fn entities_and_tags_are_read_and_comparisons_are_left() {
        assert_eq!(entity(b"&amp; x"), Some((5, "&".to_owned())));
        assert_eq!(entity(b"&#x27;s"), Some((6, "'".to_owned())));
        assert_eq!(entity("&eacute;".as_bytes()), Some((8, "é".to_owned())));
        assert_eq!((entity(b"&nothing;"), entity(b"& b;"), entity(b"&amp")), (None, None, None));
        assert_eq!(tag(b"<sup>12"), Some((5, Tag::High)));
        assert_eq!(tag(b"</td>"), Some((5, Tag::Break)));
        assert_eq!(tag(b"<br/>"), Some((5, Tag::Break)));
        assert_eq!(tag(b"<span class=\"x\">"), Some((16, Tag::Style)));
        assert_eq!((tag(b"<b and c>"), tag(b"<5>"), tag(b"<person>"), tag(b"< b>")), (None, None, None, None));
    }
}
