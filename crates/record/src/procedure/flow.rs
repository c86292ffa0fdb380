//! Writers and readers of each variable of a procedure, found in one pass for all rules.

use foldhash::{HashMap, HashMapExt};

use crate::procedure::{FINAL_ANSWER, PROBLEM_TEXT, Procedure, Step};
use stepscope_base::json::Value;
use stepscope_base::text::Untrusted;

/// Up to so many variables a search in order beats hashing.
const FEW: usize = 32;

/// The variables of a procedure, numbered in the order in which they are first named.
#[derive(Debug, Default)]
pub struct Flow<'a> {
    variables: Vec<FlowVariable<'a>>,
    /// The numbers of all fields: step by step, inputs before outputs.
    fields: Vec<u32>,
    numbers: HashMap<Untrusted<'a>, u32>,
}

#[derive(Debug)]
struct FlowVariable<'a> {
    name: Untrusted<'a>,
    /// See [`sign`].
    sign: u32,
    /// Step and output that first write it.
    first_write: Option<(usize, usize)>,
    writes: usize,
    last_read: Option<usize>,
}

/// Length, first and last byte: unlike names are mostly told apart by that.
fn sign(name: &[u8]) -> u32 {
    let byte = |byte: Option<&u8>| u32::from(byte.copied().unwrap_or(0));
    (name.len() as u32) << 16 | byte(name.first()) << 8 | byte(name.last())
}

/// The variables of one step.
#[derive(Debug)]
pub struct StepFlow<'f, 'a> {
    /// From 0.
    pub position: usize,
    /// The step itself.
    pub step: &'f Step<'a>,
    /// The number of each input's variable.
    pub reads: &'f [u32],
    /// The number of each output's variable.
    pub writes: &'f [u32],
}

impl<'a> Flow<'a> {
    /// Reads the flow of a procedure that holds the schema.
    pub fn of(procedure: &Procedure<'a>) -> Self {
        let fields = procedure.steps.iter().map(|step| step.inputs.len() + step.outputs.len()).sum();
        let mut flow = Self {
            variables: Vec::with_capacity(FEW.min(fields)),
            fields: Vec::with_capacity(fields),
            numbers: HashMap::new(),
        };
        for (position, step) in procedure.steps.iter().enumerate() {
            for field in &step.inputs {
                flow.variable(Value::text_of(field.name)).last_read = Some(position);
            }
            for (n, field) in step.outputs.iter().enumerate() {
                let variable = flow.variable(Value::text_of(field.name));
                variable.first_write.get_or_insert((position, n));
                variable.writes += 1;
            }
        }
        flow
    }

    /// Notes the next field and gives its variable.
    fn variable(&mut self, name: Untrusted<'a>) -> &mut FlowVariable<'a> {
        let sign = sign(name.bytes());
        let known = if self.numbers.is_empty() {
            self.variables.iter().position(|variable| variable.sign == sign && variable.name == name)
        } else {
            self.numbers.get(&name).map(|&number| number as usize)
        };
        let number = known.unwrap_or(self.variables.len());
        self.fields.push(number as u32);
        if known.is_none() {
            if number == FEW {
                let names = self.variables.iter().zip(0..).map(|(variable, n)| (variable.name.clone(), n));
                self.numbers.extend(names);
            }
            if number >= FEW {
                self.numbers.insert(name.clone(), number as u32);
            }
            self.variables.push(FlowVariable { name, sign, first_write: None, writes: 0, last_read: None });
        }
        &mut self.variables[number]
    }

    /// The steps of the procedure that the flow was read from.
    pub fn steps<'f>(&'f self, procedure: &'f Procedure<'a>) -> impl Iterator<Item = StepFlow<'f, 'a>> {
        let mut rest = self.fields.as_slice();
        procedure.steps.iter().enumerate().map(move |(position, step)| {
            let (reads, after) = rest.split_at(step.inputs.len());
            let (writes, after) = after.split_at(step.outputs.len());
            rest = after;
            StepFlow { position, step, reads, writes }
        })
    }

    /// Counts the variables.
    pub fn len(&self) -> usize {
        self.variables.len()
    }

    /// Tells whether no variable is named.
    pub fn is_empty(&self) -> bool {
        self.variables.is_empty()
    }

    /// Tells whether a variable is written more than once.
    pub fn rewrites(&self) -> bool {
        self.variables.iter().any(|variable| variable.writes > 1)
    }

    /// Counts how often a variable is written again, but for the final answer.
    pub fn redefinitions(&self) -> usize {
        let again = |variable: &FlowVariable<'_>| variable.writes.saturating_sub(1);
        self.variables.iter().filter(|variable| variable.name != FINAL_ANSWER).map(again).sum()
    }

    fn get(&self, variable: u32) -> Option<&FlowVariable<'a>> {
        self.variables.get(variable as usize)
    }

    /// Returns the name of a variable, empty where there is none of that number.
    pub fn name(&self, variable: u32) -> &Untrusted<'a> {
        static NOTHING: Untrusted<'static> = Untrusted::new(b"");
        self.get(variable).map_or(&NOTHING, |variable| &variable.name)
    }

    /// The step and output that first write a variable.
    pub fn first_write(&self, variable: u32) -> Option<(usize, usize)> {
        self.get(variable)?.first_write
    }

    /// Tells whether exactly one step writes the variable.
    pub fn is_written_once(&self, variable: u32) -> bool {
        self.get(variable).is_some_and(|variable| variable.writes == 1)
    }

    /// Tells whether a step before this position writes the variable.
    pub fn is_written_before(&self, variable: u32, position: usize) -> bool {
        self.first_write(variable).is_some_and(|(step, _)| step < position)
    }

    /// Tells whether no step after this position reads a variable that only steps read.
    pub fn is_unused(&self, variable: u32, position: usize) -> bool {
        let Some(variable) = self.get(variable) else { return true };
        let is_read = variable.last_read.is_some_and(|step| step > position);
        !is_read && variable.name != FINAL_ANSWER && variable.name != PROBLEM_TEXT
    }
}
