//! Bytes of a text where no library of tables brings its own.

/// Bytes of a value.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct PlainBytes(Box<[u8]>);

impl PlainBytes {
    /// Returns the bytes.
    pub(crate) fn data(&self) -> &[u8] {
        &self.0
    }

    /// Counts them.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl From<Vec<u8>> for PlainBytes {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }
}
