//! Where a fork comes from, as its record says under `trace.fork`.

use stepscope_base::json::{Kind, Value};
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};

/// No hostile list is read further than this.
const MAX_ITEMS: usize = 4096;
/// Maximum number of names in a sentence.
const MAX_NAMED: usize = 3;

stepscope_base::words! {
    /// Way in which a fork was made.
    #[derive(Default)]
    pub enum How {
        /// Steps were asked again.
        #[default]
        Rerun = "rerun",
        /// A step was asked several times, and the most frequent values were taken.
        Consensus = "consensus",
        /// Values were edited, and nothing was asked.
        Edit = "edit",
        /// The procedure was executed exactly, without a model.
        Exact = "exact",
        /// The procedure was repaired; the run is as it was.
        Repair = "repair",
    }
}

/// Origin of a fork, as its record gives it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ForkOrigin {
    /// The parent's id as text, if it has one.
    pub parent: Option<Untrusted<'static>>,
    /// SHA-256 of the parent's text, in hex.
    pub parent_sha256: String,
    /// Length of that text in bytes, where it is given.
    pub parent_bytes: Option<u64>,
    /// Way in which the fork was made, if that is known.
    pub how: Option<How>,
    /// The step at which it left its parent, by position.
    pub step: usize,
    /// Variables that were edited before that step.
    pub edited: Vec<Untrusted<'static>>,
    /// Steps that were asked again, by position.
    pub asked: Vec<usize>,
    /// Steps whose prompt was edited, by position.
    pub prompts: Vec<usize>,
    /// Steps whose values rest on what is no longer so, by position.
    pub stale: Vec<usize>,
    /// The model that was asked.
    pub model: Option<Untrusted<'static>>,
    /// The kind of server.
    pub backend: Option<Untrusted<'static>>,
}

/// Finds the part of a trace that says where its record comes from; `None`: that is no fork.
pub(crate) fn fork_of(trace: Value<'_>) -> Option<Value<'_>> {
    trace.get("fork").filter(|fork| fork.kind() == Kind::Object)
}

/// Tells whether a record is a fork.
pub fn is_fork(root: Value<'_>) -> bool {
    root.get("trace").and_then(fork_of).is_some()
}

/// Lists the steps of a fork, by position, whose values rest on what is no longer so: nobody asked them again.
pub(crate) fn stale_of(fork: Value<'_>) -> Vec<usize> {
    steps_of(fork, "stale")
}

fn steps_of(fork: Value<'_>, key: &str) -> Vec<usize> {
    let list = fork.get(key).map(Value::items).into_iter().flatten();
    list.take(MAX_ITEMS).filter_map(Value::whole::<u64>).map(|step| step as usize).collect()
}

impl ForkOrigin {
    /// Reads the origin from a record; `None`: it is no fork.
    pub fn of(root: Value<'_>) -> Option<Self> {
        let fork = fork_of(root.get("trace")?)?;
        let text = |key: &str| fork.get(key)?.string().map(Untrusted::into_owned);
        let edited = fork.get("edited").map(Value::items).into_iter().flatten().take(MAX_ITEMS);
        let parent = fork.get("parent").filter(|parent| !parent.is_null());
        Some(Self {
            parent: parent.map(|id| match id.string() {
                Some(text) if id.kind() == Kind::String => text.into_owned(),
                _ => Untrusted::new(id.raw()).into_owned(),
            }),
            parent_sha256: text("parent_sha256").and_then(|hash| Some(hash.utf8()?.to_owned())).unwrap_or_default(),
            parent_bytes: fork.get("parent_bytes").and_then(Value::whole),
            how: text("how").and_then(|word| How::from_word(word.utf8()?)),
            step: fork.get("step_index").and_then(Value::whole::<u64>).unwrap_or_default() as usize,
            edited: edited.filter_map(|edit| Some(edit.get("variable")?.string()?.into_owned())).collect(),
            asked: steps_of(fork, "asked"),
            prompts: steps_of(fork, "prompts_edited"),
            stale: stale_of(fork),
            model: text("model"),
            backend: text("backend"),
        })
    }

    /// Describes what was done, in a few words.
    pub fn phrase(&self) -> Shown {
        let step = self.step.saturating_add(1);
        let what = match self.how {
            Some(How::Exact) => shown!("recomputed from step {step}"),
            Some(How::Repair) => Shown::own("procedure repaired"),
            Some(How::Consensus) => shown!("majority values of step {step}"),
            Some(How::Edit) => return shown!("{} overridden before step {step}", self.names()),
            // A structured answer is one call, and has no steps.
            Some(How::Rerun) if self.asked.is_empty() => Shown::own("re-run"),
            Some(How::Rerun) if self.asked.len() > 1 => shown!("re-run from step {step}"),
            Some(How::Rerun) => shown!("step {step} re-run"),
            None => shown!("changed at step {step}"),
        };
        let edits = if self.edited.is_empty() { Shown::default() } else { shown!(", {} edited", self.names()) };
        let prompt = if self.prompts.is_empty() { "" } else { ", prompt edited" };
        shown!("{what}{edits}{prompt}")
    }

    fn names(&self) -> Shown {
        if self.edited.is_empty() {
            return Shown::own("nothing");
        }
        Shown::listed(self.edited.iter().map(Untrusted::line), MAX_NAMED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    fn read(text: &str) -> Option<ForkOrigin> {
        ForkOrigin::of(Tape::default().parse(text.as_bytes())?)
    }

    #[test]
    fn a_fork_says_where_it_comes_from() {
        let fork = |rest: &str| {
            let text =
                format!(r#"{{"trace": {{"fork": {{"parent": 7, "parent_sha256": "ab", "step_index": 2{rest}}}}}}}"#);
            read(&text).unwrap()
        };
        let said = |rest: &str| fork(rest).phrase().into_string();
        assert_eq!(fork("").parent.unwrap().utf8(), Some("7"));
        assert_eq!(said(r#", "how": "rerun", "asked": [2]"#), "step 3 re-run");
        assert_eq!(
            said(r#", "how": "rerun", "asked": [2, 3], "prompts_edited": [2]"#),
            "re-run from step 3, prompt edited"
        );
        assert_eq!(said(r#", "how": "rerun""#), "re-run");
        assert_eq!(said(r#", "how": "exact""#), "recomputed from step 3");
        assert_eq!(said(r#", "how": "edit", "edited": [{"variable": "a\u001b"}]"#), "a␛ overridden before step 3");
        assert_eq!(said(r#", "how": "?""#), "changed at step 3");
    }

    #[test]
    fn what_is_no_fork_says_nothing() {
        for text in ["{}", r#"{"trace": []}"#, r#"{"trace": {"fork": null}}"#, "7"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
