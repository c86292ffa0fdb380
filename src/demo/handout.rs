//! A tour on paper: its scenes one below the other, as a page or as Markdown.

use std::fmt::Write as _;

use ratatui::buffer::Buffer;

use crate::demo::picture::{line, svg_named};
use crate::widgets::ascii::draw as draw_in_ascii;
use stepscope_base::ascii;
use stepscope_report::page::carried::BEGIN;
use stepscope_report::page::push_markup;

/// Beginning of the Markdown.
pub(crate) const BEGIN_MARKDOWN: &str = "<!-- stepscope tour -->\n";
const STYLE: &str = "body{margin:0 auto;max-width:70rem;padding:1rem;font:1rem/1.5 system-ui,sans-serif;color:#1d2125;\
    background:#fdfcf9}svg{max-width:100%;height:auto}pre{overflow-x:auto}summary{min-height:1.5rem}\
    @media(prefers-color-scheme:dark){body{color:#e4e4e4;background:#16181b}}@media print{details,.note{display:none}}";

/// A scene as it is handed out.
pub(crate) struct HandoutScene<'s> {
    pub(crate) caption: &'s str,
    pub(crate) note: &'s str,
    pub(crate) dark: &'s Buffer,
    pub(crate) light: &'s Buffer,
}

/// The screen as text.
fn text(screen: &Buffer) -> String {
    let rows = (0..screen.area.height).map(|row| line(screen, row));
    let text: String = rows.map(|row| row.trim_end().to_owned() + "\n").collect();
    text.trim_end().to_owned()
}

/// A page that runs nothing and asks for nothing: each scene as a picture, and as text for those who do not see it.
pub(crate) fn html(title: &str, scenes: &[HandoutScene<'_>]) -> String {
    let mut out = String::from_utf8_lossy(BEGIN).into_owned();
    out.push_str("\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" ");
    out.push_str("content=\"default-src 'none'; style-src 'unsafe-inline'\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    push_markup(title, &mut out);
    let _ = write!(out, "</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>");
    push_markup(title, &mut out);
    out.push_str("</h1>\n");
    for (n, scene) in scenes.iter().enumerate() {
        let _ = write!(out, "<section id=\"scene-{0}\">\n<h2>{0}. ", n + 1);
        push_markup(scene.caption, &mut out);
        out.push_str("</h2>\n");
        out.push_str(&svg_named(scene.dark, scene.light, scene.caption, &format!("s{}", n + 1)));
        if !scene.note.is_empty() {
            out.push_str("<p class=\"note\">");
            push_markup(scene.note, &mut out);
            out.push_str("</p>\n");
        }
        out.push_str("<details><summary>The screen as text</summary>\n<pre tabindex=\"0\">");
        push_markup(&text(scene.dark), &mut out);
        out.push_str("</pre></details>\n</section>\n");
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The same as Markdown. `is_ascii`: all of it in ASCII.
pub(crate) fn markdown(title: &str, scenes: &[HandoutScene<'_>], is_ascii: bool) -> String {
    // A twin may be a sign of Markdown, so it comes first.
    let letters = |text: &str| if is_ascii { ascii::text(text.as_bytes()) } else { text.to_owned() };
    let plain = |text: &str| letters(text).replace(['\n', '`', '<', '[', ']', '*', '_', '|', '#'], " ");
    let mut out = format!("{BEGIN_MARKDOWN}# {}\n", plain(title));
    for (n, scene) in scenes.iter().enumerate() {
        let mut screen = scene.dark.clone();
        if is_ascii {
            draw_in_ascii(&mut screen);
        }
        let text = text(&screen);
        // No line of the screen ends the fence.
        let longest = text.lines().map(|line| line.chars().filter(|c| *c == '`').count()).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let _ = write!(out, "\n## {}. {}\n\n{fence}text\n{text}\n{fence}\n", n + 1, plain(scene.caption));
        if !scene.note.is_empty() {
            let _ = write!(out, "\n{}\n", plain(scene.note));
        }
    }
    out
}
