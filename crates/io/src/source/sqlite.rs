//! SQLite databases opened without harm: never locked, never written, no file created for them, and nothing in them
//! believed.
//!
//! A database without a `-wal` file is opened as if nobody could change it, and looked at again afterwards: if it was
//! changed meanwhile, what was read does not count. Beside a `-wal` file another program may be writing: database and
//! log are copied into one file without a name, and the copy is what is read.

use std::fmt::Write as _;
use std::io::{ErrorKind, Seek as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};
use tempfile::TempDir;

use crate::failure::{Failure, reason};
use crate::source::beneath::Place;
use crate::source::open::{Blob, Opened, Stat, open_place};
use crate::system::{self, FileId};
use stepscope_base::guard::lock;
use stepscope_base::shown;
use stepscope_base::text::Shown;

mod cell;
mod copy;

pub(crate) use cell::{CellValue, each_row, own};
use copy::Copy;
pub(crate) use rusqlite::Error;

/// A larger cell is not read.
const MAX_CELL: i32 = 64 << 20;
/// Number of attempts to copy a database that changes meanwhile.
const TRIES: usize = 6;
/// Pause between two attempts.
const PAUSE: Duration = Duration::from_millis(15);
/// Number of steps of the database between two looks at what they took.
const STEPS: i32 = 1000;
/// Number of looks in a millisecond of a slow machine. Steps are counted and not timed, so that a database gives the same
/// rows however busy the machine is.
const LOOKS_A_MILLISECOND: u64 = 20;
/// Factor by which steps may take longer before the time counts after all: a disk may not answer.
const PATIENCE: u32 = 5;
/// Size of the head of a write-ahead log: another head means that the log began again.
const WAL_HEAD: usize = 32;
const WAL: &str = "-wal";
/// First bytes of a rollback journal, from which a broken-off change could be undone.
const JOURNAL: &[u8] = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
const OPEN: &str = "cannot open";
const READ: &str = "cannot read";

/// An open database.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    place: Place,
    work: Arc<Work>,
    /// State of the file when it was opened; `None` for a copy, which does not change.
    stat: Option<Stat>,
    /// Folder of a copy that keeps its name as long as it is open; behind the connection, which is closed before.
    home: Option<TempDir>,
    /// Note on how it was opened.
    pub note: Option<Shown>,
}

/// Work that an answer may take.
#[derive(Debug)]
struct Work {
    begun: Instant,
    /// Number of looks so far: one in [`STEPS`] steps.
    looks: AtomicU64,
    /// Number of looks after which it is broken off.
    most: AtomicU64,
    /// Milliseconds since `begun` after which it is broken off too.
    until: AtomicU64,
}

impl Work {
    fn is_over(&self) -> bool {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        looks >= self.most.load(Ordering::Relaxed)
            || self.begun.elapsed().as_millis() as u64 > self.until.load(Ordering::Relaxed)
    }

    fn allow(&self, time: Duration) {
        let looks = (time.as_millis() as u64).saturating_mul(LOOKS_A_MILLISECOND);
        self.most.store(self.looks.load(Ordering::Relaxed).saturating_add(looks), Ordering::Relaxed);
        let until = self.begun.elapsed().saturating_add(time.saturating_mul(PATIENCE));
        self.until.store(until.as_millis() as u64, Ordering::Relaxed);
    }
}

/// A table that is there: its name as it is written, and its columns that can be read.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    name: String,
    columns: Vec<String>,
    /// Columns that are computed when they are read, which may cost anything.
    generated: Vec<String>,
}

impl Table {
    /// Lists those of these columns that are there and not read, because they are computed when they are.
    pub(crate) fn unread<'n>(&self, names: &[&'n str]) -> Vec<&'n str> {
        let is_generated = |name: &&&str| self.generated.iter().any(|column| column.eq_ignore_ascii_case(name));
        names.iter().filter(is_generated).copied().collect()
    }

    /// Returns the column as it is written in a query; `NULL` where there is none.
    pub(crate) fn column(&self, name: &str) -> String {
        self.columns.iter().find(|column| column.eq_ignore_ascii_case(name)).map_or("NULL".into(), |name| quoted(name))
    }

    /// Tells whether it has a column.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.columns.iter().any(|column| column.eq_ignore_ascii_case(name))
    }

    /// Returns its name as it is written in a query.
    pub(crate) fn name(&self) -> String {
        quoted(&self.name)
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Opens a database for reading.
pub(crate) fn open(place: &Place) -> Result<Database, Failure> {
    // A log lies beside the database itself, not beside a link to it.
    let real = match place {
        Place::Named(path) => path.canonicalize().map_or_else(|_| place.clone(), Place::Named),
        place => place.clone(),
    };
    for _ in 0..TRIES {
        let blob = regular(&real)?;
        let opened = match side_file(&real, WAL) {
            Some(wal) => open_copy(place, &blob, &real, &wal)?,
            None => open_still(place, &blob, &real)?,
        };
        if let Some(database) = opened {
            return Ok(database);
        }
        std::thread::sleep(PAUSE);
    }
    let why = "another program keeps changing it; copy it, or wait until that is done";
    Err(Failure::own(READ, &Shown::path(place.path()), why))
}

/// Finds a file that belongs to the database, if there is one.
fn side_file(place: &Place, suffix: &str) -> Option<Place> {
    let side = place.beside(suffix);
    let there = side.beneath().and_then(|at| at.kind());
    // Other errors are reported on open.
    there.map_or_else(|error| error.kind() != ErrorKind::NotFound, |_| true).then_some(side)
}

/// Opens a database that no other process has open for writing, as far as can be seen.
fn open_still(named: &Place, blob: &Blob, real: &Place) -> Result<Option<Database>, Failure> {
    let failed = |error: &rusqlite::Error| failure(named.path(), error);
    let stat = blob.stat()?;
    let path = std::path::absolute(real.path()).map_err(|error| Failure::system(OPEN, named.path(), &error))?;
    // SQLite opens by name, and a name may lead elsewhere by then: what it has open must be the file that was looked at.
    let opened = opened_as(blob.id(), || Connection::open_with_flags(address(&path), STILL)).map_err(|e| failed(&e))?;
    let Some(connection) = opened else { return Ok(None) };
    let mut database = Database::new(connection, real.clone()).map_err(|error| failed(&error))?;
    database.stat = Some(stat);
    if side_file(real, "-journal").is_some_and(|journal| begins_with(&journal, JOURNAL)) {
        database.note = Some(Shown::own("another program has not finished a change, which may be partly visible"));
    }
    Ok(database.is_current().then_some(database))
}

const STILL: OpenFlags =
    OpenFlags::SQLITE_OPEN_READ_ONLY.union(OpenFlags::SQLITE_OPEN_URI).union(OpenFlags::SQLITE_OPEN_NO_MUTEX);

/// Opens something and looks whether this file is what was opened; `None`: it was another one.
fn opened_as<T, E>(id: FileId, open: impl FnOnce() -> Result<T, E>) -> Result<Option<T>, E> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = lock(&ONE_AT_A_TIME);
    let before = system::open_files();
    let opened = open()?;
    let after = system::open_files();
    let found = after.is_empty() || after.difference(&before).any(|(_, file)| *file == id);
    Ok(found.then_some(opened))
}

fn regular(place: &Place) -> Result<Blob, Failure> {
    match open_place(place)? {
        Opened::File(blob) => Ok(blob),
        Opened::Pipe(_) => Err(Failure::own(OPEN, &Shown::path(place.path()), "it is a pipe, not a database")),
    }
}

/// Copies database and log, and opens the copy; `None`: the log began again meanwhile.
fn open_copy(named: &Place, blob: &Blob, real: &Place, wal: &Place) -> Result<Option<Database>, Failure> {
    let failed = |error: &rusqlite::Error| failure(named.path(), error);
    let log = match regular(wal) {
        // The program that had it open has closed it.
        Err(_) if side_file(real, WAL).is_none() => return Ok(None),
        log => log?,
    };
    let head = log_head(&log)?;
    let copy = copy::take(blob, &log)?;
    let copied = SystemTime::now();
    // As long as the log did not begin anew, all that was written into the database meanwhile still stands in it.
    let still = regular(wal).and_then(|log| log_head(&log));
    if still.is_ok_and(|still| still == head) {
        let (connection, home) = connect_copy(copy, named)?;
        let mut database = Database::new(connection, real.clone()).map_err(|error| failed(&error))?;
        database.home = home;
        database.note = Some(shown!("snapshot of {}; its log (-wal) is not merged yet", clock_time(copied)));
        return Ok(Some(database));
    }
    Ok(None)
}

fn connect_copy(copy: Copy, named: &Place) -> Result<(Connection, Option<TempDir>), Failure> {
    let failed = |error: &rusqlite::Error| failure(named.path(), error);
    let copying = |error: &std::io::Error| Failure {
        what: "cannot copy",
        path: Shown::path(named.path()),
        source: shown!("into a private file: {}", reason(error)),
    };
    match copy {
        Copy::Memory(mut file, len) => {
            file.rewind().map_err(|error| copying(&error))?;
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let mut connection = Connection::open_in_memory_with_flags(flags).map_err(|error| failed(&error))?;
            let len = usize::try_from(len).unwrap_or(usize::MAX);
            connection.deserialize_read_exact(MAIN_DB, file, len, true).map_err(|error| failed(&error))?;
            Ok((connection, None))
        }
        Copy::Disk(file) => {
            let opened = file.named(|path| Connection::open_with_flags(address(path), STILL));
            let (opened, home) = opened.map_err(|error| copying(&error))?;
            Ok((opened.map_err(|error| failed(&error))?, home))
        }
    }
}

fn begins_with(place: &Place, magic: &[u8]) -> bool {
    let mut head = Vec::new();
    regular(place).and_then(|blob| blob.read(0, magic.len(), &mut head)).is_ok() && head == magic
}

fn log_head(log: &Blob) -> Result<Vec<u8>, Failure> {
    let mut head = Vec::new();
    log.read(0, WAL_HEAD, &mut head)?;
    Ok(head)
}

/// Makes a URI of a file that says that it does not change: no lock and no other file is needed.
fn address(file: &Path) -> String {
    let mut address = String::from("file:");
    for byte in file.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-".contains(byte) {
            address.push(char::from(*byte));
        } else {
            // Writing to memory cannot fail.
            let _ = write!(address, "%{byte:02x}");
        }
    }
    address.push_str("?immutable=1");
    address
}

impl Database {
    fn new(connection: Connection, place: Place) -> rusqlite::Result<Self> {
        let (looks, most, until) = <(AtomicU64, AtomicU64, AtomicU64)>::default();
        let work = Arc::new(Work { begun: Instant::now(), looks, most, until });
        let mut database = Self { connection, place, work, stat: None, home: None, note: None };
        database.restrict()?;
        Ok(database)
    }

    /// Takes every power from the database that it does not need.
    fn restrict(&mut self) -> rusqlite::Result<()> {
        let connection = &mut self.connection;
        for (setting, on) in [
            (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
            (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false),
            (DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, false),
            (DbConfig::SQLITE_DBCONFIG_DQS_DML, false),
        ] {
            connection.set_db_config(setting, on)?;
        }
        for (limit, most) in [
            (Limit::SQLITE_LIMIT_LENGTH, MAX_CELL),
            (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
            (Limit::SQLITE_LIMIT_EXPR_DEPTH, 100),
            (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 8),
            (Limit::SQLITE_LIMIT_FUNCTION_ARG, 16),
            (Limit::SQLITE_LIMIT_ATTACHED, 0),
            (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
        ] {
            connection.set_limit(limit, most)?;
        }
        let work = self.work.clone();
        connection.progress_handler(STEPS, Some(move || work.is_over()))?;
        self.allow(Duration::from_secs(10));
        // A map of a file that another program cuts would end this one.
        for setting in ["mmap_size=0", "cell_size_check=1", "temp_store=2", "cache_size=-4096"] {
            self.once(&format!("PRAGMA {setting}"))?;
        }
        Ok(())
    }

    /// Runs a statement to its end, whatever it gives.
    fn once(&self, sql: &str) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        Ok(())
    }

    /// Allows as much work from now on as takes so much time on a slow machine; then what it does is broken off.
    pub(crate) fn allow(&self, time: Duration) {
        self.work.allow(time);
    }

    /// Counts the thousands of steps that its statements took so far, those of short ones left out.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.work.looks.load(Ordering::Relaxed)
    }

    /// Counts the bytes of its pages.
    pub(crate) fn size(&self) -> rusqlite::Result<u64> {
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        Ok(pragma("page_count")?.saturating_mul(pragma("page_size")?).unsigned_abs())
    }

    /// Returns the connection, for statements.
    pub(crate) const fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Tells whether the file is still what it was when it was opened. What was read from one that is not, does not
    /// count.
    pub(crate) fn is_current(&self) -> bool {
        self.stat.is_none_or(|then| Stat::of_place(&self.place) == Some(then) && side_file(&self.place, WAL).is_none())
    }

    /// Turns an error into a sentence.
    pub(crate) fn failure(&self, error: &rusqlite::Error) -> Failure {
        failure(self.place.path(), error)
    }

    /// Finds a table of this name; views and tables that are made by code are none.
    pub(crate) fn table(&self, name: &str) -> rusqlite::Result<Option<Table>> {
        const FIND: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND lower(name) = ?1 \
            AND sql NOT LIKE 'create virtual%' LIMIT 1";
        let mut statement = self.connection.prepare(FIND)?;
        let mut rows = statement.query([name])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let ValueRef::Text(name) = row.get_ref(0)? else { return Ok(None) };
        let Ok(name) = std::str::from_utf8(name).map(str::to_owned) else { return Ok(None) };
        let mut statement = self.connection.prepare(&format!("PRAGMA table_xinfo({})", quoted(&name)))?;
        let mut rows = statement.query([])?;
        let (mut columns, mut generated) = (Vec::new(), Vec::new());
        while let Some(row) = rows.next()? {
            // What is generated on reading may cost anything.
            const GENERATED: i64 = 2;
            let hidden = row.get_ref(6)?.as_i64().unwrap_or(0);
            if let Ok(column) = row.get_ref(1)?.as_str() {
                let list = if hidden == GENERATED { &mut generated } else { &mut columns };
                list.push(column.to_owned());
            }
        }
        Ok(Some(Table { name, columns, generated }))
    }

    /// Finds which of these names are those of views and tables that are made by code.
    pub(crate) fn made<'n>(&self, names: &[&'n str]) -> rusqlite::Result<Vec<&'n str>> {
        const FIND: &str = "SELECT 1 FROM sqlite_schema WHERE lower(name) = ?1 \
            AND (type = 'view' OR sql LIKE 'create virtual%')";
        let mut statement = self.connection.prepare(FIND)?;
        let mut made = Vec::new();
        for name in names {
            made.extend(statement.exists([name])?.then_some(*name));
        }
        Ok(made)
    }

    /// Tells whether a query finds its rows by an index instead of scanning the table.
    pub(crate) fn is_indexed(&self, sql: &str) -> rusqlite::Result<bool> {
        let mut statement = self.connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
        let mut rows = statement.raw_query();
        let mut indexed = true;
        while let Some(row) = rows.next()? {
            indexed &= row.get_ref(3)?.as_str().is_ok_and(|detail| !detail.starts_with("SCAN"));
        }
        Ok(indexed)
    }
}

/// Formats a time as `12:34:56 UTC`.
fn clock_time(time: SystemTime) -> Shown {
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs()) % 86_400;
    shown!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

fn failure(path: &Path, error: &rusqlite::Error) -> Failure {
    let why = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => Shown::own("it is not an SQLite database, or it is encrypted"),
        Some(ErrorCode::DatabaseCorrupt) => {
            Shown::own("this SQLite database is damaged; `sqlite3 FILE .recover` may save what is in it")
        }
        Some(ErrorCode::OperationInterrupted) => {
            Shown::own("this SQLite database takes too long to answer; what was read so far is shown")
        }
        Some(ErrorCode::TooBig) => Shown::own("a cell of this SQLite database is larger than 64 MB"),
        Some(ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
            Shown::own("SQLite cannot open it; a newer version may have written it")
        }
        _ => shown!("SQLite says: {}", Shown::error(error).shortened(200)),
    };
    Failure { what: READ, path: Shown::path(path), source: why }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn open(path: &Path) -> Result<Database, Failure> {
        super::open(&path.into())
    }

    /// Makes a database whose lines are in its log alone.
    const LOGGED: &str = "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)";

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn at(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Makes a database, with a program that has it open.
        fn made(&self, name: &str, sql: &str) -> (PathBuf, Connection) {
            let path = self.at(name);
            let writer = Connection::open(&path).unwrap();
            writer.execute_batch(sql).unwrap();
            (path, writer)
        }

        /// Names, bytes and times of everything in it.
        fn state(&self) -> Vec<(PathBuf, Vec<u8>, SystemTime)> {
            let entries = std::fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().path());
            let mut state: Vec<_> = entries
                .map(|path| {
                    let modified = std::fs::metadata(&path).unwrap().modified().unwrap();
                    (path.clone(), std::fs::read(&path).unwrap(), modified)
                })
                .collect();
            state.sort();
            state
        }
    }

    fn count(database: &Database, table: &str) -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        database.connection().query_row(&sql, [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_database_without_a_log_is_read_where_it_lies() {
        let folder = Folder::new();
        // Signs that mean something in an address.
        let sql = "PRAGMA journal_mode=WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1), (2)";
        let (path, _) = folder.made("a?b#c%20 é.sqlite", sql);
        let before = folder.state();
        let database = open(&path).unwrap();
        assert_eq!((count(&database, "t"), database.note.clone()), (2, None));
        assert!(database.is_current());
        assert_eq!(folder.state(), before, "nothing is created and nothing changed");
        assert!(database.connection().execute("INSERT INTO t VALUES (3)", []).is_err());
        let writer = Connection::open(&path).unwrap();
        writer.execute("INSERT INTO t VALUES (3)", []).unwrap();
        assert!(!database.is_current(), "what is read now does not count");
    }

    #[test]
    fn beside_a_log_a_copy_is_read_and_leaves_nothing() {
        let folder = Folder::new();
        let (path, writer) = folder.made("live.sqlite", LOGGED);
        writer.execute_batch("INSERT INTO t VALUES (1), (2), (3)").unwrap();
        let before = folder.state();
        let database = open(&path).unwrap();
        assert_eq!(count(&database, "t"), 3, "also what stands in the log alone");
        let note = database.note.clone().unwrap().into_string();
        assert!(note.starts_with("snapshot of ") && note.contains(" UTC; its log (-wal) is not merged yet"), "{note}");
        assert_eq!(folder.state(), before);
        writer.execute("INSERT INTO t VALUES (4)", []).unwrap();
        assert_eq!(count(&database, "t"), 3, "a snapshot stays what it is");
        assert_eq!(count(&open(&path).unwrap(), "t"), 4);
    }

    #[test]
    fn a_large_copy_lies_on_the_disk_without_a_name() {
        let folder = Folder::new();
        let (path, writer) = folder.made("live.sqlite", LOGGED);
        writer.execute("INSERT INTO t VALUES (zeroblob(40000000)), (2)", []).unwrap();
        let database = open(&path).unwrap();
        assert_eq!(count(&database, "t"), 2);
        let whole: i64 = database.connection().query_row("SELECT sum(length(x)) FROM t", [], |row| row.get(0)).unwrap();
        assert_eq!(whole, 40_000_001);
        assert!(database.note.is_some());
    }

    #[test]
    fn a_log_that_is_a_link_is_not_read() {
        let folder = Folder::new();
        let (other, _writer) = folder.made("other.sqlite", LOGGED);
        let (own, _) = folder.made("own.sqlite", "CREATE TABLE a(x)");
        std::os::unix::fs::symlink(folder.at("other.sqlite-wal"), folder.at("own.sqlite-wal")).unwrap();
        assert!(open(&own).unwrap_err().to_string().contains("symbolic link"));
        // A link to a database is a person's; the log that counts lies beside the database itself.
        std::os::unix::fs::symlink(&other, folder.at("link.sqlite")).unwrap();
        let database = open(&folder.at("link.sqlite")).unwrap();
        assert_eq!((count(&database, "t"), database.note.is_some()), (0, true));
    }

    #[test]
    fn the_writer_is_never_held_up() {
        let folder = Folder::new();
        let (path, writer) = folder.made("live.sqlite", "PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
        writer.busy_timeout(Duration::ZERO).unwrap();
        for n in 0..60 {
            writer.execute("INSERT INTO t VALUES (?1)", [n]).unwrap();
            let database = open(&path).unwrap();
            assert_eq!(count(&database, "t"), n + 1);
            if n % 10 == 9 {
                let mut checkpoint = writer.prepare("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
                assert_eq!(checkpoint.query_row([], |row| row.get::<_, i64>(0)).unwrap(), 0, "not busy");
            }
        }
    }

    #[test]
    fn views_made_tables_and_generated_columns_are_not_asked() {
        let folder = Folder::new();
        let (path, _) = folder.made(
            "odd.sqlite",
            "CREATE VIEW answers AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c;
            CREATE VIRTUAL TABLE lines USING dbstat(main);
            CREATE TABLE \"LLM_Calls\" (\"in\"\"put\" TEXT, big TEXT GENERATED ALWAYS AS (hex(zeroblob(9000000))));",
        );
        let database = open(&path).unwrap();
        assert!(database.table("answers").unwrap().is_none() && database.table("lines").unwrap().is_none());
        assert_eq!(database.made(&["answers", "llm_calls", "lines", "toc"]).unwrap(), ["answers", "lines"]);
        let calls = database.table("llm_calls").unwrap().unwrap();
        assert_eq!((calls.name(), calls.column("IN\"PUT")), ("\"LLM_Calls\"".into(), "\"in\"\"put\"".into()));
        assert_eq!((calls.has("big"), calls.column("big")), (false, "NULL".into()));
        assert_eq!(calls.unread(&["input", "BIG"]), ["BIG"]);
    }

    #[test]
    fn what_takes_too_long_is_broken_off() {
        let folder = Folder::new();
        let (path, _) = folder.made("slow.sqlite", "CREATE TABLE t(x)");
        let database = open(&path).unwrap();
        database.allow(Duration::from_millis(50));
        let begun = Instant::now();
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c";
        let error = database.connection().query_row(endless, [], |_| Ok(())).unwrap_err();
        assert!(begun.elapsed() < Duration::from_secs(2));
        assert!(database.failure(&error).to_string().contains("takes too long"));
        let rows = || {
            database.allow(Duration::from_millis(20));
            let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
            let mut statement = database.connection().prepare(endless).unwrap();
            let mut rows = statement.raw_query();
            std::iter::from_fn(|| rows.next().ok().flatten().map(drop)).count()
        };
        let first = rows();
        assert!(first > 0 && (0..5).all(|_| rows() == first), "work is counted, not timed");
        database.allow(Duration::from_secs(9));
        assert_eq!(count(&database, "t"), 0, "the next question is answered");
    }

    #[test]
    fn damage_is_a_sentence() {
        let folder = Folder::new();
        let why = |bytes: &[u8]| {
            let path = folder.at("x.sqlite");
            std::fs::write(&path, bytes).unwrap();
            let database =
                open(&path).map(|database| database.table("answers").map_err(|error| database.failure(&error)));
            database.and_then(|table| table).map(|_| ()).unwrap_err().to_string()
        };
        assert!(
            why(&[crate::source::magic::SQLITE, &[0; 84]].concat())
                .ends_with("it is not an SQLite database, or it is encrypted")
        );
        let (path, _) = folder.made("whole.sqlite", "CREATE TABLE answers(x)");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[100..200].fill(0xee);
        assert!(why(&bytes).contains("is damaged"), "{}", why(&bytes));
    }

    #[test]
    fn an_unfinished_change_is_said() {
        let folder = Folder::new();
        let (path, _) = folder.made("half.sqlite", "CREATE TABLE t(x)");
        std::fs::write(folder.at("half.sqlite-journal"), [JOURNAL, &[0; 504]].concat()).unwrap();
        let before = folder.state();
        let database = open(&path).unwrap();
        assert!(database.note.clone().unwrap().as_str().contains("has not finished a change"));
        assert_eq!((count(&database, "t"), folder.state()), (0, before));
    }

    #[test]
    fn whether_an_index_helps_is_known_before() {
        let folder = Folder::new();
        let (path, _) = folder.made("i.sqlite", "CREATE TABLE a(k TEXT PRIMARY KEY, v); CREATE TABLE b(k TEXT, v)");
        let database = open(&path).unwrap();
        assert!(database.is_indexed("SELECT v FROM a WHERE k = ?1").unwrap());
        assert!(!database.is_indexed("SELECT v FROM b WHERE k = ?1").unwrap());
    }
}
