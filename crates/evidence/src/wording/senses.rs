//! Words that stand for each other in questions and documents, people whom a document speaks to, and words that turn down.

use super::{TextWord, akin};

/// Words of one sense each, by their beginnings, folded; short ones are whole words.
const SENSES: &[&str] = &[
    "provid offer suppl granted get gets receiv obtain available",
    "install mount fitted erected",
    "need requir necessary mandatory compulsory oblig",
    "allow permit authoris authoriz entitl",
    "erlaubt gestattet zulassig",
    "cover insur",
    "propos recommend suggest",
    "fulfil satisf comply complies conform meet meets met",
    "erfull entsprech entspricht",
    "begin begins start starts commenc",
    "transfer assign",
    "purchas buy bought",
    "reimburs refund repaid",
    "detect found",
    "nachgewiesen gefunden",
    "kostenlos gratis kostenfrei unentgeltlich",
    "notwendig erforderlich",
];

/// People of whom a question asks, by the beginning of the word, folded.
const PARTIES: &str = "customer client applicant shareholder member guest user tenant landlord people person participant visitor \
    employee employer passenger patient policyholder buyer seller supplier contractor subscriber borrower lender owner \
    resident student pupil child adult candidate worker kunde mieter vermieter gaste bewerber mitglied arbeitnehmer \
    arbeitgeber client locataire bailleur salarie";

/// Papers that say what a statement says, by the beginning of the word, folded.
const PAPERS: &str =
    "insurance policy agreement contract warranty guarantee lease versicherung vertrag police assurance contrat";

/// Words that keep something out, by their beginnings, folded.
const EXCLUSIONS: &str = "exclud ausgeschlossen prohibit forbidden verboten untersagt interdit";

/// Words that turn something down, by their beginnings, folded.
const REFUSALS: &str =
    "dismiss refus reject declin revok overrul withdrawn abgelehnt abgewiesen zuruckgewiesen rejet debout";

/// Words for what may be turned down, folded.
const PLEAS: &str = "application request motion claim appeal petition proposal bid antrag klage berufung beschwerde demande requete \
    recours solicitud";

fn begins(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|stem| word == stem || (stem.len() >= 5 && word.starts_with(stem)))
}

/// Tells whether two words are forms of one, or say the same in a question and in its answer.
pub(super) fn means(a: &TextWord, b: &TextWord) -> bool {
    akin(&a.folded, &b.folded)
        || SENSES.iter().any(|sense| begins(sense, &a.folded) && begins(sense, &b.folded))
        || are_of_one_name(a, b)
}

/// Tells whether two words with capitals begin alike: "England" and "English".
fn are_of_one_name(a: &TextWord, b: &TextWord) -> bool {
    let shared = a.folded.chars().zip(b.folded.chars()).take_while(|(a, b)| a == b).count();
    a.capital && b.capital && shared >= 4 && a.folded.len().min(b.folded.len()) >= 6
}

/// Tells whether a folded word is one for people whom a document speaks to.
pub(super) fn is_party(word: &str) -> bool {
    begins(PARTIES, word)
}

/// Tells whether a folded word is one for the paper that a statement is of.
pub(super) fn is_paper(word: &str) -> bool {
    begins(PAPERS, word)
}

/// Tells whether a folded word keeps something out.
pub(super) fn excludes(word: &str) -> bool {
    begins(EXCLUSIONS, word)
}

/// Tells whether a folded word says that something must be.
pub(super) fn requires(word: &str) -> bool {
    begins("requir necessary mandatory compulsory obligatory erforderlich notwendig obligatoire necessaire", word)
}

/// Tells whether a folded word turns something down.
pub(super) fn is_refusal(word: &str) -> bool {
    begins(REFUSALS, word)
}

/// Tells whether a folded word is one for what may be turned down.
pub(super) fn pleads(word: &str) -> bool {
    PLEAS.split_whitespace().any(|plea| akin(plea, word))
}

#[cfg(test)]
mod tests {
    use crate::wording::stance;

    #[test]
    fn a_denial_in_other_words_denies() {
        for (question, passage, wanted) in [
            ("Can a guest get towels on Sundays?", "Towels are not provided on Sundays.", Some(false)),
            ("Can a guest get towels on Sundays?", "Towels are provided on Sundays.", Some(true)),
            ("May the lamp be installed outdoors?", "Not to be mounted outdoors.", Some(false)),
            ("Do applicants need a boat licence?", "A boat licence is <em>not</em> required.", Some(false)),
            ("Are employees paid overtime rates?", "Contractors are not paid overtime rates.", None),
            ("Is deep diving covered?", "Cover does not extend to racing or to deep diving.", Some(false)),
            (
                "Was the order of May set aside?",
                "The application to set aside the order of May is dismissed.",
                Some(false),
            ),
            ("Was the application to drill dismissed?", "The application to drill is dismissed.", Some(true)),
            ("Was the application granted?", "The application is dismissed.", Some(false)),
            ("Does the insurance cover earthquakes?", "Earthquakes are excluded from cover.", Some(false)),
            ("Are earthquakes excluded from cover?", "Earthquakes are excluded from cover.", Some(true)),
            ("Must visitors sign the book?", "Signing the book is not required.", Some(false)),
            ("Are overtime hours paid?", "Overtime hours are unpaid.", Some(false)),
            ("Ist der Umtausch möglich?", "Ein Umtausch ist ausgeschlossen.", Some(false)),
            ("Is early repayment free of charge?", "No charge is levied for early repayment.", Some(true)),
            ("Is early repayment free of charge?", "A charge is levied for early repayment.", Some(false)),
        ] {
            assert_eq!(stance(question, passage).map(|stance| stance.agrees), wanted, "{question} {passage}");
        }
    }
}
