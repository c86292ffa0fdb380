//! The answer screen: a structured answer with its citations and the document.

pub(crate) mod checks;
pub(crate) mod citation;
pub(crate) mod document;
pub(crate) mod draw;
pub(crate) mod items;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod shown;
pub(crate) mod state;
