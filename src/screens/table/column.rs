//! Columns of the table, and those that a person chose in place of the usual ones.

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;

stepscope_base::words! {
    /// Column of the table.
    pub(crate) enum Column {
        Position = "#",
        Review = "v",
        Ok = "ok",
        Kind = "kind",
        Pred = "answer",
        Reply = "reply",
        Gold = "expected",
        Steps = "steps",
        Fitness = "fitness",
        Reward = "reward",
        Confidence = "conf",
        Agreement = "agree",
        SharedValues = "values",
        Findings = "findings",
        Fix = "fix",
        Cause = "cause",
        Model = "model",
        Title = "question",
    }
}

impl Column {
    /// Width of the column where a person chose it without one; the question takes the rest.
    const fn usual_width(self) -> usize {
        match self {
            Self::Review => 1,
            Self::Ok => 3,
            Self::Position | Self::Steps | Self::Confidence | Self::Agreement | Self::SharedValues => 6,
            Self::Reward => 7,
            Self::Fitness | Self::Findings => 9,
            Self::Kind | Self::Fix => 11,
            Self::Pred | Self::Gold => 14,
            Self::Cause | Self::Model => 16,
            Self::Reply => 30,
            Self::Title => 40,
        }
    }
}

/// Widest column that can be asked for.
const MAX_WIDTH: usize = 400;

/// Columns that a person chose, in order, each with its width if one was given; none: the usual ones.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChosenColumns(Vec<(Column, Option<usize>)>);

impl ChosenColumns {
    /// Reads names of columns between blanks, each with a width if it is to have one: `ok cause:20 question`.
    pub(crate) fn parse(typed: &str) -> Result<Self, Shown> {
        let mut chosen: Vec<(Column, Option<usize>)> = Vec::new();
        for word in typed.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (name, width) = word.split_once(':').map_or((word, None), |(name, width)| (name, Some(width)));
            let column = Column::from_word(name).ok_or_else(|| unknown(name))?;
            let width = match width.map(str::parse::<usize>) {
                None => None,
                Some(Ok(width)) if (1..=MAX_WIDTH).contains(&width) => Some(width),
                Some(_) => return Err(shown!("a width is a number from 1 to {MAX_WIDTH}, as in {name}:20")),
            };
            if chosen.iter().any(|(known, _)| *known == column) {
                return Err(shown!("{name} is there twice"));
            }
            chosen.push((column, width));
        }
        Ok(Self(chosen))
    }

    /// Writes them as they are typed.
    pub(crate) fn text(&self) -> String {
        let one = |(column, width): &(Column, Option<usize>)| match width {
            Some(width) => format!("{}:{width}", column.word()),
            None => column.word().to_owned(),
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// Lays them out in a width; `None`: none were chosen. What does not fit is left out, from the right; a question
    /// without a width takes the rest.
    pub(crate) fn layout(&self, width: usize) -> Option<Vec<(Column, usize)>> {
        if self.0.is_empty() {
            return None;
        }
        let mut left = width;
        let mut laid: Vec<(Column, usize)> = Vec::new();
        for &(column, wanted) in &self.0 {
            let takes_rest = column == Column::Title && wanted.is_none();
            let own = if takes_rest { 0 } else { wanted.unwrap_or_else(|| column.usual_width()) };
            if own + 1 > left {
                break;
            }
            left -= own + 1;
            laid.push((column, own));
        }
        if let Some((_, own)) = laid.iter_mut().find(|(column, own)| *column == Column::Title && *own == 0) {
            *own = left;
        }
        Some(laid)
    }
}

fn unknown(name: &str) -> Shown {
    let names = || Column::ALL.into_iter().map(Column::word);
    let meant = closest(name, names()).map_or_else(Shown::default, |close| shown!(" Did you mean {close}?"));
    let all = names().collect::<Vec<_>>().join(", ");
    shown!("no column is called {}.{meant} Columns: {all}", Shown::line(name.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_are_written() {
        for typed in [
            "",
            "ok cause:20 question",
            "# v ok kind answer reply expected steps fitness reward conf agree values findings fix cause model question",
        ] {
            assert_eq!(ChosenColumns::parse(typed).unwrap().text(), typed);
        }
        assert_eq!(ChosenColumns::parse(" ok, fix ").unwrap().text(), "ok fix");
        for (typed, said) in [
            ("ok caus", "Did you mean cause?"),
            ("ok cause:0", "from 1 to 400"),
            ("ok cause:wide", "from 1 to 400"),
            ("ok fix ok", "ok is there twice"),
        ] {
            let error = ChosenColumns::parse(typed).unwrap_err();
            assert!(error.as_str().contains(said), "{error}");
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out_and_the_question_takes_the_rest() {
        let chosen = ChosenColumns::parse("ok question cause:20").unwrap();
        assert_eq!(chosen.layout(60), Some(vec![(Column::Ok, 3), (Column::Title, 34), (Column::Cause, 20)]));
        assert_eq!(chosen.layout(20), Some(vec![(Column::Ok, 3), (Column::Title, 15)]));
        assert_eq!(chosen.layout(0), Some(Vec::new()));
        assert_eq!(ChosenColumns::default().layout(60), None);
    }
}
