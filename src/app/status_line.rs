//! Status line: the answer to the last key, and the earlier ones of this session.

use std::collections::VecDeque;

use crate::app::msg::{Effect, Effects};
use crate::widgets::keymap::{Action, Key, Keymap, Reason};
use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_terminal::run::COPY_LIMIT;

/// Messages that are kept.
const MAX_MESSAGES: usize = 200;

/// The line that answers a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Status {
    /// The sentence.
    pub text: Shown,
    /// True if it is about something that did not work.
    pub failed: bool,
    /// True if it says why a key could not do anything.
    pub refused: bool,
}

impl Status {
    /// Greets whoever opens the program for the first time; any other sentence may take its place.
    pub fn greeting() -> Self {
        let text = Shown::own("New here? :tour shows in three minutes what this is for");
        Self { text, failed: false, refused: false }
    }
}

/// The status line. What says something and does nothing more returns no effects.
#[derive(Debug, Default)]
pub struct StatusLine {
    /// Sentence that it says now.
    pub now: Option<Status>,
    earlier: VecDeque<Shown>,
    last: Option<(Shown, bool)>,
}

impl StatusLine {
    /// Says something.
    pub(crate) fn say(&mut self, text: Shown) -> Effects {
        self.now = Some(Status { text, failed: false, refused: false });
        Vec::new()
    }

    /// Says why what was asked for cannot be done; keys are named as they are in force.
    pub(crate) fn refuse(&mut self, keymap: &Keymap, why: Reason) -> Effects {
        self.now = Some(Status { text: keymap.shown(why), failed: false, refused: true });
        Vec::new()
    }

    /// Says what did not work.
    pub(crate) fn fail(&mut self, text: Shown) -> Effects {
        self.now = Some(Status { text, failed: true, refused: false });
        Vec::new()
    }

    /// Says that keys mean nothing here; a key without a name is left alone.
    pub(crate) fn say_unbound(&mut self, keymap: &Keymap, typed: &[Key]) -> Effects {
        let names: Vec<String> = typed.iter().map(|key| key.name()).filter(|name| !name.is_empty()).collect();
        if !names.is_empty() {
            let text = shown!("{} does nothing here; {} lists the keys", names.join(" "), keymap.key_of(Action::Help));
            self.now = Some(Status { text, failed: false, refused: true });
        }
        Vec::new()
    }

    /// Copies a text, and says so.
    pub(crate) fn copy(&mut self, text: &Shown, what: &'static str) -> Effects {
        let length = text.as_str().len();
        if length > COPY_LIMIT {
            return self
                .fail(shown!("{what} is too long for the terminal's clipboard ({length} bytes); use stepscope show"));
        }
        self.say(shown!("Sent to the terminal's clipboard: {what}, {length} bytes"));
        vec![Effect::Copy(text.as_str().to_owned())]
    }

    /// Copies a text, or says that there is none.
    pub(crate) fn copy_if_any(&mut self, text: Option<Shown>, what: &'static str) -> Effects {
        match text.filter(|text| !text.as_str().is_empty()) {
            Some(text) => self.copy(&text, what),
            None => self.fail(Shown::own("nothing to copy here")),
        }
    }

    /// Keeps what it says now; what it goes on saying counts once.
    pub(crate) fn keep(&mut self) {
        let said = self.now.as_ref().filter(|status| **status != Status::greeting());
        let said = said.map(|status| (status.text.clone(), status.failed));
        if self.last == said {
            return;
        }
        if let Some((text, failed)) = &said {
            self.earlier.push_front(if *failed { shown!("{} {text}", sign::FAILED) } else { text.clone() });
            self.earlier.truncate(MAX_MESSAGES);
        }
        self.last = said;
    }

    /// Lists what was kept, the newest first.
    pub(crate) fn earlier(&self) -> Shown {
        let lines: Vec<&str> = self.earlier.iter().map(Shown::as_str).collect();
        if lines.is_empty() { Shown::own("No messages yet") } else { shown!("{}", lines.join("\n")) }
    }
}
