//! Calculations as they are typeset (LaTeX, Markdown, calculator marks), made into plain signs of the same meaning.

use crate::quantity::unit;

/// A text in plain signs, with the place of each of its bytes in the original.
#[derive(Clone, Debug, Default)]
pub struct Plain {
    /// The text.
    pub text: String,
    places: Vec<u32>,
}

/// A longer group is looked at no further.
const MAX_GROUP: usize = 200;

/// Tells whether a text may hold commands or groups of a typesetter, or words in bold.
pub fn is_typeset(text: &str) -> bool {
    memchr::memchr2(b'\\', b'{', text.as_bytes()).is_some() || text.contains("**")
}

/// Meaning of an open brace, which decides how it is closed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Brace {
    /// Nothing of its own.
    Blank,
    /// Words: `\text{ dollars}`.
    Words,
    /// A fraction whose parts are joined by `\over`.
    Over,
    /// The upper part of a fraction.
    Upper,
    /// The lower part of a fraction.
    Lower,
    /// Something in parentheses: a power.
    Round,
}

/// Those of them that set words.
const WORDS: &[&str] = stepscope_base::list![text textrm textit textsf mathrm mathit mathsf mbox hbox operatorname];

/// Commands that only say how what follows is to look.
const LOOKS: &[&str] = stepscope_base::list![
    text textbf textit textrm textsf mathrm mathbf mathit mathsf mathbb boxed underline displaystyle textstyle quad qquad mbox hbox operatorname begin end align aligned equation
];

impl Plain {
    /// Makes the text; nothing is done to what needs nothing.
    pub fn of(text: &str) -> Self {
        let mut making = Making { source: text, at: 0, out: Self::default(), braces: Vec::new(), words_end: 0 };
        making.out.text.reserve(text.len());
        making.out.places.reserve(text.len());
        while making.at < text.len() {
            making.next();
        }
        making.out
    }

    /// Maps a byte of the plain text to its position in the original.
    pub(crate) fn place(&self, at: usize) -> usize {
        self.places.get(at).or(self.places.last()).map_or(0, |place| *place as usize)
    }

    /// The bytes of the original that became these.
    pub fn range(&self, range: &std::ops::Range<usize>) -> std::ops::Range<usize> {
        let start = self.place(range.start);
        start..range.end.checked_sub(1).map_or(start, |last| self.place(last) + 1).max(start + 1)
    }
}

struct Making<'t> {
    source: &'t str,
    at: usize,
    out: Plain,
    braces: Vec<Brace>,
    /// The byte behind the last group of words.
    words_end: usize,
}

impl<'t> Making<'t> {
    fn rest(&self) -> &'t str {
        &self.source[self.at..]
    }

    /// Puts signs in the place of so many bytes.
    fn put(&mut self, signs: &str, len: usize) {
        self.out.text.push_str(signs);
        for n in 0..signs.len() {
            self.out.places.push((self.at + n.min(len.saturating_sub(1))) as u32);
        }
        self.at += len;
    }

    fn next(&mut self) {
        let rest = self.rest();
        let Some(c) = rest.chars().next() else { return };
        let before = self.out.text.chars().next_back();
        let after = rest.chars().nth(1);
        let is_operand = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '(' | ')'));
        match c {
            '\\' => self.command(),
            '{' => {
                if let Some(sign) = [",", "."].into_iter().find(|sign| rest.get(1..3) == Some(&format!("{sign}}}"))) {
                    return self.put(sign, 3);
                }
                let brace = match before {
                    Some('^') => Brace::Round,
                    _ if holds_over(rest) => Brace::Over,
                    _ => Brace::Blank,
                };
                self.braces.push(brace);
                self.put(
                    match brace {
                        Brace::Round => "(",
                        Brace::Over => "((",
                        _ => " ",
                    },
                    1,
                );
            }
            '}' => self.close(),
            // "m^2" among words is a unit.
            '^' if self.is_behind_unit() => {
                let len = match after {
                    Some('{') => group_end(rest),
                    after => 1 + after.map_or(0, char::len_utf8),
                };
                self.put(" ", len);
            }
            '[' => self.put("(", 1),
            ']' => self.put(")", 1),
            '¢' => self.put(" cents", c.len_utf8()),
            '*' if rest.starts_with("**")
                && !(is_operand(before) && is_operand(rest.chars().nth(2)))
                && !(before == Some(' ') && rest.starts_with("** ")) =>
            {
                self.put("  ", 2);
            }
            // A bullet, not a sign.
            '*' | '-' if after == Some(' ') && self.begins_item() => self.put(" ", 1),
            // The next line goes on with what this one came to.
            '\n' if continues(rest) => self.put(" ", 1),
            '&' => self.put(" ", 1),
            // An index: the number before it is in another base, the name another name.
            '_' if before.is_some_and(|c| c.is_ascii_digit()) => self.put("√", 1),
            '_' if after == Some('{') => {
                self.put(" ", group_end(rest));
            }
            // A delimiter of mathematics, not a currency.
            '$' if !after.is_some_and(|c| c.is_ascii_digit() || c == '.') => self.put(" ", 1),
            // "3x4"
            'x' | 'X' if before.is_some_and(|c| c.is_ascii_digit()) && after.is_some_and(|c| c.is_ascii_digit()) => {
                self.put(" * ", 1);
            }
            // "$5400/week", "slices/pizza": a rate, not a division.
            '/' if before.is_some_and(char::is_alphanumeric) && is_rate(rest) => self.put(" ", 1),
            c => {
                let len = c.len_utf8();
                let mut buffer = [0; 4];
                let sign = c.encode_utf8(&mut buffer).to_owned();
                self.put(&sign, len);
            }
        }
    }

    fn close(&mut self) {
        let rest = self.rest();
        let closed = self.braces.pop();
        let behind = rest[1..].trim_start_matches(' ');
        let len = rest.len() - behind.len() + 1;
        match (closed, behind.chars().next()) {
            (Some(Brace::Upper), Some('{')) => {
                self.braces.push(Brace::Lower);
                self.put(")/(", len);
            }
            // `\frac{1}2`
            (Some(Brace::Upper), Some(c)) if c.is_ascii_alphanumeric() => self.put(&format!(")/({c}))"), len),
            (Some(Brace::Upper | Brace::Lower | Brace::Over), _) => self.put("))", 1),
            (Some(Brace::Round), _) => self.put(")", 1),
            (Some(Brace::Words), _) => {
                self.put(" ", 1);
                self.words_end = self.at;
            }
            (Some(Brace::Blank) | None, _) => self.put(" ", 1),
        }
    }

    /// Tells whether a power here is one of a unit among words, or right behind them.
    fn is_behind_unit(&self) -> bool {
        let is_behind = self.braces.last() == Some(&Brace::Words) || (self.at > 0 && self.words_end == self.at);
        let text = self.out.text.trim_end();
        let word = text.rsplit(|c: char| !c.is_alphabetic()).next().expect("a split has a first part");
        // `3.14 \times \text{r}^2`: what is calculated with is no unit.
        let before = text[..text.len() - word.len()].trim_end();
        let is_operand = before.is_empty() || before.ends_with(['+', '-', '*', '/', '=']);
        is_behind && !is_operand && (word.len() <= 2 || unit(word.to_lowercase().as_bytes()).is_some())
    }

    /// Begins a fraction whose parts may be single signs: `\frac12`, `\frac1{12}`.
    fn fraction(&mut self, len: usize) {
        // `2\frac{1}{2}` is no product, and its parts are not put together here.
        if self.out.text.ends_with(|c: char| c.is_ascii_digit()) {
            self.put("√", 0);
        }
        let rest = self.rest();
        let upper = rest[len..].trim_start_matches(' ');
        let begun = rest.len() - upper.len() + 1;
        let sign = |text: &str| text.chars().next().filter(char::is_ascii_alphanumeric);
        if upper.starts_with('{') {
            self.braces.push(Brace::Upper);
            return self.put("((", begun);
        }
        let Some(first) = sign(upper) else { return self.put("√", len) };
        let lower = upper[1..].trim_start_matches(' ');
        let end = rest.len() - lower.len() + 1;
        if lower.starts_with('{') {
            self.braces.push(Brace::Lower);
            self.put(&format!("(({first})/("), end);
        } else if let Some(second) = sign(lower) {
            self.put(&format!("(({first})/({second}))"), end);
        } else {
            self.put("√", len);
        }
    }

    /// Tells whether a new line or a new sentence begins here.
    fn begins_item(&self) -> bool {
        let text = self.out.text.trim_end_matches([' ', '\t']);
        text.is_empty() || text.ends_with('\n') || (text.len() < self.out.text.len() && text.ends_with(['.', ':', ';']))
    }

    fn command(&mut self) {
        let rest = self.rest();
        let name: String = rest.chars().skip(1).take_while(char::is_ascii_alphabetic).collect();
        let len = 1 + name.len();
        let Some(sign) = rest.chars().nth(1).filter(|_| name.is_empty()) else {
            return self.named(&name, len);
        };
        let len = 1 + sign.len_utf8();
        match sign {
            '\\' => {
                let goes_on = continues(&rest[len..]) || continues(&rest[1..]);
                self.put(if goes_on { " " } else { "\n" }, len);
            }
            '(' | ')' | ',' | ';' | ':' | '!' | ' ' => self.put(" ", len),
            '[' | ']' => self.put("\n", len),
            sign => {
                let mut buffer = [0; 4];
                let sign = sign.encode_utf8(&mut buffer).to_owned();
                self.put(&sign, len);
            }
        }
    }

    fn named(&mut self, name: &str, len: usize) {
        let rest = self.rest();
        let is_open = rest.get(len..).is_some_and(|rest| rest.starts_with('{'));
        match name {
            "times" | "cdot" | "ast" => self.put(" * ", len),
            "div" => self.put(" / ", len),
            "frac" | "dfrac" | "tfrac" | "cfrac" => self.fraction(len),
            "over" if self.braces.last() == Some(&Brace::Over) => self.put(")/(", len),
            name if is_open && WORDS.contains(&name) => {
                self.braces.push(Brace::Words);
                self.put(" ", len + 1);
            }
            // `\\sqrt[3]{8}`: a root with a degree is not read.
            "sqrt" if rest.get(len..).is_some_and(|rest| rest.starts_with('[')) => {
                let degree = rest.get(len..).and_then(|rest| rest.find(']')).map_or(0, |end| end + 1);
                self.put("√", len + degree);
            }
            "sqrt" if is_open => {
                self.braces.push(Brace::Round);
                self.put("√(", len + 1);
            }
            "approx" | "sim" | "simeq" => self.put("≈", len),
            "implies" | "Rightarrow" | "rightarrow" | "to" | "iff" | "therefore" | "because" | "Longrightarrow" => {
                self.put("⇒", len);
            }
            "left" | "right" | "big" | "Big" | "bigg" | "Bigg" | "bigl" | "bigr" => self.put("", len),
            name if LOOKS.contains(&name) => self.put(" ", len),
            // What is not known here makes what stands beside it unreadable.
            _ => self.put("√", len),
        }
    }
}

/// Finds the end of a group that begins behind the first sign; of one that is not closed, of its brace.
fn group_end(text: &str) -> usize {
    let end = text.bytes().take(MAX_GROUP).position(|byte| byte == b'}');
    end.map_or(2, |at| at + 1)
}

/// Tells whether the group that begins a text is a fraction: `{1 \over 2}`.
fn holds_over(text: &str) -> bool {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices().take(MAX_GROUP) {
        match c {
            '{' => depth += 1,
            '}' if depth == 1 => return false,
            '}' => depth = depth.saturating_sub(1),
            '\\' if depth == 1 && text.get(at..).is_some_and(|rest| rest.starts_with("\\over ")) => return true,
            _ => {}
        }
    }
    false
}

/// Tells whether a line continues with an equals sign, or one that says about how much.
fn continues(text: &str) -> bool {
    let text = text.trim_start_matches(['\n', '\r', ' ', '\t', '&', '\\']);
    text.starts_with(['=', '≈']) || text.starts_with("approx ")
}

/// Tells whether a slash is followed by the unit of a rate. A divisor with the name of a quantity is more likely one
/// than a unit.
fn is_rate(rest: &str) -> bool {
    const QUANTITIES: &[&str] = stepscope_base::list![
        rate speed time times distance total price cost number amount value size length width height area volume count
        sum profit revenue income share part original new old
    ];
    let word: String = rest.chars().skip(1).take_while(|c| c.is_alphabetic()).collect();
    word.chars().count() > 1 && !QUANTITIES.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> String {
        Plain::of(text).text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn typeset_calculations_become_plain_ones() {
        for (typeset, expected) in [
            (r"\(1/3 \times 18 = 6\)", "1/3 * 18 = 6"),
            (r"\[ \frac{1}{2} \cdot \frac{3+1}{4} = 0.5 \]", "((1)/(2)) * ((3+1)/(4)) = 0.5"),
            (r"2^{10} = 1{,}024", "2^(10) = 1,024"),
            (r"\$5 \text{ dollars} \div 2", "$5 dollars / 2"),
            ("**Total = 3 + 4 = 7**", "Total = 3 + 4 = 7"),
            ("2**3", "2**3"),
            ("a ** 2 and **b** (bold)", "a ** 2 and b (bold)"),
            ("$5400/week * 4 weeks", "$5400 week * 4 weeks"),
            ("8 slices/pizza", "8 slices pizza"),
            ("100/rate", "100/rate"),
            ("3x4 = 12", "3 * 4 = 12"),
            ("Future = 5 * 2\n= 10", "Future = 5 * 2 = 10"),
            ("Then. - \\(48 - 2\\)", "Then. 48 - 2"),
            ("[60 + 40] / 2", "(60 + 40) / 2"),
            (r"S_{85,5} = 4", "S = 4"),
            (r"\boxed{30}", "30"),
            (r"\frac35\cdot 150", "((3)/(5)) * 150"),
            (r"\frac1{12} + \frac{1}2 + \dfrac 1 2", "((1)/(12)) + ((1)/(2)) + ((1)/(2))"),
            (r"{1 \over 2} \times 36", "((1 )/( 2)) * 36"),
            ("45{,}000 + 2{.}40", "45,000 + 2.40"),
            (r"\text{B} = 3.14 \times \text{r}^2", "B = 3.14 * r ^2"),
            (r"10^4\,\mathrm{m^2} + 3\,\text{cm}^2 + x^2", "10^4 m + 3 cm + x^2"),
        ] {
            assert_eq!(plain(typeset), expected, "{typeset}");
        }
        // What is not known makes its neighbours unreadable.
        assert!(plain(r"50 - 50 \cos x").contains('√'));
    }

    proptest::proptest! {
        #[test]
        fn every_byte_has_its_place(text in "[ a-z0-9{}$^_=*/.\\\\\n¢×-]{0,60}") {
            let made = Plain::of(&text);
            for at in 0..made.text.len() {
                proptest::prop_assert!(made.place(at) < text.len());
            }
        }
    }
}
