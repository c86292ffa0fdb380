//! `storage.sqlite`: every question, answer, document and logged call in it, as far as its tables go. Types are read by
//! value, whatever the columns declare.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use rusqlite::{Row, Statement};

use super::line::{Asked, Call, FoundInDatabase, SeenPage, StoredNumber, hash, question_key};
use crate::source::lines::Gathered;
use crate::source::sqlite::{CellValue, Database, Table, each_row, own};
use stepscope_evidence::document::{Document, Heading};

/// Time to find the next row; after that the rest is not read.
const STEP: Duration = Duration::from_secs(2);
/// Time to find it where a whole table has to be read for it.
const SCAN: Duration = Duration::from_secs(30);
/// Number of rows of a table without an index that are looked up.
const MAX_HASHED: usize = 8 << 20;
/// Size of what is put around all answers together: this many times the database, and a fixed amount in any case. Rows
/// of other tables belong to every answer with their key, and many may have the same.
const MAX_AROUND: u64 = 8;
const FREE_AROUND: u64 = 16 << 20;
/// About what a page takes as it is written.
const PAGE: u64 = 64;
/// The tables that make a database a store.
pub(super) const TABLES: [&str; 6] = ["answers", "parsed_questions", "questions", "lines", "documents", "llm_calls"];

/// The columns of a store that are read.
const COLUMNS: [&str; 26] = [
    "question_id",
    "doc_id",
    "question_text",
    "parsed_json",
    "page_num",
    "rank",
    "score",
    "similarity",
    "match_count",
    "meta_json",
    "answer_json",
    "schema_name",
    "model_used",
    "created_at",
    "call_hash",
    "model",
    "input",
    "output_json",
    "label",
    "line_num",
    "text",
    "toc_idx",
    "level",
    "title",
    "start_page",
    "end_page",
];
/// Tables that add to those of [`TABLES`].
const SIDE_TABLES: [&str; 3] = ["retrieved_pages", "generation_meta", "toc"];

/// Lists the columns of a store that are not read, because they are computed when they are: `answers.answer_json`.
pub(super) fn unread_columns(database: &Database) -> rusqlite::Result<Vec<String>> {
    let mut unread = Vec::new();
    for name in TABLES.into_iter().chain(SIDE_TABLES) {
        let columns = database.table(name)?.map(|table| table.unread(&COLUMNS));
        unread.extend(columns.into_iter().flatten().map(|column| format!("{name}.{column}")));
    }
    Ok(unread)
}

fn number(row: &Row<'_>, column: usize) -> StoredNumber {
    match own(row, column) {
        CellValue::Int(n) => StoredNumber::Int(n),
        CellValue::Float(x) => StoredNumber::Float(x),
        _ => StoredNumber::None,
    }
}

/// A question and the document that it was put to, as a database tells them.
#[derive(Clone, Debug)]
struct QuestionKey {
    question: CellValue,
    doc: CellValue,
}

impl QuestionKey {
    fn of(row: &Row<'_>) -> Self {
        Self { question: own(row, 0), doc: own(row, 1) }
    }

    fn asked(&self) -> Asked {
        Asked { question_id: self.question.clone().text(), doc_id: self.doc.clone().text(), ..Asked::default() }
    }
}

/// Rows of a side table that belong to a key.
struct Lookup<'c> {
    database: &'c Database,
    statement: Statement<'c>,
    with_doc: bool,
    /// Rows by hash of their key, where the table has no index for it.
    rows: Option<HashMap<u64, Vec<i64>>>,
}

impl<'c> Lookup<'c> {
    fn new(database: &'c Database, table: Option<&Table>, columns: &[&str]) -> rusqlite::Result<Option<Self>> {
        let Some(table) = table.filter(|table| table.has("question_id")) else { return Ok(None) };
        let list = |columns: &[&str]| columns.iter().map(|name| table.column(name)).collect::<Vec<_>>().join(", ");
        let (wanted, name, with_doc) = (list(columns), table.name(), table.has("doc_id"));
        let (question, doc) = (table.column("question_id"), table.column("doc_id"));
        let both = if with_doc { format!(" AND {doc} = ?2") } else { String::new() };
        let sql = format!("SELECT {wanted} FROM {name} WHERE {question} = ?1{both}");
        if database.is_indexed(&sql)? {
            let statement = database.connection().prepare(&sql)?;
            return Ok(Some(Self { database, statement, with_doc, rows: None }));
        }
        database.allow(SCAN);
        let mut rows = HashMap::new();
        let mut statement = database.connection().prepare(&format!("SELECT rowid, {question}, {doc} FROM {name}"))?;
        let mut all = statement.raw_query();
        while let Some(row) = all.next()?.filter(|_| rows.len() < MAX_HASHED) {
            let hash = Self::hash(with_doc, &own(row, 1), &own(row, 2));
            rows.entry(hash).or_insert_with(Vec::new).push(row.get(0)?);
        }
        let statement = database.connection().prepare(&format!("SELECT {wanted} FROM {name} WHERE rowid = ?1"))?;
        Ok(Some(Self { database, statement, with_doc, rows: Some(rows) }))
    }

    fn hash(with_doc: bool, question: &CellValue, doc: &CellValue) -> u64 {
        let (question, doc) = (question.clone().text(), doc.clone().text().filter(|_| with_doc));
        hash(&[question.as_deref(), doc.as_deref()])
    }

    /// Shows the rows of a key until `each` says that it is enough.
    fn each(&mut self, key: &QuestionKey, mut each: impl FnMut(&Row<'_>) -> bool) -> rusqlite::Result<()> {
        self.database.allow(STEP);
        if let Some(rows) = &self.rows {
            let found = rows.get(&Self::hash(self.with_doc, &key.question, &key.doc));
            for row in found.into_iter().flatten() {
                let mut rows = self.statement.query([row])?;
                if let Some(row) = rows.next()?
                    && !each(row)
                {
                    break;
                }
            }
            return Ok(());
        }
        let mut rows = if self.with_doc {
            self.statement.query([&key.question, &key.doc])?
        } else {
            self.statement.query([&key.question])?
        };
        while let Some(row) = rows.next()? {
            if !each(row) {
                break;
            }
        }
        Ok(())
    }

    /// Reads the first row of a key.
    fn first<T>(
        lookup: &mut Option<Self>,
        key: &QuestionKey,
        take: impl Fn(&Row<'_>) -> T,
    ) -> rusqlite::Result<Option<T>> {
        let mut found = None;
        if let Some(lookup) = lookup {
            lookup.each(key, |row| {
                found = Some(take(row));
                false
            })?;
        }
        Ok(found)
    }
}

/// Keys of what was shown so far, by hash.
#[derive(Default)]
struct SeenKeys {
    documents: HashSet<u64>,
    questions: HashSet<u64>,
}

impl SeenKeys {
    fn note(&mut self, asked: &Asked) {
        self.documents.insert(hash(&[asked.doc_id.as_deref()]));
        self.questions.insert(hash(&[asked.question_id.as_deref()]));
    }
}

/// The tables of a store, ready to be asked.
pub(super) struct Rows<'c> {
    database: &'c Database,
    questions: Option<Lookup<'c>>,
    parsed: Option<Lookup<'c>>,
    pages: Option<Lookup<'c>>,
    meta: Option<Lookup<'c>>,
    answers: Option<Lookup<'c>>,
    /// Number of bytes that may still be put around answers.
    room: u64,
    /// True if that was not enough.
    pub(super) is_cut: bool,
}

/// Tells whether a database holds any table of a store.
pub(super) fn is_store(database: &Database) -> rusqlite::Result<bool> {
    for name in TABLES {
        if database.table(name)?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

impl<'c> Rows<'c> {
    pub(super) fn new(database: &'c Database) -> rusqlite::Result<Self> {
        let lookup = |name: &str, columns: &[&str]| Lookup::new(database, database.table(name)?.as_ref(), columns);
        Ok(Self {
            database,
            questions: lookup("questions", &["question_text"])?,
            parsed: lookup("parsed_questions", &["parsed_json"])?,
            pages: lookup("retrieved_pages", &["page_num", "rank", "score", "similarity", "match_count"])?,
            meta: lookup("generation_meta", &["meta_json"])?,
            answers: lookup("answers", &["answer_json", "schema_name", "model_used", "created_at"])?,
            room: database.size()?.saturating_mul(MAX_AROUND).saturating_add(FREE_AROUND),
            is_cut: false,
        })
    }

    /// Adds to a question what the database knows of it apart from its answer.
    fn surround(&mut self, key: &QuestionKey, asked: &mut Asked) -> rusqlite::Result<()> {
        let text = |row: &Row<'_>| own(row, 0).text();
        if self.is_cut {
            return Ok(());
        }
        let (mut pages, mut any) = (Vec::new(), false);
        let mut room = self.room / PAGE;
        if let Some(lookup) = &mut self.pages {
            any = true;
            lookup.each(key, |row| {
                let number = |column| number(row, column);
                let (rank, score, similarity, matches) = (number(1), number(2), number(3), number(4));
                let page = own(row, 0).int().map(|number| SeenPage { number, rank, score, similarity, matches });
                pages.extend(page);
                room = room.saturating_sub(1);
                room > 0
            })?;
        }
        let around = Asked {
            question: Lookup::first(&mut self.questions, key, text)?.flatten(),
            parsed: Lookup::first(&mut self.parsed, key, text)?.flatten(),
            meta: Lookup::first(&mut self.meta, key, text)?.flatten(),
            pages: (any && !pages.is_empty()).then_some(pages),
            ..Asked::default()
        };
        let texts: usize = [&around.question, &around.parsed, &around.meta].into_iter().flatten().map(Vec::len).sum();
        let taken = texts as u64 + PAGE * around.pages.as_ref().map_or(0, Vec::len) as u64;
        match self.room.checked_sub(taken) {
            Some(left) if room > 0 => self.room = left,
            _ => self.is_cut = true,
        }
        if !self.is_cut {
            asked.fill(around);
        }
        Ok(())
    }

    /// Fills what a folder lacks of a question.
    pub(super) fn fill(&mut self, asked: &mut Asked) -> rusqlite::Result<()> {
        if asked.answer.is_some() && asked.parsed.is_some() && asked.meta.is_some() && asked.pages.is_some() {
            return Ok(());
        }
        if let Some(half) = asked.question_id.clone().filter(|id| super::folder::is_hex(id, 8)) {
            asked.question_id = self.whole_id(&half)?.or(Some(half));
        }
        let text = |text: &Option<Vec<u8>>| text.clone().map_or(CellValue::Null, CellValue::Text);
        let key = QuestionKey { question: text(&asked.question_id), doc: text(&asked.doc_id) };
        let answer = Lookup::first(&mut self.answers, &key, |row| Asked {
            answer: own(row, 0).text(),
            schema: own(row, 1).text(),
            model: own(row, 2).text(),
            created_at: number(row, 3),
            ..Asked::default()
        })?;
        if let Some(answer) = answer.filter(|_| asked.answer.is_none()) {
            asked.fill(answer);
        }
        self.surround(&key, asked)
    }

    /// Finds the id that begins so.
    fn whole_id(&self, half: &[u8]) -> rusqlite::Result<Option<Vec<u8>>> {
        let Some(table) = self.database.table("questions")?.filter(|table| table.has("question_id")) else {
            return Ok(None);
        };
        let (id, name) = (table.column("question_id"), table.name());
        let sql = format!("SELECT {id} FROM {name} WHERE {id} >= ?1 AND {id} < ?1 || 'g' LIMIT 1");
        self.database.allow(STEP);
        let mut statement = self.database.connection().prepare(&sql)?;
        let mut rows = statement.query([CellValue::Text(half.to_vec())])?;
        Ok(rows.next()?.and_then(|row| own(row, 0).text()))
    }

    /// Passes on everything in the database but the questions that `known` holds, until `each` has had enough. Errors
    /// in one table do not hide the others.
    pub(super) fn run(
        &mut self,
        known: &mut HashSet<u64>,
        each: &mut dyn FnMut(FoundInDatabase) -> bool,
    ) -> Vec<rusqlite::Error> {
        let (mut seen, mut errors, mut more) = (SeenKeys::default(), Vec::new(), true);
        let mut tell = |done: rusqlite::Result<bool>| match done {
            Ok(more) => more,
            Err(error) => {
                errors.push(error);
                true
            }
        };
        let mut question = |asked: Asked| {
            seen.note(&asked);
            each(FoundInDatabase::Question(asked))
        };
        more = more && tell(self.answers(known, &mut question));
        for name in ["parsed_questions", "retrieved_pages", "generation_meta"] {
            more = more && tell(self.keys(name, known, &mut question));
        }
        more = more && tell(self.unasked(known, &seen, each));
        for name in ["documents", "lines"] {
            more = more && tell(self.documents(name, known, &mut seen, each));
        }
        let _ = more && tell(self.calls(each));
        errors
    }

    /// Makes the query for columns of a table; `None`: there is no such table.
    fn select(&self, name: &str, columns: &[&str]) -> rusqlite::Result<Option<String>> {
        let list = |table: Table| {
            let columns: Vec<String> = columns.iter().map(|column| table.column(column)).collect();
            format!("SELECT {} FROM {}", columns.join(", "), table.name())
        };
        Ok(self.database.table(name)?.map(list))
    }

    /// Passes on every row of `answers` whose question is not known yet.
    fn answers(&mut self, known: &mut HashSet<u64>, each: &mut dyn FnMut(Asked) -> bool) -> rusqlite::Result<bool> {
        let columns = ["question_id", "doc_id", "schema_name", "answer_json", "model_used", "created_at"];
        let Some(sql) = self.select("answers", &columns)? else { return Ok(true) };
        let mut own_keys = HashSet::new();
        let more = each_row(self.database, &sql, STEP, |row| {
            let key = QuestionKey::of(row);
            let mut asked = Asked {
                schema: own(row, 2).text(),
                answer: own(row, 3).text(),
                model: own(row, 4).text(),
                created_at: number(row, 5),
                ..key.asked()
            };
            // An answer that stands twice in the table is shown twice: they may differ.
            let hash = asked.key();
            if known.contains(&hash) {
                return Ok(true);
            }
            own_keys.insert(hash);
            self.surround(&key, &mut asked)?;
            Ok(each(asked))
        })?;
        known.extend(own_keys);
        Ok(more)
    }

    /// Passes on every question of a table that is not known yet.
    fn keys(
        &mut self,
        name: &str,
        known: &mut HashSet<u64>,
        each: &mut dyn FnMut(Asked) -> bool,
    ) -> rusqlite::Result<bool> {
        let Some(sql) = self.select(name, &["question_id", "doc_id"])? else { return Ok(true) };
        each_row(self.database, &sql, STEP, |row| {
            let key = QuestionKey::of(row);
            let mut asked = key.asked();
            if !known.insert(asked.key()) {
                return Ok(true);
            }
            self.surround(&key, &mut asked)?;
            Ok(each(asked))
        })
    }

    /// Questions that were put to no document.
    fn unasked(
        &self,
        known: &HashSet<u64>,
        seen: &SeenKeys,
        each: &mut dyn FnMut(FoundInDatabase) -> bool,
    ) -> rusqlite::Result<bool> {
        let Some(sql) = self.select("questions", &["question_id", "question_text"])? else { return Ok(true) };
        each_row(self.database, &sql, STEP, |row| {
            let asked = Asked { question_id: own(row, 0).text(), question: own(row, 1).text(), ..Asked::default() };
            let id = asked.question_id.as_deref();
            let is_new = !seen.questions.contains(&hash(&[id])) && !known.contains(&question_key(id));
            Ok(!is_new || each(FoundInDatabase::Question(asked)))
        })
    }

    /// Documents of a table that were asked nothing.
    fn documents(
        &self,
        name: &str,
        known: &HashSet<u64>,
        seen: &mut SeenKeys,
        each: &mut dyn FnMut(FoundInDatabase) -> bool,
    ) -> rusqlite::Result<bool> {
        let Some(table) = self.database.table(name)?.filter(|table| table.has("doc_id")) else { return Ok(true) };
        let sql = format!("SELECT DISTINCT {} FROM {}", table.column("doc_id"), table.name());
        each_row(self.database, &sql, SCAN, |row| {
            let Some(doc_id) = own(row, 0).text() else { return Ok(true) };
            let hash = hash(&[Some(&doc_id)]);
            let is_new = !known.contains(&hash) && seen.documents.insert(hash);
            Ok(!is_new || each(FoundInDatabase::Document(doc_id)))
        })
    }

    /// Passes on every logged call.
    fn calls(&self, each: &mut dyn FnMut(FoundInDatabase) -> bool) -> rusqlite::Result<bool> {
        let columns = ["call_hash", "model", "schema_name", "input", "output_json", "label", "created_at"];
        let Some(sql) = self.select("llm_calls", &columns)? else { return Ok(true) };
        each_row(self.database, &sql, STEP, |row| {
            let text = |column| own(row, column).text();
            Ok(each(FoundInDatabase::Call(Call {
                id: text(0),
                model: text(1),
                schema: text(2),
                prompt: text(3),
                reply: text(4),
                label: text(5),
                created_at: number(row, 6),
            })))
        })
    }
}

/// Row numbers of each document in tables without an index for it, by hash of its name: so that the tables are read
/// once, and not once per document.
#[derive(Default, Debug)]
pub(super) struct Places(HashMap<&'static str, HashMap<u64, Vec<i64>>>);

/// Reads the lines of a document; `None`: it has none there.
pub(super) fn document(database: &Database, places: &mut Places, doc_id: &[u8]) -> rusqlite::Result<Option<Document>> {
    let mut gathered = Gathered::default();
    places.each(database, "lines", &["page_num", "line_num", "text"], doc_id, |row| {
        gathered.push(own(row, 0).int(), own(row, 1).int(), own(row, 2).text().unwrap_or_default());
    })?;
    if gathered.is_empty() {
        return Ok(None);
    }
    let mut toc = Vec::new();
    let columns = ["toc_idx", "level", "title", "start_page", "end_page"];
    places.each(database, "toc", &columns, doc_id, |row| {
        let level = own(row, 1).int().and_then(|level| u32::try_from(level).ok()).unwrap_or(1);
        let title = own(row, 2).text().unwrap_or_default();
        toc.push((own(row, 0).int(), Heading { level, title, pages: (own(row, 3).int(), own(row, 4).int()) }));
    })?;
    toc.sort_by_key(|(place, _)| *place);
    Ok(Some(gathered.document(toc.into_iter().map(|(_, heading)| heading).collect())))
}

impl Places {
    /// Shows the rows of a document in a table.
    fn each(
        &mut self,
        database: &Database,
        name: &'static str,
        columns: &[&str],
        doc_id: &[u8],
        mut each: impl FnMut(&Row<'_>),
    ) -> rusqlite::Result<()> {
        let Some(table) = database.table(name)?.filter(|table| table.has("doc_id")) else { return Ok(()) };
        let columns: Vec<String> = columns.iter().map(|column| table.column(column)).collect();
        let (wanted, from, doc) = (columns.join(", "), table.name(), table.column("doc_id"));
        database.allow(SCAN);
        let connection = database.connection();
        let sql = format!("SELECT {wanted} FROM {from} WHERE {doc} = ?1");
        if database.is_indexed(&sql)? {
            let mut statement = connection.prepare(&sql)?;
            let mut rows = statement.query([&CellValue::Text(doc_id.to_vec())])?;
            while let Some(row) = rows.next()? {
                each(row);
            }
            return Ok(());
        }
        if !self.0.contains_key(name) {
            let mut places: HashMap<u64, Vec<i64>> = HashMap::new();
            let mut statement = connection.prepare(&format!("SELECT rowid, {doc} FROM {from}"))?;
            let mut rows = statement.raw_query();
            let mut left = MAX_HASHED;
            while let Some(row) = rows.next()?.filter(|_| left > 0) {
                left -= 1;
                let Some(id) = own(row, 1).text() else { continue };
                places.entry(hash(&[Some(&id)])).or_default().push(row.get(0)?);
            }
            self.0.insert(name, places);
        }
        let Some(places) = self.0.get(name).and_then(|places| places.get(&hash(&[Some(doc_id)]))) else {
            return Ok(());
        };
        let mut statement = connection.prepare(&format!("SELECT {wanted}, {doc} FROM {from} WHERE rowid = ?1"))?;
        for place in places {
            let mut rows = statement.query([place])?;
            // Two names may have the same hash.
            if let Some(row) = rows.next()?
                && own(row, columns.len()).text().as_deref() == Some(doc_id)
            {
                each(row);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::sqlite;

    /// Makes a store without any index: so many documents of one line, each asked one question.
    fn store(folder: &std::path::Path, documents: usize) -> Database {
        let path = folder.join(format!("{documents}.sqlite"));
        let connection = rusqlite::Connection::open(&path).unwrap();
        let tables = "CREATE TABLE lines (doc_id, page_num, line_num, text);
            CREATE TABLE answers (question_id, doc_id, schema_name, answer_json);
            CREATE TABLE questions (question_id, question_text);
            CREATE TABLE generation_meta (question_id, doc_id, meta_json);";
        connection.execute_batch(&format!("BEGIN; {tables}")).unwrap();
        for n in 0..documents {
            let sql = format!(
                "INSERT INTO lines VALUES ('d{n}', 1, 1, 'line of {n}'); INSERT INTO answers VALUES ('q{n}', 'd{n}', 's', '{{}}');
                INSERT INTO questions VALUES ('q{n}', 'what?'); INSERT INTO generation_meta VALUES ('q{n}', 'd{n}', '{{}}');"
            );
            connection.execute_batch(&sql).unwrap();
        }
        connection.execute_batch("COMMIT").unwrap();
        sqlite::open(&path.as_path().into()).unwrap()
    }

    #[test]
    fn tables_without_an_index_are_gone_through_once() {
        let folder = tempfile::tempdir().unwrap();
        let steps = |documents: usize| {
            let database = store(folder.path(), documents);
            let before = database.steps();
            let mut places = Places::default();
            for n in 0..documents {
                let name = format!("d{n}");
                assert_eq!(document(&database, &mut places, name.as_bytes()).unwrap().unwrap().len(), 1);
            }
            let mut found = 0;
            let errors = Rows::new(&database).unwrap().run(&mut HashSet::new(), &mut |_| {
                found += 1;
                true
            });
            assert!(errors.is_empty() && found == documents, "{found}");
            database.steps() - before
        };
        let (small, large) = (steps(500), steps(2_000));
        // Once a document, four times as many would take sixteen times as much.
        assert!(small > 0 && large <= 6 * small, "{small} thousand steps, then {large}");
    }
}
