//! `stepscope models`: which model servers are live, and what they offer.

use crate::cli::ask::{PATIENCE, ServerFlags, runtime};
use crate::cli::codes::CLEAN;
use crate::cli::codes::UNANSWERED;
use crate::cli::options::ListFormat;
use crate::cli::out::Out;
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::model::discover::{FoundServer, NEAR, discover, is_usual, models};
use stepscope_io::model::{ABSENT, ASKS, Endpoint};

/// List local model servers and their models
///
/// Asks the usual ports of this machine, and the server that the environment or config.toml names; with --url, --backend
/// or --profile only that server.
/// Exit code: 0 listed, 2 invalid settings, 3 no server answered.
#[derive(clap::Args, Clone, Debug)]
pub struct Models {
    /// How to print: a line per model, or a JSON object per server
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = ListFormat::Text)]
    format: ListFormat,
    #[command(flatten)]
    ask: ServerFlags,
}

pub(super) fn run(options: &Models, out: &mut Out) -> Result<u8, Shown> {
    if !ASKS {
        return Err(Shown::own(ABSENT));
    }
    options.ask.check()?;
    let (settled, is_named) = options.ask.settle()?;
    let runtime = runtime()?;
    if is_named {
        let other = options.ask.as_openai().map(|ask| ask.settle()).transpose()?;
        let mut trouble = None;
        for endpoint in std::iter::once(settled.endpoint).chain(other.map(|(settled, _)| settled.endpoint)) {
            match runtime.block_on(models(&endpoint, PATIENCE)) {
                Ok(names) => {
                    print(options.format, &endpoint, &names, out);
                    return Ok(CLEAN);
                }
                Err(why) => trouble = trouble.or(Some(why)),
            }
        }
        if let Some(trouble) = trouble {
            out.complain(&trouble.sentence);
        }
        return Ok(UNANSWERED);
    }
    let endpoint = settled.endpoint;
    let mut found = runtime.block_on(discover());
    // The address that environment or settings name may be none of the usual ones, or want a key.
    if found.iter().all(|one| one.endpoint.list() != endpoint.list()) {
        let patience = if endpoint.is_local() { NEAR } else { PATIENCE };
        match runtime.block_on(models(&endpoint, patience)) {
            Ok(models) => found.insert(0, FoundServer { endpoint, usually: "", models }),
            Err(_) if is_usual(&endpoint) => {}
            Err(trouble) => out.complain(&trouble.sentence),
        }
    }
    for one in &found {
        print(options.format, &one.endpoint, &one.models, out);
    }
    if found.is_empty() {
        out.complain(&Shown::own("no model server found on this machine's usual ports; start one, or pass --url"));
        return Ok(UNANSWERED);
    }
    Ok(CLEAN)
}

fn print(format: ListFormat, endpoint: &Endpoint, models: &[Untrusted<'static>], out: &mut Out) {
    let (address, kind) = (endpoint.shown(), endpoint.backend.word());
    match format {
        ListFormat::Text if models.is_empty() => out.line(&shown!("{address:32}  {kind:10}  (no model)")),
        ListFormat::Text => {
            for model in models {
                out.line(&shown!("{address:32}  {kind:10}  {}", model.line()));
            }
        }
        ListFormat::Jsonl => {
            Style::SAVED.line(out, |object| _ = object.put("url", &address).put("backend", kind).put("models", models));
        }
    }
}
