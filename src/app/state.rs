//! The whole state of the screen, and what can be asked of it without changing it.

use std::sync::Arc;
use std::time::{Duration, Instant};
use stepscope_io::pipeline::side_data::SideData;
use stepscope_judge::row::RowFacts;

use crate::app::across::Across;
use crate::app::forks::Forks;
use crate::app::jumps::Jumps;
use crate::app::log::Log;
use crate::app::model_choice::ModelChoice;
use crate::app::msg::Effects;
use crate::app::present::Presenting;
use crate::app::review::Review;
use crate::app::seek::Seek;
use crate::app::status_line::StatusLine;
use crate::app::views::Views;
use crate::dialogs::export::ExportChoice;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::run::state::{LostSearch, RecordView};
use crate::screens::stack::{Focus, ScreenMemory, Screens};
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::prose::size;
use crate::widgets::theme::Theme;
use ratatui::layout::Size;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::store::{SourceRows, SourceState, Store};
use stepscope_io::source::cut::Skips;
use stepscope_terminal::colour::{Depth, Rgb};
use tempfile::TempPath;

/// Shortest time between two sorts of the table while records are still being checked.
pub(crate) const REARRANGE: Duration = Duration::from_millis(400);

/// State of the wait for a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Patience {
    /// No wait.
    #[default]
    Free,
    /// Short wait, not mentioned before this time.
    Until(Instant),
    /// Long wait: the status line says what is being read.
    Over,
}

/// The user's own editor.
#[derive(Debug, Default)]
pub struct Outside {
    /// Command of the editor, with its options.
    pub command: Option<String>,
    /// The file that it has now.
    pub file: Option<TempPath>,
}

/// The look: which themes there are and which is in force.
#[derive(Debug)]
pub struct Looks {
    /// The theme in force.
    pub theme: Theme,
    /// Name and text of every theme, the built-in ones first.
    pub all: Vec<(String, String)>,
    /// The one that was chosen; `None`: chosen by the terminal's background.
    pub chosen: Option<String>,
    /// Colour depth of the terminal.
    pub depth: Depth,
    /// True if only ASCII characters are drawn.
    pub ascii: bool,
}

/// The whole state.
#[derive(Debug)]
pub struct App {
    /// The records.
    pub store: Store,
    /// Data shared by all records that helps to judge them.
    pub side: Arc<SideData>,
    /// The screens, one over the other.
    pub screens: Screens,
    /// The table.
    pub table: Table,
    /// State that screens keep while they are closed.
    pub kept: ScreenMemory,
    /// The records that the number under the cursor of a chart counts.
    pub cell_records: CellRecords,
    /// The keys.
    pub keymap: Keymap,
    /// The themes.
    pub looks: Looks,
    /// The size of the screen.
    pub size: Size,
    /// The count before a key.
    pub count: Option<usize>,
    /// The answer to the last key.
    pub status: StatusLine,
    /// The program takes the mouse.
    pub mouse: bool,
    /// The record of the table that is being read to be copied.
    pub copying: Option<(usize, Action)>,
    /// State of the wait for it, or for the record that is being opened.
    pub patience: Patience,
    /// The terminal's background is light, as far as is known.
    pub light: bool,
    /// The colour of the terminal's background, where it answered.
    pub background: Option<Rgb>,
    /// Effects to perform as soon as the loop runs.
    pub early: Effects,
    /// The record to go to when it has been found, from the last session.
    pub return_to: Option<usize>,
    /// The record that a link leads to, while it is looked for.
    pub seek: Option<Seek>,
    /// Places that jumps left.
    pub(crate) jumps: Jumps,
    /// The program is being shown to others.
    pub presenting: Option<Presenting>,
    /// Options of the last export.
    pub export: ExportChoice,
    /// Forks of the records, and the file that keeps them.
    pub forks: Forks,
    /// Lines that are not known to be on the disk.
    pub log: Log,
    /// The user's own editor, and the file that it has.
    pub outside: Outside,
    /// Results worked out from all records together.
    pub across: Across,
    /// Named views of the table.
    pub views: Views,
    /// Choice of the model that the keys ask.
    pub models: ModelChoice,
    /// Reviews of the records.
    pub review: Review,
}

impl App {
    /// A fresh state over some records.
    pub fn new(store: Store, keymap: Keymap, looks: Looks) -> Self {
        let light = looks.theme.is_light();
        Self {
            store,
            side: Arc::default(),
            screens: Screens::default(),
            table: Table::default(),
            keymap,
            looks,
            size: Size::new(80, 24),
            count: None,
            status: StatusLine::default(),
            mouse: true,
            copying: None,
            patience: Patience::Free,
            light,
            background: None,
            early: Vec::new(),
            return_to: None,
            seek: None,
            jumps: Jumps::default(),
            presenting: None,
            export: ExportChoice::default(),
            forks: Forks::default(),
            log: Log::default(),
            outside: Outside::default(),
            across: Across::default(),
            kept: ScreenMemory::default(),
            cell_records: CellRecords::default(),
            views: Views::default(),
            models: ModelChoice::default(),
            review: Review::nowhere("no review log; pass --reviews FILE"),
        }
    }

    /// Returns the record that keys are about: under the cursor of the table, or open.
    pub(crate) fn current(&self) -> Option<usize> {
        match (self.screens.of_record(), self.screens.record()) {
            (ScreenKind::Table, _) | (_, None) => self.record(),
            (_, Some(view)) => Some(view.opened.index).filter(|_| view.lost.is_none()),
        }
    }

    /// Returns the open record, if its number is that of the record in the list.
    pub(crate) fn placed(&self) -> Option<&RecordView> {
        self.screens.record().filter(|view| view.lost.is_none())
    }

    /// Tells whether the open record is not found again yet after its file was replaced.
    pub(crate) fn is_looked_for(&self) -> bool {
        self.screens.record().and_then(|view| view.lost.as_ref()).is_some_and(|lost| lost.search != LostSearch::Failed)
    }

    /// Returns the parent of the record that keys are about, if it is a fork and its parent is here.
    pub(crate) fn parent_of_current(&self) -> Option<(usize, usize)> {
        let record = self.current()?;
        let (source, byte) = self.forks.tree.parent(self.store.address(record)?)?;
        Some((record, self.store.position(source, byte)?))
    }

    /// Finds what is in front.
    pub fn focus(&self) -> Focus {
        self.screens.dialog.as_ref().map_or_else(|| self.focus_below_dialog(), |dialog| Focus::Dialog(dialog.context()))
    }

    /// Finds what is in front, dialogs left out.
    pub fn focus_below_dialog(&self) -> Focus {
        match self.screens.top() {
            ScreenKind::Adjudication if self.kept.adjudication.choosing.is_some() => Focus::Decision,
            screen if screen.is_judged_on() && self.review.draft.choosing => Focus::Labels(screen),
            screen => Focus::Screen(screen),
        }
    }

    /// Counts the rows of the table.
    pub fn rows(&self) -> usize {
        self.table.len(self.store.len())
    }

    /// The record under the cursor of the table.
    pub fn record(&self) -> Option<usize> {
        self.table.chosen(self.store.len())
    }

    /// Looks up the facts that the table may show of a record now.
    pub(crate) fn shown_row(&self, record: usize) -> Option<RowFacts> {
        self.review.shown_row(&self.store, record)
    }

    /// Counts the records with findings of each severity, as far as they were checked; all zero while something is
    /// hidden.
    pub(crate) fn severity_counts(&self) -> [usize; 4] {
        if self.review.hide.is_empty() { self.store.totals().with } else { [0; 4] }
    }

    /// Finds the record that is waited for.
    pub fn awaited(&self) -> Option<usize> {
        let opening = self.screens.opening.map(|(record, _)| record);
        opening.or(self.copying.map(|(record, _)| record)).filter(|record| *record < self.store.len())
    }

    /// Describes what is being read, once it takes long.
    pub fn reading(&self) -> Option<Shown> {
        let record = self.awaited().filter(|_| self.patience == Patience::Over)?;
        let row = self.table.row_of(record) + 1;
        let size = size(self.store.row(record)?.len as usize);
        Some(shown!(
            "Reading record {row} of \"{}\", {size}. {} cancels.",
            self.name_of(record),
            self.keymap.key_of(Action::Escape)
        ))
    }

    /// Names the records as a whole: by their source, or by their number.
    pub fn title(&self) -> Shown {
        let all = self.store.sources();
        let recorded: Vec<_> = all.iter().filter(|source| !source.is_forks()).collect();
        let sources = if recorded.is_empty() { all.iter().collect() } else { recorded };
        match sources.as_slice() {
            _ if self.models.samples => Shown::own("sample runs"),
            [] => Shown::own("no files"),
            [source] => source.name().last_part(),
            sources => shown!("{} files", sources.len()),
        }
    }

    /// Tells whether there are no records, and none are being read.
    pub(crate) fn has_no_records(&self) -> bool {
        self.store.is_empty() && self.store.is_settled() && self.percent().is_none()
    }

    /// Counts the forks among the records.
    pub fn fork_count(&self) -> usize {
        self.store.sources().iter().filter(|source| source.is_forks()).map(SourceRows::len).sum()
    }

    /// Tells which record it is among those that are listed; a fork has the place of its root, if that is listed.
    pub(crate) fn place_of(&self, record: usize) -> String {
        let row = self.own_row_of(record);
        let of = self.table.own_above(self.rows());
        row.map_or("filtered out".to_owned(), |row| format!("{}/{of}", self.table.own_above(row) + 1))
    }

    /// Lists the files of the open record; of a fork, the one that it was written to.
    pub(crate) fn files_of_open(&self) -> Vec<Shown> {
        let Some(opened) = self.screens.record().map(|view| &view.opened) else { return Vec::new() };
        let source = self.store.source_of(opened.index).and_then(|source| self.store.sources().get(source));
        source.map(|source| source.input.files_of(opened.root())).unwrap_or_default()
    }

    /// The name of the source of a record; a fork is one of its parent's.
    pub fn name_of(&self, record: usize) -> Shown {
        let source = self.store.source_of(self.root_of(record)).and_then(|source| self.store.sources().get(source));
        source.map(|source| source.name().last_part()).unwrap_or_default()
    }

    /// The name of the source of a record without its endings, or another word where there is none.
    pub(crate) fn stem_of(&self, record: Option<usize>, otherwise: &str) -> String {
        let name = record.map(|record| self.name_of(record)).unwrap_or_default();
        let stem = name.as_str().split('.').next().filter(|stem| !stem.is_empty());
        stem.unwrap_or(otherwise).to_owned()
    }

    /// Tells in a few words that a source was replaced, cut or deleted while it was open, can no longer be read, or is a
    /// snapshot.
    pub fn disk_news(&self) -> Option<Shown> {
        self.store.sources().iter().find_map(|source| match source.standing {
            SourceState::Changed if source.note.is_none() => Some(Shown::own("↻ changed on disk")),
            SourceState::Gone => Some(Shown::own("↻ deleted on disk")),
            SourceState::Failed if !source.is_empty() => Some(Shown::own("↻ unreadable on disk")),
            _ => source.note.clone(),
        })
    }

    /// Describes what was skipped while reading, where that is more than blank lines: in files, and files in folders.
    pub fn skipped(&self) -> Option<Shown> {
        let skips = self.store.sources().iter().fold(Skips::default(), |sum, source| sum.plus(source.skips()));
        let skipped = (skips.total() > skips.blank).then(|| skips.phrase(self.store.len() as u64));
        let others = match self.store.passed_over {
            0 => None,
            1 => Some(Shown::own("1 file skipped")),
            n => Some(shown!("{n} files skipped")),
        };
        let links = match self.store.links {
            0 => None,
            1 => Some(Shown::own("1 link not followed")),
            n => Some(shown!("{n} links not followed")),
        };
        [skipped, others, links].into_iter().flatten().reduce(|all, more| shown!("{all}, {more}"))
    }

    /// Computes the progress of reading and checking in percent; `None`: both are done.
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
