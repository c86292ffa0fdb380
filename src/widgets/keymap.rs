//! The one table of keys, which feeds look-up, footer, help, palette, `stepscope keys` and `docs/keys.md`; and the
//! reasons why an action cannot be done.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::widgets::action_rows::action_rows;
use stepscope_base::text::Shown;

stepscope_base::words! {
    /// Context in which keys hold, by its heading in the help, in the order of the help. A look-up asks the contexts of
    /// what is in front, the nearest first.
    #[expect(missing_docs, reason = "the heading says what it is")]
    pub enum Context {
        Anywhere = "Anywhere",
        Table = "Table of records",
        Run = "Run",
        Rerun = "Re-run",
        Live = "Live run",
        Answer = "Structured answer",
        Json = "Raw JSON",
        Derivation = "Derivation of a value",
        Contents = "Table of contents",
        Views = "Views of the table",
        Editor = "Override editor",
        Fixes = "Suggested fixes",
        Export = "Export",
        Repair = "Repair by a model",
        Compare = "Comparison with baseline",
        SideBySide = "Two records side by side",
        Dashboard = "Review dashboard",
        Adjudication = "Adjudicate",
        Insights = "Insights",
        Decision = "Labels of a final verdict",
        Review = "Review (on every screen with a record)",
        Labels = "Labels of a failed item",
        LabelList = "Find a label",
        Confirm = "Verdict for many records",
        Palette = "Command palette",
        Line = "Text line",
        Window = "Help and text windows",
        Drop = "Unsaved text",
    }
}

impl Context {
    /// Letters are text there.
    pub(crate) const fn takes_text(self) -> bool {
        matches!(self, Self::Palette | Self::Line | Self::LabelList | Self::Editor)
    }
}

macro_rules! names {
    ($($name:ident = $id:literal $(($title:literal))?, $trace:ident [$($flag:ident)*] $($field:ident: $value:expr),*;)+) => {
        stepscope_base::words! {
            /// Action of a key. Every action has an id, by which it is remapped and called from the palette.
            #[expect(missing_docs, reason = "the help of its row in the table says what it does")]
            pub enum Action { $($name = $id),+ }
        }

        impl Action {
            /// Returns the title that its row gives it, if it is not the id.
            fn own_title(self) -> Option<&'static str> {
                let own: &[&str] = match self { $(Self::$name => &[$($title)?]),+ };
                own.first().copied()
            }
        }
    };
}
action_rows!(names);

/// A reason why an action cannot be done now; it names keys by their actions, `<back>`: see [`Keymap::keyed`].
pub(crate) type Reason = &'static str;

/// Reason given below a re-run for what is done to the run.
pub(crate) const GO_BACK: Reason = "go back to the run first (<back>)";
/// Reason given where the table has no row.
pub(crate) const NO_RECORD: Reason = "no record here";
/// Reason given on the table for what needs an open record.
pub(crate) const OPEN_RECORD: Reason = "open the record first";
/// Reason given before the first search.
pub(crate) const NO_SEARCH: Reason = "no search yet; <find> searches";

pub(crate) fn need(holds: bool, why: Reason) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(why) }
}

impl Action {
    /// Returns the name for people; settings keep the id.
    pub(crate) fn title(self) -> String {
        self.own_title().map_or_else(|| self.word().replace('_', " "), str::to_owned)
    }
}

/// One row of the table of keys.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Context in which the keys hold.
    pub context: Context,
    /// The keys: single ones (`j`, `Down`, `^D`) or chords (`y v`).
    pub keys: &'static [&'static str],
    /// Action of the keys.
    pub action: Action,
    /// The word in the footer; empty: not in the footer.
    pub hint: &'static str,
    /// The line in the help.
    pub help: &'static str,
}

macro_rules! bindings {
    ($($context:ident $($key:literal)* => $action:ident, $hint:literal, $help:literal;)+) => {
        /// Every key, in the order of the help; the first rows of a context with a hint come first in the footer.
        pub const BINDINGS: &[Binding] = &[$(Binding {
            context: Context::$context,
            keys: &[$($key),*],
            action: Action::$action,
            hint: $hint,
            help: $help,
        },)+];
    };
}

bindings! {
    Table "Enter" => Open, "open", "open record";
    Table "f" => Filter, "filter", "filter, for example correct:false rule:unused steps>4";
    Table "/" => Find, "find", "search all records";
    Table "n" => FindNext, "", "next match";
    Table "N" => FindPrevious, "", "previous match";
    Table ">" => SortNext, "sort", "sort by the column to the right";
    Table "<" => SortPrevious, "", "sort by the column to the left";
    Table "~" => SortReverse, "", "reverse order";
    Table "|" => Columns, "", "choose columns: ok cause:20 question; none are the usual ones";
    Table => View, "", "views: filter, sort and columns by name";
    Table => SaveView, "", "save filter, sort and columns by name";
    Table "d" => Difference, "", "diff fork and parent";
    Table "z" => NextWrong, "next wrong", "next wrong record";
    Table "e" => NextFinding, "with findings", "next record with findings";
    Table "E" => PreviousFinding, "", "previous record with findings";
    Table "P" => NextFlagged, "", "next record with findings";
    Run "]" => NextStep, "next step", "next step";
    Run "e" => NextFinding, "next finding", "next finding, and go to its place";
    Run "E" => PreviousFinding, "", "previous finding";
    Run "z" => NextWrong, "next wrong", "next wrong record";
    Run "P" => NextFlagged, "with findings", "next record with findings";
    Run "[" => PreviousStep, "previous", "previous step";
    Run "p" => Prove, "why", "why: proof of the value under the cursor, else of the step to fix";
    Run "w" => Writer, "writer", "go to the step that writes this variable";
    Run "W" => Reader, "reader", "go to the next step that reads this variable";
    Run "d" => Difference, "diff", "diff (fork and parent, or this and previous step)";
    Run "|" => Between, "", "diff this and previous step";
    Run "v" => Edit, "override", "override the value or prompt, then continue";
    Run "s" => Keep, "preview fork", "preview overrides as a fork (no model call)";
    Run "c e" => DropEdits, "", "discard overrides";
    Run "X" => Exact, "", "recompute with exact arithmetic (preview)";
    Run "F" => Repair, "", "suggested procedure fixes (preview)";
    Run "r" => Rerun, "re-run", "re-run step (preview first)";
    Run "R" => RerunFromHere, "", "re-run from here";
    Run "D" => RerunStale, "", "re-run step and dependents";
    Run "^R" => RerunSamples, "", "sample step n times";
    Rerun "Enter" => Open, "send or edit", "send, or edit the selected setting";
    Rerun "v" => Edit, "edit prompt", "edit the prompt before it is sent";
    Rerun "s" => Keep, "save fork", "save result as fork";
    Rerun ")" => NextFork, "open fork", "open the fork that was saved";
    Rerun "d" => Difference, "diff", "diff the saved fork and the record";
    Rerun "r" => Rerun, "again", "back to the preview, this step only";
    Rerun "R" => RerunFromHere, "from here", "use this reply and continue, or re-run from here";
    Rerun "D" => RerunStale, "dependents", "re-run step and dependents";
    Rerun "^R" => RerunSamples, "samples", "sample step n times";
    Rerun "Esc" => Escape, "cancel", "cancel call / back";
    Run "S" => StepThrough, "step through", "run the procedure live, step by step (preview first)";
    Live "n" => RunStep, "next step", "send the next step; after an early end, retry it";
    Live "c" => Continue, "continue", "run up to a breakpoint, or to the end";
    Live "Enter" => Open, "send or edit", "send the next step, edit a setting, or open the saved run";
    Live "b" => Breakpoint, "breakpoint", "breakpoint on or off: 3, total, finding, state.total>100";
    Live "v" => Edit, "override", "override the value under the cursor, or the next prompt";
    Live "T" => Tolerate, "take JSON", "take the JSON in a reply at which evoproc ends";
    Live "s" => Keep, "save run", "save the run as a record";
    Live "Esc" => Escape, "cancel", "cancel call / back";
    Run "V" => Rewards, "reward", "reward by verifier stage";
    Run ")" => NextFork, "fork", "next fork (wraps to the original)";
    Run "(" => PreviousFork, "", "previous fork";
    Run ">" => NextPeer, "", "next peer: values of another run, side by side (--peers)";
    Run "<" => PreviousPeer, "", "previous peer";
    Run "}" => NextRecord, "next record", "next record";
    Run "{" => PreviousRecord, "", "previous record";
    Run "Enter" => Open, "open", "open value / go to finding";
    Run "/" => Find, "", "search this run";
    Run "n" => FindNext, "", "next match";
    Run "N" => FindPrevious, "", "previous match";
    Answer "s" => NextCitation, "next citation", "next citation";
    Answer "S" => PreviousCitation, "", "previous citation";
    Answer "Enter" => Open, "cited or found", "toggle cited / found place; expand check";
    Answer "e" => NextFinding, "next finding", "next finding, and its citation";
    Answer "E" => PreviousFinding, "", "previous finding";
    Answer "z" => NextWrong, "next wrong", "next wrong record";
    Answer "P" => NextFlagged, "with findings", "next record with findings";
    Answer "r" => Rerun, "re-run", "re-run this answer (preview first)";
    Answer "R" "D" "^R" => RerunFromHere, "", "not for structured answers: one call, nothing to continue from";
    Answer "c" => Contents, "contents", "table of contents of the document";
    Answer "}" => NextRecord, "next record", "next record";
    Answer "{" => PreviousRecord, "", "previous record";
    Answer "y q" => CopyQuote, "", "copy quote with page and lines";
    Answer "/" => Find, "search", "search answer and document";
    Answer "n" => FindNext, "", "next match";
    Answer "N" => FindPrevious, "", "previous match";
    Json "Space" "Enter" => Fold, "collapse", "collapse or expand";
    Json "]" => NextSibling, "", "next value of the same object or list";
    Json "[" => PreviousSibling, "", "previous value of the same object or list";
    Json "H" => FoldAll, "", "collapse all";
    Json "L" => UnfoldAll, "expand all", "expand all";
    Json "e" => NextFinding, "next finding", "next finding, and go to its place";
    Json "E" => PreviousFinding, "", "previous finding";
    Json "z" => NextWrong, "next wrong", "next wrong record";
    Json "P" => NextFlagged, "with findings", "next record with findings";
    Json "V" => Rewards, "reward", "reward by verifier stage";
    Json "}" => NextRecord, "next record", "next record";
    Json "{" => PreviousRecord, "", "previous record";
    Json "/" => Find, "search", "search this record";
    Json "n" => FindNext, "", "next match";
    Json "N" => FindPrevious, "", "previous match";
    Derivation "Enter" => Open, "go there", "go to its step or to the number in the question";
    Derivation "Space" => Fold, "collapse", "collapse / expand inputs";
    Derivation "H" => FoldAll, "", "collapse all";
    Derivation "L" => UnfoldAll, "expand all", "expand all";
    Derivation "Esc" "q" => Escape, "close", "close";
    Contents "Enter" => Open, "go there", "go to the heading";
    Contents "Esc" "q" => Escape, "close", "close";
    Views "Enter" => Open, "show", "show the view";
    Views "D" "Del" => DeleteView, "delete", "delete the view";
    Views "Esc" "q" => Escape, "close", "close";
    Export "Enter" => Open, "choose", "ask for the file, and write it";
    Export "Space" => Fold, "redact", "take out what looks private, or refuse because of it";
    Export "Esc" "q" => Escape, "close", "close";
    Fixes "Enter" => Open, "preview", "preview the fix, or repair with the selected model";
    Fixes "Esc" "q" => Escape, "close", "close";
    Repair "Enter" => Open, "show changes", "show what the model changed";
    Repair "Esc" "q" => Escape, "cancel", "cancel the call; afterwards, close";
    Compare "Enter" => Open, "show records", "show these records";
    Editor "Enter" "^S" => TakeEdit, "apply", "apply (^S in multi-line text)";
    Editor "^E" => ExternalEditor, "$EDITOR", "open in $VISUAL or $EDITOR";
    Editor "Esc" => Escape, "close", "discard (asks if you typed something)";
    SideBySide "s" => Keep, "save fork", "save as a fork, in FILE.forks.jsonl";
    SideBySide "o" => Export, "export", "write the repaired procedure to a new file; without one, as elsewhere";
    SideBySide "}" => NextRecord, "next pair", "next pair";
    SideBySide "{" => PreviousRecord, "", "previous pair";
    SideBySide "d" => Difference, "unchanged", "show / hide unchanged";
    Dashboard "Enter" => Open, "show records", "show these records";
    Adjudication "a" => DecidePass, "pass", "final verdict: pass";
    Adjudication "x" => DecideFail, "fail", "final verdict: fail; 1-9 choose labels, Enter saves";
    Adjudication "u" => Undo, "", "undo the last final verdict";
    Adjudication "U" => Redo, "", "redo";
    Adjudication "Enter" => Open, "open", "open record (A comes back)";
    Adjudication "Tab" => NextPane, "agreement", "agreement in full";
    Decision "1" "2" "3" "4" "5" "6" "7" "8" "9" => GiveLabel, "… 9 label", "toggle label";
    Decision "/" => FindLabel, "find label", "find a label by its name";
    Decision "Enter" => Open, "save", "save the final verdict with its labels";
    Decision "Esc" => Escape, "cancel", "cancel";
    Insights "Enter" => Open, "show records", "show these records";
    Table "#" => Frequency, "", "frequencies of the sorted column, as a chart";
    Anywhere "I" => Insights, "insights", "insights: outcome, where to fix, confidence, rules";
    Anywhere "O" => Dashboard, "", "review dashboard: where to fix, labels, rule precision";
    Anywhere "A" => Adjudication, "", "adjudicate: settle disagreements";
    Anywhere "m" => Compare, "compare", "compare with baseline (each cell filters)";
    Anywhere "B" => Baseline, "baseline", "open next to its baseline record";
    Anywhere => PreviousWrong, "", "previous wrong record";
    Anywhere => PreviousFlagged, "", "previous record with findings";
    Anywhere => Create, "", "create a procedure for a question, and run it step by step";
    Anywhere => Review, "", "start or end a review (verdict keys act only during one)";
    Review "a" => Pass, "", "pass, next (on an answer 1a: item A passes)";
    Review "x" => Fail, "", "fail: choose labels, Enter saves, next (on an answer 2x: item B fails)";
    Answer "+" => PassPart, "", "pass the item or citation under the cursor";
    Answer "\\" => FailPart, "", "fail the item or citation under the cursor: choose labels, Enter saves";
    Review "-" => Defer, "", "defer to the end";
    Review "_" => Skip, "", "skip (not reviewable)";
    Review "b" => BadStep, "", "first wrong step (suggestion prefilled)";
    Review "@" => FixTarget, "", "where to fix: output / procedure / expected answer";
    Review "!" => GoldStatus, "", "expected answer: suspect / wrong / correct";
    Review "=" => Correct, "", "enter the correct answer";
    Review ";" => Note, "", "note on the variable, value or lines under the cursor";
    Review "." => NextOpen, "", "next unreviewed record";
    Review "u" => Undo, "", "undo the last verdict or note";
    Review "U" => Redo, "", "redo";
    Review "*" => Reveal, "", "reveal hidden fields (logged)";
    Review "&" => SameVerdict, "", "same verdict where the same rule comes first, at any step (asks first)";
    Review "," => Guidelines, "", "labels with guidelines and examples";
    Table "X" => LabelAll, "", "label all listed records (asks first)";
    Labels "1" "2" "3" "4" "5" "6" "7" "8" "9" => GiveLabel, "… 9 label", "toggle label";
    Labels "Enter" => SaveFail, "save, next", "save as failed, next";
    Labels "/" => FindLabel, "find label", "find or create a label (^N new, ^R rename, ^G merge)";
    Labels "?" => Guidelines, "guidelines", "labels with guidelines and examples";
    Labels "Esc" => PutAside, "close", "close, keep as draft";
    LabelList "Enter" => Open, "toggle", "toggle label; if none matches, create it";
    LabelList "^N" => NewLabel, "new", "create a label with the typed name";
    LabelList "^R" => RenameLabel, "rename", "rename label";
    LabelList "^G" => MergeLabel, "merge", "merge label into another";
    LabelList "Esc" => Escape, "close", "close (asks if you typed something)";
    Confirm "y" "Y" => Confirm, "yes", "give the verdict to all";
    Confirm "f" => Filter, "show them", "show the records first";
    Confirm "Esc" "n" "q" => Escape, "no", "cancel";
    Palette "Enter" => Open, "run", "run command";
    Palette "Esc" => Escape, "close", "close";
    Line "Enter" => TakeEdit, "apply", "apply";
    Line "Esc" => Escape, "close", "close (asks if you typed something)";
    Window "Esc" "q" "Enter" "?" => Escape, "close", "close";
    Window "/" => Find, "search", "in the help: search it, and run what is found";
    Drop "y" "Esc" "q" => DropText, "discard", "discard the text; any other key keeps it";
    Anywhere "Tab" => NextPane, "pane", "next pane (3Tab: pane 3)";
    Anywhere "S-Tab" => PreviousPane, "", "previous pane";
    Anywhere "Z" => Maximise, "", "maximise or restore pane";
    Anywhere "J" => Json, "JSON", "raw JSON with findings";
    Anywhere "j" "Down" => Down, "", "down (5j: five rows)";
    Anywhere "k" "Up" => Up, "", "up";
    Anywhere "h" "Left" => Left, "", "left, collapse, previous tab";
    Anywhere "l" "Right" => Right, "", "right, expand, next tab";
    Anywhere "g" "Home" => Top, "", "first row";
    Anywhere "G" "End" => Bottom, "", "last row (12G: row 12)";
    Anywhere "^D" => HalfDown, "", "half a page down";
    Anywhere "^U" => HalfUp, "", "half a page up";
    Anywhere "PgDn" "^F" => PageDown, "", "page down";
    Anywhere "PgUp" "^B" => PageUp, "", "page up";
    Anywhere "y v" => CopyValue, "", "copy value under the cursor";
    Anywhere "y p" => CopyPath, "", "copy JSON pointer";
    Anywhere "y q" => CopyQuestion, "", "copy question";
    Anywhere "y s" => CopyStep, "", "copy step";
    Anywhere "y r" => CopyRecord, "", "copy record";
    Anywhere "y l" => CopyLink, "", "copy a command that opens this record and step";
    Anywhere "o" => Export, "", "export: report page, Markdown, picture or recording";
    Anywhere "^O" => JumpBack, "", "back to the place before the last jump";
    Anywhere "^T" => JumpForth, "", "forward again";
    Anywhere => Messages, "", "messages of this session, newest first";
    Anywhere "^S" => SaveAgain, "", "retry failed saves";
    Anywhere => Tour, "", "tour of the program in three minutes; comes back here";
    Anywhere => Present, "", "present: strong cursor, keys shown, nothing is saved";
    Anywhere "t" => Theme, "", "next theme";
    Anywhere "M" => Mouse, "", "mouse on/off (off: select text with the terminal)";
    Anywhere "^L" => Redraw, "", "redraw";
    Anywhere "^Z" => Suspend, "", "suspend (fg resumes)";
    Anywhere ":" "^P" => Palette, "", "command palette (right click: for the pane under the mouse)";
    Anywhere "Esc" => Escape, "", "close / clear filter / back";
    Anywhere "i" => Explain, "", "explain what is under the cursor";
    Anywhere "?" "F1" => Help, "help", "symbols and keys of this screen";
    Anywhere "q" => Back, "back", "back (from the first screen: quit)";
    Anywhere "Q" "^C" => Quit, "", "quit";
}

/// One key, told apart as terminals can: characters carry their shift in themselves.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Key {
    code: KeyCode,
    control: bool,
    shift: bool,
}

impl Key {
    /// The key of a terminal event.
    pub(crate) fn from_event(event: KeyEvent) -> Self {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        let (code, shift) = match event.code {
            KeyCode::Char(c) if control => (KeyCode::Char(c.to_ascii_lowercase()), false),
            KeyCode::Char(c) => (KeyCode::Char(c), false),
            KeyCode::BackTab => (KeyCode::Tab, true),
            code => (code, event.modifiers.contains(KeyModifiers::SHIFT)),
        };
        Self { code, control, shift }
    }

    /// The key of a name in the table: `j`, `^D`, `S-Tab`, `PgDn`, `Space`, `F5`.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let plain = |code| Self { code, control: false, shift: false };
        if let Some(rest) = name.strip_prefix("S-") {
            // Characters carry their shift in themselves: no terminal sends such a key.
            return Self::from_name(rest)
                .filter(|key| !key.shift && !matches!(key.code, KeyCode::Char(_)))
                .map(|key| Self { shift: true, ..key });
        }
        let mut chars = name.chars();
        match (chars.next(), chars.next(), chars.next()) {
            (Some(c), None, _) => return Some(plain(KeyCode::Char(c))),
            (Some('^'), Some(c), None) => {
                return Some(Self { control: true, ..plain(KeyCode::Char(c.to_ascii_lowercase())) });
            }
            _ => {}
        }
        if let Some(n) = name.strip_prefix('F').and_then(|n| n.parse().ok()).filter(|n| (1..=12).contains(n)) {
            return Some(plain(KeyCode::F(n)));
        }
        let code = match name {
            "Enter" => KeyCode::Enter,
            "Esc" => KeyCode::Esc,
            "Tab" => KeyCode::Tab,
            "Space" => KeyCode::Char(' '),
            "Backspace" => KeyCode::Backspace,
            "Up" => KeyCode::Up,
            "Down" => KeyCode::Down,
            "Left" => KeyCode::Left,
            "Right" => KeyCode::Right,
            "Home" => KeyCode::Home,
            "End" => KeyCode::End,
            "PgUp" => KeyCode::PageUp,
            "PgDn" => KeyCode::PageDown,
            "Del" => KeyCode::Delete,
            "Ins" => KeyCode::Insert,
            _ => return None,
        };
        Some(plain(code))
    }

    /// The name of the key, as the table has it.
    pub(crate) fn name(self) -> String {
        // A keyboard may have a key for any character, also for those that no terminal should get.
        let shown = |c: char| Shown::line(c.to_string().as_bytes()).into_string();
        let name = match self.code {
            KeyCode::Char(' ') => "Space".to_owned(),
            KeyCode::Char(c) if self.control => format!("^{}", shown(c.to_ascii_uppercase())),
            KeyCode::Char(c) => shown(c),
            KeyCode::F(n) => format!("F{n}"),
            KeyCode::Enter => "Enter".to_owned(),
            KeyCode::Esc => "Esc".to_owned(),
            KeyCode::Tab => "Tab".to_owned(),
            KeyCode::Backspace => "Backspace".to_owned(),
            KeyCode::Up => "Up".to_owned(),
            KeyCode::Down => "Down".to_owned(),
            KeyCode::Left => "Left".to_owned(),
            KeyCode::Right => "Right".to_owned(),
            KeyCode::Home => "Home".to_owned(),
            KeyCode::End => "End".to_owned(),
            KeyCode::PageUp => "PgUp".to_owned(),
            KeyCode::PageDown => "PgDn".to_owned(),
            KeyCode::Delete => "Del".to_owned(),
            KeyCode::Insert => "Ins".to_owned(),
            _ => String::new(),
        };
        if self.shift && !name.is_empty() { format!("S-{name}") } else { name }
    }

    /// The terminal event of the key.
    pub(crate) const fn event(self) -> KeyEvent {
        let mut modifiers = if self.control { KeyModifiers::CONTROL } else { KeyModifiers::NONE };
        if self.shift {
            modifiers = modifiers.union(KeyModifiers::SHIFT);
        }
        let code = match self.code {
            KeyCode::Tab if self.shift => KeyCode::BackTab,
            code => code,
        };
        KeyEvent::new(code, modifiers)
    }

    /// The digit, for counts.
    pub fn digit(self) -> Option<usize> {
        match self.code {
            KeyCode::Char(c) if !self.control => c.to_digit(10).map(|digit| digit as usize),
            _ => None,
        }
    }
}

/// Result of a look-up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookup {
    /// This action.
    Found(Action),
    /// The beginning of a chord.
    Prefix,
    /// Nothing.
    Unknown,
}

/// The keys in force: the table with the user's changes.
#[derive(Clone, Debug)]
pub struct Keymap {
    chords: Vec<Chord>,
    /// Actions whose keys the user chose.
    chosen: Vec<Action>,
}

/// Keys of an action in a context.
#[derive(Clone, Debug)]
struct Chord {
    context: Context,
    keys: Vec<Key>,
    action: Action,
    name: String,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self { chords: Vec::new(), chosen: Vec::new() };
        for binding in BINDINGS {
            for name in binding.keys {
                if let Some(keys) = parse_chord(name) {
                    keymap.bind(binding.context, keys, binding.action, name);
                }
            }
        }
        keymap
    }
}

/// Keys that one action may be given: each is compared with all others.
const MAX_KEYS: usize = 20;

fn parse_chord(name: &str) -> Option<Vec<Key>> {
    let keys: Option<Vec<Key>> = name.split(' ').map(Key::from_name).collect();
    keys.filter(|keys| !keys.is_empty())
}

impl Keymap {
    /// The table with the user's changes: action ids with their keys, which replace the default ones wherever the
    /// action is bound. An error says which change cannot be made, and why.
    pub fn with_changes<'a>(
        changes: impl IntoIterator<Item = (&'a str, &'a [String])>,
    ) -> Result<Self, (usize, String)> {
        let mut keymap = Self::default();
        let mut given: Vec<(Context, Vec<Key>, Action)> = Vec::new();
        for (n, (id, names)) in changes.into_iter().enumerate() {
            let action = Action::from_word(id)
                .ok_or_else(|| (n, format!("unknown action {id:?}; `stepscope keys` lists them")))?;
            let contexts: Vec<Context> =
                BINDINGS.iter().filter(|binding| binding.action == action).map(|binding| binding.context).collect();
            if names.len() > MAX_KEYS {
                return Err((n, format!("{id} has {} keys; at most {MAX_KEYS} are allowed", names.len())));
            }
            keymap.chords.retain(|chord| chord.action != action);
            keymap.chosen.push(action);
            for name in names {
                let keys = parse_chord(name).ok_or_else(|| {
                    (n, format!("{name:?} is not a key; write j, ^D, S-Tab, F5 or a chord such as \"y v\""))
                })?;
                if keys.first().is_some_and(|key| key.digit().is_some()) {
                    return Err((n, format!("{name:?} cannot be a key: digits are counts, as in 5j")));
                }
                for &context in &contexts {
                    let twice = |(place, other, _): &&(Context, Vec<Key>, Action)| *place == context && *other == keys;
                    if let Some((_, _, first)) = given.iter().find(twice).filter(|(_, _, first)| *first != action) {
                        return Err((n, format!("{name:?} is bound to {} and to {id}; bind it to one", first.word())));
                    }
                    given.push((context, keys.clone(), action));
                    // The user's word beats a default binding of the same keys.
                    let same = |chord: &Chord| chord.context == context || context == Context::Anywhere;
                    keymap.chords.retain(|chord| !same(chord) || chord.keys != keys);
                    keymap.bind(context, keys.clone(), action, name);
                }
            }
        }
        Ok(keymap)
    }

    /// Tells which keys do not mean any more, or do not mean at all, what they are bound to, because of what the user
    /// chose: a sentence each. `stacks`: contexts that hold together, the nearest first.
    pub(crate) fn overlaps(&self, stacks: &[Vec<Context>]) -> Vec<String> {
        let default = Self::default();
        let mut found: Vec<(String, Vec<&str>)> = Vec::new();
        for stack in stacks {
            let kept = default.chords.iter().filter(|chord| !self.chosen.contains(&chord.action));
            let kept =
                kept.filter(|chord| default.first_action(stack, &chord.keys) == Some((&chord.keys, chord.action)));
            let chosen = self.chords.iter().filter(|chord| self.chosen.contains(&chord.action));
            for chord in kept.chain(chosen).filter(|chord| stack.contains(&chord.context)) {
                let Some((keys, action)) = self.first_action(stack, &chord.keys) else { continue };
                if action == chord.action {
                    continue;
                }
                let names: Vec<String> = keys.iter().map(|key| key.name()).collect();
                let (name, action, other) = (names.join(" "), action.word(), chord.action.word());
                let sentence = if keys == chord.keys {
                    format!("{name:?} is {action}, not {other}")
                } else {
                    format!("{name:?} is {action}, so that {:?} cannot be {other}", chord.name)
                };
                let place = stack.first().map_or("", |context| context.word());
                match found.iter_mut().find(|(known, _)| *known == sentence) {
                    Some((_, places)) if places.contains(&place) => {}
                    Some((_, places)) => places.push(place),
                    None => found.push((sentence, vec![place])),
                }
            }
        }
        found.into_iter().map(|(sentence, places)| format!("{sentence}: {}", places.join(", "))).collect()
    }

    /// Returns the action that is done while these keys are typed one after the other, and those typed by then.
    fn first_action<'k>(&self, stack: &[Context], keys: &'k [Key]) -> Option<(&'k [Key], Action)> {
        (1..=keys.len()).filter_map(|len| keys.get(..len)).find_map(|typed| match self.look_up(stack, typed) {
            Lookup::Found(action) => Some((typed, action)),
            Lookup::Prefix | Lookup::Unknown => None,
        })
    }

    /// Looks up the keys typed so far in some contexts, the nearest first.
    pub(crate) fn look_up(&self, contexts: &[Context], typed: &[Key]) -> Lookup {
        let mut prefix = false;
        for place in contexts {
            for chord in self.chords.iter().filter(|chord| chord.context == *place) {
                if chord.keys.starts_with(typed) {
                    if chord.keys.len() == typed.len() {
                        return Lookup::Found(chord.action);
                    }
                    prefix = true;
                }
            }
        }
        if prefix { Lookup::Prefix } else { Lookup::Unknown }
    }

    fn bind(&mut self, context: Context, keys: Vec<Key>, action: Action, name: &str) {
        self.chords.push(Chord { context, keys, action, name: name.to_owned() });
    }

    /// The keys of a binding, as they are named now; none, if the user gave them all to other actions.
    pub fn names(&self, binding: &Binding) -> Vec<String> {
        let own = self.chords.iter().filter(|chord| (chord.context, chord.action) == (binding.context, binding.action));
        own.map(|chord| chord.name.clone()).collect()
    }

    /// The first key of an action, wherever it means it; without one, the command that the palette takes.
    pub(crate) fn key_of(&self, action: Action) -> String {
        let key = self.chords.iter().find(|chord| chord.action == action).map(|chord| chord.name.clone());
        key.unwrap_or_else(|| format!(":{}", action.word().replace('_', " ")))
    }

    /// Names the keys in force in a text to be shown: see [`Self::keyed`].
    pub(crate) fn shown(&self, text: &'static str) -> Shown {
        stepscope_base::shown!("{}", self.keyed(text))
    }

    /// Names the keys in force where a text of ours names actions: `<undo> undoes` becomes `u undoes`.
    pub(crate) fn keyed(&self, text: &'static str) -> String {
        let mut pieces = text.split('<');
        let mut keyed = pieces.next().unwrap_or_default().to_owned();
        for piece in pieces {
            match piece.split_once('>').and_then(|(word, rest)| Some((Action::from_word(word)?, rest))) {
                Some((action, rest)) => keyed.extend([&self.key_of(action), rest]),
                None => keyed.extend(["<", piece]),
            }
        }
        keyed
    }

    /// Lists the keys of a binding that mean its action in some contexts.
    pub(crate) fn names_in(&self, binding: &Binding, contexts: &[Context]) -> Vec<String> {
        let own = self.chords.iter().filter(|chord| (chord.context, chord.action) == (binding.context, binding.action));
        let means = |chord: &&Chord| self.look_up(contexts, &chord.keys) == Lookup::Found(binding.action);
        own.filter(means).map(|chord| chord.name.clone()).collect()
    }

    /// Lists the continuations of a chord: the part typed so far, by name, then the rest of each chord with its action.
    pub(crate) fn continuations(&self, contexts: &[Context], typed: &[Key]) -> (String, Vec<(String, Action)>) {
        let here = |chord: &&Chord| contexts.contains(&chord.context);
        let longer = |chord: &&Chord| chord.keys.len() > typed.len() && chord.keys.starts_with(typed);
        let mut head = String::new();
        let mut rests = Vec::new();
        for chord in self.chords.iter().filter(here).filter(longer) {
            let names: Vec<&str> = chord.name.split(' ').collect();
            let (done, rest) = names.split_at(typed.len().min(names.len()));
            head = done.join(" ");
            rests.push((rest.join(" "), chord.action));
        }
        (head, rests)
    }

    /// The rows of a context.
    pub fn rows(context: Context) -> impl Iterator<Item = &'static Binding> {
        BINDINGS.iter().filter(move |binding| binding.context == context)
    }
}

/// The table of keys as Markdown.
pub fn markdown() -> String {
    use std::fmt::Write as _;
    let mut out = String::new();
    for context in Context::ALL {
        let _ = write!(out, "**{}**\n\n| keys | action | |\n|---|---|---|\n", context.word());
        for binding in Keymap::rows(context) {
            let named = format!("`:{}`", binding.action.word());
            let keys = binding.keys.iter().map(|key| format!("`{key}`")).reduce(|keys, key| format!("{keys} {key}"));
            let keys = keys.unwrap_or(named);
            let _ = writeln!(out, "| {keys} | {} | {} |", binding.action.word(), binding.help);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(name: &str) -> Vec<Key> {
        parse_chord(name).unwrap()
    }

    #[test]
    fn the_name_of_a_key_is_safe_to_draw() {
        for (code, name) in [('a', "a"), ('é', "é"), ('\u{ef3a7}', "⟨U+EF3A7⟩"), ('\u{202e}', "⟨U+202E⟩")] {
            let key = Key { code: KeyCode::Char(code), control: false, shift: false };
            assert_eq!(key.name(), name);
            assert_eq!(Key { control: true, ..key }.name(), format!("^{}", name.to_ascii_uppercase()));
        }
    }

    #[test]
    fn every_row_is_found_by_its_keys_and_has_help() {
        let keymap = Keymap::default();
        for binding in BINDINGS {
            assert!(!binding.help.is_empty());
            for name in binding.keys {
                assert_eq!(keymap.look_up(&[binding.context], &keys(name)), Lookup::Found(binding.action), "{name}");
            }
        }
        for action in Action::ALL {
            assert!(BINDINGS.iter().any(|binding| binding.action == action), "{action:?} has no key");
            assert_eq!(Action::from_word(action.word()), Some(action));
        }
    }

    #[test]
    fn a_key_of_reviewing_means_nothing_else_on_any_screen_with_records() {
        for binding in Keymap::rows(Context::Review) {
            let others = [Context::Table, Context::Run, Context::Answer, Context::Json].map(Keymap::rows);
            for other in others.into_iter().flatten().chain(Keymap::rows(Context::Anywhere)) {
                let shared = binding.keys.iter().find(|key| other.keys.contains(key));
                assert!(shared.is_none(), "{shared:?}: {} and {}", binding.help, other.help);
            }
        }
    }

    #[test]
    fn chords_wait_for_their_end() {
        let keymap = Keymap::default();
        assert_eq!(keymap.look_up(&[Context::Run, Context::Anywhere], &keys("y")), Lookup::Prefix);
        assert_eq!(keymap.look_up(&[Context::Run, Context::Anywhere], &keys("y v")), Lookup::Found(Action::CopyValue));
        assert_eq!(keymap.look_up(&[Context::Run, Context::Anywhere], &keys("y y")), Lookup::Unknown);
    }

    #[test]
    fn the_user_may_change_keys_and_hears_what_is_wrong() {
        let down = ["^J".to_owned(), "e".to_owned()];
        let keymap = Keymap::with_changes([("down", &down[..])]).unwrap();
        assert_eq!(keymap.look_up(&[Context::Table, Context::Anywhere], &keys("^J")), Lookup::Found(Action::Down));
        assert_eq!(keymap.look_up(&[Context::Table, Context::Anywhere], &keys("j")), Lookup::Unknown);
        assert!(Keymap::with_changes([("dwon", &down[..])]).unwrap_err().1.contains("dwon"));
        for wrong in ["Ctrl+J", "S-j", "S-Space", "S-S-Tab", "7", ""] {
            let error = Keymap::with_changes([("down", &[wrong.to_owned()][..])]).unwrap_err().1;
            assert!(error.contains(&format!("{wrong:?}")), "{error}");
        }
        let many = vec!["j".to_owned(); MAX_KEYS + 1];
        assert!(Keymap::with_changes([("down", &many[..])]).unwrap_err().1.contains("at most 20"));
        let error = Keymap::with_changes([("down", &down[..]), ("up", &down[..])]).unwrap_err();
        assert_eq!(error, (1, "\"^J\" is bound to down and to up; bind it to one".to_owned()));
    }

    #[test]
    fn a_key_that_is_taken_from_another_action_is_named() {
        let stacks = [vec![Context::Run, Context::Review, Context::Anywhere], vec![Context::Table, Context::Anywhere]];
        let overlaps = |changes: &[(&str, &str)]| {
            let changes: Vec<(&str, [String; 1])> =
                changes.iter().map(|(action, key)| (*action, [(*key).to_owned()])).collect();
            let keymap = Keymap::with_changes(changes.iter().map(|(action, keys)| (*action, keys.as_slice()))).unwrap();
            keymap.overlaps(&stacks)
        };
        assert_eq!(overlaps(&[("next_step", "q")]), [r#""q" is next_step, not back: Run"#]);
        assert_eq!(overlaps(&[("down", "e")]), [r#""e" is down, not next_finding: Run, Table of records"#]);
        let chords = overlaps(&[("next_step", "y")]);
        assert_eq!(chords[0], r#""y" is next_step, so that "y v" cannot be copy_value: Run"#);
        assert_eq!(overlaps(&[("next_step", "q x")]), [r#""q" is back, so that "q x" cannot be next_step: Run"#]);
        for apart in [&[][..], &[("next_step", "^N")], &[("next_step", "q"), ("back", "^N")], &[("back", "F5")]] {
            assert_eq!(overlaps(apart), [""; 0], "{apart:?}");
        }
    }
}
