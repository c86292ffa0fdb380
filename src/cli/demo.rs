//! `stepscope demo`: its options. The screen shows it.

use std::path::PathBuf;

/// Show a tour of the program: Space for the next scene
///
/// With --check, --svg, --cast, --html or --md it runs without a terminal. Exit code: 0 done, 1 a scene could not be shown, 2
/// something could not be done.
#[derive(clap::Args, Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line are bools")]
pub struct DemoArgs {
    /// The tour [default: the built-in one, over the sample runs]; with --record, the records
    #[arg(value_name = "TOUR.toml")]
    pub paths: Vec<PathBuf>,
    /// Write a tour from what you do on the screen: F2 keeps it as a scene
    #[arg(long, value_name = "FILE", conflicts_with_all = ["check", "svg", "cast", "cast_v2", "html", "md", "notes"])]
    pub record: Option<PathBuf>,
    /// Play it without a terminal and fail where a scene is not reached
    #[arg(long)]
    pub check: bool,
    /// Write a picture of each scene into a folder: SVG, light and dark in one
    #[arg(long, value_name = "DIR")]
    pub svg: Option<PathBuf>,
    /// Write a recording for asciinema players (version 3)
    #[arg(long, value_name = "FILE")]
    pub cast: Option<PathBuf>,
    /// The same in version 2
    #[arg(long, value_name = "FILE")]
    pub cast_v2: Option<PathBuf>,
    /// Write a page of all scenes: pictures, and the screens as text; `-` is standard output
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The same as Markdown
    #[arg(long, value_name = "FILE")]
    pub md: Option<PathBuf>,
    /// Show the presenter's notes to the tour that runs in another terminal
    #[arg(long, conflicts_with_all = ["paths", "check", "svg", "cast", "cast_v2", "html", "md"])]
    pub notes: bool,
    /// Put the presenter's notes into the page and the Markdown
    #[arg(long)]
    pub with_notes: bool,
    /// Columns and rows without a terminal
    #[arg(long, value_name = "COLSxROWS", default_value = "100x30", value_parser = size)]
    pub size: (u16, u16),
    /// Open the tour's records and its recording also outside of its folder
    #[arg(long)]
    pub trust: bool,
    /// Write files even though something in them looks private
    #[arg(long)]
    pub force: bool,
    /// Draws ASCII characters only
    #[arg(skip)]
    pub ascii: bool,
    /// Theme: dark, light, high-contrast, mono
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,
}

impl DemoArgs {
    /// Tells whether no terminal is needed.
    pub fn is_headless(&self) -> bool {
        let files = [&self.svg, &self.cast, &self.cast_v2, &self.html, &self.md];
        self.check || files.into_iter().any(Option::is_some)
    }
}

pub(super) fn size(word: &str) -> Result<(u16, u16), &'static str> {
    let sides = word.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
    sides
        .filter(|(columns, rows)| (40..=400).contains(columns) && (12..=200).contains(rows))
        .ok_or("use COLUMNSxROWS, from 40x12 to 400x200")
}
