//! Options of the program without a command: what the screen opens, and how.

use std::path::PathBuf;

use crate::cli::ask::ModelFlags;
use crate::cli::options::{AnswerArgs, assignment, hidden};
use crate::cli::review::logs::Who;
use crate::cli::values::existing_folder;
use crate::cli::verify::Judge;
use stepscope_judge::hide::Hidden;
use stepscope_review::queue::{Assignment, Queue};

/// Sentence of a build without a screen.
pub const NO_SCREEN: &str = "this build of stepscope has no screen: it was built without the feature `screen`; read records \
                             with stepscope show FILE, or one after another with stepscope --linear FILE, and check them \
                             with stepscope check FILE";

/// Opening the screen.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ScreenArgs {
    /// Files and folders, `-` for standard input [default: the sample runs]
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Baseline run to compare with (joined by id)
    #[arg(long, value_name = "PATH")]
    pub baseline: Option<PathBuf>,
    /// Other runs of the same questions, of any model, sample or version: findings say where a run leaves them
    #[arg(long, value_name = "PATH")]
    pub peers: Vec<PathBuf>,
    /// Begins with the comparison
    #[arg(skip)]
    pub compare: bool,
    /// What belongs to answers with cited lines
    #[command(flatten)]
    pub answers: AnswerArgs,
    /// Begin with this filter, for example "correct:false steps>4" (the language of the key f)
    #[arg(long, value_name = "EXPR", allow_hyphen_values = true)]
    pub filter: Option<String>,
    /// Open the record with this id
    #[arg(long)]
    pub id: Option<String>,
    /// Open at this step, counted from 1
    #[arg(long, value_name = "N")]
    pub step: Option<usize>,
    /// Read and review line by line, without a screen: for screen readers and slow links [default: where TERM=dumb]
    #[arg(long, conflicts_with_all = ["present", "record"])]
    pub linear: bool,
    /// Show the program to others: strong cursor, keys shown, nothing saved
    #[arg(long, conflicts_with = "record")]
    pub present: bool,
    /// Theme: dark, light, high-contrast, mono, or your own by name or path
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
    /// Print and draw ASCII characters only [default: in a terminal whose locale is not UTF-8]
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Folder of config.toml, themes and schemas
    #[arg(long, value_name = "DIR", value_parser = existing_folder())]
    pub config_dir: Option<PathBuf>,
    /// File that forks are saved in [default: FILE.forks.jsonl next to the records]
    #[arg(long, value_name = "FILE")]
    pub forks: Option<PathBuf>,
    /// Folder of JSON Schemas, one per value type: NAME.json
    #[arg(long, value_name = "DIR")]
    pub schemas: Option<PathBuf>,
    /// What judges completions, shown by the key V
    #[command(flatten)]
    pub judge: Judge,
    /// Which model the keys r, R and ^R ask
    #[command(flatten)]
    pub model: ModelFlags,
    /// Reviewing by hand
    #[command(flatten)]
    pub reviewing: Reviewing,
}

/// Reviewing by hand on the screen.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Reviewing")]
pub struct Reviewing {
    /// Review log [default: PATH.reviews.jsonl]; may be repeated: the first is written, all are read
    #[arg(long, value_name = "LOG")]
    pub reviews: Vec<PathBuf>,
    /// Reviewer
    #[command(flatten)]
    pub who: Who,
    /// Open as a review queue, worst first
    #[arg(long)]
    pub queue: bool,
    /// Shuffle the queue (seeded)
    #[arg(long, value_name = "SEED")]
    pub shuffle: Option<u64>,
    /// Shuffle it so that records come twice as early where a verdict tells most (seeded)
    #[arg(long, value_name = "SEED", conflicts_with_all = ["shuffle", "clean_share", "assign", "hide"])]
    pub sample: Option<u64>,
    /// Sample this share of records without findings, for example 0.1
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub clean_share: Option<f64>,
    /// Repeat this share to measure self-agreement, for example 0.05
    #[arg(long, value_name = "SHARE", value_parser = share, default_value_t = 0.0)]
    pub repeat: f64,
    /// Review only one of several equal parts, for example 1/3: every reviewer takes another
    #[arg(long, value_name = "PART", value_parser = assignment)]
    pub assign: Option<Assignment>,
    /// Hide until your verdict: gold, baseline, triage, confidence, model
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = hidden)]
    pub hide: Vec<Hidden>,
}

impl Reviewing {
    /// Returns the order in which records are reviewed, if an option asks for one.
    pub fn order(&self) -> Option<Queue> {
        let is_asked = self.queue || self.shuffle.is_some() || self.sample.is_some() || self.clean_share.is_some();
        (is_asked || self.assign.is_some()).then(|| self.queue_order())
    }

    /// Returns the settings of the queue.
    pub fn queue_order(&self) -> Queue {
        Queue {
            shuffle: self.shuffle.or(self.sample),
            sampled: self.sample.is_some(),
            clean_share: self.clean_share,
            repeat: self.repeat,
            assigned: self.assign,
        }
    }

    /// Tells whether an option asks for a review: without one, a run is debugged.
    pub fn begins(&self) -> bool {
        let is_mixed = self.shuffle.is_some() || self.sample.is_some();
        let is_queued = self.queue || is_mixed || self.clean_share.is_some() || self.repeat > 0.0;
        is_queued || self.assign.is_some() || !self.reviews.is_empty() || !self.hide.is_empty() || self.who.is_named()
    }
}

fn share(word: &str) -> Result<f64, &'static str> {
    word.parse().ok().filter(|share| (0.0..=1.0).contains(share)).ok_or("use a share from 0 to 1, for example 0.1")
}
