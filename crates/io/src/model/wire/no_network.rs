//! The network where this build asks no model: a sentence. Recordings answer all the same.

#![allow(clippy::unused_async, reason = "the network is waited for")]

use std::convert::Infallible;
use std::time::Duration;

use url::Url;

use crate::model::endpoint::{ABSENT, Endpoint};
use crate::model::head::Head;
use stepscope_base::text::Shown;
use stepscope_execution::call::{Trouble, TroubleKind};

/// A client, of which there is none.
#[derive(Clone, Debug)]
pub(in crate::model) struct NoNetwork(Infallible);

/// An answer from the network, of which there is none.
#[derive(Debug)]
pub(in crate::model) struct NoAnswer(Infallible);

impl NoNetwork {
    /// Says that no model is asked.
    pub(super) fn new(_: &Endpoint, _: Duration) -> Result<Self, Trouble> {
        Err(Trouble::new(TroubleKind::NotSent, Shown::own(ABSENT)))
    }

    pub(super) async fn send(&self, _: &Endpoint, _: &Url, _: Option<Vec<u8>>) -> Result<(Head, NoAnswer), Trouble> {
        match self.0 {}
    }
}

impl NoAnswer {
    pub(super) async fn chunk(&mut self) -> Result<Option<Vec<u8>>, Trouble> {
        match self.0 {}
    }
}
