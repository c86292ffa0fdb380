//! A record as JSON, one row per value, containers folded or open.

use std::collections::HashSet;

use crate::widgets::list::List;
use stepscope_base::json::{Found, Kind, Pointer, Value};
use stepscope_base::text::Shown;
use stepscope_present::values::value_text;

/// Records with more values than this begin folded below the first level.
const FOLD_FROM: usize = 2_000;
/// A longer string is cut in its row; `Enter` shows it whole.
const MAX_ROW_TEXT: usize = 4 << 10;

/// Folded values, and the rows that are left.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The cursor.
    pub list: List,
    folded: HashSet<u32>,
    rows: Vec<JsonRow>,
}

/// Row: its value and depth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonRow {
    /// Index of the value in the tape.
    pub node: u32,
    /// Number of values before it in the container around it.
    pub place: u32,
    /// Number of containers around it.
    pub depth: u16,
    /// True if it has an inside.
    pub container: bool,
    /// True if its inside is hidden.
    pub folded: bool,
}

/// A row as it is drawn.
#[derive(Clone, Debug)]
pub struct JsonRowText {
    /// The key, or the index in an array.
    pub key: Option<Shown>,
    /// True if the key is an index.
    pub is_index: bool,
    /// Kind of the value.
    pub kind: Kind,
    /// The value, or what is inside.
    pub text: Shown,
}

impl Outline {
    /// Lists the rows of a record, the big ones folded.
    pub fn new(root: Value<'_>) -> Self {
        let mut outline = Self::default();
        if root.next_index() > FOLD_FROM {
            outline.folded = root
                .walk()
                .filter(|stop| stop.depth > 0 && stop.value.is_container() && !stop.value.is_empty())
                .map(|stop| stop.value.index() as u32)
                .collect();
        }
        outline.lay_out(root);
        outline
    }

    fn lay_out(&mut self, root: Value<'_>) {
        self.rows.clear();
        // How many values stand before the next one, in each container that is open.
        let mut places: Vec<u32> = Vec::new();
        let mut walk = root.walk();
        while let Some(stop) = walk.next() {
            places.truncate(stop.depth);
            let place = places.last().copied().unwrap_or(0);
            places.iter_mut().last().into_iter().for_each(|place| *place += 1);
            let node = stop.value.index() as u32;
            let container = stop.value.is_container() && !stop.value.is_empty();
            let folded = container && self.folded.contains(&node);
            let depth = stop.depth.min(usize::from(u16::MAX)) as u16;
            self.rows.push(JsonRow { node, place, depth, container, folded });
            if folded {
                walk.skip_inside();
            } else if container {
                places.push(0);
            }
        }
    }

    /// Counts the rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Tells whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Returns a row.
    pub fn row(&self, n: usize) -> Option<JsonRow> {
        self.rows.get(n).copied()
    }

    /// Returns the row of a value, or of the folded container that holds it.
    pub(crate) fn row_of(&self, node: u32) -> usize {
        self.rows.partition_point(|row| row.node <= node).saturating_sub(1)
    }

    /// Returns the row under the cursor.
    pub fn current(&self) -> Option<JsonRow> {
        self.row(self.list.at)
    }

    /// Folds the container under the cursor, or opens it; `Some(fold)` asks for one of the two.
    pub fn fold(&mut self, root: Value<'_>, fold: Option<bool>) {
        let Some(row) = self.current().filter(|row| row.container) else { return };
        if fold.unwrap_or(!row.folded) {
            self.folded.insert(row.node);
        } else {
            self.folded.remove(&row.node);
        }
        self.lay_out(root);
    }

    /// Folds, or, where there is nothing to fold, goes to the container around.
    pub fn left(&mut self, root: Value<'_>) {
        let Some(row) = self.current() else { return };
        if row.container && !row.folded {
            self.fold(root, Some(true));
        } else if let Some(parent) =
            (0..self.list.at).rev().find(|n| self.row(*n).is_some_and(|above| above.depth < row.depth))
        {
            self.list.at = parent;
        }
    }

    /// Returns the row of the next value in the same container, or of the one before.
    pub(crate) fn sibling(&self, by: isize) -> Option<usize> {
        let here = self.current()?;
        let ends = |n: &usize| self.row(*n).is_none_or(|row| row.depth <= here.depth);
        let found = if by > 0 { (self.list.at + 1..self.len()).find(ends) } else { (0..self.list.at).rev().find(ends) };
        found.filter(|n| self.row(*n).is_some_and(|row| row.depth == here.depth))
    }

    /// Opens, or, where that is done, goes inside.
    pub fn right(&mut self, root: Value<'_>) {
        match self.current() {
            Some(row) if row.folded => self.fold(root, Some(false)),
            Some(row) if row.container => self.list.at += 1,
            _ => {}
        }
    }

    /// Folds everything below the first level, or opens everything.
    pub(crate) fn fold_all(&mut self, root: Value<'_>, fold: bool) {
        let here = self.current().map(|row| row.node);
        self.folded = if fold {
            let inner =
                root.walk().filter(|stop| stop.depth > 0 && stop.value.is_container() && !stop.value.is_empty());
            inner.map(|stop| stop.value.index() as u32).collect()
        } else {
            HashSet::new()
        };
        self.lay_out(root);
        if let Some(node) = here {
            self.go_to_node(node);
        }
    }

    /// Moves the cursor to a value, opening what hides it. `false`: there is no such value.
    pub fn go_to(&mut self, root: Value<'_>, pointer: &Pointer) -> bool {
        let Some(found) = root.find(pointer) else { return false };
        let mut here = root;
        for part in &pointer.0 {
            self.folded.remove(&(here.index() as u32));
            if let Some(next) = here.find(&Pointer(vec![part.clone()])) {
                here = next.value;
            }
        }
        self.lay_out(root);
        self.go_to_node(found.value.index() as u32);
        true
    }

    /// Moves the cursor to a value of the tape, opening what hides it.
    pub(crate) fn go_to_index(&mut self, root: Value<'_>, node: u32) {
        if let Some(found) = root.nth(node as usize) {
            self.go_to(root, &root.pointer_to(found.value));
        }
    }

    fn go_to_node(&mut self, node: u32) {
        // Rows stand in tape order: the last one at or before the value is the value or what hides it.
        self.list.at = self.rows.partition_point(|row| row.node <= node).saturating_sub(1);
    }

    /// Renders the rows from `first` on, as they are drawn, at most `count`.
    pub fn texts(&self, root: Value<'_>, first: usize, count: usize) -> Vec<(JsonRow, JsonRowText)> {
        let rows = self.rows.get(first..).unwrap_or_default();
        let rows = rows.get(..count.min(rows.len())).unwrap_or_default();
        let text = |row: &JsonRow| Some((*row, row_text(*row, root.nth(row.node as usize)?)));
        rows.iter().filter_map(text).collect()
    }
}

fn row_text(row: JsonRow, Found { key, value }: Found<'_>) -> JsonRowText {
    let is_index = key.is_none() && row.depth > 0;
    let key = match key {
        Some(key) => key.string().map(|name| name.line()),
        None => is_index.then(|| Shown::count(row.place as usize)),
    };
    JsonRowText { key, is_index, kind: value.kind(), text: value_text(value, MAX_ROW_TEXT) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::json::Tape;

    const TEXT: &[u8] = br#"{"a": [1, {"b": "x"}], "c": {}, "d": 18446744073709551616}"#;

    fn drawn(outline: &Outline, root: Value<'_>, first: usize, count: usize) -> Vec<String> {
        let texts = outline.texts(root, first, count);
        texts
            .iter()
            .map(|(row, text)| {
                format!("{}{}={}", " ".repeat(row.depth.into()), text.key.clone().unwrap_or_default(), text.text)
            })
            .collect()
    }

    #[test]
    fn rows_fold_and_open() {
        let mut tape = Tape::default();
        let root = tape.parse(TEXT).unwrap();
        let mut outline = Outline::new(root);
        let all = [
            "={…} 3 keys",
            " a=[…] 2 items",
            "  0=1",
            "  1={…} 1 key",
            "   b=\"x\"",
            " c={}",
            " d=18446744073709551616",
        ];
        assert_eq!(drawn(&outline, root, 0, 99), all);
        assert_eq!(drawn(&outline, root, 3, 2), all[3..5]);
        outline.list.at = 1;
        outline.left(root);
        assert_eq!(drawn(&outline, root, 0, 99), ["={…} 3 keys", " a=[…] 2 items", " c={}", " d=18446744073709551616"]);
        assert!(outline.go_to(root, &Pointer(vec!["a".into(), 1.into(), "b".into()])));
        assert_eq!(outline.list.at, 4);
        outline.left(root);
        assert_eq!(outline.list.at, 3);
        outline.fold_all(root, true);
        assert_eq!((outline.len(), outline.list.at), (4, 1));
    }
}
