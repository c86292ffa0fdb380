//! The named views of the table, in a window.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use crate::app::views::{Views, description, name_of};
use crate::screens::table::state::Table;
use crate::widgets::look::Look;
use crate::widgets::prose::pad;
use crate::widgets::theme::Role;
use crate::widgets::window::{Window, around};

const WIDTH: u16 = 90;

pub(crate) fn window<'a>(views: &'a Views, table: &Table, area: Rect, look: Look<'a>) -> Window<'a> {
    let title = vec![
        look.span("Views", Role::Title),
        look.keyed("  <open> shows, <view_delete> deletes, <escape> closes", Role::Faint),
    ];
    let names: Vec<String> = views.list.iter().map(|view| name_of(&view.name).into_string()).collect();
    let width = names.iter().map(|name| name.width()).max().unwrap_or(0);
    let here = views.in_force(table).map(|view| view.name.clone());
    let window = Window::new(around(names.len(), area, WIDTH), title, names.len(), move |n| {
        let (Some(view), Some(name)) = (views.list.get(n), names.get(n)) else { return Vec::new() };
        let role = if here.as_ref() == Some(&view.name) { Role::Accent } else { Role::Text };
        vec![look.span(format!("{}  ", pad(name, width)), role), look.span(description(view).into_string(), Role::Dim)]
    });
    Window { has_cursor: true, ..window }
}
