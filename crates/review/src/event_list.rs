//! Events in little memory: a review log may hold hundreds of thousands, and most of an event is as in those before it or
//! takes more letters than it says. Each is kept as bytes, and made anew when it is asked for.

use foldhash::HashMap;

use super::event::{
    Anchor, AnswerPart, Event, EventKind, GoldStatus, ItemRef, LabelDefinition, LabelRef, LabelSet, ReviewTimes,
    Reviewer, ReviewerKind, SeenRecord, Text, Verdict,
};
use stepscope_base::canonical::Digest;

/// Number of events that lie behind one another; to find one, those before it are stepped over.
const TOGETHER: usize = 8;
/// Number of names that are kept once, and the length of the longest, in bytes: far more than reviews have.
const MAX_NAMES: usize = 4096;
const MAX_NAME: usize = 256;

/// A list of events.
#[derive(Clone, Debug, Default)]
pub struct EventList {
    /// [`TOGETHER`] events each, every one behind its length.
    blocks: Vec<Box<[u8]>>,
    last: Vec<u8>,
    len: usize,
    names: KeptNames,
}

impl EventList {
    /// Counts the events.
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Tells whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Lists the events, each made anew.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Event> {
        (0..self.len).filter_map(|at| self.get(at))
    }

    /// Takes one more event.
    pub(super) fn push(&mut self, event: &Event) {
        let mut bytes = Vec::new();
        event.keep(Recurs::Hardly, &mut self.names, &mut bytes);
        keep_number(bytes.len() as u64, &mut self.last);
        self.last.extend_from_slice(&bytes);
        self.len += 1;
        if self.len.is_multiple_of(TOGETHER) {
            self.blocks.push(std::mem::take(&mut self.last).into_boxed_slice());
        }
    }

    /// Makes the event at a position.
    pub(super) fn get(&self, at: usize) -> Option<Event> {
        Event::kept(Recurs::Hardly, &self.names, &mut self.bytes(at)?)
    }

    /// Makes the kind of the event at a position.
    pub(super) fn kind(&self, at: usize) -> Option<EventKind> {
        self.front(at)?.field()
    }

    /// Makes the id of the event at a position.
    pub(super) fn id(&self, at: usize) -> Option<Text> {
        let mut front = self.front(at)?;
        front.field::<EventKind>()?;
        front.field()
    }

    /// Makes the item of the event at a position.
    pub(super) fn item(&self, at: usize) -> Option<ItemRef> {
        let mut front = self.front(at)?;
        front.field::<EventKind>()?;
        front.field::<Text>()?;
        front.field::<Option<ItemRef>>()?
    }

    fn front(&self, at: usize) -> Option<Front<'_>> {
        let mut bytes = self.bytes(at)?;
        Some(Front { holds: number(&mut bytes)?, bytes, names: &self.names })
    }

    fn bytes(&self, at: usize) -> Option<&[u8]> {
        (at < self.len).then_some(())?;
        let mut rest = self.blocks.get(at / TOGETHER).map_or(self.last.as_slice(), |block| block);
        for _ in 0..at % TOGETHER {
            next(&mut rest)?;
        }
        next(&mut rest)
    }
}

/// An event whose first fields are read.
struct Front<'l> {
    /// One bit for each of the next fields that holds anything, the next in the last bit.
    holds: u64,
    bytes: &'l [u8],
    names: &'l KeptNames,
}

impl Front<'_> {
    fn field<T: Keep + Default>(&mut self) -> Option<T> {
        let holds = self.holds & 1 == 1;
        self.holds >>= 1;
        if holds { T::kept(Recurs::Hardly, self.names, &mut self.bytes) } else { Some(T::default()) }
    }
}

/// Takes the bytes of an event from the front.
fn next<'b>(bytes: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = number(bytes)?;
    taken(usize::try_from(len).ok()?, bytes)
}

impl Extend<Event> for EventList {
    fn extend<E: IntoIterator<Item = Event>>(&mut self, events: E) {
        events.into_iter().for_each(|event| self.push(&event));
    }
}

impl FromIterator<Event> for EventList {
    fn from_iter<E: IntoIterator<Item = Event>>(events: E) -> Self {
        let mut list = Self::default();
        list.extend(events);
        list
    }
}

impl IntoIterator for EventList {
    type Item = Event;
    type IntoIter = Box<dyn Iterator<Item = Event>>;

    /// Gives the memory of those events back that were made.
    fn into_iter(self) -> Self::IntoIter {
        let Self { blocks, last, names, .. } = self;
        let blocks = blocks.into_iter().map(Vec::from).chain([last]);
        Box::new(blocks.flat_map(move |block| {
            let mut rest = block.as_slice();
            let event = || Event::kept(Recurs::Hardly, &names, &mut next(&mut rest)?);
            std::iter::from_fn(event).collect::<Vec<_>>()
        }))
    }
}

/// Texts that recur, each once.
#[derive(Clone, Debug, Default)]
struct KeptNames {
    list: Vec<Text>,
    numbers: HashMap<Text, usize>,
}

impl KeptNames {
    /// Returns the number of a name; `None`: it is too long, or there are too many.
    fn number(&mut self, name: &Text) -> Option<usize> {
        if let Some(number) = self.numbers.get(name) {
            return Some(*number);
        }
        let number = self.list.len();
        if number >= MAX_NAMES || name.bytes().len() > MAX_NAME {
            return None;
        }
        self.list.push(name.clone());
        self.numbers.insert(name.clone(), number);
        Some(number)
    }
}

/// Frequency of a text in other events.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Recurs {
    Hardly,
    Often,
}

/// Value that is kept as bytes.
trait Keep: Sized {
    /// Appends its bytes.
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>);

    /// Takes it from the front of the bytes.
    fn kept(recurs: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self>;
}

/// Appends a number, seven bits a byte.
fn keep_number(mut number: u64, to: &mut Vec<u8>) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Takes a number from the front of the bytes.
fn number(from: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let byte = *from.split_off_first()?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}

fn taken<'a>(count: usize, from: &mut &'a [u8]) -> Option<&'a [u8]> {
    from.split_off(..count)
}

/// Texts of digits that are kept as the number that they write: UUIDs, times as this program writes them, and hashes.
const SHAPES: [DigitShape; 3] = [
    DigitShape { written: b"00000000-0000-0000-0000-000000000000", radix: 16, size: 16 },
    DigitShape { written: b"0000-00-00T00:00:00.000Z", radix: 10, size: 8 },
    DigitShape { written: b"00000000000000000000000000000000", radix: 16, size: 16 },
];

/// A shape of texts.
struct DigitShape {
    /// A text of this shape, with zeros where there may be any digit.
    written: &'static [u8],
    radix: u8,
    /// Number of bytes of the largest number.
    size: usize,
}

impl DigitShape {
    /// Reads the number of a text; `None`: it has another shape.
    fn number(&self, text: &[u8]) -> Option<u128> {
        if text.len() != self.written.len() {
            return None;
        }
        let mut number = 0u128;
        for (byte, sign) in text.iter().zip(self.written) {
            if *sign == b'0' {
                let digit = char::from(*byte).to_digit(u32::from(self.radix)).filter(|_| !byte.is_ascii_uppercase())?;
                number = number * u128::from(self.radix) + u128::from(digit);
            } else if byte != sign {
                return None;
            }
        }
        Some(number)
    }

    /// Writes a number in this shape.
    fn text(&self, mut number: u128) -> Vec<u8> {
        let mut text = self.written.to_owned();
        for byte in text.iter_mut().rev().filter(|byte| **byte == b'0') {
            let digit = (number % u128::from(self.radix)) as u32;
            *byte = char::from_digit(digit, u32::from(self.radix)).map_or(b'0', |digit| digit as u8);
            number /= u128::from(self.radix);
        }
        text
    }
}

/// The number in front of a text says what follows: that of its shape, else twice that of its name, or one more than
/// twice its length.
const FIRST_NAME: u64 = SHAPES.len() as u64;

impl Keep for Text {
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        let text = self.bytes();
        let name = (recurs == Recurs::Often).then(|| names.number(self)).flatten();
        if let Some(name) = name {
            keep_number(FIRST_NAME + 2 * name as u64, to);
        } else if let Some((n, shape, number)) =
            SHAPES.iter().enumerate().find_map(|(n, shape)| Some((n, shape, shape.number(text)?)))
        {
            keep_number(n as u64, to);
            to.extend(number.to_le_bytes().iter().take(shape.size));
        } else {
            keep_number(FIRST_NAME + 2 * text.len() as u64 + 1, to);
            to.extend_from_slice(text);
        }
    }

    fn kept(_: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        let first = number(from)?;
        if let Some(shape) = SHAPES.get(usize::try_from(first).ok()?) {
            let mut bytes = [0; 16];
            bytes.iter_mut().zip(taken(shape.size, from)?).for_each(|(to, from)| *to = *from);
            return Some(Self::owned(shape.text(u128::from_le_bytes(bytes))));
        }
        let rest = first - FIRST_NAME;
        let half = usize::try_from(rest / 2).ok()?;
        if rest.is_multiple_of(2) {
            names.list.get(half).cloned()
        } else {
            Some(Self::owned(taken(half, from)?.to_owned()))
        }
    }
}

impl Keep for u64 {
    fn keep(&self, _: Recurs, _: &mut KeptNames, to: &mut Vec<u8>) {
        keep_number(*self, to);
    }

    fn kept(_: Recurs, _: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        number(from)
    }
}

impl Keep for bool {
    fn keep(&self, _: Recurs, _: &mut KeptNames, to: &mut Vec<u8>) {
        to.push(u8::from(*self));
    }

    fn kept(_: Recurs, _: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        Some(*from.split_off_first()? == 1)
    }
}

impl Keep for Digest {
    fn keep(&self, _: Recurs, _: &mut KeptNames, to: &mut Vec<u8>) {
        to.extend_from_slice(&self.bytes());
    }

    fn kept(_: Recurs, _: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        taken(32, from)?.try_into().ok().map(Self::from_bytes)
    }
}

impl<T: Keep> Keep for Vec<T> {
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        keep_number(self.len() as u64, to);
        for one in self {
            one.keep(recurs, names, to);
        }
    }

    fn kept(recurs: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        (0..number(from)?).map(|_| T::kept(recurs, names, from)).collect()
    }
}

/// Kept only where there is something: what holds it says so.
impl<T: Keep> Keep for Option<T> {
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        if let Some(one) = self {
            one.keep(recurs, names, to);
        }
    }

    fn kept(recurs: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        T::kept(recurs, names, from).map(Some)
    }
}

impl<T: Keep> Keep for Box<T> {
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        (**self).keep(recurs, names, to);
    }

    fn kept(recurs: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        T::kept(recurs, names, from).map(Self::new)
    }
}

impl<A: Keep, B: Keep> Keep for (A, B) {
    fn keep(&self, recurs: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        self.0.keep(recurs, names, to);
        self.1.keep(recurs, names, to);
    }

    fn kept(recurs: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        Some((A::kept(recurs, names, from)?, B::kept(recurs, names, from)?))
    }
}

/// Words as their positions among all of their kind.
macro_rules! kept_words {
    ($($type:ident),+) => {$(
        impl Keep for $type {
            fn keep(&self, _: Recurs, _: &mut KeptNames, to: &mut Vec<u8>) {
                keep_number(Self::ALL.iter().position(|word| word == self).unwrap_or(0) as u64, to);
            }

            fn kept(_: Recurs, _: &KeptNames, from: &mut &[u8]) -> Option<Self> {
                Self::ALL.get(usize::try_from(number(from)?).ok()?).copied()
            }
        }
    )+};
}

kept_words!(EventKind, Verdict, GoldStatus, ReviewerKind);

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Structs as a number whose bits say which fields hold anything, and these fields.
macro_rules! kept_struct {
    ($type:ident { $($field:ident: $recurs:ident),+ $(,)? }) => {
        impl Keep for $type {
            fn keep(&self, _: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
                let holds = [$(!is_default(&self.$field)),+];
                keep_number(holds.iter().rev().fold(0, |bits, holds| bits << 1 | u64::from(*holds)), to);
                $(if !is_default(&self.$field) {
                    self.$field.keep(Recurs::$recurs, names, to);
                })+
            }

            fn kept(_: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
                let bits = number(from)?;
                let mut holds = (0..u64::BITS).map(|n| bits >> n & 1 == 1);
                Some(Self { $($field: {
                    let holds = holds.next() == Some(true);
                    if holds { Keep::kept(Recurs::$recurs, names, from)? } else { Default::default() }
                }),+ })
            }
        }
    };
}

kept_struct!(Event {
    // These are read without the rest.
    kind: Hardly,
    event_id: Hardly,
    item: Hardly,
    seen: Hardly,
    reviewer: Hardly,
    verdict: Hardly,
    times: Hardly,
    tool_version: Often,
    findings: Often,
    labels: Hardly,
    fix_target: Often,
    first_bad_step: Hardly,
    variable: Often,
    anchors: Hardly,
    gold_status: Hardly,
    correction: Hardly,
    note: Hardly,
    part: Hardly,
    draft: Hardly,
    supersedes: Hardly,
    drawn: Often,
    adjudicates: Hardly,
    revealed: Often,
    label_set: Hardly,
});
kept_struct!(ItemRef { dataset: Often, id: Hardly, row_index: Hardly, side: Often });
kept_struct!(SeenRecord {
    content_sha256: Hardly,
    input_sha256: Hardly,
    execution: Often,
    hidden: Often,
    answer: Hardly,
});
kept_struct!(Reviewer { id: Often, kind: Hardly });
kept_struct!(LabelRef { id: Often, set: Often, version: Hardly });
kept_struct!(ReviewTimes { shown: Hardly, decided: Hardly, active_ms: Hardly });
kept_struct!(AnswerPart { item: Hardly, citation: Hardly });
kept_struct!(LabelDefinition { id: Hardly, name: Hardly, guideline: Hardly, example: Hardly });
kept_struct!(LabelSet { id: Hardly, version: Hardly, labels: Hardly, mapping: Hardly });

/// Lines of a document, as an anchor names them.
#[derive(Default)]
struct KeptLines {
    document: Text,
    numbering: Text,
    page: Option<u64>,
    line_start: u64,
    line_end: u64,
    quote: Option<Text>,
}

kept_struct!(KeptLines {
    document: Often,
    numbering: Often,
    page: Hardly,
    line_start: Hardly,
    line_end: Hardly,
    quote: Hardly,
});

impl Keep for Anchor {
    fn keep(&self, _: Recurs, names: &mut KeptNames, to: &mut Vec<u8>) {
        let is_pointer = matches!(self, Self::Pointer(_));
        is_pointer.keep(Recurs::Hardly, names, to);
        match self.clone() {
            Self::Pointer(pointer) => pointer.keep(Recurs::Often, names, to),
            Self::Span { document, numbering, page, line_start, line_end, quote } => {
                KeptLines { document, numbering, page, line_start, line_end, quote }.keep(Recurs::Hardly, names, to);
            }
        }
    }

    fn kept(_: Recurs, names: &KeptNames, from: &mut &[u8]) -> Option<Self> {
        if bool::kept(Recurs::Hardly, names, from)? {
            return Text::kept(Recurs::Often, names, from).map(Self::Pointer);
        }
        let KeptLines { document, numbering, page, line_start, line_end, quote } =
            KeptLines::kept(Recurs::Hardly, names, from)?;
        Some(Self::Span { document, numbering, page, line_start, line_end, quote })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::{full, item};

    fn text() -> impl Strategy<Value = Text> {
        prop_oneof![
            "[a-z/_.]{0,12}".prop_map(Text::from),
            "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-fA-F]{12}".prop_map(Text::from),
            "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.,][0-9]{3}Z".prop_map(Text::from),
            "[0-9a-f]{31,33}".prop_map(Text::from),
            prop::collection::vec(any::<u8>(), 0..300).prop_map(Text::owned),
        ]
    }

    fn label() -> impl Strategy<Value = LabelRef> {
        (text(), text(), any::<u64>()).prop_map(|(id, set, version)| LabelRef { id, set, version })
    }

    fn anchor() -> impl Strategy<Value = Anchor> {
        let span = (text(), text(), any::<[u64; 2]>(), prop::option::of(any::<u64>()), prop::option::of(text()));
        prop_oneof![
            text().prop_map(Anchor::Pointer),
            span.prop_map(|(document, numbering, [line_start, line_end], page, quote)| {
                Anchor::Span { document, numbering, page, line_start, line_end, quote }
            }),
        ]
    }

    prop_compose! {
        fn event()(
            texts in prop::collection::vec(prop::option::of(text()), 17),
            numbers in prop::collection::vec(prop::option::of(any::<u64>()), 5),
            lists in prop::collection::vec(prop::collection::vec(text(), 0..3), 4),
            words in any::<[u8; 4]>(),
            (labels, anchors) in (prop::collection::vec(label(), 0..3), prop::collection::vec(anchor(), 0..3)),
            (has_item, draft, has_findings) in any::<(bool, bool, bool)>(),
            seen in any::<[Option<[u8; 32]>; 2]>(),
        ) -> Event {
            let (mut texts, mut numbers, mut lists) = (texts.into_iter(), numbers.into_iter(), lists.into_iter());
            let mut maybe = || texts.next().flatten();
            let row_index = numbers.next().flatten();
            let item = ItemRef { dataset: maybe(), id: maybe(), row_index, side: maybe() };
            let [content, input] = seen.map(|digest| digest.map(Digest::from_bytes));
            let word = |n: usize, of: usize| usize::from(words[n]) % of;
            Event {
                event_id: maybe().unwrap_or_default(),
                kind: EventKind::ALL[word(0, EventKind::ALL.len())],
                item: has_item.then_some(item),
                seen: SeenRecord {
                    content_sha256: content,
                    input_sha256: input,
                    execution: maybe(),
                    hidden: lists.next().unwrap(),
                    answer: maybe(),
                },
                reviewer: Reviewer { id: maybe().unwrap_or_default(), kind: ReviewerKind::ALL[word(1, 3)] },
                verdict: Verdict::ALL.get(word(2, 5)).copied(),
                labels,
                fix_target: maybe(),
                first_bad_step: numbers.next().flatten(),
                variable: maybe(),
                anchors,
                gold_status: GoldStatus::ALL.get(word(3, 4)).copied(),
                correction: maybe(),
                note: maybe(),
                part: numbers.next().flatten().map(|item| AnswerPart { item, citation: numbers.next().flatten() }),
                draft,
                times: ReviewTimes { shown: maybe(), decided: maybe(), active_ms: numbers.next().flatten() },
                findings: has_findings.then(|| lists.next().unwrap()),
                supersedes: maybe(),
                drawn: maybe(),
                adjudicates: lists.next().unwrap(),
                revealed: lists.next().unwrap_or_default(),
                label_set: None,
                tool_version: maybe().unwrap_or_default(),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_kept_comes_back(events in prop::collection::vec(event(), 0..40)) {
            let list: EventList = events.iter().cloned().collect();
            prop_assert_eq!(list.len(), events.len());
            for (at, event) in events.iter().enumerate() {
                prop_assert_eq!(list.get(at), Some(event.clone()));
                prop_assert_eq!(list.item(at), event.item.clone());
                prop_assert_eq!((list.kind(at), list.id(at)), (Some(event.kind), Some(event.event_id.clone())));
            }
            prop_assert_eq!(list.get(events.len()), None);
            prop_assert_eq!(list.into_iter().collect::<Vec<_>>(), events);
        }
    }

    #[test]
    fn everything_that_can_be_said_comes_back() {
        let list: EventList = [full()].into_iter().collect();
        assert_eq!(list.get(0), Some(full()));
    }

    #[test]
    fn a_verdict_takes_little() {
        let verdict = |n: u32| {
            let mut event = Event::verdict(Reviewer::person("ada"), item(&format!("r{n:07}")), Verdict::Fail);
            event.event_id = format!("01a22600-3b6c-77f1-8e8e-{n:012x}").into();
            event.seen.content_sha256 = Some(Digest::of_bytes(&n.to_le_bytes()));
            event.seen.input_sha256 = Some(Digest::of_bytes(&n.to_be_bytes()));
            (event.seen.execution, event.seen.answer) = (Some("rec".into()), Some(n.to_string().into()));
            event.times.shown = Some(format!("2026-11-29T06:31:19.{:03}Z", n % 1000).into());
            event.times.decided.clone_from(&event.times.shown);
            event.findings = Some(vec!["answer/schema".into(), "run/recompute".into()]);
            event.labels = vec![LabelRef { id: "slip".into(), set: "default".into(), version: 1 }];
            event.tool_version = "0.1.0".into();
            event
        };
        let list: EventList = (0..1_600).map(verdict).collect();
        let size: usize = list.blocks.iter().map(|block| block.len() + size_of_val(block)).sum();
        assert!(size / list.len() < 150, "{} bytes each", size / list.len());
    }
}
