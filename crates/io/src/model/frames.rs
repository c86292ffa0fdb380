//! Bytes of a stream -> frames: server-sent events or lines of JSON. Pure, bounded, and the same wherever the bytes
//! were split on their way.

/// Division of a stream into frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// Server-sent events: fields on lines, a blank line behind each event. Lines end in `\n`, `\r\n` or `\r`.
    Events,
    /// One value per line.
    Lines,
}

/// One event, or one line that is not blank.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Frame {
    /// The event's name; empty where it has none.
    pub event: Vec<u8>,
    /// Its data; of an event with several data lines, those lines with `\n` between.
    pub data: Vec<u8>,
}

/// A frame grew beyond its limit; nothing more is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLong {
    /// The limit in bytes.
    pub limit: usize,
}

/// Takes bytes and gives frames.
#[derive(Debug)]
pub struct Framer {
    framing: Framing,
    limit: usize,
    line: Vec<u8>,
    event: Vec<u8>,
    data: Option<Vec<u8>>,
    /// A `\n` that comes next belongs to the `\r` before it.
    after_return: bool,
    /// True while no byte of the first line has been taken.
    at_start: bool,
    failed: bool,
}

const MARK: &[u8] = "\u{feff}".as_bytes();

impl Framer {
    /// Makes a framer for a stream whose frames have at most `limit` bytes.
    pub fn new(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            limit,
            line: Vec::new(),
            event: Vec::new(),
            data: None,
            after_return: false,
            at_start: true,
            failed: false,
        }
    }

    /// Takes the next bytes and appends the frames that they complete.
    pub fn push(&mut self, bytes: &[u8], frames: &mut Vec<Frame>) -> Result<(), TooLong> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return)
                && let Some(behind) = rest.strip_prefix(b"\n")
            {
                rest = behind;
                continue;
            }
            let end = match self.framing {
                Framing::Events => memchr::memchr2(b'\n', b'\r', rest),
                Framing::Lines => memchr::memchr(b'\n', rest),
            };
            let (head, tail) = rest.split_at(end.unwrap_or(rest.len()));
            self.extend(head)?;
            rest = tail;
            if let Some((ending, behind)) = tail.split_first() {
                self.after_return = *ending == b'\r';
                rest = behind;
                self.end_line(frames);
            }
        }
        Ok(())
    }

    /// Ends the stream: what is left without its line end or blank line is a frame too, as some servers leave them out.
    pub fn finish(&mut self, frames: &mut Vec<Frame>) {
        if !self.failed {
            self.end_line(frames);
            self.end_event(frames);
        }
    }

    fn extend(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.failed || self.size() + bytes.len() > self.limit {
            self.failed = true;
            self.line = Vec::new();
            return Err(TooLong { limit: self.limit });
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    /// Tells whether nothing of a frame is kept.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.size() == 0
    }

    fn size(&self) -> usize {
        self.line.len() + self.data.as_ref().map_or(0, Vec::len)
    }

    fn end_line(&mut self, frames: &mut Vec<Frame>) {
        let mut line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.at_start) && line.starts_with(MARK) {
            line.drain(..MARK.len());
        }
        match self.framing {
            Framing::Lines => {
                if !line.trim_ascii().is_empty() {
                    frames.push(Frame { event: Vec::new(), data: line });
                }
            }
            Framing::Events if line.is_empty() => self.end_event(frames),
            Framing::Events => self.field(&line),
        }
    }

    fn field(&mut self, line: &[u8]) {
        let colon = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, value) = line.split_at(colon);
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"data" => match &mut self.data {
                None => self.data = Some(value.to_vec()),
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
            },
            b"event" => self.event = value.to_vec(),
            // Comments, ids and waiting times say nothing about a reply.
            _ => {}
        }
    }

    fn end_event(&mut self, frames: &mut Vec<Frame>) {
        let event = std::mem::take(&mut self.event);
        if let Some(data) = self.data.take() {
            frames.push(Frame { event, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(framing: Framing, pieces: &[&[u8]]) -> Vec<Frame> {
        let (mut framer, mut frames) = (Framer::new(framing, 1 << 20), Vec::new());
        for piece in pieces {
            framer.push(piece, &mut frames).unwrap();
        }
        framer.finish(&mut frames);
        frames
    }

    fn data(framing: Framing, text: &[u8]) -> Vec<String> {
        let frames = all(framing, &[text]);
        frames.into_iter().map(|frame| String::from_utf8_lossy(&frame.data).into_owned()).collect()
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let text = "\u{feff}: hi\r\nid: 1\rretry: 10\nevent: odd\ndata: a\ndata:b\ndata\n\r\ndata: {}\n\nevent: lone\n\n\
                    data:  two\r\r\ndata: last";
        let frames = all(Framing::Events, &[text.as_bytes()]);
        let shown: Vec<_> = frames
            .iter()
            .map(|frame| (String::from_utf8_lossy(&frame.event), String::from_utf8_lossy(&frame.data)))
            .collect();
        assert_eq!(
            shown,
            [
                ("odd".into(), "a\nb\n".into()),
                ("".into(), "{}".into()),
                ("".into(), " two".into()),
                ("".into(), "last".into())
            ]
        );
    }

    #[test]
    fn lines_that_are_blank_are_none() {
        assert_eq!(
            data(Framing::Lines, b"{}\n\n \r\n{\"a\": 1}\r\n[\x0d]\nend"),
            ["{}", "{\"a\": 1}\r", "[\r]", "end"]
        );
    }

    #[test]
    fn a_frame_has_a_limit() {
        for framing in [Framing::Events, Framing::Lines] {
            let (mut framer, mut frames) = (Framer::new(framing, 10), Vec::new());
            framer.push(b"data: 1\n\ndata:2\n\n", &mut frames).unwrap();
            assert_eq!(frames.len(), 2);
            assert_eq!(framer.push(b"data: 1234567", &mut frames), Err(TooLong { limit: 10 }));
            assert_eq!(framer.push(b"x", &mut frames), Err(TooLong { limit: 10 }));
            framer.finish(&mut frames);
            assert_eq!(frames.len(), 2);
        }
        let (mut framer, mut frames) = (Framer::new(Framing::Events, 10), Vec::new());
        let many = b"data:12\n".repeat(9);
        assert!(framer.push(&many, &mut frames).is_err(), "the lines of one event count together");
    }

    /// Bytes that matter to a framer.
    fn soup() -> impl Strategy<Value = Vec<u8>> {
        let words = prop::sample::select(vec![
            "\n",
            "\r",
            "\r\n",
            "data:",
            "data: ",
            "event: x",
            ": c",
            "{\"a\":1}",
            "é",
            "漢",
            "\u{feff}",
            "id",
            ":",
            " ",
        ]);
        prop::collection::vec(words, 0..40).prop_map(|words| words.concat().into_bytes())
    }

    proptest! {
        #[test]
        fn wherever_it_is_split_the_frames_are_the_same(text in soup()) {
            for framing in [Framing::Events, Framing::Lines] {
                let whole = all(framing, &[&text]);
                for at in 0..=text.len() {
                    let (head, tail) = text.split_at(at);
                    prop_assert_eq!(&all(framing, &[head, tail]), &whole);
                }
                let bytes: Vec<&[u8]> = text.chunks(1).collect();
                prop_assert_eq!(&all(framing, &bytes), &whole);
            }
        }
    }
}
