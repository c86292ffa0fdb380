use proptest::prelude::*;

use super::*;
use crate::folded::fold_text;
use crate::typed::TypedAnswer;
use stepscope_base::json::write::Style;

/// Pages of lines, numbered as parsers do.
fn document(pages: &[&[&str]]) -> Document {
    let lines = (1_i64..)
        .zip(pages)
        .flat_map(|(page, lines)| (1_i64..).zip(*lines).map(move |(number, text)| (page, number, *text)));
    Document::of(lines.collect(), Vec::new())
}

/// Three pages with a header, a line-end hyphen, a mark, a footnote and a sentence over a page break.
fn policy() -> Document {
    document(&[
        &[
            "ACME Policy 2024",
            "Section 1. Purpose ",
            "This policy pays for loss by fire and for the infor- ",
            "mation that is kept under Public Law 104-",
            "106) and nothing else [9].",
            "Deductible: USD 1,200 per claim",
            "1",
        ],
        &[
            "ACME Policy 2024",
            "Section 2. Terms",
            "The insured1 shall give notice within ten ",
            "days of each loss, and shall keep the ",
            "1 Insured means the person named above,",
            "and nobody else.",
            "2",
        ],
        &[
            "ACME Policy 2024",
            "damaged goods for inspection. “Notice” means a letter.",
            "Deductible: none",
            "Section 3. End",
            "3",
        ],
    ])
}

fn claim(first: i64, last: i64, quote: &str) -> Claim<'_> {
    Claim { lines: (Some(first), Some(last)), pages: (None, None), quote: Some(quote.as_bytes()), retrieved: &[] }
}

fn resolved(first: i64, last: i64, quote: &str) -> Resolution {
    resolve(&policy(), &claim(first, last, quote))
}

fn word(first: i64, last: i64, quote: &str) -> &'static str {
    resolved(first, last, quote).word()
}

#[test]
fn the_cited_lines_are_worded_as_they_are_claimed() {
    for (first, last, words) in [
        (5, 5, "line 5 (page 1, line 6)"),
        (5, 6, "lines 5-6 (page 1, lines 6-7)"),
        (6, 5, "lines 6-5, the wrong way round: lines 5-6 (page 1, lines 6-7)"),
        (17, 30, "lines 17-30, of which the document has lines 17-18 (page 3, lines 4-5)"),
        (30, 40, "lines 30-40: no such line"),
        (
            i64::MIN,
            i64::MAX,
            &format!(
                "lines {}-{}, of which the document has lines 0-18 (page 1, line 1 to page 3, line 5)",
                i64::MIN,
                i64::MAX
            ),
        ),
    ] {
        assert_eq!(resolved(first, last, "a quote").cited_in_words(&policy()).as_str(), words);
    }
    let on_page = |page, first| {
        let pages = (Some(page), None);
        Claim { lines: (Some(first), Some(9)), pages, quote: None, retrieved: &[] }
    };
    let words = |page, first| resolve(&policy(), &on_page(page, first)).cited_in_words(&policy()).into_string();
    assert_eq!(words(2, 6), "lines 6-9, of which the document has lines 12-13 (page 2, lines 6-7)");
    assert_eq!(words(2, 8), "lines 8-9 (page 2, lines 2-3)");
    assert_eq!(words(3, 8), "lines 8-9: no such line");
}

#[test]
fn the_tier_says_what_had_to_be_forgiven() {
    assert_eq!(word(5, 5, "Deductible: USD 1,200 per claim"), "exact");
    assert_eq!(word(5, 5, " USD  1,200\n"), "whitespace");
    assert_eq!(word(4, 4, "and nothing else."), "whitespace");
    assert_eq!(word(2, 3, "the information that is kept"), "hyphens");
    assert_eq!(word(2, 4, "kept under Public Law 104-106)"), "hyphens");
    assert_eq!(word(2, 4, "kept under Public Law 104- 106)"), "whitespace");
    assert_eq!(word(15, 15, "\"Notice\" means a letter."), "case_or_punctuation");
    assert_eq!(word(5, 5, "deductible usd 1,200 per claim"), "case_or_punctuation");
    assert_eq!(word(9, 10, "The insured shall give notice within ten days"), "case_or_punctuation");
    assert_eq!(word(9, 15, "shall keep the damaged goods for inspection."), "across_pages");
    assert_eq!(word(9, 10, "The insured1 shall give notice"), "exact");
    assert_eq!(word(5, 5, "Deduct\u{ad}ible: USD 1,200"), "soft_hyphens");
}

#[test]
fn a_quote_that_crosses_pages_leaves_out_what_belongs_to_the_pages() {
    let found = resolved(10, 15, "and shall keep the damaged goods for inspection").found.unwrap();
    assert_eq!((found.lines.clone(), found.skipped.clone()), (10..16, vec![11, 12, 13, 14]));
    let document = policy();
    let recovered = recovered(&document, &resolved(10, 15, "and shall keep the damaged goods")).unwrap();
    assert_eq!(&*recovered, b"and shall keep the \ndamaged goods");
    let parts = found.parts(&document);
    assert_eq!(parts, [(10, 19..38), (15, 0..28)]);
    // A sentence that leaves out text of the page is not forgiven.
    assert_eq!(word(8, 15, "Section 2. Terms damaged goods for inspection."), "nowhere");
}

#[test]
fn a_quote_with_an_ellipsis_stands_there_in_pieces() {
    assert_eq!(word(2, 4, "This policy pays for loss by fire … kept under Public Law"), "elided");
    assert_eq!(word(2, 4, "policy pays for [...] nothing else"), "elided");
    assert_eq!(word(2, 2, "policy pays for loss ... nothing else"), "wider_range");
    assert_eq!(word(15, 15, "policy pays for loss by ... and nothing else"), "other_page");
    assert_eq!(word(2, 4, "and nothing else ... This policy pays for"), "nowhere", "the other way round");
    assert_eq!(word(2, 4, "This policy pays for ... dragons and ghosts"), "nowhere");
}

#[test]
fn the_place_is_seen_from_the_cited_lines() {
    let quote = "Deductible: USD 1,200 per claim";
    let place = |first, last, quote| {
        let resolution = resolved(first, last, quote);
        (resolution.word(), resolution.offset(), resolution.numbering)
    };
    assert_eq!(place(6, 6, quote), ("off_by", Some(-1), Some(Numbering::Global1)));
    assert_eq!(place(2, 2, quote), ("off_by", Some(3), None));
    assert_eq!(place(9, 9, quote), ("off_by", Some(-4), None));
    assert_eq!(place(15, 15, quote), ("other_page", Some(-10), None));
    assert_eq!(
        place(2, 2, "pays for loss by fire and for the infor- mation"),
        ("wider_range", Some(0), Some(Numbering::Global0))
    );
    assert_eq!(
        place(3, 4, "pays for loss by fire and for the information"),
        ("wider_range", Some(-1), Some(Numbering::Global1))
    );
    assert_eq!(place(900, 900, quote), ("elsewhere", None, None));
    assert_eq!(place(19, 19, "Section 3. End"), ("off_by", Some(-2), None), "there is no line 19");
    assert_eq!(place(5, 5, "This policy covers flood without limit"), ("nowhere", None, None));
    assert_eq!(place(5, 5, ""), ("no_quote", None, None));
    assert_eq!(place(-3, -2, " "), ("not_in_doc", None, None));
}

#[test]
fn the_phrase_says_what_the_place_is() {
    let quote = "Deductible: USD 1,200 per claim";
    for (first, last, quote, grounding, phrase) in [
        (5, 5, quote, Grounding::Grounded, "exact"),
        (3, 4, "pays for loss by fire", Grounding::Misplaced, "found 1 line above"),
        (2, 2, quote, Grounding::Misplaced, "found 3 lines below"),
        // The line exists: the quote only begins before it.
        (3, 4, "pays for loss by fire and for the information", Grounding::Misplaced, "runs beyond the cited lines"),
        (15, 15, quote, Grounding::Misplaced, "found on page 1"),
        (5, 5, "This policy covers flood without limit", Grounding::Nowhere, "not found"),
        (5, 5, "", Grounding::Unproven, "no quote"),
        (-3, -2, " ", Grounding::Nowhere, "no such line"),
    ] {
        let resolution = resolved(first, last, quote);
        assert_eq!(
            (resolution.grounding(), resolution.phrase().as_str()),
            (grounding, phrase),
            "{first} {last} {quote}"
        );
    }
}

#[test]
fn numbers_inside_the_page_are_recognised() {
    // Line 4 of page 2 is line 10 of the document.
    let quote = "days of each loss, and shall keep the";
    let resolution = resolved(4, 4, quote);
    assert_eq!((resolution.word(), resolution.numbering), ("other_page", Some(Numbering::PageLocal)));
    let (own, other) = (["x", "the same long quote"], ["a", "b", "c", "d", "e", "f", "g", "h", "the same long quote"]);
    let twice = document(&[&other, &own]);
    let claim = Claim { retrieved: &[2], ..claim(2, 2, "the same long quote") };
    let resolution = resolve(&twice, &claim);
    assert_eq!((resolution.numbering, resolution.found.clone().unwrap().lines), (Some(Numbering::PageLocal), 10..11));
    assert_eq!(resolution.total, 2);
}

#[test]
fn a_span_that_names_its_page_is_read_inside_it() {
    let document = policy();
    let claim =
        |pages, lines, quote: &'static str| Claim { lines, pages, quote: Some(quote.as_bytes()), retrieved: &[] };
    let word = |claim: &Claim<'_>| {
        let resolution = resolve(&document, claim);
        (resolution.word(), resolution.contract, resolution.numbering)
    };
    let local = claim((Some(1), None), (Some(6), Some(6)), "Deductible: USD 1,200 per claim");
    assert_eq!(word(&local), ("exact", Numbering::PageLocal, Some(Numbering::PageLocal)));
    let global = claim((Some(1), Some(1)), (Some(5), Some(5)), "Deductible: USD 1,200 per claim");
    assert_eq!(word(&global), ("exact", Numbering::Global0, Some(Numbering::Global0)));
    let page = claim((Some(2), None), (None, None), "keep the");
    assert_eq!(word(&page), ("exact", Numbering::PageLocal, Some(Numbering::PageLocal)));
    let across = claim((Some(2), Some(3)), (Some(4), Some(2)), "shall keep the damaged goods");
    assert_eq!(word(&across), ("across_pages", Numbering::PageLocal, Some(Numbering::PageLocal)));
    let missing = resolve(&document, &claim((Some(9), None), (Some(1), Some(1)), "Deductible: none"));
    assert_eq!((missing.word(), missing.start_exists, missing.cited), ("elsewhere", Some(false), None));
    let turned = resolve(&document, &claim((Some(2), Some(1)), (Some(1), Some(1)), "x"));
    assert!(turned.reversed);
}

#[test]
fn whether_a_line_exists_follows_the_numbering_that_the_quote_settles() {
    let document = policy();
    let seen = |pages: (i64, i64), lines: (i64, i64), quote: Option<&'static str>| {
        let (pages, lines) = ((Some(pages.0), Some(pages.1)), (Some(lines.0), Some(lines.1)));
        let resolution = resolve(&document, &Claim { lines, pages, quote: quote.map(str::as_bytes), retrieved: &[] });
        let exists = (resolution.start_exists.unwrap(), resolution.end_exists.unwrap());
        (resolution.word(), resolution.contract, exists)
    };
    let (local, global, both) = (Numbering::PageLocal, Numbering::Global0, (true, true));
    // Row 0 of the document is on page 1, which has no line 0.
    assert_eq!(seen((1, 1), (0, 0), Some("ACME Policy 2024")), ("exact", global, both));
    assert_eq!(seen((2, 2), (8, 8), Some("Section 2. Terms")), ("exact", global, both));
    // Page 1 ends with row 6, and has a line 6 but no line 0.
    assert_eq!(seen((1, 1), (0, 6), Some("Section 1. Purpose")), ("exact", global, both));
    assert_eq!(seen((1, 2), (5, 8), Some("Deductible: USD 1,200 per claim")).2, both);
    // Page 2 has a line 7 and a row 7, but no line 8: the quote decides where both begin.
    assert_eq!(seen((2, 2), (7, 8), Some("Section 2. Terms")), ("exact", global, both));
    assert_eq!(seen((2, 2), (2, 2), Some("Section 2. Terms")), ("exact", local, both));
    // Without a quote, or with one that is found elsewhere, the numbers themselves tell where only one way fits.
    assert_eq!(seen((2, 2), (8, 9), None), ("no_quote", global, both));
    assert_eq!(seen((2, 2), (9, 9), Some("Section 2. Terms")), ("off_by", global, both));
    assert_eq!(seen((1, 1), (9, 9), None), ("not_in_doc", local, (false, false)));
    // A row of another page than the named one is no line of that page.
    assert_eq!(seen((1, 1), (8, 8), Some("Section 2. Terms")), ("exact", global, (false, false)));
}

#[test]
fn a_range_the_wrong_way_round_is_turned_and_said() {
    let resolution = resolved(6, 4, "Deductible: USD 1,200 per claim");
    assert_eq!((resolution.word(), resolution.reversed, resolution.cited.clone()), ("exact", true, Some(4..7)));
    assert!(!resolution.is_published_ok() && resolution.is_grounded());
}

#[test]
fn numbers_of_any_size_are_numbers() {
    for (first, last) in [(i64::MIN, i64::MAX), (i64::MAX, i64::MIN), (i64::MAX, i64::MAX), (-1, 5), (0, 10_000)] {
        let resolution = resolved(first, last, "Deductible: USD 1,200 per claim");
        assert!(resolution.found.is_some(), "{first} {last}");
        assert_eq!(resolution.start_exists, Some(first == 0), "{first}");
    }
    let none = Claim { lines: (None, None), pages: (None, None), quote: Some(b"Section 3. End"), retrieved: &[1] };
    let resolution = resolve(&policy(), &none);
    assert_eq!((resolution.word(), resolution.start_exists, resolution.end_exists), ("elsewhere", None, None));
    let empty = resolve(&document(&[]), &claim(0, 0, "x"));
    assert_eq!((empty.word(), empty.start_exists), ("nowhere", Some(false)));
}

#[test]
fn every_place_is_listed_and_many_are_counted() {
    let resolution = resolved(900, 900, "Deductible:");
    assert_eq!((resolution.total, resolution.places.len()), (2, 2));
    let lines = vec!["the clause stands here again"; 2_000];
    let document = document(&[&lines]);
    let resolution = resolve(&document, &claim(-9, -9, "clause stands here"));
    assert_eq!((resolution.total, resolution.places.len()), (search::MAX_COUNT, search::MAX_PLACES));
    // A few letters count as words of their own only.
    assert_eq!(resolve(&document, &claim(-9, -9, "lau")).word(), "nowhere");
    assert_eq!(resolve(&document, &claim(3, 3, "lau")).word(), "exact");
}

#[test]
fn a_quote_of_signs_alone_is_looked_for_as_it_is() {
    let document = document(&[&["• ", "Standards", "____", "“…”"]]);
    assert_eq!(resolve(&document, &claim(0, 0, "•")).word(), "exact");
    assert_eq!(resolve(&document, &claim(0, 1, "• Standards")).word(), "whitespace");
    assert_eq!(resolve(&document, &claim(1, 1, "• Standards")).word(), "wider_range");
    assert_eq!(resolve(&document, &claim(0, 0, "“…”")).word(), "off_by");
    assert_eq!(resolve(&document, &claim(3, 3, "!?")).word(), "nowhere");
}

#[test]
fn what_the_published_check_finds_is_found() {
    let document = document(&[&["the rate A-5 applies"]]);
    let resolution = resolve(&document, &claim(0, 0, "-5  applies"));
    assert_eq!((resolution.word(), resolution.is_published_ok()), ("whitespace", true));
}

#[test]
fn another_number_is_another_quote() {
    let resolution = resolved(5, 5, "Deductible: USD 1,500 per claim");
    assert_eq!(resolution.word(), "nowhere");
    let near = resolution.near.unwrap();
    assert_eq!((near.lines.clone(), near.pages), (5..6, Some((1, 1))));
    let (document, quote) = (policy(), "Deductible: USD 1,500 per claim");
    let said: Vec<&str> = near.quote.iter().map(|range| &quote[range.clone()]).collect();
    assert_eq!(parts(&document, &near.text[0]), [(5, 16..21)]);
    let stands: Vec<&[u8]> = near.text.iter().map(|range| document.bytes(range.clone())).collect();
    assert_eq!((said, stands), (vec!["1,500"], vec![&b"1,200"[..]]));
    for wrong in ["USD 12,00 per claim", "USD 1.200 per claim", "USD 1200 per claim", "USD -1,200 per claim"] {
        assert_eq!(word(5, 5, wrong), "nowhere", "{wrong}");
    }
}

#[test]
fn what_a_quote_resembles_is_found_far_away() {
    let mut lines: Vec<String> =
        (0..3_000).map(|n| format!("line {n} speaks of matters number {}", n * 7919 % 3001)).collect();
    lines[2_500] = "The organization shall review the security categories".to_owned();
    lines[2_501] = "of its systems at least every three years.".to_owned();
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let document = document(&[&texts]);
    let quote = "The organisation must review the security categories of its systems every three years";
    let near = resolve(&document, &claim(3, 3, quote)).near.unwrap();
    assert_eq!(near.lines, 2_500..2_502);
    assert!(near.similarity > 70, "{}", near.similarity);
    let made_up = "Coverage extends to spacecraft, submarines and every kind of dragon known to science";
    assert_eq!(resolve(&document, &claim(3, 3, made_up)).near, None);
}

#[test]
fn one_mistake_of_all_spans_is_said_once() {
    let document = policy();
    let shared = |spans: &[(i64, &str)]| {
        let resolutions: Vec<_> = spans.iter().map(|(n, quote)| resolve(&document, &claim(*n, *n, quote))).collect();
        shared_offset(&resolutions)
    };
    let (deductible, notice, goods) = ("USD 1,200 per claim", "give notice within ten", "damaged goods for inspection");
    assert_eq!(shared(&[(6, deductible), (10, notice), (16, goods)]), Some(SharedMistake::Offset(-1)));
    assert_eq!(shared(&[(2, deductible), (6, notice)]), Some(SharedMistake::Offset(3)));
    assert_eq!(shared(&[(6, deductible), (3, notice), (2, goods)]), Some(SharedMistake::PageLocal));
    assert_eq!(shared(&[(5, deductible), (9, notice)]), None, "all is right");
    assert_eq!(shared(&[(6, deductible), (9, notice)]), None, "one is right");
    assert_eq!(shared(&[(6, deductible)]), None, "one span shares nothing");
    assert_eq!(shared(&[(6, deductible), (10, "nothing of the sort")]), None);
}

#[test]
fn the_result_is_written_as_json() {
    let json = |resolution: &Resolution| String::from_utf8(Style::ASCII.of(resolution)).unwrap();
    assert_eq!(
        json(&resolved(6, 6, "USD 1,200 per claim")),
        r#"{"word":"off_by","tier":"exact","numbering":"global_1","offset":-1,"cited":{"line_start":6,"line_end":6},"found":{"line_start":5,"line_end":5,"page_start":1,"page_end":1}}"#
    );
    let both = json(&resolved(99, 99, "Deductible:"));
    assert!(
        both.contains(r#""cited":null"#) && both.ends_with(r#""page_start":3,"page_end":3}],"total":2}"#),
        "{both}"
    );
    let near = json(&resolved(5, 5, "Deductible: USD 1,500 per claim"));
    assert!(near.starts_with(r#"{"word":"nowhere","tier":null,"numbering":null"#), "{near}");
    assert!(
        near.contains(r#""near":{"line_start":5,"line_end":5,"page_start":1,"page_end":1,"similarity":0."#),
        "{near}"
    );
}

#[test]
fn lines_are_told_in_words() {
    let document = policy();
    let words = |lines| lines_in_words(&document, &lines).into_string();
    assert_eq!(words(5..6), "line 5 (page 1, line 6)");
    assert_eq!(words(9..11), "lines 9-10 (page 2, lines 3-4)");
    assert_eq!(words(10..16), "lines 10-15 (page 2, line 4 to page 3, line 2)");
    assert_eq!(words(99..100), "no line");
}

#[test]
fn the_budget_bounds_what_is_looked_through() {
    let far = claim(15, 15, "Deductible: USD 1,200 per claim");
    let mut whole = Budget::default();
    resolve_within(&policy(), &far, &mut whole);
    let mut budget = Budget::of(MAX_WORK - whole.left);
    assert_eq!(resolve_within(&policy(), &far, &mut budget).place, QuotePlace::OtherPage);
    // What cannot be paid is undecided, wherever the quote stands.
    let close = claim(5, 5, "deductible: USD 1,200 per claim");
    for claim in [&far, &close] {
        let resolution = resolve_within(&policy(), claim, &mut budget);
        assert_eq!((resolution.place, resolution.word()), (QuotePlace::Undecided, "undecided"));
    }
    // But for one that stands in the cited lines byte for byte.
    let exact = claim(5, 5, "Deductible: USD 1,200 per claim");
    assert_eq!(resolve_within(&policy(), &exact, &mut budget).word(), "exact");
    let made_up = claim(15, 15, "Damage by flood is excluded without limit");
    let mut whole = Budget::default();
    assert_eq!(resolve_within(&policy(), &made_up, &mut whole).place, QuotePlace::Nowhere);
    let mut budget = Budget::of(MAX_WORK - whole.left - 1);
    assert_eq!(resolve_within(&policy(), &made_up, &mut budget).place, QuotePlace::Unsearched);
}

/// Words as documents have them, none the beginning of another quote by chance.
fn prose() -> impl Strategy<Value = Vec<Vec<String>>> {
    let word = proptest::string::string_regex("[a-zé]{1,9}[,.;]?|[0-9]{1,4}|[A-Z][a-z]{2,7}").unwrap();
    let line = proptest::collection::vec(word, 1..9).prop_map(|words| words.join(" "));
    proptest::collection::vec(proptest::collection::vec(line, 1..12), 1..6)
}

fn made(pages: &[Vec<String>]) -> Document {
    let pages: Vec<Vec<&str>> = pages.iter().map(|lines| lines.iter().map(String::as_str).collect()).collect();
    document(&pages.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// The text of some lines of the document, chosen by two numbers.
fn cut(document: &Document, a: usize, b: usize) -> (Range<usize>, String) {
    let (a, b) = (a % document.len(), b % document.len());
    let lines = a.min(b)..a.max(b) + 1;
    let text = document.text(lines.clone()).strip_suffix(b"\n").unwrap();
    (lines.clone(), String::from_utf8(text.to_vec()).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_quote_cut_from_lines_is_found_exactly_there(pages in prose(), a: usize, b: usize, skip in 0_usize..4) {
        let document = made(&pages);
        let (lines, text) = cut(&document, a, b);
        let (first, last) = (lines.start as i64, lines.end as i64 - 1);
        let resolution = resolve(&document, &claim(first, last, &text));
        prop_assert_eq!(resolution.word(), "exact");
        prop_assert_eq!(recovered(&document, &resolution).unwrap().into_owned(), text.trim().as_bytes());
        let part: String = text.chars().skip(skip).collect();
        if !part.trim().is_empty() {
            prop_assert_eq!(resolve(&document, &claim(first, last, &part)).word(), "exact");
        }
        let joined = text.replace('\n', "  ");
        let expected = if joined == text { "exact" } else { "whitespace" };
        prop_assert_eq!(resolve(&document, &claim(first, last, &joined)).word(), expected);
    }

    #[test]
    fn a_changed_quote_is_found_at_the_tier_of_its_change(pages in prose(), a: usize, b: usize) {
        let document = made(&pages);
        let (lines, text) = cut(&document, a, b);
        let (first, last) = (lines.start as i64, lines.end as i64 - 1);
        let shouted = text.to_uppercase();
        if shouted != text {
            let word = resolve(&document, &claim(first, last, &shouted)).word();
            // Five metres are no five million.
            // Units have few letters, a comma behind them counted.
            let words: Vec<&str> = text.split_whitespace().collect();
            let has_unit =
                words.windows(2).any(|pair| pair[0].ends_with(|c: char| c.is_ascii_digit()) && pair[1].len() <= 5);
            let is_unit = has_unit && word == "changed";
            prop_assert!(is_unit || word == "case_or_punctuation", "{}", word);
        }
        // The same lines, every one broken in the middle of a word with a hyphen.
        let broken: Vec<String> = text.split_inclusive(|c: char| !c.is_ascii_lowercase()).flat_map(|word| {
            let half = word.len() / 2;
            if half > 0 && word.is_char_boundary(half) && word[..half].ends_with(|c: char| c.is_ascii_lowercase())
                && word[half..].starts_with(|c: char| c.is_ascii_lowercase()) {
                vec![format!("{}-\n", &word[..half]), word[half..].to_owned()]
            } else {
                vec![word.to_owned()]
            }
        }).collect();
        let broken = broken.concat();
        let texts: Vec<&str> = broken.split('\n').collect();
        let hyphenated = document_of_one(&texts);
        let quote = text.replace('\n', " ");
        if broken.contains("-\n") {
            let end = hyphenated.len() as i64 - 1;
            prop_assert_eq!(resolve(&hyphenated, &claim(0, end, &quote)).word(), "hyphens");
        }
    }

    #[test]
    fn a_quote_is_found_wherever_it_stands(pages in prose(), a: usize, b: usize, first in -3_i64..70, last in -3_i64..70) {
        let document = made(&pages);
        let (lines, text) = cut(&document, a, b);
        let resolution = resolve(&document, &claim(first, last, &text));
        // A few letters are found as words of their own only, and every line is one.
        prop_assert!(resolution.found.is_some(), "{:?} {:?}", lines, resolution);
        let found = resolution.found.clone().unwrap();
        let exists = first.max(last) >= 0 && first.min(last) < document.len() as i64;
        prop_assert_eq!(resolution.cited.is_some(), exists);
        let back = fold_text(document.bytes(found.bytes.clone())).0;
        prop_assert_eq!(back, fold_text(text.as_bytes()).0);
        prop_assert!(stepscope_base::json::Tape::default().read(&Style::ASCII.of(&resolution)));
    }

    #[test]
    fn anything_at_all_is_resolved(
        lines in proptest::collection::vec((0_i64..4, 0_i64..9, proptest::collection::vec(hostile(), 0..40)), 0..20),
        quote in proptest::collection::vec(hostile(), 0..60),
        numbers: (Option<i64>, Option<i64>),
        small in proptest::option::of((-2_i64..20, -2_i64..20)),
        pages in proptest::option::of((-1_i64..5, proptest::option::of(-1_i64..5))),
        retrieved in proptest::collection::vec(-1_i64..5, 0..3),
    ) {
        let lines = lines.into_iter().map(|(page, number, text)| (page, number, text.concat())).collect();
        let document = Document::of(lines, Vec::new());
        let quote = quote.concat();
        let lines = small.map_or(numbers, |(first, last)| (Some(first), Some(last)));
        let pages = pages.map_or((None, None), |(first, last)| (Some(first), last));
        let claim = Claim { lines, pages, quote: Some(&quote), retrieved: &retrieved };
        let resolution = resolve(&document, &claim);
        let _ = recovered(&document, &resolution);
        for found in resolution.found.iter().chain(&resolution.places) {
            prop_assert!(document.bytes(found.bytes.clone()).len() == found.bytes.len());
            prop_assert!(found.lines.end <= document.len() && !found.lines.is_empty());
            found.parts(&document);
        }
        shared_offset([&resolution, &resolution]);
    }
}

fn document_of_one(lines: &[&str]) -> Document {
    document(&[lines])
}

/// Bytes that a search may stumble over.
fn hostile() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"a",
        b"B",
        b" ",
        b"-",
        b"-\n",
        b"\n",
        b".",
        b",",
        b"1",
        b"22",
        b"[3]",
        b"[",
        b"]",
        b"(",
        "é".as_bytes(),
        "ﬁ".as_bytes(),
        "\u{ad}".as_bytes(),
        "e\u{301}".as_bytes(),
        "“".as_bytes(),
        "²".as_bytes(),
        b"\xff",
        b"\xed\xa0\x80",
        b"\xf0\x9f",
        "\u{202e}".as_bytes(),
        "\u{3000}".as_bytes(),
        b"the",
        b"word",
        b"\0",
        "İ".as_bytes(),
    ];
    proptest::sample::select(pieces).prop_map(<[u8]>::to_vec)
}

/// Measures the work that the quotes of an answer cost, and returns their places.
fn worked(document: &Document, quotes: &[(usize, String)]) -> (u64, Vec<QuotePlace>) {
    let mut budget = Budget::default();
    let places = quotes.iter().map(|(line, quote)| {
        let line = Some(*line as i64);
        let claim = Claim { lines: (line, line), pages: (None, None), quote: Some(quote.as_bytes()), retrieved: &[] };
        resolve_within(document, &claim, &mut budget).place
    });
    let places = places.collect();
    (MAX_WORK - budget.left, places)
}

fn long_document(lines: usize) -> Document {
    Document::of(
        (0..lines).map(|n| (n as i64 / 50 + 1, n as i64 % 50 + 1, format!("some words of line {n} here"))).collect(),
        Vec::new(),
    )
}

#[test]
fn what_was_not_looked_for_is_undecided_and_never_nowhere() {
    let document = long_document(20_000);
    let wrong = |n: usize| (n, format!("these words {n} were made up by somebody else entirely"));
    let mut quotes: Vec<_> = (0..9_000).map(wrong).collect();
    quotes.push((7, "some words of line  7 here".to_owned()));
    quotes.push((7, "some words of line 7 here".to_owned()));
    let (work, places) = worked(&document, &quotes);
    assert_eq!(work, MAX_WORK);
    let first =
        places.iter().position(|place| matches!(place, QuotePlace::Undecided | QuotePlace::Unsearched)).unwrap();
    assert!(first > 10 && places[..first].iter().all(|place| *place == QuotePlace::Nowhere), "{first}");
    let (exact, others) = places[first + 1..].split_last().unwrap();
    assert!(others.iter().all(|place| *place == QuotePlace::Undecided));
    assert_eq!(*exact, QuotePlace::Cited, "it stands there byte for byte");
    // The same again says the same.
    assert_eq!(worked(&document, &quotes).1, places);
}

#[test]
fn an_ordinary_answer_is_far_from_the_limit() {
    let document = long_document(4_000);
    let right = (0..40).map(|n| (n * 20, format!("some words of line {} here", n * 20)));
    let shifted = (0..10).map(|n| (n * 30, format!("some words of line {} here", n * 30 + 700)));
    let (work, places) = worked(&document, &right.chain(shifted).collect::<Vec<_>>());
    assert!(work < MAX_WORK / 10, "{work}");
    assert!(places[..40].iter().all(|place| *place == QuotePlace::Cited), "{places:?}");
    assert!(
        places[40..]
            .iter()
            .all(|place| !matches!(place, QuotePlace::Undecided | QuotePlace::Unsearched | QuotePlace::Nowhere))
    );
}

#[test]
fn an_answer_gets_what_its_own_size_allows() {
    let document = long_document(30_000);
    let span = r#"{"line_start": 1, "line_end": 1, "quote": "these words were made up by somebody else entirely"}"#;
    let answer = |spans: usize| {
        let spans = vec![span; spans].join(",");
        format!(
            r#"{{"extraction_method": "verbatim", "confidence": 1, "answer_found": true, "items": [{{"text": "a", "spans": [{spans}]}}]}}"#
        )
    };
    let places = |text: &str, size: usize| {
        let mut tape = stepscope_base::json::Tape::default();
        let items = TypedAnswer::bare(tape.parse(text.as_bytes()).unwrap()).items();
        let resolved = resolve_all(&document, (&items, &[]), size);
        resolved.iter().map(|cited| cited.resolution.place).collect::<Vec<_>>()
    };
    for spans in [1, 2, 30] {
        let text = answer(spans);
        for _ in 0..3 {
            // However many answers came before.
            assert_eq!(places(&text, text.len()), vec![QuotePlace::Nowhere; spans]);
        }
    }
    let many = places(&answer(100), 300);
    let first = many.iter().position(|place| *place != QuotePlace::Nowhere).unwrap();
    assert!(first > 3 && many[first + 1..].iter().all(|place| *place == QuotePlace::Undecided), "{first}");
}

#[test]
fn a_misquote_in_a_hundred_cited_lines_of_a_tiny_record_is_decided() {
    let words: Vec<&str> = "rent is due on the first of a month and paid by bank to its owner".split(' ').collect();
    let line = |n: usize| (0..16).map(|place| words[(n * 7 + place * place * (n % 11 + 1)) % 15]).collect::<Vec<_>>();
    // Over pages, and with numbers of footnotes behind words, there is most to look through.
    for (per_page, glued) in [(1_000, ""), (1_000, "12"), (40, ""), (40, "12")] {
        let text = |n: usize| if n.is_multiple_of(9) { line(n).join(" ") + glued } else { line(n).join(" ") };
        let lines = (0..2_000).map(|n| ((n / per_page) as i64 + 1, (n % per_page) as i64 + 1, text(n)));
        let document = Document::of(lines.collect(), Vec::new());
        for at in [300, 350, 399] {
            let mut quote = line(at);
            quote[5] = "another";
            let quote = quote.join(" ");
            let record = format!(
                r#"{{"answer_found": true, "items": [{{"value": "x", "spans": [{{"line_start": 300, "line_end": 399, "quote": "{quote}"}}]}}]}}"#
            );
            let mut tape = stepscope_base::json::Tape::default();
            let items = TypedAnswer::bare(tape.parse(record.as_bytes()).unwrap()).items();
            let resolved = resolve_all(&document, (&items, &[]), record.len());
            let resolution = &resolved[0].resolution;
            assert_eq!(resolution.place, QuotePlace::Nowhere, "{per_page} {glued} {at}");
            assert!(resolution.near.as_ref().is_some_and(|near| near.lines.contains(&at)), "{resolution:?}");
        }
    }
}
