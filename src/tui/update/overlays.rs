//! What lies over the screen and takes the keys: the palette, a line that is being typed, help and texts to scroll.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use tui_input::{Input as Line, InputRequest};

use super::Effects;
use crate::domain::filter::{Filter, completions};
use crate::domain::text::Shown;
use crate::tui::app::{App, Overlay, Palette, Prompt, Purpose};
use crate::tui::derivation::Origin;
use crate::tui::inspect::Pane;
use crate::tui::keymap::Action;
use crate::tui::list::Move;
use crate::tui::panes;
use crate::tui::review::Ask;

impl App {
    pub(super) fn paste(&mut self, text: &str) {
        let line = match &mut self.overlay {
            Some(Overlay::Prompt(prompt)) => &mut prompt.line,
            Some(Overlay::Palette(palette)) => &mut palette.line,
            Some(Overlay::Review(Ask::Line { line, .. } | Ask::Labels { line, .. })) => line,
            Some(Overlay::Editor(editor)) => {
                editor.insert(text);
                return;
            }
            _ => {
                self.say(Shown::own("pasted text is not a command; press / or f to type"));
                return;
            }
        };
        for c in text.chars().filter(|c| !c.is_control()).take(4_000) {
            line.handle(InputRequest::InsertChar(c));
        }
        if let Some(Overlay::Prompt(prompt)) = &mut self.overlay {
            refresh_prompt(prompt);
        }
    }

    pub(super) fn scroll_overlay(&mut self, rows: isize) {
        let area = self.area();
        let help_lines = panes::help::lines(self);
        match &mut self.overlay {
            Some(Overlay::Help(top)) => {
                let room = usize::from(panes::help::place(area).height.saturating_sub(2));
                *top = top.saturating_add_signed(rows).min(help_lines.saturating_sub(room));
            }
            Some(Overlay::Popup(popup)) => {
                let place = panes::popup::place(popup, area);
                let width = crate::tui::inspect::inner_width(place);
                let lines = crate::tui::prose::wrap(popup.text.as_str(), width).len();
                let room = crate::tui::inspect::inner_height(place);
                popup.top = popup.top.saturating_add_signed(rows).min(lines.saturating_sub(room));
            }
            Some(Overlay::Ladder(top)) => {
                let Some(rewards) = self.inspect.as_ref().and_then(|inspect| inspect.opened.rewards.as_ref()) else {
                    return;
                };
                let room = crate::tui::inspect::inner_height(panes::ladder::place(rewards, area));
                let lines = panes::ladder::lines(rewards, area);
                *top = top.saturating_add_signed(rows).min(lines.saturating_sub(room));
            }
            Some(Overlay::Derivation(tree)) => tree.go(Move::By(rows), panes::derivation::height(tree, area)),
            Some(Overlay::Contents(list)) => {
                let evidence = self.inspect.as_ref().and_then(|inspect| inspect.evidence.as_ref());
                if let Some(document) = evidence.and_then(|evidence| evidence.sheet.document.as_deref()) {
                    list.go(Move::By(rows), document.toc().len(), panes::contents::height(document, area));
                }
            }
            Some(Overlay::Fixes(list, fixes)) => {
                list.go(Move::By(rows), fixes.rows(), panes::fixes::height(fixes, area));
            }
            Some(Overlay::Palette(palette)) => palette.list.at = palette.list.at.saturating_add_signed(rows),
            _ => {}
        }
    }

    pub(super) fn overlay_action(&mut self, action: Action) -> Option<Effects> {
        let page = (isize::try_from(self.size.height).unwrap_or(24) - 6).max(1);
        let times = isize::try_from(self.count.unwrap_or(1)).unwrap_or(1);
        let rows = match action {
            Action::Down => times,
            Action::Up => -times,
            Action::HalfDown => (page / 2).max(1),
            Action::HalfUp => -(page / 2).max(1),
            Action::PageDown => page,
            Action::PageUp => -page,
            Action::Top => isize::MIN / 2,
            Action::Bottom => isize::MAX / 2,
            Action::CopyValue => {
                let text = match &self.overlay {
                    Some(Overlay::Popup(popup)) => popup.text.clone(),
                    Some(Overlay::Derivation(tree)) => tree.text(),
                    _ => return Some(Vec::new()),
                };
                return Some(self.copy(&text, "the text"));
            }
            _ if self.fold_derivation(action) => 0,
            Action::Open if matches!(self.overlay, Some(Overlay::Derivation(_))) => {
                self.follow_derivation();
                return Some(Vec::new());
            }
            Action::Open if matches!(self.overlay, Some(Overlay::Contents(_))) => {
                self.follow_contents();
                return Some(Vec::new());
            }
            Action::Open if matches!(self.overlay, Some(Overlay::Mending(_))) => return Some(self.open_mended()),
            Action::Escape | Action::Back if matches!(self.overlay, Some(Overlay::Mending(_))) => {
                let cancelled = self.cancel_mending();
                if cancelled.is_none() {
                    self.overlay = None;
                }
                return Some(cancelled.unwrap_or_default());
            }
            // A call that runs is not lost by a slip.
            action if matches!(self.overlay, Some(Overlay::Mending(_))) && action != Action::Quit => {
                return Some(Vec::new());
            }
            Action::Open if matches!(self.overlay, Some(Overlay::Fixes(..))) => return Some(self.open_fix()),
            Action::Theme | Action::Mouse | Action::Suspend | Action::Redraw | Action::Quit => return None,
            _ => {
                self.overlay = None;
                return Some(Vec::new());
            }
        };
        self.scroll_overlay(rows);
        Some(Vec::new())
    }

    /// Whether the action folds or unfolds the tree in front.
    fn fold_derivation(&mut self, action: Action) -> bool {
        let Some(Overlay::Derivation(tree)) = &mut self.overlay else { return false };
        match action {
            Action::Left => tree.left(),
            Action::Right => tree.right(),
            Action::Fold => tree.toggle(),
            Action::FoldAll => tree.fold_all(true),
            Action::UnfoldAll => tree.fold_all(false),
            _ => return false,
        }
        true
    }

    /// To what the row under the cursor is about.
    fn follow_derivation(&mut self) {
        let Some(Overlay::Derivation(tree)) = self.overlay.take() else { return };
        let (Some(inspect), Some(origin)) = (&mut self.inspect, tree.origin()) else { return };
        match origin {
            Origin::Written { variable, step } => {
                inspect.focus(Pane::State);
                inspect.go_to_step(step);
                inspect.choose_variable(variable);
            }
            Origin::Quantity(quantity) => {
                inspect.focus(Pane::Question);
                inspect.choose_quantity(quantity);
                self.say_quantity();
            }
        }
    }

    pub(super) fn palette_key(&mut self, mut palette: Palette, event: KeyEvent) -> Effects {
        let rows = self.palette_rows(palette.line.value());
        match event.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                if let Some(binding) = rows.get(palette.list.at) {
                    return self.act(binding.action);
                }
                return Vec::new();
            }
            KeyCode::Down | KeyCode::Tab => palette.list.at = (palette.list.at + 1).min(rows.len().saturating_sub(1)),
            KeyCode::Up | KeyCode::BackTab => palette.list.at = palette.list.at.saturating_sub(1),
            _ => {
                if edit(&mut palette.line, event) {
                    palette.list.at = 0;
                }
            }
        }
        self.overlay = Some(Overlay::Palette(palette));
        Vec::new()
    }

    pub(super) fn prompt_key(&mut self, mut prompt: Prompt, event: KeyEvent) -> Effects {
        match event.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => {
                let typed = prompt.line.value().to_owned();
                if prompt.purpose == Purpose::Filter {
                    prompt.error = Filter::parse(&typed).err();
                }
                if prompt.error.is_some() {
                    self.overlay = Some(Overlay::Prompt(prompt));
                    return Vec::new();
                }
                return match prompt.purpose {
                    Purpose::Filter => self.set_filter(&typed),
                    Purpose::Find => self.find(&typed),
                    Purpose::Field(field) => match self.set_field(field, &typed) {
                        Ok(effects) => effects,
                        Err(why) => {
                            self.fail(why);
                            self.overlay = Some(Overlay::Prompt(prompt));
                            Vec::new()
                        }
                    },
                    Purpose::Export => self.export(&typed),
                };
            }
            KeyCode::Tab | KeyCode::Down if !prompt.completions.is_empty() => choose(&mut prompt, 1),
            KeyCode::BackTab | KeyCode::Up if !prompt.completions.is_empty() => choose(&mut prompt, -1),
            _ => {
                if edit(&mut prompt.line, event) {
                    prompt.chosen = None;
                    refresh_prompt(&mut prompt);
                }
            }
        }
        self.overlay = Some(Overlay::Prompt(prompt));
        Vec::new()
    }

    pub(super) fn open_prompt(&mut self, purpose: Purpose, text: String) {
        let mut prompt = Prompt { purpose, line: Line::new(text), error: None, completions: Vec::new(), chosen: None };
        refresh_prompt(&mut prompt);
        self.overlay = Some(Overlay::Prompt(prompt));
    }
}

fn refresh_prompt(prompt: &mut Prompt) {
    if prompt.purpose != Purpose::Filter {
        return;
    }
    let typed = prompt.line.value();
    prompt.error = Filter::parse(typed).err();
    let cursor = typed.char_indices().nth(prompt.line.cursor()).map_or(typed.len(), |(at, _)| at);
    prompt.completions = completions(typed, cursor).1;
    // While a word is being typed it need not be whole.
    if !prompt.completions.is_empty() {
        prompt.error = None;
    }
}

fn choose(prompt: &mut Prompt, by: isize) {
    let count = prompt.completions.len() as isize;
    let next = match prompt.chosen {
        None if by > 0 => 0,
        None => count - 1,
        Some(at) => (at as isize + by).rem_euclid(count),
    };
    let typed = prompt.line.value().to_owned();
    let cursor = typed.char_indices().nth(prompt.line.cursor()).map_or(typed.len(), |(at, _)| at);
    let start = typed.get(..cursor).and_then(|before| before.rfind(char::is_whitespace)).map_or(0, |at| at + 1);
    let Some(completion) = prompt.completions.get(next as usize) else { return };
    let (head, tail) = (typed.get(..start).unwrap_or_default(), typed.get(cursor..).unwrap_or_default());
    let text = format!("{head}{}{tail}", completion.word);
    let place = head.chars().count() + completion.word.chars().count();
    prompt.line = Line::new(text).with_cursor(place);
    prompt.chosen = Some(next as usize);
    if count == 1 {
        prompt.chosen = None;
        refresh_prompt(prompt);
    }
}

/// Edits a line as shells do; `false`: the key means nothing there.
pub(super) fn edit(line: &mut Line, event: KeyEvent) -> bool {
    let control = event.modifiers.contains(KeyModifiers::CONTROL);
    let request = match event.code {
        KeyCode::Char('a') if control => InputRequest::GoToStart,
        KeyCode::Char('e') if control => InputRequest::GoToEnd,
        KeyCode::Char('w') if control => InputRequest::DeletePrevWord,
        KeyCode::Char('u') if control => InputRequest::DeleteLine,
        KeyCode::Char('k') if control => InputRequest::DeleteTillEnd,
        KeyCode::Char('h') if control => InputRequest::DeletePrevChar,
        KeyCode::Char(c) if !control => InputRequest::InsertChar(c),
        KeyCode::Backspace => InputRequest::DeletePrevChar,
        KeyCode::Delete => InputRequest::DeleteNextChar,
        KeyCode::Left if control => InputRequest::GoToPrevWord,
        KeyCode::Right if control => InputRequest::GoToNextWord,
        KeyCode::Left => InputRequest::GoToPrevChar,
        KeyCode::Right => InputRequest::GoToNextChar,
        KeyCode::Home => InputRequest::GoToStart,
        KeyCode::End => InputRequest::GoToEnd,
        _ => return false,
    };
    line.handle(request);
    true
}
