//! Links between the quantities of a question and the values of its run: which value holds which quantity, which
//! quantity is missing, which value has no source. Made once a record and shared by the rules; every set is a bit mask,
//! so that it costs little.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use stepscope_arithmetic::number::Number;
use stepscope_arithmetic::number_words::{NumberWord, number_word};
use stepscope_arithmetic::quantity::fit::{QuantityFit, converts, derived, fit, misread, scaled_fit, worked_out};
use stepscope_arithmetic::quantity::language::is_read;
use stepscope_arithmetic::quantity::spelling::Spellings;
use stepscope_arithmetic::quantity::{Kind, Quantity, find, near, unit};
use stepscope_base::json::{Kind as JsonKind, Member, Value};
use stepscope_base::text::Untrusted;
use stepscope_record::procedure::{FINAL_ANSWER, Field, PROBLEM_TEXT, Procedure, Step, words_apart};
use stepscope_record::state::State;
use stepscope_record::trace::{asks_otherwise, overrides};
use stepscope_record::{Record, RecordKind};

/// Maximum number of quantities, and of variables, that are linked.
const MAX_LINKED: usize = 64;
/// A longer text in a state is prose.
const LONG_TEXT: usize = 200;
/// Words in common that name a quantity; the very next one names it too.
const NAMED: usize = 6;
/// Bytes of the question on each side of a quantity that are compared with a variable's name and description.
const AROUND: usize = 48;

/// The quantities of a question and the variables that a run extracted.
#[derive(Clone, Debug)]
pub struct QuantityLinks {
    /// The quantities of the question; their `variables` are empty here.
    pub quantities: Vec<Quantity>,
    /// The variables that steps with the question before them wrote.
    pub holders: Vec<LinkedVariable>,
    /// Sure quantities that no value, no description and no step text holds.
    pub missed: Vec<UnusedQuantity>,
    /// Holders whose number is not in the question and follows from nothing.
    pub invented: Vec<usize>,
    /// Numbers that were probably misread.
    pub changed: Vec<AlteredQuantity>,
    /// For each quantity, the holders that hold or describe it.
    taken: Vec<u64>,
}

/// A variable that a step with the question before it wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkedVariable {
    /// The position of the step.
    pub step: usize,
    /// Its place among the step's outputs.
    pub output: usize,
    /// True if the step does nothing but extract.
    pub extracts: bool,
}

impl LinkedVariable {
    /// Its declaration.
    pub fn field<'a>(&self, procedure: &Procedure<'a>) -> Option<Field<'a>> {
        procedure.steps.get(self.step)?.outputs.get(self.output).copied()
    }

    /// Its name.
    pub fn name<'a>(&self, procedure: &Procedure<'a>) -> Option<Untrusted<'a>> {
        self.field(procedure)?.name_text()
    }
}

impl QuantityLinks {
    /// `None` where there is nothing to compare: no question, no plan, no state, or a question that a person overrode.
    pub fn of(record: &Record<'_>, procedure: Option<&Procedure<'_>>) -> Option<Self> {
        let state = record.state.filter(|state| state.kind() == JsonKind::Object)?;
        if !matches!(record.kind, RecordKind::Procedural | RecordKind::Fixed) || asks_otherwise(record) {
            return None;
        }
        let question = question_of(record)?.string()?;
        let mut holdings = holdings(procedure?);
        if holdings.is_empty() || !is_read(question.bytes()) {
            return None;
        }
        let quantities = find(question.bytes());
        fill(&mut holdings, state, &question);
        for set in overrides(record) {
            let own = holdings.iter_mut().filter(|holding| holding.name == set.variable);
            own.for_each(|holding| holding.overridden(set.was));
        }
        for holding in &mut holdings {
            let text = procedure.and_then(|procedure| procedure.steps.get(holding.holder.step)?.text?.string());
            holding.holder.extracts &= !text.is_some_and(|text| says_value(text.bytes(), holding.value));
        }
        let links = Self {
            taken: vec![0; quantities.len().min(MAX_LINKED)],
            quantities,
            holders: holdings.iter().map(|holding| holding.holder).collect(),
            missed: Vec::new(),
            invented: Vec::new(),
            changed: Vec::new(),
        };
        let mut linking = Linking { question, holdings, links };
        linking.link();
        linking.judge(procedure?, state);
        Some(linking.links)
    }

    /// Links a chain of thought: a value took up what its calculation uses; missed is what occurs in no step. `uses`
    /// are the values with the numbers of their calculations, `numbers` those of all steps.
    pub(crate) fn of_uses(question: &[u8], uses: &[(LinkedVariable, Vec<Number>)], numbers: &[Quantity]) -> Self {
        let quantities = find(question);
        // "52 - 48 = 4 million" counts in the millions of the question.
        let scale_of = |quantity: &Quantity| scale_of(&question[quantity.span.clone()]);
        let is_scaled = |quantity: &Quantity, number: f64| {
            scale_of(quantity).is_some_and(|scale| scaled_fit(quantity, number, scale) != QuantityFit::None)
        };
        let fits = |quantity: &Quantity, number: f64| {
            fit(quantity, number) >= QuantityFit::Kind || is_scaled(quantity, number)
        };
        let uses_it = |quantity: &Quantity| {
            let all = uses.iter().take(MAX_LINKED).enumerate();
            let it = all.filter(|(_, (_, used))| used.iter().any(|number| fits(quantity, number.float())));
            it.fold(0_u64, |mask, (n, _)| mask | 1 << n)
        };
        let taken: Vec<u64> = quantities.iter().take(MAX_LINKED).map(uses_it).collect();
        let is_missed = |(n, quantity): &(usize, &Quantity)| {
            let stands = || {
                let fits = |number: f64| fit(quantity, number) != QuantityFit::None || is_scaled(quantity, number);
                numbers.iter().any(|number| fits(number.float()))
            };
            quantity.sure && taken.get(*n) == Some(&0) && !stands()
        };
        let missed = quantities.iter().enumerate().filter(is_missed);
        let missed = missed.map(|(quantity, _)| UnusedQuantity { quantity, room: false }).collect();
        let holders = uses.iter().map(|(holder, _)| *holder).collect();
        Self { quantities, holders, missed, invented: Vec::new(), changed: Vec::new(), taken }
    }

    /// The holders that hold or describe a quantity.
    pub fn holders_of(&self, quantity: usize) -> impl Iterator<Item = usize> + '_ {
        bits(self.taken.get(quantity).copied().unwrap_or(0))
    }

    /// Tells whether a value occurs in the question, in a form in which its quantity may be written.
    pub(crate) fn stands(&self, value: f64) -> bool {
        self.quantities.iter().any(|quantity| quantity.sure && fit(quantity, value) >= QuantityFit::Kind)
    }

    /// Tells whether a text with these numbers (a worked solution) uses a quantity.
    pub(crate) fn is_used_in(&self, quantity: usize, numbers: &[Quantity]) -> bool {
        let Some(quantity) = self.quantities.get(quantity) else { return false };
        let counts =
            |number: &&Quantity| !matches!(number.kind, Kind::Label | Kind::Ordinal | Kind::Each | Kind::Period);
        numbers.iter().filter(counts).any(|number| fit(quantity, number.float()) >= QuantityFit::Kind)
    }
}

/// An [`QuantityLinks`] in the making, with the texts that it looks at.
struct Linking<'a> {
    question: Untrusted<'a>,
    holdings: Vec<Link<'a>>,
    links: QuantityLinks,
}

/// A holder with what it holds.
struct Link<'a> {
    holder: LinkedVariable,
    name: Untrusted<'a>,
    description: Option<Value<'a>>,
    value: Option<Value<'a>>,
    /// The quantities it holds, one bit each.
    links: u64,
    content: Content,
    /// True if another step writes it too: then it is unknown what this one wrote.
    rewritten: bool,
    /// Numbers that it held before a person set it.
    replaced: Option<Vec<Quantity>>,
}

/// Letters of `million` and of `thousands`.
const SHORTEST_SCALE: usize = 7;
const LONGEST_SCALE: usize = 9;

impl Link<'_> {
    /// Notes that a person set the value: it may hold a quantity, but no step misread or invented it.
    fn overridden(&mut self, was: Option<Value<'_>>) {
        self.content = Content::Some(self.content.numbers().to_vec());
        self.replaced.get_or_insert_default().extend(was.into_iter().flat_map(|was| find(was.raw())));
    }

    /// The thousands, millions or billions in which its name or description says that it counts.
    fn scale(&self) -> Option<f64> {
        let description = Value::text_of(self.description);
        [self.name.bytes(), description.bytes()].into_iter().find_map(scale_of)
    }
}

/// The thousands, millions or billions that a text names.
fn scale_of(text: &[u8]) -> Option<f64> {
    text.split(|byte| !byte.is_ascii_alphabetic()).find_map(|word| {
        if !(SHORTEST_SCALE..=LONGEST_SCALE).contains(&word.len()) {
            return None;
        }
        let word = word.to_ascii_lowercase();
        match number_word(word.strip_suffix(b"s").unwrap_or(&word))? {
            NumberWord::Scale(scale) => Some(scale as f64),
            _ => None,
        }
    })
}

/// A quantity that was taken up by nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnusedQuantity {
    /// Its index.
    pub quantity: usize,
    /// True if the plan has a variable that may have been meant for it and holds something else: then the step was
    /// executed badly; if false, the plan left it out.
    pub room: bool,
}

/// A number that was taken up wrongly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AlteredQuantity {
    /// The quantity as the question has it.
    pub quantity: usize,
    /// The variable that holds another number.
    pub holder: usize,
    /// True if the plan itself names the right number.
    pub planned: bool,
}

/// The numbers in a value.
#[derive(Clone, PartialEq, Debug)]
enum Content {
    /// None at all, or prose.
    Nothing,
    /// The value is this number.
    One(f64),
    /// Numbers in a text or list.
    Some(Vec<f64>),
}

impl Content {
    fn of(value: Value<'_>, question: &Untrusted<'_>) -> Self {
        match value.kind() {
            JsonKind::Int | JsonKind::Float => {
                value.float().filter(|float| float.is_finite()).map_or(Self::Nothing, Self::One)
            }
            JsonKind::String => Self::of_text(value, question),
            JsonKind::Array | JsonKind::Object => {
                let numbers = value.walk().filter_map(|stop| match stop.value.kind() {
                    JsonKind::Int | JsonKind::Float => stop.value.float(),
                    _ => None,
                });
                Self::Some(numbers.take(MAX_LINKED).collect())
            }
            _ => Self::Nothing,
        }
    }

    fn of_text(value: Value<'_>, question: &Untrusted<'_>) -> Self {
        let Some(text) = value.string() else { return Self::Nothing };
        let bytes = text.bytes();
        if bytes.len() > LONG_TEXT || bytes == question.bytes() {
            return Self::Nothing;
        }
        let found = find(bytes);
        match found.as_slice() {
            [] => Self::Nothing,
            [one] if one.kind != Kind::Label && is_measure(bytes, one) => Self::One(one.float()),
            many => Self::Some(many.iter().filter(|one| one.kind != Kind::Label).map(|one| one.float()).collect()),
        }
    }

    fn numbers(&self) -> &[f64] {
        match self {
            Self::Nothing => &[],
            Self::One(number) => std::slice::from_ref(number),
            Self::Some(numbers) => numbers,
        }
    }
}

/// The quantities that a number fits, one bit each, by how well.
#[derive(Clone, Copy, Default)]
struct Matches([u64; 4]);

impl Matches {
    fn of(number: f64, scale: Option<f64>, quantities: &[Quantity]) -> Self {
        let mut fits = Self::default();
        for (q, quantity) in quantities.iter().take(MAX_LINKED).enumerate() {
            let scaled = scale.map_or(QuantityFit::None, |scale| scaled_fit(quantity, number, scale));
            if let Some(mask) = fits.0.get_mut(fit(quantity, number).max(scaled) as usize) {
                *mask |= 1 << q;
            }
        }
        fits
    }

    fn like(&self, wanted: QuantityFit) -> u64 {
        self.0.get(wanted as usize).copied().unwrap_or(0)
    }

    const fn any(&self) -> u64 {
        let [_, near, kind, exact] = self.0;
        near | kind | exact
    }
}

/// The places of the bits of a mask.
fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..MAX_LINKED).filter(move |n| mask >> n & 1 == 1)
}

/// One bit for each that holds.
fn mask<'q>(quantities: impl Iterator<Item = &'q Quantity>, holds: impl Fn(&Quantity) -> bool) -> u64 {
    quantities.enumerate().filter(|(_, quantity)| holds(quantity)).fold(0, |mask, (q, _)| mask | 1 << q)
}

/// Finds the question that a run's quantities stand in; one that has none of its own holds it in its state.
pub(crate) fn question_of<'a>(record: &Record<'a>) -> Option<Value<'a>> {
    record.question.or_else(|| record.state?.get(PROBLEM_TEXT))
}

/// Tells whether a value is two quantities in one unit, where nothing but their units is between them.
fn compound_fits(a: &Quantity, b: &Quantity, question: &[u8], value: f64) -> bool {
    let (Some(large), Some(small)) = (a.unit, b.unit) else { return false };
    let Some(between) = question.get(a.span.end..b.span.start) else { return false };
    let words = between.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let is_one = words.into_iter().all(|word| word == b"and" || unit(&word.to_ascii_lowercase()).is_some());
    let sum = a.float().abs() * large.size + b.float().abs() * small.size;
    is_one
        && !between.is_empty()
        && (large.dimension, large.size > small.size) == (small.dimension, true)
        && large.dimension.sizes().iter().any(|size| (sum - value.abs() * size).abs() <= sum * 1e-3)
}

/// Tells whether a number says what is counted: "outcomes with a sum of 7", "marks of at least 60".
fn selects(text: &[u8], number: &Quantity) -> bool {
    const BEFORE: [&[u8]; 8] =
        [b"sum of", b"total of", b"least", b"most", b"than", b"exactly", b"divisible by", b"multiple of"];
    let before = text[..number.span.start].trim_ascii_end().to_ascii_lowercase();
    BEFORE.iter().any(|words| before.ends_with(words))
}

/// Tells whether a text is a number with at most a unit behind it.
fn is_measure(text: &[u8], number: &Quantity) -> bool {
    let rest = &text[number.span.end..];
    let words = rest.iter().all(|byte| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'.'));
    number.span.start == 0 && words && rest.len() <= 16
}

impl<'a> Linking<'a> {
    fn link(&mut self) {
        let sure = mask(self.links.quantities.iter().take(MAX_LINKED), |quantity| quantity.sure);
        let has_thousands = self.links.quantities.iter().any(|quantity| quantity.float().abs() >= 1_000.0);
        let mut numbers = Vec::new();
        for (holder, holding) in self.holdings.iter().take(MAX_LINKED).enumerate() {
            let scale = if has_thousands { holding.scale() } else { None };
            let fits = |&number: &f64| (holder, Matches::of(number, scale, &self.links.quantities));
            numbers.extend(holding.content.numbers().iter().map(fits));
        }
        // What stands there exactly comes first, so that it is not given away to a percentage or another unit; and an
        // ordinal takes only what nothing else takes.
        for among in [sure, !sure] {
            for wanted in [QuantityFit::Exact, QuantityFit::Kind, QuantityFit::Near] {
                for (holder, fits) in &numbers {
                    self.link_number(*holder, fits, fits.like(wanted) & among);
                }
            }
        }
        self.link_compounds();
        self.link_other_conventions();
        self.share_constants();
    }

    /// Links numbers that hold two quantities as one: 135 for `2 hours 15 minutes`.
    fn link_compounds(&mut self) {
        let Self { links, holdings, question, .. } = self;
        for (holder, holding) in holdings.iter_mut().enumerate().take(MAX_LINKED) {
            let Content::One(value) = holding.content else { continue };
            if holding.links != 0 {
                continue;
            }
            let pairs = links.quantities.windows(2).take(MAX_LINKED - 1);
            let held = |pair: &[Quantity]| matches!(pair, [a, b] if compound_fits(a, b, question.bytes(), value));
            let Some(first) = pairs.into_iter().position(held) else { continue };
            holding.links |= 0b11 << first;
            links.taken.iter_mut().skip(first).take(2).for_each(|mask| *mask |= 1 << holder);
        }
    }

    /// Links numbers that stand in the question in another convention: `1 404`, `1.600`, `3,14`, the 87 of `1:87`.
    fn link_other_conventions(&mut self) {
        let Self { links, holdings, question, .. } = self;
        for (holder, holding) in holdings.iter_mut().enumerate().take(MAX_LINKED) {
            let Content::One(value) = holding.content else { continue };
            if holding.links != 0 {
                continue;
            }
            let Some(place) = written_otherwise(question.bytes(), value) else { continue };
            for (q, quantity) in links.quantities.iter().enumerate().take(MAX_LINKED) {
                if quantity.span.start < place.end && place.start < quantity.span.end {
                    holding.links |= 1 << q;
                    links.taken.iter_mut().skip(q).take(1).for_each(|mask| *mask |= 1 << holder);
                }
            }
        }
    }

    fn link_number(&mut self, holder: usize, fits: &Matches, fitting: u64) {
        let Some(holding) = self.holdings.get(holder) else { return };
        if fitting == 0 || holding.links & fits.any() != 0 {
            return;
        }
        if let Some(best) = self.best(fitting, holding) {
            if let Some(mask) = self.links.taken.get_mut(best) {
                *mask |= 1 << holder;
            }
            if let Some(holding) = self.holdings.get_mut(holder) {
                holding.links |= 1 << best;
            }
        }
    }

    /// Of several quantities that fit, the one that is free and spoken of in the words of the variable.
    fn best(&self, fitting: u64, holding: &Link<'_>) -> Option<usize> {
        if fitting.count_ones() <= 1 {
            return (fitting != 0).then(|| fitting.trailing_zeros() as usize);
        }
        let rank = |q: &usize| {
            let quantity = self.links.quantities.get(*q);
            let free = self.links.taken.get(*q) == Some(&0);
            let words =
                quantity.map_or(0, |quantity| self.common_words(quantity, holding) + kind_words(quantity, holding));
            (free, words, std::cmp::Reverse(*q))
        };
        bits(fitting).max_by_key(rank)
    }

    /// Scores the words of a variable that occur near a quantity.
    fn common_words(&self, quantity: &Quantity, holding: &Link<'_>) -> usize {
        let description = Value::text_of(holding.description);
        words_near(self.question.bytes(), quantity, holding.name.bytes(), description.bytes())
    }

    /// Lets one variable hold several places with the same number.
    fn share_constants(&mut self) {
        for q in 0..self.links.taken.len() {
            if self.links.taken.get(q) != Some(&0) || self.links.quantities.get(q).is_none_or(|quantity| !quantity.sure)
            {
                continue;
            }
            let value = self.links.quantities.get(q).map(|quantity| quantity.value);
            let same = (0..self.links.taken.len()).find(|&other| {
                self.links.taken.get(other) != Some(&0)
                    && self.links.quantities.get(other).map(|quantity| quantity.value) == value
            });
            let mask = same.and_then(|same| self.links.taken.get(same).copied()).or_else(|| self.held_besides(q));
            if let Some((mask, slot)) = mask.zip(self.links.taken.get_mut(q)) {
                *slot = mask;
            }
        }
    }

    /// Finds a variable that fits a quantity and shares its own with another one: of "6 dozen" and "6 shelters" two
    /// variables hold the 6.
    fn held_besides(&self, q: usize) -> Option<u64> {
        let quantity = self.links.quantities.get(q)?;
        let is_shared = |holder: usize| {
            let taken = self.links.taken.iter().filter(|mask| **mask >> holder & 1 == 1);
            taken.clone().count() > 0 && taken.into_iter().all(|mask| mask.count_ones() > 1)
        };
        let fits = |holding: &Link<'_>| {
            holding.content.numbers().iter().any(|number| fit(quantity, *number) >= QuantityFit::Kind)
        };
        let holders = self.holdings.iter().enumerate().take(MAX_LINKED);
        let fitting = holders.filter(|(holder, holding)| fits(holding) && is_shared(*holder));
        let best =
            fitting.max_by_key(|(_, holding)| self.common_words(quantity, holding) + kind_words(quantity, holding));
        best.map(|(holder, _)| 1 << holder)
    }

    fn judge(&mut self, procedure: &Procedure<'a>, state: Value<'a>) {
        let loose = self.holdings.iter().any(|holder| holder.links == 0 && holder.content != Content::Nothing);
        let open = self.without_replaced(self.open());
        self.links.changed = self.stated();
        if open == 0 && !loose {
            return;
        }
        let (mut described, planned) = self.descriptions(open);
        if open & !described != 0 {
            described |= self.mentions(procedure, state, open & !described);
        }
        let mut open = open & !described;
        self.links.invented = self.invent();
        self.links.changed.extend(planned);
        self.misreadings(&mut open);
        self.usual_numbers(&mut open);
        let room = self.room();
        self.links.missed = bits(open).map(|quantity| UnusedQuantity { quantity, room }).collect();
    }

    /// Sure quantities that no value holds.
    fn open(&self) -> u64 {
        let free = self.links.quantities.iter().zip(&self.links.taken).enumerate();
        let free = free.filter(|(_, (quantity, taken))| quantity.sure && **taken == 0);
        free.fold(0, |mask, (q, _)| mask | 1 << q)
    }

    /// Leaves out the quantities that a variable held, or may have held, before a person set it.
    fn without_replaced(&self, mut open: u64) -> u64 {
        for holding in &self.holdings {
            let Some(replaced) = &holding.replaced else { continue };
            let held = mask(self.links.quantities.iter().take(MAX_LINKED), |quantity| {
                replaced.iter().any(|number| fit(quantity, number.float()) >= QuantityFit::Kind)
            });
            if holding.links == 0 && held == 0 {
                return 0;
            }
            open &= !held;
        }
        open
    }

    /// Looks into names and descriptions: which open quantities they name, and which variables hold another number
    /// than the one that their description takes from the question.
    fn descriptions(&mut self, open: u64) -> (u64, Vec<AlteredQuantity>) {
        let (mut named, mut changed) = (0_u64, Vec::new());
        let mut name = Vec::new();
        for t in 0..self.holdings.len().min(MAX_LINKED) {
            let Some(holder) = self.holdings.get(t) else { continue };
            let loose = holder.links == 0;
            if open == 0 && !loose {
                continue;
            }
            name.clear();
            name.extend(holder.name.bytes().iter().map(|&byte| if byte == b'_' { b' ' } else { byte }));
            // The digit in `rate_2` only tells it from `rate_1`.
            let mut numbers = find(&name);
            // So does the word in `game_three`.
            let counted = numbers
                .pop_if(|number| number.span.end == name.len() && number.span.start > 0 && number.kind == Kind::Number);
            numbers.retain(|number| !name.get(number.span.start).is_some_and(u8::is_ascii_digit));
            let (mut digits, mut is_condition) = (0, false);
            if let Some(text) = holder.description.and_then(Value::string) {
                let found = find(text.bytes());
                // `half` in a description is a way of speaking, `(24)` is the number itself.
                // The 2 of `rate_2` is no number in "rate 2" either.
                let suffix = |number: &Quantity| {
                    if counted.as_ref().is_some_and(|counted| near(counted.float(), number.float())) {
                        return true;
                    }
                    let own = &text.bytes()[number.span.clone()];
                    name.strip_suffix(own).is_some_and(|head| head.ends_with(b" ")) && !own.is_empty()
                };
                let found: Vec<Quantity> = found.into_iter().filter(|number| !suffix(number)).collect();
                let digit = |at: usize| text.bytes().get(at).is_some_and(|byte| byte.is_ascii_digit() || *byte == b'$');
                digits = found.iter().filter(|number| number.sure && digit(number.span.start)).count();
                is_condition = found.iter().any(|number| selects(text.bytes(), number));
                numbers.extend(found);
            }
            let mut own = 0_u64;
            for number in numbers.iter().filter(|number| number.sure) {
                for (q, quantity) in self.links.quantities.iter().enumerate().take(MAX_LINKED) {
                    if fit(quantity, number.float()) >= QuantityFit::Kind {
                        own |= 1 << q;
                    }
                }
            }
            // "Score on test 2", "cost of 3 shirts": where the value is a number of the question itself, that is a name.
            if let Content::One(value) = holder.content
                && loose
                && digits == 1
                && !is_condition
                && own & open != 0
                && !holder.rewritten
                && numbers.iter().all(|number| fit(number, value) == QuantityFit::None)
                && let Some(quantity) = bits(own & open).next()
                && self.links.quantities.get(quantity).is_some_and(|quantity| fit(quantity, value) == QuantityFit::None)
                && !derived(&numbers, value)
            {
                changed.push(AlteredQuantity { quantity, holder: t, planned: true });
            }
            named |= own & open;
            for (q, mask) in self.links.taken.iter_mut().enumerate() {
                if (own & open) >> q & 1 == 1 {
                    *mask |= 1 << t;
                }
            }
        }
        (named, changed)
    }

    /// Variables that hold another quantity of the question than the one that their description states: "(5)", "= 5."
    fn stated(&self) -> Vec<AlteredQuantity> {
        let holdings = self.holdings.iter().enumerate().take(MAX_LINKED);
        let exchanged = |(t, holding): (usize, &Link<'_>)| {
            let Content::One(value) = holding.content else { return None };
            let counts = holding.links != 0 && holding.holder.extracts && !holding.rewritten;
            let quantity = self.quantity_of(holding, value).filter(|_| counts)?;
            Some(AlteredQuantity { quantity, holder: t, planned: true })
        };
        holdings.filter_map(exchanged).collect()
    }

    /// The quantity that a description states, where the value is another.
    fn quantity_of(&self, holder: &Link<'_>, value: f64) -> Option<usize> {
        let text = holder.description.and_then(Value::string)?;
        let text = text.bytes().trim_ascii_end();
        let text = text.strip_suffix(b".").unwrap_or(text);
        let text = text.strip_suffix(b")").unwrap_or(text);
        let at = text.iter().rposition(|byte| !(byte.is_ascii_digit() || matches!(byte, b'.' | b',')))?;
        let (head, digits) = (text.get(..=at)?, text.get(at + 1..)?);
        let stated = ["(", "value ", "value: ", "= "].iter().any(|lead| head.ends_with(lead.as_bytes()));
        let number = find(digits).into_iter().next().filter(|_| stated)?;
        if fit(&number, value) != QuantityFit::None {
            return None;
        }
        self.links.quantities.iter().position(|one| one.sure && fit(one, number.float()) == QuantityFit::Exact)
    }

    /// Finds the open quantities, one bit each, that occur in a step's text, a later description or a later value. The
    /// plan is searched as it is in the file: that is many times faster than reading the numbers of every text.
    fn mentions(&self, procedure: &Procedure<'a>, state: Value<'a>, open: u64) -> u64 {
        let mut named = 0_u64;
        let plan = procedure.value.unescaped();
        for (q, quantity) in self.links.quantities.iter().enumerate().take(MAX_LINKED) {
            if open >> q & 1 == 0 {
                continue;
            }
            let own = &self.question.bytes()[quantity.span.clone()];
            let spellings = Spellings::of(quantity, own);
            let later = |member: &Member<'_>| {
                let value = member.value;
                value.kind() == JsonKind::String
                    && value.raw().len() <= LONG_TEXT
                    && !matches!(member.key.plain_string(), Some(b"problem_text" | b"final_answer"))
                    && spellings.stand_in(&value.unescaped())
            };
            if spellings.stand_in(&plan) || state.members().any(|member| later(&member)) {
                named |= 1 << q;
            }
        }
        named
    }

    /// Finds the holders whose number comes from nowhere.
    fn invent(&self) -> Vec<usize> {
        let from_nowhere = |holder: &Link<'_>| {
            let Content::One(value) = holder.content else { return false };
            holder.links == 0 && holder.holder.extracts && !holder.rewritten && !self.follows(value)
        };
        (0..self.holdings.len()).filter(|&n| self.holdings.get(n).is_some_and(from_nowhere)).collect()
    }

    /// Tells whether a number follows from the question without having to appear there as a number.
    fn follows(&self, value: f64) -> bool {
        let size = value.abs();
        // One of something is never said; nothing left, nothing spent neither.
        if size <= 1.0 && size.fract() == 0.0 {
            return true;
        }
        if size.fract() == 0.0 && size <= 40.0 && (self.may_count(size as usize) || self.letters(size as usize)) {
            return true;
        }
        derived(&self.links.quantities, size) || self.is_part_of_fraction(size)
    }

    /// Tells whether an extracted value may be a misreading: it is no number of the question.
    fn is_loose(&self, holding: &Link<'_>, value: f64) -> bool {
        let is_own = holding.links == 0 && holding.holder.extracts && !holding.rewritten;
        is_own && !self.is_part_of_fraction(value.abs())
    }

    /// Tells whether a number is written in a fraction of the question: the 4 of 2/4, which is a half.
    fn is_part_of_fraction(&self, value: f64) -> bool {
        let fractions = self.links.quantities.iter().filter(|quantity| quantity.kind == Kind::Fraction);
        let written = fractions
            .filter_map(|quantity| std::str::from_utf8(self.question.bytes().get(quantity.span.clone())?).ok());
        written
            .flat_map(|text| text.split('/'))
            .filter_map(|part| part.trim().parse::<f64>().ok())
            .any(|part| near(part, value))
    }

    /// Tells whether the question may list as many things: `Tom, Dick and Harry`.
    fn may_count(&self, wanted: usize) -> bool {
        let text = self.question.bytes();
        let commas = memchr::memchr_iter(b',', text).count();
        let ands = WORDS.and.find_iter(text).count() + WORDS.other.find_iter(text).count();
        let sentences = memchr::memchr2_iter(b'.', b'?', text).count();
        wanted <= (commas + ands + 1).max(sentences.min(6)).min(12)
    }

    /// Tells whether the question is about letters and contains a word of that length.
    fn letters(&self, wanted: usize) -> bool {
        let text = self.question.bytes();
        WORDS.letter.find(text).is_some()
            && text.split(|byte| !byte.is_ascii_alphabetic()).any(|word| word.len() == wanted)
    }

    /// Pairs values without a quantity behind them with what was missed, where one is a misreading of the other.
    fn misreadings(&mut self, open: &mut u64) {
        let alone = open.is_power_of_two() && self.links.invented.len() == 1;
        for (t, holding) in self.holdings.iter().enumerate().take(MAX_LINKED) {
            let Content::One(value) = holding.content else { continue };
            let loose = self.is_loose(holding, value);
            if *open == 0 || !loose || self.links.changed.iter().any(|changed| changed.holder == t) {
                continue;
            }
            let invented = self.links.invented.contains(&t);
            let near = |q: &usize| {
                let own = self.links.quantities.get(*q).map(|quantity| quantity.float());
                own.is_some_and(|own| misread(own, value) || (alone && invented && same_length(own, value)))
            };
            if let Some(quantity) = bits(*open).find(near) {
                *open &= !(1 << quantity);
                self.links.changed.push(AlteredQuantity { quantity, holder: t, planned: false });
            }
        }
        let changed = &self.links.changed;
        self.links.invented.retain(|t| changed.iter().all(|changed| changed.holder != *t));
    }

    /// A variable that is named as the question names what was missed, and holds another number, usual as that may be.
    fn usual_numbers(&mut self, open: &mut u64) {
        for (t, holding) in self.holdings.iter().enumerate().take(MAX_LINKED) {
            let Content::One(value) = holding.content else { continue };
            let loose = self.is_loose(holding, value);
            let told = self.links.invented.contains(&t) || self.links.changed.iter().any(|changed| changed.holder == t);
            if *open == 0 || !loose || told || worked_out(&self.links.quantities, value) {
                continue;
            }
            let description = Value::text_of(holding.description);
            if converts(value.abs(), &[holding.name.bytes(), b" ", description.bytes()].concat()) {
                continue;
            }
            let words = |q: &usize| self.links.quantities.get(*q).map_or(0, |one| self.common_words(one, holding));
            let Some(best) = (0..self.links.quantities.len().min(MAX_LINKED)).max_by_key(words) else { continue };
            if words(&best) >= NAMED && *open >> best & 1 == 1 {
                *open &= !(1 << best);
                self.links.changed.push(AlteredQuantity { quantity: best, holder: t, planned: false });
            }
        }
    }

    /// Tells whether some variable has no quantity of its own: it holds nothing, an invention, or what others hold too.
    fn room(&self) -> bool {
        let mut held: Vec<(u64, &Content)> = Vec::new();
        let mut room = !self.links.invented.is_empty() || !self.links.changed.is_empty();
        for holder in self.holdings.iter().filter(|holder| holder.holder.extracts) {
            // The 3 and the 4 of three quarters are two numbers.
            let same = |(links, content): &(u64, &Content)| {
                links & holder.links == holder.links && **content == holder.content
            };
            let again = holder.links != 0 && held.iter().any(same);
            room |= again || (holder.links == 0 && holder.value.is_none());
            room |= holder.links == 0 && holder.content == Content::Nothing;
            held.push((holder.links, &holder.content));
        }
        room
    }
}

/// Scores the words of a variable's name and description that occur near a quantity in its sentence: those after it
/// count twice, the very next one most.
pub(crate) fn words_near(text: &[u8], quantity: &Quantity, name: &[u8], description: &[u8]) -> usize {
    let name = words_apart(name);
    let (from, to) = (quantity.span.start.saturating_sub(AROUND), (quantity.span.end + AROUND).min(text.len()));
    let before = last_sentence(&text[from..quantity.span.start]).to_ascii_lowercase();
    let after = first_sentence(&text[quantity.span.end..to]).to_ascii_lowercase();
    let mut next = after.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    let next = next.next().map_or_else(Vec::new, <[u8]>::to_vec);
    let words = name.split(|byte| !byte.is_ascii_alphabetic());
    let words = words.chain(description.split(|byte| !byte.is_ascii_alphabetic()));
    words
        .filter(|word| word.len() > 3)
        .map(<[u8]>::to_ascii_lowercase)
        .map(|word| {
            let stem = stem(&word);
            let holds = |text: &[u8]| usize::from(memchr::memmem::find(text, stem).is_some());
            4 * holds(&next) + 2 * holds(&after) + holds(&before)
        })
        .sum()
}

/// Distance of a quantity from a variable of whose own words none is in its sentence.
const FAR: usize = 2 * AROUND;

/// Counts the bytes between a quantity and the nearest word of a variable's name in its sentence that the name of
/// another variable does not have.
pub(crate) fn distance(text: &[u8], quantity: &Quantity, name: &[u8], other: &[u8]) -> usize {
    let words = |text: &[u8]| -> Vec<Vec<u8>> {
        let words = text.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| word.len() > 2);
        words.map(|word| stem(&word.to_ascii_lowercase()).to_vec()).collect()
    };
    let others = words(&words_apart(other));
    let own: Vec<Vec<u8>> = words(&words_apart(name)).into_iter().filter(|word| !others.contains(word)).collect();
    let start = quantity.span.start - last_sentence(&text[..quantity.span.start]).len();
    let end = quantity.span.end + first_sentence(&text[quantity.span.end..]).len();
    let (mut nearest, mut at) = (FAR, start);
    for word in text[start..end].split(|byte| !byte.is_ascii_alphabetic()) {
        let span = at..at + word.len();
        at = span.end + 1;
        if own.iter().any(|own| own == stem(&word.to_ascii_lowercase())) {
            let apart = if span.start < quantity.span.start {
                quantity.span.start.saturating_sub(span.end)
            } else {
                span.start.saturating_sub(quantity.span.end)
            };
            nearest = nearest.min(apart);
        }
    }
    nearest
}

/// Finds the signs that end a sentence; the point of a decimal number is none.
fn sentence_ends(text: &[u8]) -> impl DoubleEndedIterator<Item = usize> + '_ {
    let is_decimal = |at: usize| text.get(at) == Some(&b'.') && text.get(at + 1).is_some_and(u8::is_ascii_digit);
    memchr::memchr2_iter(b'.', b'?', text).filter(move |at| !is_decimal(*at))
}

/// Takes what stands before the first end of a sentence.
fn first_sentence(text: &[u8]) -> &[u8] {
    sentence_ends(text).next().and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Takes what stands from the last end of a sentence on.
fn last_sentence(text: &[u8]) -> &[u8] {
    sentence_ends(text).next_back().and_then(|end| text.get(end..)).unwrap_or(text)
}

/// Leaves the sign of many things out of a word.
fn stem(word: &[u8]) -> &[u8] {
    word.strip_suffix(b"s").unwrap_or(word)
}

/// Scores a variable's name by whether it says that it holds a quantity of this kind: 6 if so, else 0.
fn kind_words(quantity: &Quantity, holding: &Link<'_>) -> usize {
    let words: &[&[u8]] = match quantity.kind {
        Kind::Multiple => &[b"factor", b"multipl", b"times", b"ratio"],
        Kind::Money => &[b"price", b"cost", b"pay", b"fee", b"dollar", b"cents", b"wage", b"amount"],
        Kind::Percent => &[b"percent", b"rate", b"discount", b"tax"],
        Kind::Fraction => &[b"fraction", b"share", b"part", b"portion", b"factor", b"ratio"],
        _ => return 0,
    };
    let name = holding.name.bytes();
    if words.iter().any(|word| memchr::memmem::find(name, word).is_some()) { 6 } else { 0 }
}

/// Bytes of a number with all its separators.
const MAX_WRITTEN: usize = 24;

/// Finds a number in a text that writes it in another convention: groups of three digits with any separator, a comma or
/// point for the decimals, and each side of a ratio.
fn written_otherwise(text: &[u8], value: f64) -> Option<Range<usize>> {
    let text = std::str::from_utf8(text).ok()?;
    let is_start = |at: usize| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        !before.is_some_and(|c| c.is_ascii_digit())
    };
    let starts = text.match_indices(|c: char| c.is_ascii_digit()).map(|(at, _)| at).filter(|at| is_start(*at));
    starts.into_iter().find_map(|start| {
        let (mut end, mut whole, mut last) = (start, String::new(), String::new());
        let mut is_sided = text.get(..start).is_some_and(|head| head.trim_end().ends_with(':'));
        loop {
            let rest = text.get(end..)?;
            let digits = rest.get(..rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()))?;
            last.push_str(digits);
            end += digits.len();
            let behind = text.get(end..)?;
            is_sided |= behind.trim_start().starts_with(':');
            // The last group may be decimals: all before it is the whole part.
            let decimal = format!("{whole}.{last}").parse::<f64>().ok().filter(|_| !whole.is_empty());
            let grouped = format!("{whole}{last}").parse::<f64>().ok().filter(|_| !whole.is_empty() && last.len() == 3);
            let own = last.parse::<f64>().ok().filter(|_| whole.is_empty() && is_sided);
            if [decimal, grouped, own].into_iter().flatten().any(|number| near(number, value)) {
                return Some(start..end);
            }
            let mut signs = behind.chars();
            let separator = signs
                .next()
                .filter(|c| matches!(c, ',' | '.' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'))?;
            if !signs.next().is_some_and(|c| c.is_ascii_digit()) || end - start > MAX_WRITTEN {
                return None;
            }
            whole.push_str(&std::mem::take(&mut last));
            end += separator.len_utf8();
        }
    })
}

/// Tells whether two numbers, both 10 or more, have as many digits before the point.
fn same_length(a: f64, b: f64) -> bool {
    a >= 10.0 && b >= 10.0 && a.log10() as u32 == b.log10() as u32
}

/// Among so few things each is found faster by looking at all than by a table.
const FEW: usize = 64;

/// The outputs of the steps that read the question.
fn holdings<'a>(procedure: &Procedure<'a>) -> Vec<Link<'a>> {
    let mut holdings = Vec::new();
    // By how many steps each variable is written. Of a few outputs that is counted faster than looked up.
    let is_long = procedure.steps.iter().map(|step| step.outputs.len()).sum::<usize>() > FEW;
    let mut writers: HashMap<Untrusted<'a>, usize> = HashMap::new();
    if is_long {
        for step in &procedure.steps {
            let names: HashSet<Untrusted<'a>> = step.outputs.iter().filter_map(Field::name_text).collect();
            for name in names {
                *writers.entry(name).or_default() += 1;
            }
        }
    }
    for (position, step) in procedure.steps.iter().enumerate() {
        if !reads_question(step) {
            continue;
        }
        let extracts = step.inputs.len() == 1 && !calculates(step);
        for (output, field) in step.outputs.iter().enumerate() {
            let Some(name) = field.name_text().filter(|name| !is_answer(name)) else { continue };
            let is_same = |other: &Field<'_>| other.name.is_some_and(|other| other.spells(name.bytes()));
            let writes = |step: &&Step<'_>| step.outputs.iter().any(is_same);
            let rewritten = if is_long {
                writers.get(&name).is_some_and(|writers| *writers > 1)
            } else {
                procedure.steps.iter().filter(writes).count() > 1
            };
            holdings.push(Link {
                holder: LinkedVariable { step: position, output, extracts },
                name,
                description: field.description,
                value: None,
                links: 0,
                content: Content::Nothing,
                rewritten,
                replaced: None,
            });
        }
    }
    holdings
}

fn reads_question(step: &Step<'_>) -> bool {
    step.inputs.iter().any(|input| input.name.is_some_and(|name| name.is_string(PROBLEM_TEXT)))
}

fn is_answer(name: &Untrusted<'_>) -> bool {
    *name == FINAL_ANSWER || *name == PROBLEM_TEXT || *name == "final_answer_numerical" || *name == "confidence"
}

/// Words that are looked for in every run; a searcher is dear to make.
struct Words {
    calculating: [Finder<'static>; 8],
    and: Finder<'static>,
    other: Finder<'static>,
    letter: Finder<'static>,
}

static WORDS: LazyLock<Words> = LazyLock::new(|| Words {
    calculating: ["ompute", "alculat", "ultipl", "ubtract", "ivide", "onvert", "educe", "total of"].map(Finder::new),
    and: Finder::new(" and "),
    other: Finder::new("other"),
    letter: Finder::new("letter"),
});

/// Tells whether a step's text asks for more than copying numbers.
fn calculates(step: &Step<'_>) -> bool {
    let Some(text) = step.text.and_then(Value::string) else { return false };
    memchr::memchr(b'=', text.bytes()).is_some()
        || WORDS.calculating.iter().any(|word| word.find(text.bytes()).is_some())
}

/// Tells whether a step's own text states the number that it wrote: then it is not read from the question.
fn says_value(text: &[u8], value: Option<Value<'_>>) -> bool {
    let Some(digits) = value.filter(|value| value.is_number()).map(Value::raw) else { return false };
    let joins = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    digits.first().is_some_and(|first| {
        memchr::memchr_iter(*first, text).any(|at| {
            let end = at + digits.len();
            text.get(at..end) == Some(digits) && !joins(text.get(at.wrapping_sub(1))) && !joins(text.get(end))
        })
    })
}

/// Takes the values from the final state.
fn fill<'a>(holdings: &mut [Link<'a>], state: Value<'a>, question: &Untrusted<'a>) {
    // Of very many variables each would be looked for among as many values.
    let by_name: Option<HashMap<Untrusted<'a>, Value<'a>>> =
        (holdings.len() > FEW).then(|| state.members().map(|member| (member.name(), member.value)).collect());
    for holding in holdings {
        holding.value = match &by_name {
            Some(by_name) => by_name.get(&holding.name).copied(),
            None => state.member_spelt(holding.name.bytes()).map(|member| member.value),
        };
        holding.content = holding.value.map_or(Content::Nothing, |value| Content::of(value, question));
    }
}

/// The quantities of a record's question with the variables that took them up, for the screen.
#[derive(Clone, Default, Debug)]
pub struct Quantities {
    /// Every quantity, in the order of the question.
    pub items: Vec<Quantity>,
    /// For each variable of the state, the quantities that it took up.
    pub by_variable: Vec<Vec<usize>>,
}

impl Quantities {
    /// Reads the question of a record and links its quantities to the variables of its state.
    pub fn of(
        links: Option<&QuantityLinks>,
        record: &Record<'_>,
        state: &State<'_>,
        procedure: Option<&Procedure<'_>>,
    ) -> Self {
        let mut by_variable = vec![Vec::new(); state.variables().len()];
        let Some(links) = links else {
            let question = Value::text_of(record.question);
            return Self { items: find(question.bytes()), by_variable };
        };
        let mut items = links.quantities.clone();
        for (n, item) in items.iter_mut().enumerate() {
            for holder in links.holders_of(n).filter_map(|holder| links.holders.get(holder)) {
                let name = procedure.and_then(|procedure| holder.name(procedure));
                let Some(variable) = name.and_then(|name| state.variable(&name)) else { continue };
                if !item.variables.contains(&variable) {
                    item.variables.push(variable);
                }
                if let Some(own) = by_variable.get_mut(variable).filter(|own| !own.contains(&n)) {
                    own.push(n);
                }
            }
            item.variables.sort_unstable();
        }
        Self { items, by_variable }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;
    use stepscope_record::formats;

    /// The links of a run whose first step writes these variables: name, description, value as JSON.
    fn links(question: &str, facts: &[(&str, &str, &str)], step_two: &str) -> QuantityLinks {
        let outputs = facts.iter().map(|(name, text, _)| format!(r#"{{"name": "{name}", "description": "{text}"}}"#));
        let state = facts.iter().map(|(name, _, value)| format!(r#""{name}": {value}"#));
        let text = format!(
            r#"{{"question": "{question}", "procedure": {{"steps": [{{"id": 1, "inputs": [{{"name": "problem_text", "description": "p"}}], "stepDescription": "Extract the facts", "output": [{}]}}, {{"id": 2, "inputs": [], "stepDescription": "{step_two}", "output": [{{"name": "final_answer", "description": "answer"}}]}}]}}, "state": {{"problem_text": "p", {}}}, "correct": false}}"#,
            outputs.collect::<Vec<_>>().join(", "),
            state.collect::<Vec<_>>().join(", ")
        );
        let mut tape = Tape::default();
        let record = formats::read(tape.parse(text.as_bytes()).unwrap());
        let procedure = record.procedure.map(Procedure::read);
        QuantityLinks::of(&record, procedure.as_ref()).unwrap()
    }

    fn taken(links: &QuantityLinks) -> Vec<Vec<usize>> {
        (0..links.quantities.len()).map(|n| links.holders_of(n).collect()).collect()
    }

    fn is_sound(links: &QuantityLinks) -> bool {
        links.missed.is_empty() && links.invented.is_empty() && links.changed.is_empty()
    }

    #[test]
    fn what_two_variables_hold_alike_is_shared_between_the_quantities() {
        let facts = [("dozens", "Dozens of rolls", "6"), ("shelters", "Number of shelters", "6")];
        let linked =
            links("A baker makes 6 dozen rolls and splits them among 6 shelters. How many each?", &facts, "Do");
        assert!(is_sound(&linked), "{linked:?}");
        assert_eq!(taken(&linked)[0], [0]);
    }

    #[test]
    fn a_number_may_hold_two_quantities_in_one_unit() {
        let of = |question: &str, value: &str| links(question, &[("length", "How long it takes", value)], "Do");
        for (question, value) in [
            ("A film runs 2 hours 15 minutes. How many minutes are two of them?", "135"),
            ("A film runs 2 hours and 15 minutes. How many minutes are two of them?", "2.25"),
            ("Ann is 5 feet 10 inches tall. How many inches more is six feet?", "70"),
        ] {
            let linked = of(question, value);
            assert!(linked.invented.is_empty() && linked.changed.is_empty(), "{question} {linked:?}");
            assert_eq!(taken(&linked)[..2], [[0], [0]], "{question}");
        }
        for (question, value) in [
            ("A film runs 2 hours 15 minutes. How many minutes are two of them?", "153"),
            ("A film runs 2 hours. The break of 15 minutes is long. How many minutes?", "135"),
        ] {
            assert!(taken(&of(question, value))[..2].contains(&Vec::new()), "{question}");
        }
    }

    #[test]
    fn numbers_of_names_and_fractions_are_no_misreadings() {
        let facts =
            [("game_three", "Points in game 3", "93"), ("lower", "Denominator", "4"), ("upper", "Numerator", "2")];
        let linked =
            links("Ann plays three games. The third brings 93. A tank is 2/4 full. How many points?", &facts, "Do");
        assert!(linked.invented.is_empty() && linked.changed.is_empty(), "{linked:?}");
    }

    #[test]
    fn values_are_linked_in_any_form() {
        let linked = links(
            "He works 2 hours at 20% of $3 and takes half of a dozen and twice three pens.",
            &[
                ("minutes", "time", "120"),
                ("rate", "share", "0.2"),
                ("pay", "cents", "300"),
                ("part", "part", "0.5"),
                ("size", "eggs", "12"),
                ("factor", "factor", "\"2\""),
                ("pens", "pens", "\"three pens\""),
            ],
            "Add",
        );
        assert_eq!(taken(&linked), [[0], [1], [2], [3], [4], [5], [6]], "{linked:?}");
        assert!(is_sound(&linked));
    }

    #[test]
    fn equal_numbers_are_told_apart_by_their_words() {
        let linked = links(
            "He has ten boxes of pencils. He kept ten pens.",
            &[("kept_pens", "pens kept", "10"), ("boxes", "boxes of pencils", "10")],
            "Add",
        );
        assert_eq!(taken(&linked), [[1], [0]]);
        // The point of a decimal number ends no sentence.
        let linked = links(
            "She fills 10 of the 0.5 l bottles with juice and 10 of the 0.7 l jars.",
            &[("jars", "count of jars", "10"), ("bottles", "count of bottles", "10")],
            "Add",
        );
        assert_eq!(taken(&linked), [vec![1], vec![], vec![0], vec![]]);
        let shared = links("Six more and six times as many.", &[("six", "the constant 6", "6")], "Add");
        assert_eq!(taken(&shared), [[0], [0]]);
    }

    #[test]
    fn what_follows_is_not_invented() {
        for (question, value) in [
            ("Sara, Tom and Ulla each pay $5.", "3"),
            ("How many letters are in the name of Jamie Grey if 2 are cut?", "4"),
            ("He works 3 weeks.", "21"),
            ("A shirt of $40 is 25% off.", "30"),
            ("5 boxes of 24 pens.", "120"),
            ("It takes 4 hours.", "240"),
            ("It takes 4 hours.", "1"),
            ("It takes 4 hours.", "0"),
        ] {
            let taken = links(question, &[("x", "a value", value)], "5 and 24, 40 at 25%, 4, 3, 2");
            assert!(taken.invented.is_empty() && taken.changed.is_empty(), "{question} {value}");
        }
        assert_eq!(links("It takes 4 hours.", &[("x", "a value", "3592")], "4").invented, [0]);
    }

    #[test]
    fn values_count_in_what_their_variables_say() {
        let earned = |name, description, value| links("It earned $48 million.", &[(name, description, value)], "Add");
        for (name, description, value) in [
            ("millions_earned", "earned", "48"),
            ("earned", "earned, in millions of dollars", "48"),
            ("earned", "Million dollars earned", "48"),
            ("earned", "in thousands", "48000"),
            ("earned", "in millions", "48000000"),
        ] {
            let linked = earned(name, description, value);
            assert!(taken(&linked) == [[0]] && is_sound(&linked), "{name} {description} {value}");
        }
        for (description, value) in [("earned", "48"), ("earned, in thousands", "48"), ("earned, in millions", "84")] {
            assert!(!is_sound(&earned("earned", description, value)), "{description} {value}");
        }
    }

    #[test]
    fn misreadings_and_gaps_are_seen() {
        let swapped = links("24 pens and 13 more.", &[("pens", "at first", "42"), ("more", "bought", "13")], "Add");
        assert_eq!(swapped.changed, [AlteredQuantity { quantity: 0, holder: 0, planned: false }]);
        assert!(swapped.missed.is_empty() && swapped.invented.is_empty());
        let planned = links("24 pens and 13 more.", &[("pens", "at first (24)", "31"), ("more", "(13)", "13")], "Add");
        assert_eq!(planned.changed, [AlteredQuantity { quantity: 0, holder: 0, planned: true }]);
        // What a number selects is not what it counts.
        let dice = "Two dice are thrown. How often is a sum of 7 expected?";
        assert!(links(dice, &[("favourable", "outcomes with a sum of 7", "6")], "Divide").changed.is_empty());
        assert_eq!(links(dice, &[("dots", "7 dots", "6")], "Divide").changed.len(), 1);
        // A usual number is misread like any other, where the variable bears the words of what was missed.
        let hen = "A hen lays 16 eggs per day. How many in 3 days?";
        let usual = links(hen, &[("eggs_per_day", "", "12"), ("days", "", "3")], "Multiply");
        assert_eq!(usual.changed, [AlteredQuantity { quantity: 0, holder: 0, planned: false }]);
        let constant = links(hen, &[("months_per_year", "months in a year", "12"), ("days", "", "3")], "Multiply");
        assert!(constant.changed.is_empty(), "{constant:?}");
        // Two numbers in each other's place, by what is said of them.
        let exchanged = links("4 pens at $9 each.", &[("pens", "(4)", "9"), ("price", "= 9.", "4")], "Multiply");
        let told = |quantity, holder| AlteredQuantity { quantity, holder, planned: true };
        assert_eq!(exchanged.changed, [told(0, 0), told(1, 1)]);
        // The digit that tells two names apart is no number of the question.
        let named = links("2 of 9 pens.", &[("pens", "", "9"), ("pens_2", "pens 2 in the question", "0.5")], "Take 2");
        assert!(named.changed.is_empty(), "{named:?}");
        let missed = links("24 pens and 13 more.", &[("pens", "at first", "24")], "Add");
        assert_eq!(missed.missed, [UnusedQuantity { quantity: 1, room: false }]);
        let room = links("24 pens and 13 more.", &[("pens", "at first", "24"), ("more", "bought", "24")], "Add");
        assert_eq!(room.missed, [UnusedQuantity { quantity: 1, room: true }]);
        assert!(is_sound(&links("24 pens and 13 more.", &[("pens", "at first", "24")], "Add 13 to it")));
    }
}
