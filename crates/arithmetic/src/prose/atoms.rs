//! Names of inputs that a sentence holds as they are, replaced by words that can mean nothing else: "the times hat" is
//! no product, "quantity 1" no one, "sky changes" no change.

use super::input::Input;

/// More places are not replaced.
const MAX_PLACES: usize = 24;
/// Names that are words of the sentence at least as often.
const WORDS: &[&str] = stepscope_base::list![
    total sum product difference quotient ratio average mean rest half remainder result number amount value percentage
    percent times answer more less all both each day days week weeks
];

/// A sentence with its inputs under names of their own.
pub(super) struct Atoms<'t> {
    pub(super) text: String,
    /// The inputs by their new names.
    named: Vec<(String, Input<'t>)>,
}

impl Atoms<'_> {
    pub(super) fn inputs(&self) -> Vec<Input<'_>> {
        self.named.iter().map(|(name, input)| Input { name, ..input.clone() }).collect()
    }
}

/// `None` where an input is not named in full; `each`: one that is named twice counts as two.
pub(super) fn of<'t>(text: &str, inputs: &[Input<'t>], each: bool) -> Option<Atoms<'t>> {
    let mut places: Vec<(usize, usize, usize)> = Vec::new();
    let mut longest: Vec<usize> = (0..inputs.len()).collect();
    longest.sort_by_key(|&n| std::cmp::Reverse(inputs.get(n).map_or(0, |input| input.name.len())));
    for n in longest {
        let name = inputs.get(n)?.name;
        if name.len() < 2 || WORDS.contains(&name) {
            return None;
        }
        let before = places.len();
        let mut from = 0;
        while let Some(at) = find(text, name, from) {
            let end = at + name.len();
            if !places.iter().any(|(start, stop, _)| at < *stop && end > *start) {
                places.push((at, end, n));
            }
            from = end;
        }
        if places.len() == before || places.len() > MAX_PLACES {
            return None;
        }
    }
    places.sort_unstable();
    let mut atoms = Atoms { text: String::with_capacity(text.len()), named: Vec::with_capacity(places.len()) };
    let mut from = 0;
    for (place, (at, end, n)) in places.into_iter().enumerate() {
        let name = format!("q{}", letters(if each { place } else { n }));
        atoms.text.push_str(text.get(from..at)?);
        atoms.text.push_str(&name);
        if !atoms.named.iter().any(|(known, _)| *known == name) {
            atoms.named.push((name, inputs.get(n)?.clone()));
        }
        from = end;
    }
    atoms.text.push_str(text.get(from..)?);
    Some(atoms)
}

/// Finds every place of a name.
pub(super) fn places(text: &str, name: &str) -> Vec<usize> {
    let mut from = 0;
    std::iter::from_fn(|| {
        let at = find(text, name, from)?;
        from = at + name.len().max(1);
        Some(at)
    })
    .take(MAX_PLACES)
    .collect()
}

/// Finds a name from a position on: `total_cost` also as `total cost`, in any case, and never within a longer word.
fn find(text: &str, name: &str, from: usize) -> Option<usize> {
    let (text, name) = (text.as_bytes(), name.as_bytes());
    let same = |a: u8, b: u8| a.eq_ignore_ascii_case(&b) || (a == b'_' && matches!(b, b' ' | b'-'));
    let joins =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80);
    (from..=text.len().checked_sub(name.len())?).find(|&at| {
        let whole = !joins(at.checked_sub(1).and_then(|at| text.get(at))) && !joins(text.get(at + name.len()));
        whole && text.get(at..at + name.len()).is_some_and(|here| name.iter().zip(here).all(|(a, b)| same(*a, *b)))
    })
}

/// A word for a number that is no other word, and no number either.
fn letters(n: usize) -> String {
    n.to_string().bytes().map(|digit| char::from(b'q' + (digit - b'0'))).collect()
}
