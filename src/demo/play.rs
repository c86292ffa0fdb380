//! Playing a tour: on a terminal by keys, or without one from start to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::buffer::Buffer;
use ratatui::layout::{Rect, Size};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::app::calls::Calls;
use crate::app::effects::{Memory, Performer};
use crate::app::export::look_private;
use crate::app::model_choice::ModelChoice;
use crate::app::msg::Msg;
use crate::app::outbox::Outbox;
use crate::app::state::{App, Looks};
use crate::demo::handout::{self, HandoutScene};
use crate::demo::notes::{Notes, NotesEffect, NotesMsg};
use crate::demo::picture::{self, Recording, ansi, line, svg, texts};
use crate::demo::record::{self, KeptScene, TourRecorder};
use crate::demo::tour::{BAR, Tour};
use crate::widgets::keymap::Keymap;
use crate::widgets::theme::{BUILT_IN, Theme};
use stepscope_base::ascii::{is_utf8, locale};
use stepscope_base::shown;
use stepscope_base::text::Shown;
use stepscope_io::config::tour::{Scene, TourScript};
use stepscope_io::config::{Config, Folders};
use stepscope_io::failure::Failure;
use stepscope_io::files::{export_folder, write_export, write_new};
use stepscope_io::model::cassette::{Speed, Tape};
use stepscope_io::model::settings::WantedServer;
use stepscope_io::model::setup::Setup;
use stepscope_io::notes::{self, Followed};
use stepscope_io::pipeline::compare::BaselineRuns;
use stepscope_io::pipeline::load::load;
use stepscope_io::pipeline::side_data::SideData;
use stepscope_io::source::beneath::{Place, UnderRoot};
use stepscope_io::source::input::{expand, expand_beneath, samples};
use stepscope_record::finding::counted;
use stepscope_redact::PrivateHits;
use stepscope_report::page::PagePicture;
use stepscope_report::page::carried::is_page;
use stepscope_terminal::colour::Depth;
use stepscope_terminal::input::Input;
use stepscope_terminal::run::{self, CHANNEL, Control, Options, Program as _};
use stepscope_terminal::terminal::{NoTerminal, Tty};

/// Longest time in which nothing happens; after it, something hangs.
const DEADLINE: Duration = Duration::from_secs(120);

/// Speed of a replayed reply, as a multiple of the recorded speed.
const REPLAY: f64 = 4.0;

/// Sizes in which a recorded tour is tried too, so that it waits for what is not of one size alone.
const OTHER_SIZES: [(u16, u16); 4] = [(80, 24), (100, 24), (100, 30), (120, 40)];

/// Time that a step stays in a recording.
const STEP_STAY: Duration = Duration::from_secs(3);
/// Number of bytes at the beginning that identify a recording.
const RECORDING: usize = 20;

/// Options of a tour.
#[derive(Debug, Default)]
pub struct DemoStart {
    /// The tour; without one, the built-in one.
    pub tour: Option<PathBuf>,
    /// The folder for a picture of each scene.
    pub svg: Option<PathBuf>,
    /// The file for a recording of version 3.
    pub cast: Option<PathBuf>,
    /// The file for a recording of version 2.
    pub cast_v2: Option<PathBuf>,
    /// The file for a page of all scenes.
    pub html: Option<PathBuf>,
    /// The file for the same as Markdown.
    pub md: Option<PathBuf>,
    /// True if both have the presenter's notes.
    pub with_notes: bool,
    /// Columns and rows where there is no terminal.
    pub size: (u16, u16),
    /// The theme.
    pub theme: Option<String>,
    /// True if only ASCII characters are drawn on a terminal, whatever the locale says, and written into Markdown.
    pub ascii: bool,
    /// The tour's records and its recording are opened wherever they lie.
    pub trust: bool,
    /// Files are written although something in them looks private.
    pub force: bool,
}

impl DemoStart {
    /// Tells whether anything is to be written. What is only checked stays on this machine.
    fn writes(&self) -> bool {
        [&self.svg, &self.cast, &self.cast_v2, &self.html, &self.md].into_iter().any(Option::is_some)
    }
}

/// Result of a tour without a terminal.
#[derive(Debug, Default)]
pub struct Played {
    /// Report on each scene.
    pub scenes: Vec<Shown>,
    /// Number of scenes that failed.
    pub failed: usize,
    /// Files that are standard output, as one.
    pub output: Vec<u8>,
}

/// Explains why there is no terminal for a tour, and what to do.
fn no_terminal(error: &NoTerminal, advice: &'static str) -> Shown {
    match error {
        NoTerminal::OutputNotTerminal => shown!("standard output is not a terminal; {advice}"),
        NoTerminal::Dumb => {
            shown!("this terminal cannot place text on the screen (TERM is unset or \"dumb\"); {advice}")
        }
        NoTerminal::NotFound(why) => shown!("no terminal to read keys from ({}); {advice}", Shown::error(why)),
        NoTerminal::System => shown!("the screen needs Linux, macOS or WSL; {advice}"),
    }
}

/// Shows a tour on the terminal. The exit code; an error is a sentence that says why there is no screen.
pub fn open(start: &DemoStart) -> Result<u8, Shown> {
    let script = script(start)?;
    let tty = Tty::open()
        .map_err(|error| no_terminal(&error, "play it without one with --check, --svg, --html, --md or --cast"))?;
    let depth = Depth::detect(variable);
    let (mut tour, mut performer, _) = ready(start, script, depth, Speed::Times(REPLAY))?;
    let followed = Folders::find(None).state.and_then(|folder| Followed::begin(&folder));
    if let Some(followed) = &followed {
        tour.telling(followed.folder().to_owned(), notes::now());
    }
    let options = Options { mouse: false, ask_background: start.theme.is_none() };
    performer.run_on(&tty, &mut tour, options)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Shows the presenter's notes to the tour that runs in another terminal, until it ends. The exit code. `ascii`: in
/// ASCII, whatever the locale says.
pub fn follow(theme: Option<&str>, ascii: bool) -> Result<u8, Shown> {
    let folder = Folders::find(None).state;
    let folder = folder.ok_or(Shown::own("no state folder to follow a tour by; set STEPSCOPE_STATE_DIR"))?;
    let tty = Tty::open()
        .map_err(|error| no_terminal(&error, "the notes are shown on a terminal of their own, next to the tour"))?;
    let depth = Depth::detect(variable);
    let theme = theme.unwrap_or("dark");
    let unknown = || shown!("there is no theme {}", Shown::line(theme.as_bytes()));
    let mut program = Notes::new(Theme::built_in(theme, depth).ok_or_else(unknown)?);
    program.ascii = ascii || !is_utf8(locale(variable).as_deref());
    let options = Options { mouse: false, ask_background: false };
    let code = run::run(&tty, &mut program, options, |effect, sender| match effect {
        NotesEffect::Quit => Some(Control::Quit(0)),
        NotesEffect::Look => {
            let (folder, sender) = (folder.clone(), sender.clone());
            tokio::task::spawn_blocking(move || {
                let told = notes::follow(&folder).map(|notes| Box::new((notes.clone(), notes.elapsed())));
                let _ = sender.blocking_send(NotesMsg::Told(told));
            });
            None
        }
    });
    code.map_err(|error| shown!("cannot use the terminal: {}", Shown::error(&error)))
}

/// Records a tour of these records (or of the sample runs) from what a person does, and writes it to a file. Returns a
/// report on it, and the number of scenes that could not be played again and are left out.
pub fn record(start: &DemoStart, records: Vec<PathBuf>, file: &Path) -> Result<Played, Shown> {
    if records.iter().any(|path| path.as_os_str() == "-") {
        return Err(Shown::own("a tour opens files; save standard input to one first"));
    }
    if std::fs::symlink_metadata(file).is_ok() {
        return Err(shown!(
            "cannot write {}: there is such a file already, and nothing is overwritten",
            Shown::path(file)
        ));
    }
    let mut script = TourScript { title: "TODO: what the tour is about".to_owned(), records, ..TourScript::default() };
    let tty = Tty::open().map_err(|error| no_terminal(&error, "a tour is recorded on a terminal"))?;
    let depth = Depth::detect(variable);
    let (tour, mut performer, _) = ready(start, script.clone(), depth, Speed::Times(REPLAY))?;
    let mut recorder = TourRecorder::new(tour.app);
    let options = Options { mouse: false, ask_background: start.theme.is_none() };
    performer.run_on(&tty, &mut recorder, options)?;
    if recorder.kept.is_empty() {
        return Err(Shown::own("nothing was recorded: F2 keeps what is on the screen as a scene"));
    }
    let mut played = Played::default();
    script.scenes = playable(start, &script, &recorder.kept, &mut played)?;
    if script.scenes.is_empty() {
        return Err(Shown::own("nothing was written: no scene could be replayed"));
    }
    let text = script.text(file)?;
    if !start.force {
        refuse_private_script(&text, &script)?;
    }
    write_new(file, text.as_bytes())?;
    let (count, name) = (counted(script.scenes.len(), "scene"), Shown::path(file));
    let trust = if script.leads_out(file) { " --trust" } else { "" };
    played.scenes.push(shown!("Saved {name}: {count}. Write the captions, then: stepscope demo {name}{trust}"));
    Ok(played)
}

/// The scenes that come to the same record when they are played, each with what it waits for.
fn playable(
    start: &DemoStart,
    script: &TourScript,
    kept: &[KeptScene],
    played: &mut Played,
) -> Result<Vec<Scene>, Shown> {
    let scenes = kept.iter().map(|kept| kept.scene.clone()).collect();
    let trial = TourScript { scenes, ..script.clone() };
    let others = OTHER_SIZES.iter().map(|size| screens_at(start, &trial, *size)).collect::<Result<Vec<_>, _>>()?;
    let (tour, performer, outbox) = ready(start, trial, Depth::True, Speed::AtOnce)?;
    let (mut good, mut before) = (Vec::new(), Vec::new());
    let done = through(tour, performer, start.size, |tour| {
        let at = tour.scene().0;
        let Some(kept) = kept.get(at) else { return };
        let rows = record::rows(&tour.app, tour.stage_area());
        if tour.stands() == Ok(true) && record::open(&tour.app.screens) == kept.record {
            let others: Vec<_> = others.iter().filter_map(|screens| screens.get(&at).cloned()).collect();
            let wait = record::wait_for(&kept.rows, &rows, &others, &before);
            good.push(Scene { wait, ..kept.scene.clone() });
            before = rows;
        } else {
            played.failed += 1;
            played.scenes.push(shown!("scene {} is left out: its keys do not lead there again", at + 1));
        }
    });
    outbox.close();
    done.map(|()| good)
}

/// Plays a tour in another size, and returns the rows of each scene that was reached, by its number.
fn screens_at(start: &DemoStart, script: &TourScript, size: (u16, u16)) -> Result<BTreeMap<usize, Vec<String>>, Shown> {
    let (tour, performer, outbox) = ready(start, script.clone(), Depth::True, Speed::AtOnce)?;
    let mut screens = BTreeMap::new();
    let done = through(tour, performer, size, |tour| {
        if tour.stands() == Ok(true) {
            screens.insert(tour.scene().0, record::rows(&tour.app, tour.stage_area()));
        }
    });
    outbox.close();
    done.map(|()| screens)
}

/// Refuses a tour in which something looks private, also in what its keys type.
fn refuse_private_script(text: &str, script: &TourScript) -> Result<(), Shown> {
    let mut hits = PrivateHits::default();
    hits.look(text.as_bytes(), &Shown::own("the tour"));
    for scene in &script.scenes {
        hits.look(
            record::typed(&scene.keys).as_bytes(),
            &shown!("the keys of \"{}\"", Shown::line(scene.name.as_bytes())),
        );
    }
    refuse_hits(&hits)
}

fn script(start: &DemoStart) -> Result<TourScript, Shown> {
    let script = start.tour.as_deref().map_or_else(TourScript::built_in, |path| TourScript::read(path, start.trust));
    script.map_err(Shown::from)
}

fn ready(
    start: &DemoStart,
    script: TourScript,
    depth: Depth,
    speed: Speed,
) -> Result<(Tour, Performer, Outbox), Shown> {
    let outbox = Outbox::default();
    let sink = outbox.clone();
    let inputs = match &script.folder {
        _ if script.records.is_empty() => samples(),
        Some(folder) => expand_beneath(folder, &script.records)?,
        None => expand(&script.records),
    };
    let recording = recording(&script)?;
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    let side = Arc::new(SideData::default());
    let (store, loading) = load(inputs, threads, side.clone(), move |event| sink.send(Msg::Load(event)));
    let all = BUILT_IN.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let theme = Theme::built_in("dark", depth).unwrap_or_default();
    let ascii = start.ascii || !is_utf8(locale(variable).as_deref());
    let mut app = App::new(store, Keymap::default(), Looks::new(theme, all, depth, ascii));
    let samples = script.records.is_empty();
    app.across.baseline = samples.then_some(BaselineRuns::Samples);
    // A tour asks no model: its keys are pressed without a person.
    let wanted = WantedServer { offline: true, ..WantedServer::default() };
    let setup = Setup { wanted, cassette: recording, speed, ..Setup::default() };
    app.models = ModelChoice::new(setup.clone(), &Config::default());
    app.models.samples = samples;
    if let Some(name) = &start.theme {
        if !BUILT_IN.iter().any(|(known, _)| known == name) {
            return Err(shown!("there is no theme {}", Shown::line(name.as_bytes())));
        }
        app.looks.choose(Some(name)).unwrap_or_else(|why| _ = app.status.fail(why));
    }
    let calls = Calls::new(setup, Config::default());
    let performer = Performer::new(outbox.clone(), Memory::default(), side, calls).loading(loading);
    Ok((Tour::new(app, script), performer, outbox))
}

/// Finds the recording of a tour, and refuses what is none before any scene is shown.
fn recording(script: &TourScript) -> Result<Option<Place>, Shown> {
    let Some(recording) = &script.recording else { return Ok(None) };
    let place = match &script.folder {
        Some(folder) => {
            let root = UnderRoot::root(folder).map_err(|error| Failure::system("cannot open", folder, &error))?;
            Place::UnderRoot(root.join(recording))
        }
        None => Place::Named(recording.clone()),
    };
    if Tape::open(&place, Speed::AtOnce)?.is_empty() {
        return Err(shown!("cannot replay {}: there is no recorded exchange in it", Shown::path(place.path())));
    }
    Ok(Some(place))
}

/// Scene that is ready.
struct StandingScene {
    name: String,
    caption: String,
    note: String,
    dark: Buffer,
    light: Buffer,
    /// The program without the tour's caption and spot, dark and light; as the scene itself where nothing is led.
    alone: [Buffer; 2],
    stay: Duration,
}

impl StandingScene {
    fn handout(&self, with_notes: bool) -> HandoutScene<'_> {
        let note = if with_notes { self.note.as_str() } else { "" };
        HandoutScene { caption: &self.caption, note, dark: &self.dark, light: &self.light }
    }
}

/// Plays a tour from start to end, as if Space were pressed, and writes what was asked for.
pub fn play(start: &DemoStart) -> Result<Played, Shown> {
    let script = script(start)?;
    let title = Shown::line(script.title.as_bytes()).into_string();
    let names: Vec<Shown> = script.scenes.iter().map(|scene| Shown::line(scene.name.as_bytes())).collect();
    let (tour, performer, outbox) = ready(start, script, Depth::True, Speed::AtOnce)?;
    let mut played = Played::default();
    let mut scenes = Vec::new();
    let done = through(tour, performer, start.size, |tour| {
        let (at, scene) = tour.scene();
        let name = Shown::line(scene.name.as_bytes());
        let missing = |spot: &str| shown!("the spot \"{}\" is not on the screen", Shown::line(spot.as_bytes()));
        let stands = tour.stands().map_err(Clone::clone);
        match stands.and_then(|_| tour.missing_spot().map_or(Ok(()), |spot| Err(missing(spot)))) {
            Ok(()) => {
                played.scenes.push(match tour.denied() {
                    Some(denied) => shown!("{} {name}: shown, but {denied}", at + 1),
                    None => shown!("{} {name}: shown", at + 1),
                });
                played.failed += usize::from(tour.denied().is_some());
                let (name, stay) = (file_name(at, &scene.name), tour.stay());
                let caption = Shown::line(scene.caption.as_bytes()).into_string();
                let note = Shown::prose(scene.note.as_bytes()).into_string();
                let (dark, light) = (drawn(tour, "dark", start.size), drawn(tour, "light", start.size));
                let alone = ["dark", "light"].map(|theme| tour.picture(theme, tour.stage_area()));
                scenes.push(StandingScene { name, caption, note, dark, light, alone, stay });
            }
            Err(why) => {
                let screen = drawn(tour, "dark", start.size);
                let rows: Vec<String> = (0..screen.area.height).map(|row| line(&screen, row)).collect();
                let screen = Shown::prose(rows.join("\n").as_bytes());
                let denied = tour.denied().map(|denied| shown!("; {denied}")).unwrap_or_default();
                played.scenes.push(shown!("{} {name}: {why}{denied}\n{screen}", at + 1));
                played.failed += 1;
            }
        }
    });
    outbox.close();
    done?;
    for (at, name) in names.iter().enumerate().skip(played.scenes.len()) {
        played.scenes.push(shown!("{} {name}: not reached, the keys of the scene before end the program", at + 1));
        played.failed += 1;
    }
    if start.writes() && !start.force {
        refuse_private(&scenes)?;
    }
    write(start, &title, &scenes, &mut played.output)?;
    Ok(played)
}

/// Refuses to write screens on which something looks private.
fn refuse_private(scenes: &[StandingScene]) -> Result<(), Shown> {
    let mut hits = PrivateHits::default();
    for scene in scenes {
        let place = shown!("scene {}", Shown::line(scene.name.as_bytes()));
        for text in texts(&scene.dark, scene.dark.area) {
            hits.look(text.as_bytes(), &place);
        }
    }
    refuse_hits(&hits)
}

fn refuse_hits(hits: &PrivateHits) -> Result<(), Shown> {
    let Some(first) = hits.named.first() else { return Ok(()) };
    let (place, what) = (&first.place, first.kind.phrase());
    let look = look_private(hits.count);
    Err(shown!("nothing was written: {look}, the first is {what} in {place}; --force writes it"))
}

fn file_name(at: usize, name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    format!("{:02}-{}", at + 1, name.chars().take(40).map(fits).collect::<String>())
}

/// The screen in a theme.
fn drawn(tour: &mut Tour, theme: &str, (columns, rows): (u16, u16)) -> Buffer {
    let area = Rect::new(0, 0, columns, rows);
    let mut buf = Buffer::empty(area);
    let other = Theme::built_in(theme, Depth::True).unwrap_or_default();
    let own = std::mem::replace(&mut tour.app.looks.theme, other);
    tour.draw_on(area, &mut buf);
    tour.app.looks.theme = own;
    buf
}

/// Runs the program without a terminal; `stands` hears of each scene that is ready, or never will be.
fn through(
    mut tour: Tour,
    mut performer: Performer,
    size: (u16, u16),
    mut stands: impl FnMut(&mut Tour),
) -> Result<(), Shown> {
    let runtime = Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| shown!("cannot play the tour: {}", Shown::error(&error)))?;
    tour.gives_up = true;
    runtime.block_on(async {
        let (sender, mut messages) = mpsc::channel(CHANNEL);
        let mut message = Msg::Start(Size::new(size.0, size.1));
        loop {
            for effect in tour.update(message, Instant::now()) {
                if let Some(Control::Quit(_)) = performer.perform(effect, &sender) {
                    return Ok(());
                }
            }
            if tour.stands().is_err() || tour.stands() == Ok(true) {
                stands(&mut tour);
                message = Msg::Input(Input::Key(KeyEvent::from(KeyCode::Char(' '))));
                continue;
            }
            let wake = tour.wake_at().map_or(DEADLINE, |at| at.saturating_duration_since(Instant::now()));
            message = match timeout(wake.min(DEADLINE), messages.recv()).await {
                Ok(Some(message)) => message,
                Ok(None) => return Err(Shown::own("the tour ended before its last scene")),
                Err(_) => Msg::Tick,
            };
        }
    })
}

/// Writes the files that were asked for; `-` goes to `output`.
fn write(start: &DemoStart, title: &str, scenes: &[StandingScene], output: &mut Vec<u8>) -> Result<(), Failure> {
    let mut save = |path: &Path, bytes: &[u8], is_ours: &dyn Fn(&[u8]) -> bool| {
        if path.as_os_str() == "-" {
            output.extend_from_slice(bytes);
            return Ok(());
        }
        write_export(path, bytes, is_ours)
    };
    if let Some(folder) = &start.svg {
        let _made = export_folder(folder)?;
        for scene in scenes {
            let [dark, light] = &scene.alone;
            let picture = svg(dark, light, &scene.caption);
            let path = folder.join(format!("{}.svg", scene.name));
            write_export(&path, picture.as_bytes(), |head| head.starts_with(picture::BEGIN.as_bytes()))?;
        }
    }
    let handed: Vec<HandoutScene<'_>> = scenes.iter().map(|scene| scene.handout(start.with_notes)).collect();
    if let Some(html) = &start.html {
        save(html, handout::html(title, &handed).as_bytes(), &is_page)?;
    }
    if let Some(md) = &start.md {
        let is_ours = |head: &[u8]| head.starts_with(handout::BEGIN_MARKDOWN.as_bytes());
        save(md, handout::markdown(title, &handed, start.ascii).as_bytes(), &is_ours)?;
    }
    for (file, version) in [(&start.cast, 3), (&start.cast_v2, 2)] {
        if let Some(file) = file {
            let recording = cast(scenes, start.size, version, &Shown::own("stepscope tour")).finish();
            save(file, &recording, &|head| head.starts_with(recording.get(..RECORDING).unwrap_or_default()))?;
        }
    }
    Ok(())
}

/// A frame a scene, each with a mark that is its chapter.
fn cast(scenes: &[StandingScene], size: (u16, u16), version: u64, title: &Shown) -> Recording {
    let mut recording = Recording::new(size, version, title);
    let mut time = Duration::ZERO;
    for scene in scenes {
        recording.event("m", &scene.caption, time);
        recording.event("o", &ansi(&scene.dark), time);
        time += scene.stay;
    }
    recording.event("o", "\u{1b}[0m", time);
    recording
}

/// Makes a picture of the program as it shows a record, or a recording of its steps.
pub fn picture(wanted: &PagePicture<'_>) -> Result<Vec<u8>, Shown> {
    let cannot = |error: std::io::Error| shown!("cannot make a picture: {}", Shown::error(&error));
    let folder = tempfile::tempdir().map_err(cannot)?;
    let path = folder.path().join(wanted.name);
    write_new(&path, wanted.page)?;
    let keys = if wanted.id.is_some() { wanted.keys.to_owned() } else { format!("Enter {}", wanted.keys) };
    let scene = |step: Option<usize>| Scene {
        id: wanted.id.clone(),
        step,
        keys: keys.clone(),
        caption: step.map(|step| format!("step {step}")).unwrap_or_default(),
        ..Scene::default()
    };
    let mut scenes: Vec<Scene> = wanted.steps.iter().map(|step| scene(Some(*step))).collect();
    if scenes.is_empty() {
        scenes.push(scene(None));
    }
    let script = TourScript { records: vec![path], scenes, ..TourScript::default() };
    let start = DemoStart::default();
    let (mut tour, performer, outbox) = ready(&start, script, Depth::True, Speed::AtOnce)?;
    // What is worked out from the record is hidden as well.
    tour.app.review.hide = wanted.hide;
    let (columns, rows) = wanted.size;
    let (mut drawn, mut failed) = (Vec::new(), None);
    let done =
        through(tour, performer, (columns, rows + BAR), |tour| match tour.stands().map(drop).map_err(Clone::clone) {
            Ok(()) => {
                let caption = tour.scene().1.caption.clone();
                let area = Rect::new(0, 0, columns, rows);
                let pictures = match wanted.pane {
                    Some(pane) => tour.pane(pane, !wanted.is_recording),
                    None => Ok(["dark", "light"].map(|theme| tour.picture(theme, area))),
                };
                let [dark, light] = match pictures {
                    Ok(pictures) => pictures,
                    Err(why) => {
                        failed = Some(why);
                        return;
                    }
                };
                let (name, note) = (String::new(), String::new());
                let alone = [dark.clone(), light.clone()];
                drawn.push(StandingScene { name, caption, note, dark, light, alone, stay: STEP_STAY });
            }
            Err(why) => failed = Some(why),
        });
    outbox.close();
    done?;
    let title = shown!("stepscope: {}", Shown::line(wanted.name.as_bytes()));
    match (failed, drawn.as_slice()) {
        (Some(why), _) => Err(why),
        (None, scenes @ [scene, ..]) if wanted.is_recording => {
            let size = (scene.dark.area.width, scene.dark.area.height);
            Ok(cast(scenes, size, 3, &title).finish())
        }
        (None, [scene, ..]) => Ok(svg(&scene.dark, &scene.light, title.as_str()).into_bytes()),
        (None, []) => Err(Shown::own("nothing was drawn")),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::style::{Color, Modifier};
    use stepscope_terminal::colour::Rgb;

    use super::*;

    /// Letters, digits and signs that say something.
    fn is_text(symbol: &str) -> bool {
        symbol.chars().any(|c| c.is_alphanumeric() || "✗✓▲■!•⊘⇒".contains(c))
    }

    /// Lists the texts of a screen with less contrast than is needed to read them.
    fn weak(buf: &Buffer) -> Vec<String> {
        let colour = |colour: Color| match colour {
            Color::Rgb(r, g, b) => Rgb::new(r, g, b),
            other => panic!("{other:?} is no colour of a painted theme"),
        };
        let mut weak = Vec::new();
        for y in 0..buf.area.height {
            for cell in (0..buf.area.width).filter_map(|x| buf.cell((x, y))).filter(|cell| is_text(cell.symbol())) {
                let ratio = colour(cell.fg).contrast(colour(cell.bg));
                if ratio < 4.5 || cell.modifier.contains(Modifier::DIM) {
                    let row = line(buf, y);
                    weak.push(format!("{ratio:.2} {:?} on {:?}: {}", cell.fg, cell.bg, row.trim()));
                }
            }
        }
        weak.dedup();
        weak
    }

    #[test]
    fn every_text_of_every_scene_can_be_read() {
        for size in [(80, 24), (120, 36), (200, 60)] {
            let start = DemoStart { size, ..DemoStart::default() };
            let script = script(&start).unwrap();
            let (mut all, count) = (Vec::new(), script.scenes.len());
            let (tour, performer, outbox) = ready(&start, script, Depth::True, Speed::AtOnce).unwrap();
            let mut seen = 0;
            through(tour, performer, size, |tour| {
                seen += 1;
                for name in ["dark", "light"] {
                    tour.app.looks.theme = Theme::built_in(name, Depth::True).unwrap().painted();
                    let mut led = Buffer::empty(Rect::new(0, 0, size.0, size.1));
                    tour.draw_on(led.area, &mut led);
                    let mut presented = Buffer::empty(tour.stage_area());
                    crate::app::view::draw(&tour.app, presented.area, &mut presented);
                    for (what, buf) in [("in the tour", led), ("while presenting", presented)] {
                        let scene = tour.scene().0 + 1;
                        all.extend(
                            weak(&buf).into_iter().map(|text| format!("{size:?} {scene} {name} {what}: {text}")),
                        );
                    }
                }
            })
            .unwrap();
            outbox.close();
            assert_eq!(seen, count);
            assert!(all.is_empty(), "{} weak:\n{}", all.len(), all.join("\n"));
        }
    }
}
