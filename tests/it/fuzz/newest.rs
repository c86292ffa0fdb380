//! What the readers of pages, notebooks, chains of thought and tours are given, how it is changed, and what must hold.

use std::fs;
use std::path::Path;

use serde_json::{Value as Json, json};

use super::{BYTES, Dice, VALUES, judge_file, judge_record, lines_of, markup, mutate, records, same};
use stepscope_base::text::{Shown, Untrusted, is_hidden};
use stepscope_evidence::document::Document;
use stepscope_io::config::tour::TourScript;
use stepscope_io::source::page::step_of;
use stepscope_judge::case::Case;
use stepscope_record::RecordKind;
use stepscope_redact::{PrivateHits, Redaction};
use stepscope_report::page;
use stepscope_report::page::carried::{is_page, read};
use stepscope_report::page::{MAX_PAGE, PageOptions, Said};

/// Limit of the length of a sentence, whatever it is about.
pub(crate) const MAX_SENTENCE: usize = 4_000;

fn sample(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_runs").join(name)).unwrap()
}

fn lines(text: &[u8]) -> Vec<Vec<u8>> {
    text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
}

/// Returns lines with one to three of them taken out, doubled, moved, or with a word replaced: text that is printed has
/// no other structure.
fn mutate_lines(text: &str, dice: &mut Dice) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    for _ in 0..=dice.below(3) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (dice.below(lines.len()), dice.below(lines.len()));
        match dice.below(7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines[at] = " ".repeat(dice.below(9)) + &lines[at],
            4 => {
                let line = lines[at].clone();
                let words: Vec<&str> = line.split_inclusive(' ').collect();
                let word = words.get(dice.below(words.len())).copied().unwrap_or_default();
                lines[at] = line.replacen(word, dice.one::<&str>(&VALUES), 1);
            }
            5 => {
                let bytes = mutate(lines[at].as_bytes(), dice);
                lines[at] = String::from_utf8_lossy(&bytes).into_owned();
            }
            _ => lines[at] = lines[at].replace('\n', ""),
        }
    }
    lines.concat()
}

/// Run as upstream prints it.
const PRINTED: &str = "Question: Ann has 2 apples.\nShe buys 3: how many?\nIndex:  22\nExpected Answer: 5.0\nPredicted Answer: 6\nDid baseline get it correct?: True\nProcedure Output:\n\n--- Procedure: Add: both ---\nSteps:\n\nStep 1: Extract: the numbers\n  **Inputs**:\n    - problem_text: Full text\n  **Outputs**:\n    - had: Apples before: 2\nin two lines\n    - bought: Apples bought\n\nStep 2: Say it\n  **Inputs**:\n    - had: Apples before\n    - bought: Apples bought\n  **Outputs**:\n    - final_answer: The sum\n[step 1] inputs: {'problem_text': \"Ann has 2 apples.\\nShe buys 3: how many?\"}\n[step 1] outputs: {'had': 2, 'bought': 3.0}\n[step 2] inputs: {'had': 2, 'bought': 3.0}\n[step 2] outputs: {'final_answer': \"it's 6\", 'final_answer_numerical': 6, 'sure': True}\n----- \n\n\n";

fn notebook_of(outputs: &[Json]) -> Vec<u8> {
    let cells = json!([
        {"cell_type": "markdown", "source": ["# title"], "metadata": {}},
        {"cell_type": "code", "source": [], "outputs": outputs, "metadata": {}},
    ]);
    json!({"cells": cells, "nbformat": 4, "nbformat_minor": 5, "metadata": {}}).to_string().into_bytes()
}

/// Makes notebooks with runs as they were printed, with JSON, with what Python prints of a record, and an old one.
pub(crate) fn notebooks() -> Vec<Vec<u8>> {
    let stdout = |text: &str| json!({"output_type": "stream", "name": "stdout", "text": text.split_inclusive('\n').collect::<Vec<_>>()});
    let record = String::from_utf8(lines_of("runs.jsonl")[0].clone()).unwrap();
    let value: Json = serde_json::from_str(&record).unwrap();
    let python = record.replace("true", "True").replace("false", "False").replace("null", "None");
    let error = json!({"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []});
    let half = PRINTED.find("[step 2] inputs").unwrap();
    let old = json!({"nbformat": 3, "worksheets": [{"cells": [
        {"cell_type": "code", "outputs": [{"output_type": "stream", "stream": "stdout", "text": PRINTED}]}]}]});
    vec![
        notebook_of(&[stdout(PRINTED), stdout(&PRINTED[..half]), error, stdout(&PRINTED[half..])]),
        notebook_of(&[
            json!({"output_type": "execute_result", "data": {"application/json": [value], "text/plain": "x"}}),
            json!({"output_type": "execute_result", "data": {"text/plain": [python]}}),
            stdout(&format!("first\n{record}\n[{record}]\n")),
        ]),
        old.to_string().into_bytes(),
    ]
}

/// Changes the text of an output, as text, half of the time; else the notebook, as JSON.
pub(crate) fn mutate_notebook(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let Ok(mut root) = serde_json::from_slice::<Json>(seed) else { return mutate(seed, dice) };
    if dice.below(2) == 0 {
        return mutate(seed, dice);
    }
    for pointer in ["/cells/1/outputs", "/worksheets/0/cells/0/outputs"] {
        let Some(outputs) = root.pointer_mut(pointer).and_then(Json::as_array_mut) else { continue };
        let at = dice.below(outputs.len());
        for text in ["/text", "/data/text~1plain"] {
            let Some(value) = outputs[at].pointer_mut(text) else { continue };
            let all = match &*value {
                Json::Array(lines) => lines.iter().filter_map(Json::as_str).collect(),
                one => one.as_str().unwrap_or_default().to_owned(),
            };
            *value = Json::from(mutate_lines(&all, dice));
        }
    }
    root.to_string().into_bytes()
}

/// Makes chains of thought in the spellings of those who write them.
pub(crate) fn thoughts() -> Vec<Vec<u8>> {
    let mut all = lines(&sample("chains.jsonl"));
    all.push(br#"{"problem": "2 + 3 + 4?", "solution": "2 + 3 = 5\n\n5 + 4 = 9\nThe answer is \\boxed{9}.", "ground_truth_answer": "9", "first_error_step": 2}"#.to_vec());
    all.push(br#"{"query": "q", "cot": ["1/2 + 1/3 = 5/6", "so 1.5 apples, 3 boxes of 12"], "prediction": "5/6", "gold": 0.8333, "correct": true}"#.to_vec());
    all.push(
        br#"{"task": "q", "completion": "Step 1: 2*3=<<2*3=6>>6\n#### 6", "target": "6", "verified": true}"#.to_vec(),
    );
    all
}

/// Makes completions with their reward, individuals of a generation, and answers without items.
pub(crate) fn flats() -> Vec<Vec<u8>> {
    let runs = lines_of("runs.jsonl");
    let run: Json = serde_json::from_slice(&runs[0]).unwrap();
    let individual = json!({"proc": run["procedure"], "fitness": 1.5, "notes": "n", "id": "g1", "generation": 3});
    vec![
        br#"{"prompt": "2 + 3?", "completion": "5", "reward": 1.0, "success": true, "details": "Matched at offset 0"}"#.to_vec(),
        br#"{"prompt": [{"role": "user", "content": "2 + 3?"}], "completion": "def f():\n  return 5", "reward": 0, "success": false, "error": "e", "metadata": {"stage": "compile"}}"#.to_vec(),
        individual.to_string().into_bytes(),
        br#"{"question": "q", "document": {"lines": ["It is two.", "Or three."]}, "answer": {"answer": "two", "line_start": 0, "line_end": 1}}"#.to_vec(),
        // Put together here, so that no scanner of repositories takes this file for a leak.
        [
            br#"{"prompt": "ask ada@example.org", "completion": "Bearer 9f8e7d6c5b4a39281706 in /home/ada/x, sk-"#.as_slice(),
            br#"proj-4f9aQ2xT7bLmN8pR3vWz", "reward": 1, "api_key": "0123456789ab", "headers": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}, "nested": "{\"token\": \"ghp_"#,
            br#"A1b2C3d4E5f6G7h8I9j0K1l2\"}", "env": [{"name": "db_password", "value": "hunter2x"}], "lines": ["my password is", "hunter2x"]}"#,
        ]
        .concat(),
        br#"{"value": 3, "line_start": 1, "line_end": 2, "quote": "three", "confidence": 0.5}"#.to_vec(),
    ]
}

/// Checks a record like any other, and its page, which is nothing else but it.
pub(crate) fn judge_shared(case: &[u8], folder: &Path) -> Result<(), String> {
    judge_record(case, folder)?;
    judge_export(case, None)
}

fn options<'p>(said: &'p [Said], source: &[u8]) -> PageOptions<'p> {
    PageOptions { passages: true, source: Shown::line(source), said, version: "0", ..PageOptions::default() }
}

/// Checks that the pages of a record hold the program's own markup, the record byte for byte where there is room, and
/// nothing that looks private once that was taken out.
pub(crate) fn judge_export(text: &[u8], document: Option<Document>) -> Result<(), String> {
    let said = Said {
        who: Untrusted::owned(text.iter().copied().take(60).collect()),
        note: Some(Untrusted::owned(text.to_vec())),
        ..Said::default()
    };
    let case = Case::citing(text, document.map(Into::into));
    let view = case.view();
    let options = options(std::slice::from_ref(&said), text.get(..40).unwrap_or(text));
    let page = page::html(&view, &options);
    if let Some(wrong) = markup::wrong_in(&page.text) {
        return Err(format!("its page: {wrong}"));
    }
    if page.text.len() > MAX_PAGE {
        return Err(format!("its page has {} bytes", page.text.len()));
    }
    match read(page.text.as_bytes()) {
        Ok(carried) if page.carries => same("what is carried", &text, &&carried.text[..])?,
        read => same("whether it is carried", &page.carries, &read.is_ok())?,
    }
    same("two pages of one record", &page.text, &page::html(&view, &options).text)?;
    let markdown = page::markdown(&view, &options);
    if let Some(hidden) = markdown.chars().find(|c| *c != '\n' && is_hidden(*c)) {
        return Err(format!("the Markdown holds {hidden:?}"));
    }
    let clean = Redaction::all().record(text).into_owned();
    let mut hits = PrivateHits::default();
    hits.look_in_record(&clean);
    match hits.named.first() {
        Some(hit) => Err(format!("{hit:?} is left in {}", String::from_utf8_lossy(&clean))),
        None => same("what is redacted twice", &clean, &Redaction::all().record(&clean).into_owned()),
    }
}

/// Makes pages of records of every kind, one of them with the document that it cites.
pub(crate) fn pages() -> Vec<Vec<u8>> {
    let document = || Document::of(vec![(1, 1, "It is two."), (1, 2, "Or </script> three."), (3, 1, "")], Vec::new());
    let said = Said { who: "ada".into(), note: Some("n <b>".into()), ..Said::default() };
    let answer = br#"{"id": 1, "question": "q", "answer": {"answer_found": true, "items": [{"text": "two", "citations": [{"line_start": 0, "line_end": 0, "quote": "two"}]}]}}"#;
    let mut all: Vec<Vec<u8>> = records().into_iter().step_by(7).chain(flats()).chain(thoughts()).collect();
    all.retain(|record| record.len() < 8_000);
    all.push(b"{\"broken\": \xff".to_vec());
    let page = |text: &[u8], document: Option<Document>| {
        let case = Case::citing(text, document.map(Into::into));
        page::html(
            &case.view(),
            &PageOptions { step: Some(0), ..options(std::slice::from_ref(&said), b"a.jsonl, line 1") },
        )
        .text
        .into_bytes()
    };
    all.iter().map(|record| page(record, None)).chain([page(answer, Some(document()))]).collect()
}

/// Changes what the page carries, as JSON, most of the time; else the page.
pub(crate) fn mutate_page(seed: &[u8], dice: &mut Dice) -> Vec<u8> {
    let find = |text: &[u8], what: &[u8]| text.windows(what.len()).position(|window| window == what);
    let open = find(seed, b"id=\"stepscope\">").map(|at| at + 15);
    match open.and_then(|open| Some((open, open + find(&seed[open..], b"</script>")?))) {
        Some((open, close)) if dice.below(5) > 0 => {
            let carried = mutate(&seed[open..close], dice);
            [&seed[..open], &carried, &seed[close..]].concat()
        }
        Some((open, _)) => {
            let mut page = seed.to_vec();
            let at = open.saturating_sub(dice.below(60));
            page.splice(at..(at + dice.below(20)).min(seed.len()), dice.one(&BYTES).iter().copied());
            page
        }
        None => mutate(seed, dice),
    }
}

/// Checks that a page is read the same twice, and that what it carries makes a page that carries the same.
pub(crate) fn judge_page(case: &[u8], folder: &Path) -> Result<(), String> {
    judge_file(case, folder, "case.html")?;
    let step = step_of(&folder.join("case.html"));
    let carried = read(case).ok().filter(|_| is_page(case));
    same("the step in question", &step.flatten(), &carried.as_ref().and_then(|carried| carried.step))?;
    carried.map_or(Ok(()), |carried| judge_export(&carried.text, carried.document))
}

pub(crate) fn tours() -> Vec<Vec<u8>> {
    let short = "title = \"t\"\nrecords = [\"a.jsonl\"]\n[[scene]]\nname = \"n\"\nfilter = \"id:1\"\nid = \"1\"\nstep = 2\nkeys = \"Enter ?word\"\nwait = \"w\"\nspot = \"s\"\ncaption = \"c\"\nnote = \"n\"\n";
    vec![sample("tour.toml"), short.into()]
}

pub(crate) fn judge_tour(case: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("tour.toml");
    fs::write(&path, case).unwrap();
    let read = || TourScript::read(&path, true).map_err(|failure| failure.to_string());
    let first = read();
    same("two readings differ", &first, &read())?;
    match first {
        Err(said) if said.chars().any(|c| c != '\n' && is_hidden(c)) => Err(format!("{said:?} is said as it is")),
        Err(said) if said.len() > MAX_SENTENCE => Err(format!("a sentence of {} bytes", said.len())),
        _ => Ok(()),
    }
}

/// Checks that each seed is what its reader takes, and that a page with anything foreign in it is told from one
/// without.
pub(crate) fn check_seeds(folder: &Path) {
    let kinds = |texts: &[Vec<u8>]| texts.iter().map(|text| Case::read(&text[..]).view().kind()).collect::<Vec<_>>();
    assert!(kinds(&thoughts()).iter().all(|kind| *kind == RecordKind::Chain), "{:?}", kinds(&thoughts()));
    assert!(!kinds(&flats()).contains(&RecordKind::Unknown), "{:?}", kinds(&flats()));
    for (n, seed) in notebooks().iter().enumerate() {
        let path = folder.join("seed.ipynb");
        fs::write(&path, seed).unwrap();
        assert!(!super::said(&path, 1).unwrap().is_empty(), "notebook {n}");
    }
    for seed in tours() {
        let path = folder.join("tour.toml");
        fs::write(&path, seed).unwrap();
        assert_eq!(TourScript::read(&path, true).err().map(|failure| failure.to_string()), None);
    }
    let pages = pages();
    assert!(pages.iter().all(|page| is_page(page) && read(page).is_ok_and(|carried| carried.step == Some(0))));
    assert!(pages.iter().any(|page| read(page).is_ok_and(|carried| carried.document.is_some())));
    let page = std::str::from_utf8(&pages[0]).unwrap();
    assert_eq!(markup::wrong_in(page), None);
    for foreign in [
        "<img>",
        "<p onclick=\"x\">a</p>",
        "<a href=\"http://a\">b</a>",
        "<a href=\"#nowhere\">b</a>",
        "<a href=\"../b.html\">b</a>",
        "<script>1</script>",
        "<!-- a -->",
        "<p>",
        "</main>",
        "&copy;",
        "\u{202e}",
        "<style>a</style>",
        "<p class=\"a\" style=\"b\">c</p>",
    ] {
        let planted = page.replacen("<main>\n", &format!("<main>\n{foreign}"), 1);
        assert!(markup::wrong_in(&planted).is_some(), "{foreign}");
    }
}
