use super::{ItemSupport, ValueStanding};
use crate::case::Case;
use serde_json::{Value as Json, json};

/// The standing of one item over lines; its quote is the line, or there is none.
pub(super) fn standing(question: &str, lines: &[&str], item: Json) -> ValueStanding {
    compared(question, lines, item).standing
}

/// Tells whether the question is found to name another value than that of one item.
pub(super) fn doubted(question: &str, lines: &[&str], item: Json) -> bool {
    let support = compared(question, lines, item);
    assert_eq!(support.standing, ValueStanding::Stands, "{question}");
    support.doubt.is_some()
}

/// The same of an item that cites one line of several.
pub(super) fn doubted_at(question: &str, lines: &[&str], line: usize, item: Json) -> bool {
    let mut item = item;
    item["spans"] = json!([{"line_start": line, "line_end": line, "quote": lines[line]}]);
    let trace = json!({
        "format": "stepscope.answer_trace", "question": question, "document": {"lines": lines},
        "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [item]},
    });
    let text = trace.to_string();
    let support = Case::read(text.as_bytes()).view().supports()[0].clone();
    assert_eq!(support.standing, ValueStanding::Stands, "{question}");
    support.doubt.is_some()
}

fn compared(question: &str, lines: &[&str], item: Json) -> ItemSupport {
    let spans: Vec<Json> =
        (0..lines.len()).map(|n| json!({"line_start": n, "line_end": n, "quote": lines[n]})).collect();
    let mut item = item;
    item["spans"] = json!(spans);
    let trace = json!({
        "format": "stepscope.answer_trace", "question": question, "document": {"lines": lines},
        "answer": {"extraction_method": "verbatim", "answer_found": true, "items": [item]},
    });
    let text = trace.to_string();
    Case::read(text.as_bytes()).view().supports()[0].clone()
}

fn amount(value: f64, currency: &str, unit: Option<&str>) -> Json {
    json!({"amount": {"value": value, "currency": currency, "unit": unit}})
}

#[test]
fn an_amount_stands_by_number_currency_and_period() {
    let rent = ["The monthly rent is EUR 84.50, due within 14 days."];
    for (item, wanted) in [
        (amount(84.5, "EUR", Some("per month")), ValueStanding::Stands),
        (amount(84.5, "EUR", None), ValueStanding::Stands),
        (amount(84.6, "EUR", None), ValueStanding::Missing),
        (amount(84.5, "USD", None), ValueStanding::Missing),
        (amount(84.5, "EUR", Some("per week")), ValueStanding::Missing),
        (amount(14.0, "EUR", None), ValueStanding::Missing),
        (amount(-84.5, "EUR", None), ValueStanding::Missing),
    ] {
        assert_eq!(standing("What is the rent?", &rent, item.clone()), wanted, "{item}");
    }
    let german = ["Der Umsatz beträgt 1.250,50 EUR."];
    assert_eq!(standing("?", &german, amount(1250.5, "EUR", None)), ValueStanding::Stands);
    assert_eq!(standing("?", &german, amount(1.2505, "EUR", None)), ValueStanding::Missing);
    let large = ["The loan is EUR 400 million."];
    assert_eq!(standing("?", &large, amount(400e6, "EUR", None)), ValueStanding::Stands);
    assert_eq!(standing("?", &large, amount(400.0, "EUR", Some("million"))), ValueStanding::Stands);
    assert_eq!(standing("?", &large, amount(400.0, "EUR", None)), ValueStanding::Missing);
}

#[test]
fn a_date_stands_in_any_writing() {
    let date = |iso: &str| json!({"date": {"iso": iso, "original": iso}});
    for line in [
        "Begin: 3 June 2024",
        "Begin: June 3rd, 2024",
        "Beginn: 03.06.2024",
        "Beginn: 3. Juni 2024",
        "Début: 3 juin 2024",
    ] {
        assert_eq!(standing("?", &[line], date("2024-06-03")), ValueStanding::Stands, "{line}");
        assert_eq!(standing("?", &[line], date("2024-06-04")), ValueStanding::Missing, "{line}");
    }
    assert_eq!(standing("?", &["From 06/03/2024"], date("2024-03-06")), ValueStanding::Stands);
    assert_eq!(standing("?", &["From 06/03/2024 to 25/03/2024"], date("2024-06-03")), ValueStanding::Missing);
}

#[test]
fn a_text_stands_by_its_numbers_negations_and_names() {
    let line = ["The warranty of Miller does not cover water damage within 26 weeks of 15 March 2024."];
    for (text, wanted) in [
        ("does not cover water damage", ValueStanding::Stands),
        ("Water damage is not covered by the warranty.", ValueStanding::Stands),
        ("The warranty covers water damage.", ValueStanding::Missing),
        ("26 weeks", ValueStanding::Stands),
        ("26 months", ValueStanding::Missing),
        ("2024-03-15", ValueStanding::Stands),
        ("No cover for damage by liquids", ValueStanding::Paraphrased),
        ("The warranty of Baker does not cover water damage.", ValueStanding::Missing),
    ] {
        assert_eq!(standing("What is said?", &line, json!({"text": text})), wanted, "{text}");
    }
}

#[test]
fn a_yes_or_no_is_compared_where_that_can_be_proven() {
    let truth = |question: &str, line: &str, yes: bool| standing(question, &[line], json!({"boolean": yes}));
    for (question, line, right) in [
        ("Is the premium above USD 1,000?", "Premium: USD 900", false),
        ("Is the premium at least USD 900?", "Premium: USD 900", true),
        ("Is the premium more than USD 900?", "Premium: USD 900", false),
        ("Does the cover end before 1 May 2025?", "The cover ends on 30 April 2025.", true),
        ("Is the storage below -10 °C?", "Storage: -18 °C", true),
        ("Is frost covered?", "Frost is not covered.", false),
    ] {
        assert_eq!(truth(question, line, right), ValueStanding::Stands, "{question}");
        assert_eq!(truth(question, line, !right), ValueStanding::Missing, "{question}");
    }
    assert_eq!(truth("Is the premium above EUR 1,000?", "Premium: USD 900", true), ValueStanding::Paraphrased);
    assert_eq!(truth("Is frost covered?", "Frost is covered if the house is heated.", false), ValueStanding::Unchecked);
}

#[test]
fn cells_stand_in_the_line_and_column_of_their_row() {
    let lines = ["Item | Limit | Excess", "Bicycles | £1,000 | £50", "Laptops | £1,500 | £75"];
    let table = |rows: Json| {
        standing(
            "Which limits are there?",
            &lines,
            json!({"table": {"headers": ["Item", "Limit", "Excess"], "rows": rows}}),
        )
    };
    assert_eq!(table(json!([["Bicycles", "£1,000", "£50"], ["Laptops", "£1,500", "£75"]])), ValueStanding::Stands);
    for wrong in [
        json!([["Bicycles", "£1,100", "£50"], ["Laptops", "£1,500", "£75"]]),
        json!([["Bicycles", "£1,500", "£50"], ["Laptops", "£1,500", "£75"]]),
        json!([["Bicycles", "£50", "£1,000"], ["Laptops", "£1,500", "£75"]]),
    ] {
        assert_eq!(table(wrong.clone()), ValueStanding::Missing, "{wrong}");
    }
}

#[test]
fn every_part_of_an_address_stands() {
    let line = ["The insurer is Northern Mutual, 12 Quay Road, Leeds, LS1 4QA, UK."];
    let address = |street: &str, city: &str| {
        standing(
            "?",
            &line,
            json!({"address": {"street": street, "postal_code": "LS1 4QA", "city": city, "country": "United Kingdom"}}),
        )
    };
    assert_eq!(address("12 Quay Rd", "Leeds"), ValueStanding::Stands);
    assert_eq!(address("21 Quay Road", "Leeds"), ValueStanding::Missing);
    assert_eq!(address("12 Quay Road", "York"), ValueStanding::Missing);
}

#[test]
fn a_question_may_name_another_column_row_or_number() {
    let table = ["Ticket      CHF      EUR", "Adult     40.00    42.00", "Youth     25.00    26.00"];
    let price = |value: f64, code: &str| amount(value, code, None);
    let question = "What does an adult pay in CHF?";
    assert!(!doubted(question, &table, price(40.0, "CHF")));
    assert!(doubted(question, &table, price(42.0, "EUR")), "column");
    assert!(doubted(question, &table, price(25.0, "CHF")), "row");
    assert_eq!(standing(question, &table, price(42.0, "CHF")), ValueStanding::Missing, "currency of the column");
    let sentence = ["The excess is $100 for each claim, or $250 for claims caused by frost."];
    let excess = |value: f64| amount(value, "USD", None);
    assert!(doubted("What is the excess for frost?", &sentence, excess(100.0)));
    for (question, value) in [
        ("What is the excess for frost?", 250.0),
        ("What is the excess?", 100.0),
        ("What is the excess for claims not caused by frost?", 100.0),
    ] {
        assert!(!doubted(question, &sentence, excess(value)), "{question}");
    }
    let range = ["The fine is not less than $50 and not more than $200."];
    assert!(doubted("What is the minimum fine?", &range, excess(200.0)));
    assert!(!doubted("What is the minimum fine?", &range, excess(50.0)));
}

#[test]
fn a_question_may_name_another_role() {
    let roles = ["Board: Chair - Ann Brook; Treasurer - Leo Marsh"];
    let named = |name: &str| json!({"text": name});
    assert!(doubted("Who is the treasurer?", &roles, named("Ann Brook")));
    assert!(!doubted("Who is the treasurer?", &roles, named("Leo Marsh")));
    assert!(!doubted("Who sits on the board?", &roles, named("Ann Brook")));
}

#[test]
fn what_a_line_allows_holds_its_ends() {
    let truth = |question: &str, line: &str, yes: bool| standing(question, &[line], json!({"boolean": yes}));
    for (question, line, right) in [
        ("Is a report 20 days after the loss still in time?", "Report the loss within 20 days.", true),
        ("Is a report 21 days after the loss still in time?", "Report the loss within 20 days.", false),
        ("Is a humidity of 60% outside the permitted range?", "Humidity must stay between 40% and 50%.", true),
        ("May the load be exactly 90 kg?", "The load shall not exceed 90 kg.", true),
    ] {
        assert_eq!(truth(question, line, right), ValueStanding::Stands, "{question}");
        assert_eq!(truth(question, line, !right), ValueStanding::Missing, "{question}");
    }
    let void = "The cover is void if the loss is reported more than 20 days late.";
    assert_eq!(truth("Is a report of 20 days in time?", void, false), ValueStanding::Unchecked);
}

#[test]
fn a_line_that_says_less_or_under_a_heading_answers() {
    let truth = |question: &str, line: &str, yes: bool| standing(question, &[line], json!({"boolean": yes}));
    for (question, line, right) in [
        ("Is the boat covered against theft?", "Not covered: theft, wear", false),
        ("Is the boat covered against theft?", "Covered: theft, fire", true),
        ("May guests smoke in the rooms?", "Smoking is not permitted.", false),
        ("Is smoking banned in the rooms?", "Smoking is not permitted in the rooms.", true),
        (
            "Is standing time paid when work is delayed by bad weather?",
            "Standing time is paid at £65, but not for delays due to weather.",
            false,
        ),
        ("Is a refund paid if a claim was made?", "A full refund is paid unless a claim was made.", false),
        ("Is sparkling wine included in the menu?", "The menu includes wine, except sparkling wine.", false),
        ("Is a load of 600 kg allowed?", "Maximum load: 500 kg", false),
        ("Is heating paid on top of the rent?", "Heating is not included in the rent.", true),
    ] {
        assert_eq!(truth(question, line, right), ValueStanding::Stands, "{question}");
        assert_eq!(truth(question, line, !right), ValueStanding::Missing, "{question}");
    }
    let exception = "Smoking is not permitted. Guests in the garden may smoke.";
    assert_eq!(truth("May guests smoke in the garden?", exception, true), ValueStanding::Stands);
}

#[test]
fn a_limit_at_the_very_day_is_not_in_it_and_a_restriction_decides_nothing() {
    let truth = |value: bool| json!({ "boolean": value });
    let before = ["A rebate of 40 euros is granted on bookings made before 2 April 2025."];
    let booking = "Does a booking made on 2 April 2025 get the rebate?";
    assert_eq!(standing(booking, &before, truth(true)), ValueStanding::Missing);
    assert_eq!(standing(booking, &before, truth(false)), ValueStanding::Stands);
    let until = ["A rebate of 40 euros is granted on bookings made until 2 April 2025."];
    for answer in [true, false] {
        assert_ne!(standing(booking, &until, truth(answer)), ValueStanding::Missing, "{answer}");
    }
    let but = ["Frei sind Fahrten für Kinder und Schüler, nicht jedoch für Gäste."];
    assert_ne!(standing("Sind Fahrten für Schüler frei?", &but, truth(true)), ValueStanding::Missing);
    let plain = ["Fahrten für Schüler sind nicht frei."];
    assert_eq!(standing("Sind Fahrten für Schüler frei?", &plain, truth(true)), ValueStanding::Missing);
}

#[test]
fn a_scanned_name_is_the_name() {
    let line = ["Attn: Ms Harriet Lindernann, 4 Mill Row"];
    assert_ne!(standing("To whom?", &line, json!({"text": "Ms Harriet Lindemann"})), ValueStanding::Missing);
    assert_eq!(standing("To whom?", &line, json!({"text": "Ms Harriet Underwood"})), ValueStanding::Missing);
}

#[test]
fn never_is_what_always_denies() {
    let text = |text: &str| json!({ "text": text });
    let open = ["The side gate stays open at all times."];
    assert_ne!(
        standing("Is the gate shut at night?", &open, text("No, the gate is never shut.")),
        ValueStanding::Missing
    );
    let shut = ["The side gate is shut at night."];
    assert_eq!(standing("?", &shut, text("The side gate is never shut at night.")), ValueStanding::Missing);
}

#[test]
fn money_tells_how_its_thousands_are_grouped() {
    let lines = ["Item  Since  Insured for", "Clock  1998  € 35.000", "Globe  2011  € 140.000"];
    let globe = json!({"amount": {"value": 140_000, "currency": "EUR"}});
    assert_eq!(standing("What is the globe insured for?", &lines, globe), ValueStanding::Stands);
}

#[test]
fn the_question_names_an_entry_a_clause_or_a_person() {
    let money = |value: f64| amount(value, "GBP", None);
    let clauses = ["The service charge is capped at £2,500; insurance rent is £640."];
    assert!(doubted("How much is the insurance rent?", &clauses, money(2500.0)));
    assert!(!doubted("How much is the insurance rent?", &clauses, money(640.0)));
    let entries = ["Buildings: up to £500,000. Contents: up to £75,000, single items up to £2,000."];
    assert!(doubted("What is the limit for buildings?", &entries, money(75_000.0)));
    assert!(!doubted("What is the limit for buildings?", &entries, money(500_000.0)));
    // Lists that belong together one by one are left alone.
    let pairs = ["Depreciation was £25, £26 and £24 in 2019, 2018 and 2017, respectively."];
    assert!(!doubted("What was depreciation in 2018?", &pairs, money(26.0)));
    let named = |text: &str| json!({"text": text});
    let labels = ["Principal investigator: Amina Diallo; co-investigator: Lars Pettersson"];
    assert!(!doubted("Who is the principal investigator?", &labels, named("Amina Diallo")));
    assert!(doubted("Who is the principal investigator?", &labels, named("Lars Pettersson")));
    let brackets = ["Cornelia Auerswald (Chair), Thilo Kempff (Treasurer)"];
    assert!(!doubted("Who is the chair?", &brackets, named("Cornelia Auerswald")));
    assert!(doubted("Who is the chair?", &brackets, named("Thilo Kempff")));
}

#[test]
fn a_name_is_of_one_person() {
    let name = |first: &str, last: &str| json!({"person_name": {"first_name": first, "last_name": last}});
    let two = ["Signed: Margaret Ashdown, for the Landlord; Ravi Chandran, for the Tenant"];
    assert_eq!(standing("Who signed?", &two, name("Ravi", "Chandran")), ValueStanding::Stands);
    assert_eq!(standing("Who signed?", &two, name("Ravi", "Ashdown")), ValueStanding::Missing);
    for (line, first, last) in [
        ("Tomasz and Anna Wieczorek", "Tomasz", "Wieczorek"),
        ("Ashdown, Margaret", "Margaret", "Ashdown"),
        ("Mary E. Smith", "Mary", "Smith"),
    ] {
        assert_eq!(standing("Who?", &[line], name(first, last)), ValueStanding::Stands, "{line}");
    }
}

#[test]
fn a_count_a_clause_number_and_a_payment_are_no_value() {
    let row = ["Tiles  400  1.85 €  740.00 €"];
    assert_eq!(standing("?", &row, amount(740.0, "EUR", None)), ValueStanding::Stands);
    assert_eq!(standing("?", &row, amount(400.0, "EUR", None)), ValueStanding::Missing);
    let clause = ["5. Late payment carries interest at 4% above base rate."];
    assert_eq!(standing("?", &clause, amount(4.0, "XXX", Some("%"))), ValueStanding::Stands);
    assert_eq!(standing("?", &clause, amount(5.0, "XXX", Some("%"))), ValueStanding::Missing);
    let rent = ["The annual rent is £18,400, payable quarterly in advance."];
    assert_eq!(standing("?", &rent, amount(18_400.0, "GBP", Some("per year"))), ValueStanding::Stands);
    assert_eq!(standing("?", &rent, amount(18_400.0, "GBP", Some("per quarter"))), ValueStanding::Missing);
    let loss = ["Net loss was $(9.8) million."];
    assert_eq!(standing("?", &loss, amount(-9.8, "USD", Some("million"))), ValueStanding::Stands);
}

#[test]
fn a_yes_is_compared_with_what_is_forbidden_and_what_there_is() {
    let yes = |yes: bool| json!({ "boolean": yes });
    let cold = ["The drug must not be stored above 25 °C."];
    assert_eq!(standing("May the drug be stored at 30 °C?", &cold, yes(true)), ValueStanding::Missing);
    assert_eq!(standing("May the drug be stored at 30 °C?", &cold, yes(false)), ValueStanding::Stands);
    assert_eq!(standing("May the drug be stored at 20 °C?", &cold, yes(true)), ValueStanding::Stands);
    let sold = ["The vehicle is sold as is, without warranty."];
    assert_eq!(standing("Is there a warranty?", &sold, yes(true)), ValueStanding::Missing);
    assert_eq!(standing("Is there a warranty?", &sold, yes(false)), ValueStanding::Stands);
    let exception = ["Patients are excluded, unless clearance exceeds 60 mL."];
    let open = standing("Are patients with a clearance of 80 mL eligible?", &exception, yes(true));
    assert_eq!(open, ValueStanding::Unchecked, "an exception is left alone");
    let french = ["La période d'essai est de trois mois et n'est pas renouvelable."];
    let asked = "La période d'essai est-elle renouvelable ?";
    assert_eq!(standing(asked, &french, yes(true)), ValueStanding::Missing);
    assert_eq!(standing(asked, &french, yes(false)), ValueStanding::Stands);
}

#[test]
fn addresses_are_shortened_in_many_ways() {
    let seller = ["Seller: Lakeside Motors LLC, 2200 W Madison St, Chicago, IL 60612"];
    let address = |street: &str, state: &str| json!({"address": {"street": street, "city": "Chicago", "state": state}});
    for (street, state, wanted) in [
        ("2200 West Madison Street", "Illinois", ValueStanding::Stands),
        ("2200 East Madison Street", "IL", ValueStanding::Missing),
        ("2200 West Madison Street", "Indiana", ValueStanding::Missing),
    ] {
        assert_eq!(standing("Where?", &seller, address(street, state)), wanted, "{street} {state}");
    }
}

#[test]
fn a_day_of_the_week_is_compared() {
    let line = ["The next meeting is on Monday 14 November 2022."];
    assert_eq!(standing("When?", &line, json!({"text": "Monday, 14 November 2022"})), ValueStanding::Stands);
    assert_eq!(standing("When?", &line, json!({"text": "Tuesday 14 November 2022"})), ValueStanding::Missing);
}
