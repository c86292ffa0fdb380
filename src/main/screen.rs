//! What the program does with its screen, and what it tells the commands of it.

use std::path::PathBuf;

use stepscope::app::session;
pub(super) use stepscope::app::session::check_settings;
use stepscope::app::session::{ReviewStart, Start};
use stepscope::cli::{self, KeyRow, Out};
pub(super) use stepscope::demo::play::picture;
use stepscope::demo::play::{self, DemoStart};
use stepscope::widgets::keymap::{BINDINGS, Keymap};
use stepscope::widgets::theme::BUILT_IN;
use stepscope_base::text::Shown;
use stepscope_io::model::cassette::Speed;
use stepscope_io::source::input::unreadable;
use stepscope_judge::hide::Hide;
use stepscope_terminal::clipboard::Multiplexer;
pub(super) use stepscope_terminal::terminal::give_back;

/// Default speed of a recording that plays on the screen, as a multiple of the recorded speed.
const REPLAY: f64 = 4.0;

/// Opens the screen, or says why there is none.
pub(super) fn open(screen: &cli::ScreenArgs, out: &mut Out) -> Result<u8, Shown> {
    let screen = screen.clone();
    let setup = screen.model.setup(Speed::Times(REPLAY))?;
    let paths = screen.answers.with(&screen.paths);
    let missing = unreadable(&paths);
    let others: Vec<PathBuf> = screen.baseline.iter().chain(&screen.peers).cloned().collect();
    let say = |out: &Out| missing.iter().for_each(|failure| out.complain(&failure.into()));
    if let Some(failure) = unreadable(&others).pop() {
        return Err(failure.into());
    }
    if !missing.is_empty() && missing.len() == paths.len() {
        say(out);
        return Ok(cli::FAILED);
    }
    let start = Start {
        setup,
        judge: screen.judge.wanted().map(|wanted| (wanted, screen.judge.field)),
        paths,
        columns: screen.answers.tables.map()?,
        document: screen.answers.document,
        at: (screen.id, screen.step),
        present: screen.present,
        theme: screen.theme,
        ascii: screen.ascii,
        peers: screen.peers,
        baseline: screen.baseline,
        compare: screen.compare,
        filter: screen.filter,
        config_dir: screen.config_dir,
        forks: screen.forks,
        schemas: screen.schemas,
        reviewing: ReviewStart {
            order: screen.reviewing.queue_order(),
            begins: screen.reviewing.begins(),
            journals: screen.reviewing.reviews,
            reviewer: screen.reviewing.who.reviewer(),
            queue: screen.reviewing.queue,
            hide: Hide::of(screen.reviewing.hide),
        },
    };
    let ended = session::open(&start);
    // The screen showed the rest; a script learns what it lacked.
    say(out);
    let ended = ended?;
    ended.complaints.iter().for_each(|sentence| out.complain(sentence));
    Ok(if missing.is_empty() && !ended.lost { ended.code } else { ended.code.max(cli::FAILED) })
}

/// Shows a tour, or plays it and says how its scenes came out.
pub(super) fn show(demo: cli::DemoArgs, out: &mut Out) -> Result<u8, Shown> {
    if demo.notes {
        return play::follow(demo.theme.as_deref(), demo.ascii);
    }
    let headless = demo.is_headless();
    let cli::DemoArgs {
        mut paths,
        record,
        svg,
        cast,
        cast_v2,
        html,
        md,
        with_notes,
        size,
        theme,
        ascii,
        trust,
        force,
        ..
    } = demo;
    if record.is_none() && paths.len() > 1 {
        return Err(Shown::own("one tour at a time; records are named with --record FILE"));
    }
    let tour = if record.is_none() { paths.pop() } else { None };
    let start = DemoStart { tour, svg, cast, cast_v2, html, md, with_notes, size, theme, ascii, trust, force };
    let played = match record {
        Some(file) => play::record(&start, paths, &file)?,
        None if headless => play::play(&start)?,
        None => return play::open(&start).map(|_| cli::CLEAN),
    };
    match played.output.as_slice() {
        [] => played.scenes.iter().for_each(|scene| out.line(scene)),
        output => {
            out.write(output);
            // What is written says that the scenes were shown.
            played.scenes.iter().filter(|_| played.failed > 0).for_each(|scene| out.complain(scene));
        }
    }
    Ok(if played.failed > 0 { cli::FOUND } else { cli::CLEAN })
}

/// The table of keys, for the commands, which do not know the screen.
pub(super) fn keys() -> Vec<KeyRow> {
    let keymap = Keymap::default();
    BINDINGS
        .iter()
        .map(|binding| KeyRow {
            context: binding.context.word(),
            keys: keymap.names(binding).join("  "),
            action: binding.action.word(),
            help: binding.help,
        })
        .collect()
}

/// Names of the themes that are built in.
pub(super) fn themes() -> Vec<&'static str> {
    BUILT_IN.iter().map(|(name, _)| *name).collect()
}

/// Says how a copied text gets to the clipboard, and what has to be set for it.
pub(super) fn clipboard() -> &'static str {
    match Multiplexer::of(|name| std::env::var_os(name)) {
        None => "sent to the terminal (OSC 52), which may refuse it",
        Some(Multiplexer::Tmux) => "through tmux, which needs: set -g set-clipboard on, or allow-passthrough on",
        Some(Multiplexer::Screen) => "through screen to the terminal, which may refuse it",
    }
}
