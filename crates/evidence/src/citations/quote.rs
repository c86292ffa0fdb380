//! Quotes that were found: how well they agree, and where they are.

use std::ops::Range;

/// A place so many lines from the cited ones is near them.
pub(crate) const NEARBY: usize = 5;

stepscope_base::words! {
    /// Degree of agreement between a quote and the text, best first.
    pub enum Tier {
        /// Byte for byte.
        Exact = "exact" => "word for word",
        /// But for blanks, line ends and `[12]` marks: what the published check sees through.
        Whitespace = "whitespace" => "except for spaces and line breaks",
        /// But for hyphens that only show where a line breaks, and that broke none.
        SoftHyphens = "soft_hyphens" => "ignoring soft hyphens",
        /// But for hyphens at line ends.
        Hyphens = "hyphens" => "with hyphenated line breaks joined",
        /// But for case, punctuation, accents, other characters for the same, reference marks or HTML.
        CaseOrPunctuation = "case_or_punctuation" => "except for case, punctuation, character forms or reference marks",
        /// With the headers, footers or footnotes between two pages left out.
        AcrossPages = "across_pages" => "ignoring headers, footers and footnotes between the pages",
        /// With other lines or cells between its own: columns, line numbers, a heading that stands once.
        Interleaved = "interleaved" => "with other lines or cells between its own",
        /// In pieces, with more text where the quote has an ellipsis.
        Elided = "elided" => "in parts, with an ellipsis for the text between them",
    }
}

/// Place of a quote, relative to the cited lines.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum QuotePlace {
    /// In the cited lines.
    Cited,
    /// Partly in the cited lines: they begin too late or end too early.
    Wider,
    /// Within `NEARBY` lines.
    Nearby,
    /// On another page.
    OtherPage,
    /// Farther away, or there is no cited line to measure from.
    Elsewhere,
    /// Nowhere in the document.
    Nowhere,
    /// Not near the cited lines, and undecided for the rest: the answer asks for too much work.
    Unsearched,
    /// Undecided, even for the cited lines: the work was used up before.
    Undecided,
    /// There is no quote; the lines exist.
    NoQuote,
    /// There is no quote, and the lines do not exist.
    NotInDoc,
}

/// Place of a quote in a document.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QuoteMatch {
    /// The lines.
    pub lines: Range<usize>,
    /// First and last page.
    pub pages: Option<(i64, i64)>,
    /// The exact bytes of the document's text.
    pub bytes: Range<usize>,
    /// Degree of agreement.
    pub tier: Tier,
    /// Lines among these that do not belong to the quote: headers, footers, footnotes.
    pub skipped: Vec<usize>,
    /// Parts of the other lines that do not belong to the quote: line numbers, cells of another column.
    pub left_out: Vec<Range<usize>>,
}

/// Place that a quote found nowhere resembles most.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NearMatch {
    /// The lines.
    pub lines: Range<usize>,
    /// First and last page.
    pub pages: Option<(i64, i64)>,
    /// The exact bytes of the document's text.
    pub bytes: Range<usize>,
    /// Similarity, in hundredths.
    pub similarity: u8,
    /// Parts of the quote that the text there lacks, in bytes of the quote without the blanks around it.
    pub quote: Vec<Range<usize>>,
    /// Parts of the text there that the quote lacks, in bytes of the document's text.
    pub text: Vec<Range<usize>>,
    /// Only the beginnings were compared.
    pub cut: bool,
    /// The letters were compared and not the words, which differ too much: the work of a text recognition.
    pub by_letters: bool,
}
