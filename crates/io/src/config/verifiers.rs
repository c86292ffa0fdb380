//! Verifiers as they are asked for: by options, or in a TOML file.
//!
//! ```toml
//! # A chain: every [[stage]] is a verifier with its options. Without weights each counts alike.
//! [[stage]]
//! verifier = "json_schema"
//! schema = "answer.schema.json"     # beside this file; or the schema itself as a table
//! weight = 0.7
//!
//! [[stage]]
//! verifier = "polite"               # a name from below
//! weight = 0.3
//!
//! [verifiers.polite]
//! verifier = "regex_format"
//! pattern = "(?i)please"
//! ```

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

use crate::failure::Failure;
use crate::pipeline::verify::Judge;
use crate::source::beneath::{UnderRoot, folder};
use crate::source::open::{read_small, read_small_beneath, read_small_text};
use stepscope_base::json::{Kind, Tape, Value};
use stepscope_base::pyregex::Pattern;
use stepscope_base::schema::Schema;
use stepscope_base::shown;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_execution::verify::bleu::References;
use stepscope_execution::verify::{Bleu, Chain, FieldPath, THRESHOLD, Verifier};

const USE: &str = "cannot use";
/// Largest file that may be a schema or a reference; larger ones were not written by people.
const MAX_FILE: u64 = 16 << 20;
/// Largest file of verifiers: the parser takes fifty times as much.
const MAX_TOML: u64 = 1 << 20;
/// Length up to which a pattern is quoted.
const MAX_SAID: usize = 200;
/// Names may lead to names, but not in circles.
const MAX_NESTING: usize = 8;
/// Number of verifiers that may be built of one file.
const MAX_STAGES: usize = 1000;

/// Names of the kinds of verifiers.
pub const KINDS: [&str; 5] = ["json_structure", "json_schema", "regex_format", "bleu", "chained"];

/// Choice of a verifier.
#[derive(Clone, PartialEq, Debug)]
pub enum VerifierChoice {
    /// A kind with its options, or a name in a file of verifiers.
    Verifier(Box<Spec>, Option<PathBuf>),
    /// A file with a chain.
    Chain(PathBuf),
}

/// A verifier as it is asked for. Which options there are depends on its kind; what is left out has a default.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Kind of the verifier, one of [`KINDS`], or a name in the file.
    pub verifier: String,
    /// Name for people, in a chain.
    pub name: Option<String>,
    /// Weight of its reward, in a chain.
    pub weight: Option<f64>,
    /// `chained`: the stages.
    #[serde(default)]
    pub stages: Vec<Spec>,
    /// `json_schema`: a file, or the schema itself.
    pub schema: Option<toml::Value>,
    /// `json_schema`, `regex_format`: whether what is nearly right is worth a half.
    pub partial_credit: Option<bool>,
    /// `regex_format`: in the syntax of Python's `re`.
    pub pattern: Option<String>,
    /// `regex_format`: the pattern must match the whole text.
    pub full_match: Option<bool>,
    /// `bleu`: texts.
    #[serde(default, deserialize_with = "one_or_many")]
    pub references: Vec<String>,
    /// `bleu`: a file of texts, a JSON list or one per line.
    pub references_file: Option<PathBuf>,
    /// `bleu`: where each record holds its own.
    pub references_field: Option<String>,
    /// `bleu`: passes from this score on.
    #[serde(alias = "success_threshold")]
    pub threshold: Option<f64>,
    /// `bleu`: orders that the text is too short for do not count.
    pub effective_order: Option<bool>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    stage: Vec<Spec>,
    #[serde(default)]
    verifiers: BTreeMap<String, Spec>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a string or a list of strings")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(text) => vec![text],
        OneOrMany::Many(texts) => texts,
    })
}

/// Builds the judge that was asked for: a verifier, and the place of the completions.
pub fn judge(wanted: &VerifierChoice, field: &str) -> Result<Judge, Failure> {
    Ok(Judge { verifier: build(wanted)?, field: FieldPath::new(field) })
}

/// Makes the verifier that was asked for, or says what is wrong with it.
pub fn build(asked: &VerifierChoice) -> Result<Verifier, Failure> {
    match asked {
        VerifierChoice::Chain(path) => {
            let file = File::read(path)?;
            Builder::new(path, &file.verifiers)?.chain(&file.stage, 0).map_err(|why| refused(path, why))
        }
        VerifierChoice::Verifier(spec, Some(path)) => {
            let file = File::read(path)?;
            Builder::new(path, &file.verifiers)?.verifier(spec, 0).map_err(|why| refused(path, why))
        }
        VerifierChoice::Verifier(spec, None) => {
            // Options of the command line name files from where one stands.
            let mut builder = Builder { folder: None, named: &BTreeMap::new(), built: 0 };
            let name = || shown!("the verifier {}", Shown::line(spec.verifier.as_bytes()));
            builder.verifier(spec, 0).map_err(|why| Failure { what: USE, path: name(), source: why })
        }
    }
}

fn refused(path: &Path, why: Shown) -> Failure {
    Failure { what: USE, path: Shown::path(path), source: why }
}

impl File {
    fn read(path: &Path) -> Result<Self, Failure> {
        let text = read_small_text(path, MAX_TOML, USE)?;
        toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = super::line_of(&text, at);
            let path = shown!("{}, line {line}", Shown::path(path));
            let why = Shown::line(error.message().as_bytes());
            Failure { what: USE, path, source: if is_meant(&text) { why } else { no_verifiers(&why) } }
        })
    }
}

/// Says what a file that is something else should hold.
fn no_verifiers(why: &Shown) -> Shown {
    shown!(
        "not a verifier file ({why}). Write [[stage]] or [verifiers.NAME] tables in TOML, as in stepscope verify --help"
    )
}

/// Tells whether a text looks like a file of verifiers: people who wrote one know what belongs there.
fn is_meant(text: &str) -> bool {
    text.contains("[stage]") || text.contains("[verifiers.")
}

struct Builder<'f> {
    /// The folder of the file that names others. `None`: options name them.
    folder: Option<UnderRoot>,
    named: &'f BTreeMap<String, Spec>,
    built: usize,
}

impl<'f> Builder<'f> {
    fn new(file: &Path, named: &'f BTreeMap<String, Spec>) -> Result<Self, Failure> {
        let root = UnderRoot::root(folder(file)).map_err(|error| Failure::system(USE, file, &error))?;
        Ok(Self { folder: Some(root), named, built: 0 })
    }

    fn chain(&mut self, stages: &[Spec], depth: usize) -> Result<Verifier, Shown> {
        let mut built = Vec::with_capacity(stages.len());
        for (n, stage) in stages.iter().enumerate() {
            let name = stage.name.as_ref().unwrap_or(&stage.verifier);
            let fail = |why: Shown| shown!("stage {}, {}: {why}", n + 1, Shown::line(name.as_bytes()));
            let verifier = self.verifier(stage, depth + 1).map_err(fail)?;
            built.push((Shown::line(name.as_bytes()), verifier, stage.weight));
        }
        Chain::new(built).map(Verifier::Chained).map_err(|why| Shown::error(&why))
    }

    fn verifier(&mut self, spec: &Spec, depth: usize) -> Result<Verifier, Shown> {
        self.built += 1;
        if depth > MAX_NESTING || self.built > MAX_STAGES {
            return Err(Shown::own("verifiers refer to each other in a circle, or there are more than 1000"));
        }
        if !KINDS.contains(&spec.verifier.as_str()) {
            return self.named(spec, depth);
        }
        spec.takes(match spec.verifier.as_str() {
            "json_schema" => &["schema", "partial_credit"],
            "regex_format" => &["pattern", "full_match", "partial_credit"],
            "bleu" => &["references", "references_file", "references_field", "threshold", "effective_order"],
            "chained" => &["stages"],
            _ => &[],
        })?;
        match spec.verifier.as_str() {
            "json_schema" => Ok(Verifier::JsonSchema {
                schema: self.schema(spec.schema.as_ref())?,
                partial_credit: spec.partial_credit.unwrap_or(true),
            }),
            "regex_format" => {
                let text = spec.pattern.as_deref().filter(|pattern| !pattern.is_empty());
                let text = text.ok_or(Shown::own("it needs a pattern"))?;
                let pattern = Pattern::new(text)
                    .map_err(|why| shown!("invalid pattern {}: {why}", Shown::line(text.as_bytes()).cut(MAX_SAID)))?;
                Ok(Verifier::RegexFormat {
                    pattern: Box::new(pattern),
                    full_match: spec.full_match.unwrap_or(false),
                    partial_credit: spec.partial_credit.unwrap_or(false),
                })
            }
            "bleu" => self.bleu(spec).map(Verifier::Bleu),
            "chained" => self.chain(&spec.stages, depth),
            _ => Ok(Verifier::JsonStructure),
        }
    }

    fn named(&mut self, spec: &Spec, depth: usize) -> Result<Verifier, Shown> {
        let Some(named) = self.named.get(&spec.verifier) else {
            let own = self.named.keys().map(|name| shown!(", {}", Shown::line(name.as_bytes())));
            let all = own.fold(shown!("{}", KINDS.join(", ")), |all, name| all.join(&name));
            return Err(shown!("unknown verifier (available: {all})"));
        };
        spec.takes(&[])?;
        self.verifier(named, depth + 1)
    }

    /// Reads a file that the verifier names. A person named the file of verifiers and so answers for its text: an
    /// absolute name or one with `..` leads where it says. Any other name is beneath its folder, where others may have
    /// put a link.
    fn read(&self, path: &Path, what: &'static str) -> Result<Vec<u8>, Shown> {
        let read = match &self.folder {
            None => read_small(path, MAX_FILE, what),
            Some(folder) if leads_out(path) => read_small(folder.join(path).path(), MAX_FILE, what),
            Some(folder) => read_small_beneath(&folder.join(path), MAX_FILE, what),
        };
        read.map_err(Shown::from)
    }

    fn schema(&self, schema: Option<&toml::Value>) -> Result<Option<Box<Schema>>, Shown> {
        let text = match schema {
            None => return Err(Shown::own("it needs a schema")),
            Some(toml::Value::String(path)) => self.read(Path::new(path), "cannot read the schema")?,
            Some(table) => serde_json::to_vec(table).map_err(|why| Shown::error(&why))?,
        };
        let mut tape = Tape::default();
        // As in the package that gives these rewards, an empty schema asks for JSON and nothing else.
        if tape.parse(&text).is_some_and(|value| value.kind() == Kind::Object && value.is_empty()) {
            return Ok(None);
        }
        let schema = Schema::compile_as_declared(&text).map_err(|why| Shown::error(&why))?;
        Ok(Some(Box::new(schema)))
    }

    fn bleu(&self, spec: &Spec) -> Result<Bleu, Shown> {
        let threshold = spec.threshold.unwrap_or(THRESHOLD);
        if !threshold.is_finite() {
            return Err(Shown::own("its threshold is not a finite number"));
        }
        let mut texts: Vec<Untrusted<'_>> = spec.references.iter().map(|text| Untrusted::from(text.as_str())).collect();
        let read;
        if let Some(path) = &spec.references_file {
            read = self.read(path, "cannot read the references")?;
            texts.extend(references(&read)?);
        }
        let references = References::new(texts.iter().map(Untrusted::bytes)).map_err(|why| Shown::error(&why))?;
        let field = spec.references_field.as_deref().map(FieldPath::new);
        if references.is_empty() && field.is_none() {
            return Err(Shown::own("it needs references, references_file or references_field"));
        }
        Ok(Bleu { references, field, threshold, effective_order: spec.effective_order.unwrap_or(false) })
    }
}

/// Tells whether a name says by itself that it leads out of its folder.
fn leads_out(name: &Path) -> bool {
    name.is_absolute() || name.components().any(|part| part == Component::ParentDir)
}

/// Reads a JSON text or list of texts; of anything else every line that is not blank.
fn references(bytes: &[u8]) -> Result<Vec<Untrusted<'static>>, Shown> {
    let mut tape = Tape::default();
    let Some(root) = tape.parse(bytes).filter(|root| matches!(root.kind(), Kind::Array | Kind::String)) else {
        let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        return Ok(lines.filter(|line| !line.is_empty()).map(|line| Untrusted::owned(line.to_vec())).collect());
    };
    let texts: Vec<Value<'_>> = if root.kind() == Kind::Array { root.items().collect() } else { vec![root] };
    let text = |value: Value<'_>| value.string().map(Untrusted::into_owned);
    texts.into_iter().map(text).collect::<Option<_>>().ok_or(Shown::own("its references_file must hold strings only"))
}

impl Spec {
    /// Refuses options that say nothing to this verifier.
    fn takes(&self, known: &[&str]) -> Result<(), Shown> {
        let given = [
            ("stages", !self.stages.is_empty()),
            ("schema", self.schema.is_some()),
            ("partial_credit", self.partial_credit.is_some()),
            ("pattern", self.pattern.is_some()),
            ("full_match", self.full_match.is_some()),
            ("references", !self.references.is_empty()),
            ("references_file", self.references_file.is_some()),
            ("references_field", self.references_field.is_some()),
            ("threshold", self.threshold.is_some()),
            ("effective_order", self.effective_order.is_some()),
        ];
        match given.iter().find(|(name, given)| *given && !known.contains(name)) {
            Some((name, _)) => Err(shown!("it has no option {name}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stepscope_execution::verify::Candidate;

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn write(&self, name: &str, text: &str) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        }

        fn chain(&self, text: &str) -> Result<Verifier, String> {
            build(&VerifierChoice::Chain(self.write("chain.toml", text))).map_err(|failure| failure.to_string())
        }

        /// Explains why a chain cannot be used, without the path.
        fn refusal(&self, text: &str) -> String {
            let sentence = self.chain(text).unwrap_err();
            sentence.split_once("chain.toml").unwrap().1.to_owned()
        }
    }

    fn reward(verifier: &Verifier, text: &str) -> f64 {
        let (mut tape, mut inner) = (Tape::default(), Tape::default());
        let record = tape.parse(b"{}").unwrap();
        verifier.verify(Candidate { text: text.as_bytes(), record }, &mut inner).reward
    }

    fn named(name: &str, file: &Path) -> Result<Verifier, Failure> {
        build(&VerifierChoice::Verifier(
            Box::new(Spec { verifier: name.into(), ..Spec::default() }),
            Some(file.to_owned()),
        ))
    }

    #[test]
    fn a_chain_is_read_with_files_beside_it() {
        let folder = Folder::new();
        folder.write("s.json", r#"{"type": "object"}"#);
        folder.write("r.txt", "{\"a\": 1}\r\n\nother\n");
        let text = r#"
            [[stage]]
            verifier = "json_schema"
            schema = "s.json"
            weight = 0.5
            [[stage]]
            name = "holds a"
            verifier = "a"
            weight = 0.25
            [[stage]]
            verifier = "bleu"
            references_file = "r.txt"
            references = "more"
            success_threshold = 0.9
            weight = 0.25
            [verifiers.a]
            verifier = "regex_format"
            pattern = "a"
        "#;
        let verifier = folder.chain(text).unwrap();
        assert!((reward(&verifier, "{\"a\": 1}") - 1.0).abs() < 1e-9);
        assert!((reward(&verifier, "{\"a\": 2, \"c\": 3}") - 0.75).abs() < 1e-9);
        let Verifier::Chained(chain) = &verifier else { panic!("{verifier:?}") };
        let names: Vec<_> = chain.stages().iter().map(|stage| stage.name.as_str()).collect();
        assert_eq!(names, ["json_schema", "holds a", "bleu"]);
    }

    #[test]
    fn a_chain_leads_where_it_says_and_through_no_link() {
        let folder = Folder::new();
        let other = Folder::new();
        let outside = other.write("s.json", r#"{"type": "object"}"#);
        let linked = |name: &str, to: &Path| {
            std::os::unix::fs::symlink(to, folder.write("x", "").with_file_name(name)).unwrap();
        };
        linked("link.json", &outside);
        linked("way", outside.parent().unwrap());
        linked("named.toml", &folder.write("own.toml", "[[stage]]\nverifier = \"json_structure\"\n"));
        let up = format!("../{}/s.json", outside.parent().unwrap().file_name().unwrap().to_str().unwrap());
        let chain = |name: &str| {
            folder.chain(&format!("[[stage]]\nverifier = \"json_schema\"\nschema = \"{name}\"\npartial_credit = false"))
        };
        for name in [outside.to_str().unwrap(), &up] {
            assert!(reward(&chain(name).unwrap(), "[]") < 1e-9, "{name}");
        }
        for name in ["link.json", "way/s.json", "./link.json"] {
            let why = chain(name).unwrap_err();
            assert!(why.contains("symbolic link"), "{name}: {why}");
        }
        assert!(build(&VerifierChoice::Chain(folder.0.path().join("named.toml"))).is_ok(), "a person may name a link");
    }

    #[test]
    fn what_is_no_schema_is_not_told() {
        let folder = Folder::new();
        for text in [
            "aws_secret = SECRET",
            "SECRET",
            "\"SECRET\"",
            "[\"SECRET\"]",
            "{\"a\": SECRET}",
            "{\"type\": \"SECRET\"}",
            "{\"type\": \"object\", \"required\": \"SECRET\"}",
            "{\"properties\": {\"a\": \"SECRET\"}}",
            "{\"pattern\": \"(SECRET\"}",
            "{\"$schema\": \"http://SECRET/\"}",
            "{\"$ref\": \"file:///SECRET\"}",
            "{\"minLength\": \"SECRET\"}",
            "{\"enum\": \"SECRET\"}",
        ] {
            folder.write("s.json", text);
            for verifier in
                ["verifier = \"json_schema\"\nschema", "verifier = \"bleu\"\nthreshold = nan\nreferences_file"]
            {
                let made = folder.chain(&format!("[[stage]]\n{verifier} = \"s.json\"\n"));
                let why = made.err().unwrap_or_default();
                assert!(!why.contains("SECRET"), "{text}: {why}");
            }
        }
    }

    #[test]
    fn verifiers_have_names_and_may_be_chains_themselves() {
        let folder = Folder::new();
        let file = folder.write(
            "v.toml",
            r#"
            [verifiers.both]
            verifier = "chained"
            stages = [{ verifier = "json_structure" }, { verifier = "short" }]
            [verifiers.short]
            verifier = "json_schema"
            schema = { maxItems = 1 }
            partial_credit = false
            "#,
        );
        assert!((reward(&named("both", &file).unwrap(), "[1, 2]") - 0.5).abs() < 1e-9);
        assert!(reward(&named("short", &file).unwrap(), "[1, 2]") < 1e-9);
        assert!(reward(&named("json_structure", &file).unwrap(), "[1, 2]") > 0.9);
        let failure = named("long", &file).unwrap_err().to_string();
        assert!(
            failure.ends_with("(available: json_structure, json_schema, regex_format, bleu, chained, both, short)")
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let folder = Folder::new();
        let stage = |rest: &str| folder.refusal(&format!("[[stage]]\n{rest}"));
        assert!(stage("verifier = \"bleu\"\nwieght = 1").starts_with(", line 3: unknown field `wieght`"));
        assert!(stage("verifier = 3").starts_with(", line 2: "));
        for (other, why) in [("{\"id\": 1}\n", "expected key"), ("[model]\nname = \"x\"", "unknown field `model`")] {
            let why =
                [", line 1: not a verifier file", why, "Write [[stage]] or [verifiers.NAME]"].map(ToOwned::to_owned);
            let said = folder.refusal(other);
            assert!(why.iter().all(|part| said.contains(part)), "{said}");
        }
        assert_eq!(folder.refusal(""), ": a chain needs at least one stage");
        assert_eq!(stage("verifier = \"json_schema\""), ": stage 1, json_schema: it needs a schema");
        assert!(stage("verifier = \"json_schema\"\nschema = \"none.json\"").contains("no such file"));
        assert!(stage("verifier = \"json_schema\"\nschema = { type = \"text\" }").contains("not a usable JSON Schema"));
        assert_eq!(
            stage("name = \"x\"\nverifier = \"regex_format\"\npattern = \"(\""),
            ": stage 1, x: invalid pattern (: group not closed, at character 1"
        );
        assert_eq!(
            stage("verifier = \"json_structure\"\npattern = \"a\""),
            ": stage 1, json_structure: it has no option pattern"
        );
        assert!(stage("verifier = \"bleu\"").contains("it needs references"));
        assert!(stage("verifier = \"bleu\"\nreferences = \"a\"\nthreshold = inf").contains("not a finite number"));
        for weight in ["nan", "-0.5", "1001"] {
            let text = format!("verifier = \"json_structure\"\nweight = {weight}");
            assert!(stage(&text).contains("a weight must be"), "{weight}");
        }
    }

    #[test]
    fn names_that_lead_in_a_circle_or_to_too_many_end() {
        let folder = Folder::new();
        let circle = "[[stage]]\nverifier = \"a\"\n[verifiers.a]\nverifier = \"b\"\n[verifiers.b]\nverifier = \"a\"";
        assert!(folder.refusal(circle).contains("in a circle"));
        let ten = "{ verifier = \"NAME\" }, ".repeat(10);
        let level = |n: usize| {
            let stages = ten.replace("NAME", &format!("v{}", n + 1));
            format!("[verifiers.v{n}]\nverifier = \"chained\"\nstages = [{stages}]\n")
        };
        let levels: String = (0..5).map(level).collect();
        let many = format!("[[stage]]\nverifier = \"v0\"\n{levels}[verifiers.v5]\nverifier = \"json_structure\"");
        assert!(folder.refusal(&many).contains("more than 1000"));
    }

    #[test]
    fn references_are_a_json_list_or_lines() {
        let texts = |text: &str| -> Result<Vec<String>, Shown> {
            let texts = references(text.as_bytes())?;
            Ok(texts.iter().map(|text| text.line().into_string()).collect())
        };
        assert_eq!(texts("[\"a b\", \"c\"]").unwrap(), ["a b", "c"]);
        assert_eq!(texts("\"a\"").unwrap(), ["a"]);
        assert_eq!(texts("a b\r\n\nc").unwrap(), ["a b", "c"]);
        assert_eq!(texts("{\"a\": 1}").unwrap(), ["{\"a\": 1}"]);
        assert!(texts("[\"a\", 1]").is_err());
    }
}
