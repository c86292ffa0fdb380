//! The answer screen: a structured answer with its citations and the document.

pub mod checks;
pub mod citation;
pub mod document;
pub mod draw;
pub mod items;
pub mod keys;
pub mod layout;
pub mod sheet;
pub mod state;
