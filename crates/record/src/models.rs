//! Names of the models that records name, each kept once: a row has room for its number only.

use std::sync::{PoisonError, RwLock};

use stepscope_base::text::{Shown, Untrusted, head};

/// Maximum number of models that are told apart.
pub const MAX_MODELS: usize = 255;
/// More of a name is not kept.
const MAX_NAME: usize = 256;

/// The names, numbered from 1 in the order in which they are met. Threads share them.
#[derive(Debug, Default)]
pub struct ModelNames(RwLock<Vec<Box<[u8]>>>);

impl ModelNames {
    /// Returns the number of a name; `None`: there are [`MAX_MODELS`] others.
    pub fn number(&self, name: &Untrusted<'_>) -> Option<u16> {
        let name = head(name.bytes(), MAX_NAME);
        let place = |names: &[Box<[u8]>]| names.iter().position(|known| **known == *name).map(|at| at as u16 + 1);
        if let Some(number) = place(&self.0.read().unwrap_or_else(PoisonError::into_inner)) {
            return Some(number);
        }
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        // Another thread may have met it meanwhile.
        if let Some(number) = place(&names) {
            return Some(number);
        }
        (names.len() < MAX_MODELS).then(|| {
            names.push(name.into());
            names.len() as u16
        })
    }

    /// Tells whether another name would get a number: until then a row without one names no model.
    pub fn has_room(&self) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).len() < MAX_MODELS
    }

    /// Returns the name of a number, as `shown_name` writes it.
    pub fn name(&self, number: u16) -> Option<Shown> {
        let names = self.0.read().unwrap_or_else(PoisonError::into_inner);
        names.get(usize::from(number).checked_sub(1)?).map(|name| shown_name(&Untrusted::new(name)))
    }
}

/// Writes the name of a model as charts and filters do: on one line, without the quotes that a filter puts around it.
pub fn shown_name(name: &Untrusted<'_>) -> Shown {
    let name = head(name.bytes(), MAX_NAME);
    Shown::line(&name.iter().map(|byte| if *byte == b'"' { b'\'' } else { *byte }).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_numbered_once_and_up_to_a_limit() {
        let names = ModelNames::default();
        let number = |name: &str| names.number(&Untrusted::from(name));
        assert_eq!((number("a"), number("b\u{1b}\"c"), number("a")), (Some(1), Some(2), Some(1)));
        assert_eq!(names.name(2).unwrap().as_str(), "b␛'c");
        assert_eq!((names.name(0), names.name(3)), (None, None));
        for n in 0..MAX_MODELS {
            number(&n.to_string());
        }
        assert_eq!((number("one more"), number("a"), number("252")), (None, Some(1), Some(255)));
    }
}
