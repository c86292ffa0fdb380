//! Peer of a run: another run of the same question, as far as others are compared with it.

use self::track::Track;
use stepscope_base::text::Shown;
use stepscope_record::hash_of;

pub(crate) mod opinion;
pub(crate) mod track;

/// Voice of a run against which nothing speaks.
pub(crate) const VOICE: u32 = 4;

/// Another run of the same question.
#[derive(Clone, Debug)]
pub struct Peer {
    /// Its source and line, for people.
    pub name: Shown,
    /// Number of who made it: the same for runs of one model, else for those of one source.
    pub(crate) maker: u64,
    /// Number of its text: the record itself is no peer.
    pub(crate) content: u64,
    /// Values that it worked out.
    pub(crate) track: Track,
    /// Weight of its word.
    pub(crate) soundness: Soundness,
}

impl Peer {
    /// The same run under another name.
    #[must_use]
    pub fn called(&self, name: Shown) -> Self {
        Self { name, ..self.clone() }
    }

    /// Tells whether it is the record with this text.
    pub fn is(&self, text: &[u8]) -> bool {
        self.content == hash_of(text)
    }
}

/// Weight of the word of a run, as far as the run itself tells.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Soundness {
    /// It contradicts itself, gives up, has no answer, or is known to be wrong: it says nothing about others.
    Unsound,
    /// It leaves out a number of the question.
    Doubtful,
    /// Nothing speaks against it.
    Sound,
}

impl Soundness {
    /// Counts its voice, in parts of [`VOICE`].
    pub(crate) const fn voice(self) -> u32 {
        match self {
            Self::Unsound => 0,
            Self::Doubtful => VOICE / 2,
            Self::Sound => VOICE,
        }
    }
}
