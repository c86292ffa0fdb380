//! The JSON Schemas that are part of the program: our traces, reviews and structured answers, and evoproc's own, byte
//! for byte as Python dumps them (`tests/parity/make_schemas.py`), because prompts hold their text.

use crate::AnswerSchema;

/// One embedded schema.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// Its name on the command line.
    pub name: &'static str,
    /// Description of what it is for.
    pub summary: &'static str,
    /// Its text, with a line end.
    pub text: &'static str,
}

/// Every schema.
pub const ALL: [Schema; 13] = [
    Schema {
        name: "trace",
        summary: "a run record with the full trace of its steps (stepscope's own, version 1)",
        text: include_str!("schemas/trace.schema.json"),
    },
    Schema {
        name: "review",
        summary: "one line of a review log (stepscope's own, version 1)",
        text: include_str!("schemas/review.schema.json"),
    },
    Schema {
        name: "answer-trace",
        summary: "a question with its document, retrieved pages and structured answer (stepscope's own, version 1)",
        text: include_str!("schemas/answer-trace.schema.json"),
    },
    Schema {
        name: "typed-answer",
        summary: "a structured answer: the base fields and the items",
        text: include_str!("schemas/typed-answer.schema.json"),
    },
    Schema {
        name: "span",
        summary: "a citation of a structured answer",
        text: include_str!("schemas/span.schema.json"),
    },
    Schema {
        name: "chain",
        summary: "a chain of thought: a question and its steps as strings",
        text: include_str!("schemas/chain.schema.json"),
    },
    Schema {
        name: "call",
        summary: "one call of a model: a prompt and the reply, as the Python recorder writes them",
        text: include_str!("schemas/call.schema.json"),
    },
    Schema {
        name: "procedure",
        summary: "a global-state procedure (evoproc-procedures 1.2.0)",
        text: include_str!("schemas/procedure.schema.json"),
    },
    Schema { name: "general", summary: "an answer: final_answer", text: include_str!("schemas/general.schema.json") },
    Schema {
        name: "bool",
        summary: "an answer with final_answer_bool",
        text: include_str!("schemas/bool.schema.json"),
    },
    Schema {
        name: "gsm",
        summary: "an answer with final_answer_numerical",
        text: include_str!("schemas/gsm.schema.json"),
    },
    Schema {
        name: "gsm@1.0",
        summary: "the gsm answer of evoproc-procedures 0.1.0 and 1.0.0: with units, confidence optional",
        text: GSM_1_0,
    },
    Schema { name: "arc", summary: "an answer of A, B, C or D", text: include_str!("schemas/arc.schema.json") },
];

/// The gsm answer as evoproc-procedures published it before 1.1.0.
pub const GSM_1_0: &str = include_str!("schemas/gsm-1.0.schema.json");

/// The text of a published answer schema, as `json.dumps(schema, ensure_ascii=False, indent=2)` gives it.
pub const fn answer(schema: AnswerSchema) -> &'static str {
    let text = match schema {
        AnswerSchema::General => include_str!("schemas/general.schema.json"),
        AnswerSchema::Bool => include_str!("schemas/bool.schema.json"),
        AnswerSchema::Gsm => include_str!("schemas/gsm.schema.json"),
        AnswerSchema::Arc => include_str!("schemas/arc.schema.json"),
    };
    text.trim_ascii_end()
}

/// The types that an answer's values can have, each with its schema.
pub const TYPES: [Schema; 9] = [
    Schema { name: "text", summary: "text of the document", text: include_str!("schemas/types/text.schema.json") },
    Schema {
        name: "amount",
        summary: "a sum of money with its currency",
        text: include_str!("schemas/types/amount.schema.json"),
    },
    Schema {
        name: "date",
        summary: "a date, in ISO 8601 and as written",
        text: include_str!("schemas/types/date.schema.json"),
    },
    Schema { name: "boolean", summary: "yes or no", text: include_str!("schemas/types/boolean.schema.json") },
    Schema { name: "table", summary: "headers and rows", text: include_str!("schemas/types/table.schema.json") },
    Schema { name: "list", summary: "several strings", text: include_str!("schemas/types/list.schema.json") },
    Schema { name: "address", summary: "a postal address", text: include_str!("schemas/types/address.schema.json") },
    Schema {
        name: "person_name",
        summary: "a person's name",
        text: include_str!("schemas/types/person_name.schema.json"),
    },
    Schema { name: "iban", summary: "a bank account", text: include_str!("schemas/types/iban.schema.json") },
];

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::schema;

    #[test]
    fn what_is_built_in_is_read_as_it_would_be_if_it_were_not_trusted() {
        for own in ALL.iter().chain(&TYPES) {
            let proved = schema::Schema::compile(own.text.as_bytes()).expect(own.name);
            assert_eq!(format!("{:?}", schema::Schema::built_in(own.text)), format!("{proved:?}"), "{}", own.name);
        }
    }
}
