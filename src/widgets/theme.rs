//! Roles to styles: panes name what a thing *is*, a theme says how that looks.
//!
//! Themes are TOML, some of them built in. A theme lists only what differs: every other role falls back along a chain
//! that ends at `text`. Colours are reduced to what the terminal can show; a role that is told by its background alone
//! names the modifiers that stand in for it (`plain`).

use std::collections::BTreeMap;
use std::ops::Range;

use ratatui::style::{Color, Modifier, Style};
use serde::Deserialize;
use thiserror::Error;
use toml::Spanned;

use stepscope_base::text::Shown;
use stepscope_terminal::colour::{Depth, Rgb};

macro_rules! roles {
    ($($(#[doc = $doc:literal])+ $role:ident = $name:literal $(<- $parent:ident)?;)+) => {
        /// Role of a piece of the screen.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
        pub enum Role {
            $($(#[doc = $doc])+ #[serde(rename = $name)] $role,)+
        }

        impl Role {
            /// Every role.
            pub const ALL: &'static [Self] = &[$(Self::$role,)+];

            /// Returns the name of the role in a theme file.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$role => $name,)+ }
            }

            /// The role whose style it takes when a theme does not name it.
            pub const fn parent(self) -> Option<Self> {
                match self { $(Self::$role => roles!(@parent $($parent)?),)+ }
            }
        }
    };
    (@parent) => { None };
    (@parent $parent:ident) => { Some(Self::$parent) };
}

roles! {
    /// The whole screen, laid under everything; most themes leave it to the terminal.
    Screen = "screen";
    /// Plain text.
    Text = "text";
    /// Less important text.
    Dim = "dim" <- Text;
    /// The least important text: line numbers, units.
    Faint = "faint" <- Dim;
    /// A pane's border.
    Border = "border" <- Faint;
    /// The border of the pane that has the keys.
    BorderFocus = "border-focus" <- Accent;
    /// A pane's title, a heading.
    Title = "title" <- Text;
    /// Text to notice that is no judgement.
    Accent = "accent" <- Text;
    /// The chosen row; laid over other styles.
    Selection = "selection";
    /// The chosen row of a pane that has not the keys; laid over other styles.
    SelectionDim = "selection-dim" <- Selection;
    /// Text that a search found.
    Match = "match" <- Accent;
    /// A finding that makes the record useless; a failure.
    Fatal = "fatal" <- Text;
    /// A finding that can be repaired.
    Repairable = "repairable" <- Warning;
    /// A finding to look at.
    Warning = "warning" <- Text;
    /// A remark.
    Note = "note" <- Dim;
    /// Passed, right, saved.
    Ok = "ok" <- Text;
    /// Present only on the new side of a difference.
    Added = "added" <- Ok;
    /// Present only on the old side of a difference.
    Removed = "removed" <- Fatal;
    /// Different on both sides.
    Changed = "changed" <- Warning;
    /// The key of a JSON object.
    Key = "key" <- Accent;
    /// A JSON string.
    String = "string" <- Text;
    /// A JSON number.
    Number = "number" <- Text;
    /// A JSON truth value.
    Bool = "bool" <- Number;
    /// A JSON null.
    Null = "null" <- Dim;
    /// Brackets, commas, colons.
    Punct = "punct" <- Dim;
    /// A character that is shown because it would be invisible or harmful: `␛`, `⟨U+202E⟩`.
    Control = "control" <- Warning;
    /// Cited lines or words of a document.
    Cited = "cited" <- Accent;
    /// The citation that is being looked at.
    CitedCurrent = "cited-current" <- Cited;
    /// Actual place of a quote that is not where it was cited.
    Found = "found" <- Cited;
    /// Lines shown from beyond what was cited or given.
    Peek = "peek" <- Dim;
    /// Origin of a value, when all is well: rec, r1.
    Badge = "badge" <- Dim;
    /// Origin of a value, when there is doubt: reconstructed, ambiguous, missing.
    BadgeDoubt = "badge-doubt" <- Warning;
    /// Calls go to a live model.
    Live = "live" <- Accent;
    /// The first and the last line of the screen.
    StatusBar = "status-bar" <- Text;
    /// A key in the last line.
    HintKey = "hint-key" <- Accent;
    /// Action of a key in the last line.
    Hint = "hint" <- Dim;
    /// The life of a variable between its writer and its readers.
    Lifeline = "lifeline" <- Faint;
    /// A step writes a variable.
    Write = "write" <- Accent;
    /// A step reads a variable.
    Read = "read" <- Accent;
    /// The current step or column.
    Current = "current" <- Title;
    /// Part after the current step.
    Ghost = "ghost" <- Faint;
    /// Expected answer.
    Gold = "gold" <- Accent;
    /// The question.
    Question = "question" <- Text;
}

/// The modifiers a theme may name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ModifierName {
    Bold,
    Dim,
    Italic,
    Underlined,
    Reversed,
    CrossedOut,
}

impl ModifierName {
    fn modifier(self) -> Modifier {
        match self {
            Self::Bold => Modifier::BOLD,
            Self::Dim => Modifier::DIM,
            Self::Italic => Modifier::ITALIC,
            Self::Underlined => Modifier::UNDERLINED,
            Self::Reversed => Modifier::REVERSED,
            Self::CrossedOut => Modifier::CROSSED_OUT,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    background: Spanned<String>,
    #[serde(default)]
    palette: BTreeMap<String, Spanned<String>>,
    #[serde(default)]
    roles: BTreeMap<Role, RoleStyle>,
    #[serde(default)]
    series: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RoleStyle {
    fg: Option<Spanned<String>>,
    bg: Option<Spanned<String>>,
    #[serde(default)]
    modifiers: Vec<ModifierName>,
    /// Instead of `modifiers` where the background cannot be shown.
    plain: Option<Vec<ModifierName>>,
}

/// A style before it is reduced to what the terminal can show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Full {
    fg: Option<Rgb>,
    bg: Option<Rgb>,
    modifiers: Modifier,
    plain: Modifier,
}

impl Full {
    fn reduced(self, depth: Depth, light: bool) -> Style {
        let (fg, bg, modifiers) = match depth {
            Depth::True => (self.fg.map(rgb), self.bg.map(rgb), self.modifiers),
            Depth::Indexed => {
                let indexed = |c: Rgb| Color::Indexed(c.indexed());
                (self.fg.map(indexed), self.bg.map(indexed), self.modifiers)
            }
            Depth::Ansi => {
                // A tint that becomes reversed text takes the colours of the text it lies over away: they would be a
                // patchwork of backgrounds.
                let reversed = self.bg.is_some() && self.plain.contains(Modifier::REVERSED);
                let fg = if reversed { Some(Color::Reset) } else { self.fg.map(|c| c.named(light)) };
                (fg, None, if self.bg.is_some() { self.plain } else { self.modifiers })
            }
            Depth::Mono => (None, None, self.plain),
        };
        Style { fg, bg, add_modifier: modifiers, ..Style::default() }
    }
}

fn rgb(c: Rgb) -> Color {
    Color::Rgb(c.r, c.g, c.b)
}

/// A theme file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{file}:{line}: {message}")]
pub struct ThemeError {
    /// The name of the file, as given.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// Description of the problem and what to do.
    pub message: String,
}

/// The look of the program on this terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theme {
    background: Rgb,
    depth: Depth,
    full: Vec<Full>,
    /// Styles that the terminal can show of them.
    styles: Vec<Style>,
    series: Vec<Full>,
}

impl Default for Theme {
    /// Every role as the terminal has it: what is left if no theme can be read.
    fn default() -> Self {
        Self {
            background: Rgb::new(0, 0, 0),
            depth: Depth::Mono,
            full: Vec::new(),
            styles: Vec::new(),
            series: Vec::new(),
        }
    }
}

/// The built-in themes, by name.
pub const BUILT_IN: &[(&str, &str)] = &[
    ("dark", include_str!("../../themes/dark.toml")),
    ("light", include_str!("../../themes/light.toml")),
    ("high-contrast", include_str!("../../themes/high-contrast.toml")),
    ("mono", include_str!("../../themes/mono.toml")),
];

impl Theme {
    /// A built-in theme; `None` for an unknown name.
    pub fn built_in(name: &str, depth: Depth) -> Option<Self> {
        let (name, text) = BUILT_IN.iter().find(|(n, _)| *n == name)?;
        Self::parse(name, text, depth).ok()
    }

    /// Reads a theme; `file` is its name for errors.
    ///
    /// # Errors
    /// Names the line and what to do about it.
    pub fn parse(file: &str, text: &str, depth: Depth) -> Result<Self, ThemeError> {
        let fail = |span: Option<Range<usize>>, message: String| ThemeError {
            file: file.to_owned(),
            line: line_of(text, span.map_or(0, |s| s.start)),
            message,
        };
        let parsed: File = toml::from_str(text).map_err(|e| fail(e.span(), advice(e.message())))?;
        let colour = |spec: &Spanned<String>, palette: &BTreeMap<String, Rgb>| {
            let name = spec.get_ref();
            Rgb::parse(name).or_else(|| palette.get(name).copied()).ok_or_else(|| {
                fail(
                    Some(spec.span()),
                    format!(
                        "`{}` is no colour: write \"#rrggbb\" or a name from [palette]",
                        Shown::line(name.as_bytes())
                    ),
                )
            })
        };
        let none = BTreeMap::new();
        let background = colour(&parsed.background, &none)?;
        let mut palette = BTreeMap::new();
        for (name, value) in &parsed.palette {
            palette.insert(name.clone(), colour(value, &none)?);
        }
        let mut named = BTreeMap::new();
        for (role, look) in &parsed.roles {
            let modifiers = marks(&look.modifiers);
            named.insert(
                *role,
                Full {
                    fg: look.fg.as_ref().map(|c| colour(c, &palette)).transpose()?,
                    bg: look.bg.as_ref().map(|c| colour(c, &palette)).transpose()?,
                    modifiers,
                    plain: look.plain.as_deref().map_or(modifiers, marks),
                },
            );
        }
        let mut series = Vec::new();
        for spec in &parsed.series {
            series.push(Full { fg: Some(colour(spec, &palette)?), ..Full::default() });
        }
        let full = Role::ALL.iter().map(|role| resolve(*role, &named)).collect();
        Ok(Self { background, depth, full, styles: Vec::new(), series }.reduced())
    }

    /// The same with its background painted: on a terminal of the other brightness its text could not be read. Without
    /// colours of its own it is read everywhere.
    pub(crate) fn painted(mut self) -> Self {
        let (screen, text) = (self.full(Role::Screen), self.full(Role::Text));
        if let Some(own) = self.full.get_mut(Role::Screen as usize).filter(|_| screen.bg.is_none() && text.fg.is_some())
        {
            *own = Full { fg: text.fg, bg: Some(self.background), ..Full::default() };
        }
        self.reduced()
    }

    /// The same with a cursor that is seen from the last row of a room.
    pub(crate) fn for_presenting(&self) -> Self {
        let mut strong = self.clone();
        let marks = Modifier::BOLD.union(Modifier::REVERSED);
        let bar =
            Full { fg: Some(self.background), bg: self.full(Role::Accent).fg, modifiers: Modifier::BOLD, plain: marks };
        if let Some(full) = strong.full.get_mut(Role::Selection as usize).filter(|_| bar.bg.is_some()) {
            *full = bar;
        }
        strong.reduced()
    }

    /// Works out what the terminal can show of each role: asked for with every piece of text.
    fn reduced(mut self) -> Self {
        let light = self.is_light();
        self.styles = self.full.iter().map(|full| full.reduced(self.depth, light)).collect();
        self
    }

    /// Returns the style of a role.
    pub fn style(&self, role: Role) -> Style {
        self.styles.get(role as usize).copied().unwrap_or_default()
    }

    /// Returns the style of the nth of several things of one kind, such as the items of an answer; the colours repeat.
    pub(crate) fn series(&self, n: usize) -> Style {
        let at = n.checked_rem(self.series.len()).and_then(|at| self.series.get(at));
        at.map_or_else(|| self.style(Role::Accent), |full| full.reduced(self.depth, self.is_light()))
    }

    /// Tells whether the theme is for a light background.
    pub fn is_light(&self) -> bool {
        self.background.is_light()
    }

    fn full(&self, role: Role) -> Full {
        self.full.get(role as usize).copied().unwrap_or_default()
    }
}

fn marks(marks: &[ModifierName]) -> Modifier {
    marks.iter().fold(Modifier::empty(), |all, mark| all | mark.modifier())
}

fn resolve(role: Role, named: &BTreeMap<Role, Full>) -> Full {
    std::iter::successors(Some(role), |r| r.parent()).find_map(|r| named.get(&r)).copied().unwrap_or_default()
}

fn line_of(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|b| *b == b'\n').count()
}

/// The parser's words with what to do; they may quote the file, so controls are escaped.
fn advice(message: &str) -> String {
    let shown = Shown::line(message.as_bytes()).into_string();
    let what = if shown.contains("unknown variant") {
        "; choose one of the names listed"
    } else if shown.contains("unknown field") {
        "; remove it or correct its name"
    } else if shown.contains("missing field") {
        "; add it, for example background = \"#16161e\""
    } else {
        "; compare with the themes that come with stepscope"
    };
    shown + what
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roles that are not text.
    const SHAPES: [Role; 3] = [Role::Border, Role::BorderFocus, Role::Lifeline];
    /// Laid over other styles.
    const LAYERS: [Role; 2] = [Role::Selection, Role::SelectionDim];

    fn theme(name: &str) -> Theme {
        theme_at(name, Depth::True)
    }

    fn theme_at(name: &str, depth: Depth) -> Theme {
        let (_, text) = BUILT_IN.iter().find(|(n, _)| *n == name).unwrap();
        Theme::parse(name, text, depth).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Converts a colour to what a terminal with 256 colours makes of it.
    fn as_indexed(c: Rgb) -> Rgb {
        const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        match c.indexed() {
            n @ 232.. => Rgb::new(8 + 10 * (n - 232), 8 + 10 * (n - 232), 8 + 10 * (n - 232)),
            n => {
                let n = usize::from(n - 16);
                Rgb::new(STEPS[n / 36], STEPS[n / 6 % 6], STEPS[n % 6])
            }
        }
    }

    /// Lists the texts that contrast less than `least` with their background, after `see` has changed the colours, and shapes
    /// that contrast less than shapes must.
    fn too_weak(name: &str, least: f64, see: fn(Rgb) -> Rgb) -> Vec<String> {
        let weak = contrasts(name, see).into_iter().filter(|(_, ratio, shape)| *ratio < shape.unwrap_or(least));
        weak.map(|(what, ratio, _)| format!("{name}: {what}: {ratio:.2}")).collect()
    }

    /// Lists how much every text and shape contrasts with what it is drawn on; of a shape with the least that it must.
    fn contrasts(name: &str, see: fn(Rgb) -> Rgb) -> Vec<(String, f64, Option<f64>)> {
        let theme = theme(name);
        let screen = theme.full(Role::Screen).bg.unwrap_or(theme.background);
        let text = theme.full(Role::Text).fg.unwrap();
        let mut all = Vec::new();
        let mut check = |what: String, fg: Rgb, ground: Rgb, shape: Option<f64>| {
            all.push((what, see(fg).contrast(see(ground)), shape));
        };
        for role in Role::ALL.iter().filter(|r| **r != Role::Screen && !LAYERS.contains(r) && !SHAPES.contains(r)) {
            let full = theme.full(*role);
            let fg = full.fg.unwrap_or(text);
            check(role.name().to_owned(), fg, full.bg.unwrap_or(screen), None);
            for layer in LAYERS {
                let over = theme.full(layer);
                check(format!("{} on {}", role.name(), layer.name()), over.fg.unwrap_or(fg), over.bg.unwrap(), None);
            }
            if full.bg.is_none() {
                let bar = theme.full(Role::StatusBar).bg.unwrap();
                check(format!("{} on the status bar", role.name()), fg, bar, None);
            }
        }
        for (n, full) in theme.series.iter().enumerate() {
            check(format!("series {n}"), full.fg.unwrap(), screen, None);
        }
        for shape in SHAPES {
            let least = if shape == Role::Border { 1.6 } else { 3.0 };
            check(shape.name().to_owned(), theme.full(shape).fg.unwrap(), screen, Some(least));
        }
        all
    }

    #[test]
    fn the_documents_tell_the_contrast_of_the_themes() {
        let page = include_str!("../../docs/settings.md");
        for name in ["dark", "light", "high-contrast"] {
            let least = |see: fn(Rgb) -> Rgb| {
                let texts = contrasts(name, see).into_iter().filter(|(_, _, shape)| shape.is_none());
                // To the lower tenth: nothing is told to be better than it is.
                texts.map(|(_, ratio, _)| (ratio * 10.0).floor() / 10.0).fold(f64::MAX, f64::min)
            };
            let theme = theme(name);
            let body =
                theme.full(Role::Text).fg.unwrap().contrast(theme.full(Role::Screen).bg.unwrap_or(theme.background));
            let row = format!(
                "| {name} | {:.1} : 1 | {:.1} : 1 | {:.1} : 1 |",
                (body * 10.0).floor() / 10.0,
                least(|c| c),
                least(as_indexed)
            );
            assert!(page.contains(&row), "docs/settings.md: {row}");
        }
    }

    #[test]
    fn every_text_is_readable() {
        for (name, _) in BUILT_IN.iter().filter(|(name, _)| *name != "mono") {
            let least = if *name == "high-contrast" { 7.0 } else { 4.5 };
            let weak = too_weak(name, least, |c| c);
            assert!(weak.is_empty(), "{weak:#?}");
            let weak = too_weak(name, least, as_indexed);
            assert!(weak.is_empty(), "with 256 colours: {weak:#?}");
        }
    }

    #[test]
    fn the_selection_shows_without_colours() {
        for (name, _) in BUILT_IN {
            for depth in [Depth::Ansi, Depth::Mono] {
                let style = theme_at(name, depth).style(Role::Selection);
                assert!(style.add_modifier.contains(Modifier::REVERSED), "{name} {depth:?}");
                assert!(
                    matches!((style.fg, style.bg), (None | Some(Color::Reset), None)),
                    "{name}: one bar, no patches"
                );
            }
        }
    }

    #[test]
    fn sixteen_colours_on_a_light_ground_are_dark() {
        let theme = theme_at("light", Depth::Ansi);
        let dark = [Color::Reset, Color::DarkGray, Color::Red, Color::Green, Color::Blue, Color::Magenta];
        let roles = Role::ALL.iter().map(|role| (role.name().to_owned(), theme.style(*role)));
        let series = (0..theme.series.len()).map(|n| (format!("series {n}"), theme.series(n)));
        for (name, style) in roles.chain(series) {
            assert!(style.fg.is_none_or(|fg| dark.contains(&fg)), "{name}: {style:?}");
        }
    }

    #[test]
    fn no_colour_at_all_without_colours() {
        for (name, _) in BUILT_IN {
            let theme = theme_at(name, Depth::Mono);
            for role in Role::ALL {
                let style = theme.style(*role);
                assert_eq!((style.fg, style.bg), (None, None), "{name} {}", role.name());
            }
        }
    }

    #[test]
    fn roles_fall_back_along_the_chain() {
        let text = "background = '#000000'\n[palette]\nred = '#ff0000'\n[roles]\ntext = { fg = '#ffffff' }\n\
                    warning = { fg = 'red', modifiers = ['bold'] }\n";
        let theme = Theme::parse("t", text, Depth::True).unwrap();
        assert_eq!(theme.style(Role::Repairable), theme.style(Role::Warning));
        assert_eq!(theme.style(Role::Faint).fg, Some(Color::Rgb(255, 255, 255)));
        assert_eq!(theme.style(Role::Selection), Style::default());
        assert_eq!(theme.series(7), theme.style(Role::Accent));
        for role in Role::ALL {
            let chain = std::iter::successors(Some(*role), |r| r.parent());
            assert!(chain.take(Role::ALL.len()).count() < 8, "{} goes round", role.name());
        }
    }

    #[test]
    fn errors_name_file_line_and_what_to_do() {
        let error = |text: &str| Theme::parse("my.toml", text, Depth::True).unwrap_err().to_string();
        let head = "background = '#000000'\n[roles]\n";
        for (text, line, words) in [
            (format!("{head}text = {{ fg = 'rde' }}"), 3, "write \"#rrggbb\" or a name"),
            (format!("{head}txt = {{ fg = '#ffffff' }}"), 3, "choose one of"),
            (format!("{head}text = {{ color = '#ffffff' }}"), 3, "remove it or correct"),
            (format!("{head}text = {{ modifiers = ['blink'] }}"), 3, "choose one of"),
            ("[roles]\n".into(), 1, "background = "),
            (format!("{head}text = {{"), 3, "compare with"),
        ] {
            let error = error(&text);
            assert!(error.starts_with(&format!("my.toml:{line}: ")) && error.contains(words), "{text}: {error}");
        }
        assert!(!error("\u{1b}]0;x\u{7}").contains('\u{1b}'));
    }
}
