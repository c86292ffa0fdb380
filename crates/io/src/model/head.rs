//! What precedes the body of an answer.

/// The beginning of an answer.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct Head {
    /// The status.
    pub status: u16,
    /// Content type of the body; empty where none is given.
    pub kind: String,
    /// Time to wait before the next request.
    pub retry_after: Option<String>,
    /// Address to which the server redirects.
    pub location: Option<String>,
    /// Compression of the body.
    pub encoding: Option<String>,
}
