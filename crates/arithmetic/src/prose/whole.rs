//! Test of a reading against the whole text: every word is an operation, part of an operand, the result's own name,
//! or one that says nothing for the calculation. What leaves a word over is no plan.

use std::ops::Range;

use super::cues::{Cue, cue, is_command};
use super::input::{BLOCKED, Input};
use super::reader::{PURPOSE_VERBS, PhraseReader, Tree};
use super::words::{Word, lower_words, value_of};
use crate::expression::{Operation, numbers};
use crate::number::Number;
use crate::number_words::number_word;

/// Words of an operand that do not tell which one it is.
const OF_OPERANDS: &[&str] = stepscope_base::list![
    the a an this that these those its his her their our your my of in on at for to by with from as it he she they them we
    you who which what whose there is are was were be been has have had do does did number count amount value values
    quantity one ones variable given s
];
/// Words beside the operands that change nothing about the calculation.
const BESIDE: &[&str] = stepscope_base::list![
    the a an this that these those its his her their our your my of in on at for to by with from as and into it he she they
    them we you is are was were be has have then next finally now here simply just so therefore thus hence also how many
    much symbolically symbolic expression formula final answer compute calculate find determine get obtain evaluate work
    out form define express write set assign let take use using make makes store save report give gives giving yield yields
    yielding produce producing result resulting represent equal equals order total number amount value quantity sum product
    difference quotient variable need want must should can start starting begin step computed calculated which there first
];
/// Words by which the name of a result says how it came about: they must be the result's own.
const TELLING: &[&str] = stepscope_base::list![
    after before without with including excluding except but not no minus plus less more than net gross each half twice
    double until over under above below extra additional remaining remain remains left rest unless if when where once whole
    full plus tax tip discount while during another again other only
];
/// Words that name what is listed without telling what it is.
const THINGS: &[&str] = stepscope_base::list![
    amount amounts number numbers value values result results quantity quantities product products sum sums total totals
    figure figures item items part parts term terms
];
/// Words that say of a list that it is all of the inputs.
const ALL: &[&str] =
    stepscope_base::list![all both these those together up different various every each individual separate across];
/// Nouns for the result of the step before.
const RESULTS: &[&str] = stepscope_base::list![
    rest total sum result difference product quotient remainder that what left remains
];
/// Words about rounding.
const ROUNDING: &[&str] = stepscope_base::list![
    round rounded rounding up down to the nearest next whole full number integer decimal decimals place places a an and
    one two three cent cents dollar dollars multiple of result answer if necessary needed it
];
/// Adjectives that compare amounts: "as old as".
const AMOUNTS: &[&str] = stepscope_base::list![many much old long tall heavy large big high expensive far fast];
/// Words that are rates in a product: "the price of each ticket".
const EACH: &[&str] = stepscope_base::list![each every per single];
/// Days and months are named by these words.
const KINDS: [(&str, &[&str]); 2] = [
    ("day", &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]),
    (
        "month",
        &[
            "january",
            "february",
            "march",
            "april",
            "may",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ],
    ),
];
/// Forms of words that no ending explains.
const FORMS: [(&str, &str); 26] = [
    ("children", "child"),
    ("people", "person"),
    ("men", "man"),
    ("women", "woman"),
    ("feet", "foot"),
    ("halves", "half"),
    ("sold", "sell"),
    ("spent", "spend"),
    ("paid", "pay"),
    ("bought", "buy"),
    ("given", "give"),
    ("gave", "give"),
    ("eaten", "eat"),
    ("ate", "eat"),
    ("won", "win"),
    ("lost", "lose"),
    ("made", "make"),
    ("driven", "drive"),
    ("drove", "drive"),
    ("ran", "run"),
    ("grown", "grow"),
    ("grew", "grow"),
    ("kept", "keep"),
    ("qty", "quantity"),
    ("num", "number"),
    ("taken", "take"),
];
/// No list of more phrases is matched to inputs.
const MAX_LISTED: usize = 8;

/// The result that a step is to write.
#[derive(Clone, Copy, Debug, Default)]
pub struct Output<'t> {
    /// Name of its variable.
    pub name: &'t str,
    /// Description of the variable.
    pub description: &'t str,
}

/// Meanings that the words of a sentence were given while it was read.
#[derive(Clone, Debug, Default)]
pub(super) struct TakenWords {
    /// Phrases that name an operand, each with its leaf.
    pub(super) leaves: Vec<(Range<usize>, usize)>,
    /// Operation words, numbers, and what belongs to them.
    pub(super) words: Vec<Range<usize>>,
    /// Phrases that name a list of inputs.
    pub(super) lists: Vec<Range<usize>>,
    /// Words between two operations that say what for: "… to get the pay, then …".
    pub(super) purposes: Vec<Range<usize>>,
}

/// A word without its ending: `starting` and `starts` are one.
pub(super) fn root(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some((_, form)) = FORMS.iter().find(|(other, _)| *other == lower) {
        return root(form);
    }
    let mut stem = lower.as_str();
    let cut = |stem: &str, ending: &str, least: usize| {
        stem.strip_suffix(ending).filter(|rest| rest.len() >= least).map(str::len)
    };
    if let Some(len) = cut(stem, "ies", 2) {
        return format!("{}y", &stem[..len]);
    }
    if !stem.ends_with("ss") {
        stem = stem.strip_suffix('s').filter(|rest| rest.len() > 2).unwrap_or(stem);
    }
    for (ending, least) in [("ing", 3), ("ed", 2), ("ly", 3)] {
        if let Some(len) = cut(stem, ending, least) {
            stem = stem.get(..len).unwrap_or(stem);
            break;
        }
    }
    let mut root = stem.strip_suffix('e').filter(|rest| rest.len() > 1).unwrap_or(stem).to_owned();
    // "stopping" and "stop"
    let mut ends = root.chars().rev();
    if let (Some(a), Some(b)) = (ends.next(), ends.next())
        && a == b
        && root.len() > 3
        && !matches!(a, 's' | 'l' | 'e' | 'o')
    {
        root.pop();
    }
    root
}

/// The roots of all words of some texts.
fn roots(texts: &[&str]) -> Vec<String> {
    texts.iter().flat_map(|text| lower_words(text)).flat_map(|word| parts_of(&word)).collect()
}

/// The root of a word, and of `round2` both its parts.
fn parts_of(word: &str) -> Vec<String> {
    let digits = word.find(|c: char| c.is_ascii_digit()).filter(|at| *at > 0);
    match digits.and_then(|at| word.split_at_checked(at)) {
        Some((name, number)) => vec![root(name), number.to_owned()],
        None => vec![root(word)],
    }
}

/// The words of a description up to where it says more about its noun: "Pens in one box" are pens.
fn head(text: &str) -> Vec<String> {
    const MORE: &[&str] = stepscope_base::list![per in for on with at from after before each to by when that who over];
    let words = lower_words(text);
    let end = words.iter().position(|word| MORE.contains(&word.as_str())).unwrap_or(words.len());
    words.into_iter().take(end).flat_map(|word| parts_of(&word)).collect()
}

/// An input by its words.
struct Vocabulary {
    /// Every word of its name and description.
    all: Vec<String>,
    /// Those that name it, without what it is measured by.
    heads: Vec<String>,
    /// Its name.
    name: Vec<String>,
}

impl Vocabulary {
    fn of(input: &Input<'_>) -> Self {
        let all = roots(&[input.name, input.variable, input.description]);
        let heads = [head(input.name), head(input.variable), head(input.description)].concat();
        // "total_cost" is the cost, "boxes_count" the boxes.
        let counts = ["number", "total", "count", "quantity", "amount", "all"];
        let name = head(input.variable).into_iter().filter(|part| !counts.contains(&part.as_str())).collect();
        Self { all, heads, name }
    }

    fn has(&self, word: &str) -> bool {
        self.all.iter().any(|own| own == word)
    }
}

/// The account of one sentence.
pub(super) struct Account<'r, 'w, 't> {
    reader: &'r PhraseReader<'w, 't>,
    inputs: Vec<Vocabulary>,
    output: Vec<String>,
}

impl<'r, 'w, 't> Account<'r, 'w, 't> {
    pub(super) fn of(reader: &'r PhraseReader<'w, 't>) -> Self {
        let output = roots(&[reader.output.name, reader.output.description]);
        Self { reader, inputs: reader.inputs.iter().map(Vocabulary::of).collect(), output }
    }

    /// Tells of a leaf and an input whether the phrase names this input, whole, and no other.
    pub(super) fn names(&self, leaf: usize, input: usize, tree: &Tree) -> bool {
        let is_product = !sums(tree);
        let mut phrases = self.reader.taken.leaves.iter().filter(|(_, of)| *of == leaf).peekable();
        phrases.peek().is_some() && phrases.all(|(phrase, _)| self.is_named(phrase, input, is_product))
    }

    fn is_named(&self, phrase: &Range<usize>, input: usize, is_product: bool) -> bool {
        let (Some(words), Some(own), Some(read)) =
            (self.reader.words.get(phrase.clone()), self.inputs.get(input), self.reader.inputs.get(input))
        else {
            return false;
        };
        let is_taken = |at: usize| self.reader.taken.words.iter().any(|range| range.contains(&at));
        let own_words = || phrase.clone().zip(words).filter(|(at, _)| !is_taken(*at)).map(|(_, word)| word);
        let mut said: Vec<(&Word<'_>, &str)> = own_words()
            .map(|word| (word, word.lower.as_ref()))
            .filter(|(_, word)| !OF_OPERANDS.contains(word))
            .collect();
        if said.is_empty() {
            // "Divided by the quantity"
            let is_counted = |word: &&str| matches!(*word, "quantity" | "number" | "count" | "amount" | "value");
            said = own_words()
                .map(|word| (word, word.lower.as_ref()))
                .filter(|(_, word)| is_counted(word) && own.has(&root(word)))
                .collect();
        }
        // "The result", "it": what the step before gave.
        if said.iter().all(|(_, word)| RESULTS.contains(word) && !own.has(&root(word))) {
            return read.running || self.inputs.len() == 1;
        }
        let explains = |(word, lower): &(&Word<'_>, &str)| {
            let parts = lower_words(word.text);
            let is_own = own.has(&root(lower)) || !parts.is_empty() && parts.iter().all(|part| own.has(&root(part)));
            let is_each = is_product && EACH.contains(lower);
            let is_share = matches!(*lower, "percent" | "percentage") || word.is_percent();
            let is_full = self.reader.fits
                && matches!(*lower, "how" | "many" | "whole" | "full" | "complete" | "entire" | "groups" | "times");
            is_own || is_each || is_share || is_full || word.number.is_some() && word.number == read.value
        };
        if !said.iter().all(explains) {
            return false;
        }
        let roots: Vec<String> = said
            .iter()
            .flat_map(|(word, lower)| lower_words(word.text).into_iter().chain([(*lower).to_owned()]))
            .flat_map(|word| parts_of(&word))
            .collect();
        let in_full = |vocabulary: &Vocabulary| {
            !vocabulary.name.is_empty() && vocabulary.name.iter().all(|part| roots.contains(part))
        };
        let others = || self.inputs.iter().enumerate().filter(|(at, _)| *at != input).map(|(_, other)| other);
        let is_better = |other: &Vocabulary| in_full(other) && other.name.len() > own.name.len();
        if in_full(own) && !others().any(is_better) {
            return true;
        }
        let is_own = |word: &String| own.has(word) && !others().any(|other| other.heads.contains(word));
        self.inputs.len() == 1 || roots.iter().any(is_own)
    }

    /// Tells whether the phrases of the lists name these inputs and no others.
    pub(super) fn lists(&self, absorbed: &[usize]) -> bool {
        match self.reader.taken.lists.as_slice() {
            [] => absorbed.is_empty(),
            [one] => self.names_all(one, absorbed),
            several => several.len() == absorbed.len() && several.len() <= MAX_LISTED && self.pairs(several, absorbed),
        }
    }

    /// "The two costs", "all scores": every word is one of each of the inputs.
    fn names_all(&self, phrase: &Range<usize>, absorbed: &[usize]) -> bool {
        let words = &self.reader.words[phrase.clone()];
        let own: Vec<&Vocabulary> = absorbed.iter().filter_map(|at| self.inputs.get(*at)).collect();
        let counted = words.iter().any(|word| self.counts(word, absorbed.len()));
        let is_all = absorbed.len() == self.inputs.len() || words.iter().any(|word| ALL.contains(&word.lower.as_ref()));
        let is_common = |word: &str| own.iter().all(|own| own.heads.iter().any(|own| own == word));
        let is_kind = |word: &str| {
            let kind = KINDS.iter().find(|(kind, _)| root(kind) == word);
            kind.is_some_and(|(_, names)| own.iter().all(|own| names.iter().any(|name| own.has(&root(name)))))
        };
        let said = content(words, OF_OPERANDS);
        // "All ingredient costs" are all costs there are.
        let is_every = said.iter().any(|(_, lower)| ALL.contains(lower)) && absorbed.len() == self.inputs.len();
        let explained = said.iter().enumerate().all(|(at, (word, lower))| {
            let root = root(lower);
            let next = said.get(at + 1).filter(|_| is_every && word.number.is_none() && !TELLING.contains(lower));
            if next.is_some_and(|(_, next)| next.ends_with('s') && is_common(&self::root(next))) {
                return true;
            }
            ALL.contains(lower)
                || self.counts(word, absorbed.len())
                || is_common(&root)
                || is_kind(&root)
                || (THINGS.contains(lower) && (counted || is_all))
        });
        let is_named = said.iter().any(|(_, lower)| is_common(&root(lower)) || is_kind(&root(lower)));
        let is_thing = words.iter().any(|word| THINGS.contains(&word.lower.as_ref()));
        // "Add both": so many as there are.
        let is_plain = said.iter().all(|(word, lower)| ALL.contains(lower) || self.counts(word, absorbed.len()));
        // One of them may be how many there are.
        let is_count = |own: &&Vocabulary| own.all.iter().any(|word| matches!(word.as_str(), "number" | "count"));
        let some_count = own.iter().any(is_count) && !own.iter().all(is_count);
        explained && !some_count && (counted || is_all) && (is_named || is_thing || is_plain)
    }

    fn counts(&self, word: &Word<'_>, count: usize) -> bool {
        let both = word.lower == "both" && count == 2;
        both || word.number.and_then(|number| number.integer()).and_then(|n| usize::try_from(n).ok()) == Some(count)
    }

    /// Finds for every phrase an input of its own.
    fn pairs(&self, phrases: &[Range<usize>], absorbed: &[usize]) -> bool {
        let Some((first, rest)) = phrases.split_first() else { return absorbed.is_empty() };
        absorbed.iter().any(|input| {
            let others: Vec<usize> = absorbed.iter().copied().filter(|other| other != input).collect();
            self.is_named(first, *input, false) && self.pairs(rest, &others)
        })
    }

    /// Tells whether all words beside the operands say nothing for the calculation, or name the result. The sentence ends
    /// where `rounding` begins.
    pub(super) fn beside(&self, sentence: &Range<usize>, rounding: Option<Range<usize>>, tree: &Tree) -> bool {
        let taken = &self.reader.taken;
        let mut covered = vec![false; self.reader.words.len()];
        let ranges = taken.leaves.iter().map(|(range, _)| range).chain(&taken.words).chain(&taken.lists);
        for at in ranges.clone().flat_map(Clone::clone) {
            if let Some(covered) = covered.get_mut(at) {
                *covered = true;
            }
        }
        for purpose in &taken.purposes {
            let words = &self.reader.words[purpose.clone()];
            let names = |(at, word): (usize, &Word<'_>)| self.names_result(word, words.get(at.wrapping_sub(1)));
            if words.iter().enumerate().all(names) {
                for at in purpose.clone() {
                    if let Some(covered) = covered.get_mut(at) {
                        *covered = true;
                    }
                }
            }
        }
        // "whole = a * b. Assign whole to the product."
        let words = self.reader.words;
        let named = |word: &Word<'_>| {
            words.windows(2).any(|pair| matches!(pair, [name, equals] if equals.equals && name.lower == word.lower))
        };
        for (word, covered) in words.iter().zip(&mut covered) {
            *covered |= named(word);
        }
        let first = ranges.clone().map(|range| range.start).min().unwrap_or(sentence.start);
        let last = ranges.map(|range| range.end).max().unwrap_or(sentence.start);
        let open = |range: Range<usize>| range.filter(|at| covered.get(*at) == Some(&false)).collect::<Vec<_>>();
        let end = rounding.as_ref().map_or(sentence.end, |rounding| rounding.start);
        let strict = |at: &usize| self.is_beside(*at, tree);
        let before = &self.reader.words[sentence.start..first.min(end)];
        let behind = &self.reader.words[last.min(end)..end];
        self.introduces(before)
            && self.follows(behind, last.min(end), tree)
            && open(first..last.min(end)).iter().all(strict)
            && open(0..sentence.start).iter().all(strict)
            && open(sentence.end..self.reader.words.len()).iter().all(strict)
            && rounding.is_none_or(|rounding| open(rounding).iter().all(|at| self.is_rounding(*at)))
    }

    fn word(&self, at: usize) -> &str {
        self.reader.words.get(at).map_or("", |word| word.lower.as_ref())
    }

    fn is_rounding(&self, at: usize) -> bool {
        let word = self.word(at);
        let is_number = self.reader.words.get(at).is_some_and(|word| word.number.is_some());
        let is_place = number_word(word.strip_suffix('s').unwrap_or(word).as_bytes()).is_some();
        ROUNDING.contains(&word) || is_number || is_place || self.is_known(word)
    }

    /// Tells whether a word is one of the inputs' or of the output's.
    fn is_known(&self, word: &str) -> bool {
        let root = root(word);
        self.output.contains(&root) || self.inputs.iter().any(|input| input.has(&root))
    }

    /// Tells whether a word says nothing beside the operands, by the operations around it.
    fn is_beside(&self, at: usize, tree: &Tree) -> bool {
        let word = self.word(at);
        let number = self.reader.words.get(at).is_some_and(|word| word.number.is_some());
        let of_operation = match word {
            "off" | "away" => holds(tree, Operation::Subtract),
            "together" | "up" | "altogether" => holds(tree, Operation::Add),
            "equally" | "evenly" | "equal" | "among" | "amongst" | "over" | "across" => holds(tree, Operation::Divide),
            "parts" | "groups" | "shares" => holds(tree, Operation::Divide),
            "between" => holds(tree, Operation::Divide) || holds(tree, Operation::Subtract),
            "than" => holds(tree, Operation::Subtract),
            _ => false,
        };
        !number && (of_operation || BESIDE.contains(&word) || self.output.contains(&root(word)))
            || word == "as"
            || AMOUNTS.contains(&word) && (self.word(at + 1) == "as" || at > 0 && self.word(at - 1) == "as")
    }

    /// Tells whether the words in front of a calculation only name its result.
    fn introduces(&self, words: &[Word<'_>]) -> bool {
        let is_verb = |word: &Word<'_>| {
            matches!(word.lower.as_ref(), "is" | "are" | "was" | "were" | "has" | "have" | "had" | "equals" | "costs")
                || matches!(
                    word.lower.as_ref(),
                    "pay" | "pays" | "cost" | "keeps" | "needs" | "earns" | "runs" | "gets"
                )
        };
        let commands = words.first().is_some_and(|word| is_command(&word.lower) || word.lower == "to");
        let states = !commands && words.iter().any(is_verb);
        let said = content(words, OF_OPERANDS);
        // "There are twice as many sheep as cows" names its subject later.
        if states && words.first().is_none_or(|word| word.lower != "there") {
            // What is said of an input asks for something else.
            let is_other = |root: &String| !self.inputs.iter().any(|input| input.has(root));
            let mut roots = said.iter().map(|(_, lower)| root(lower));
            if !roots.any(|root| self.output.contains(&root) && is_other(&root)) {
                return false;
            }
        }
        words.iter().enumerate().all(|(at, word)| {
            let is_alias =
                words.get(at + 1).map_or(at + 1 == words.len() && self.is_assigned(words), |next| next.equals);
            is_alias || self.names_result(word, words.get(at.wrapping_sub(1)))
        })
    }

    /// Tells whether an equals sign stands behind these words, which begin a sentence.
    fn is_assigned(&self, words: &[Word<'_>]) -> bool {
        let behind = words.last().and_then(|last| self.reader.words.iter().position(|word| std::ptr::eq(word, last)));
        behind.and_then(|at| self.reader.words.get(at + 1)).is_some_and(|word| word.equals)
    }

    /// Tells whether the words behind a calculation only say what for: "to get the total cost".
    fn follows(&self, words: &[Word<'_>], from: usize, tree: &Tree) -> bool {
        let word = |at: usize| words.get(at).map_or("", |word| word.lower.as_ref());
        let is_purpose = match word(0) {
            "to" => PURPOSE_VERBS.contains(&word(1)),
            "in" => word(1) == "order",
            "giving" | "yielding" | "producing" | "resulting" => true,
            "and" => matches!(word(1), "store" | "assign" | "save" | "set"),
            "which" => matches!(word(1), "gives" | "yields"),
            _ => false,
        };
        if is_purpose {
            return words.iter().enumerate().all(|(at, word)| self.names_result(word, words.get(at.wrapping_sub(1))));
        }
        (from..from + words.len()).all(|at| self.is_beside(at, tree))
    }

    /// Tells whether a word can be part of a result's name, or of the command to work it out.
    fn names_result(&self, word: &Word<'_>, before: Option<&Word<'_>>) -> bool {
        let lower = word.lower.as_ref();
        if self.is_known(lower) && (self.output.contains(&root(lower)) || !TELLING.contains(&lower)) {
            return true;
        }
        let is_cue = match cue(std::slice::from_ref(word), 0) {
            Some((Cue::Convert, _)) => false,
            Some(_) => !matches!(lower, "sum" | "product" | "total" | "difference" | "quotient"),
            None => false,
        };
        let is_compared = before.is_some_and(|before| before.lower == "how") && matches!(lower, "many" | "much");
        is_compared
            || !(TELLING.contains(&lower)
                || word.number.is_some()
                || number_word(lower.as_bytes()).is_some()
                || BLOCKED.contains(&lower)
                || is_cue
                || value_of(lower).is_some())
    }
}

/// The words of a phrase that are none of a list, with their lower case.
fn content<'p, 't>(words: &'p [Word<'t>], fillers: &[&str]) -> Vec<(&'p Word<'t>, &'p str)> {
    words.iter().map(|word| (word, word.lower.as_ref())).filter(|(_, lower)| !fillers.contains(lower)).collect()
}

/// Tells whether something is added or subtracted in a tree.
fn sums(tree: &Tree) -> bool {
    holds(tree, Operation::Add) || holds(tree, Operation::Subtract)
}

fn holds(tree: &Tree, operation: Operation) -> bool {
    match tree {
        Tree::Pair(own, left, right) => *own == operation || holds(left, operation) || holds(right, operation),
        Tree::Difference(left, right) => {
            operation == Operation::Subtract || holds(left, operation) || holds(right, operation)
        }
        Tree::Rest(own, _) => *own == operation,
        Tree::Mean => matches!(operation, Operation::Add | Operation::Divide),
        Tree::Leaf(_) | Tree::Number(_) | Tree::Percent(_) | Tree::Only | Tree::Running => false,
    }
}

/// Tells whether every word in parentheses is one of the inputs' or the output's, and every number a known one.
pub(super) fn explains_asides(text: &str, inputs: &[Input<'_>], output: &Output<'_>, known_numbers: &[Number]) -> bool {
    let known = inputs.iter().flat_map(|input| [input.name, input.variable, input.description]);
    let known = roots(&known.chain([output.name, output.description]).collect::<Vec<_>>());
    let mut rest = text;
    while let Some((_, behind)) = rest.split_once('(') {
        let (inner, after) = behind.split_once(')').unwrap_or((behind, ""));
        let is_value =
            |number: Number| known_numbers.contains(&number) || inputs.iter().any(|input| input.value == Some(number));
        let is_known = |word: &String| {
            let is_number = word.starts_with(|c: char| c.is_ascii_digit());
            let is_filler = OF_OPERANDS.contains(&word.as_str()) || BESIDE.contains(&word.as_str());
            is_number || is_filler || known.contains(&root(word))
        };
        let is_explained = numbers(inner).iter().all(|(number, _)| is_value(number.value));
        if !is_explained || !lower_words(inner).iter().all(is_known) {
            return false;
        }
        rest = after;
    }
    true
}

/// Tells whether a word says nothing for a calculation.
pub(super) fn says_nothing(word: &str) -> bool {
    OF_OPERANDS.contains(&word) || BESIDE.contains(&word) || THINGS.contains(&word)
}

/// Tells whether a word is one of the inputs' or of the output's.
pub(super) fn is_word_of(word: &str, inputs: &[Input<'_>], output: &Output<'_>) -> bool {
    let root = root(word);
    let has = |text: &str| lower_words(text).iter().any(|own| self::root(own) == root);
    has(output.name)
        || has(output.description)
        || inputs.iter().any(|input| has(input.name) || has(input.variable) || has(input.description))
}

/// Tells whether a text has a word of a name that another name lacks.
pub fn speaks_of(text: &str, name: &str, other: &str) -> bool {
    let (said, others) = (roots(&[text]), roots(&[other]));
    roots(&[name]).iter().any(|part| part.len() > 1 && said.contains(part) && !others.contains(part))
}
