//! Variables of a run, each with every value that it had.

use stepscope_base::json::{Kind, Pointer};
use stepscope_base::text::Shown;
use stepscope_judge::case::CaseView;
use stepscope_record::finding::Severity;
use stepscope_record::state::{Badge, Entry, Moment, VariableOrigin};

use crate::values::one_line;

/// One variable, as the lifelines show it.
#[derive(Debug, Clone)]
pub struct VariableRow {
    /// Name of the variable.
    pub name: Shown,
    /// Description of the variable.
    pub description: Shown,
    /// Origin of the variable.
    pub origin: VariableOrigin,
    /// Every writing, in order of time.
    pub writes: Vec<WriteRow>,
    /// The steps that read it.
    pub readers: Vec<usize>,
    /// The gravest finding about it.
    pub worst: Option<Severity>,
    /// Steps that read it where nothing has written it yet.
    pub unresolved: Vec<usize>,
}

impl VariableRow {
    /// The writing that holds at a moment.
    pub fn held(&self, moment: Moment) -> Option<&WriteRow> {
        self.writes.get(self.writes.partition_point(|write| write.from <= moment).checked_sub(1)?)
    }
}

/// One writing of a variable.
#[derive(Debug, Clone)]
pub struct WriteRow {
    /// First moment at which it holds.
    pub from: Moment,
    /// The step that wrote it.
    pub step: Option<usize>,
    /// The value.
    pub value: Option<ShownValue>,
    /// Badge that tells how the value is known.
    pub badge: Badge,
    /// A later step reads it before it is written again.
    pub is_read: bool,
}

/// A value ready for the screen.
#[derive(Debug, Clone)]
pub struct ShownValue {
    /// Text on one line: strings without quotes if they are nothing but text.
    pub line: Shown,
    /// Kind of the value.
    pub kind: Kind,
    /// Position in the record, as a JSON pointer.
    pub pointer: Option<Pointer>,
}

pub(crate) fn variables(case: &CaseView<'_>, most: usize) -> Vec<VariableRow> {
    let state = case.state();
    let variables = state.variables().iter().enumerate().take(most);
    variables
        .map(|(index, variable)| {
            let count = variable.writes.len();
            let reader = |from: usize| variable.readers.partition_point(|&reader| reader < from);
            let writes = variable.writes.iter().enumerate().map(|(n, write)| {
                let until = variable.writes.get(n + 1).map_or(usize::MAX, |next| next.from.0);
                let entry = Entry {
                    variable: index,
                    value: write.value,
                    badge: write.badge,
                    writer: write.step,
                    source: write.source,
                };
                WriteRow {
                    from: write.from,
                    step: write.step,
                    value: write.value.map(|value| ShownValue {
                        line: one_line(value),
                        kind: value.kind(),
                        pointer: state.pointer(&entry).map(|pointer| case.pointer(pointer)),
                    }),
                    badge: write.badge,
                    is_read: variable.readers.get(reader(write.from.0)).is_some_and(|&reader| reader < until),
                }
            });
            let first = variable.writes.first().map_or(usize::MAX, |write| write.from.0);
            let description = variable.field.and_then(|field| field.description);
            let mut row = VariableRow {
                name: variable.name.line(),
                description: description.map(one_line).unwrap_or_default(),
                origin: variable.origin,
                writes: Vec::with_capacity(count),
                readers: variable.readers.clone(),
                worst: None,
                unresolved: variable.readers.iter().copied().filter(|&reader| reader < first).collect(),
            };
            row.writes.extend(writes);
            row
        })
        .collect()
}
