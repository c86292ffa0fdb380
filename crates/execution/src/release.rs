//! The releases of `evoproc-procedures`, and what differs between them: the creation prompt, the gsm answer, and the
//! end of a run whose reply lacks a key. 0.1.0 and 1.0.0 are the same, and so are 1.1.0 and 1.2.0.

use stepscope_base::json::{Tape, Value};
use stepscope_record::{AnswerSchema, schemas};

use crate::prompt::AnswerShape;

stepscope_base::words! {
    /// A release of evoproc-procedures.
    pub enum Release {
        /// The first.
        V0_1_0 = "0.1.0",
        /// The same under another number.
        V1_0_0 = "1.0.0",
        /// A shorter creation prompt, which asks for symbolic relationships.
        V1_1_0 = "1.1.0",
        /// The newest.
        V1_2_0 = "1.2.0",
    }
}

impl Release {
    /// Tells whether it is one of those before 1.1.0.
    pub(crate) const fn is_early(self) -> bool {
        matches!(self, Self::V0_1_0 | Self::V1_0_0)
    }

    /// Returns the schema that the last step's reply must have. `tape`: holds the schema where it is none of the newest.
    pub fn answer(self, schema: AnswerSchema, tape: &mut Tape) -> AnswerShape<'_> {
        let first = (self.is_early() && schema == AnswerSchema::Gsm).then(|| first_gsm(tape)).flatten();
        first.map_or(AnswerShape::Published(schema), AnswerShape::Own)
    }
}

/// The gsm answer before 1.1.0.
fn first_gsm(tape: &mut Tape) -> Option<Value<'_>> {
    tape.parse(schemas::GSM_1_0.as_bytes())
}
