//! A call as the body of a request, for each kind of server. Upstream's keys come first and in upstream's order, so
//! that what goes to Ollama differs from upstream's own bytes in `"stream":true` alone.

use super::endpoint::Backend;
use stepscope_base::json::Tape;
use stepscope_base::json::write::{Object, Raw, Style, client_number};
use stepscope_execution::call::{Call, Enforcement};

/// Anthropic wants a limit; this is it unless the user gives one.
const ANTHROPIC_TOKENS: u64 = 4096;

/// Something of a call that a kind of server does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Unsaid(pub &'static str);

/// Writes the body of a call, and lists what of it this kind of server cannot be told.
pub(crate) fn body(backend: Backend, call: &Call, enforcement: Enforcement, stream: bool) -> (Vec<u8>, Vec<Unsaid>) {
    let unsaid = call.seed.filter(|_| !backend.takes_seed()).map(|_| Unsaid("seed")).into_iter().collect();
    let body = match backend {
        Backend::Ollama | Backend::OllamaChat => ollama(backend, call, enforcement, stream),
        Backend::Chat => chat(call, enforcement, stream),
        Backend::Responses => responses(call, enforcement, stream),
        Backend::Anthropic => anthropic(call, enforcement, stream),
    };
    (body, unsaid)
}

/// Lists the enforcements that a kind of server has, from the one that is asked for down.
pub(crate) fn downgrades(backend: Backend, call: &Call) -> Vec<Enforcement> {
    let has_schema = call.schema.is_some();
    let mut enforcements = Vec::new();
    if call.enforcement == Enforcement::Schema && has_schema {
        enforcements.push(Enforcement::Schema);
    }
    if call.enforcement == Enforcement::Json || (call.enforcement == Enforcement::Schema && has_schema) {
        enforcements.push(Enforcement::Json);
    }
    enforcements.retain(|enforcement| backend != Backend::Anthropic || *enforcement != Enforcement::Json);
    enforcements.push(call.weakest());
    enforcements
}

fn ollama(backend: Backend, call: &Call, enforcement: Enforcement, stream: bool) -> Vec<u8> {
    let format = match enforcement {
        Enforcement::Schema => schema(call),
        Enforcement::Json => Some(Raw(b"\"json\"".to_vec())),
        Enforcement::Prompt | Enforcement::Nothing => None,
    };
    Style::BODY.object(|body| {
        body.put("model", &call.model).put("stream", stream).object("options", |options| {
            options.maybe("temperature", call.temperature.map(client_number));
            options.maybe("seed", call.seed).maybe("num_predict", call.max_tokens);
        });
        body.maybe("format", format);
        match backend {
            Backend::OllamaChat => messages(body, call).put("tools", Raw("[]")),
            _ => body.put("prompt", &call.prompt),
        };
    })
}

fn chat(call: &Call, enforcement: Enforcement, stream: bool) -> Vec<u8> {
    Style::BODY.object(|body| {
        messages(body.put("model", &call.model), call);
        body.maybe("temperature", call.temperature.map(client_number));
        body.maybe("seed", call.seed).maybe("max_tokens", call.max_tokens);
        if let Some(schema) = schema(call).filter(|_| enforcement == Enforcement::Schema) {
            body.object("response_format", |format| {
                format.put("type", "json_schema").object("json_schema", |named| {
                    named.put("name", NAME).put("strict", true).put("schema", schema);
                });
            });
        } else if enforcement == Enforcement::Json {
            body.put("response_format", ANY_OBJECT);
        }
        body.put("stream", stream);
        if stream {
            body.put("stream_options", Raw("{\"include_usage\":true}"));
        }
    })
}

fn responses(call: &Call, enforcement: Enforcement, stream: bool) -> Vec<u8> {
    Style::BODY.object(|body| {
        body.put("model", &call.model).put("input", &call.prompt);
        body.maybe("temperature", call.temperature.map(client_number)).maybe("max_output_tokens", call.max_tokens);
        if let Some(schema) = schema(call).filter(|_| enforcement == Enforcement::Schema) {
            body.object("text", |text| {
                text.object("format", |format| {
                    format.put("type", "json_schema").put("name", NAME).put("strict", true).put("schema", schema);
                });
            });
        } else if enforcement == Enforcement::Json {
            body.object("text", |text| _ = text.put("format", ANY_OBJECT));
        }
        // The provider would keep the question and the reply otherwise.
        body.put("store", false).put("stream", stream);
    })
}

fn anthropic(call: &Call, enforcement: Enforcement, stream: bool) -> Vec<u8> {
    Style::BODY.object(|body| {
        body.put("model", &call.model).put("max_tokens", call.max_tokens.unwrap_or(ANTHROPIC_TOKENS));
        messages(body, call).maybe("temperature", call.temperature.map(client_number));
        if let Some(schema) = schema(call).filter(|_| enforcement == Enforcement::Schema) {
            body.object("output_config", |config| {
                config.object("format", |format| _ = format.put("type", "json_schema").put("schema", schema));
            });
        }
        body.put("stream", stream);
    })
}

/// Name of schemas, where they must have one.
const NAME: &str = "step_output";
/// Any JSON object.
const ANY_OBJECT: Raw<&str> = Raw("{\"type\":\"json_object\"}");

fn messages<'b, 'o>(body: &'b mut Object<'o>, call: &Call) -> &'b mut Object<'o> {
    body.objects("messages", [&call.prompt], |prompt, message| _ = message.put("role", "user").put("content", prompt))
}

/// Returns the schema on one line; its text as it is, where it cannot be read.
fn schema(call: &Call) -> Option<Raw<Vec<u8>>> {
    let schema = call.schema.as_ref()?;
    let mut tape = Tape::default();
    Some(Raw(match tape.parse(schema.bytes()) {
        Some(value) => Style::BODY.of(value),
        None => String::from_utf8_lossy(schema.bytes()).into_owned().into_bytes(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_base::text::Untrusted;
    use stepscope_record::AnswerSchema;
    use stepscope_record::schemas;

    fn call() -> Call {
        Call {
            prompt: Untrusted::from("P"),
            schema: Some(Untrusted::from(schemas::answer(AnswerSchema::General))),
            model: "smollm2:135m".to_owned(),
            temperature: Some(1.0),
            seed: Some(1234),
            max_tokens: None,
            enforcement: Enforcement::Schema,
            may_downgrade: true,
        }
    }

    /// Bodies as upstream's own client sent them (recorded).
    #[test]
    fn bodies_are_upstreams() {
        const SCHEMA: &str = r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"GeneralAnswer","description":"Minimal answer envelope with only a string answer.","type":"object","properties":{"final_answer":{"type":"string","description":"Final answer text."}},"required":["final_answer"],"additionalProperties":false}"#;
        let sent =
            |backend, enforcement, call: &Call| String::from_utf8(body(backend, call, enforcement, false).0).unwrap();
        let query = format!(
            r#"{{"model":"smollm2:135m","stream":false,"options":{{"temperature":1,"seed":1234}},"format":{SCHEMA},"prompt":"P"}}"#
        );
        assert_eq!(sent(Backend::Ollama, Enforcement::Schema, &call()), query);
        let gpt = Call { model: "gpt-oss:120b".to_owned(), ..call() };
        assert_eq!(
            sent(Backend::Ollama, Enforcement::Prompt, &gpt),
            r#"{"model":"gpt-oss:120b","stream":false,"options":{"temperature":1,"seed":1234},"prompt":"P"}"#
        );
        assert_eq!(
            sent(Backend::OllamaChat, Enforcement::Schema, &gpt),
            format!(
                r#"{{"model":"gpt-oss:120b","stream":false,"options":{{"temperature":1,"seed":1234}},"format":{SCHEMA},"messages":[{{"role":"user","content":"P"}}],"tools":[]}}"#
            )
        );
    }

    #[test]
    fn every_body_is_json_and_says_what_it_can() {
        let odd = Call {
            prompt: Untrusted::owned(b"\xed\xa0\x80 \"\n\x01 \xff \xc3\xa9".to_vec()),
            temperature: Some(0.7),
            max_tokens: Some(9),
            ..call()
        };
        for backend in Backend::ALL {
            for enforcement in downgrades(backend, &odd) {
                let (body, unsaid) = body(backend, &odd, enforcement, true);
                let json = String::from_utf8(body).unwrap();
                let mut tape = Tape::default();
                let root = tape.parse(json.as_bytes()).unwrap();
                let prompt = root
                    .get("prompt")
                    .or(root.get("input"))
                    .or_else(|| root.get("messages")?.items().next()?.get("content"));
                assert_eq!(
                    prompt.unwrap().string().unwrap(),
                    Untrusted::new(b"\xed\xa0\x80 \"\n\x01 \xef\xbf\xbd \xc3\xa9")
                );
                assert_eq!(json.contains("1234"), unsaid.is_empty(), "{json}");
                assert!(json.contains("0.7") && json.contains(":9"), "{json}");
                assert_eq!(json.contains("GeneralAnswer"), enforcement == Enforcement::Schema, "{json}");
            }
        }
    }

    #[test]
    fn the_ladder_begins_where_it_is_asked_to() {
        assert_eq!(downgrades(Backend::Chat, &call()), [Enforcement::Schema, Enforcement::Json, Enforcement::Nothing]);
        let inside = Call { prompt: Untrusted::from(schemas::answer(AnswerSchema::General)), ..call() };
        assert_eq!(downgrades(Backend::Anthropic, &inside), [Enforcement::Schema, Enforcement::Prompt]);
        assert_eq!(
            downgrades(Backend::Ollama, &Call { enforcement: Enforcement::Json, ..inside.clone() }),
            [Enforcement::Json, Enforcement::Prompt]
        );
        assert_eq!(downgrades(Backend::Ollama, &Call { schema: None, ..call() }), [Enforcement::Nothing]);
        assert_eq!(
            downgrades(Backend::Ollama, &Call { enforcement: Enforcement::Nothing, ..inside }),
            [Enforcement::Prompt]
        );
    }
}
