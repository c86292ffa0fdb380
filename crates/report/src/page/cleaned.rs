//! A record as others may see it: without what is hidden or redacted, in the record, its document and its reviews.

use std::sync::Arc;

use super::options::PageOptions;
use super::said::Said;
use stepscope_base::json::Tape;
use stepscope_base::text::{Shown, Untrusted};
use stepscope_evidence::document::Document;
use stepscope_evidence::typed::TypedAnswer;
use stepscope_evidence::typed::inline_document;
use stepscope_judge::case::{Case, CaseView, Context, Location};
use stepscope_judge::hide::{Hidden, Hide};
use stepscope_judge::peer::Peer;
use stepscope_record::Record;
use stepscope_redact::{PrivateHits, Redaction, without_passages};

/// Takes out what others are not to see.
#[derive(Clone, Debug)]
pub struct Cleaner {
    /// Parts left out of the record.
    pub hide: Hide,
    /// Private text to take out wherever it is.
    pub redaction: Redaction,
    /// With the words of the document.
    pub passages: bool,
}

/// A record as others may see it.
#[derive(Debug)]
pub struct Cleaned {
    /// The record.
    pub case: Case<'static>,
    /// The document that the record does not hold itself.
    document: Option<Arc<Document>>,
    said: Vec<Said>,
    source: Shown,
    /// Settings by which it was cleaned.
    cleaner: Cleaner,
}

/// Surroundings of a record that others see: its document, its peers, and the name of its source.
#[derive(Debug)]
struct CleanContext {
    document: Option<Arc<Document>>,
    peers: Vec<Arc<Peer>>,
    source: Untrusted<'static>,
}

impl Context for CleanContext {
    fn document(&self, typed: &TypedAnswer<'_>) -> Option<Arc<Document>> {
        self.document.document(typed)
    }

    fn peers(&self, _: &CaseView<'_>) -> Vec<Arc<Peer>> {
        self.peers.clone()
    }

    fn source(&self, _: Option<&Record<'_>>) -> Untrusted<'_> {
        Untrusted::new(self.source.bytes())
    }
}

impl Cleaner {
    /// A record at its place, as others may see it.
    pub fn record(&self, case: &CaseView<'_>) -> Case<'static> {
        let (text, document) = self.text_and_document(case);
        let source = Untrusted::owned(self.redaction.text(case.source().bytes()).into_owned());
        let mut tape = Tape::default();
        tape.read(&text);
        let origin = Location { line: case.line(), ..Location::default() };
        Case::of(text, tape, origin, Arc::new(CleanContext { document, peers: self.peers(case), source }))
    }

    /// The other runs of its question, without their folders, which are private; none where they would tell what is
    /// hidden.
    fn peers(&self, case: &CaseView<'_>) -> Vec<Arc<Peer>> {
        if self.hide.hides_fix() {
            return Vec::new();
        }
        let name = |peer: &Peer| Shown::line(&self.redaction.text(peer.name.last_part().as_str().as_bytes()));
        case.peers().iter().map(|peer| Arc::new(peer.called(name(peer)))).collect()
    }

    /// The text of a record, and the document that it does not hold itself.
    fn text_and_document(&self, case: &CaseView<'_>) -> (Vec<u8>, Option<Arc<Document>>) {
        let text = self.hide.mask(case.text());
        let text = if self.passages { text } else { without_passages(&text).into_owned().into() };
        let text = self.redaction.record(&text).into_owned();
        let holds_it = case.typed().is_some_and(|typed| inline_document(typed).is_some());
        let document = case.document().filter(|_| self.passages && !holds_it);
        let clean = |document: &Arc<Document>| match self.redaction.is_empty() {
            true => document.clone(),
            false => Arc::new(self.redaction.document(document)),
        };
        (text, document.map(clean))
    }

    /// A record with what was said of it, and where it stood, as others may see it.
    pub fn clean(&self, case: &CaseView<'_>, mut said: Vec<Said>, source: &[u8]) -> Cleaned {
        let (text, document) = self.text_and_document(case);
        // A correction is the expected answer in other words.
        for said in said.iter_mut().filter(|_| self.hide.has(Hidden::Gold)) {
            (said.gold, said.correction) = (None, None);
        }
        for text in said.iter_mut().flat_map(Said::texts_mut) {
            *text = Untrusted::owned(self.redaction.text(text.bytes()).into_owned());
        }
        let source = Shown::line(&self.redaction.text(source));
        let around = CleanContext { document: document.clone(), peers: self.peers(case), source: Untrusted::default() };
        let mut cleaned = Case::around(text, Arc::new(around));
        if !self.passages {
            cleaned.take_route(case.routed().cloned());
        }
        let known = case.findings();
        cleaned.hide(self.hide, |rule| known.iter().any(|known| known.rule == rule));
        Cleaned { case: cleaned, document, said, source, cleaner: self.clone() }
    }
}

impl Cleaned {
    /// Builds the options of its page. `step`: the one in question, from 0.
    pub fn options(&self, step: Option<usize>, version: &'static str) -> PageOptions<'_> {
        PageOptions {
            step,
            source: self.source.clone(),
            passages: self.cleaner.passages,
            hide: self.cleaner.hide,
            redacted: self.cleaner.redaction.names(),
            said: &self.said,
            version,
            ascii: false,
        }
    }

    /// Finds what still looks private in it.
    pub fn private(&self) -> PrivateHits {
        let mut hits = PrivateHits::default();
        hits.look_in_record(self.case.text());
        if let Some(document) = &self.document {
            hits.look(document.text(0..document.len()), &Shown::own("document"));
            for heading in document.toc() {
                hits.look(&heading.title, &Shown::own("table of contents"));
            }
        }
        for text in self.said.iter().flat_map(Said::texts) {
            hits.look(text.bytes(), &Shown::own("reviews"));
        }
        hits.look(self.source.as_str().as_bytes(), &Shown::own("file name"));
        hits
    }
}
