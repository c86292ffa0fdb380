//! Columns of the table, and those that a person chose in place of the usual ones.

use std::sync::Arc;

use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_base::words::closest;
use stepscope_table::filter::Filter;

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
        Route = "route",
        Grounded = "grounded",
        Cause = "cause",
        Model = "model",
        Title = "question",
        Value = "value",
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
            Self::Fitness | Self::Findings | Self::Route => 9,
            Self::Grounded => 8,
            Self::Kind | Self::Fix => 11,
            Self::Pred | Self::Gold => 14,
            Self::Cause | Self::Model | Self::Value => 16,
            Self::Reply => 30,
            Self::Title => 40,
        }
    }
}

/// Widest column that can be asked for.
const MAX_WIDTH: usize = 400;

/// Columns that a person chose, in order; none: the usual ones.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct ChosenColumns(Vec<ChosenColumn>);

#[derive(Clone, PartialEq, Eq, Debug)]
struct ChosenColumn {
    column: Column,
    /// Width, if one was given.
    width: Option<usize>,
    /// The name as typed, which is that of a value of the records where the column is [`Column::Value`].
    name: String,
}

impl ChosenColumns {
    /// Reads names of columns between blanks, each with a width if it is to have one: `ok cause:20 state.total question`.
    pub(crate) fn parse(typed: &str) -> Result<Self, Shown> {
        let mut chosen: Vec<ChosenColumn> = Vec::new();
        for word in typed.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (name, width) = word.split_once(':').map_or((word, None), |(name, width)| (name, Some(width)));
            let column = match Column::from_word(name).filter(|column| *column != Column::Value) {
                Some(column) => column,
                None if name.contains(['.', '[', '(']) => {
                    _ = Filter::value_reader(name).map_err(|why| shown!("{}: {why}", Shown::line(name.as_bytes())))?;
                    Column::Value
                }
                None => return Err(unknown(name)),
            };
            let width = match width.map(str::parse::<usize>) {
                None => None,
                Some(Ok(width)) if (1..=MAX_WIDTH).contains(&width) => Some(width),
                Some(_) => return Err(shown!("a width is a number from 1 to {MAX_WIDTH}, as in {name}:20")),
            };
            if chosen.iter().any(|known| known.name == name) {
                return Err(shown!("{name} is there twice"));
            }
            chosen.push(ChosenColumn { column, width, name: name.to_owned() });
        }
        Ok(Self(chosen))
    }

    /// Writes them as they are typed.
    pub(crate) fn text(&self) -> String {
        let one = |chosen: &ChosenColumn| match chosen.width {
            Some(width) => format!("{}:{width}", chosen.name),
            None => chosen.name.clone(),
        };
        self.0.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// Lists the names of the values of records that columns show.
    pub(crate) fn values(&self) -> Arc<[String]> {
        self.0.iter().filter(|chosen| chosen.column == Column::Value).map(|chosen| chosen.name.clone()).collect()
    }

    /// Lays them out in a width; `None`: none were chosen. What does not fit is left out, from the right; a question
    /// without a width takes the rest.
    pub(crate) fn layout(&self, width: usize) -> Option<Vec<(Column, usize)>> {
        if self.0.is_empty() {
            return None;
        }
        let mut left = width;
        let mut laid: Vec<(Column, usize)> = Vec::new();
        for ChosenColumn { column, width: wanted, name } in &self.0 {
            let column = *column;
            let takes_rest = column == Column::Title && wanted.is_none();
            let named = || if column == Column::Value { name.len().clamp(8, 24) } else { column.usual_width() };
            let own = if takes_rest { 0 } else { wanted.unwrap_or_else(named) };
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
    let names = || Column::ALL.into_iter().filter(|column| *column != Column::Value).map(Column::word);
    let meant = closest(name, names()).map_or_else(Shown::default, |close| shown!(" Did you mean {close}?"));
    let all = names().collect::<Vec<_>>().join(", ");
    let name = Shown::line(name.as_bytes());
    shown!("no column is called {name}.{meant} Columns: {all}; a variable is state.{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_read_as_they_are_written() {
        for typed in [
            "",
            "ok cause:20 question",
            "# v ok kind answer reply expected steps fitness reward conf agree values findings fix route grounded cause model question",
            "ok state.total:12 trace[2].temperature meta.score question",
        ] {
            assert_eq!(ChosenColumns::parse(typed).unwrap().text(), typed);
        }
        assert_eq!(ChosenColumns::parse(" ok, fix ").unwrap().text(), "ok fix");
        for (typed, said) in [
            ("ok caus", "Did you mean cause?"),
            ("ok cause:0", "from 1 to 400"),
            ("ok cause:wide", "from 1 to 400"),
            ("ok fix ok", "ok is there twice"),
            ("value", "no column is called value"),
            ("total", "a variable is state.total"),
            ("state.a state.a", "state.a is there twice"),
            ("trace[x].seed", "is no place in a list"),
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
