//! How fast records are found, read and checked. `cargo bench --bench pipeline`, or `-- --test` for one quick pass.

#![allow(clippy::unwrap_used, missing_docs)]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::channel;

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use stepscope_base::json::Tape;
use stepscope_evidence::citations::{Claim, resolve};
use stepscope_evidence::document::Document;
use stepscope_io::pipeline::check::{CheckOptions, check};
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::search::{Plan, SearchEvent, start};
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_io::source::block::{Block, Cursor, Want};
use stepscope_io::source::column_map::ColumnMap;
use stepscope_io::source::input::{Begun, Input, begin, expand};
use stepscope_judge::case::{Case, CaseView};
use stepscope_table::filter::text_patterns;

const RECORDS: usize = 2_000;

fn main() {
    divan::main();
}

/// A run record of about four kilobytes, the n-th of its kind.
fn record(n: usize) -> String {
    let words = "state the quantity that the problem gives and carry it on without rounding ";
    let field = |name: &str| format!(r#"{{"name": "{name}", "description": "{words}"}}"#);
    let steps: Vec<String> = (1..=6)
        .map(|step| {
            let input = if step == 1 { "problem_text".to_owned() } else { format!("value_{}", step - 1) };
            let output = if step == 6 { "final_answer".to_owned() } else { format!("value_{step}") };
            format!(
                r#"{{"id": {step}, "inputs": [{}], "stepDescription": "Extract: {}", "output": [{}]}}"#,
                field(&input),
                words.repeat(4),
                field(&output)
            )
        })
        .collect();
    let state: Vec<String> = (1..6).map(|step| format!(r#""value_{step}": {}"#, n * step)).collect();
    format!(
        r#"{{"id": "r{n}", "row_index": {n}, "question": "How much is {n}? {}", "gold_answer": "Sum. #### {n}", "gold_num": {n}.0, "status": "ok", "mode": "procedural", "procedure": {{"NameDescription": "Sum", "steps": [{}]}}, "fitness": 0.75, "steps": 6, "state": {{"problem_text": "How much?", {}, "final_answer": "It is {n}.", "final_answer_numerical": {n}, "confidence": 0.9}}, "pred_answer": "It is {n}.", "pred_num": {n}.0, "correct": true}}"#,
        words.repeat(3),
        steps.join(", "),
        state.join(", ")
    )
}

fn text() -> String {
    (0..RECORDS).map(|n| record(n) + "\n").collect()
}

struct OnDisk {
    _dir: tempfile::TempDir,
    path: PathBuf,
    bytes: usize,
}

fn on_disk() -> OnDisk {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("runs.jsonl");
    std::fs::write(&path, text()).unwrap();
    OnDisk { path, _dir: dir, bytes: text().len() }
}

#[divan::bench]
fn parse(bencher: Bencher<'_, '_>) {
    let text = record(7);
    let mut tape = Tape::default();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| black_box(tape.read(black_box(text.as_bytes()))));
}

#[divan::bench]
fn rules(bencher: Bencher<'_, '_>) {
    let text = record(7);
    bencher
        .counter(ItemsCount::new(1_usize))
        .with_inputs(|| Case::read(text.as_bytes()))
        .bench_local_values(|case| black_box(case.findings().len()));
}

#[divan::bench]
fn index(bencher: Bencher<'_, '_>) {
    let file = on_disk();
    let Ok(Begun::Source(source)) = begin(&Input::Named(file.path.clone()), &Arc::default(), &ColumnMap::default())
    else {
        return;
    };
    let mut block = Block::default();
    bencher.counter(BytesCount::new(file.bytes)).bench_local(|| {
        let mut cursor = Cursor::new(source.blob.clone(), source.layout);
        while cursor.next(&mut block, u64::MAX, Want::Places).unwrap() {}
        black_box(cursor.index)
    });
}

#[divan::bench(args = [1, 2])]
fn check_file(bencher: Bencher<'_, '_>, threads: usize) {
    let file = on_disk();
    bencher.counter(ItemsCount::new(RECORDS)).bench_local(|| {
        let render = |case: &CaseView<'_>, _: &Input, out: Option<&mut Vec<u8>>| {
            let Some(out) = out else { return };
            for finding in case.findings() {
                out.extend_from_slice(finding.rule.word().as_bytes());
            }
        };
        let inputs = expand(std::slice::from_ref(&file.path));
        black_box(
            check(inputs, threads, &Surroundings::default(), Some(CheckOptions::default()), render, |_, _| Ok(()))
                .counts,
        )
    });
}

#[divan::bench]
fn first_screen(bencher: Bencher<'_, '_>) {
    let file = on_disk();
    bencher.bench_local(|| {
        load(expand(std::slice::from_ref(&file.path)), 1, std::sync::Arc::default(), |_| false).0.len()
    });
}

#[divan::bench]
fn search_file(bencher: Bencher<'_, '_>) {
    let file = on_disk();
    let (send, events) = channel();
    let (mut store, loading) =
        load(expand(&[file.path]), 2, std::sync::Arc::default(), move |event| send.send(event).is_ok());
    let _loader = loading.go_on().unwrap();
    while !store.is_settled() {
        store.apply(events.recv().unwrap());
    }
    let pattern = text_patterns("r1999").unwrap().into_iter().next().unwrap();
    bencher.counter(BytesCount::new(file.bytes)).bench_local(|| {
        let (send, events) = channel();
        let pattern = pattern.clone();
        let fits = move |text: &[u8]| pattern.is_match(text).then_some(());
        let _running = start(Plan::of(&store, 0, |_, _| true), fits, move |found| send.send(found).is_ok());
        events.iter().take_while(|found| !matches!(found, SearchEvent::All)).count()
    });
}

/// Ten thousand pages of fifty lines each, forty megabytes.
fn document() -> Document {
    let words = ["insured", "notice", "premium", "within", "clause", "damage", "policy", "thirty", "payment", "claims"];
    let line = |page: usize, n: usize| {
        let word = |k: usize| *words.get((page * 31 + n * 7 + k * (page % 7 + 1)) % words.len()).unwrap();
        let text: Vec<&str> = (0..9).map(word).collect();
        (page as i64, n as i64, format!("{} the {} of {page}.{n} shall be", text.join(" "), word(n % 5)))
    };
    Document::of((1..=10_000).flat_map(|page| (1..=50).map(move |n| line(page, n))).collect(), Vec::new())
}

/// A quote at its lines, a hundred pages off, with one word changed, and made up.
#[divan::bench(args = ["cited", "elsewhere", "reworded", "made up"])]
fn span(bencher: Bencher<'_, '_>, which: &str) {
    let document = document();
    let quote = String::from_utf8_lossy(document.text(400_000..400_002)).into_owned();
    let changed = quote.replacen(" the ", " another ", 1);
    let (line, quote) = match which {
        "cited" => (400_000, quote),
        "elsewhere" => (395_000, quote),
        "reworded" => (395_000, changed),
        _ => {
            (395_000, "Coverage extends to spacecraft, submarines and every kind of dragon known to science".to_owned())
        }
    };
    let claim = Claim {
        lines: (Some(line), Some(line + 1)),
        pages: (None, None),
        quote: Some(quote.as_bytes()),
        retrieved: &[],
    };
    let first = resolve(&document, &claim);
    bencher.bench_local(|| black_box(resolve(&document, black_box(&claim)).word() == first.word()));
}

/// The first quote that is not at its lines: all lines are folded.
#[divan::bench(sample_count = 10)]
fn span_first(bencher: Bencher<'_, '_>) {
    let document = document();
    let claim =
        Claim { lines: (Some(0), Some(0)), pages: (None, None), quote: Some(b"shall be of 9999.50"), retrieved: &[] };
    bencher.with_inputs(|| document.clone()).bench_local_values(|document| resolve(&document, &claim).word());
}
