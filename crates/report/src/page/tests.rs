use super::*;
use stepscope_base::text::Shown;
use stepscope_judge::case::Case;
use stepscope_review::event::Text;
use stepscope_review::event::{EventKind, Verdict};

const NASTY: &str = r#""><script>alert(1)</script><!-- </script> <img src=x onerror=y> & ' javascript:"#;

fn options(said: &[Said]) -> PageOptions<'_> {
    PageOptions { passages: true, source: Shown::line(NASTY.as_bytes()), said, version: "0", ..PageOptions::default() }
}

fn model_of(case: &CaseView<'_>, options: &PageOptions<'_>, limits: &Limits) -> model::PageModel {
    model::PageModel::of(&RecordContent::of(case, options.hide), case, options, limits)
}

fn json(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A run whose every text is hostile.
fn hostile() -> String {
    let text = json(&format!("{NASTY}\u{202e}\u{1b}[2J\u{200b}"));
    format!(
        r#"{{"id": {text}, "run_type": "procedural", "question": {text}, "gold_answer": {text}, "procedure": {{"NameDescription": {text}, "steps": [
        {{"id": 1, "stepDescription": {text}, "inputs": [{{"name": "problem_text", "description": ""}}], "output": [{{"name": {text}, "description": {text}}}]}}]}},
        "state": {{{text}: {text}, "final_answer": {text}}}, "correct": false}}"#
    )
}

/// The page without its sheet and without what it carries.
fn seen(page: &str) -> String {
    let body = &page[page.find("<body>").unwrap()..];
    body[..body.find("<script").unwrap_or(body.len())].to_owned()
}

#[test]
fn no_text_of_a_record_is_markup() {
    let said = Said {
        who: NASTY.into(),
        kind: EventKind::Verdict,
        verdict: Some(Verdict::Fail),
        note: Some(NASTY.into()),
        labels: vec![NASTY.into()],
        ..Said::default()
    };
    for text in [hostile(), NASTY.to_owned(), format!("[{}]", json(NASTY))] {
        let case = Case::read(text.as_bytes());
        let page = html(&case.view(), &options(std::slice::from_ref(&said))).text;
        let seen = seen(&page);
        for bad in ["<script", "<img", "<!--", "\u{202e}", "\u{1b}", "\u{200b}"] {
            assert!(!seen.contains(bad), "{bad:?} in {seen}");
        }
        assert_eq!(page.matches("<script").count(), 1, "what is carried ends no element and begins none");
        assert_eq!(page.matches("</script").count(), 1);
        assert!(!page.contains("<!--") && page.chars().all(|c| c == '\n' || !stepscope_base::text::is_hidden(c)));
    }
}

#[test]
fn a_page_gives_its_record_back_byte_for_byte() {
    let texts: [&[u8]; 9] = [
        hostile().leak().as_bytes(),
        br#"{"id": 1, "a": "<<24*8=192>>", "b": "\u003c"}"#,
        br#"{"id": 1, "a": "\u003C <"}"#,
        br#"{"id": 1, "a": "\\u003C <"}"#,
        b"  {\"id\": 1,\r\n \"a\": [1.50, 1E5, -0]} ",
        "{\"id\": 1, \"a\": \"é\u{202e}\u{feff}\"}".as_bytes(),
        b"{\"id\": 1, \"a\": \"\xff\xfe\"}",
        b"{\"id\": 1, \"a\": ",
        b"",
    ];
    for text in texts {
        let case = Case::read(text);
        let page = html(&case.view(), &PageOptions { step: Some(3), ..options(&[]) });
        assert!(page.carries);
        let carried = carried::read(page.text.as_bytes()).unwrap();
        assert_eq!(carried.text, text, "{}", String::from_utf8_lossy(text));
        assert_eq!(carried.step, Some(3));
    }
}

#[test]
fn a_document_comes_back_line_by_line() {
    let lines = [(1, 1, "a"), (1, 2, "b <c>"), (1, 9, "d"), (3, 1, "e\u{2028}"), (3, 2, "")];
    let document = stepscope_evidence::document::Document::of(lines.to_vec(), Vec::new());
    let text = r#"{"id": 1, "question": "q", "answer": {"items": [{"text": "b", "citations": [{"line_start": 1, "line_end": 1, "quote": "b"}]}], "answer_found": true, "caveats": [], "confidence": 1}}"#;
    let case = Case::citing(text.as_bytes(), Some(document.into()));
    let page = html(&case.view(), &options(&[]));
    let back = carried::read(page.text.as_bytes()).unwrap().document.unwrap();
    let back: Vec<_> = (0..back.len()).map(|n| (back.number(n).unwrap(), back.line(n).unwrap().to_vec())).collect();
    let expected: Vec<_> = lines.iter().map(|(page, line, text)| ((*page, *line), text.as_bytes().to_vec())).collect();
    assert_eq!(back, expected);
    let without = html(&case.view(), &PageOptions { passages: false, ..options(&[]) });
    assert!(carried::read(without.text.as_bytes()).unwrap().document.is_none());
}

#[test]
fn no_page_is_longer_than_the_limit() {
    let step = |n: usize| {
        let long = "<&\"'>".repeat(400);
        format!(
            r#"{{"id": {n}, "stepDescription": {0}, "inputs": [{{"name": "problem_text", "description": ""}}], "output": [{{"name": "v{n}", "description": ""}}]}}"#,
            json(&long)
        )
    };
    for (steps, carries) in [(10, true), (300, false)] {
        let all: Vec<String> = (1..=steps).map(step).collect();
        let state: Vec<String> = (1..=steps).map(|n| format!("\"v{n}\": {}", json(&"<".repeat(500)))).collect();
        let text = format!(
            r#"{{"id": 1, "run_type": "procedural", "question": "q", "procedure": {{"NameDescription": "n", "steps": [{}]}}, "state": {{{}}}}}"#,
            all.join(","),
            state.join(",")
        );
        let case = Case::read(text.as_bytes());
        let page = html(&case.view(), &options(&[]));
        assert!(page.text.len() <= MAX_PAGE, "{}", page.text.len());
        assert_eq!(page.carries, carries);
        assert!(carries || carried::read(page.text.as_bytes()).err() == Some(carried::NotCarried::LeftOut));
    }
}

#[test]
fn a_changed_page_is_told_from_one_without_a_record() {
    let page = html(&Case::read(&b"{}"[..]).view(), &options(&[])).text;
    assert!(carried::is_page(page.as_bytes()));
    for damaged in
        [page.replace("</script>", ""), page.replace("\"record\":{}", "\"record\":"), page.replace("record\"", "x\"")]
    {
        assert_eq!(carried::read(damaged.as_bytes()).err(), Some(carried::NotCarried::Damaged));
    }
}

#[test]
fn what_is_as_recorded_is_what_the_record_says() {
    let samples = include_str!("../../../../sample_runs/word_problems.jsonl");
    let (mut same, mut other) = (0, 0);
    for line in samples.lines() {
        let case = Case::read(line.as_bytes());
        let view = case.view();
        let model = model_of(&view, &options(&[]), &Limits::LEVELS[0]);
        for derived in &model.derivations {
            let (name, step) = (derived.tree.name.as_str(), derived.tree.step - 1);
            let variable = view.state().variable(&name.into()).unwrap();
            let recorded = view.state().written(variable, step).and_then(|entry| entry.value).unwrap();
            let value: f64 = derived.tree.value.as_str().trim_start_matches("≈ ").parse().unwrap();
            let said = stepscope_arithmetic::quantity::find(recorded.raw());
            let says = said.last().is_some_and(|said| (said.float() - value).abs() < 0.01 * value.abs());
            let words = derived.mark.words.as_str();
            assert_eq!(words == "as recorded", says, "{} {name} {words}", model.title);
            *(if says { &mut same } else { &mut other }) += 1;
        }
        // A value is told in the same words wherever it stands.
        let table = model.state.iter().flat_map(|table| &table.rows);
        let cells = table.flat_map(|(_, cells)| cells).filter_map(|cell| Some(&cell.mark.as_ref()?.words));
        let values =
            model.steps.iter().flat_map(|step| &step.writes).filter_map(|value| Some(&value.mark.as_ref()?.words));
        let [mut cells, mut values] = [cells.collect::<Vec<_>>(), values.collect()];
        cells.sort_by_key(|words| words.as_str());
        values.sort_by_key(|words| words.as_str());
        assert_eq!(cells, values, "{}", model.title);
    }
    assert!(same > 10 && other > 10, "{same} {other}");
}

/// A run that counts up by one, and slips at one of its steps.
fn long(steps: usize, slip: usize) -> String {
    let input = |name: &str| format!(r#"[{{"name": "{name}", "description": "number"}}]"#);
    let step = |n: usize| {
        let (reads, text, writes) = match n {
            1 => ("problem_text".to_owned(), "Read the number.".to_owned(), "v1".to_owned()),
            n if n == steps => (format!("v{}", n - 1), format!("State v{}.", n - 1), "final_answer".to_owned()),
            n => (format!("v{}", n - 1), format!("Compute v{n} = v{} + 1.", n - 1), format!("v{n}")),
        };
        format!(
            r#"{{"id": {n}, "inputs": {}, "stepDescription": "{text}", "output": {}}}"#,
            input(&reads),
            input(&writes)
        )
    };
    let all: Vec<String> = (1..=steps).map(step).collect();
    let value = |n: usize| 2 + n + usize::from(n >= slip);
    let state: Vec<String> = (1..steps).map(|n| format!(r#""v{n}": {}"#, value(n))).collect();
    let end = value(steps - 1);
    format!(
        r#"{{"id": 1, "question": "What comes behind 3?", "gold_num": {}, "status": "ok", "mode": "procedural",
        "procedure": {{"NameDescription": "Count", "steps": [{}]}}, "state": {{"problem_text": "", {},
        "final_answer": "{end}", "final_answer_numerical": {end}}}, "pred_num": {end}, "correct": false}}"#,
        end - 1,
        all.join(","),
        state.join(",")
    )
}

#[test]
fn what_is_wrong_is_on_the_page_of_a_long_run_and_the_rest_is_counted() {
    for (count, slip, asked) in
        [(12, 10, None), (24, 22, None), (40, 38, Some(4)), (300, 298, None), (300, 3, Some(250))]
    {
        let text = long(count, slip);
        let case = Case::read(text.as_bytes());
        let view = case.view();
        assert_eq!(view.triage().unwrap().step, Some(slip - 1), "{count}");
        for limits in &Limits::LEVELS {
            let options = PageOptions { step: asked, ..options(&[]) };
            let model = model_of(&view, &options, limits);
            let steps: Vec<usize> = model.steps.iter().map(|step| step.number).collect();
            let table = model.state.as_ref().unwrap();
            let count_of = |left: &[model::LeftOut]| left.iter().map(|left| left.0.clone().count()).sum::<usize>();
            for wanted in [Some(slip), asked.map(|step| step + 1)].into_iter().flatten() {
                assert!(steps.contains(&wanted) && table.columns.contains(&wanted), "{count} {steps:?} {table:?}");
                assert!(
                    table.rows.iter().any(|(name, _)| *name.as_str() == *format!("v{wanted}")),
                    "{count} {table:?}"
                );
            }
            assert_eq!(steps.len() + count_of(&model.steps_left), count);
            assert_eq!(table.columns.len() + count_of(&table.columns_left), count);
            assert!(steps.len() <= limits.steps && table.columns.len() <= limits.columns);
            let first = &model.derivations[0];
            assert_eq!((first.tree.step, first.mark.words.as_str().contains("should be")), (slip, true), "{first:?}");
            assert_eq!(model.derivations.len() + model.derivations_left, count - 1);
        }
        let page = html(&view, &options(&[])).text;
        if slip == 298 {
            let (_, behind) = page.split_once("more steps (1 to ").unwrap();
            let last: usize = behind.split_once(')').unwrap().0.parse().unwrap();
            let next = format!("{last}), not shown here</p>\n<details id=\"step-{}\"", last + 1);
            assert!(behind.starts_with(&next), "{next} {page}");
            assert!(page.contains("more derivations, not shown here"), "{page}");
            let text = markdown(&view, &options(&[]));
            assert!(text.contains("), not shown here\n\n<details") && text.contains("more derivations"), "{text}");
        }
    }
}

#[test]
fn only_the_step_before_which_a_person_set_a_value_is_marked() {
    let fork = r#""trace": {"steps": [], "fork": {"how": "edit", "step_index": 1, "edited": [], "asked": [], "stale": [2, 3],
        "values": [{"variable": "v1", "badge": "override", "step_index": 2, "value": 7, "was": 3}]}}"#;
    let text = long(5, 9).replacen(r#""v1": 3"#, r#""v1": 7"#, 1);
    let text = format!("{}, {fork}}}", text.strip_suffix('}').unwrap());
    let case = Case::read(text.as_bytes());
    let model = model_of(&case.view(), &options(&[]), &Limits::LEVELS[0]);
    let table = model.state.unwrap();
    let set = |cells: &[model::StateCell]| cells.iter().map(|cell| u8::from(cell.is_set)).collect::<Vec<_>>();
    assert_eq!((table.columns.as_slice(), set(&table.rows[0].1)), (&[1, 2, 3, 4, 5][..], vec![1, 1, 0, 0, 0]));
}

#[test]
fn a_page_stays_small_beside_many_long_notes() {
    let note = Some(Text::from("<&> ".repeat(1_500)));
    let said = Said { who: "ada".into(), kind: EventKind::Note, note, ..Said::default() };
    let case = Case::read(br#"{"id": 1}"#.as_slice());
    let size = |count: usize| html(&case.view(), &options(&vec![said.clone(); count])).text.len();
    assert!(size(1) > size(0) + 2_000 && size(500) < 200_000, "{} {} {}", size(0), size(1), size(500));
}

#[test]
fn markdown_says_of_a_review_what_the_page_says() {
    let said = |kind, verdict, is_stale| Said { who: "ada".into(), kind, verdict, is_stale, ..Said::default() };
    let decided = Said {
        labels: vec!["slip".into()],
        fix: Some("procedure".into()),
        gold: Some(stepscope_review::event::GoldStatus::Wrong),
        correction: Some("29".into()),
        step: Some(4),
        ..said(EventKind::Adjudicate, Some(Verdict::Fail), false)
    };
    let stale = said(EventKind::Verdict, Some(Verdict::Pass), true);
    let mut all = vec![decided, stale];
    all.extend((0..60).map(|_| said(EventKind::Note, None, false)));
    let case = Case::read(br#"{"id": 1}"#.as_slice());
    let text = markdown(&case.view(), &options(&all));
    let first = "- decided: fail by <code>ada</code>; Labels: slip; Where to fix: procedure; Expected answer: wrong; \
                 Correct answer: 29; First wrong step: 4\n";
    assert!(text.contains(first), "{text}");
    assert!(text.contains("- pass by <code>ada</code> (↻ changed since)\n"), "{text}");
    assert!(text.contains("\nand 12 more reviews\n"), "{text}");
}

#[test]
fn markdown_can_be_read_and_means_nothing_but_its_text() {
    let question = "Closes #12, says @ada: see https://evil.example or www.evil.example, PROJ-7, deadbeef. Pay $4 for 3*2 <b>eggs</b>, `x_y`, [a](b): 50 | 60; done.";
    let text = format!(r#"{{"id": "r1", "question": {}, "state": {{"final_answer": "a_b @ada"}}}}"#, json(question));
    let written = markdown(&Case::read(text.as_bytes()).view(), &options(&[]));
    let heading = written.lines().nth(1).unwrap();
    for plain in ["Closes ", " says ", " see ", " or ", "Pay $4 for ", " 60; done."] {
        assert!(heading.contains(plain), "{plain}: {heading}");
    }
    for live in ["#12,", "@ada", "://", "www.", " PROJ-7", " deadbeef", "3*2", "<b>", "`x", "[a", "](", " | "] {
        assert!(!heading.contains(live), "{live}: {heading}");
    }
    assert!(!written.contains("@ada") && written.contains("a_b"), "{written}");
    let last = written.lines().last().unwrap();
    assert!(last.contains("r1") && !heading.contains("r1"), "the id stands last: {last}");
}
