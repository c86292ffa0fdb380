//! Models, asked over a real connection: every recorded exchange in pieces, servers that misbehave, and calls that are
//! broken off.

use std::io::Read as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::support::calls::{heard, wait};
use crate::support::server::{Seen, Server, Talk};
use stepscope_base::text::Untrusted;
use stepscope_execution::call::{
    Call, Enforcement, Finish, Phase, Received, ReplyPart, RunEvent, RunId, Stop, Trouble, TroubleKind,
};
use stepscope_io::model::cassette::{Recorder, Speed, Tape};
use stepscope_io::model::drive::Several;
use stepscope_io::model::frames::{Framer, Framing};
use stepscope_io::model::key::ApiKey;
use stepscope_io::model::reply::ReplyReader;
use stepscope_io::model::{Backend, Client, Endpoint, Limits, ModelClient, RunningCall};

const SCHEMA: &str = r#"{"type": "object", "properties": {"a": {"type": "number"}}, "required": ["a"]}"#;

fn call() -> Call {
    Call {
        prompt: Untrusted::from(format!("Say a.\n{SCHEMA}")),
        schema: Some(Untrusted::from(SCHEMA)),
        model: "m".to_owned(),
        temperature: Some(1.0),
        seed: Some(1234),
        max_tokens: None,
        enforcement: Enforcement::Schema,
        may_downgrade: true,
    }
}

/// Returns short deadlines: a test waits for what happens, and only what must never happen takes as long as these.
fn limits() -> Limits {
    let long = Duration::from_secs(20);
    Limits {
        connect: long,
        first: long,
        silence: long,
        total: long,
        backoff: Duration::from_millis(1),
        reply: 1 << 20,
        frame: 1 << 20,
        ..Limits::default()
    }
}

fn client(backend: Backend, url: &str, limits: Limits) -> Client {
    Client::new(Endpoint::new(backend, url, None).unwrap(), limits).unwrap()
}

fn content(rerun: &Received) -> String {
    String::from_utf8_lossy(&rerun.content).into_owned()
}

fn trouble(rerun: &Received) -> Trouble {
    match &rerun.phase {
        Phase::Failed(trouble) => trouble.clone(),
        phase => panic!("{phase:?} {}", content(rerun)),
    }
}

fn finish(rerun: &Received) -> Finish {
    match &rerun.phase {
        Phase::Done(finish) => finish.clone(),
        phase => panic!("{phase:?} {}", content(rerun)),
    }
}

// Recorded exchanges with real servers.

fn exchanges() -> Vec<serde_json::Value> {
    let packed =
        std::fs::File::open(format!("{}/tests/fixtures/model/wire.jsonl.gz", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Compares a reply with what it must be, in the words of the fixture.
fn compare(case: &serde_json::Value, rerun: &Received) {
    let name = case["name"].as_str().unwrap();
    let error = case["error"].as_str();
    if case["complete"] != true {
        let trouble = trouble(rerun);
        let said = trouble.sentence.as_str();
        let flat = |text: &str| text.replace(['\n', '⏎'], "");
        if let Some(error) = error {
            let head: String = flat(error).chars().take(100).collect();
            assert!(flat(said).contains(&head), "{name}: {said}");
        }
        assert_eq!(content(rerun), case["content"].as_str().unwrap_or_default(), "{name}");
        return;
    }
    let finish = finish(rerun);
    assert_eq!(content(rerun), case["content"].as_str().unwrap(), "{name}");
    let count = |key: &str| case[key].as_u64();
    assert_eq!((finish.usage.prompt, finish.usage.completion), (count("prompt"), count("completion")), "{name}");
    match case["stop"].as_str() {
        Some("length" | "max_tokens") => assert_eq!(finish.stop, Stop::Length, "{name}"),
        None | Some("stop" | "end_turn") => assert_eq!(finish.stop, Stop::End, "{name}"),
        Some(other) => assert_eq!(finish.stop, Stop::Other(Untrusted::from(other.to_owned())), "{name}"),
    }
}

fn replies() -> Vec<serde_json::Value> {
    let mut exchanges = exchanges();
    exchanges.retain(|case| case["kind"].is_string() && case["method"] == "POST");
    exchanges
}

#[test]
fn every_recorded_exchange_is_heard_in_pieces() {
    let cases = Arc::new(replies());
    assert!(cases.len() > 110, "{}", cases.len());
    let script = Arc::clone(&cases);
    let server = Server::start(move |seen, talk| {
        let prompt = seen.json();
        let n: usize = prompt["model"].as_str().unwrap().parse().unwrap();
        let case = &script[n];
        if let Some(raw) = case["raw"].as_str() {
            for piece in raw.as_bytes().chunks(700) {
                talk.raw(piece);
            }
            return;
        }
        let status = format!("{} As Recorded", case["status"]);
        talk.head(&status, case["type"].as_str().unwrap());
        let body = case["body"].as_str().unwrap().as_bytes();
        for piece in body.chunks(1 + 97 * (n % 5) + body.len() / 500) {
            talk.chunk(piece);
        }
        talk.end();
    });
    for (n, case) in cases.iter().enumerate() {
        let backend = Backend::from_word(case["kind"].as_str().unwrap()).unwrap();
        let client = client(backend, &server.url(""), Limits { retries: 0, ..limits() });
        let call = Call { model: n.to_string(), may_downgrade: false, ..call() };
        compare(case, &heard(&client, call).0);
    }
}

/// Tests the pure half: frames and their reading, split at every byte.
#[test]
fn every_recorded_stream_may_be_split_anywhere() {
    for case in replies().iter().filter(|case| case["status"] == 200 && case["body"].is_string()) {
        let backend = Backend::from_word(case["kind"].as_str().unwrap()).unwrap();
        let body = case["body"].as_str().unwrap().as_bytes();
        let framing = match case["type"].as_str().unwrap() {
            kind if kind.contains("event-stream") => Framing::Events,
            kind if kind.contains("ndjson") => Framing::Lines,
            _ => continue,
        };
        let read = |pieces: &[&[u8]]| {
            let (mut framer, mut reader) = (Framer::new(framing, 1 << 20), ReplyReader::new(backend));
            let (mut frames, mut text) = (Vec::new(), Vec::new());
            for piece in pieces {
                framer.push(piece, &mut frames).unwrap();
            }
            framer.finish(&mut frames);
            for frame in &frames {
                reader.frame(frame, &mut text).unwrap();
            }
            let text: Vec<u8> = text.iter().flat_map(|(_, text)| text.bytes().to_vec()).collect();
            (String::from_utf8(text).unwrap(), reader.is_stopped())
        };
        let expected = (case["content"].as_str().unwrap().to_owned(), case["complete"] == true);
        for at in (0..=body.len()).step_by(1 + body.len() / 300) {
            let (head, tail) = body.split_at(at);
            assert_eq!(read(&[head, tail]), expected, "{} split at {at}", case["name"]);
        }
        assert_eq!(read(&body.chunks(1).collect::<Vec<_>>()), expected, "{}", case["name"]);
    }
}

// Servers that misbehave.

fn event(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}},\"finish_reason\":null}}]}}\n\n")
}

fn words(talk: &mut Talk, count: usize) {
    for n in 0..count {
        talk.chunk(event(&format!("word{n} ")));
    }
}

fn sse(talk: &mut Talk) {
    talk.head("200 OK", "text/event-stream");
}

fn done(talk: &mut Talk) {
    talk.chunk("data: [DONE]\n\n");
    talk.end();
}

fn reply(talk: &mut Talk, text: &str) {
    sse(talk);
    talk.chunk(event(text));
    done(talk);
}

/// Asks a server that answers in this way.
fn asked(answer: impl Fn(&Seen, &mut Talk) + Send + Sync + 'static) -> (Received, Server) {
    asked_with(Limits { retries: 0, ..limits() }, answer)
}

fn asked_with(limits: Limits, answer: impl Fn(&Seen, &mut Talk) + Send + Sync + 'static) -> (Received, Server) {
    let server = Server::start(answer);
    let rerun = heard(&client(Backend::Chat, &server.url(""), limits), call()).0;
    (rerun, server)
}

/// Checks that the call fails with these words, with this much of the reply, and without a panic.
fn fails(kind: TroubleKind, words: &str, kept: &str, answer: impl Fn(&Seen, &mut Talk) + Send + Sync + 'static) {
    let (rerun, _) = asked(answer);
    let trouble = trouble(&rerun);
    assert!(trouble.kind == kind && trouble.sentence.as_str().contains(words), "{words}: {trouble:?}");
    assert_eq!(content(&rerun), kept, "{words}");
    if !kept.is_empty() {
        assert!(trouble.sentence.as_str().contains("is not stored as an answer"), "{trouble:?}");
    }
}

#[test]
fn what_breaks_off_is_partial() {
    use TroubleKind::{Cut, NoReply, Refused};
    const THREE: &str = "word0 word1 word2 ";
    fails(Cut, "did not respond", "", |_, _| {});
    fails(Cut, "before the server marked it as complete", THREE, |_, talk| {
        sse(talk);
        words(talk, 3);
        talk.end();
    });
    fails(Cut, "the connection was lost", THREE, |_, talk| {
        sse(talk);
        words(talk, 3);
        talk.raw("400\r\ndata: {\"choices\": [{\"del");
    });
    fails(Cut, "the connection was lost", "", |_, talk| {
        talk.raw("HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n{\"choices\": ");
    });
    fails(Cut, "the connection was lost", "", |_, talk| {
        sse(talk);
        talk.raw("zz\r\nhello\r\n");
    });
    fails(Cut, "the connection was lost", "", |_, talk| {
        sse(talk);
        talk.raw("FFFFFFFFFFFFFFFF\r\nhello");
    });
    fails(Refused, "reported an error: overloaded", THREE, |_, talk| {
        sse(talk);
        words(talk, 3);
        talk.chunk("data: {\"error\": {\"message\": \"overloaded\", \"code\": 529}}\n\n");
        talk.end();
    });
    fails(NoReply, "did not respond", "", |_, talk| {
        talk.raw(b"\x15\x03\x01\x00\x02\x02\x28SSH-2.0-OpenSSH\r\n");
        talk.wait_for_hang_up();
    });
}

#[test]
fn what_is_no_reply_is_told() {
    use TroubleKind::NoReply;
    fails(NoReply, "its response begins: <html><form>␛[31m", "", |_, talk| {
        talk.whole("200 OK", "text/html", "", "<html><form>\u{1b}[31mlogin</form></html>");
    });
    fails(NoReply, "an empty response", "", |_, talk| talk.whole("200 OK", "text/html", "", ""));
    fails(NoReply, "an empty response", "", |_, talk| {
        talk.raw("HTTP/1.1 204 No Content\r\n\r\n");
    });
    fails(NoReply, "no openai reply", "", |_, talk| {
        let body = r#"{"choices": {"0": null}, "response": [1, 2], "message": 7, "usage": "many"}"#;
        talk.whole("200 OK", "application/json", "", body);
    });
    fails(NoReply, "no openai reply", "", |_, talk| {
        let deep = format!("{{\"choices\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
        talk.whole("200 OK", "application/json", "", deep);
    });
    fails(NoReply, "compressed its response (gzip)", "", |_, talk| {
        talk.whole("200 OK", "application/json", "Content-Encoding: gzip\r\n", [0x1f, 0x8b, 8, 0, 0]);
    });
    fails(NoReply, "message head is too large", "", |_, talk| {
        talk.raw("HTTP/1.1 200 OK\r\n");
        (0..100_000).all(|n| talk.raw(format!("X-{n}: y\r\n")));
    });
    fails(NoReply, "message head is too large", "", |_, talk| {
        talk.raw(format!("HTTP/1.1 200 OK\r\nX-Big: {}\r\nContent-Length: 2\r\n\r\n{{}}", "h".repeat(1_000_000)));
    });
}

#[test]
fn odd_replies_are_read_all_the_same() {
    let reads = |answer: fn(&Seen, &mut Talk)| {
        let (rerun, _) = asked(answer);
        (rerun.content.clone(), finish(&rerun))
    };
    let (text, _) = reads(|_, talk| {
        sse(talk);
        let all = format!("{}data: [DONE]\n\n", event("é漢👍🏽 ").repeat(3));
        for byte in all.as_bytes() {
            talk.chunk([*byte]);
        }
        talk.end();
    });
    assert_eq!(text, "é漢👍🏽 ".repeat(3).as_bytes());
    let (text, finish) = reads(|_, talk| {
        sse(talk);
        talk.chunk("\u{feff}: hi\r\nid: \0\rretry: 1000000000000\nevent: odd\ndata: not json\n\n");
        words(talk, 2);
        talk.chunk("data:\ndata: {}\n\ndata: null\n\n");
        done(talk);
    });
    assert_eq!(text, b"word0 word1 ");
    assert_eq!(finish.notes[0].as_str(), "1 chunk was not understood and skipped");
    let (text, _) = reads(|_, talk| {
        sse(talk);
        let broken = event("A@@B").into_bytes();
        let at = broken.windows(2).position(|pair| pair == b"@@").unwrap();
        talk.chunk([&broken[..at], b"\xff\xc3(\xed\xa0\x80", &broken[at + 2..]].concat());
        done(talk);
    });
    assert_eq!(text, b"A\xff\xc3(\xed\xa0\x80B", "true bytes; the door to the screen shows them");
    let (text, _) = reads(|_, talk| {
        sse(talk);
        words(talk, 2);
        talk.chunk("data: [DONE]\n\n");
        words(talk, 2);
        done(talk);
    });
    assert_eq!(text, b"word0 word1 ", "nothing comes after the end");
    let (text, _) = reads(|_, talk| {
        let body =
            r#"{"choices": [{"message": {"content": "x\udfff"}, "index": 1e999}], "usage": {"total_tokens": NaN}}"#;
        talk.whole("200 OK", "application/json", "", body);
    });
    assert_eq!(text, b"x\xed\xbf\xbf");
    let (text, finish) = reads(|_, talk| {
        sse(talk);
        talk.chunk(event("{\"final_answer\": \"tru"));
        talk.chunk("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"length\"}]}\n\n");
        done(talk);
    });
    assert_eq!((text.as_slice(), finish.stop), (&b"{\"final_answer\": \"tru"[..], Stop::Length));
    let (text, _) = reads(|_, talk| {
        sse(talk);
        talk.chunk("data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}\n\n");
        talk.chunk(event("{}"));
        talk.chunk("data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n");
        // The stream stays open: the reply is there all the same.
        talk.wait_for_hang_up();
    });
    assert_eq!(text, b"{}");
}

#[test]
fn a_pretty_printed_reply_of_ollama_is_one_reply() {
    let server = Server::start(|_, talk| {
        talk.whole("200 OK", "application/json", "", "{\n  \"response\": \"{}\",\n  \"model\": \"m\"\n}\n");
    });
    let (rerun, _) = heard(&client(Backend::Ollama, &server.url(""), limits()), call());
    assert_eq!((content(&rerun).as_str(), finish(&rerun).model), ("{}", Some(Untrusted::from("m"))));
}

#[test]
fn every_deadline_has_its_sentence() {
    let short = Duration::from_millis(150);
    let late = |limits: Limits, words: &str, kept: &str, answer: fn(&Seen, &mut Talk)| {
        let (rerun, server) = asked_with(limits, answer);
        let trouble = trouble(&rerun);
        assert!(trouble.kind == TroubleKind::TimeOut && trouble.sentence.as_str().contains(words), "{trouble:?}");
        assert_eq!(content(&rerun), kept);
        server.wait_for_hang_ups(1);
    };
    let first = Limits { first: short, ..limits() };
    late(first, "no response from http://127.0.0.1:", "", |_, talk| talk.wait_for_hang_up());
    late(first, "no content from http://127.0.0.1:", "", |_, talk| {
        sse(talk);
        while talk.chunk(": ping\n\n") {}
        talk.note_hang_up();
    });
    late(first, "no response from", "", |_, talk| {
        while talk.raw("HTTP/1.1 100 Continue\r\n\r\n") {}
        talk.note_hang_up();
    });
    late(first, "no response from", "", |_, talk| {
        talk.raw("HTTP/1.1 200 OK\r\nX-1: y\r\n");
        talk.wait_for_hang_up();
    });
    late(first, "no content from", "", |_, talk| {
        // The first chunk is no content: a server greets before it has looked at the prompt.
        sse(talk);
        talk.chunk("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null}}]}\n\n");
        talk.wait_for_hang_up();
    });
    late(Limits { silence: short, ..limits() }, "no content for 150 ms", "word0 word1 word2 ", |_, talk| {
        sse(talk);
        words(talk, 3);
        while talk.chunk(": ping\n\n") {}
        talk.note_hang_up();
    });
    late(Limits { total: short, first: short * 2, ..limits() }, "not done after 150 ms", "", |_, talk| {
        talk.wait_for_hang_up();
    });
}

#[test]
fn replies_without_end_are_too_large() {
    let small = Limits { reply: 100_000, frame: 50_000, retries: 0, ..limits() };
    let (rerun, server) = asked_with(small, |_, talk| {
        sse(talk);
        while talk.chunk(event(&"x".repeat(5000))) {}
        talk.note_hang_up();
    });
    assert_eq!(trouble(&rerun).kind, TroubleKind::TooLarge);
    assert!(rerun.content.len() < 110_000);
    server.wait_for_hang_ups(1);
    let (rerun, server) = asked_with(small, |_, talk| {
        sse(talk);
        talk.chunk("data: ");
        while talk.chunk("y".repeat(10_000)) {}
        talk.note_hang_up();
    });
    assert!(trouble(&rerun).sentence.as_str().contains("one chunk of it is larger"), "{:?}", rerun.phase);
    server.wait_for_hang_ups(1);
    let (rerun, _) = asked_with(small, |_, talk| {
        let body = format!("{{\"choices\": [{{\"message\": {{\"content\": \"{}\"}}}}]}}", "z".repeat(60_000));
        talk.whole("200 OK", "application/json", "", body);
    });
    assert_eq!(trouble(&rerun).kind, TroubleKind::TooLarge);
}

#[test]
fn many_small_pieces_are_heard_as_they_come() {
    let (rerun, _) = asked(|_, talk| {
        sse(talk);
        for _ in 0..200 {
            talk.chunk(event("tok ").repeat(500));
        }
        done(talk);
    });
    finish(&rerun);
    assert_eq!(rerun.content.len(), 400_000);
}

#[test]
fn a_busy_server_is_asked_again_but_not_for_ever() {
    let busy = |status: &'static str, extra: &'static str| {
        move |_: &Seen, talk: &mut Talk| {
            talk.whole(status, "application/json", extra, r#"{"error": {"message": "slow down"}}"#);
        }
    };
    let (rerun, server) = asked_with(Limits { retries: 2, ..limits() }, busy("429 Too Many", "Retry-After: 0\r\n"));
    assert!(trouble(&rerun).sentence.as_str().contains("(HTTP 429): slow down"), "{:?}", rerun.phase);
    assert_eq!(server.seen().len(), 3);
    assert_eq!(rerun.log.len(), 2);
    let (rerun, server) = asked_with(Limits { retries: 2, ..limits() }, |seen, talk| {
        if seen.n == 0 {
            return talk.whole("503 Busy", "application/json", "Retry-After: 0\r\n", r#"{"error": "Loading model"}"#);
        }
        sse(talk);
        words(talk, 1);
        done(talk);
    });
    assert_eq!((content(&rerun).as_str(), server.seen().len()), ("word0 ", 2));
    let bodies: Vec<_> = server.seen().into_iter().map(|seen| seen.body).collect();
    assert_eq!(bodies[0], bodies[1], "the same request");
    // To wait longer than the call may take is refused at once.
    let begun = Instant::now();
    let huge = "Retry-After: 1000000000000000000\r\n";
    let (rerun, server) = asked_with(Limits { retries: 2, ..limits() }, busy("429 Too Many", huge));
    assert!(
        trouble(&rerun).sentence.as_str().ends_with("waiting 60 s more would exceed the time limit"),
        "{:?}",
        rerun.phase
    );
    assert!(server.seen().len() == 1 && begun.elapsed() < Duration::from_secs(15));
    // After the first piece nothing is asked again: it would be paid twice.
    let (rerun, server) = asked_with(Limits { retries: 2, ..limits() }, |_, talk| {
        sse(talk);
        words(talk, 1);
    });
    assert_eq!((trouble(&rerun).kind, server.seen().len()), (TroubleKind::Cut, 1));
}

#[test]
fn a_refused_schema_is_told_and_a_weaker_rung_is_taken() {
    let server = Server::start(|seen, talk| {
        let format = seen.json().get("response_format").map(|format| format["type"].clone());
        match format.as_ref().and_then(serde_json::Value::as_str) {
            Some("json_schema") => {
                let said = r#"{"error": {"message": "JSON schema error at #: unrecognized type nonsense"}}"#;
                talk.whole("400 Bad Request", "application/json", "", said);
            }
            Some(_) => talk.whole("400 Bad Request", "application/json", "", r#"{"error": "no response_format here"}"#),
            None => {
                sse(talk);
                words(talk, 1);
                done(talk);
            }
        }
    });
    let client = client(Backend::Chat, &server.url(""), limits());
    let (rerun, events) = heard(&client, call());
    let steps: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            RunEvent::Downgraded { from, to, why } => {
                Some((*from, *to, why.as_str().contains("refused the request (HTTP 400)")))
            }
            _ => None,
        })
        .collect();
    assert_eq!(steps, [(Enforcement::Schema, Enforcement::Json, true), (Enforcement::Json, Enforcement::Prompt, true)]);
    assert_eq!((rerun.enforcement, content(&rerun).as_str()), (Some(Enforcement::Prompt), "word0 "));
    assert_eq!(rerun.log.len(), 2);
    let (rerun, _) = heard(&client, Call { may_downgrade: false, ..call() });
    assert!(trouble(&rerun).sentence.as_str().contains("unrecognized type nonsense"));
}

#[test]
fn what_a_stream_refuses_at_its_beginning_is_a_refusal() {
    // Ollama says 200 first, and in the first line that it does not take the schema.
    let server = Server::start(|seen, talk| {
        talk.head("200 OK", "application/x-ndjson");
        talk.chunk(match seen.n {
            0 => "{\"error\":\"invalid JSON schema in format\"}\n",
            1 => "{\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n",
            _ => "{\"response\":\"{}\",\"done\":true}\n",
        });
        talk.end();
    });
    let (rerun, _) = heard(&client(Backend::Ollama, &server.url(""), Limits { retries: 1, ..limits() }), call());
    finish(&rerun);
    assert_eq!((content(&rerun).as_str(), rerun.enforcement, server.seen().len()), ("{}", Some(Enforcement::Json), 3));
    assert_eq!(rerun.log.len(), 2, "{:?}", rerun.log);
}

#[test]
fn keys_stay_home() {
    const KEY: &str = "sk-MKSECRET-0123456789";
    let other = Arc::new(Server::start(|_, talk| talk.whole("200 OK", "application/json", "", "{}")));
    for status in [301, 302, 303, 307, 308] {
        let target = other.url("/steal/v1/chat/completions");
        let server = Server::start(move |_, talk| {
            talk.raw(format!("HTTP/1.1 {status} Moved\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n"));
        });
        let endpoint = Endpoint::new(Backend::Chat, &server.url(""), ApiKey::new(KEY)).unwrap();
        let (rerun, _) = heard(&Client::new(endpoint, limits()).unwrap(), call());
        let said = trouble(&rerun).sentence.into_string();
        assert!(said.contains(&format!("redirects to http://127.0.0.1:{}", other.port)), "{said}");
        assert_eq!(server.seen()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    }
    assert!(other.seen().is_empty(), "a redirect was followed");
    // A server that says the key back, in an error, in the reply and split over pieces of it.
    let echo = |seen: &Seen, talk: &mut Talk| {
        let key = seen.headers.iter().find(|(_, value)| value.contains(KEY)).map(|(_, value)| value.clone()).unwrap();
        if seen.path().ends_with("/messages") {
            let body = format!(r#"{{"error": {{"message": "invalid key: {key}"}}}}"#);
            return talk.whole("401 Unauthorized", "application/json", "", body);
        }
        sse(talk);
        talk.chunk(event("your key is Bearer sk-MKSEC"));
        talk.chunk(event("RET-0123456789, and sk-MK"));
        talk.chunk("data: {\"choices\":[{\"delta\":{\"reasoning\":\"sk-MKSECRET-0123456789\"}}]}\n\n");
        done(talk);
    };
    let server = Server::start(echo);
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape.jsonl");
    for backend in [Backend::Anthropic, Backend::Chat] {
        let endpoint = Endpoint::new(backend, &server.url(""), ApiKey::new(KEY)).unwrap();
        let client = Client::new(endpoint, limits()).unwrap().recording(Recorder::open(&tape).unwrap());
        assert!(!format!("{client:?}").contains("MKSECRET"));
        let (rerun, events) = heard(&client, call());
        assert!(!format!("{rerun:?}{events:?}").contains("MKSECRET"), "{events:?}");
        match backend {
            Backend::Chat => assert_eq!(content(&rerun), "your key is Bearer ***, and sk-MK"),
            _ => assert!(trouble(&rerun).sentence.as_str().contains("invalid key: ***"), "{:?}", rerun.phase),
        }
    }
    let recorded = std::fs::read_to_string(&tape).unwrap();
    assert!(recorded.lines().count() == 2 && !recorded.contains("MKSECRET"), "{recorded}");
    assert_eq!(server.seen()[0].header("x-api-key"), Some(KEY));
    assert_eq!(server.seen()[0].header("referer"), None);
}

// Servers that say the key back.

const SECRET: &str = "sk-MKSecret/0123_456789";

/// Returns the characters of the key, each in a spelling that JSON allows.
fn spelled(spelling: &str) -> Vec<String> {
    let each = |spell: fn(u8) -> String| SECRET.bytes().map(spell).collect();
    match spelling {
        "upper" => each(|byte| char::from(byte).to_ascii_uppercase().to_string()),
        "lower" => each(|byte| char::from(byte).to_ascii_lowercase().to_string()),
        "slash" => each(|byte| char::from(byte).to_string().replace('/', "\\/")),
        "u" => each(|byte| format!("\\u{byte:04x}")),
        "U" => each(|byte| format!("\\u{byte:04X}")),
        "some u" => each(|byte| if byte % 3 == 0 { format!("\\u{byte:04x}") } else { char::from(byte).to_string() }),
        "nested u" => each(|byte| format!("\\\\u{byte:04x}")),
        "percent" => each(|byte| format!("%{byte:02X}")),
        "reference" => each(|byte| format!("&#{byte};")),
        "hex" => each(|byte| format!("{byte:02x}")),
        "base64" => vec!["c2stTUtTZWNyZXQvMDEyM180NTY3ODk=".to_owned()],
        "base64 of the header" => vec!["QmVhcmVyIHNrLU1LU2VjcmV0LzAxMjNfNDU2Nzg5".to_owned()],
        _ => each(|byte| char::from(byte).to_string()),
    }
}

const SPELLINGS: [&str; 13] = [
    "plain",
    "upper",
    "lower",
    "slash",
    "u",
    "U",
    "some u",
    "nested u",
    "percent",
    "reference",
    "hex",
    "base64",
    "base64 of the header",
];

/// Tells whether a text gives the key away: as it is, or once its escapes are undone, however deep.
fn gives_away(text: &str) -> bool {
    let mut text = text.to_owned();
    let escape = regex::Regex::new(r"\\+u00([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})|&#([0-9]{2,3});|\\+([^u])").unwrap();
    for _ in 0..3 {
        let told = text.to_lowercase();
        if [SECRET, "c2stTUtTZWNyZXQvMDEyM180NTY3", "NrLU1LU2VjcmV0LzAxMjNfNDU2Nzg5", "736b2d4d4b536563726574"]
            .iter()
            .any(|form| told.contains(&form.to_lowercase()))
        {
            return true;
        }
        text = escape
            .replace_all(&text, |found: &regex::Captures<'_>| {
                let number = |n: usize, radix| u8::from_str_radix(found.get(n)?.as_str(), radix).ok().map(char::from);
                let letter = number(1, 16).or_else(|| number(2, 16)).or_else(|| number(3, 10));
                letter.map_or_else(|| found.get(4).map_or(String::new(), |rest| rest.as_str().to_owned()), String::from)
            })
            .into_owned();
    }
    false
}

#[test]
fn what_gives_a_key_away_is_seen() {
    for spelling in SPELLINGS {
        assert!(gives_away(&format!("x {} y", spelled(spelling).concat())), "{spelling}");
    }
    assert!(!gives_away("x *** y"));
}

/// Hostile server: its name, the kind it plays, and its answer.
type Hostile = (String, Backend, Box<dyn Fn(&mut Talk) + Send + Sync>);

fn stream_of(backend: Backend, field: &str, text: &str) -> String {
    match (backend, field) {
        (Backend::Ollama, "content") => format!("{{\"response\":\"{text}\",\"done\":false}}\n"),
        (Backend::Ollama, field) => format!("{{\"{field}\":\"{text}\",\"response\":\"\",\"done\":false}}\n"),
        (Backend::OllamaChat, "content") => {
            format!("{{\"message\":{{\"content\":\"{text}\"}},\"done\":false}}\n")
        }
        (Backend::OllamaChat, field) => {
            format!("{{\"message\":{{\"{field}\":\"{text}\",\"content\":\"\"}},\"done\":false}}\n")
        }
        (Backend::Responses, "content") => {
            format!("data: {{\"type\":\"response.output_text.delta\",\"delta\":\"{text}\"}}\n\n")
        }
        (Backend::Responses, field) => {
            format!("data: {{\"type\":\"response.{field}.delta\",\"delta\":\"{text}\"}}\n\n")
        }
        (Backend::Anthropic, "content") => {
            format!("data: {{\"type\":\"content_block_delta\",\"delta\":{{\"text\":\"{text}\"}}}}\n\n")
        }
        (Backend::Anthropic, field) => {
            format!("data: {{\"type\":\"content_block_delta\",\"delta\":{{\"{field}\":\"{text}\"}}}}\n\n")
        }
        (Backend::Chat, field) => format!("data: {{\"choices\":[{{\"delta\":{{\"{field}\":\"{text}\"}}}}]}}\n\n"),
    }
}

fn end_of(backend: Backend, reason: &str) -> String {
    match backend {
        Backend::Ollama | Backend::OllamaChat => {
            format!("{{\"response\":\"\",\"done\":true,\"done_reason\":\"{reason}\",\"model\":\"{reason}\"}}\n")
        }
        Backend::Chat => format!(
            "data: {{\"model\":\"{reason}\",\"choices\":[{{\"delta\":{{}},\"finish_reason\":\"{reason}\"}}]}}\n\ndata: [DONE]\n\n"
        ),
        Backend::Responses => format!(
            "data: {{\"type\":\"response.completed\",\"response\":{{\"model\":\"{reason}\",\"incomplete_details\":{{\"reason\":\"{reason}\"}}}}}}\n\n"
        ),
        Backend::Anthropic => format!(
            "data: {{\"type\":\"message_delta\",\"delta\":{{\"model\":\"{reason}\",\"stop_reason\":\"{reason}\"}}}}\n\ndata: {{\"type\":\"message_stop\"}}\n\n"
        ),
    }
}

fn streaming(backend: Backend, frames: Vec<String>, reason: String) -> Box<dyn Fn(&mut Talk) + Send + Sync> {
    Box::new(move |talk| {
        let is_line = backend.framing() == Framing::Lines;
        talk.head("200 OK", if is_line { "application/x-ndjson" } else { "text/event-stream" });
        for frame in &frames {
            talk.chunk(frame);
        }
        talk.chunk(end_of(backend, &reason));
        talk.end();
    })
}

fn hostile_servers() -> Vec<Hostile> {
    let mut all: Vec<Hostile> = Vec::new();
    for spelling in SPELLINGS {
        let units = spelled(spelling);
        let whole = units.concat();
        for backend in Backend::ALL {
            let name = |what: &str| format!("{spelling}, {}, {what}", backend.word());
            let stream = |pieces: &[String], field: &str| {
                let frames = pieces.iter().map(|piece| stream_of(backend, field, piece)).collect();
                streaming(backend, frames, "stop".to_owned())
            };
            all.push((name("one delta"), backend, stream(&[format!("x {whole} y")], "content")));
            all.push((name("a delta a character"), backend, stream(&units, "content")));
            let (head, tail) = units.split_at(units.len() / 2);
            all.push((name("two deltas"), backend, stream(&[head.concat(), tail.concat()], "content")));
            let thought = match backend {
                Backend::Ollama | Backend::OllamaChat | Backend::Anthropic => "thinking",
                Backend::Chat => "reasoning_content",
                Backend::Responses => "reasoning_text",
            };
            all.push((name("thoughts"), backend, stream(&[head.concat(), tail.concat()], thought)));
            all.push((name("why it stopped, and the model"), backend, {
                streaming(backend, vec![stream_of(backend, "content", "{}")], whole.clone())
            }));
            let (body, said) = (format!("{{\"error\":{{\"message\":\"bad {whole}\"}}}}"), whole.clone());
            all.push((name("a refusal"), backend, {
                let body = body.clone();
                Box::new(move |talk| talk.whole("401 Unauthorized", "application/json", "", &body))
            }));
            all.push((name("an error in the stream"), backend, {
                let is_line = backend.framing() == Framing::Lines;
                let frame = if is_line { format!("{body}\n") } else { format!("data: {body}\n\n") };
                streaming(backend, vec![stream_of(backend, "content", "x"), frame], "stop".to_owned())
            }));
            all.push((name("no reply at all"), backend, {
                Box::new(move |talk| talk.whole("200 OK", "text/html", "", format!("<p>{said}</p>")))
            }));
        }
        for (status, header) in [
            ("302 Found", "Location: https://other.example/"),
            ("302 Found", "Location: https://user:pw@other.example/?token=secret-too&k="),
            ("302 Found", "Location: /"),
            ("302 Found", "Location: "),
            ("200 OK", "Content-Encoding: "),
            ("429 Too Many", "Retry-After: "),
            ("200 OK", "X-Other: "),
            ("401 No", "WWW-Authenticate: Bearer "),
            ("200 OK", "Set-Cookie: key="),
        ] {
            let head = format!("{header}{whole}\r\n");
            let name = format!("{spelling}, {status}, {header}");
            let answer = move |talk: &mut Talk| talk.whole(status, "application/json", &head, "{}");
            all.push((name, Backend::Chat, Box::new(answer)));
        }
        for status in ["200", "404", "500"] {
            let (status, kind) = (format!("{status} {whole}"), format!("text/{whole}"));
            let answer = move |talk: &mut Talk| talk.whole(&status, &kind, "", "no");
            all.push((format!("{spelling}, status and type"), Backend::Chat, Box::new(answer)));
        }
    }
    let units: Arc<[String]> = spelled("plain").into();
    let frames = |frames: Vec<String>| streaming(Backend::Chat, frames, "stop".to_owned());
    for at in 1..SECRET.len() {
        let (head, tail) = SECRET.split_at(at);
        let delta = |field: &str, text: &str| stream_of(Backend::Chat, field, text);
        all.push((
            format!("split at {at} between content and refusal"),
            Backend::Chat,
            frames(vec![delta("content", head), delta("refusal", tail)]),
        ));
        let ignored = format!(
            "data: {{\"choices\":[{{\"delta\":{{\"content\":\"{tail}\"}}}},{{\"delta\":{{\"content\":\"noise\"}}}}]}}\n\n"
        );
        all.push((
            format!("split at {at} with other choices between"),
            Backend::Chat,
            frames(vec![delta("content", &format!("noise {head}")), ": a comment\n\n".to_owned(), ignored]),
        ));
        let (head, tail) = (head.to_owned(), tail.to_owned());
        all.push((
            format!("split at {at} between chunks"),
            Backend::Chat,
            Box::new(move |talk| {
                sse(talk);
                talk.chunk(format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{head}"));
                talk.chunk(format!("{tail}\"}}}}]}}\n\ndata: [DONE]\n\n"));
                talk.end();
            }),
        ));
    }
    all.push((
        "one byte per chunk, and the end missing".to_owned(),
        Backend::Chat,
        Box::new(move |talk| {
            sse(talk);
            for unit in units.iter() {
                talk.chunk(stream_of(Backend::Chat, "content", unit));
            }
            for byte in stream_of(Backend::Chat, "content", SECRET).as_bytes() {
                talk.chunk([*byte]);
            }
        }),
    ));
    all
}

#[test]
fn no_key_comes_back() {
    let hostile = Arc::new(hostile_servers());
    assert!(hostile.len() > 500, "{}", hostile.len());
    let answers = Arc::clone(&hostile);
    let server = Server::start(move |seen, talk| {
        let n: usize = seen.path().split('/').nth(1).unwrap().parse().unwrap();
        (answers[n].2)(talk);
    });
    let folder = tempfile::tempdir().unwrap();
    for (n, (name, backend, _)) in hostile.iter().enumerate() {
        let endpoint = || Endpoint::new(*backend, &server.url(&format!("/{n}")), ApiKey::new(SECRET)).unwrap();
        let path = folder.path().join(format!("{n}.jsonl"));
        let client = Client::new(endpoint(), Limits { retries: 0, ..limits() }).unwrap();
        let (rerun, events) = heard(&client.recording(Recorder::open(&path).unwrap()), call());
        let told = format!("{rerun:?}{events:?}{}", content(&rerun));
        assert!(!gives_away(&told), "{name}: {told}");
        let recorded = std::fs::read_to_string(&path).unwrap();
        assert!(!gives_away(&recorded), "{name}: {recorded}");
        // Somebody else may put together what was recorded in pieces.
        let line: serde_json::Value = serde_json::from_str(&recorded).unwrap();
        let pieces = line["chunks"].as_array().unwrap().iter().map(|chunk| chunk[1].as_str().unwrap().to_owned());
        assert!(!gives_away(&pieces.collect::<String>()), "{name}: {recorded}");
        let tape = Tape::open(&path, Speed::AtOnce).unwrap();
        let (again, _) = heard(&Client::playing(tape, *backend).unwrap(), call());
        assert!(!gives_away(&format!("{again:?}{}", content(&again))), "{name}: {again:?}");
        if let Phase::Done(_) = rerun.phase {
            assert_eq!((content(&again), again.phase.clone()), (content(&rerun), rerun.phase.clone()), "{name}");
        }
    }
}

#[test]
fn no_key_comes_back_as_the_name_of_a_model() {
    for spelling in SPELLINGS {
        let name = spelled(spelling).concat();
        let server = Server::start(move |seen, talk| {
            let body = match seen.path() {
                path if path.contains("/tags") => format!("{{\"models\":[{{\"name\":\"a {name}\"}}]}}"),
                _ => format!("{{\"data\":[{{\"id\":\"a {name}\"}}]}}"),
            };
            talk.whole("200 OK", "application/json", "", body);
        });
        for backend in Backend::ALL {
            let endpoint = Endpoint::new(backend, &server.url(""), ApiKey::new(SECRET)).unwrap();
            let names = wait(stepscope_io::model::discover::models(&endpoint, Duration::from_secs(20))).unwrap();
            assert!(!gives_away(&format!("{names:?}")) && names[0].utf8().unwrap().contains("***"), "{names:?}");
        }
    }
}

#[test]
fn a_list_of_models_ends_at_its_limit_however_many_parts_it_has() {
    let padding = "x".repeat(1 << 20);
    let server = Server::start(move |seen, talk| {
        let body = format!(
            r#"{{"data": [{{"id": "{}"}}], "has_more": true, "last_id": "{}", "padding": "{padding}"}}"#,
            "long ".repeat(20_000),
            seen.n
        );
        talk.whole("200 OK", "application/json", "", body);
    });
    let endpoint = Endpoint::new(Backend::Anthropic, &server.url(""), None).unwrap();
    let said = wait(stepscope_io::model::discover::models(&endpoint, Duration::from_secs(20))).unwrap_err();
    assert!(said.sentence.as_str().ends_with("is larger than 4 MB"), "{said:?}");
    assert_eq!(server.seen().len(), 4, "no part is asked for behind the limit");
}

#[test]
fn an_address_that_a_server_names_is_shown_without_its_secrets() {
    for (to, shown) in [
        ("https://user:pw-of-somebody@other.example/v1?token=abc#x", "redirects to https://other.example/v1 ("),
        ("?token=abc", "/v1/chat/completions ("),
        ("https://[", "redirects to an unreadable address ("),
        ("file:///etc/passwd", "redirects to file:///etc/passwd ("),
    ] {
        let (rerun, _) = asked(move |_, talk| talk.whole("302 Found", "", &format!("Location: {to}\r\n"), ""));
        let said = trouble(&rerun).sentence.into_string();
        assert!(said.contains(shown) && !said.contains("pw-of") && !said.contains("abc"), "{said}");
    }
}

#[test]
fn a_name_of_this_machine_counts_only_where_it_leads_here() {
    let server = Server::start(|_, talk| {
        sse(talk);
        words(talk, 1);
        done(talk);
    });
    // Whatever the system makes of these names, nothing goes anywhere else.
    for host in ["localhost", "localhost.", "LOCALHOST", "127.1", "0x7f000001", "0.0.0.0", "x.localhost"] {
        let url = format!("http://{host}:{}", server.port);
        let endpoint = Endpoint::new(Backend::Chat, &url, ApiKey::new(SECRET)).unwrap();
        assert!(endpoint.is_local(), "{host}");
        let (rerun, _) = heard(&Client::new(endpoint, limits()).unwrap(), call());
        match rerun.phase {
            Phase::Done(_) => assert_eq!(content(&rerun), "word0 "),
            _ => assert!(host == "x.localhost" && trouble(&rerun).kind == TroubleKind::Connect, "{rerun:?}"),
        }
    }
    assert!(server.seen().len() >= 6);
}

#[test]
fn a_connection_is_never_used_twice() {
    let server = Server::start(|_, talk| {
        sse(talk);
        words(talk, 1);
        done(talk);
        // It looks kept alive, and is closed.
    });
    let client = client(Backend::Chat, &server.url(""), limits());
    wait(async {
        for _ in 0..3 {
            let mut running = client.run(call());
            let mut last = None;
            while let Some(event) = running.next().await {
                last = Some(event);
            }
            assert!(matches!(last, Some(RunEvent::Done(_))), "{last:?}");
        }
    });
    assert_eq!(server.seen().len(), 3, "none was sent twice");
}

// Breaking off.

async fn until_text(running: &mut RunningCall) {
    while let Some(event) = running.next().await {
        if matches!(event, RunEvent::Text { part: ReplyPart::Content, .. }) {
            return;
        }
    }
    panic!("no text came");
}

#[test]
fn a_cancelled_call_closes_the_connection_while_tokens_pour_in() {
    let server = Server::start(|_, talk| {
        sse(talk);
        while talk.chunk(event("x")) {}
        talk.note_hang_up();
    });
    let unbounded = Limits { reply: usize::MAX, ..limits() };
    let client = client(Backend::Chat, &server.url(""), unbounded);
    wait(async {
        let mut running = client.run(call());
        until_text(&mut running).await;
        let begun = Instant::now();
        drop(running);
        // The runtime must turn to notice; what waits for the server does not block it.
        let waiting = tokio::task::spawn_blocking(move || server.wait_for_hang_ups(1));
        waiting.await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    });
}

#[test]
fn a_call_that_waits_can_be_cancelled_too() {
    let server = Server::start(|_, talk| talk.wait_for_hang_up());
    let client = client(Backend::Ollama, &server.url(""), limits());
    wait(async {
        let mut running = client.run(call());
        assert!(matches!(running.next().await, Some(RunEvent::Sending { .. })));
        while server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        drop(running);
        tokio::task::spawn_blocking(move || server.wait_for_hang_ups(1)).await.unwrap();
    });
}

#[test]
fn what_a_cancelled_call_still_says_is_not_heard() {
    let server = Server::start(|seen, talk| {
        sse(talk);
        talk.chunk(event(&format!("reply {} ", seen.n)));
        if seen.n == 0 {
            return talk.wait_for_hang_up();
        }
        done(talk);
    });
    let client = client(Backend::Chat, &server.url(""), limits());
    let mut rerun = Received::begin(RunId(1));
    wait(async {
        let mut first = client.run(call());
        let mut stale = Vec::new();
        loop {
            let event = first.next().await.unwrap();
            let is_text = matches!(event, RunEvent::Text { .. });
            stale.push(event);
            if is_text {
                break;
            }
        }
        rerun.cancel();
        let mut second = client.run(call());
        rerun = Received::begin(RunId(2));
        for event in stale {
            assert!(!rerun.take(RunId(1), event));
        }
        drop(first);
        while let Some(event) = second.next().await {
            rerun.take(RunId(2), event);
        }
    });
    assert_eq!(content(&rerun), "reply 1 ");
}

#[test]
fn samples_run_side_by_side_but_not_all_at_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (running, peak) = (Arc::clone(&now), Arc::clone(&most));
    let meeting = Arc::new(std::sync::Barrier::new(3));
    let server = Server::start(move |seen, talk| {
        peak.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        // Nobody goes on before three are there: they do run side by side.
        meeting.wait();
        running.fetch_sub(1, Ordering::SeqCst);
        sse(talk);
        talk.chunk(event(&seen.json()["seed"].to_string()));
        done(talk);
    });
    let client: Arc<dyn ModelClient> = Arc::new(client(Backend::Chat, &server.url(""), limits()));
    let calls: Vec<Call> = (0..9).map(|n| Call { seed: Some(n), ..call() }).collect();
    let mut each = vec![Received::begin(RunId(0)); 9];
    wait(async {
        let mut several = Several::start(client, calls, 3);
        while let Some(events) = several.next_few().await {
            for event in events {
                assert!(each[event.call].take(RunId(0), event.event));
            }
        }
    });
    let seeds: Vec<String> = each.iter().map(content).collect();
    assert_eq!(seeds, ["0", "1", "2", "3", "4", "5", "6", "7", "8"]);
    assert_eq!(most.load(Ordering::SeqCst), 3);
}

// Cassettes.

#[test]
fn a_cassette_plays_what_was_recorded() {
    let server = Server::start(|seen, talk| {
        sse(talk);
        for byte in event(&format!("é{}", seen.n)).as_bytes() {
            talk.chunk([*byte]);
        }
        if seen.n == 2 {
            return;
        }
        done(talk);
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let live = client(Backend::Chat, &server.url(""), limits()).recording(Recorder::open(&path).unwrap());
    let other = Call { seed: Some(7), ..call() };
    let recorded: Vec<_> = [call(), call(), other.clone()].into_iter().map(|call| heard(&live, call).0).collect();
    assert_eq!(content(&recorded[1]), "é1");
    drop(live);
    let play = |speed| {
        let tape = Tape::open(&path, speed).unwrap();
        assert_eq!(tape.source(), Some((Backend::Chat, "m")));
        Client::playing(tape, Backend::Chat).unwrap()
    };
    for speed in [Speed::AtOnce, Speed::Recorded, Speed::Times(10.0)] {
        let cassette = play(speed);
        let again: Vec<_> =
            [call(), call(), other.clone(), call()].into_iter().map(|call| heard(&cassette, call).0).collect();
        assert_eq!(content(&again[0]), "é0");
        assert_eq!(content(&again[1]), "é1", "the second time the second recording");
        assert_eq!(content(&again[3]), "é1", "then the last again");
        assert_eq!(finish(&again[1]).stop, finish(&recorded[1]).stop);
        assert_eq!((content(&again[2]).as_str(), trouble(&again[2]).kind), ("é2", TroubleKind::Cut));
        let (unknown, _) = heard(&cassette, Call { seed: Some(8), ..call() });
        assert!(trouble(&unknown).sentence.as_str().contains("no recorded reply for this request among 3"));
    }
    assert_eq!(server.seen().len(), 3, "a cassette asks nobody");
    std::fs::write(&path, "{\"format\": \"other\"}\n").unwrap();
    assert!(Tape::open(&path, Speed::AtOnce).unwrap_err().to_string().contains("line 1"));
}

#[test]
fn what_was_sent_again_plays_its_reply() {
    let busy = |talk: &mut Talk| talk.whole("429 Too Many Requests", "text/plain", "Retry-After: 0\r\n", "slow down");
    let server = Server::start(move |seen, talk| match seen.n {
        0 | 3 => busy(talk),
        1 | 4.. => reply(talk, &format!("é{}", seen.n)),
        _ => {
            sse(talk);
            talk.chunk(event("cut"));
        }
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let live = client(Backend::Chat, &server.url(""), limits()).recording(Recorder::open(&path).unwrap());
    let (retried, repeated) = (call(), Call { seed: Some(7), ..call() });
    assert_eq!(content(&heard(&live, retried.clone()).0), "é1");
    assert_eq!(trouble(&heard(&live, repeated.clone()).0).kind, TroubleKind::Cut);
    assert_eq!(content(&heard(&live, repeated.clone()).0), "é4");
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 5);
    let cassette = Client::playing(Tape::open(&path, Speed::AtOnce).unwrap(), Backend::Chat).unwrap();
    for _ in 0..2 {
        let replies = [&retried, &repeated].map(|call| content(&heard(&cassette, call.clone()).0));
        assert_eq!(replies, ["é1", "é4"]);
    }
}

#[test]
fn a_request_that_is_not_recorded_names_what_differs() {
    let server = Server::start(|_, talk| {
        let body = r#"{"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}"#;
        talk.whole("200 OK", "application/json", "", body);
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tape.jsonl");
    let recording = client(Backend::Chat, &server.url(""), limits()).recording(Recorder::open(&path).unwrap());
    let json = Call { max_tokens: Some(300), enforcement: Enforcement::Json, ..call() };
    assert_eq!(content(&heard(&recording.in_one_piece(), json.clone()).0), "yes");
    let play = |backend, call| {
        let cassette = Client::playing(Tape::open(&path, Speed::AtOnce).unwrap(), backend).unwrap();
        trouble(&heard(&cassette, call).0).sentence.into_string()
    };
    for (backend, call, differs) in [
        (Backend::Chat, call(), "max_tokens, output format, stream"),
        (Backend::Chat, Call { prompt: "other".into(), seed: None, ..json.clone() }, "prompt, seed, stream"),
        (Backend::Ollama, json, "backend"),
    ] {
        let said = play(backend, call);
        assert!(said.contains(&format!("differs in {differs}. Leave that as recorded")), "{said}");
    }
}
