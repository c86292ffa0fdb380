//! One session at the screen: from what is to be opened to the exit code.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::screens::table::column::ChosenColumns;
use crate::screens::table::state::Table;
use ratatui::layout::{Rect, Size};
use stepscope_io::pipeline::store::Store;

use crate::app::across::Across;
use crate::app::calls::Calls;
use crate::app::effects::{Finished, Memory, Performer};
use crate::app::forks::Forks;
use crate::app::model_choice::ModelChoice;
use crate::app::msg::Msg;
use crate::app::outbox::Outbox;
use crate::app::present::Presenting;
use crate::app::read::texts_of;
use crate::app::review::{Review, ReviewLog};
use crate::app::review_worker::ReviewSetup;
use crate::app::state::{App, Looks};
use crate::app::status_line::Status;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::{Focus, Screen};
use crate::widgets::keymap::Keymap;
use crate::widgets::layout;
use crate::widgets::theme::{BUILT_IN, Theme};
use stepscope_base::ascii::{is_utf8, locale};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::session::{FileView, Session};
use stepscope_io::config::verifiers::{VerifierChoice, judge};
use stepscope_io::config::{Config, Folders};
use stepscope_io::config::{themes, types, views};
use stepscope_io::drafts::Drafts;
use stepscope_io::failure::Failure;
use stepscope_io::files::own_folder;
use stepscope_io::log::{forks, journal};
use stepscope_io::model::setup::Setup;
use stepscope_io::pipeline::compare::{BaselineRuns, Journals};
use stepscope_io::pipeline::load::load_first;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::beneath::Place;
use stepscope_io::source::column_map::ColumnMap;
use stepscope_io::source::input::{Expand, expand, samples};
use stepscope_io::source::page;
use stepscope_judge::hide::Hide;
use stepscope_judge::texts::RowTexts;
use stepscope_record::finding::counted;
use stepscope_review::event::Reviewer;
use stepscope_review::queue::Queue;
use stepscope_table::filter::Filter;
use stepscope_terminal::colour::{Depth, light_hint};
use stepscope_terminal::run::Options;
use stepscope_terminal::terminal::Tty;

/// Name in the state folder for reviews and files made from the sample runs, which are part of the program.
const SAMPLES: &str = "samples";

/// Options of a session.
#[derive(Debug)]
pub struct Start {
    /// Paths to open; none opens the sample runs.
    pub paths: Vec<PathBuf>,
    /// The document of answers that name none.
    pub document: Option<PathBuf>,
    /// The columns of tables that are read as keys.
    pub columns: ColumnMap,
    /// The record that is opened, by its id, and its step from 1.
    pub at: (Option<String>, Option<usize>),
    /// The program is shown to others.
    pub present: bool,
    /// A theme for this session alone: a name, or the path of a file.
    pub theme: Option<String>,
    /// True if only ASCII characters are drawn, whatever the locale says.
    pub ascii: bool,
    /// Baseline records of the same questions.
    pub baseline: Option<PathBuf>,
    /// Files and folders with other runs of the same questions.
    pub peers: Vec<PathBuf>,
    /// The comparison with the baseline is shown first.
    pub compare: bool,
    /// Filter that hides records from the beginning on.
    pub filter: Option<String>,
    /// Verifiers that judge completions, and the field of the completions.
    pub judge: Option<(VerifierChoice, String)>,
    /// The folder of `config.toml`, where it is not the usual one.
    pub config_dir: Option<PathBuf>,
    /// Choice of the model that may be asked.
    pub setup: Setup,
    /// Path of the file of forks, if not next to the file of their parent.
    pub forks: Option<PathBuf>,
    /// A folder with the schemas of types of values.
    pub schemas: Option<PathBuf>,
    /// Options of the review, with its reviewer.
    pub reviewing: ReviewStart,
}

/// Options of a review.
#[derive(Debug)]
pub struct ReviewStart {
    /// Review logs, the first of which is written; without one, the log next to the one path.
    pub journals: Vec<PathBuf>,
    /// Reviewer.
    pub reviewer: Reviewer,
    /// Something asked for a review; without it verdict keys say how to begin one.
    pub begins: bool,
    /// Begin with the queue.
    pub queue: bool,
    /// Options of the queue.
    pub order: Queue,
    /// Parts hidden until the verdict.
    pub hide: Hide,
}

impl ReviewStart {
    /// Finds the review log that is written, or why there is none.
    fn own_journal(&self, paths: &[PathBuf], home: Option<&Path>) -> Result<Place, &'static str> {
        match (self.journals.first(), paths) {
            (Some(own), _) => Ok(Place::Named(own.clone())),
            (None, []) => home
                .map(|home| journal::beside(&home.join(SAMPLES)))
                .ok_or("these are the sample runs; to review them, pass --reviews FILE"),
            (None, [path]) if path.as_os_str() == "-" => Err(journal::NONE_BESIDE_INPUT),
            (None, [path]) => Ok(journal::beside(path)),
            (None, _) => Err(journal::ONE_LOG),
        }
    }

    /// Tells whether the options have no meaning without a review log.
    fn needs_log(&self) -> bool {
        let Queue { shuffle, clean_share, repeat, assigned, .. } = self.order;
        let is_ordered = shuffle.is_some() || clean_share.is_some() || repeat > 0.0 || assigned.is_some();
        self.queue || is_ordered || !self.hide.is_empty()
    }

    fn review(&self, own: &Result<Place, &'static str>, paths: &[PathBuf]) -> Review {
        let mut review = match own {
            Ok(journal) => Review::new(self.reviewer.clone(), ReviewLog::Journal(journal.clone())),
            Err(why) if logs_beside(paths).is_empty() => return Review::nowhere(why),
            Err(why) => return Review::read_only(self.reviewer.clone(), why),
        };
        (review.queue, review.hide, review.reviewing) = (self.order, self.hide, self.begins);
        review
    }
}

/// Lists the review logs that are read where none is written: those next to the files, which may come later.
fn logs_beside(paths: &[PathBuf]) -> Vec<Place> {
    paths.iter().filter(|path| path.as_os_str() != "-").map(|path| journal::beside(path)).collect()
}

/// Result of a session.
#[derive(Debug)]
pub struct SessionEnd {
    /// The exit code.
    pub code: u8,
    /// Verdicts were given that are neither saved nor kept for the next start, or forks that are not saved.
    pub lost: bool,
    /// Messages to print now that the screen is gone.
    pub complaints: Vec<Shown>,
}

impl SessionEnd {
    /// Says first how many verdicts are not saved, if any.
    fn of(code: u8, unsaved: usize, finished: Finished) -> Self {
        let Finished { mut complaints, drafts_kept, forks_lost } = finished;
        if unsaved > 0 {
            let what = counted(unsaved, "verdict");
            let then =
                if drafts_kept { "the next start offers what is not saved" } else { "what is not saved is lost" };
            complaints.insert(0, shown!("NOT SAVED: {what}; {then}"));
        }
        Self { code, lost: forks_lost || unsaved > 0 && !drafts_kept, complaints }
    }
}

impl Start {
    /// Lists what is read.
    fn inputs(&self, kept_forks: Option<&Path>) -> Result<Expand, Shown> {
        let inputs = if self.paths.is_empty() { samples() } else { expand(&self.paths) };
        let inputs = inputs.with_columns(self.columns.clone());
        let inputs = match &self.document {
            Some(document) => inputs.with_document(document)?,
            None => inputs,
        };
        Ok(inputs.with_forks(kept_forks))
    }

    /// Gathers what dashboard and comparison read: the review logs that were named, or the one of the sample runs, or those
    /// next to the files.
    fn across(&self, own: Option<&Place>) -> Across {
        let mut named = journal::named(&self.reviewing.journals);
        if named.is_empty() && self.paths.is_empty() {
            named.extend(own.cloned());
        }
        let journals = Journals { files: self.paths.clone(), named };
        let mut across = Across::new(self.baseline.clone(), journals, self.compare);
        if self.paths.is_empty() && across.baseline.is_none() {
            across.baseline = Some(BaselineRuns::Samples);
        }
        across.reviewer = Some(self.reviewing.reviewer.clone());
        across.document.clone_from(&self.document);
        across.columns.clone_from(&self.columns);
        across
    }

    /// Shows what was in front when these files were last open, or tells newcomers of the tour.
    fn resume(&self, app: &mut App, memory: &Memory) {
        if let Some(view) = memory.path.as_deref().and_then(|path| memory.session.view(path)) {
            // The record that is asked for must not be left out by what was filtered last time.
            let is_asked = matches!(self.at, (Some(_), _));
            app.restore(&FileView {
                filter: if is_asked { String::new() } else { view.filter.clone() },
                ..view.clone()
            });
        } else if (app.models.samples || memory.session.is_first()) && app.status.now.is_none() && !self.present {
            app.status.now = Some(Status::greeting());
        }
    }

    /// Goes to the record and step that the options ask for, under their filter.
    fn go_to(&self, app: &mut App) {
        let run_at = |step| FileView { screen: Some("run".to_owned()), step, ..FileView::default() };
        // A page is about one record, and perhaps about one step.
        if let [path] = self.paths.as_slice()
            && let Some(step) = page::step_of(path)
        {
            app.restore(&run_at(step.map(|step| step + 1)));
        }
        match &self.at {
            (Some(id), step) => {
                let sought = app.seek(id, *step);
                app.early.extend(sought);
            }
            (None, Some(step)) => app.restore(&run_at(Some(*step))),
            (None, None) => {}
        }
        if let Some(typed) = &self.filter {
            let effects = app.set_filter(typed);
            app.early.extend(effects);
        }
    }

    /// Gives the performer the review logs, and begins the queue where one is asked for.
    fn begin_review(&self, own: Option<Place>, state: Option<&Path>, performer: Performer, app: &mut App) -> Performer {
        let others = match &own {
            Some(_) => self.reviewing.journals.get(1..).map(journal::named).unwrap_or_default(),
            None => logs_beside(&self.paths),
        };
        let drafts = state.zip(own.as_ref()).map(|(state, own)| Drafts::of(state, own.path(), &app.review.me));
        let carried = self.paths.iter().flat_map(|path| page::reviews_of(path)).collect();
        let Queue { shuffle, clean_share, assigned, .. } = self.reviewing.order;
        if self.reviewing.queue || shuffle.is_some() || clean_share.is_some() || assigned.is_some() {
            app.begin_queue();
        }
        performer.reviewing(ReviewSetup { own, others, carried, drafts })
    }
}

/// Runs a session; an error is a sentence that says why there is no screen.
pub fn open(start: &Start) -> Result<SessionEnd, Shown> {
    let folders = Folders::find(start.config_dir.as_deref());
    let config = folders.config.as_deref().map_or_else(|| Ok(Config::default()), Config::load)?;
    start.setup.check(&config)?;
    let tty = Tty::open().map_err(|error| Shown::error(&error))?;
    let keymap = keymap(&config)?;
    let looks = looks(start.theme.as_deref(), start.ascii, &config, folders.config.as_deref())?;
    let types = types::read_all(folders.config.as_deref(), start.schemas.as_deref())?;
    if let Some(typed) = &start.filter {
        Filter::parse(typed, &types).map_err(|error| shown!("--filter: {}", error.message))?;
    }
    let (session, forgotten) = Session::load(folders.state.as_deref());
    let home = folders.state.as_deref().filter(|home| start.paths.is_empty() && own_folder(home).is_ok());
    let kept_forks =
        start.forks.clone().or_else(|| home.map(|home| forks::beside(&home.join(SAMPLES)).path().to_owned()));
    let inputs = start.inputs(kept_forks.as_deref())?;
    let own = start.reviewing.own_journal(&start.paths, home);
    // Without a review log nothing would be hidden, and nobody would have a part of their own.
    if let Err(why) = own
        && start.reviewing.needs_log()
    {
        return Err(Shown::own(why));
    }
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let judge = start.judge.as_ref().map(|(wanted, field)| judge(wanted, field)).transpose()?;
    let side = SideData::knowing(Arc::new(types)).with_columns(start.columns.clone());
    let side = side.with_baseline(start.baseline.clone(), threads);
    let side = Arc::new(side.with_peers(&start.peers, threads).judged_by(judge));
    let outbox = Outbox::default();
    let sink = outbox.clone();
    let rows = first_rows(tty.size());
    let (store, texts, loading) =
        load_first(inputs, rows, threads, side.clone(), move |event| sink.send(Msg::Load(event)));
    let mut app = App::new(store, keymap, looks);
    app.side = side.clone();
    app.forks = Forks::at(kept_forks);
    app.outside.command = editor();
    app.models = ModelChoice::new(start.setup.clone(), &config);
    app.models.samples = start.paths.is_empty();
    app.mouse = config.mouse.unwrap_or(true);
    app.table.choose_columns(chosen_columns(&config)?);
    app.table.typed_filters = session.filters().to_vec();
    app.views.folder.clone_from(&folders.config);
    if start.compare {
        app.screens.push(Screen::OfAll(ScreenKind::Compare));
    }
    app.across = start.across(own.as_ref().ok());
    app.status.now = forgotten.map(|text| Status { text, failed: true, refused: false });
    match folders.config.as_deref().map_or_else(|| Ok(Vec::new()), views::read_all) {
        Ok(list) => app.views.list = list,
        // Without views one can work; the file is left as it is.
        Err(failure) => app.status.now = Some(Status { text: failure.into(), failed: true, refused: false }),
    }
    let asked = start.theme.as_deref().or(config.theme.as_deref()).or(session.theme());
    if let Some(name) = asked.map(str::to_owned) {
        app.looks.choose(Some(&name)).unwrap_or_else(|why| _ = app.status.fail(why));
    }
    app.review = start.reviewing.review(&own, &start.paths);
    app.presenting = start.present.then(Presenting::default);
    let memory = Memory { path: remembered_as(&start.paths), session, failure: None };
    start.resume(&mut app, &memory);
    start.go_to(&mut app);
    let calls = Calls::new(start.setup.clone(), config);
    let mut performer = Performer::new(outbox.clone(), memory, side, calls).loading(loading);
    if app.review.shows() {
        performer = start.begin_review(own.ok(), folders.state.as_deref(), performer, &mut app);
    }
    take_first_texts(&app.store, &mut app.table, tty.size(), texts);
    let options = Options { mouse: app.mouse, ask_background: true };
    let code = performer.run_on(&tty, &mut app, options)?;
    let finished = performer.finish(&mut app);
    Ok(SessionEnd::of(code, app.log.failed_events(), finished))
}

/// Reads the columns that the settings name.
fn chosen_columns(config: &Config) -> Result<ChosenColumns, Failure> {
    let Some(names) = &config.columns else { return Ok(ChosenColumns::default()) };
    let refused = |why| Failure { what: "cannot use", path: shown!("{}, [table] columns", config.file), source: why };
    ChosenColumns::parse(&names.join(" ")).map_err(refused)
}

/// Counts the rows of the table on the first screen.
fn first_rows(size: Size) -> usize {
    layout::table_height(Rect::new(0, 0, size.width, size.height))
}

/// Takes the texts of the first records, and reads those of the other rows, so that the first screen is whole.
fn take_first_texts(store: &Store, table: &mut Table, size: Size, texts: Vec<RowTexts>) {
    let values = table.columns().values();
    // The values that columns name are not among those texts.
    let texts = if values.is_empty() { texts } else { Vec::new() };
    let read = texts.len();
    let rows = (0..first_rows(size).min(table.len(store.len()))).filter_map(|row| table.record(row));
    let others = rows.filter(|record| *record >= read);
    let others = texts_of(others.filter_map(|record| Some((record, store.reading(record)?))).collect(), &values);
    table.take_row_texts(texts.into_iter().enumerate().chain(others).collect());
}

/// The command of the user's own editor.
fn editor() -> Option<String> {
    ["VISUAL", "EDITOR"].into_iter().filter_map(|name| std::env::var(name).ok()).find(|command| !command.is_empty())
}

fn keymap(config: &Config) -> Result<Keymap, Failure> {
    let changes = config.keys.iter().map(|remap| (remap.action.as_str(), remap.keys.as_slice()));
    Keymap::with_changes(changes).map_err(|(n, why)| match config.keys.get(n) {
        Some(remap) => config.refuse(remap, &shown!("{why}")),
        None => Failure { what: "cannot use", path: config.file.clone(), source: shown!("{why}") },
    })
}

/// Tells why no session starts with these settings, of the folder that holds them; else which keys mean something else
/// because of them.
pub fn check_settings(config: &Config, folder: Option<&Path>) -> Result<Vec<Shown>, Failure> {
    let keymap = keymap(config)?;
    chosen_columns(config)?;
    folder.map_or_else(|| Ok(Vec::new()), views::read_all)?;
    let looks = looks(None, false, config, folder)?;
    let theme = config.theme.as_ref().and_then(|name| looks.all.iter().find(|(known, _)| known == name));
    if let Some(error) = theme.and_then(|(name, text)| Theme::parse(name, text, looks.depth).err()) {
        let message = Shown::line(error.message.as_bytes());
        let own = folder.map(|folder| themes::path(folder, &error.file)).filter(|path| path.is_file());
        let file = Shown::path(own.as_deref().unwrap_or(Path::new(&error.file)));
        return Err(Failure {
            what: "cannot use",
            path: shown!("the theme {file}"),
            source: shown!("line {}: {message}", error.line),
        });
    }
    let stacks = ScreenKind::ALL.map(|screen| Focus::Screen(screen).contexts());
    Ok(keymap.overlaps(&stacks).iter().map(|sentence| Shown::line(sentence.as_bytes())).collect())
}

fn looks(named: Option<&str>, ascii: bool, config: &Config, folder: Option<&Path>) -> Result<Looks, Failure> {
    let get = |name: &str| std::env::var(name).ok();
    let depth = Depth::detect(get);
    let light = get("COLORFGBG").and_then(|hint| light_hint(&hint)).unwrap_or(false);
    let theme = Theme::built_in(if light { "light" } else { "dark" }, depth).unwrap_or_default();
    let built_in = BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    let mut all: Vec<(String, String)> = built_in.collect();
    for (name, text) in folder.map(themes::read_all).unwrap_or_default() {
        // One's own takes the place of the one that it is a copy of.
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some(known) => known.1 = text,
            None => all.push((name, text)),
        }
    }
    let asked = [(named, Shown::own("--theme")), (config.theme.as_deref(), config.file.clone())];
    for (name, from) in asked.iter().filter_map(|(name, from)| Some(((*name)?, from))) {
        if !all.iter().any(|(known, _)| known == name) {
            let text = themes::read(Path::new(name)).map_err(|failure| no_theme(name, from, &all, failure))?;
            all.push((name.to_owned(), text));
        }
    }
    let ascii = ascii || !is_utf8(locale(get).as_deref());
    Ok(Looks::new(theme, all, depth, ascii))
}

/// A word without a slash or dot was hardly meant as a path: then the names help, not that there is no such file.
fn no_theme(name: &str, from: &Shown, all: &[(String, String)], failure: Failure) -> Failure {
    if name.contains(['/', '.']) {
        return failure;
    }
    let known: Vec<&str> = all.iter().map(|(known, _)| known.as_str()).collect();
    let known = known.join(", ");
    Failure { what: "cannot use", path: from.clone(), source: shown!("no theme \"{name}\" (available: {known})") }
}

/// Finds the name under which the view of these paths is remembered: one file by its full path, the samples by their
/// name.
fn remembered_as(paths: &[PathBuf]) -> Option<PathBuf> {
    match paths {
        [] => Some(PathBuf::from("sample runs")),
        [path] if path.as_os_str() != "-" => std::fs::canonicalize(path).ok(),
        _ => None,
    }
}
