//! The answer screen: a structured answer with its citations and the document.

use crate::screens::rerun;
use crate::screens::screen_def::ScreenDef;
use crate::widgets::sign::{self, Meaning};

pub(crate) mod checks;
pub(crate) mod citation;
pub(crate) mod document;
pub(crate) mod draw;
pub(crate) mod items;
pub(crate) mod keys;
pub(crate) mod layout;
pub(crate) mod state;

/// The answer screen.
pub(crate) const SCREEN: ScreenDef = ScreenDef {
    signs: &[&sign::CITATIONS, &sign::SEVERITIES, &CITED],
    draw: |app, _, buf, look| app.screens.record().into_iter().for_each(|view| draw::draw(view, buf, look)),
    describe: |app, look| app.screens.record().map_or_else(Vec::new, |view| draw::describe(view, look)),
    explain: |app| app.screens.record().and_then(draw::explain),
    allowed: |app, action| keys::allowed(&app.screens, action),
    act: |app, action, times| keys::act(app, action, times).or_else(|| rerun::keys::act(app, action)),
    go: |app, movement| keys::go(&mut app.screens, movement),
    settle: Some(|app| keys::settle(app.area(), &mut app.screens, &app.review, &app.looks, &app.keymap)),
    focus: |app, at| _ = keys::focus(&mut app.screens, at),
    click: |app, at, _| {
        keys::click(&app.keymap, &app.looks, &mut app.screens, at);
        None
    },
    ..ScreenDef::BASE
};

const CITED: [Meaning; 4] = [
    ("▌", "line cited by an item, whose letter follows"),
    ("»", "line where the quote is found"),
    (sign::RETRIEVED, "page strip below the document: page retrieved, not cited"),
    (sign::NOT_RETRIEVED, "page strip: page not retrieved"),
];
