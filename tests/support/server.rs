//! A model server that does what a test tells it, byte by byte, and sees what the client does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// Time limit of everything in these tests: nothing takes longer unless it hangs.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Received request.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Request line: `POST /v1/chat/completions`.
    pub(crate) line: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// Number of the request to this server, from 0.
    pub(crate) n: usize,
}

impl Seen {
    pub(crate) fn path(&self) -> &str {
        self.line.split(' ').nth(1).unwrap()
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// Server's end of one connection.
pub(crate) struct Talk {
    stream: TcpStream,
    hung_up: Arc<(Mutex<usize>, Condvar)>,
}

impl Talk {
    /// Writes bytes; it is no fault if the client does not want them any more.
    pub(crate) fn raw(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.stream.write_all(bytes.as_ref()).and_then(|()| self.stream.flush()).is_ok()
    }

    pub(crate) fn head(&mut self, status: &str, kind: &str) {
        self.raw(format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"));
    }

    pub(crate) fn chunk(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        let bytes = bytes.as_ref();
        self.raw([format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat())
    }

    pub(crate) fn end(&mut self) {
        self.raw(b"0\r\n\r\n");
    }

    /// Writes a whole answer.
    pub(crate) fn whole(&mut self, status: &str, kind: &str, extra: &str, body: impl AsRef<[u8]>) {
        let body = body.as_ref();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{extra}\r\n", body.len());
        self.raw([head.as_bytes(), body].concat());
    }

    /// Waits until the client closes the connection.
    pub(crate) fn wait_for_hang_up(&mut self) {
        let mut rest = [0; 64];
        while matches!(self.stream.read(&mut rest), Ok(n) if n > 0) {}
        self.note_hang_up();
    }

    pub(crate) fn note_hang_up(&self) {
        *self.hung_up.0.lock().unwrap() += 1;
        self.hung_up.1.notify_all();
    }
}

/// Server on a port of its own.
pub(crate) struct Server {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<Seen>>>,
    hung_up: Arc<(Mutex<usize>, Condvar)>,
}

impl Server {
    /// Starts a server that answers every request with this. When the answer returns, the connection is closed.
    pub(crate) fn start(answer: impl Fn(&Seen, &mut Talk) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (seen, hung_up) = (Arc::new(Mutex::new(Vec::new())), Arc::new((Mutex::new(0), Condvar::new())));
        let server = Self { port, seen: Arc::clone(&seen), hung_up: Arc::clone(&hung_up) };
        let answer = Arc::new(answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, hung_up, answer) = (Arc::clone(&seen), Arc::clone(&hung_up), Arc::clone(&answer));
                std::thread::spawn(move || {
                    stream.set_read_timeout(Some(PATIENCE)).unwrap();
                    stream.set_nodelay(true).unwrap();
                    let Some(request) = read(&stream, &seen) else { return };
                    answer(&request, &mut Talk { stream, hung_up });
                });
            }
        });
        server
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    /// Waits until so many clients have closed their connection.
    pub(crate) fn wait_for_hang_ups(&self, count: usize) {
        let (lock, condition) = &*self.hung_up;
        let guard = lock.lock().unwrap();
        let (_guard, late) = condition.wait_timeout_while(guard, PATIENCE, |hung_up| *hung_up < count).unwrap();
        assert!(!late.timed_out(), "the connection was not closed");
    }
}

fn read(stream: &TcpStream, seen: &Mutex<Vec<Seen>>) -> Option<Seen> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|len| *len > 0)?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut headers = Vec::new();
    while let Some(header) = line().filter(|header| !header.is_empty()) {
        let (name, value) = header.split_once(": ").unwrap_or((&header, ""));
        headers.push((name.to_owned(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.map_or(0, |(_, value)| value.parse().unwrap())];
    reader.read_exact(&mut body).ok()?;
    let mut seen = seen.lock().unwrap();
    let request = Seen { line: first, headers, body, n: seen.len() };
    seen.push(request.clone());
    Some(request)
}
