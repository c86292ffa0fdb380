//! A text that is being typed in a window: a value, or a prompt.

pub(crate) mod draw;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::widgets::line::one_line;
use stepscope_base::text::{Shown, Untrusted, columns};

/// Length in bytes of the longest text that is edited here.
pub const MAX_TEXT: usize = 1 << 20;
/// A value that is longer, or has several lines, is edited in a large window.
const LONG: usize = 60;

/// Subject of the text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EditTarget {
    /// A variable's value before a step.
    Value {
        /// The variable, by its place in the state.
        variable: usize,
        /// Name of the variable.
        name: Untrusted<'static>,
        /// The step, by position.
        step: usize,
        /// The text is the value itself, not its JSON.
        plain: bool,
    },
    /// The prompt of a step, by position.
    Prompt(usize),
    /// A value of a run that is being made.
    LiveValue {
        /// Name of the variable.
        name: Untrusted<'static>,
        /// The text is the value itself, not its JSON.
        plain: bool,
    },
    /// The prompt that a run that is being made sends next.
    LivePrompt,
    /// The question of a new run.
    Question,
}

impl EditTarget {
    /// Returns the words before what stands there without the person's text.
    pub(crate) const fn before(&self) -> &'static str {
        match self {
            Self::Value { .. } | Self::Prompt(_) => "recorded  ",
            Self::LiveValue { .. } | Self::LivePrompt => "now  ",
            Self::Question => "",
        }
    }
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Editor {
    /// Subject of the text.
    pub target: EditTarget,
    /// The heading.
    pub title: Shown,
    /// Value or prompt without the person's text, or what becomes of the text.
    pub recorded: Shown,
    /// Several lines: `Enter` breaks them.
    pub is_large: bool,
    /// Message about what was typed.
    pub said: Option<Shown>,
    /// True if it is no JSON, and it was said that it would be taken as a text.
    pub offered: bool,
    from: String,
    lines: Vec<String>,
    /// Line of the cursor, and the character that it is before.
    cursor: (usize, usize),
    top: usize,
}

impl Editor {
    /// Opens an editor with a text in it, the cursor at its end.
    pub fn new(target: EditTarget, title: Shown, recorded: Shown, text: &str) -> Self {
        let plain =
            !matches!(target, EditTarget::Value { plain: false, .. } | EditTarget::LiveValue { plain: false, .. });
        let is_large = plain || text.contains('\n') || text.len() > LONG;
        let mut editor = Self {
            target,
            title,
            recorded,
            is_large,
            said: None,
            offered: false,
            from: String::new(),
            lines: Vec::new(),
            cursor: (0, 0),
            top: 0,
        };
        editor.set(text);
        editor.from = editor.text();
        if !editor.is_large {
            editor.go_to_end();
        }
        editor
    }

    /// The text.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }

    /// Tells whether the text differs from the one at the beginning.
    pub fn is_changed(&self) -> bool {
        self.text() != self.from
    }

    /// Another text in its place.
    pub fn set(&mut self, text: &str) {
        self.lines = text.split('\n').map(|line| line.trim_end_matches('\r').to_owned()).collect();
        self.cursor = (0, 0);
        self.top = 0;
        self.is_large |= self.lines.len() > 1;
        self.changed();
    }

    fn changed(&mut self) {
        (self.said, self.offered) = (None, false);
    }

    /// The lines as they are shown, from `top`, and the cursor's line and column in them.
    pub fn window(&self, width: usize, height: usize) -> (Vec<String>, (usize, usize)) {
        let (row, _) = self.cursor;
        let before = Shown::line(self.before().as_bytes()).into_string();
        let column = columns(&before);
        // All lines are moved to the left as one.
        let left = column.saturating_sub(width.saturating_sub(1));
        let lines = self.lines.iter().skip(self.top).take(height).map(|line| {
            let shown = Shown::line(line.as_bytes()).into_string();
            from_column(&shown, left)
        });
        (lines.collect(), (row.saturating_sub(self.top), column - left))
    }

    /// Counts the lines, and gives the first on screen.
    pub fn lines(&self) -> (usize, usize) {
        (self.lines.len(), self.top)
    }

    /// Keeps the cursor on screen.
    pub fn settle(&mut self, height: usize) {
        let lowest = (self.cursor.0 + 1).saturating_sub(height.max(1));
        self.top = self.top.clamp(lowest, self.cursor.0);
    }

    fn line(&self) -> &str {
        self.lines.get(self.cursor.0).map_or("", String::as_str)
    }

    /// Cuts out the text before the cursor in its line.
    fn before(&self) -> &str {
        self.line().get(..self.byte()).unwrap_or_default()
    }

    /// The cursor's place in its line, in bytes.
    fn byte(&self) -> usize {
        let line = self.line();
        line.char_indices().nth(self.cursor.1).map_or(line.len(), |(at, _)| at)
    }

    fn len(&self) -> usize {
        self.line().chars().count()
    }

    fn go_to_end(&mut self) {
        self.cursor.0 = self.lines.len().saturating_sub(1);
        self.cursor.1 = self.len();
    }

    /// Does what a key means in a text; `false`: nothing.
    pub fn key(&mut self, event: KeyEvent) -> bool {
        let control = event.modifiers.contains(KeyModifiers::CONTROL);
        match event.code {
            KeyCode::Char('u') if control => self.cut(0, self.byte()),
            KeyCode::Char('k') if control => self.cut(self.byte(), usize::MAX),
            KeyCode::Char('w') if control => {
                let kept = self.before().trim_end().trim_end_matches(|c: char| !c.is_whitespace()).len();
                self.cut(kept, self.byte());
            }
            KeyCode::Char('a') if control => self.cursor.1 = 0,
            KeyCode::Char(c) if !control => self.insert(&c.to_string()),
            KeyCode::Enter => self.insert("\n"),
            KeyCode::Backspace => self.backspace(),
            KeyCode::Delete => {
                if self.step_by(1) {
                    self.backspace();
                }
            }
            KeyCode::Left => drop(self.step_by(-1)),
            KeyCode::Right => drop(self.step_by(1)),
            KeyCode::Up => self.lines_by(-1),
            KeyCode::Down => self.lines_by(1),
            KeyCode::PageUp => self.lines_by(-10),
            KeyCode::PageDown => self.lines_by(10),
            KeyCode::Home => self.cursor.1 = 0,
            KeyCode::End => self.cursor.1 = self.len(),
            _ => return false,
        }
        true
    }

    /// Puts in a text; line breaks only in a large window.
    pub fn insert(&mut self, text: &str) {
        self.changed();
        let size: usize = self.lines.iter().map(|line| line.len() + 1).sum();
        if size + text.len() > MAX_TEXT {
            self.said = Some(Shown::own("this text is too long to edit here"));
            return;
        }
        let keeps = |c: &char| !c.is_control() || matches!(c, '\t' | '\n');
        let text: String = if self.is_large { text.chars().filter(keeps).collect() } else { one_line(text) };
        let (at, row) = (self.byte(), self.cursor.0);
        let Some(line) = self.lines.get_mut(row) else { return };
        let rest = line.split_off(at);
        let mut parts = text.split('\n');
        let first = parts.next().unwrap_or_default();
        line.push_str(first);
        let column = self.cursor.1 + first.chars().count();
        let mut more: Vec<String> = parts.map(ToOwned::to_owned).collect();
        self.cursor = more.last().map_or((row, column), |last| (row + more.len(), last.chars().count()));
        more.last_mut().unwrap_or(line).push_str(&rest);
        let below = row + 1;
        self.lines.splice(below..below, more);
    }

    fn cut(&mut self, from: usize, to: usize) {
        self.changed();
        if let Some(line) = self.lines.get_mut(self.cursor.0) {
            let to = to.min(line.len());
            if from <= to && line.is_char_boundary(from) && line.is_char_boundary(to) {
                self.cursor.1 = line.get(..from).map_or(0, |head| head.chars().count());
                line.replace_range(from..to, "");
            }
        }
    }

    fn backspace(&mut self) {
        self.changed();
        if self.cursor.1 > 0 {
            let end = self.byte();
            self.cursor.1 -= 1;
            let start = self.byte();
            if let Some(line) = self.lines.get_mut(self.cursor.0) {
                line.replace_range(start..end, "");
            }
        } else if self.cursor.0 > 0 {
            let rest = self.lines.remove(self.cursor.0);
            self.cursor.0 -= 1;
            self.cursor.1 = self.len();
            if let Some(line) = self.lines.get_mut(self.cursor.0) {
                line.push_str(&rest);
            }
        }
    }

    /// Moves the cursor one character on or back; `false`: there is none.
    fn step_by(&mut self, by: isize) -> bool {
        let before = self.cursor;
        if by > 0 && self.cursor.1 < self.len() {
            self.cursor.1 += 1;
        } else if by > 0 && self.cursor.0 + 1 < self.lines.len() {
            self.cursor = (self.cursor.0 + 1, 0);
        } else if by < 0 && self.cursor.1 > 0 {
            self.cursor.1 -= 1;
        } else if by < 0 && self.cursor.0 > 0 {
            self.cursor.0 -= 1;
            self.cursor.1 = self.len();
        }
        self.cursor != before
    }

    fn lines_by(&mut self, by: isize) {
        self.cursor.0 = self.cursor.0.saturating_add_signed(by).min(self.lines.len().saturating_sub(1));
        self.cursor.1 = self.cursor.1.min(self.len());
    }
}

/// A text from a column on.
fn from_column(text: &str, left: usize) -> String {
    let mut passed = 0;
    let start = text.char_indices().find(|(_, c)| {
        let there = passed >= left;
        passed += unicode_width::UnicodeWidthChar::width(*c).unwrap_or(0);
        there
    });
    start.and_then(|(at, _)| text.get(at..)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn editor(plain: bool, text: &str) -> Editor {
        let target = EditTarget::Value { variable: 0, name: "a".into(), step: 0, plain };
        Editor::new(target, Shown::default(), Shown::default(), text)
    }

    fn press(editor: &mut Editor, keys: &[KeyCode]) {
        for key in keys {
            editor.key(KeyEvent::new(*key, KeyModifiers::NONE));
        }
    }

    #[test]
    fn a_line_and_a_text_are_edited() {
        use KeyCode::{Backspace, Char, Delete, Down, End, Enter, Home, Left, Right, Up};
        let mut one = editor(false, "12");
        assert!(!one.is_large);
        press(&mut one, &[Char('é'), Left, Left, Delete, Char('x'), Home, Char('-'), Enter]);
        assert_eq!(one.text(), "-1xé");
        let mut text = editor(true, "ab\ncd");
        press(&mut text, &[Right, Enter, Down, End, Char('!'), Home, Backspace, Up, Char('^')]);
        assert_eq!(text.text(), "a^\nbcd!");
        let control = |c| KeyEvent::new(Char(c), KeyModifiers::CONTROL);
        text.key(control('u'));
        assert_eq!(text.text(), "\nbcd!");
        text.insert("two words");
        text.key(control('w'));
        assert_eq!(text.text(), "two \nbcd!");
    }

    #[test]
    fn hidden_signs_are_shown_and_the_cursor_stands_where_it_is_seen() {
        let mut one = editor(false, "a\u{202e}b");
        let (lines, cursor) = one.window(40, 1);
        assert_eq!((lines, cursor), (vec!["a⟨U+202E⟩b".to_owned()], (0, 10)));
        press(&mut one, &[KeyCode::Left]);
        assert_eq!(one.window(5, 1), (vec!["02E⟩b".to_owned()], (0, 4)));
        assert_eq!(one.text(), "a\u{202e}b");
    }
}
