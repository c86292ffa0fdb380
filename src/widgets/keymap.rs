//! The one table of keys: it feeds look-up, footer, help, palette, `stepscope keys` and the README.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Where a key means something. A look-up asks the contexts of what is in front, the nearest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Context {
    /// Every screen that does not take text.
    Anywhere,
    /// The table of records.
    Table,
    /// The run screen.
    Run,
    /// A structured answer with its citations.
    Answer,
    /// The record as JSON.
    Json,
    /// How a computed value comes about.
    Derivation,
    /// A text that is being typed.
    Editor,
    /// A line that is being typed.
    Line,
    /// The palette.
    Palette,
    /// A window with a text.
    Window,
    /// The table of contents of a document.
    Contents,
    /// The fixes of a procedure.
    Fixes,
    /// A repair by a model.
    Repair,
    /// The question before typed text is dropped.
    Drop,
    /// The cells of a comparison.
    Compare,
    /// Two records side by side.
    SideBySide,
    /// The boards.
    Dashboard,
    /// The items on which reviewers disagree.
    Adjudication,
    /// The labels of a verdict between reviewers.
    Decision,
    /// A step, asked again.
    Rerun,
    /// Reviewing, on every screen with a record.
    Review,
    /// Choosing labels for a failed item.
    Labels,
    /// Finding a label by its name.
    LabelList,
    /// The question before many records are labelled.
    Confirm,
}

impl Context {
    /// Letters are text there.
    pub(crate) const fn takes_text(self) -> bool {
        matches!(self, Self::Palette | Self::Line | Self::LabelList | Self::Editor)
    }

    /// The heading in the help.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Anywhere => "Anywhere",
            Self::Table => "Table of records",
            Self::Run => "Run",
            Self::Answer => "Typed answer",
            Self::Json => "Record as JSON",
            Self::Derivation => "Derivation of a value",
            Self::Editor => "Editing a value or a prompt",
            Self::Line => "Typing a line",
            Self::Palette => "Command palette",
            Self::Window => "Help and texts in a window",
            Self::Contents => "Table of contents",
            Self::Fixes => "Suggested fixes",
            Self::Repair => "Repair by a model",
            Self::Drop => "Dropping typed text",
            Self::Compare => "Comparison with the baseline",
            Self::SideBySide => "Two records side by side",
            Self::Dashboard => "Boards",
            Self::Adjudication => "Adjudication",
            Self::Decision => "Labels of a decision",
            Self::Rerun => "Re-run",
            Self::Review => "Reviewing, on every screen with a record",
            Self::Labels => "Choosing labels for a failed item",
            Self::LabelList => "Finding a label",
            Self::Confirm => "Labelling many records",
        }
    }

    /// All, in the order of the help.
    pub const ALL: [Self; 24] = [
        Self::Anywhere,
        Self::Table,
        Self::Run,
        Self::Rerun,
        Self::Answer,
        Self::Json,
        Self::Derivation,
        Self::Contents,
        Self::Editor,
        Self::Fixes,
        Self::Repair,
        Self::Compare,
        Self::SideBySide,
        Self::Dashboard,
        Self::Adjudication,
        Self::Decision,
        Self::Review,
        Self::Labels,
        Self::LabelList,
        Self::Confirm,
        Self::Palette,
        Self::Line,
        Self::Window,
        Self::Drop,
    ];
}

stepscope_base::words! {
    /// What a key can do. Every action has an id, by which it is remapped and called from the palette.
    pub enum Action {
        /// Up one screen; from the first, out.
        Back = "back",
        /// Out.
        Quit = "quit",
        /// The help.
        Help = "help",
        /// The palette of all actions.
        Palette = "palette",
        /// Closes what is open in front.
        Escape = "escape",
        /// One down.
        Down = "down",
        /// One up.
        Up = "up",
        /// To the left, or fold.
        Left = "left",
        /// To the right, or unfold.
        Right = "right",
        /// To the first.
        Top = "top",
        /// To the last.
        Bottom = "bottom",
        /// Half a page down.
        HalfDown = "half_page_down",
        /// Half a page up.
        HalfUp = "half_page_up",
        /// A page down.
        PageDown = "page_down",
        /// A page up.
        PageUp = "page_up",
        /// Opens what the cursor is on.
        Open = "open",
        /// To the next step.
        NextStep = "next_step",
        /// To the step before.
        PreviousStep = "previous_step",
        /// To the next record.
        NextRecord = "next_record",
        /// To the record before.
        PreviousRecord = "previous_record",
        /// To the next pane.
        NextPane = "next_pane",
        /// To the pane before.
        PreviousPane = "previous_pane",
        /// The pane fills the screen, or no longer.
        Maximise = "maximise",
        /// Looks for text, and visits what is found.
        Find = "find",
        /// To the next place found.
        FindNext = "find_next",
        /// To the place found before.
        FindPrevious = "find_previous",
        /// Hides the records that do not fit.
        Filter = "filter",
        /// To the next finding.
        NextFinding = "next_finding",
        /// To the finding before.
        PreviousFinding = "previous_finding",
        /// To the next citation.
        NextCitation = "next_span",
        /// To the citation before.
        PreviousCitation = "previous_span",
        /// The document's table of contents.
        Contents = "contents",
        /// Copies the quote with its lines.
        CopyQuote = "copy_quote",
        /// To the step that writes the variable.
        Writer = "writer",
        /// To the next step that reads the variable.
        Reader = "reader",
        /// What changed between two steps.
        Difference = "difference",
        /// What the verifiers say.
        Rewards = "ladder",
        /// The comparison with the baseline.
        Compare = "matrix",
        /// Beside the baseline's record.
        Baseline = "baseline",
        /// The boards.
        Dashboard = "boards",
        /// The items on which reviewers disagree.
        Adjudication = "disputes",
        /// Decides that the item is right.
        DecidePass = "decide_pass",
        /// Decides that the item is wrong.
        DecideFail = "decide_fail",
        /// Asks the step again.
        Rerun = "rerun",
        /// Asks it and all later ones again.
        RerunFromHere = "rerun_from_here",
        /// Asks it and those that depend on it again.
        RerunStale = "rerun_stale",
        /// Asks it several times.
        RerunSamples = "rerun_samples",
        /// The record as JSON.
        Json = "json",
        /// Folds or unfolds.
        Fold = "fold",
        /// Folds everything.
        FoldAll = "fold_all",
        /// Unfolds everything.
        UnfoldAll = "unfold_all",
        /// Copies the value.
        CopyValue = "copy_value",
        /// Copies the path.
        CopyPath = "copy_path",
        /// Copies the question.
        CopyQuestion = "copy_question",
        /// Copies the step.
        CopyStep = "copy_step",
        /// Copies the record.
        CopyRecord = "copy_record",
        /// Sorts by the next column.
        SortNext = "sort_next",
        /// Sorts by the column before.
        SortPrevious = "sort_previous",
        /// Turns the order round.
        SortReverse = "sort_reverse",
        /// To the next fork of the record.
        NextFork = "next_fork",
        /// To the fork before, or what it comes from.
        PreviousFork = "previous_fork",
        /// It is right, and on to the next.
        Pass = "pass",
        /// It is wrong: labels, then on to the next.
        Fail = "fail",
        /// It comes back at the end.
        Defer = "defer",
        /// It is not judged.
        Skip = "skip",
        /// The first bad step.
        BadStep = "bad_step",
        /// What is thought of the gold answer.
        GoldStatus = "gold_status",
        /// Where to fix it.
        FixTarget = "fix_target",
        /// The right answer.
        Correct = "correct",
        /// A note where the cursor is.
        Note = "note",
        /// Takes back what was said last.
        Undo = "undo",
        /// Says it again.
        Redo = "redo",
        /// To the next record that is not judged.
        NextOpen = "next_open",
        /// Shows what is hidden.
        Reveal = "reveal",
        /// Edits the value or the prompt.
        Edit = "edit",
        /// Takes what was typed.
        TakeEdit = "take_edit",
        /// The text in the user's own editor.
        ExternalEditor = "external_editor",
        /// Takes back all edits.
        DropEdits = "drop_edits",
        /// Keeps what came as a fork.
        Keep = "keep",
        /// Writes it to a file of its own.
        Export = "export",
        /// Executes the procedure exactly.
        Exact = "execute_exactly",
        /// Repairs the procedure without a model.
        Repair = "repair",
        /// What changed between two steps.
        Between = "between_steps",
        /// Saves again what could not be saved.
        SaveAgain = "save_again",
        /// Labels all records of the table.
        LabelAll = "label_all",
        /// Gives or takes a label.
        GiveLabel = "give_label",
        /// Saves that it fails, and on to the next.
        SaveFail = "save_fail",
        /// Finds a label.
        FindLabel = "find_label",
        /// Ends choosing.
        PutAside = "put_aside",
        /// Makes a label of the typed name.
        NewLabel = "new_label",
        /// Renames the label.
        RenameLabel = "rename_label",
        /// Merges the label into another.
        MergeLabel = "merge_label",
        /// Does what was asked.
        Confirm = "confirm",
        /// Drops what was typed.
        DropText = "drop_text",
        /// Begins a review, or ends it.
        Review = "review",
        /// The next theme.
        Theme = "theme",
        /// The mouse on or off.
        Mouse = "mouse",
        /// To the shell, `fg` comes back.
        Suspend = "suspend",
        /// Draws everything anew.
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

const fn bind(
    context: Context,
    keys: &'static [&'static str],
    action: Action,
    hint: &'static str,
    help: &'static str,
) -> Binding {
    Binding { context, keys, action, hint, help }
}

/// Every key, in the order of the help; the first rows of a context with a hint come first in the footer.
pub const BINDINGS: &[Binding] = {
    use Action as A;
    use Context::{
        Adjudication, Answer, Anywhere, Compare, Confirm, Contents, Dashboard, Decision, Derivation, Drop, Editor,
        Fixes, Json, LabelList, Labels, Line, Palette, Repair, Rerun, Review, Run, SideBySide, Table, Window,
    };
    &[
        bind(Table, &["Enter"], A::Open, "open", "open the record"),
        bind(Table, &["f"], A::Filter, "filter", "filter: correct:false rule:unused steps>4 text:apples"),
        bind(Table, &["/"], A::Find, "find", "find text in the records and visit each"),
        bind(Table, &["n"], A::FindNext, "", "next record found"),
        bind(Table, &["N"], A::FindPrevious, "", "record found before"),
        bind(Table, &[">"], A::SortNext, "sort", "sort by the column to the right"),
        bind(Table, &["<"], A::SortPrevious, "", "sort by the column to the left"),
        bind(Table, &["~"], A::SortReverse, "", "turn the order round"),
        bind(Table, &["d"], A::Difference, "", "a fork beside its parent: what changed"),
        bind(Table, &["e"], A::NextFinding, "next finding", "next record with findings"),
        bind(Table, &["E"], A::PreviousFinding, "", "record with findings before"),
        bind(Run, &["]"], A::NextStep, "next step", "next step: the state moves on"),
        bind(Run, &["["], A::PreviousStep, "back", "step before: the state goes back in time"),
        bind(Run, &["e"], A::NextFinding, "next finding", "next finding, and jump to where it stands"),
        bind(Run, &["E"], A::PreviousFinding, "", "finding before"),
        bind(Run, &["w"], A::Writer, "writer", "to the step that writes the variable"),
        bind(Run, &["W"], A::Reader, "reader", "to the next step that reads the variable"),
        bind(
            Run,
            &["d"],
            A::Difference,
            "difference",
            "what changed: a fork against its parent, else between two steps",
        ),
        bind(Run, &["|"], A::Between, "", "what changed between two steps, in a fork too"),
        bind(
            Run,
            &["v"],
            A::Edit,
            "edit",
            "edit the value before the next step, or the step's prompt, and go on from it",
        ),
        bind(
            Run,
            &["s"],
            A::Keep,
            "keep edits",
            "the run with the edited values, as a fork without a model: shown first",
        ),
        bind(Run, &["c e"], A::DropEdits, "", "take back everything that was edited"),
        bind(Run, &["X"], A::Exact, "", "execute exactly: see what the run would be, keep it as a fork"),
        bind(Run, &["F"], A::Repair, "", "fixes of the procedure that need no model, each shown before it is kept"),
        bind(Run, &["r"], A::Rerun, "re-run", "ask this step again: shows first what would be sent, and to whom"),
        bind(Run, &["R"], A::RerunFromHere, "", "ask this step and all later ones again"),
        bind(Run, &["D"], A::RerunStale, "", "ask this step again and those that depend on what it changes"),
        bind(Run, &["^R"], A::RerunSamples, "", "ask this step several times and compare the replies"),
        bind(
            Rerun,
            &["Enter"],
            A::Open,
            "send, choose",
            "on the line that names the server: send; else edit or choose",
        ),
        bind(Rerun, &["v"], A::Edit, "edit prompt", "edit the prompt before it is sent"),
        bind(Rerun, &["s"], A::Keep, "keep", "keep what came as a fork, in FILE.forks.jsonl"),
        bind(Rerun, &["r"], A::Rerun, "again", "ask again: back to what is sent; this step alone"),
        bind(Rerun, &["R"], A::RerunFromHere, "from here", "from here on; of several replies: take this one and go on"),
        bind(Rerun, &["D"], A::RerunStale, "dependents", "this step, and those that depend on what it changes"),
        bind(Rerun, &["^R"], A::RerunSamples, "samples", "this step several times"),
        bind(
            Rerun,
            &["Esc"],
            A::Escape,
            "cancel",
            "break off the call: the connection is closed; else back to the run",
        ),
        bind(Run, &["V"], A::Rewards, "reward", "verifiers: what each stage gave, and where they stopped"),
        bind(Run, &[")"], A::NextFork, "fork", "next fork of this record, then the record itself"),
        bind(Run, &["("], A::PreviousFork, "", "fork before"),
        bind(Run, &["}"], A::NextRecord, "record", "next record"),
        bind(Run, &["{"], A::PreviousRecord, "", "record before"),
        bind(Run, &["Enter"], A::Open, "", "open what the cursor is on: the value, or the finding's place"),
        bind(Run, &["/"], A::Find, "", "find text in this run"),
        bind(Run, &["n"], A::FindNext, "", "next place found"),
        bind(Run, &["N"], A::FindPrevious, "", "place found before"),
        bind(Answer, &["s"], A::NextCitation, "next span", "next citation, its place on screen"),
        bind(Answer, &["S"], A::PreviousCitation, "", "citation before"),
        bind(
            Answer,
            &["Enter"],
            A::Open,
            "cited/found",
            "from the cited place to the found one and back; a check in full",
        ),
        bind(Answer, &["e"], A::NextFinding, "next finding", "next finding, and the citation it is about"),
        bind(Answer, &["E"], A::PreviousFinding, "", "finding before"),
        bind(
            Answer,
            &["r"],
            A::Rerun,
            "re-run",
            "ask for this answer again: shows first what would be sent, and to whom",
        ),
        bind(Answer, &["R", "D", "^R"], A::RerunFromHere, "", "for runs only: a typed answer is one call"),
        bind(Answer, &["c"], A::Contents, "contents", "the document's table of contents"),
        bind(Answer, &["}"], A::NextRecord, "record", "next record"),
        bind(Answer, &["{"], A::PreviousRecord, "", "record before"),
        bind(Answer, &["y q"], A::CopyQuote, "", "copy the quote with its page and lines"),
        bind(Answer, &["/"], A::Find, "find", "find text in the answer and the document"),
        bind(Answer, &["n"], A::FindNext, "", "next place found"),
        bind(Answer, &["N"], A::FindPrevious, "", "place found before"),
        bind(Json, &["Space", "Enter"], A::Fold, "fold", "fold or unfold"),
        bind(Json, &["H"], A::FoldAll, "", "fold everything"),
        bind(Json, &["L"], A::UnfoldAll, "unfold all", "unfold everything"),
        bind(Json, &["e"], A::NextFinding, "next finding", "next finding, and jump to where it stands"),
        bind(Json, &["E"], A::PreviousFinding, "", "finding before"),
        bind(Json, &["V"], A::Rewards, "reward", "verifiers: what each stage gave, and where they stopped"),
        bind(Json, &["}"], A::NextRecord, "record", "next record"),
        bind(Json, &["{"], A::PreviousRecord, "", "record before"),
        bind(Json, &["/"], A::Find, "find", "find text in the record"),
        bind(Json, &["n"], A::FindNext, "", "next place found"),
        bind(Json, &["N"], A::FindPrevious, "", "place found before"),
        bind(
            Derivation,
            &["Enter"],
            A::Open,
            "go there",
            "to the step that writes it, or to the quantity in the question",
        ),
        bind(Derivation, &["Space"], A::Fold, "fold", "fold or unfold what it rests on; h and l too"),
        bind(Derivation, &["H"], A::FoldAll, "", "fold everything"),
        bind(Derivation, &["L"], A::UnfoldAll, "unfold all", "unfold everything"),
        bind(Derivation, &["Esc", "q"], A::Escape, "close", "close"),
        bind(Contents, &["Enter"], A::Open, "go there", "go to the heading"),
        bind(Contents, &["Esc", "q"], A::Escape, "close", "close"),
        bind(Fixes, &["Enter"], A::Open, "preview", "preview the fix, or send the procedure to the named model"),
        bind(Fixes, &["Esc", "q"], A::Escape, "close", "close"),
        bind(Repair, &["Enter"], A::Open, "show changes", "show what the model changed"),
        bind(Repair, &["Esc", "q"], A::Escape, "cancel", "cancel the call; after its end, close"),
        bind(Compare, &["Enter"], A::Open, "the records", "the table with the records behind the number"),
        bind(Editor, &["Enter", "^S"], A::TakeEdit, "take it", "take what was typed; in a text of several lines ^S"),
        bind(Editor, &["^E"], A::ExternalEditor, "$EDITOR", "the text in $VISUAL or $EDITOR"),
        bind(Editor, &["Esc"], A::Escape, "close", "leave it as it was; asks before it drops typed text"),
        bind(SideBySide, &["s"], A::Keep, "keep", "keep what was made as a fork, in FILE.forks.jsonl"),
        bind(SideBySide, &["o"], A::Export, "export", "write the repaired procedure to a new file"),
        bind(SideBySide, &["}"], A::NextRecord, "next record", "next record of the table, beside its own partner"),
        bind(SideBySide, &["{"], A::PreviousRecord, "", "record before"),
        bind(SideBySide, &["d"], A::Difference, "same too", "also what is the same in both, or only what differs"),
        bind(Dashboard, &["Enter"], A::Open, "the records", "the table with the records behind the number"),
        bind(Adjudication, &["a"], A::DecidePass, "pass", "decide that the item is right"),
        bind(
            Adjudication,
            &["x"],
            A::DecideFail,
            "fail",
            "decide that it is wrong; then 1-9 choose labels, Enter saves",
        ),
        bind(Adjudication, &["Enter"], A::Open, "open", "open the record; A comes back"),
        bind(Adjudication, &["Tab"], A::NextPane, "agreement", "how far reviewers agree, in full"),
        bind(
            Decision,
            &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
            A::GiveLabel,
            "… 9 label",
            "give or take the label of this number",
        ),
        bind(Decision, &["Enter"], A::Open, "save", "save the decision with the labels that 1-9 chose"),
        bind(Decision, &["Esc"], A::Escape, "give up", "give the decision up"),
        bind(Anywhere, &["O"], A::Dashboard, "", "boards: where to fix, labels over time, how often rules were right"),
        bind(Anywhere, &["A"], A::Adjudication, "", "adjudication: the items on which reviewers disagree"),
        bind(Anywhere, &["m"], A::Compare, "matrix", "the comparison with the baseline: five cells, each a filter"),
        bind(Anywhere, &["B"], A::Baseline, "baseline", "the record beside the baseline's record of the same item"),
        bind(Anywhere, &[], A::Review, "", "begin a review, or end it: verdict keys act only in between"),
        bind(Review, &["a"], A::Pass, "", "pass, and on to the next"),
        bind(Review, &["x"], A::Fail, "", "fail: choose labels, Enter saves and goes on to the next"),
        bind(Review, &["-"], A::Defer, "", "defer: it comes back at the end"),
        bind(Review, &["_"], A::Skip, "", "skip: it is not to be judged"),
        bind(Review, &["b"], A::BadStep, "", "first bad step; the proposal stands there, Enter confirms it"),
        bind(Review, &["@"], A::FixTarget, "", "where to fix it: step run, procedure, gold; the proposal first"),
        bind(Review, &["!"], A::GoldStatus, "", "the gold answer is suspect, wrong, right after all"),
        bind(Review, &["="], A::Correct, "", "the right answer; it must have the answer's type"),
        bind(Review, &[";"], A::Note, "", "a note on the variable, value or lines under the cursor"),
        bind(Review, &["."], A::NextOpen, "", "to the next record that you did not judge"),
        bind(Review, &["u"], A::Undo, "", "undo the last verdict or note, and go to its record"),
        bind(Review, &["U"], A::Redo, "", "redo"),
        bind(Review, &["*"], A::Reveal, "", "show what is hidden; that you looked is recorded"),
        bind(Table, &["X"], A::LabelAll, "", "label all records of the table, after asking"),
        bind(
            Labels,
            &["1", "2", "3", "4", "5", "6", "7", "8", "9"],
            A::GiveLabel,
            "… 9 label",
            "give or take the label of this number",
        ),
        bind(Labels, &["Enter"], A::SaveFail, "save, next", "save that it fails, and on to the next"),
        bind(
            Labels,
            &["/"],
            A::FindLabel,
            "find label",
            "find a label or make one; there ^N makes, ^R renames, ^G merges",
        ),
        bind(Labels, &["Esc"], A::PutAside, "later", "stop choosing; what was chosen is kept, not saved"),
        bind(LabelList, &["Enter"], A::Open, "choose", "toggle the label; when the list is empty, make it"),
        bind(LabelList, &["^N"], A::NewLabel, "new", "make a label of the typed name"),
        bind(LabelList, &["^R"], A::RenameLabel, "rename", "rename the label"),
        bind(LabelList, &["^G"], A::MergeLabel, "merge", "merge the label into another"),
        bind(LabelList, &["Esc"], A::Escape, "close", "close; asks before it drops typed text"),
        bind(Confirm, &["y", "Y"], A::Confirm, "yes", "label them"),
        bind(Confirm, &["Esc", "n", "q"], A::Escape, "no", "leave them as they are"),
        bind(Palette, &["Enter"], A::Open, "run", "run the action"),
        bind(Palette, &["Esc"], A::Escape, "close", "close"),
        bind(Line, &["Enter"], A::TakeEdit, "apply", "apply"),
        bind(Line, &["Esc"], A::Escape, "close", "close; asks before it drops typed text"),
        bind(Window, &["Esc", "q", "Enter", "?"], A::Escape, "close", "close"),
        bind(Drop, &["y", "Esc", "q"], A::DropText, "drop it", "drop the text; any other key keeps it"),
        bind(Anywhere, &["Tab"], A::NextPane, "pane", "next pane"),
        bind(Anywhere, &["S-Tab"], A::PreviousPane, "", "pane before"),
        bind(Anywhere, &["Z"], A::Maximise, "", "the pane fills the screen, and back"),
        bind(Anywhere, &["J"], A::Json, "json", "the record as JSON, findings marked in it"),
        bind(Anywhere, &["j", "Down"], A::Down, "", "down; a count goes before it, as in 5j"),
        bind(Anywhere, &["k", "Up"], A::Up, "", "up"),
        bind(Anywhere, &["h", "Left"], A::Left, "", "left; fold; tab before"),
        bind(Anywhere, &["l", "Right"], A::Right, "", "right; unfold; next tab"),
        bind(Anywhere, &["g", "Home"], A::Top, "", "to the first"),
        bind(Anywhere, &["G", "End"], A::Bottom, "", "to the last; with a count, to that one"),
        bind(Anywhere, &["^D"], A::HalfDown, "", "half a page down"),
        bind(Anywhere, &["^U"], A::HalfUp, "", "half a page up"),
        bind(Anywhere, &["PgDn", "^F"], A::PageDown, "", "a page down"),
        bind(Anywhere, &["PgUp", "^B"], A::PageUp, "", "a page up"),
        bind(Anywhere, &["y v"], A::CopyValue, "", "copy the value under the cursor"),
        bind(Anywhere, &["y p"], A::CopyPath, "", "copy its path as a JSON pointer"),
        bind(Anywhere, &["y q"], A::CopyQuestion, "", "copy the question"),
        bind(Anywhere, &["y s"], A::CopyStep, "", "copy the step"),
        bind(Anywhere, &["y r"], A::CopyRecord, "", "copy the record"),
        bind(Anywhere, &["^S"], A::SaveAgain, "", "save again what could not be saved"),
        bind(Anywhere, &["t"], A::Theme, "", "next theme"),
        bind(Anywhere, &["M"], A::Mouse, "", "the mouse on or off (off: the terminal's own selection)"),
        bind(Anywhere, &["^L"], A::Redraw, "", "draw everything anew"),
        bind(Anywhere, &["^Z"], A::Suspend, "", "to the shell; fg comes back"),
        bind(Anywhere, &[":", "^P"], A::Palette, "", "palette: every action by name"),
        bind(Anywhere, &["Esc"], A::Escape, "", "close what is in front, drop the filter, up"),
        bind(Anywhere, &["?"], A::Help, "help", "this help"),
        bind(Anywhere, &["q"], A::Back, "back", "back; from the first screen, quit"),
        bind(Anywhere, &["Q", "^C"], A::Quit, "", "quit"),
    ]
};

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
        let _ = write!(out, "**{}**\n\n| keys | action | |\n|---|---|---|\n", context.title());
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
