//! A procedure alone, as `evoproc_procedures` writes it, or as an individual of a population that was dumped.

use crate::format::Format;
use crate::procedure::Procedure;
use crate::{Record, RecordKind};
use stepscope_base::json::{Kind, Pointer, Value};

/// See the module.
pub const FORMAT: Format = Format {
    id: "procedure",
    example: r#"{"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}"#,
    recognise: |value| Procedure::is_like(value),
    read: |value| read(value, value),
};

/// An individual of evoproc's genetic search: a procedure with what the search said of it.
pub(crate) const INDIVIDUAL: Format = Format {
    id: "individual",
    example: r#"{"proc": {"NameDescription": "Add", "steps": [{"id": 1, "inputs": [{"name": "problem_text", "description": "task"}], "stepDescription": "Add the numbers", "output": [{"name": "final_answer", "description": "sum"}]}]}, "fitness": 1.0, "notes": ""}"#,
    recognise: |value| Individual::of(value).is_some(),
    read: |value| {
        let Some(Individual { procedure, pointer, fitness, id, round }) = Individual::of(value) else {
            return read(value, value);
        };
        Record { procedure_pointer: Pointer::from_iter([pointer]), fitness, id, round, ..read(value, procedure) }
    },
};

/// The parts of an individual.
struct Individual<'a> {
    procedure: Value<'a>,
    /// Under which key that stands.
    pointer: &'static str,
    fitness: Option<Value<'a>>,
    id: Option<Value<'a>>,
    /// Its generation.
    round: Option<Value<'a>>,
}

impl<'a> Individual<'a> {
    /// Reads what upstream dumps (`proc`), or a line of `generations.jsonl` as the recorder writes it: the procedure of
    /// a generation, before anybody ran it. `None`: it is neither.
    fn of(value: Value<'a>) -> Option<Self> {
        let (mut proc, mut procedure, mut fitness, mut id) = (None, None, None, None);
        let (mut notes, mut generation, mut operator, mut question) = (false, None, false, false);
        for member in value.members() {
            let Some(key) = member.key.plain_string() else { continue };
            match key {
                // These were run.
                b"state" | b"trace" | b"gold_num" | b"gold_answer" | b"pred_num" | b"pred_answer" => return None,
                b"question" => question = true,
                b"proc" => proc = Some(member.value),
                b"procedure" => procedure = Some(member.value),
                b"fitness" => fitness = Some(member.value),
                b"id" => id = Some(member.value),
                b"notes" => notes = true,
                b"gen" => generation = Some(member.value),
                b"operator" => operator = true,
                _ => {}
            }
        }
        let is_object = |value: &Value<'_>| value.kind() == Kind::Object;
        let is_dump = procedure.is_none() && (notes || fitness.is_some());
        let dumped = proc.filter(is_object).filter(|_| is_dump).map(|proc| (proc, "proc"));
        let written = || {
            let is_written = generation.is_some() && operator && !question;
            procedure.filter(is_object).filter(|_| is_written).map(|proc| (proc, "procedure"))
        };
        let (procedure, pointer) = dumped.or_else(written)?;
        let number = |value: &Value<'_>| value.is_number();
        Some(Self { procedure, pointer, fitness: fitness.filter(number), id, round: generation.filter(number) })
    }
}

fn read<'a>(root: Value<'a>, procedure: Value<'a>) -> Record<'a> {
    // The model's text is shown where a reply is shown.
    let raw = Procedure::unread(procedure);
    Record { procedure: Some(procedure), raw, ..Record::bare(RecordKind::Procedure, root) }
}
