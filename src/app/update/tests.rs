//! Cost of a key, counted in rows that were looked up: never more because there are more rows. And the progress of
//! work over all records.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};

use crate::app::across;
use crate::app::log::Log;
use crate::app::msg::{Effect, Msg};
use crate::app::open_record::{OpenRecord, analyses};
use crate::app::review;
use crate::app::review::keys::target_of;
use crate::app::review::news::save_said;
use crate::app::review::{Review, ReviewLog};
use crate::app::state::{App, Looks};
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::RecordView;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::theme::Theme;
use stepscope_io::log::forks::KnownFork;
use stepscope_io::pipeline::compare::BaselineRuns;
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::side_data::Surroundings;
use stepscope_io::pipeline::store::visits;
use stepscope_io::source::input::expand;
use stepscope_record::fork_origin::ForkOrigin;
use stepscope_review::event::{Event, Reviewer, Verdict};
use stepscope_terminal::colour::Depth;
use stepscope_terminal::run::Program;

/// Makes an app over this number of runs, and of forks of the first of them.
fn app(runs: usize, forks: usize) -> App {
    let folder = tempfile::tempdir().unwrap();
    let record = |n: usize| {
        format!(
            r#"{{"id": {n}, "question": "How many?", "procedure": {{"steps": [{{"id": 1}}, {{"id": 2}}]}}, "state": {{}}}}"#
        )
    };
    let lines = |numbers: std::ops::Range<usize>| {
        numbers.fold(String::new(), |mut all, n| {
            let _ = writeln!(all, "{}", record(n));
            all
        })
    };
    let paths = [folder.path().join("a.jsonl"), folder.path().join("b.jsonl")];
    std::fs::write(&paths[0], lines(0..runs)).unwrap();
    std::fs::write(&paths[1], lines(runs..runs + forks.max(1))).unwrap();
    let (sender, events) = std::sync::mpsc::channel();
    let (mut store, loading) = load(expand(&paths), 1, Arc::default(), move |event| sender.send(event).is_ok());
    let _loader = loading.go_on().unwrap();
    store.settle(&events);
    let theme = Theme::built_in("dark", Depth::True).unwrap();
    let looks = Looks::new(theme, Vec::new(), Depth::True, false);
    let mut app = App::new(store, Keymap::default(), looks);
    app.size = Size::new(120, 40);
    if forks > 0 {
        let asked = app.forks.tree.ask(&app.store, 1);
        let root = app.store.address(3).unwrap();
        let known = |n: usize| {
            let fork_origin = ForkOrigin { parent_sha256: "root".into(), ..ForkOrigin::default() };
            Some(KnownFork { hash: n.to_string(), fork_origin: Some(fork_origin) })
        };
        let known = asked.iter().enumerate().map(|(n, (address, _))| (*address, known(n))).collect();
        app.forks.tree.take_fork_origins(known);
        app.forks.tree.take_parents(vec![("root".into(), root)]);
        app.arrange();
    }
    app
}

fn opened(app: &App, record: usize) -> OpenRecord {
    let row = *app.store.row(record).unwrap();
    let reading = app.store.reading(record).unwrap();
    let opened = OpenRecord::new(record, 1, &row, reading.read().unwrap(), Surroundings::default());
    opened.identified(None, record as u64)
}

fn draw(app: &App) {
    app.draw(&mut Buffer::empty(Rect::from(app.size)));
}

/// The rows that some keys look up, each with the frame after it.
fn visited(app: &mut App, actions: &[Action]) -> usize {
    visits::take();
    for action in actions {
        let _ = app.act(*action);
        let _ = app.update(Msg::Tick, Instant::now());
        draw(app);
    }
    visits::take()
}

#[test]
fn a_key_costs_the_same_however_many_rows_and_forks_there_are() {
    use Action as A;
    let keys =
        [A::Down, A::PageDown, A::Bottom, A::Up, A::Top, A::NextFork, A::NextRecord, A::PreviousRecord, A::NextStep];
    let cost = |runs: usize, forks: usize, screen: ScreenKind| {
        let mut app = app(runs, forks);
        if screen == ScreenKind::Run {
            let opened = opened(&app, runs / 2);
            app.show_record(opened, screen);
        }
        assert_eq!(app.screens.top(), screen);
        visited(&mut app, &keys)
    };
    for screen in [ScreenKind::Table, ScreenKind::Run] {
        let (few, many) = (cost(300, 0, screen), cost(6_000, 0, screen));
        assert!(few == many, "{screen:?}: {few} and {many} rows");
        let (few, many) = (cost(300, 200, screen), cost(6_000, 2_000, screen));
        assert!(few == many, "{screen:?} with forks: {few} and {many} rows");
    }
}

#[test]
fn no_key_reads_the_open_record_again_but_a_step_that_of_a_small_one() {
    use Action as A;
    let mut app = app(3, 0);
    let opened = opened(&app, 1);
    assert!(analyses::take() > 0);
    app.show_record(opened, ScreenKind::Run);
    let step = [A::PreviousStep, A::PreviousStep, A::NextStep, A::NextStep, A::Down, A::Up];
    let panes =
        [A::NextPane, A::Down, A::Down, A::Up, A::Right, A::Left, A::Writer, A::Reader, A::Between, A::NextFinding];
    let step_of = |app: &App| app.screens.record().and_then(RecordView::step);
    for key in [step.as_slice(), &panes].concat().repeat(6) {
        let before = step_of(&app);
        visited(&mut app, &[key]);
        let walked = usize::from(step_of(&app).is_some() && step_of(&app) != before);
        assert!(analyses::take() <= walked, "{key:?}");
    }
}

#[test]
fn a_verdict_in_the_queue_costs_the_same_however_many_records_are_judged() {
    let cost = |runs: usize, judged: usize| {
        let mut app = app(runs, 0);
        app.review = Review::new(Reviewer::person("me"), ReviewLog::Journal(Path::new("j").into()));
        app.review.read = true;
        app.begin_queue();
        let first = opened(&app, 0);
        app.show_record(first, ScreenKind::Run);
        let (mut record, mut rows) = (0, 0);
        for n in 0..judged + 20 {
            let target = target_of(&opened(&app, record)).unwrap();
            visits::take();
            app.review.look_at(target);
            let _ = review::keys::judge(&mut app, Verdict::Pass);
            let _ = save_said(&mut app.review, &mut app.log, &app.store, &mut app.table, &app.forks.tree);
            app.settle();
            rows += if n < judged { 0 } else { visits::take() };
            app.log = Log::default();
            app.review.wait = None;
            record = app.screens.opening.take().map(|(record, _)| record).unwrap();
            assert_eq!(app.review.progress.0, n + 1);
        }
        rows
    };
    let (few, many) = (cost(300, 10), cost(3_000, 1_000));
    assert!(few == many, "{few} and {many} rows");
}

#[test]
fn what_waits_to_be_saved_stands_behind_what_others_wrote() {
    let mut app = app(3, 0);
    app.review = Review::new(Reviewer::person("me"), ReviewLog::Journal(Path::new("j").into()));
    app.review.read = true;
    app.show_record(opened(&app, 0), ScreenKind::Run);
    app.review.look_at(target_of(&opened(&app, 0)).unwrap());
    let _ = review::keys::judge(&mut app, Verdict::Pass);
    let _ = save_said(&mut app.review, &mut app.log, &app.store, &mut app.table, &app.forks.tree);
    let own = app.review.reviews.events().next().unwrap();
    let from = |id: &'static str| Event { event_id: id.into(), reviewer: Reviewer::person("other"), ..own.clone() };
    let ids = |app: &App| app.review.reviews.events().map(|event| event.event_id).collect::<Vec<_>>();
    assert!(app.review.take_events(&app.log, [from("a")].into_iter().collect(), false));
    assert_eq!(ids(&app), ["a".into(), own.event_id.clone()]);
    // Saved by now: the log has it behind another one.
    app.log = Log::default();
    assert!(app.review.take_events(&app.log, [from("b"), own.clone(), from("c")].into_iter().collect(), false));
    assert_eq!(ids(&app), ["a".into(), "b".into(), own.event_id.clone(), "c".into()]);
    assert!(!app.review.take_events(&app.log, [own].into_iter().collect(), false));
}

#[test]
fn each_of_two_works_says_its_own_progress() {
    let mut app = app(3, 0);
    app.across.baseline = Some(BaselineRuns::Path("b.jsonl".into()));
    (app.across.comparing.due, app.across.judging.due) = (true, true);
    let begun = across::keys::refresh_across(&mut app.across, &app.store, &app.table, &app.screens, app.models.samples);
    let [Effect::Compare(compared, _), Effect::ReadDashboard(judged, _)] = begun[..] else { unreachable!("{begun:?}") };
    let mut tell = |id, percent| {
        app.update(Msg::AcrossPercent(id, percent), Instant::now());
        [&app.across.comparing, &app.across.judging].map(|work| work.progress("reading").unwrap().into_string())
    };
    assert_eq!(tell(compared, 0), ["reading…", "reading…"]);
    // Threads report in whatever order.
    assert_eq!(
        [(compared, 40), (compared, 39), (judged, 7)].map(|(id, n)| tell(id, n))[2],
        ["reading… 40 %", "reading… 7 %"]
    );
    assert_eq!(tell(judged + 1, 90), ["reading… 40 %", "reading… 7 %"], "not asked for any more");
}
