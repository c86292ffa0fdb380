//! The whole state of the screen, and what can be asked of it without changing it.

use std::collections::HashMap;
use std::time::Instant;

use ratatui::layout::{Rect, Size};
use tempfile::TempPath;
use tui_input::Input as Line;

use crate::domain::filter::{Completion, FilterError};
use crate::domain::repair::mending::Mending;
use crate::domain::rerun::RunId;
use crate::domain::text::Shown;
use crate::io::cut::Skips;
use crate::io::forks::Mark;
use crate::io::store::{SourceRows, Standing, Store};
use crate::shown;
use crate::tui::derivation::Tree;
use crate::tui::desk::Desk;
use crate::tui::desk::making::Fixes;
use crate::tui::editor::Editor;
use crate::tui::edits::Edits;
use crate::tui::family::Address;
use crate::tui::forks::Forks;
use crate::tui::inspect::{Hit, Inspect, Pane, Tab};
use crate::tui::keymap::{Action, Binding, Context, Key, Keymap};
use crate::tui::list::List;
use crate::tui::msg::SearchId;
use crate::tui::rerun::{Attempt, Field, Models};
use crate::tui::review::{Ask, Review};
use crate::tui::table::Table;
use crate::tui::theme::{Depth, Theme};

/// Which screen is in front.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Screen {
    /// The table of records.
    #[default]
    Table,
    /// One run.
    Run,
    /// One typed answer with what it cites.
    Evidence,
    /// One record as JSON.
    Json,
    /// A step, asked again.
    Rerun,
}

/// What lies over the screen.
#[derive(Debug)]
pub enum Overlay {
    /// The help, from a line on.
    Help(usize),
    /// The palette.
    Palette(Palette),
    /// A line of text is being typed.
    Prompt(Prompt),
    /// A text in full.
    Popup(Popup),
    /// How a computed value comes about.
    Derivation(Tree),
    /// What the verifiers say of the open record, from a line on.
    Ladder(usize),
    /// The document's table of contents.
    Contents(List),
    /// Something is asked about a verdict.
    Review(Ask),
    /// A procedure is repaired by a model.
    Mending(Box<Mending>),
    /// A text is being typed.
    Editor(Box<Editor>),
    /// What can be repaired without a model.
    Fixes(List, Box<Fixes>),
}

/// The palette of actions.
#[derive(Debug, Default)]
pub struct Palette {
    /// What was typed.
    pub line: Line,
    /// The cursor among the actions that fit.
    pub list: List,
}

/// What a typed line is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Hides records.
    Filter,
    /// Looks for text.
    Find,
    /// Says how a model is asked.
    Field(Field),
    /// Names a new file.
    Export,
}

/// A line of text that is being typed.
#[derive(Debug)]
pub struct Prompt {
    /// What for.
    pub purpose: Purpose,
    /// The text and its cursor.
    pub line: Line,
    /// Why the filter is not understood, as it stands.
    pub error: Option<FilterError>,
    /// What could stand at the cursor.
    pub completions: Vec<Completion>,
    /// The chosen one.
    pub chosen: Option<usize>,
}

/// A text in full.
#[derive(Debug)]
pub struct Popup {
    /// What it is.
    pub title: Shown,
    /// The text.
    pub text: Shown,
    /// The first line on screen.
    pub top: usize,
}

/// The line that answers a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// The sentence.
    pub text: Shown,
    /// It is about something that did not work.
    pub failed: bool,
}

/// A search on the run screen or in the JSON.
#[derive(Debug, Default)]
pub struct Find {
    /// What was typed.
    pub typed: String,
    /// The places on the run screen.
    pub hits: Vec<Hit>,
    /// The values in the JSON, by their index in the tape.
    pub nodes: Vec<u32>,
    /// The place that was visited last, and on which screen.
    pub at: Option<(Screen, usize)>,
}

/// The user's own editor.
#[derive(Debug, Default)]
pub struct Outside {
    /// Its command, with its options.
    pub command: Option<String>,
    /// The file that it has now.
    pub lent: Option<TempPath>,
}

/// The look: which themes there are and which is in force.
#[derive(Debug)]
pub struct Looks {
    /// The theme in force.
    pub theme: Theme,
    /// Name and text of every theme, the built-in ones first.
    pub all: Vec<(String, String)>,
    /// The one that was chosen; `None`: by the terminal's background.
    pub chosen: Option<String>,
    /// What the terminal can show.
    pub depth: Depth,
}

/// The whole state.
#[derive(Debug)]
pub struct App {
    /// The records.
    pub store: Store,
    /// The screen in front.
    pub screen: Screen,
    /// The table.
    pub table: Table,
    /// The open record.
    pub inspect: Option<Inspect>,
    /// What lies over the screen.
    pub overlay: Option<Overlay>,
    /// The keys.
    pub keymap: Keymap,
    /// The themes.
    pub looks: Looks,
    /// The size of the screen.
    pub size: Size,
    /// The beginning of a chord.
    pub typed: Vec<Key>,
    /// The count before a key.
    pub count: Option<usize>,
    /// The answer to the last key.
    pub status: Option<Status>,
    /// The program takes the mouse.
    pub mouse: bool,
    /// The record that is being read, and the screen it is for.
    pub opening: Option<(usize, Screen)>,
    /// The record of the table that is being read to be copied.
    pub copying: Option<(usize, Action)>,
    /// The terminal's background is light, as far as is known.
    pub light: bool,
    /// The search in the open record.
    pub find: Find,
    /// Number of the next search.
    pub next_search: SearchId,
    /// The order of the table is to be made anew at this time.
    pub arrange_at: Option<Instant>,
    /// The record to go to when it has been found, from the last session.
    pub return_to: Option<usize>,
    /// Forks on their way to the disk.
    pub forks: Forks,
    /// What was changed of records before they are gone on with.
    pub edits: HashMap<Address, Edits>,
    /// The repair for which a server is being made ready.
    pub choosing: Option<RunId>,
    /// The user's own editor, and the file that it has.
    pub outside: Outside,
    /// These are the sample runs that come with the program.
    pub samples: bool,
    /// What is worked out from all records together.
    pub desk: Desk,
    /// Whom the keys ask.
    pub models: Models,
    /// The re-run on screen.
    pub attempt: Option<Box<Attempt>>,
    /// What people said of the records.
    pub review: Review,
}

impl App {
    /// A fresh state over some records.
    pub fn new(store: Store, keymap: Keymap, looks: Looks) -> Self {
        let light = looks.theme.is_light();
        Self {
            store,
            screen: Screen::Table,
            table: Table::default(),
            inspect: None,
            overlay: None,
            keymap,
            looks,
            size: Size::new(80, 24),
            typed: Vec::new(),
            count: None,
            status: None,
            mouse: true,
            opening: None,
            copying: None,
            light,
            find: Find::default(),
            next_search: 1,
            arrange_at: None,
            return_to: None,
            forks: Forks::default(),
            edits: HashMap::new(),
            choosing: None,
            outside: Outside::default(),
            samples: false,
            desk: Desk::default(),
            models: Models::default(),
            attempt: None,
            review: Review::nowhere("there is no journal: name one with --reviews"),
        }
    }

    /// The context that keys are looked up in.
    pub fn context(&self) -> Context {
        if let Some(front) = self.desk.front {
            return if self.desk.disputes.choosing.is_some() { Context::Decision } else { front.context() };
        }
        match self.screen {
            _ if matches!(self.overlay, Some(Overlay::Derivation(_))) => Context::Derivation,
            _ if matches!(self.overlay, Some(Overlay::Editor(_))) => Context::Editor,
            Screen::Table => Context::Table,
            Screen::Run => Context::Run,
            Screen::Evidence => Context::Evidence,
            Screen::Json => Context::Json,
            Screen::Rerun => Context::Rerun,
        }
    }

    /// The screen without the strip of the reviews.
    pub fn area(&self) -> Rect {
        let strip = crate::tui::panes::review::rows(self);
        Rect::new(0, 0, self.size.width, self.size.height - strip)
    }

    /// How many rows the table has.
    pub fn rows(&self) -> usize {
        self.table.len(self.store.len())
    }

    /// The record under the cursor of the table.
    pub fn record(&self) -> Option<usize> {
        self.table.record(self.table.list.at).filter(|record| *record < self.store.len())
    }

    /// Whether an action can be done now; if not, why not. Asked by the keys and by the footer: a key that is shown
    /// works, a key that does not says why.
    pub fn allowed(&self, action: Action) -> Result<(), &'static str> {
        use Action as A;
        if let Some(said) = self.desk.allows(action, self.screen != Screen::Table || self.record().is_some()) {
            return said;
        }
        let inspect = self.inspect.as_ref();
        let steps = inspect.is_some_and(|inspect| inspect.opened.has_steps());
        let need = |holds: bool, why: &'static str| if holds { Ok(()) } else { Err(why) };
        if let Some(allowed) = self.review_allowed(action) {
            return allowed;
        }
        let forks = matches!(
            action,
            A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples | A::Exact | A::Repair | A::Edit
        );
        if forks && inspect.is_some_and(|inspect| !inspect.opened.hidden.is_empty()) {
            // A fork is bound to the whole text of its parent.
            return Err("some of this record is hidden until your verdict: * shows it");
        }
        match action {
            A::Open | A::CopyRecord | A::CopyQuestion if self.screen == Screen::Table => {
                need(self.record().is_some(), "there is no record here")
            }
            A::Open | A::Keep | A::Edit if self.screen == Screen::Rerun => self.may_rerun(action),
            A::Open => need(self.screen != Screen::Json, "use Space to fold"),
            A::Json if self.screen == Screen::Table => need(self.record().is_some(), "there is no record here"),
            A::Difference if self.screen == Screen::Table => {
                need(self.parent_of_current().is_some(), "only a fork is set beside its parent")
            }
            A::NextStep | A::PreviousStep | A::Difference | A::Writer | A::Reader => {
                need(steps, "this record has no steps")
            }
            A::CopyStep => need(steps && self.screen == Screen::Run, "there is no step here"),
            A::CopyValue | A::CopyPath => need(self.screen != Screen::Table, "open the record first"),
            A::NextPane | A::PreviousPane | A::Maximise => {
                let has_panes = matches!(self.screen, Screen::Run | Screen::Evidence | Screen::Rerun);
                need(has_panes, "there is only one pane here")
            }
            A::NextSpan | A::PreviousSpan | A::CopyQuote | A::Contents => {
                need(self.screen == Screen::Evidence, "this is for answers with citations")
            }
            A::Rerun | A::RerunFromHere | A::RerunStale | A::RerunSamples => self.may_rerun(action),
            A::Json if self.screen == Screen::Rerun => need(false, "go back to the run first: q"),
            A::Ladder => match inspect.filter(|_| self.screen != Screen::Table) {
                Some(inspect) => {
                    need(inspect.opened.rewards.is_some(), "no verifier was named: start with --chain or --verifier")
                }
                None => need(false, "open the record first"),
            },
            A::NextRecord | A::PreviousRecord => need(self.rows() > 1, "there is only one record"),
            A::NextFinding | A::PreviousFinding => match inspect {
                Some(inspect) if self.screen != Screen::Table => {
                    need(!inspect.opened.notes.is_empty(), "the rules find nothing in this record")
                }
                _ => need(self.rows() > 0, "there are no records"),
            },
            A::NextFork | A::PreviousFork => need(self.has_kin(), "this record has no forks"),
            A::Export => need(false, "only a repaired procedure is written to a file"),
            A::Exact | A::Repair | A::Between => {
                need(steps && self.screen == Screen::Run, "open a run with steps first")
            }
            A::Edit => {
                need(steps && self.screen == Screen::Run, "open a run with steps first")?;
                let place = inspect.is_some_and(|inspect| match inspect.pane {
                    Pane::State => true,
                    pane => pane == Pane::Step && inspect.tab == Tab::Prompt,
                });
                need(place, "choose a variable of the state, or the prompt of a step: Tab")
            }
            A::Keep if self.screen == Screen::Run && self.desk.front.is_none() => {
                let edited = inspect.is_some_and(|inspect| !inspect.edits.values.is_empty());
                need(edited, "there is nothing to keep: v edits a value")
            }
            A::Keep => need(false, "there is nothing to keep here"),
            A::DropEdits => need(inspect.is_some_and(|inspect| !inspect.edits.is_empty()), "nothing is edited"),
            A::TakeEdit | A::ExternalEditor => {
                need(self.context() == Context::Editor, "this is for texts that are being typed")
            }
            A::SaveAgain => need(self.forks.unsaved() > 0 || self.review.failed().is_some(), "everything is saved"),
            A::FindNext | A::FindPrevious => need(self.has_search(), "look for something first: /"),
            A::SortNext | A::SortPrevious | A::SortReverse | A::Filter => {
                need(self.screen == Screen::Table, "go back to the table first")
            }
            A::Fold | A::FoldAll | A::UnfoldAll if self.context() != Context::Derivation => {
                need(self.screen == Screen::Json, "open the record as JSON first: J")
            }
            _ => Ok(()),
        }
    }

    fn has_search(&self) -> bool {
        match self.screen {
            Screen::Table => self.table.finding.is_some(),
            Screen::Run | Screen::Evidence => !self.find.hits.is_empty(),
            Screen::Json => !self.find.nodes.is_empty(),
            Screen::Rerun => false,
        }
    }

    /// The rows of the footer: what works here, the most useful first.
    pub fn hints(&self) -> impl Iterator<Item = &'static Binding> + '_ {
        // While a text is typed the keys of everywhere are letters.
        let here = self.context();
        let typing = here == Context::Editor;
        let labels = Keymap::rows(Context::Labels).filter(|_| self.review.draft.choosing);
        let own = move |binding: &&Binding| Keymap::rows(here).any(|row| row.action == binding.action);
        let everywhere = Keymap::rows(Context::Review).chain(Keymap::rows(Context::Anywhere));
        labels
            .chain(Keymap::rows(here))
            .chain(everywhere.filter(move |binding| !typing && !own(binding)))
            .filter(move |binding| !binding.hint.is_empty() && (typing || self.allowed(binding.action).is_ok()))
            .filter(|binding| !self.keymap.names(binding).is_empty())
    }

    /// The actions of the palette that fit what was typed, best first, each with its row in the table of keys.
    pub fn palette_rows(&self, typed: &str) -> Vec<&'static Binding> {
        let here = [self.context(), Context::Review, Context::Anywhere];
        let mut seen = Vec::new();
        let rows = here.into_iter().flat_map(Keymap::rows).filter(|binding| {
            let fresh = !seen.contains(&binding.action);
            seen.push(binding.action);
            fresh && !matches!(binding.action, Action::Palette | Action::Escape)
        });
        crate::tui::fuzzy::rank(typed, rows, |binding| (binding.action.id().replace('_', " "), binding.help.to_owned()))
    }

    /// How many records have findings of each severity, as far as they were checked.
    pub fn severity_counts(&self) -> [usize; 4] {
        self.store.totals().with
    }

    /// What all the records are together: the name of the source, or how many there are.
    pub fn title(&self) -> Shown {
        let all = self.store.sources();
        let recorded: Vec<_> = all.iter().filter(|source| !source.is_forks()).collect();
        let sources = if recorded.is_empty() { all.iter().collect() } else { recorded };
        match sources.as_slice() {
            _ if self.samples => Shown::own("sample runs"),
            [] => Shown::own("nothing"),
            [source] => short_name(&source.name()),
            sources => shown!("{} files", sources.len()),
        }
    }

    /// How many of the records are forks.
    pub fn fork_count(&self) -> usize {
        self.store.sources().iter().filter(|source| source.is_forks()).map(SourceRows::len).sum()
    }

    /// The row of a record among those that were recorded, and how many there are; a fork stands where its root does.
    pub fn place_of(&self, record: usize) -> (usize, usize) {
        let row = self.table.row_of(self.root_of(record));
        (self.table.own_above(row), self.table.own_above(self.rows()))
    }

    /// What is known of a record that stands in a file of forks, its address and whether its parent was found.
    pub fn fork_of(&self, record: usize) -> Option<(&Mark, Address, bool)> {
        let address = self.store.address(record)?;
        let mark = self.forks.family.mark(address)?;
        Some((mark, address, self.forks.family.root(address).is_some()))
    }

    /// The open record and its forks, as they stand in the table.
    pub fn kin(&self) -> Vec<Address> {
        let open = self.inspect.as_ref().and_then(|inspect| self.store.address(inspect.opened.index));
        open.map(|address| self.forks.family.of(address)).unwrap_or_default()
    }

    /// Whether the open record has forks, or is one.
    fn has_kin(&self) -> bool {
        let open = self.inspect.as_ref().and_then(|inspect| self.store.address(inspect.opened.index));
        open.is_some_and(|address| self.forks.family.has_kin(address))
    }

    /// What was recorded and a record goes back to: itself, or the root of a fork.
    pub fn root_of(&self, record: usize) -> usize {
        let root = self.store.address(record).and_then(|address| self.forks.family.root(address));
        root.and_then(|(source, byte)| self.store.position(source, byte)).unwrap_or(record)
    }

    /// The name of the source of a record; a fork is one of its parent's.
    pub fn name_of(&self, record: usize) -> Shown {
        let source = self.store.source_of(self.root_of(record)).and_then(|source| self.store.sources().get(source));
        source.map(|source| short_name(&source.name())).unwrap_or_default()
    }

    /// Whether a source was replaced, cut or deleted while it was open, or is a snapshot; in a few words.
    pub fn disk_news(&self) -> Option<Shown> {
        self.store.sources().iter().find_map(|source| match source.standing {
            Standing::Changed if source.note.is_none() => Some(Shown::own("↻ changed on disk")),
            Standing::Gone => Some(Shown::own("↻ deleted on disk")),
            _ => source.note.clone(),
        })
    }

    /// What was passed over while reading, where that is more than blank lines: in files, and files in folders.
    pub fn skipped(&self) -> Option<Shown> {
        let skips = self.store.sources().iter().fold(Skips::default(), |sum, source| sum.plus(source.skips()));
        let skipped = (skips.total() > skips.blank).then(|| skips.phrase(self.store.len() as u64));
        let others = match self.store.passed_over {
            0 => return skipped,
            1 => Shown::own("1 other file"),
            n => shown!("{n} other files"),
        };
        Some(skipped.map_or_else(|| others.clone(), |skipped| shown!("{skipped}, {others}")))
    }

    /// How far reading and checking has come, in percent, while it goes on.
    pub fn percent(&self) -> Option<usize> {
        let totals = self.store.totals();
        let (found, size) = self.store.progress();
        let behind = totals.checked < self.store.len() || found < size;
        behind.then(|| {
            let found = if size == 0 { 1.0 } else { found as f64 / size as f64 };
            let checked = if self.store.is_empty() { 0.0 } else { totals.checked as f64 / self.store.len() as f64 };
            ((found * checked * 100.0) as usize).min(99)
        })
    }
}

/// The last part of a path.
pub fn short_name(name: &Shown) -> Shown {
    let text = name.as_str();
    text.rsplit('/').find(|part| !part.is_empty()).map_or_else(|| name.clone(), |part| shown!("{part}"))
}
