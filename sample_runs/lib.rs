//! The sample runs and answers, part of the program: what opens where nothing was named.

/// One file of samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sample {
    /// Its name in the folder `sample_runs`.
    pub name: &'static str,
    /// Its bytes.
    pub bytes: &'static [u8],
    /// The documents that its records name, by their names.
    pub documents: &'static [(&'static str, &'static [u8])],
}

/// Recorded replies of a real small model to the steps of the sample runs, asked again: see
/// `stepscope_io::model::cassette::Tape::packed`. For machines without a model, and always marked as a replay.
pub const CASSETTE: &[u8] = include_bytes!("cassette.jsonl.zst");

/// The name of the sample that is the baseline of the first.
pub const SAMPLE_BASELINE: &str = "baseline.jsonl";

/// The samples, in the order in which they open.
pub const SAMPLES: &[Sample] = &[
    Sample { name: "word_problems.jsonl", bytes: include_bytes!("word_problems.jsonl"), documents: &[] },
    Sample { name: "by_hand.jsonl", bytes: include_bytes!("by_hand.jsonl"), documents: &[] },
    Sample { name: SAMPLE_BASELINE, bytes: include_bytes!("baseline.jsonl"), documents: &[] },
    Sample {
        name: "policy.jsonl",
        bytes: include_bytes!("policy.jsonl"),
        documents: &[("policy.document.json", include_bytes!("policy.document.json"))],
    },
    Sample {
        name: "notice.jsonl",
        bytes: include_bytes!("notice.jsonl"),
        documents: &[("notice.document.json", include_bytes!("notice.document.json"))],
    },
];

/// The tour over the sample runs, as TOML.
pub const TOUR: &str = include_str!("tour.toml");
