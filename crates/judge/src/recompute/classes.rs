//! Classes of readings of a step's calculation, fine enough that each kind can be measured, and whether it may accuse.

/// Form in which a calculation is written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Wording {
    /// With signs: `a * b`.
    Signs,
    /// In words: "multiply a by b".
    Words,
    /// Carried out in the step's own text: `16 - 3 = 13 eggs are left`.
    Worked,
    /// Not at all; the names of what goes in and what comes out leave no choice.
    Implied,
    /// A number that the procedure itself names: "(value 3)", "set x to 12".
    Constant,
    /// The last step states its one input.
    Statement,
}

/// Declares the classes, each with its word, the form of its text, and whether it is measured well enough to accuse.
macro_rules! classes {
    ($($(#[$doc:meta])+ $class:ident = $word:literal, $wording:ident, $accuses:literal;)+) => {
        /// Way in which the calculation of a step was read.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
        pub enum ReadingClass {
            $($(#[$doc])+ $class,)+
        }

        impl ReadingClass {
            /// Every class, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$class,)+];

            /// Its name in JSON lines.
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$class => $word,)+
                }
            }

            /// Form in which such a calculation is written.
            pub(crate) const fn wording(self) -> Wording {
                match self {
                    $(Self::$class => Wording::$wording,)+
                }
            }

            /// True if a finding that rests on it may be more than a note: in wordings by others it is right in 95 of 100
            /// at least.
            pub const fn may_accuse(self) -> bool {
                match self {
                    $(Self::$class => $accuses,)+
                }
            }
        }
    };
}

classes! {
    /// In signs, assigned to the output: `total = a * b`.
    Assigned = "assigned", Signs, true;
    /// In signs without the output's name: `a * b`.
    Signs = "signs", Signs, false;
    /// In signs in the output's description.
    SignsDescribed = "signs_described", Signs, false;
    /// An equation that was solved for the output.
    Solved = "solved", Signs, true;
    /// In signs with the numbers that the inputs hold: `23 - 8`.
    Numbers = "numbers", Signs, true;
    /// In signs, in a text with further signs that are not read: `π(R² − r²)`.
    Surrounded = "surrounded", Signs, false;
    /// Carried out in the step's text: `16 - 3 = 13`.
    Worked = "worked", Worked, true;
    /// An equation of a chain of thought.
    Chained = "chained", Signs, true;
    /// One operation in words, on inputs that are named in full.
    OneInFull = "one_in_full", Words, true;
    /// One operation in words.
    One = "one", Words, true;
    /// Several operations in words, on inputs that are named in full.
    SeveralInFull = "several_in_full", Words, true;
    /// Several operations in words.
    Several = "several", Words, true;
    /// One operation in words that goes on with the result of the step before: "add the shipping".
    GoesOn = "goes_on", Words, true;
    /// In words in the output's description.
    WordsDescribed = "words_described", Words, false;
    /// A number is only rounded.
    Rounded = "rounded", Words, true;
    /// On a list of numbers.
    Listed = "listed", Words, true;
    /// On two times of day.
    Clock = "clock", Words, true;
    /// Not at all: names leave no choice.
    Implied = "implied", Implied, false;
    /// A number of the procedure itself.
    Constant = "constant", Constant, true;
    /// The last step states what it reads.
    Statement = "statement", Statement, true;
    /// The recorded value is itself a calculation.
    Recorded = "recorded", Signs, true;
}

impl ReadingClass {
    /// True if it is what a text says, and no guess: only then its result is put in the place of a recorded value.
    pub const fn is_said(self) -> bool {
        !matches!(self, Self::Implied | Self::Surrounded)
    }
}
