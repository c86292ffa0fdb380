//! The one table of keys: it feeds look-up, footer, help, palette, `stepscope keys` and the README.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

stepscope_base::words! {
    /// Where a key means something, with its heading in the help, in the order of the help. A look-up asks the contexts of
    /// what is in front, the nearest first.
    #[expect(missing_docs, reason = "the heading says what it is")]
    pub enum Context {
        Anywhere = "Anywhere",
        Table = "Table of records",
        Run = "Run",
        Rerun = "Re-run",
        Answer = "Typed answer",
        Json = "Record as JSON",
        Derivation = "Derivation of a value",
        Contents = "Table of contents",
        Editor = "Editing a value or a prompt",
        Fixes = "Suggested fixes",
        Repair = "Repair by a model",
        Compare = "Comparison with the baseline",
        SideBySide = "Two records side by side",
        Dashboard = "Boards",
        Adjudication = "Adjudication",
        Decision = "Labels of a decision",
        Review = "Reviewing, on every screen with a record",
        Labels = "Choosing labels for a failed item",
        LabelList = "Finding a label",
        Confirm = "Labelling many records",
        Palette = "Command palette",
        Line = "Typing a line",
        Window = "Help and texts in a window",
        Drop = "Dropping typed text",
    }
}

impl Context {
    /// Letters are text there.
    pub(crate) const fn takes_text(self) -> bool {
        matches!(self, Self::Palette | Self::Line | Self::LabelList | Self::Editor)
    }
}

stepscope_base::words! {
    /// What a key can do. Every action has an id, by which it is remapped and called from the palette.
    #[expect(missing_docs, reason = "the help of its row in the table says what it does")]
    pub enum Action {
        Back = "back",
        Quit = "quit",
        Help = "help",
        Palette = "palette",
        Escape = "escape",
        Down = "down",
        Up = "up",
        Left = "left",
        Right = "right",
        Top = "top",
        Bottom = "bottom",
        HalfDown = "half_page_down",
        HalfUp = "half_page_up",
        PageDown = "page_down",
        PageUp = "page_up",
        Open = "open",
        NextStep = "next_step",
        PreviousStep = "previous_step",
        NextRecord = "next_record",
        PreviousRecord = "previous_record",
        NextPane = "next_pane",
        PreviousPane = "previous_pane",
        Maximise = "maximise",
        Find = "find",
        FindNext = "find_next",
        FindPrevious = "find_previous",
        Filter = "filter",
        NextFinding = "next_finding",
        PreviousFinding = "previous_finding",
        NextCitation = "next_span",
        PreviousCitation = "previous_span",
        Contents = "contents",
        CopyQuote = "copy_quote",
        Writer = "writer",
        Reader = "reader",
        Difference = "difference",
        Rewards = "ladder",
        Compare = "matrix",
        Baseline = "baseline",
        Dashboard = "boards",
        Adjudication = "disputes",
        DecidePass = "decide_pass",
        DecideFail = "decide_fail",
        Rerun = "rerun",
        RerunFromHere = "rerun_from_here",
        RerunStale = "rerun_stale",
        RerunSamples = "rerun_samples",
        Json = "json",
        Fold = "fold",
        FoldAll = "fold_all",
        UnfoldAll = "unfold_all",
        CopyValue = "copy_value",
        CopyPath = "copy_path",
        CopyQuestion = "copy_question",
        CopyStep = "copy_step",
        CopyRecord = "copy_record",
        SortNext = "sort_next",
        SortPrevious = "sort_previous",
        SortReverse = "sort_reverse",
        NextFork = "next_fork",
        PreviousFork = "previous_fork",
        Pass = "pass",
        Fail = "fail",
        Defer = "defer",
        Skip = "skip",
        BadStep = "bad_step",
        GoldStatus = "gold_status",
        FixTarget = "fix_target",
        Correct = "correct",
        Note = "note",
        Undo = "undo",
        Redo = "redo",
        NextOpen = "next_open",
        Reveal = "reveal",
        Edit = "edit",
        TakeEdit = "take_edit",
        ExternalEditor = "external_editor",
        DropEdits = "drop_edits",
        Keep = "keep",
        Export = "export",
        Exact = "execute_exactly",
        Repair = "repair",
        Between = "between_steps",
        SaveAgain = "save_again",
        LabelAll = "label_all",
        GiveLabel = "give_label",
        SaveFail = "save_fail",
        FindLabel = "find_label",
        PutAside = "put_aside",
        NewLabel = "new_label",
        RenameLabel = "rename_label",
        MergeLabel = "merge_label",
        Confirm = "confirm",
        DropText = "drop_text",
        Review = "review",
        Theme = "theme",
        Mouse = "mouse",
        Suspend = "suspend",
        Redraw = "redraw",
    }
}

/// A reason why an action cannot be done now.
pub(crate) type Reason = &'static str;

pub(crate) fn need(holds: bool, why: Reason) -> Result<(), Reason> {
    if holds { Ok(()) } else { Err(why) }
}

impl Action {
    /// It moves a cursor or scrolls.
    pub(crate) const fn is_movement(self) -> bool {
        use Action as A;
        matches!(self, A::Down | A::Up | A::Top | A::Bottom | A::HalfDown | A::HalfUp | A::PageDown | A::PageUp)
    }

    /// It means the same on every screen.
    pub(crate) const fn is_plain(self) -> bool {
        use Action as A;
        self.is_movement()
            || matches!(self, A::Back | A::Escape | A::Quit | A::Help | A::Palette | A::Theme | A::Mouse | A::Redraw)
            || matches!(self, A::Suspend | A::Review)
    }
}

/// One row of the table of keys.
#[derive(Clone, Copy, Debug)]
pub struct Binding {
    /// Where the keys hold.
    pub context: Context,
    /// The keys: single ones (`j`, `Down`, `^D`) or chords (`y v`).
    pub keys: &'static [&'static str],
    /// What they do.
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
    Table "Enter" => Open, "open", "open the record";
    Table "f" => Filter, "filter", "filter: correct:false rule:unused steps>4 text:apples";
    Table "/" => Find, "find", "find text in the records and visit each";
    Table "n" => FindNext, "", "next record found";
    Table "N" => FindPrevious, "", "record found before";
    Table ">" => SortNext, "sort", "sort by the column to the right";
    Table "<" => SortPrevious, "", "sort by the column to the left";
    Table "~" => SortReverse, "", "turn the order round";
    Table "d" => Difference, "", "a fork beside its parent: what changed";
    Table "e" => NextFinding, "next finding", "next record with findings";
    Table "E" => PreviousFinding, "", "record with findings before";
    Run "]" => NextStep, "next step", "next step: the state moves on";
    Run "[" => PreviousStep, "back", "step before: the state goes back in time";
    Run "e" => NextFinding, "next finding", "next finding, and jump to where it stands";
    Run "E" => PreviousFinding, "", "finding before";
    Run "w" => Writer, "writer", "to the step that writes the variable";
    Run "W" => Reader, "reader", "to the next step that reads the variable";
    Run "d" => Difference, "difference", "what changed: a fork against its parent, else between two steps";
    Run "|" => Between, "", "what changed between two steps, in a fork too";
    Run "v" => Edit, "edit", "edit the value before the next step, or the step's prompt, and go on from it";
    Run "s" => Keep, "keep edits", "the run with the edited values, as a fork without a model: shown first";
    Run "c e" => DropEdits, "", "take back everything that was edited";
    Run "X" => Exact, "", "execute exactly: see what the run would be, keep it as a fork";
    Run "F" => Repair, "", "fixes of the procedure that need no model, each shown before it is kept";
    Run "r" => Rerun, "re-run", "ask this step again: shows first what would be sent, and to whom";
    Run "R" => RerunFromHere, "", "ask this step and all later ones again";
    Run "D" => RerunStale, "", "ask this step again and those that depend on what it changes";
    Run "^R" => RerunSamples, "", "ask this step several times and compare the replies";
    Rerun "Enter" => Open, "send, choose", "on the line that names the server: send; else edit or choose";
    Rerun "v" => Edit, "edit prompt", "edit the prompt before it is sent";
    Rerun "s" => Keep, "keep", "keep what came as a fork, in FILE.forks.jsonl";
    Rerun "r" => Rerun, "again", "ask again: back to what is sent; this step alone";
    Rerun "R" => RerunFromHere, "from here", "from here on; of several replies: take this one and go on";
    Rerun "D" => RerunStale, "dependents", "this step, and those that depend on what it changes";
    Rerun "^R" => RerunSamples, "samples", "this step several times";
    Rerun "Esc" => Escape, "cancel", "break off the call: the connection is closed; else back to the run";
    Run "V" => Rewards, "reward", "verifiers: what each stage gave, and where they stopped";
    Run ")" => NextFork, "fork", "next fork of this record, then the record itself";
    Run "(" => PreviousFork, "", "fork before";
    Run "}" => NextRecord, "record", "next record";
    Run "{" => PreviousRecord, "", "record before";
    Run "Enter" => Open, "", "open what the cursor is on: the value, or the finding's place";
    Run "/" => Find, "", "find text in this run";
    Run "n" => FindNext, "", "next place found";
    Run "N" => FindPrevious, "", "place found before";
    Answer "s" => NextCitation, "next span", "next citation, its place on screen";
    Answer "S" => PreviousCitation, "", "citation before";
    Answer "Enter" => Open, "cited/found", "from the cited place to the found one and back; a check in full";
    Answer "e" => NextFinding, "next finding", "next finding, and the citation it is about";
    Answer "E" => PreviousFinding, "", "finding before";
    Answer "r" => Rerun, "re-run", "ask for this answer again: shows first what would be sent, and to whom";
    Answer "R" "D" "^R" => RerunFromHere, "", "for runs only: a typed answer is one call";
    Answer "c" => Contents, "contents", "the document's table of contents";
    Answer "}" => NextRecord, "record", "next record";
    Answer "{" => PreviousRecord, "", "record before";
    Answer "y q" => CopyQuote, "", "copy the quote with its page and lines";
    Answer "/" => Find, "find", "find text in the answer and the document";
    Answer "n" => FindNext, "", "next place found";
    Answer "N" => FindPrevious, "", "place found before";
    Json "Space" "Enter" => Fold, "fold", "fold or unfold";
    Json "H" => FoldAll, "", "fold everything";
    Json "L" => UnfoldAll, "unfold all", "unfold everything";
    Json "e" => NextFinding, "next finding", "next finding, and jump to where it stands";
    Json "E" => PreviousFinding, "", "finding before";
    Json "V" => Rewards, "reward", "verifiers: what each stage gave, and where they stopped";
    Json "}" => NextRecord, "record", "next record";
    Json "{" => PreviousRecord, "", "record before";
    Json "/" => Find, "find", "find text in the record";
    Json "n" => FindNext, "", "next place found";
    Json "N" => FindPrevious, "", "place found before";
    Derivation "Enter" => Open, "go there", "to the step that writes it, or to the quantity in the question";
    Derivation "Space" => Fold, "fold", "fold or unfold what it rests on; h and l too";
    Derivation "H" => FoldAll, "", "fold everything";
    Derivation "L" => UnfoldAll, "unfold all", "unfold everything";
    Derivation "Esc" "q" => Escape, "close", "close";
    Contents "Enter" => Open, "go there", "go to the heading";
    Contents "Esc" "q" => Escape, "close", "close";
    Fixes "Enter" => Open, "preview", "preview the fix, or send the procedure to the named model";
    Fixes "Esc" "q" => Escape, "close", "close";
    Repair "Enter" => Open, "show changes", "show what the model changed";
    Repair "Esc" "q" => Escape, "cancel", "cancel the call; after its end, close";
    Compare "Enter" => Open, "the records", "the table with the records behind the number";
    Editor "Enter" "^S" => TakeEdit, "take it", "take what was typed; in a text of several lines ^S";
    Editor "^E" => ExternalEditor, "$EDITOR", "the text in $VISUAL or $EDITOR";
    Editor "Esc" => Escape, "close", "leave it as it was; asks before it drops typed text";
    SideBySide "s" => Keep, "keep", "keep what was made as a fork, in FILE.forks.jsonl";
    SideBySide "o" => Export, "export", "write the repaired procedure to a new file";
    SideBySide "}" => NextRecord, "next record", "next record of the table, beside its own partner";
    SideBySide "{" => PreviousRecord, "", "record before";
    SideBySide "d" => Difference, "same too", "also what is the same in both, or only what differs";
    Dashboard "Enter" => Open, "the records", "the table with the records behind the number";
    Adjudication "a" => DecidePass, "pass", "decide that the item is right";
    Adjudication "x" => DecideFail, "fail", "decide that it is wrong; then 1-9 choose labels, Enter saves";
    Adjudication "Enter" => Open, "open", "open the record; A comes back";
    Adjudication "Tab" => NextPane, "agreement", "how far reviewers agree, in full";
    Decision "1" "2" "3" "4" "5" "6" "7" "8" "9" => GiveLabel, "… 9 label", "give or take the label of this number";
    Decision "Enter" => Open, "save", "save the decision with the labels that 1-9 chose";
    Decision "Esc" => Escape, "give up", "give the decision up";
    Anywhere "O" => Dashboard, "", "boards: where to fix, labels over time, how often rules were right";
    Anywhere "A" => Adjudication, "", "adjudication: the items on which reviewers disagree";
    Anywhere "m" => Compare, "matrix", "the comparison with the baseline: five cells, each a filter";
    Anywhere "B" => Baseline, "baseline", "the record beside the baseline's record of the same item";
    Anywhere => Review, "", "begin a review, or end it: verdict keys act only in between";
    Review "a" => Pass, "", "pass, and on to the next";
    Review "x" => Fail, "", "fail: choose labels, Enter saves and goes on to the next";
    Review "-" => Defer, "", "defer: it comes back at the end";
    Review "_" => Skip, "", "skip: it is not to be judged";
    Review "b" => BadStep, "", "first bad step; the proposal stands there, Enter confirms it";
    Review "@" => FixTarget, "", "where to fix it: step run, procedure, gold; the proposal first";
    Review "!" => GoldStatus, "", "the gold answer is suspect, wrong, right after all";
    Review "=" => Correct, "", "the right answer; it must have the answer's type";
    Review ";" => Note, "", "a note on the variable, value or lines under the cursor";
    Review "." => NextOpen, "", "to the next record that you did not judge";
    Review "u" => Undo, "", "undo the last verdict or note, and go to its record";
    Review "U" => Redo, "", "redo";
    Review "*" => Reveal, "", "show what is hidden; that you looked is recorded";
    Table "X" => LabelAll, "", "label all records of the table, after asking";
    Labels "1" "2" "3" "4" "5" "6" "7" "8" "9" => GiveLabel, "… 9 label", "give or take the label of this number";
    Labels "Enter" => SaveFail, "save, next", "save that it fails, and on to the next";
    Labels "/" => FindLabel, "find label", "find a label or make one; there ^N makes, ^R renames, ^G merges";
    Labels "Esc" => PutAside, "later", "stop choosing; what was chosen is kept, not saved";
    LabelList "Enter" => Open, "choose", "toggle the label; when the list is empty, make it";
    LabelList "^N" => NewLabel, "new", "make a label of the typed name";
    LabelList "^R" => RenameLabel, "rename", "rename the label";
    LabelList "^G" => MergeLabel, "merge", "merge the label into another";
    LabelList "Esc" => Escape, "close", "close; asks before it drops typed text";
    Confirm "y" "Y" => Confirm, "yes", "label them";
    Confirm "Esc" "n" "q" => Escape, "no", "leave them as they are";
    Palette "Enter" => Open, "run", "run the action";
    Palette "Esc" => Escape, "close", "close";
    Line "Enter" => TakeEdit, "apply", "apply";
    Line "Esc" => Escape, "close", "close; asks before it drops typed text";
    Window "Esc" "q" "Enter" "?" => Escape, "close", "close";
    Drop "y" "Esc" "q" => DropText, "drop it", "drop the text; any other key keeps it";
    Anywhere "Tab" => NextPane, "pane", "next pane";
    Anywhere "S-Tab" => PreviousPane, "", "pane before";
    Anywhere "Z" => Maximise, "", "the pane fills the screen, and back";
    Anywhere "J" => Json, "json", "the record as JSON, findings marked in it";
    Anywhere "j" "Down" => Down, "", "down; a count goes before it, as in 5j";
    Anywhere "k" "Up" => Up, "", "up";
    Anywhere "h" "Left" => Left, "", "left; fold; tab before";
    Anywhere "l" "Right" => Right, "", "right; unfold; next tab";
    Anywhere "g" "Home" => Top, "", "to the first";
    Anywhere "G" "End" => Bottom, "", "to the last; with a count, to that one";
    Anywhere "^D" => HalfDown, "", "half a page down";
    Anywhere "^U" => HalfUp, "", "half a page up";
    Anywhere "PgDn" "^F" => PageDown, "", "a page down";
    Anywhere "PgUp" "^B" => PageUp, "", "a page up";
    Anywhere "y v" => CopyValue, "", "copy the value under the cursor";
    Anywhere "y p" => CopyPath, "", "copy its path as a JSON pointer";
    Anywhere "y q" => CopyQuestion, "", "copy the question";
    Anywhere "y s" => CopyStep, "", "copy the step";
    Anywhere "y r" => CopyRecord, "", "copy the record";
    Anywhere "^S" => SaveAgain, "", "save again what could not be saved";
    Anywhere "t" => Theme, "", "next theme";
    Anywhere "M" => Mouse, "", "the mouse on or off (off: the terminal's own selection)";
    Anywhere "^L" => Redraw, "", "draw everything anew";
    Anywhere "^Z" => Suspend, "", "to the shell; fg comes back";
    Anywhere ":" "^P" => Palette, "", "palette: every action by name";
    Anywhere "Esc" => Escape, "", "close what is in front, drop the filter, up";
    Anywhere "?" => Help, "help", "this help";
    Anywhere "q" => Back, "back", "back; from the first screen, quit";
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

    /// The digit, for counts.
    pub fn digit(self) -> Option<usize> {
        match self.code {
            KeyCode::Char(c) if !self.control => c.to_digit(10).map(|digit| digit as usize),
            _ => None,
        }
    }
}

/// What a look-up found.
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
}

/// Keys that stand for an action in a context.
#[derive(Clone, Debug)]
struct Chord {
    context: Context,
    keys: Vec<Key>,
    action: Action,
    name: String,
}

impl Default for Keymap {
    fn default() -> Self {
        let mut keymap = Self { chords: Vec::new() };
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
                .ok_or_else(|| (n, format!("there is no action {id:?}; `stepscope keys` lists them")))?;
            let contexts: Vec<Context> =
                BINDINGS.iter().filter(|binding| binding.action == action).map(|binding| binding.context).collect();
            if names.len() > MAX_KEYS {
                return Err((n, format!("{id} has {} keys; give it at most {MAX_KEYS}", names.len())));
            }
            keymap.chords.retain(|chord| chord.action != action);
            for name in names {
                let keys = parse_chord(name).ok_or_else(|| {
                    (n, format!("{name:?} is no key; write j, ^D, S-Tab, F5 or a chord such as \"y v\""))
                })?;
                if keys.first().is_some_and(|key| key.digit().is_some()) {
                    return Err((n, format!("{name:?} cannot be a key: digits are counts, as in 5j")));
                }
                for &context in &contexts {
                    let twice = |(place, other, _): &&(Context, Vec<Key>, Action)| *place == context && *other == keys;
                    if let Some((_, _, first)) = given.iter().find(twice).filter(|(_, _, first)| *first != action) {
                        return Err((n, format!("{name:?} is given to {} and to {id}; leave it to one", first.word())));
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

    /// What the keys typed so far mean in some contexts, the nearest first.
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

    /// Those of the keys of a binding that mean its action in some contexts.
    pub(crate) fn names_in(&self, binding: &Binding, contexts: &[Context]) -> Vec<String> {
        let own = self.chords.iter().filter(|chord| (chord.context, chord.action) == (binding.context, binding.action));
        let means = |chord: &&Chord| self.look_up(contexts, &chord.keys) == Lookup::Found(binding.action);
        own.filter(means).map(|chord| chord.name.clone()).collect()
    }

    /// What was typed of a chord, by name, and how it can go on: the names of the rest and the actions.
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

/// The table of keys as the README shows it.
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
        assert_eq!(error, (1, "\"^J\" is given to down and to up; leave it to one".to_owned()));
    }
}
