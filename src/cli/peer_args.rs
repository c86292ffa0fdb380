//! `--peers`: other runs of the same questions, read for the commands that ask them.

use std::path::PathBuf;
use std::sync::Arc;

use crate::cli::options::threads;
use crate::cli::out::Out;
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::pipeline::peers::MAX_PEERS;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_record::finding::grouped;

/// `--peers`, where nothing else helps to judge.
#[derive(clap::Args, Clone, Debug, Default)]
pub(super) struct PeerArgs {
    /// Other runs of the same questions: their agreement is one more signal
    #[arg(long, value_name = "PATH", num_args = 1..)]
    pub(super) peers: Vec<PathBuf>,
}

impl PeerArgs {
    /// Reads the peers, if any were named; the types of values stay.
    pub(super) fn read(&self, side: &Arc<SideData>, out: &Out) -> Result<Arc<SideData>, Shown> {
        match self.peers.is_empty() {
            true => Ok(side.clone()),
            false => with_peers(side.settings_alone(), &self.peers, threads(None), out),
        }
    }
}

/// Adds the runs that are peers, those of the baseline among them, and says how many are left out.
pub(super) fn with_peers(own: SideData, peers: &[PathBuf], threads: usize, out: &Out) -> Result<Arc<SideData>, Shown> {
    let own = own.with_peers(peers, threads);
    let left_out = own.read_peers().transpose()?.filter(|left_out| *left_out > 0);
    if let Some(left_out) = left_out {
        let (kept, left_out) = (grouped(MAX_PEERS), grouped(left_out));
        out.complain(&shown!("{kept} runs are kept as peers, {left_out} further ones are not"));
    }
    Ok(Arc::new(own))
}
