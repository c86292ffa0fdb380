//! The whole state of the screen, and what can be asked of it without changing it.

use std::sync::Arc;
use std::time::{Duration, Instant};
use stepscope_io::pipeline::side_data::SideData;

use crate::app::across::Across;
use crate::app::forks::Forks;
use crate::app::jumps::Jumps;
use crate::app::log::Log;
use crate::app::model_choice::ModelChoice;
use crate::app::msg::Effects;
use crate::app::present::Presenting;
use crate::app::records::name_of;
use crate::app::review::Review;
use crate::app::seek::Seek;
use crate::app::status_line::StatusLine;
use crate::app::views::Views;
use crate::dialogs::export::ExportChoice;
use crate::screens::cell_records::state::CellRecords;
use crate::screens::kind::ScreenKind;
use crate::screens::stack::{Focus, ScreenMemory, Screens};
use crate::screens::table::state::Table;
use crate::widgets::keymap::{Action, Keymap};
use crate::widgets::prose::size;
use crate::widgets::theme::Theme;
use ratatui::layout::Size;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::store::Store;
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

/// A record that is there sooner is opened without a word.
const UNSAID: Duration = Duration::from_millis(150);

impl Patience {
    /// Notices the beginning of a wait for a record, and when it has become long.
    pub(crate) fn after(self, awaited: Option<usize>, now: Instant) -> Self {
        match (awaited, self) {
            (None, _) => Self::Free,
            (Some(_), Self::Free) => Self::Until(now + UNSAID),
            (Some(_), Self::Until(at)) if at <= now => Self::Over,
            (Some(_), patience) => patience,
        }
    }
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
    /// The terminal's background is light, as far as is known.
    pub light: bool,
    /// The colour of the terminal's background, where it answered.
    pub background: Option<Rgb>,
}

impl Looks {
    /// Starts with a theme that nobody chose.
    pub fn new(theme: Theme, all: Vec<(String, String)>, depth: Depth, ascii: bool) -> Self {
        let light = theme.is_light();
        Self { theme, all, chosen: None, depth, ascii, light, background: None }
    }

    /// Takes a theme by name; `None` lets the terminal's background choose. `Err`: why it cannot be used.
    pub fn choose(&mut self, name: Option<&str>) -> Result<(), Shown> {
        let Some(name) = name else {
            self.chosen = None;
            let name = if self.light { "light" } else { "dark" };
            if let Some(theme) = Theme::built_in(name, self.depth) {
                self.theme = theme;
            }
            return Ok(());
        };
        let text = self.all.iter().find(|(known, _)| known == name);
        let (_, text) = text.ok_or_else(|| shown!("no theme {}", Shown::line(name.as_bytes())))?;
        let theme = Theme::parse(name, text, self.depth).map_err(|error| {
            let [file, message] = [&error.file, &error.message].map(|text| Shown::line(text.as_bytes()));
            shown!("theme {file}, line {}: {message}", error.line)
        })?;
        let is_against = self.background.is_some_and(|own| own.is_light() != theme.is_light());
        self.theme = if is_against { theme.painted() } else { theme };
        self.chosen = Some(name.to_owned());
        Ok(())
    }

    /// Takes in the colour of the terminal's background.
    pub(crate) fn take_background(&mut self, rgb: Rgb) -> Result<(), Shown> {
        self.light = rgb.is_light();
        self.background = Some(rgb);
        let chosen = self.chosen.clone();
        self.choose(chosen.as_deref())
    }
}

/// Returns how many times an action is done.
pub(crate) fn times(count: Option<usize>) -> isize {
    isize::try_from(count.unwrap_or(1)).unwrap_or(1)
}

/// Finds the record that is waited for: to be opened, or to be copied.
pub(crate) fn awaited(
    opening: Option<(usize, ScreenKind)>,
    copying: Option<(usize, Action)>,
    store: &Store,
) -> Option<usize> {
    let opening = opening.map(|(record, _)| record);
    opening.or(copying.map(|(record, _)| record)).filter(|record| *record < store.len())
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

    /// Describes what is being read, once it takes long.
    pub fn reading(&self) -> Option<Shown> {
        let record =
            awaited(self.screens.opening, self.copying, &self.store).filter(|_| self.patience == Patience::Over)?;
        let row = self.table.row_of(record) + 1;
        let size = size(self.store.row(record)?.len as usize);
        Some(shown!(
            "Reading record {row} of \"{}\", {size}. {} cancels.",
            name_of(&self.store, &self.forks.tree, record),
            self.keymap.key_of(Action::Escape)
        ))
    }
}
