//! Colours, and how many of them a terminal shows.

use ratatui::style::Color;

/// A colour of 3 x 8 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rgb {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Rgb {
    /// A colour from its parts.
    pub const fn new(r: u8, g: u8, b: u8) -> Self {
        Self { r, g, b }
    }

    /// Reads `#rrggbb`.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix('#').filter(|h| h.len() == 6 && h.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let n = u32::from_str_radix(hex, 16).ok()?;
        Some(Self::new((n >> 16) as u8, (n >> 8) as u8, n as u8))
    }

    /// Relative luminance after WCAG, 0 to 1.
    pub(crate) fn luminance(self) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.040_45 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
    }

    /// Contrast ratio after WCAG, 1 to 21.
    pub fn contrast(self, other: Self) -> f64 {
        let (a, b) = (self.luminance(), other.luminance());
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    /// True if dark text reads better on it than light text.
    pub fn is_light(self) -> bool {
        self.contrast(Self::new(0, 0, 0)) > self.contrast(Self::new(255, 255, 255))
    }

    fn distance(self, other: Self) -> i32 {
        let d = |a: u8, b: u8| (i32::from(a) - i32::from(b)).pow(2);
        // The eye sees green best and blue least.
        3 * d(self.r, other.r) + 6 * d(self.g, other.g) + d(self.b, other.b)
    }

    /// The nearest of the 240 fixed colours of a 256-colour terminal; the first 16 look different everywhere.
    pub fn indexed(self) -> u8 {
        const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
        let step = |c: u8| (0_u8..).zip(STEPS).min_by_key(|(_, s)| s.abs_diff(c)).unwrap_or_default();
        let ((ri, r), (gi, g), (bi, b)) = (step(self.r), step(self.g), step(self.b));
        let grey = ((u16::from(self.r) + u16::from(self.g) + u16::from(self.b)) / 3) as u8;
        let level = (grey.saturating_sub(3) / 10).min(23);
        let shade = 8 + 10 * level;
        if self.distance(Self::new(shade, shade, shade)) < self.distance(Self::new(r, g, b)) {
            232 + level
        } else {
            16 + 36 * ri + 6 * gi + bi
        }
    }

    /// One of the 16 named colours, by hue: the terminal's own palette decides how it looks. `light` is whether the
    /// background is light, where the bright half would be hard to read.
    pub fn named(self, light: bool) -> Color {
        let (max, min) = (self.r.max(self.g).max(self.b), self.r.min(self.g).min(self.b));
        let chroma = i32::from(max - min);
        if chroma < 40 {
            return match (light, max) {
                (false, 170..) | (true, ..90) => Color::Reset,
                (false, 100..) => Color::Gray,
                _ => Color::DarkGray,
            };
        }
        let (r, g, b) = (i32::from(self.r), i32::from(self.g), i32::from(self.b));
        let hue = match max {
            _ if max == self.r => (60 * (g - b) / chroma).rem_euclid(360),
            _ if max == self.g => 120 + 60 * (b - r) / chroma,
            _ => 240 + 60 * (r - g) / chroma,
        };
        let (dark, bright) = match hue {
            // Yellow and cyan are nearly invisible on white.
            20..75 if light => (Color::Magenta, Color::Magenta),
            160..200 if light => (Color::Blue, Color::Blue),
            20..75 => (Color::Yellow, Color::LightYellow),
            75..160 => (Color::Green, Color::LightGreen),
            160..200 => (Color::Cyan, Color::LightCyan),
            200..255 => (Color::Blue, Color::LightBlue),
            255..325 => (Color::Magenta, Color::LightMagenta),
            _ => (Color::Red, Color::LightRed),
        };
        if light { dark } else { bright }
    }
}

/// Number of colours that the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// None: bold, underline and reverse only.
    Mono,
    /// The 16 named ones.
    Ansi,
    /// 256.
    Indexed,
    /// All.
    True,
}

impl Depth {
    /// Finds out from the environment; `get` reads a variable.
    pub fn detect(get: impl Fn(&str) -> Option<String>) -> Self {
        let var = |name| get(name).unwrap_or_default();
        let term = var("TERM");
        if !var("NO_COLOR").is_empty() || term.is_empty() || term == "dumb" {
            return Self::Mono;
        }
        let full = ["-direct", "-truecolor", "kitty", "ghostty", "alacritty", "wezterm", "foot"];
        if matches!(var("COLORTERM").as_str(), "truecolor" | "24bit") || full.iter().any(|t| term.contains(t)) {
            return Self::True;
        }
        match term.as_str() {
            t if t.contains("256color") => Self::Indexed,
            "vt52" | "vt100" | "vt102" | "vt220" | "xterm-mono" => Self::Mono,
            _ => Self::Ansi,
        }
    }
}

/// True if the background is light, as far as `COLORFGBG` tells (`15;0`): good enough for the first frame.
pub fn light_hint(colorfgbg: &str) -> Option<bool> {
    let background: u8 = colorfgbg.rsplit(';').next()?.parse().ok()?;
    (background < 16).then_some(matches!(background, 7 | 9..=15))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_from_the_environment() {
        let depth = |vars: &[(&str, &str)]| {
            Depth::detect(|name| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()))
        };
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]), Depth::True);
        assert_eq!(depth(&[("TERM", "xterm-256color"), ("COLORTERM", "24bit"), ("NO_COLOR", "1")]), Depth::Mono);
        assert_eq!(depth(&[("TERM", "screen-256color"), ("NO_COLOR", "")]), Depth::Indexed);
        assert_eq!(depth(&[("TERM", "xterm")]), Depth::Ansi);
        assert_eq!(depth(&[("TERM", "dumb"), ("COLORTERM", "truecolor")]), Depth::Mono);
        assert_eq!(depth(&[]), Depth::Mono);
    }

    #[test]
    fn background_hints() {
        assert_eq!(light_hint("15;0"), Some(false));
        assert_eq!(light_hint("0;default;15"), Some(true));
        assert_eq!(light_hint("0;default"), None);
        assert!(Rgb::new(250, 250, 250).is_light() && !Rgb::new(22, 22, 30).is_light());
    }

    #[test]
    fn colours_are_reduced_to_their_neighbours() {
        assert_eq!(Rgb::new(255, 0, 0).indexed(), 196);
        assert_eq!(Rgb::new(8, 8, 8).indexed(), 232);
        assert_eq!(Rgb::new(255, 255, 255).indexed(), 231);
        assert_eq!(Rgb::parse("#f28b98").unwrap().named(false), Color::LightRed);
        assert_eq!(Rgb::parse("#8a6100").unwrap().named(true), Color::Magenta);
        assert_eq!(Rgb::parse("#2a5bb8").unwrap().named(true), Color::Blue);
        assert_eq!(Rgb::parse("#d5d8e6").unwrap().named(false), Color::Reset);
    }
}
