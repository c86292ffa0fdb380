//! `stepscope models`: which model servers are live, and what they offer.

use std::time::Duration;

use super::{CLEAN, ListFormat, Out, UNANSWERED};
use crate::cli::ask::{PATIENCE, ServerFlags, runtime};
use stepscope_base::json::write::Style;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_io::model::Endpoint;
use stepscope_io::model::discover::{FoundServer, discover, models};

/// List local model servers and their models
///
/// Asks the usual ports of this machine only; with --url, --backend or --profile only that server.
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
    options.ask.check()?;
    let (settled, is_named) = options.ask.settle()?;
    let runtime = runtime()?;
    if is_named || !settled.endpoint.is_local() {
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
    let found = runtime.block_on(async {
        let mut found = discover().await;
        // The address that environment or settings name may be none of the customary ones.
        if found.iter().all(|one| one.endpoint.list() != settled.endpoint.list())
            && let Ok(names) = models(&settled.endpoint, Duration::from_secs(2)).await
        {
            found.insert(0, FoundServer { endpoint: settled.endpoint.clone(), usually: "", models: names });
        }
        found
    });
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
