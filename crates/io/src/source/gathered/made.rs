//! Records that were gathered, as their readers hand them over.

use crate::source::open::Blob;
use stepscope_base::text::Shown;

/// Records that were gathered.
pub(crate) struct GatheredLines {
    /// One JSON line a record.
    pub lines: Blob,
    /// Name of what they were read as, and what is missing.
    pub note: Shown,
}
