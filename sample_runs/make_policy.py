#!/usr/bin/env python3
"""Makes the sample answers in this folder: a travel policy and 39 questions to it.

    python make_policy.py            # needs pandas and pyarrow

The policy, the insurer and all names in it are made up, and so are the answers: no
model was called. Each answer that is wrong is wrong on purpose; cases.json says how.
It writes the same answers three times, as people have them:

    policy/                          a docintel folder
    policy.sqlite                    its storage.sqlite
    policy.jsonl, policy.document.json   answer traces, and the document that they name
"""

import hashlib
import json
import os
import re
import shutil
import sqlite3

import pandas as pd

HERE = os.path.dirname(os.path.abspath(__file__))
DOC_ID = "travel/heron-lark"
TIME = 1795100000.0
HEADER = "Heron & Lark Mutual - Travel policy HL-40-7719"

# ---------------------------------------------------------------- the document
# "# " begins a heading of the first level, "## " of the second; both stand in the table of contents.
PAGES = [
    """# Travel policy HL-40-7719
Issued by Heron & Lark Mutual, Galway
Policyholder: Ilse Brandt
Insured persons: Ilse Brandt, Tomas Brandt, Mia Brandt
Kind of cover: Family, world-wide
Effective date: 1 March 2026
End of cover: 28 February 2027
Premium for the year: EUR 486.50
This page is the certificate. The conditions follow on pages 3 to 13.
Words in capitals are explained in section 1.
Keep this policy where you can reach it while you travel.""",
    """# Contents
Certificate .......................................... 1
1. Words with a meaning .............................. 3
2. Cancelling a trip ................................. 4
3. What is paid at most .............................. 5
4. Medical cover ..................................... 6
5. Baggage ........................................... 7
6. What is not covered ............................... 8
7. Making a claim .................................... 10
8. Premium and payment ............................... 11
9. Complaints ........................................ 12
Endorsement 1 ........................................ 13""",
    """# 1. Words with a meaning
ACCIDENT means a sudden event from outside that injures the body.
BAGGAGE means what an insured person takes along or buys on the
TRIP, without money, tickets and motor vehicles.
CLOSE RELATIVE means partner, child, parent, brother or sister.
EXCESS means the part of each claim that the policyholder bears.
HOME means the place where the policyholder is registered.
TRIP means a journey that begins and ends at HOME and takes no
longer than 62 days.
VALUABLES means cameras, watches, jewellery and computers.
A word that stands in capitals has this meaning everywhere in the
policy and in all endorsements.""",
    """# 2. Cancelling a trip
## 2.1 When cancelling is covered
We pay for a TRIP that has to be cancelled because an insured
person or a CLOSE RELATIVE falls ill, has an ACCIDENT or dies.
We also pay where the HOME cannot be lived in after fire or flood.
## 2.2 What is paid
The costs of the booking that nobody gives back, up to EUR 6,000
for all insured persons together.
The EXCESS for cancelling is EUR 60 for each claim.
## 2.3 Delay
After a delay of more than four hours we pay EUR 25 for each
further hour. Section 3 says what is paid at most.""",
    """# 3. What is paid at most
All amounts are for one insured person and one TRIP.
Section              Limit          Excess
Cancelling           EUR 6,000      EUR 60
Medical cover        EUR 2,000,000  none
Journey home         EUR 90,000     none
Baggage              EUR 2,500      EUR 75
Valuables            EUR 600        EUR 75
Delay                EUR 300        none
The limit for valuables is part of the limit for baggage.
Where two sections could pay for the same loss, the higher limit
counts, and it is paid once.""",
    """# 4. Medical cover
## 4.1 Treatment
We pay for treatment that a doctor orders on a TRIP and that can-
not wait until the journey home, up to EUR 2,000,000.
Dental treatment is paid up to EUR 400, for pain only.
## 4.2 The journey home
If a doctor advises it, we arrange and pay the journey home with
medical attendance, up to EUR 90,000.
## 4.3 Pregnancy
Illness in pregnancy is covered until the end of week 32. A birth
in time is not an illness.
Call +353 91 555 0142 before treatment in a hospital begins.""",
    """# 5. Baggage
## 5.1 What is paid
We pay the present value of BAGGAGE that is stolen, damaged or
lost, up to EUR 2,500.
The EXCESS for baggage is EUR 75 for each claim.
Item                 At most
Suitcase or bag      EUR 250
Clothing             EUR 900
Sports equipment     EUR 700
Valuables            EUR 600
## 5.2 What you must do
Theft has to be reported to the police within 24 hours, and the re-
port has to be sent with the claim.
Damage by a carrier has to be reported to the carrier at once.""",
    """# 6. What is not covered
We do not pay for loss, damage or costs that arise from
(a) war, civil war or riot that was known before the TRIP began;
(b) nuclear radiation of any kind;
(c) mountaineering above 5,000 metres;
(d) diving below 40 metres;
(e) races in motor vehicles;
(f) work with machines or at heights;
(g) alcohol above 1.5 grams per litre of blood;
(h) medicines taken against a doctor's advice;""",
    """(i) a warning of the foreign office that was published before
the TRIP began;
(j) illness that was treated in the six months before booking;
(k) flights in aircraft without a licence to carry passengers;
(l) fraud, or statements that are knowingly false.
An exclusion holds for the insured person whom it concerns. The
others remain insured.
If an exclusion and an endorsement disagree, the endorsement
counts.""",
    """# 7. Making a claim
## 7.1 Where to send it
Claims have to be sent within 30 days after the TRIP to
Heron & Lark Mutual, Claims
14 Quay Street
H91 K4F2 Galway
Ireland
## 7.2 What we need
The booking, all bills, the doctor's report, and for theft the
report of the police.
Bills in other languages need no translation.
## 7.3 When we pay
We pay within 14 days after the last paper has come.""",
    """# 8. Premium and payment
The premium for the year is EUR 486.50. It is due on the effective
date.
Payments go to
Heron & Lark Mutual, IBAN GB19 HERN 4071 0088 2205 17
Please give the number of the policy.
Whoever has not paid 30 days after the effective date has no cover
until the payment has come.
Children below the age of 4 years are insured without premium.""",
    """# 9. Complaints
Complaints are answered within 10 working days.
Heron & Lark Mutual, Complaints
3 Mill Lane
V94 T8P0 Limerick
Ireland
Whoever is not content with the answer can turn to the ombudsman
for insurance. That costs nothing.
The law of Ireland holds for this policy.""",
    """# Endorsement 1
This endorsement changes policy HL-40-7719. It was issued on
12 February 2026.
1. The effective date is 15 March 2026 instead of 1 March 2026.
2. Section 6 (c) reads: mountaineering above 6,000 metres;
3. All other terms remain as they are.
Galway, 12 February 2026
Niamh Corrigan, Head of Travel""",
]


def read_pages():
    lines, toc, texts = [], [], []
    for number, text in enumerate(PAGES, 1):
        page = [HEADER]
        for line in text.split("\n"):
            if line.startswith("#"):
                mark, line = line.split(" ", 1)
                toc.append({"level": len(mark), "title": line, "page": number, "y": 90.0 + 14 * len(page)})
            page.append(line)
        page.append(f"Page {number} of {len(PAGES)}")
        texts.append("\n".join(page))
        lines += [(number, n, line) for n, line in enumerate(page, 1)]
    return lines, toc, texts


LINES, TOC, TEXTS = read_pages()


def contents():
    rows, above = [], None
    for n, entry in enumerate(TOC):
        later = [other["page"] for other in TOC[n + 1:] if other["level"] <= entry["level"]]
        above = n if entry["level"] == 1 else above
        parent = None if entry["level"] == 1 else above
        title = entry["title"]
        rows.append({
            "toc_idx": n, "level": entry["level"], "parent_idx": parent, "title": title, "start_page": entry["page"],
            "end_page": max(entry["page"], (later or [len(PAGES)])[0]), "start_y": entry["y"],
            "breadcrumb": title if parent is None else f"{TOC[parent]['title']} > {title}", "parsing_method": "made_up",
        })
    return rows


# ---------------------------------------------------------------- the answers
def folded(text):
    return re.sub(r"\s+", " ", text).strip()


def span(quote, by=0, last=None, first=None, page=None, cut=0):
    """The lines on which a quote stands. by: moves them; first, last: other numbers; cut: cites so many lines less."""
    for start, (number, _, _) in enumerate(LINES):
        if page is not None and number != page:
            continue
        for end in range(start, min(start + 8, len(LINES))):
            text = [line for _, _, line in LINES[start:end + 1] if line != HEADER and not line.startswith("Page ")]
            if folded(quote) in folded(" ".join(text)) or folded(quote) in re.sub(r"-\s+", "", " ".join(text)):
                while folded(quote) in folded(" ".join(l for _, _, l in LINES[start + 1:end + 1])):
                    start += 1
                return {
                    "line_start": start + by if first is None else first,
                    "line_end": end + by - cut if last is None else last, "quote": quote,
                }
    raise ValueError(quote)


def base(method="verbatim", confidence=0.9, found=True, complete=True, weak=0.9, **more):
    return {
        "extraction_method": method, "confidence": confidence, "caveats": [], "answer_found": found,
        "complete_answer_found": complete, "context_completeness_weak": weak, "context_structured": True,
        "llm_discovered_keywords": [], "keywords_found": [], "conflicting_evidence": False,
        "suggested_clarification": None, **more,
    }


def texts(*quotes, **more):
    return {**base(**more), "items": [{"text": folded(q), "spans": [span(q)]} for q in quotes]}


def one(item, **more):
    return {**base(**more), "items": [item]}


def amount(value, quote, currency="EUR", unit=None, **where):
    return {"amount": {"value": value, "currency": currency, "unit": unit}, "spans": [span(quote, **where)]}


def date(iso, original, quote, **where):
    return {"date": {"iso": iso, "original": original}, "spans": [span(quote, **where)]}


EXCLUDED = [
    "(a) war, civil war or riot that was known before the TRIP began;", "(b) nuclear radiation of any kind;",
    "(c) mountaineering above 5,000 metres;", "(d) diving below 40 metres;", "(e) races in motor vehicles;",
    "(f) work with machines or at heights;", "(g) alcohol above 1.5 grams per litre of blood;",
    "(h) medicines taken against a doctor's advice;",
    "(i) a warning of the foreign office that was published before the TRIP began;",
    "(j) illness that was treated in the six months before booking;",
    "(k) flights in aircraft without a licence to carry passengers;",
    "(l) fraud, or statements that are knowingly false.",
]
LIMITS = ["Cancelling           EUR 6,000      EUR 60", "Medical cover        EUR 2,000,000  none",
          "Journey home         EUR 90,000     none", "Baggage              EUR 2,500      EUR 75",
          "Valuables            EUR 600        EUR 75", "Delay                EUR 300        none"]
ITEMS = ["Suitcase or bag      EUR 250", "Clothing             EUR 900", "Sports equipment     EUR 700",
         "Valuables            EUR 600"]


def cells(row):
    return re.split(r"\s{2,}", row)


CASES = []


def case(question, shape, pages, answer, route, flaws=(), strong=None, why="", text=None, said=None, cut=False):
    """text: answer.json is this text and no JSON; said: what the raw response says, where that is something else; cut: it
    says that it was cut off."""
    CASES.append(dict(question=question, shape=shape, pages=pages, answer=answer, route=route, flaws=list(flaws),
                      strong=strong, why=why, text=text, said=said, cut=cut))


def good():
    case("What is the excess for baggage?", "amount", [7],
         one(amount(75, "The EXCESS for baggage is EUR 75 for each claim.", unit="per claim"), confidence=0.97), "ship")
    case("What is the yearly premium?", "amount", [1, 11],
         one({"amount": {"value": 486.5, "currency": "EUR", "unit": "per year"},
              "spans": [span("Premium for the year: EUR 486.50"), span("The premium for the year is EUR 486.50.")]}),
         "ship", why="one amount, two places")
    case("When does the cover begin?", "date", [1, 13], {
        **base(conflicting_evidence=True, confidence=0.6, suggested_clarification="The certificate or the endorsement?",
               caveats=["The certificate and endorsement 1 give two dates."]),
        "items": [date("2026-03-01", "1 March 2026", "Effective date: 1 March 2026"),
                  date("2026-03-15", "15 March 2026", "1. The effective date is 15 March 2026 instead of 1 March 2026.")]},
         "show_conflict", why="the certificate and the endorsement disagree, and the answer says so")
    case("Which activities and events are excluded?", "list", [8, 9], texts(*EXCLUDED), "ship", strong="bounded",
         why="the list crosses a page; the page after it begins with a new heading")
    case("What is paid at most for each section?", "table", [5],
         one({"table": {"headers": ["Section", "Limit", "Excess"], "rows": [cells(row) for row in LIMITS]},
              "spans": [{"line_start": span(LIMITS[0])["line_start"], "line_end": span(LIMITS[-1], page=5)["line_end"],
                         "quote": "\n".join(LIMITS)}]}), "ship")
    case("Where do claims have to be sent?", "address", [10],
         one({"address": {"street": "14 Quay Street", "postal_code": "H91 K4F2", "city": "Galway", "country": "Ireland"},
              "spans": [span("14 Quay Street H91 K4F2 Galway Ireland")]}), "ship")
    case("Is illness in pregnancy covered?", "boolean", [6],
         one({"boolean": True, "spans": [span("Illness in pregnancy is covered until the end of week 32.")]},
             caveats=["Until the end of week 32."]), "ship")
    case("To which account is the premium paid?", "iban", [11],
         one({"iban": "GB19 HERN 4071 0088 2205 17", "spans": [span("IBAN GB19 HERN 4071 0088 2205 17")]}), "ship")
    case("Who signed the endorsement?", "person_name", [13],
         one({"person_name": "Niamh Corrigan", "spans": [span("Niamh Corrigan, Head of Travel")]}), "ship")
    case("What is the name of the travel agent?", "text", [1, 2],
         {**base(method="na", confidence=0.2, found=False, complete=False, weak=0.4,
                 caveats=["No travel agent is named on these pages."]), "items": []}, "no_answer",
         why="nothing was found, and the answer says so")
    case("What is paid for a delay?", "amount", [4],
         one(amount(25, "After a delay of more than four hours we pay EUR 25 for each further hour.", unit="per hour"),
             complete=False, weak=0.5, caveats=["Section 3 says what is paid at most; it was not among the pages."]),
         "broaden", why="found, but not complete: the limit stands on another page")
    case("How long may a trip take?", "text", [3],
         one({"text": "No longer than 62 days.", "spans": [span("takes no longer than 62 days")]}, method="inferred",
             confidence=0.8), "human_review", why="the model says that it concluded this")


def wrong_places():
    case("What is paid at most for treatment?", "amount", [5, 6],
         one(amount(2000000, "not wait until the journey home, up to EUR 2,000,000.", by=3)), "reject",
         ["span/quote_not_in_cited_lines", "span/quote_found_nearby"], why="the quote is right, the line is wrong")
    case("What does the word accident mean?", "text", [3, 7],
         one({"text": "A sudden event from outside that injures the body.",
              "spans": [span("ACCIDENT means a sudden event from outside that injures the body.", by=60)]}), "reject",
         ["span/quote_not_in_cited_lines", "span/quote_found_elsewhere"], why="the quote stands on another page")
    case("Is volcanic ash covered?", "boolean", [4, 8],
         one({"boolean": True, "spans": [{
             "line_start": span("## 2.3 Delay"[3:])["line_start"], "line_end": span("## 2.3 Delay"[3:])["line_end"],
             "quote": "Delays caused by volcanic ash are covered from the first hour."}]}, confidence=0.95), "reject",
         ["span/quote_not_in_cited_lines", "span/quote_nowhere_in_doc"], why="the model made it up")
    case("What has to be sent with a claim for theft?", "text", [7],
         one({"text": "The report to the police, made within 24 hours.",
              "spans": [span("within 24 hours, and the report has to be sent with the claim.")]}), "ship",
         ["span/quote_not_in_cited_lines", "span/quote_ok_after_dehyphenation"],
         why="an honest quote: the document breaks a word at the end of the line")
    case("Which papers are needed for a claim?", "list", [10],
         one({"text": "The booking, all bills, the doctor's report, and for theft the report of the police.",
              "spans": [span("The booking, all bills, the doctor's report, and for theft the report of the police.", cut=1)]}),
         "reject", ["span/quote_not_in_cited_lines", "span/quote_found_in_wider_range"],
         why="the quote goes on in the line after the cited one")
    shifted = [span(quote, by=1) for quote in (
        "Theft has to be reported to the police within 24 hours",
        "Damage by a carrier has to be reported to the carrier at once.")]
    case("What has to be reported, and to whom?", "list", [7],
         {**base(), "items": [{"text": folded(one["quote"]), "spans": [one]} for one in shifted]}, "reject",
         ["span/quote_not_in_cited_lines", "span/quote_found_nearby", "span/shared_offset"],
         why="counted from 1: at one offset all spans of this answer fit")
    beyond, end = len(LINES) + 40, len(LINES) - 1
    journey = span("medical attendance, up to EUR 90,000.")
    crossing = span("(h) medicines taken against a doctor's advice;")["line_start"]
    case("What is said about doctors?", "list", [6, 8, 9], {**base(), "items": [
        {"text": "A doctor orders treatment.", "spans": [
            span("We pay for treatment that a doctor orders on a TRIP", first=beyond, last=beyond)]},
        {"text": "A doctor advises the journey home.", "spans": [
            {"line_start": journey["line_end"], "line_end": journey["line_end"] - 1, "quote": "If a doctor advises it"}]},
        {"text": "Medicines against advice are excluded, and so is a warning.", "spans": [
            {"line_start": crossing, "line_end": crossing + 4,
             "quote": "(h) medicines taken against a doctor's advice;"}]},
        {"text": "Head of Travel", "spans": [{"line_start": end - 1, "line_end": end + 3, "quote": "Niamh Corrigan"}]},
        {"text": "The doctor's report is needed.", "spans": [span("The booking, all bills, the doctor's report")]},
        {"text": "Dental treatment is paid for pain only.", "spans": []},
    ]}, "reject", ["span/line_start_not_in_doc", "span/range_reversed", "span/span_crosses_page",
                 "span/line_end_not_in_doc", "span/span_outside_retrieved_pages", "span/item_no_spans", "span/verbatim_without_quote",
                 "span/quote_not_in_cited_lines"],
         why="each item cites in another wrong way")
    no_quote = span("Complaints are answered within 10 working days.")
    del no_quote["quote"]
    case("How fast are complaints answered?", "text", [12],
         one({"text": "Within 10 working days.", "spans": [no_quote]}), "ship", ["span/verbatim_without_quote"],
         why="it says verbatim and quotes nothing, but its value stands in the cited lines")


def wrong_values():
    case("When was the endorsement issued?", "date", [13],
         one(date("12/02/2026", "12 February 2026", "Galway, 12 February 2026")), "reject",
         ["answer/date_not_iso8601"], why="the date is not in ISO 8601")
    case("When does the cover end?", "date", [1],
         one(date("2027-02-30", "28 February 2027", "End of cover: 28 February 2027")), "reject",
         ["answer/date_impossible", "answer/date_original_disagrees"], why="there is no 30 February")
    case("By when has a claim to be sent?", "date", [1, 10],
         one(date("2027-03-28", "28 February 2027", "End of cover: 28 February 2027")), "reject",
         ["answer/date_original_disagrees", "answer/value_not_in_citation"],
         why="the ISO date is another day than the original")
    case("What is paid for dental treatment?", "amount", [6],
         one(amount(400, "Dental treatment is paid up to EUR 400, for pain only.", currency="Euro")), "reject",
         ["answer/currency_not_iso4217"], why="Euro is no currency code")
    case("What is paid for lost tickets?", "amount", [3],
         one(amount(0, "TRIP, without money, tickets and motor vehicles."), method="inferred", confidence=0.3), "reject",
         ["answer/phantom_zero_suspected", "answer/second_look"],
         why="the schema wanted a number; the document names none, and the model is not confident")
    case("What is paid for each piece of baggage?", "table", [7],
         one({"table": {"headers": ["Item", "At most"], "rows": [cells(ITEMS[0]), [*cells(ITEMS[1]), "per person"],
                                                                 cells(ITEMS[2]), cells(ITEMS[3])[:1]]},
              "spans": [{"line_start": span(ITEMS[0])["line_start"], "line_end": span(ITEMS[-1], page=7)["line_end"],
                         "quote": "\n".join(ITEMS)}]}), "reject",
         ["answer/table_not_rectangular", "answer/value_not_in_citation"],
         why="rows of two, three and one cells, one of which the document does not have")
    case("Which sports are excluded?", "list", [8], texts(*EXCLUDED[2:8]), "broaden",
         ["answer/list_truncated_next_page"], strong="truncated",
         why="the list goes on on the page after the last one that the model saw")
    case("What costs the appeal to the ombudsman?", "amount", [12],
         one({"text": "That costs nothing.", "spans": [span("That costs nothing.")]}), "reject",
         ["answer/shape_mismatch"], why="an amount was asked for, a text came")
    honest = one({"text": "30 days after the effective date.",
                  "spans": [span("paid 30 days after the effective date has no cover")]})
    case("When does unpaid cover lapse?", "text", [11], {**honest, "confidence": 0.99}, "reject",
         ["answer/answer_differs_from_raw_response", "answer/raw_response_unusable", "span/meaning_cut"], said=honest, cut=True,
         why="the stored answer is not the one that the model gave, whose reply was cut off, and the quote begins behind a \"not\"")


def wrong_shapes():
    strange = texts("Insured persons: Ilse Brandt, Tomas Brandt, Mia Brandt")
    strange.update(extraction_method="copied", confidence=1.4, keywords_found="insured", certainty="high")
    del strange["caveats"]
    case("Who is insured?", "list", [1], strange, "reject",
         ["answer/enum_invalid", "answer/confidence_out_of_range", "answer/wrong_type", "answer/unknown_field",
          "answer/missing_field"], why="five faults against the contract in one object")
    found = texts("Children below the age of 4 years are insured without premium.")
    found.update(extraction_method="na", answer_found=False)
    case("Do small children cost a premium?", "boolean", [11], found, "reject",
         ["answer/found_items_mismatch", "answer/complete_without_found", "answer/method_items_mismatch",
          "answer/shape_mismatch"], why="not found, and yet complete, with an item")
    whole = json.dumps(texts("The law of Ireland holds for this policy."), indent=2)
    case("Which law holds?", "text", [12], None, "reject", ["answer/json_invalid"], cut=True, text=whole[:len(whole) * 2 // 3],
         why="the reply was cut off")
    case("How old are the insured persons?", "list", [1], None, "pending", ["answer/answer_missing"],
         why="asked and retrieved, never answered")


def wrong_reasons():
    case("What do suitcase and clothing come to together?", "amount", [7],
         one({"amount": {"value": 1510, "currency": "EUR", "unit": None}, "spans": [span(ITEMS[0]), span(ITEMS[1])]},
             method="computed"), "reject", ["answer/computed_differs"],
         why="250 and 900 make 1,150; two digits changed places")
    case("Above what height is mountaineering excluded?", "text", [8, 13],
         {**base(), "items": [{"text": "Above 5,000 metres.", "spans": [span(EXCLUDED[2])]},
                              {"text": "Above 6,000 metres.",
                               "spans": [span("2. Section 6 (c) reads: mountaineering above 6,000 metres;")]}]}, "show_conflict",
         ["answer/conflict_unflagged"], why="two heights, and not a word that they disagree")
    case("Is the limit for valuables below the limit for baggage?", "boolean", [5],
         one({"boolean": True, "spans": [span("The limit for valuables is part of the limit for baggage.")]}), "ship",
         ["answer/threshold_uncited"], why="two amounts are compared, and neither is cited")
    case("When is treatment on a trip paid?", "text", [6],
         one({"text": "When a doctor orders it and a hospital is called first.", "spans": [
             {**span("We pay for treatment that a doctor orders on a TRIP"),
              "quote": "We pay for treatment that a doctor orders on a TRIP before treatment in a hospital begins."}]}),
         "reject", ["span/quote_not_in_cited_lines", "span/quote_stitched"],
         why="both halves stand in the document, the sentence does not")
    case("Which excess applies to baggage?", "amount", [5],
         one({"amount": {"value": 2500, "currency": "EUR", "unit": None}, "spans": [span(LIMITS[3])]}), "human_review",
         ["answer/other_value_asked"], why="the limit stands under its own heading, and the excess under the next")
    case("Which activities and events are not covered?", "list", [8, 9], texts(*EXCLUDED[:5], *EXCLUDED[6:]), "broaden",
         ["answer/list_incomplete"], why="entry (f) is left out")


# ---------------------------------------------------------------- as a store
def sha(question):
    return hashlib.sha1(question.encode()).hexdigest()


def slug(question):
    return re.sub(r"[^a-z0-9]+", "_", question.lower())[:40].strip("_") + "_" + sha(question)[:8]


def schema_of(shape):
    return "".join(part.capitalize() for part in shape.split("_")) + "Answer"


def parsed_question(case):
    words = [word for word in re.findall(r"[a-z]{5,}", case["question"].lower()) if word not in ("which", "what")]
    keywords = [{"text": word, "weight": 1.0, "source": "direct", "is_regex": False} for word in words[:2]]
    return {
        "original_question": case["question"], "keywords": keywords, "expected_answer_shape": case["shape"],
        "retrieval": {"main_query": " ".join(words[:3]), "scope": "default"},
        "generation": {"original_question": case["question"], "format_constraint": {}},
    }


def meta(case, n):
    said = case["text"] or json.dumps(case["said"] or case["answer"])
    ended = {"status": "completed"}
    if case["cut"]:
        ended = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    return {
        "schema_used": schema_of(case["shape"]), "fragments_applied": ["BASE", f"SHAPE:{case['shape']}"],
        "template_version": "v1",
        "raw_response": {
            "id": f"resp_made_up_{n:02}", "model": "made-up-1", **ended,
            "output": [{"type": "message", "role": "assistant",
                        "content": [{"type": "output_text", "text": said}]}],
            "usage": {"input_tokens": 900 + 13 * n, "output_tokens": len(said) // 4},
        },
    }


def retrieved(case):
    rows = []
    for rank, page in enumerate(case["pages"], 1):
        words = [entry["text"] for entry in parsed_question(case)["keywords"]]
        hits = [word for word in words if word in TEXTS[page - 1].lower()]
        rows.append({"page_num": page, "text": TEXTS[page - 1], "rank": rank, "score": round(1.0 / rank, 3),
                     "matched_keywords": hits, "match_count": len(hits)})
    return rows


def dump(value, path, indent=1):
    with open(path, "w", encoding="utf-8") as file:
        file.write(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=indent) + "\n")


def write_folder(root):
    shutil.rmtree(root, ignore_errors=True)
    parsing = os.path.join(root, DOC_ID, "parsing")
    os.makedirs(parsing)
    pd.DataFrame([
        {"page_num": page, "line_num": line, "text": text, "character_count": len(text), "parsing_method": "made_up"}
        for page, line, text in LINES]).to_parquet(os.path.join(parsing, "line_df.parquet"), index=False)
    pd.DataFrame(contents()).to_parquet(os.path.join(parsing, "toc_df.parquet"), index=False)
    dump({"n_pages": len(PAGES), "n_lines": len(LINES), "has_toc": True, "parsing_method": "made_up"},
         os.path.join(parsing, "parsing_summary.json"))
    for n, case in enumerate(CASES):
        folder = os.path.join(root, DOC_ID, "questions", slug(case["question"]))
        os.makedirs(folder)
        dump(parsed_question(case), os.path.join(folder, "parsed_question.json"))
        # Without the texts of the pages: they stand in the document.
        pages = [{key: row[key] for key in ("page_num", "rank", "score", "match_count")} for row in retrieved(case)]
        pd.DataFrame(pages).to_parquet(os.path.join(folder, "retrieved_pages.parquet"), index=False)
        if case["answer"] or case["text"]:
            dump(case["text"] or case["answer"], os.path.join(folder, "answer.json"))
            dump(meta(case, n), os.path.join(folder, "meta.json"))


TABLES = """
CREATE TABLE documents (doc_id TEXT PRIMARY KEY, source_path TEXT NOT NULL, parsed_at REAL NOT NULL, parsing_summary TEXT);
CREATE TABLE lines (doc_id TEXT NOT NULL, page_num INTEGER NOT NULL, line_num INTEGER NOT NULL, text TEXT,
    PRIMARY KEY (doc_id, page_num, line_num)) WITHOUT ROWID;
CREATE TABLE toc (doc_id TEXT NOT NULL, toc_idx INTEGER NOT NULL, level INTEGER, parent_idx INTEGER, title TEXT,
    start_page INTEGER, end_page INTEGER, start_y REAL, breadcrumb TEXT, PRIMARY KEY (doc_id, toc_idx)) WITHOUT ROWID;
CREATE TABLE questions (question_id TEXT PRIMARY KEY, question_text TEXT NOT NULL, created_at REAL NOT NULL);
CREATE TABLE parsed_questions (question_id TEXT NOT NULL, doc_id TEXT NOT NULL, schema_name TEXT NOT NULL,
    parsed_json TEXT NOT NULL, created_at REAL NOT NULL, PRIMARY KEY (question_id, doc_id));
CREATE TABLE retrieved_pages (question_id TEXT NOT NULL, doc_id TEXT NOT NULL, page_num INTEGER NOT NULL, rank INTEGER,
    score REAL, similarity REAL, match_count INTEGER, matched_keywords TEXT, methods TEXT, text TEXT,
    PRIMARY KEY (question_id, doc_id, page_num)) WITHOUT ROWID;
CREATE TABLE answers (question_id TEXT NOT NULL, doc_id TEXT NOT NULL, schema_name TEXT NOT NULL,
    answer_json TEXT NOT NULL, model_used TEXT, created_at REAL NOT NULL, PRIMARY KEY (question_id, doc_id));
CREATE TABLE generation_meta (question_id TEXT NOT NULL, doc_id TEXT NOT NULL, meta_json TEXT NOT NULL,
    created_at REAL NOT NULL, PRIMARY KEY (question_id, doc_id));
"""


def write_database(path):
    if os.path.exists(path):
        os.unlink(path)
    base = sqlite3.connect(path)
    base.execute("PRAGMA page_size = 1024")
    base.executescript(TABLES)
    base.execute("INSERT INTO documents VALUES (?, ?, ?, ?)", (DOC_ID, "heron-lark.pdf", TIME, None))
    base.executemany("INSERT INTO lines VALUES (?, ?, ?, ?)", [(DOC_ID, *line) for line in LINES])
    base.executemany("INSERT INTO toc VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", [
        (DOC_ID, row["toc_idx"], row["level"], row["parent_idx"], row["title"], row["start_page"], row["end_page"],
         row["start_y"], row["breadcrumb"]) for row in contents()])
    for n, case in enumerate(CASES):
        id, at = sha(case["question"])[:16], TIME + 10 * n
        base.execute("INSERT INTO questions VALUES (?, ?, ?)", (id, case["question"], at))
        base.execute("INSERT INTO parsed_questions VALUES (?, ?, ?, ?, ?)",
                     (id, DOC_ID, "ParsedQuestion", json.dumps(parsed_question(case)), at))
        base.executemany("INSERT INTO retrieved_pages VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", [
            (id, DOC_ID, row["page_num"], row["rank"], row["score"], None, row["match_count"],
             ", ".join(row["matched_keywords"]), None, None) for row in retrieved(case)])
        if case["answer"] or case["text"]:
            text = case["text"] or json.dumps(case["answer"])
            base.execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)",
                         (id, DOC_ID, schema_of(case["shape"]), text, "made-up-1", at))
            base.execute("INSERT INTO generation_meta VALUES (?, ?, ?, ?)", (id, DOC_ID, json.dumps(meta(case, n)), at))
    base.commit()
    base.execute("VACUUM")
    base.close()


def write_traces(path, document):
    with open(path, "w", encoding="utf-8") as file:
        for n, case in enumerate(CASES):
            trace = {
                "format": "stepscope.answer_trace", "version": 1, "id": sha(case["question"])[:16], "doc_id": DOC_ID,
                "question": case["question"], "parsed_question": parsed_question(case),
                "schema": schema_of(case["shape"]), "document": {"path": os.path.basename(document)},
                "retrieved_pages": [{key: row[key] for key in ("page_num", "rank", "score", "match_count")}
                                    for row in retrieved(case)],
            }
            if case["text"]:
                trace["answer_text"] = case["text"]
            elif case["answer"]:
                trace["answer"] = case["answer"]
            if case["answer"] or case["text"]:
                trace.update(meta=meta(case, n), model="made-up-1", created_at=TIME + 10 * n)
            file.write(json.dumps(trace, ensure_ascii=False) + "\n")
    lines = ",\n".join(json.dumps({"page_num": page, "line_num": line, "text": text}, ensure_ascii=False)
                       for page, line, text in LINES)
    toc = ",\n".join(json.dumps({key: row[key] for key in ("level", "title", "start_page", "end_page")})
                     for row in contents())
    dump(f'{{"lines": [\n{lines}\n], "toc": [\n{toc}\n]}}\n', document)


def main():
    good()
    wrong_places()
    wrong_values()
    wrong_shapes()
    wrong_reasons()
    root = os.path.join(HERE, "policy")
    write_folder(root)
    keep = ("question", "shape", "route", "flaws", "strong", "why")
    dump([{"folder": f"{DOC_ID}/questions/{slug(case['question'])}", **{key: case[key] for key in keep}}
          for case in CASES], os.path.join(root, "cases.json"))
    write_database(os.path.join(HERE, "policy.sqlite"))
    write_traces(os.path.join(HERE, "policy.jsonl"), os.path.join(HERE, "policy.document.json"))
    print(f"{len(PAGES)} pages, {len(LINES)} lines, {len(CASES)} questions")


if __name__ == "__main__":
    main()
