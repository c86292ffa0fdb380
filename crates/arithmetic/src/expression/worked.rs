//! Calculations with their results, as people write them into sentences: `So it cost 192*100=$1920`, `$5400/week * 4 weeks
//! = $21600`, `60g * 4/5 = 240g/5 = 48`, `\(1/3 \times 18 = 6\)`, `30 plus 40`, which is none.

use std::borrow::Cow;
use std::ops::Range;

use super::equality::counts_modulo;
use super::parser::Parser;
use super::token::{Lexeme, Names, TokenKind, numbers, tokens};
use super::tree::{Expression, Node, Operation, Single};
use super::words::{IS, SHORT_UNITS};
use crate::number::{Number, Written, near};
use crate::number_words::{NumberWord, number_word};
use crate::quantity::{Unit, unit};
use crate::typeset::{Plain, is_typeset};

/// No text has more of them.
const MAX_FOUND: usize = 100;
/// No chain of equals signs has more sides.
const MAX_SIDES: usize = 12;
/// Factors by which units differ.
const UNITS: [i64; 14] = [10, 100, 1000, 60, 3600, 12, 7, 24, 365, 52, 30, 4, 16, 3];

/// A calculation of a text, with what the text says it gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Worked {
    /// The calculation; it names nothing.
    pub expression: Expression,
    /// Result of the calculation.
    pub gives: Number,
    /// Result as the text states it.
    pub says: Written,
    /// As it is written, up to its result.
    pub text: String,
    /// Byte range in the text that [`plain`] makes.
    pub range: Range<usize>,
}

impl Worked {
    /// Tells whether the text states another number than the calculation gives, and no unit can be the reason.
    pub fn is_wrong(&self) -> bool {
        if self.says.stands_for(self.gives) || self.says.value.is_near(self.gives) {
            return false;
        }
        // No unit: nothing to convert.
        let units = |c: char| c.is_alphabetic() || matches!(c, '$' | '%' | '€' | '£');
        if !self.text.contains(units) {
            return true;
        }
        if mixes_units(&self.text) {
            return false;
        }
        let ratio = self.says.value.over(self.gives).map(Number::magnitude);
        let is_unit = |unit: Number| ratio == Some(unit) || ratio == Number::ONE.over(unit);
        // Of a rounded number people calculate on, and round again.
        let off = (self.says.value.float() - self.gives.float()).abs();
        let rounded = off < 1.0 && off <= 0.02 * self.gives.float().abs();
        !(rounded || ratio.is_none() || UNITS.map(Number::whole).into_iter().any(is_unit))
    }
}

/// Every calculation with a result, in order; `text` is one line or several.
pub fn worked(text: &str) -> Vec<Worked> {
    let mut found = Vec::new();
    if counts_modulo(text) {
        return found;
    }
    let mut offset = 0;
    for line in text.split_inclusive(['\n', ';']) {
        if line.bytes().any(|byte| byte.is_ascii_digit()) && found.len() < MAX_FOUND {
            of_line(line, offset, &mut found);
        }
        offset += line.len();
    }
    found
}

fn of_line(line: &str, offset: usize, found: &mut Vec<Worked>) {
    let Some(list) = tokens(line, &Names::default()) else { return };
    let mut at = 0;
    while let Some(token) = list.get(at) {
        let before = at.checked_sub(1).and_then(|before| list.get(before)).map(|token| token.kind);
        // A minus sign behind a word belongs to its number: "it is -48 + 21".
        let next = list.get(at + 1).filter(|next| !next.spaced && matches!(next.kind, TokenKind::Number(_)));
        let sign = token.kind == TokenKind::Operator(Operation::Subtract)
            && (before == Some(TokenKind::Equals)
                || (token.spaced && next.is_some() && matches!(before, None | Some(TokenKind::Word))));
        let starts = sign || matches!(token.kind, TokenKind::Number(_) | TokenKind::Percent(_) | TokenKind::Open);
        // Behind a number it is the fraction of `5 1/2`.
        let head = line[..token.start].trim_end_matches([' ', '$']);
        // `5:30`, but not `Total:30`.
        let before_colon = line.get(..token.start).and_then(|head| head.strip_suffix(':'));
        let clock = before_colon.is_some_and(|head| head.ends_with(|c: char| c.is_ascii_digit()));
        let compared = clock
            || head.ends_with(['<', '>', '≤', '≥', '≈', '≠', '√'])
            || head.ends_with(" than")
            || counts_some(head);
        let joined = compared || matches!(before, Some(TokenKind::Operator(_) | TokenKind::Number(_)));
        let end = (starts && !joined).then(|| chain(&list, at, line, offset, found)).flatten();
        at = end.unwrap_or(at + 1);
    }
}

/// Tells whether a text ends in a factor in words: `8 packs of`.
fn counts_some(head: &str) -> bool {
    let Some(counted) = head.strip_suffix(" of") else { return false };
    counted.rsplit(' ').take(2).any(|word| word.starts_with(|c: char| c.is_ascii_digit()))
}

/// One side of a chain of equals signs.
struct EquationSide {
    expression: Expression,
    value: Number,
    /// It is a number alone.
    written: Option<Written>,
    /// The number that it begins with.
    first: Option<Written>,
    range: Range<usize>,
}

/// `a * b = c`, `a * b = c / d = e`; where it ends.
fn chain(list: &[Lexeme], start: usize, line: &str, offset: usize, found: &mut Vec<Worked>) -> Option<usize> {
    let (first, mut at) = side(list, start, line)?;
    let mut sides = vec![first];
    while sides.len() < MAX_SIDES
        && let Some(next) = behind_equals(list, at, line, sides.len() == 1)
    {
        let Some((side, end)) = side(list, next, line) else { break };
        sides.push(side);
        at = end;
    }
    for pair in sides.windows(2) {
        let [side, next] = pair else { continue };
        if side.written.is_some() {
            continue;
        }
        // `2 * 3 = 6 + 1 = 7` goes on from its result.
        let goes_on = next.first.filter(|first| first.stands_for(side.value));
        let last = || sides.last().and_then(|last| last.written).filter(|last| last.stands_for(side.value));
        let says = next.written.or(last()).or(goes_on);
        let says = says.unwrap_or(Written { value: next.value, decimals: 6 });
        let range = side.range.start..next.range.end;
        let text = line[range.clone()].to_owned();
        let range = offset + range.start..offset + range.end;
        found.push(Worked { expression: side.expression.clone(), gives: side.value, says, text, range });
    }
    (sides.len() > 1).then_some(at)
}

/// Finds the start of the next side of an equation; behind the first side, `is` counts as an equals sign too.
fn behind_equals(list: &[Lexeme], at: usize, line: &str, first: bool) -> Option<usize> {
    if list.get(at)?.kind == TokenKind::Equals {
        return Some(at + 1);
    }
    let word = |at: usize| list.get(at).and_then(|token| line.get(token.start..token.end));
    let is = (at..at + 3).take_while(|at| list.get(*at).is_some_and(|token| token.kind == TokenKind::Word));
    let is = is.filter(|_| first).find(|at| word(*at).is_some_and(|word| IS.contains(&word)))?;
    matches!(list.get(is + 1)?.kind, TokenKind::Number(_)).then_some(is + 1)
}

fn side(list: &[Lexeme], start: usize, line: &str) -> Option<(EquationSide, usize)> {
    let mut parser = Parser::new(list, start, line, false);
    parser.units = true;
    let root = parser.expression(0)?;
    let (end, nodes) = (parser.at, parser.nodes);
    // Half a calculation would give a wrong number.
    let next = list.get(end).map(|token| token.kind);
    if matches!(next, Some(TokenKind::Operator(_) | TokenKind::Open | TokenKind::Number(_)))
        || usize::from(root) + 1 != nodes.len()
    {
        return None;
    }
    let inside = list.get(start..end)?;
    let excused = |token: &Lexeme| {
        token.kind == TokenKind::Word && line.get(token.start..token.end).is_none_or(|word| changes(word, token.spaced))
    };
    // A factor in words right behind the result belongs to it.
    let behind = list.get(end).filter(|token| token.kind == TokenKind::Word);
    let factor = behind.and_then(|token| line.get(token.start..token.end)).is_some_and(|word| {
        number_word(word.to_lowercase().as_bytes()).is_some_and(|meaning| meaning.factor().is_some())
    });
    if factor || inside.iter().any(excused) {
        return None;
    }
    let expression = Expression { nodes };
    let value = expression.evaluate(|_| None)?;
    let number = inside.iter().find_map(|token| match token.kind {
        TokenKind::Number(number) => Some(number),
        TokenKind::Percent(number) => {
            Some(Written { value: number.value.over(Number::whole(100))?, decimals: number.decimals + 2 })
        }
        _ => None,
    });
    let plain = !expression.is_operation();
    let written = number.filter(|_| plain).map(|number| Written { value, decimals: number.decimals });
    let range = inside.first()?.start..inside.last()?.end;
    Some((EquationSide { expression, value, written, first: number, range }, end))
}

/// Tells whether a word changes the number before it (`dozen`, `million`) or is an unknown.
fn changes(word: &str, spaced: bool) -> bool {
    let lower = word.to_lowercase();
    let meaning = number_word(lower.as_bytes());
    let factor = meaning.is_some_and(|meaning| meaning.factor().or(meaning.count()).is_some())
        || matches!(meaning, Some(NumberWord::Half | NumberWord::Multiple(_)));
    // `1Rex + 1/4Max`
    let name = !spaced && word.len() > 2 && word.starts_with(char::is_uppercase);
    let ordinal = !spaced && matches!(lower.as_str(), "st" | "nd" | "rd" | "th");
    let letter = name || ordinal || word.chars().count() == 1 && !SHORT_UNITS.contains(&word) && word != "a";
    factor || letter || matches!(lower.as_str(), "percent" | "and" | "or" | "plus" | "minus" | "times" | "so" | "then")
}

/// A text with its LaTeX as plain signs, and `4x5`, `27(1/3)` and `$8/hour` as people mean them.
pub fn plain(text: &str) -> Cow<'_, str> {
    let mut out = if is_typeset(text) { Cow::Owned(Plain::of(text).text) } else { Cow::Borrowed(text) };
    if memchr::memmem::find(out.as_bytes(), b"**").is_some() {
        out = Cow::Owned(out.replace("**", ""));
    }
    let bytes = out.as_bytes();
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    let cross = |at: &usize| {
        digit(at.checked_sub(1)) && bytes.get(at + 1).is_some_and(|next| next.is_ascii_digit() || *next == b'$')
    };
    let crosses: Vec<usize> = memchr::memchr3_iter(b'x', b'X', b'(', bytes).filter(cross).collect();
    if crosses.is_empty() {
        return out;
    }
    let mut made = String::with_capacity(out.len() + 2 * crosses.len());
    let mut from = 0;
    for at in crosses {
        made.push_str(&out[from..at]);
        made.push_str(" x ");
        from = if bytes.get(at) == Some(&b'(') { at } else { at + 1 };
    }
    made.push_str(&out[from..]);
    Cow::Owned(made)
}

/// Tells whether a text names amounts in two units of one kind, and no number that converts one into the other: "2 kg +
/// 300 g".
pub fn mixes_units(text: &str) -> bool {
    let found = numbers(text);
    let unit_of = |range: &Range<usize>| {
        let behind = text.get(range.end..)?.trim_start_matches([' ', '-']);
        let word = behind.split(|c: char| !c.is_ascii_alphabetic()).next().expect("a split has a first part");
        let is_dollar = text.get(..range.start).is_some_and(|before| before.ends_with('$'));
        unit(if is_dollar { b"dollar" } else { word.as_bytes() })
    };
    let units: Vec<Unit> = found.iter().filter_map(|(_, range)| unit_of(range)).collect();
    let converts = |ratio: f64| found.iter().any(|(number, _)| near(number.value.float(), ratio));
    units.iter().any(|a| {
        units.iter().any(|b| {
            a.dimension == b.dimension && a.size > b.size && !near(a.size, b.size) && !converts(a.size / b.size)
        })
    })
}

/// The calculation with names in place of the numbers that variables hold: as many of them as there are.
pub fn bound(expression: &Expression, values: &[(u32, Number)]) -> Expression {
    let mut unused: Vec<(u32, Number)> = values.to_vec();
    let mut bind = |number: Number| {
        let same = |value: &(u32, Number)| value.1.is_near(number);
        let again = || values.iter().find(|value| same(value)).map(|value| value.0);
        unused.iter().position(same).map(|at| unused.swap_remove(at).0).or_else(again).map(Node::Name)
    };
    let mut nodes: Vec<Node> = Vec::with_capacity(expression.nodes.len());
    // Of each node, where it is now.
    let mut places: Vec<u16> = Vec::with_capacity(expression.nodes.len());
    for (at, node) in expression.nodes.iter().enumerate() {
        let moved = |of: u16| places[usize::from(of)];
        let is_negated =
            matches!(expression.nodes.get(at + 1), Some(Node::Single(Single::Negate, of)) if usize::from(*of) == at);
        nodes.push(match *node {
            Node::Number(number) if is_negated => bind(number.negated()).unwrap_or(*node),
            Node::Number(number) => bind(number).unwrap_or(*node),
            Node::Percent(number) => number.over(Number::whole(100)).and_then(&mut bind).unwrap_or(*node),
            // What is bound with its sign is negated already.
            Node::Single(Single::Negate, of)
                if matches!(nodes.get(usize::from(moved(of))), Some(Node::Name(_)))
                    && matches!(expression.nodes.get(usize::from(of)), Some(Node::Number(_))) =>
            {
                places.push(moved(of));
                continue;
            }
            Node::Single(single, of) => Node::Single(single, moved(of)),
            Node::Pair(operation, left, right) => Node::Pair(operation, moved(left), moved(right)),
            node => node,
        });
        places.push(nodes.len() as u16 - 1);
    }
    Expression { nodes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<String> {
        let text = plain(text);
        let one = |one: &Worked| format!("{}{}{}", one.gives, if one.is_wrong() { "!" } else { "=" }, one.says.value);
        worked(&text).iter().map(one).collect()
    }

    #[test]
    fn equations_are_read_as_people_write_them() {
        for (text, wanted) in [
            ("So it cost 192*100=$19,200.", "19200=19200"),
            ("He earns $5400/week * 4 weeks = $21600 a month", "21600=21600"),
            ("Then 60 - 15 = 45 flowers are left.", "45=45"),
            ("which is 60g * 4/5 = 240g/5 = 48 grams", "48=48 48=48"),
            ("5 hours * 18 mph = 90 miles", "90=90"),
            ("He pays 4x5=20 and then 3 × $4 each = $12", "20=20 12=12"),
            ("10 ÷ 4 = 2.5", "2.5=2.5"),
            ("20% of 50 = 10 and (3 + 2) apples * 4 = 20", "10=10 20=20"),
            ("Thus \\(1/3 \\times 18 = 6\\) and \\frac{1}{2} \\times 8 \\text{ pounds} = 4 \\text{ pounds}", "6=6 4=4"),
            ("30 + 40 is 70", "70=70"),
            ("7995 (total cookies) - 2595 (rainbow cookies) = 5400", "5400=5400"),
            ("a total of $6 + $8 + $20 = $34, and 32 on Monday + 64 on Tuesday = 96 classes", "34=34 96=96"),
            ("2 * 3 = 6 + 1 = 7", "6=6 7=7"),
            ("The rest is 5 - 8 = -3", "-3=-3"),
            ("That is 1,000 + 200 = 1,300", "1200!1300"),
            ("2 * $0.25 = 50 cents", "0.5=50"),
            ("It costs 10/3 = 3.33 each", "10/3=3.33"),
            ("₹1,20,000 ÷ 4 = ₹30,000 per worker", "30000=30000"),
            ("12,34,56,789 + 1 = 123456790", "123456790=123456790"),
            ("2.4 × 10^4 m^2 = 24000 m^2", "24000=24000"),
            (r"$\frac35\cdot 150=90$", "90=90"),
            (r"${1 \over 2} \times 36 = 18$", "18=18"),
            ("$45{,}000 + 5400 = 50400$", "50400=50400"),
        ] {
            assert_eq!(found(text).join(" "), wanted, "{text}");
        }
    }

    #[test]
    fn numbers_become_the_names_of_those_that_hold_them() {
        let values = [(0, Number::whole(-2)), (1, Number::whole(7)), (2, Number::fraction(1, 5).unwrap())];
        for (text, formula) in [
            ("-2 + 7 = 5", "a + b"),
            ("50 - 7 - 5 - 7 = 31", "50 − b − 5 − b"),
            ("4 - 2 * -2 = 8", "4 − 2 × a"),
            ("20% * 50 = 10", "c × 50"),
        ] {
            let found = worked(text);
            let name = |id: u32| ["a", "b", "c"][id as usize].to_owned();
            assert_eq!(bound(&found[0].expression, &values).formula(&name), formula, "{text}");
        }
    }

    #[test]
    fn what_is_no_equation_of_numbers_is_left_alone() {
        for text in [
            "s + s + 30 = 110",
            "8 packs of 5 bags * $4/pack = $160",
            "because 11 < 30 / 11 = 11",
            "from the 1st - 5 = 6th",
            "1Rex+1/4Max=3/4Max",
            "2x + 3 = 13",
            "2s + 30 = 110",
            "45=(2*x)-5",
            "3 dozen * 2 = 72",
            "half of 3 * 2 million = 5",
            "Rs 1.2 lakh / 4 = 30000",
            "2 * 3 apples^2 = 12",
            "x = 5",
            "8:30 + 2 = 10",
            "1/2 + 1 1/2 = 2, or 3 / 2 = 1 1/2",
        ] {
            assert_eq!(found(text), Vec::<String>::new(), "{text}");
        }
        assert_eq!(found("4*x = 40 - 8 = 32"), ["32=32"]);
    }
}
