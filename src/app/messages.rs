//! Messages of the status line in this session: they can be read after the next one.

use std::collections::VecDeque;

use crate::widgets::sign;
use stepscope_base::shown;
use stepscope_base::text::Shown;

/// Messages that are kept.
const MAX_MESSAGES: usize = 200;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    all: VecDeque<Shown>,
    last: Option<(Shown, bool)>,
}

impl Messages {
    /// Takes in what the status line says now, and whether that is a failure; what it goes on saying counts once.
    pub(crate) fn hear(&mut self, said: Option<(&Shown, bool)>) {
        if self.last.as_ref().map(|(text, failed)| (text, *failed)) == said {
            return;
        }
        self.last = said.map(|(text, failed)| (text.clone(), failed));
        if let Some((text, failed)) = said {
            self.all.push_front(if failed { shown!("{} {text}", sign::FAILED) } else { text.clone() });
            self.all.truncate(MAX_MESSAGES);
        }
    }

    /// Lists them, the newest first.
    pub(crate) fn text(&self) -> Shown {
        let lines: Vec<&str> = self.all.iter().map(Shown::as_str).collect();
        if lines.is_empty() { Shown::own("No messages yet") } else { shown!("{}", lines.join("\n")) }
    }
}
