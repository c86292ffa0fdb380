//! Signal of a record, all that the program says of it without a person in one word: records of one signal are about as often right.

use stepscope_judge::route::Route;
use stepscope_judge::row::RowFacts;
use stepscope_judge::triage::Fix;
use stepscope_record::RecordKind;

stepscope_base::words! {
    /// Judgment of the program on a record, without a person, from mostly wrong to mostly right.
    pub(crate) enum Signal {
        /// It ended in an error, or cannot be read.
        Failed = "failed",
        /// Its answer is not the expected one.
        Wrong = "wrong",
        /// No other run of its question gives its answer, and a place to fix is named.
        Against = "against",
        /// No other run of its question gives its answer.
        NoPeer = "no_peer",
        /// A place to fix is named, or a structured answer is not to be used.
        Accused = "accused",
        /// Less than a third of the other runs give its answer.
        FewPeers = "few_peers",
        /// The model says that it is not sure.
        Unsure = "unsure",
        /// From a third to two thirds of the other runs give its answer.
        HalfOfPeers = "half_of_peers",
        /// Nothing speaks for it or against it.
        Quiet = "quiet",
        /// Two thirds of the other runs give its answer, or more.
        MostPeers = "most_peers",
        /// Its answer is the expected one.
        Right = "right",
        /// All other runs give its answer.
        AllPeers = "all_peers",
    }
}

impl Signal {
    /// Reads the signal of a record that the rules looked at.
    pub(crate) fn of(row: &RowFacts) -> Self {
        let is_accused = matches!(row.fix(), Some(Fix::StepRun | Fix::Procedure | Fix::Gold));
        if matches!(row.kind(), RecordKind::Error | RecordKind::Broken) {
            return Self::Failed;
        }
        match row.correct() {
            Some(true) => return Self::Right,
            Some(false) => return Self::Wrong,
            None => {}
        }
        if let Some([agree, of]) = row.peers() {
            let (agree, of) = (u16::from(agree), u16::from(of));
            return match 3 * agree {
                0 if is_accused => Self::Against,
                0 => Self::NoPeer,
                _ if agree == of => Self::AllPeers,
                // A place is named in spite of the few that give its answer.
                few if few < of => {
                    if is_accused {
                        Self::Against
                    } else {
                        Self::FewPeers
                    }
                }
                half if half < 2 * of => Self::HalfOfPeers,
                _ => Self::MostPeers,
            };
        }
        let is_to_be_used = row.typed().is_none_or(|typed| typed.route.is_none_or(|route| route == Route::Ship));
        match row.confidence {
            _ if is_accused || !is_to_be_used => Self::Accused,
            unsure if unsure < 0.7 => Self::Unsure,
            _ => Self::Quiet,
        }
    }

    /// The share of such records that usually pass.
    pub(crate) const fn guess(self) -> f64 {
        match self {
            Self::Failed | Self::Wrong => 0.05,
            Self::Against => 0.08,
            Self::NoPeer | Self::Accused => 0.25,
            Self::FewPeers | Self::Unsure => 0.5,
            Self::HalfOfPeers | Self::Quiet => 0.75,
            Self::MostPeers => 0.92,
            Self::Right => 0.95,
            Self::AllPeers => 0.97,
        }
    }

    /// Tells whether such records may well be either: there a verdict tells most. A run that no other confirms is one of
    /// them, because of a strong model's runs many are right.
    pub(crate) const fn is_doubtful(self) -> bool {
        !matches!(self, Self::Failed | Self::Wrong | Self::MostPeers | Self::Right | Self::AllPeers)
    }
}
