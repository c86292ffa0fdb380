//! Classes of characters, and which CPython 3.11 calls printable (`str.isprintable`, Unicode 14.0).

use std::sync::LazyLock;

use regex_syntax::hir::{Class, ClassUnicode, HirKind};

/// Characters that Unicode 14.0 knows and neither hides nor leaves blank. `repr` in upstream's messages escapes exactly
/// the others, so it must be Python's Unicode and not a newer one.
const PRINTABLE: &str = r"[\p{Age:14.0}--[\p{Other}\p{Separator}]]";

/// True if `str.isprintable` holds for the code point (surrogates included: they are not).
pub(crate) fn is_printable(code: u32) -> bool {
    static CLASS: LazyLock<ClassUnicode> = LazyLock::new(|| class(PRINTABLE));
    match code {
        ..0x7f => code >= 0x20,
        _ if is_common(code) => true,
        _ => char::from_u32(code).is_some_and(|c| holds(&CLASS, c)),
    }
}

/// True of the letters of Europe and of East Asia, dashes and quotes, arrows, signs and frames: printable, and asked for by
/// the first screen, which need not wait until the class is made.
const fn is_common(code: u32) -> bool {
    matches!(code,
        0xa1..=0xac | 0xae..=0x17f | 0x3a3..=0x52f | 0x2010..=0x2027 | 0x2190..=0x23ff | 0x2500..=0x27bf
        | 0x3001..=0x303f | 0x3041..=0x3096 | 0x3099..=0x30ff | 0x4e00..=0x9fff | 0xac00..=0xd7a3 | 0xff01..=0xff5e)
}

/// True of letters of Europe, dashes, quotes, arrows and signs that take one column and belong to no character before them
/// or behind: so much is known of them without a table.
pub(crate) const fn stands_alone(c: char) -> bool {
    matches!(c,
        ' '..='~' | '\u{a1}'..='\u{ac}' | '\u{ae}'..='\u{17f}' | '\u{3a3}'..='\u{482}' | '\u{48a}'..='\u{52f}'
        | '\u{2010}'..='\u{2027}' | '\u{2190}'..='\u{22ff}' | '\u{2500}'..='\u{25fc}' | '\u{2713}'..='\u{2718}')
}

/// A class of characters as the regex library writes it.
pub(crate) fn class(text: &str) -> ClassUnicode {
    match regex_syntax::parse(text).map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => class,
        // The texts are our own; tests know better.
        _ => ClassUnicode::empty(),
    }
}

/// True if a character is of a class.
pub(crate) fn holds(class: &ClassUnicode, c: char) -> bool {
    let after = class.ranges().partition_point(|range| range.start() <= c);
    after.checked_sub(1).and_then(|at| class.ranges().get(at)).is_some_and(|range| c <= range.end())
}

#[cfg(test)]
mod tests {
    use unicode_segmentation::UnicodeSegmentation as _;
    use unicode_width::UnicodeWidthStr as _;

    use super::{PRINTABLE, class, holds, is_common, is_printable, stands_alone};

    #[test]
    fn what_is_common_is_printable() {
        let class = class(PRINTABLE);
        for c in (0..0x11_0000).filter(|code| is_common(*code)).filter_map(char::from_u32) {
            assert!(holds(&class, c), "U+{:04X}", u32::from(c));
        }
    }

    /// A break between clusters follows from the classes of the two characters: three kinds of neighbours show them.
    #[test]
    fn what_stands_alone_has_a_column_and_a_cluster_of_its_own() {
        for c in (0..0x11_0000).filter_map(char::from_u32).filter(|c| stands_alone(*c)) {
            let text = format!("a{c}{c}1");
            let widths: Vec<usize> = text.graphemes(true).map(str::width).collect();
            assert_eq!((widths, text.width()), (vec![1; 4], 4), "U+{:04X}", u32::from(c));
            assert!(is_printable(u32::from(c)), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn edges_follow_cpython() {
        for (code, printable) in [
            (0x1f, false),
            (0x20, true),
            (0x7e, true),
            (0x7f, false),
            (0xa0, false),
            (0xa1, true),
            (0xad, false),
            (0x200b, false),
            (0x3000, false),
            (0x4e00, true),
            (0xd800, false),
            (0xe000, false),
            (0x1f600, true),
            (0xfffd, true),
            // The last of one Unicode and the first of the next.
            (0x1faf6, true),
            (0x1fae8, false),
            (0x10_ffff, false),
            (0x11_0000, false),
        ] {
            assert_eq!(is_printable(code), printable, "U+{code:04X}");
        }
    }
}
