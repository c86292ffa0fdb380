#!/usr/bin/env python3
"""Writes the plans of known problems in many styles, plants at most one fault, and counts what `stepscope check` says of it.

  benches/styles.py --seed 7
  benches/styles.py --seed 7 --runs 4 --show 20        # fewer runs of a problem, and the first 20 failures in full

Generated: `styles.txt` has the problems, each with a plan in a style of its own: terse, chatty, as code, as LaTeX, as a list.
Numbers are chosen, and the plan is carried out exactly. From the second run of a problem on its style is varied: steps as
formulas, code or LaTeX, remarks and numbers around them, two steps in one, the last calculation in the final step, other
names. The last run of a problem with decimals rounds every result to two of them, where that keeps the answer. From each
other run two are made with one fault each: a wrong result (slip), a result of another operation than the plan's, a number
misread, another operation in the plan, or a wrong number in the final step (copy). What was changed says where to fix.

Measured: every run is checked without an answer, with the expected number, and with the worked answer. A right run is
accused where it gets a place to fix, and has a warning where a finding about a step is more than a note. A fault is placed
where the place to fix is right, and its step too; of a wrong plan the step may be left open.

`styles.txt` has one line for each part of a problem, and its first word says which. `\\n` is a line break. `[formula]` becomes
its value, `[formula,]` with commas, `[formula$]` in dollars and cents.

  # NAME                                a problem begins
  question TEXT
  values a = 1, 2; b = 3                the numbers to choose from, by the letters of the question
  if CONDITION                          which the chosen numbers meet
  allows decimals, fractions, negatives what results may be besides whole numbers above 0: with up to three decimals, any, below
  extract TEXT                          the first step
  step INPUT, INPUT | TEXT              another step
  gives NAME = FORMULA | DESCRIPTION    what the step above writes
  wrong FORMULA | TEXT                  the step above with another operation, for faults
  final INPUT | TEXT                    the last step
  sentence TEXT                         its answer
  worked TEXT                           the worked answer

Python's standard library only.
"""
import argparse, ast, collections, functools, json, math, operator, os, random, re
from dataclasses import dataclass, field, replace
from fractions import Fraction

from outside import checked, confidences
from wordings import plain

HERE = os.path.dirname(os.path.abspath(__file__))
LARGEST = 10 ** 12


class Unfit(Exception):
    """These numbers cannot be used: they divide by zero, or cannot show the fault."""


# --------------------------------------------------------------------------------------------------- arithmetic

def root(number):
    up, down = math.isqrt(number.numerator), math.isqrt(number.denominator)
    is_exact = up * up == number.numerator and down * down == number.denominator
    return Fraction(up, down) if is_exact else Fraction(math.sqrt(number)).limit_denominator(10 ** 9)


FUNCTIONS = {
    "abs": abs, "min": min, "max": max, "floor": math.floor, "ceil": math.ceil, "sqrt": root,
    "factorial": lambda number: math.factorial(int(number)), "is_square": lambda number: math.isqrt(int(number)) ** 2 == number,
    "median": lambda *numbers: sorted(numbers)[len(numbers) // 2],
}
SIGNS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Pow: operator.pow,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Lt: operator.lt, ast.Gt: operator.gt, ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


@functools.lru_cache(maxsize=None)
def parsed(formula):
    return ast.parse(formula, mode="eval").body


def worked_out(formula, known):
    """The exact value of a formula: numbers, names that are known, signs, and the functions above."""
    def value(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return Fraction(str(node.value))
        if isinstance(node, ast.Name):
            return known[node.id]
        if isinstance(node, ast.BinOp):
            return SIGNS[type(node.op)](value(node.left), value(node.right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return SIGNS[type(node.ops[0])](value(node.left), value(node.comparators[0]))
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(value, node.args))
        raise SyntaxError(formula)
    try:
        return Fraction(value(parsed(formula)))
    except (ArithmeticError, ValueError) as error:
        raise Unfit from error


def decimals(number):
    """How many decimals a number has; None of one that never ends, or not within eight."""
    return next((count for count in range(9) if (number * 10 ** count).denominator == 1), None)


def has_more_decimals(number, most):
    count = decimals(number)
    return count is None or count > most


def written(number, form=""):
    if form == "$" and number.denominator != 1:
        return f"{float(number):.2f}"
    places = 2 if has_more_decimals(number, 6) else decimals(number)
    return f"{float(number):{',' if form == ',' else ''}.{places}f}" if places else f"{int(number):{',' if form == ',' else ''}}"


def filled(text, known):
    """A text of the problem file with the values of its formulas."""
    return re.sub(r"(?<!\\)\[([^\[\]]+?)([,$]?)\]", lambda found: written(worked_out(found[1], known), found[2]), text)


# ------------------------------------------------------------------------------------------------- the problems

@dataclass
class Step:
    kind: str                   # "extract", "step" or "final"
    reads: list
    text: str
    outputs: list = field(default_factory=list)     # (name, formula, description)
    inner: tuple = ()           # outputs that are only calculated on the way
    wrong: tuple = ()           # (formula, text) with another operation

    def names(self):
        return [name for name, *_ in self.outputs]


@dataclass
class Problem:
    name: str
    allows: tuple = ()
    condition: str = ""
    steps: list = field(default_factory=list)
    question: str = ""
    values: dict = field(default_factory=dict)
    sentence: str = ""
    worked: str = ""

    @property
    def result(self):
        return self.steps[-1].reads[0]


def problems(path):
    found = []
    with open(path, encoding="utf-8") as file:
        for line in filter(str.strip, file):
            word, _, rest = line.rstrip("\n").replace("\\n", "\n").partition(" ")
            head, _, text = rest.partition(" | ")
            problem = found[-1] if found else None
            if word == "#":
                found.append(Problem(rest))
            elif word in ("question", "sentence", "worked"):
                setattr(problem, word, rest)
            elif word == "values":
                choices = (one.split(" = ") for one in rest.split("; "))
                problem.values = {letter: [Fraction(number) for number in numbers.split(", ")] for letter, numbers in choices}
            elif word == "if":
                problem.condition = rest
            elif word == "allows":
                problem.allows = tuple(rest.split(", "))
            elif word == "extract":
                problem.steps.append(Step(word, ["problem_text"], rest))
            elif word in ("step", "final"):
                problem.steps.append(Step(word, head.split(", "), text))
            elif word == "gives":
                problem.steps[-1].outputs.append((*head.split(" = ", 1), text))
            elif word == "wrong":
                problem.steps[-1].wrong = (head, text)
            else:
                raise SyntaxError(f"{path}: {line}")
    return found


def carried_out(steps, given, results=None, formulas=None, is_rounded=False):
    """The values that steps write, with other results or by other formulas for some of them."""
    results, formulas, values = results or {}, formulas or {}, {}
    for step in steps:
        for name, formula, _ in step.outputs:
            values[name] = worked_out(formulas.get(name, formula), given if step.kind == "extract" else values)
            if is_rounded and step.kind != "extract":
                values[name] = round(values[name], 2)
            values[name] = results.get(name, values[name])
    return values


def chosen(problem, rng, is_rounded):
    """Numbers for the letters of a problem; None where no choice has results that the problem allows."""
    is_free = is_rounded or "fractions" in problem.allows
    most = 3 if "decimals" in problem.allows else 0
    for _ in range(300):
        given = {letter: rng.choice(choices) for letter, choices in problem.values.items()}
        try:
            if problem.condition and not worked_out(problem.condition, given):
                continue
            values = carried_out(problem.steps, given)
        except Unfit:
            continue
        results = [values[name] for step in problem.steps[1:] for name in step.names()]
        if "negatives" not in problem.allows and min(results) <= 0:
            continue
        if not is_free and any(has_more_decimals(one, most) for one in results):
            continue
        if is_rounded and (has_more_decimals(values[problem.result], 2) or not any(has_more_decimals(one, 2) for one in results)):
            continue
        return given
    return None


# --------------------------------------------------------------------------------------------------- the styles

FORMULAS = (
    "Compute {name} = {formula}.",
    "\\( {latex_name} = {latex} \\)",
    "$${latex_name} = {latex}$$",
    "Calculate {what}: {typeset}",
    "`{name} := {formula}`",
    "Evaluate the expression ({formula}) and save it under the key \"{name}\".",
    "```\n{name} = {code}\n```",
    "To get {what}, evaluate {formula}.",
    "Let {name} ← {typeset}",
    "Using the inputs, determine {what} ({formula}). Return only the number.",
    "{name} equals {formula}; write the numeric result.",
)
AROUND = (
    "{text}", "{text}", "{text}",
    "Step {n}: {text}",
    "**Step {n}** – {text}",
    "{n}) {text}",
    "{text} Output only the number.",
    "{text} Store the result in `{name}`.",
    "- {text}",
    "Now, {small}",
    "{text} Do not include units.",
    "{text} (call it {name})",
    "[{n}] {text}",
    "{text} Round to two decimal places if necessary.",
    "Please {small}",
    "{text} Use exact arithmetic and double-check the result.",
    "### Step {n}\n{text}",
    "Let's think step by step. {text}",
    "{text} Show your work briefly, then return {name}.",
    "{text} The result must be a JSON number.",
)
JOINED = ("{a} Then {small_b}", "{a}\n{b}", "First: {a} After that: {b}", "(a) {a} (b) {b}", "1. {a}\n2. {b}", "{open_a}; {b}")
CALCULATED_LAST = (" Report the result as the final answer.", " This is the final answer.", " Output it as final_answer.")
PASSED_ON = (
    "Set final_number to the value of {name}.",
    "Store {name} as final_number.",
    "Check that the value is plausible and pass it on as final_number.",
    "final_number = {name}",
    "Copy {name} to final_number, making sure it is a number.",
)


def small(text):
    return text[0].lower() + text[1:]


def in_latex(formula):
    named = re.sub(r"[A-Za-z_]\w*", lambda name: r"\text{%s}" % name[0].replace("_", r"\_"), formula)
    return named.replace(" ** ", "^").replace(" * ", r" \times ").replace(" / ", r" \div ")


def typeset(formula):
    powers = formula.replace(" ** 2", "²").replace(" ** 3", "³").replace(" ** ", "^")
    return powers.replace("*", "×").replace("/", "÷").replace("-", "−")


def as_formulas(steps, form):
    """Steps in signs, all in one form; those with functions or without names stay as they are."""
    for step in steps:
        name, formula, what = step.outputs[0] if len(step.outputs) == 1 else ("", "", "")
        if step.kind == "step" and re.search("[A-Za-z]", formula) and not re.search(r"\w\(|%", formula):
            step.text = form.format(name=name, latex_name=in_latex(name), what=what, formula=formula, latex=in_latex(formula),
                                    typeset=typeset(formula), code=formula.replace(" ", ""))


def extracted_in_two(steps):
    outputs = steps[0].outputs
    parts = outputs[:len(outputs) // 2], outputs[len(outputs) // 2:]
    listed = lambda part: "; ".join(f"{name} ({what})" for name, _, what in part)
    steps[:1] = [Step("extract", ["problem_text"], f"Extract from the problem: {listed(part)}.", part) for part in parts]


def two_steps_in_one(steps, rng):
    """A step and the next one, which reads its result. Often the first result is only calculated on the way."""
    is_pair = lambda one, next_one: one.kind == next_one.kind == "step" and one.names()[0] in next_one.reads
    places = [at for at in range(len(steps) - 1) if is_pair(*steps[at:at + 2])]
    if not places:
        return
    at = rng.choice(places)
    first, second = steps[at:at + 2]
    between = first.outputs[0][0]
    is_shown = any(between in step.reads for step in steps[at + 2:]) or rng.random() < 0.4
    text = rng.choice(JOINED).format(a=first.text, b=second.text, small_b=small(second.text), open_a=first.text.rstrip("."))
    reads = list(dict.fromkeys(first.reads + [name for name in second.reads if name != between]))
    reads = [name for name in reads if name != "problem_text"] or reads
    steps[at:at + 2] = [Step("step", reads, text, first.outputs + second.outputs, () if is_shown else (between,))]


def calculated_last(steps, rng):
    """The final step does the last calculation."""
    last = steps[-2]
    name = last.outputs[0][0]
    steps[-2:] = [Step("final", last.reads, last.text + rng.choice(CALCULATED_LAST), last.outputs, (name,))]


def passed_on(steps, rng):
    """A step before the final one copies the result under another name."""
    name = steps[-1].reads[0]
    copied = Step("step", [name], rng.choice(PASSED_ON).format(name=name), [("final_number", name, "the final number")])
    steps[-1:] = [copied, replace(steps[-1], reads=["final_number"])]


def with_words_around(steps, rng):
    which = rng.random()
    every = rng.choice(AROUND) if which < 0.35 else "{text}"
    for n, step in enumerate(steps, 1):
        around = rng.choice(AROUND) if 0.35 <= which < 0.6 else every
        # Behind a block of code nothing follows.
        if not step.text.startswith("```") or around.endswith(("{text}", "{small}")):
            name = step.outputs[-1][0] if step.outputs and step.kind != "final" else "final_answer"
            step.text = around.format(n=n, text=step.text, small=small(step.text), name=name)


def with_numbers_described(steps, right):
    """What the first step extracts has its right number in the description."""
    for step in steps:
        if step.kind == "extract":
            step.outputs = [(name, formula, f"{what} ({written(right[name])})") for name, formula, what in step.outputs]


def camel(name):
    first, *others = name.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


def styled(steps, rng, right):
    """The steps in another style, and the names that they use instead of their own."""
    steps = [replace(step) for step in steps]
    if rng.random() < 0.22:
        as_formulas(steps, rng.choice(FORMULAS))
    if rng.random() < 0.15 and len(steps[0].outputs) >= 3:
        extracted_in_two(steps)
    if rng.random() < 0.22:
        two_steps_in_one(steps, rng)
    ending, before = rng.random(), steps[-2]
    if ending < 0.12 and before.kind == "step" and before.names() == steps[-1].reads:
        calculated_last(steps, rng)
    elif ending < 0.25:
        passed_on(steps, rng)
    with_words_around(steps, rng)
    if rng.random() < 0.15:
        with_numbers_described(steps, right)
    names = [name for step in steps for name in step.names()]
    return steps, {name: camel(name) for name in names} if rng.random() < 0.15 else {}


# --------------------------------------------------------------------------------------------------------- runs

@dataclass
class Plan:
    """The steps of a run, and the names that its record uses instead of theirs."""
    steps: list
    renamed: dict = field(default_factory=dict)

    def answered(self):
        """The name whose value is the answer: the final step calculates it, or reads it."""
        return (self.steps[-1].names() or self.steps[-1].reads)[0]

    def place(self, name):
        """The step, from 1, that calculates a name."""
        return next(n for n, step in enumerate(self.steps, 1) if name in step.names())

    def is_written(self, name):
        return not any(step.kind == "step" and name in step.inner for step in self.steps)


@dataclass
class Run:
    """A right run of a problem. With the same key it has the same style."""
    problem: Problem
    name: str
    key: str
    given: dict                 # the chosen numbers, by their letters
    right: dict                 # the same, and the values that the problem's own plan writes
    is_styled: bool

    @property
    def expected(self):
        return self.right[self.problem.result]

    def plan(self, wrong=None):
        """The plan of the run; the step that writes `wrong` with another operation."""
        steps = []
        for step in self.problem.steps:
            text, outputs = step.text, [(name, formula, filled(what, self.right)) for name, formula, what in step.outputs]
            if wrong in step.names():
                formula, text = step.wrong
                outputs = [(wrong, formula, outputs[0][2])]
            steps.append(replace(step, text=filled(text, self.right), outputs=outputs))
        return Plan(*styled(steps, random.Random(f"style {self.key}"), self.right)) if self.is_styled else Plan(steps)


def as_json(number, form, rng):
    if form == "text" or form == "mixed" and rng.random() < 0.3:
        return repr(float(number)) if has_more_decimals(number, 6) else written(number)
    return float(number) if form == "float" else plain(number)


def record(run, name, plan, values, answer, told):
    """The record of a run: `answer` is its final number, `told` the number in its final sentence."""
    rng = random.Random(f"record {run.key}")
    form = rng.choice(["whole", "whole", "whole", "float", "text", "mixed"])
    known_as = lambda one: plan.renamed.get(one, one)
    with_new_names = lambda text: re.sub(r"\b[A-Za-z]\w*\b", lambda found: known_as(found[0]), text)
    about = {one: what for step in plan.steps for one, _, what in step.outputs}
    about["problem_text"] = rng.choice(["The full text of the problem.", "Original problem statement", "problem text"])
    described = lambda one: {"name": known_as(one), "description": with_new_names(about[one])}
    question = filled(run.problem.question, run.right)
    steps, state = [], {"problem_text": question}
    for n, step in enumerate(plan.steps, 1):
        shown = [one for one in step.names() if one not in step.inner]
        outputs = [described(one) for one in shown]
        if step.kind == "final":
            what = rng.choice(["Final answer to the problem", "The final answer.", "Description of the final answer."])
            outputs = [{"name": "final_answer", "description": what}]
        steps.append({"id": n, "inputs": [described(one) for one in step.reads], "stepDescription": with_new_names(step.text),
                      "output": outputs})
        state |= {known_as(one): as_json(values[one], form, rng) for one in shown}
    sentence = filled(run.problem.sentence, {**run.right, **values, run.problem.result: told})
    if rng.random() < 0.15:
        sentence = written(told)
    elif rng.random() < 0.1:
        sentence = f"The final answer is {written(told)}."
    state |= {"final_answer": sentence, "final_answer_numerical": plain(answer), "confidence": rng.choice([0.9, 0.95, 0.99, 1.0])}
    expected = round(float(run.expected), 2 if has_more_decimals(run.expected, 6) else 6)
    worked = f"{filled(run.problem.worked, run.right)}\n#### {written(run.expected)}"
    return {"id": name, "question": question, "gold_answer": worked, "gold_num": expected, "status": "ok", "mode": "procedural",
            "procedure": {"NameDescription": run.problem.name, "steps": steps}, "state": state, "pred_answer": sentence,
            "pred_num": plain(answer), "correct": abs(float(answer) - expected) < 1e-6}


def with_answer(known, made):
    """The record with what is known of the right answer. The expected number is in `gold_num`, and often in a text of its own."""
    made = dict(made)
    if known == "expected number" and random.Random(made["id"]).random() < 0.5:
        made["gold_answer"] = made["gold_answer"].split("\n")[-1]
    elif known == "expected number":
        del made["gold_answer"]
    elif known == "no answer":
        del made["gold_answer"], made["gold_num"], made["correct"]
    return made


# ------------------------------------------------------------------------------------------------------- faults

@dataclass
class Planted:
    plan: Plan
    values: dict
    truth: tuple                # what to fix, and in which step
    what: str                   # what was changed, for people
    answer: Fraction = None     # the final number, where the final step does not give what it reads
    told: Fraction = None       # the number in the final sentence, where it is another one


def pick(choices, rng):
    if not choices:
        raise Unfit
    return rng.choice(choices)


def bent(number, rng):
    """A number near another one: some more or less, ten times it, or with digits exchanged or changed."""
    near = [number + 1, number - 1, number + 2, number + 10, number - 10, number * 10]
    digits = written(number)
    if digits.isdigit() and len(digits) >= 2:
        at = rng.randrange(len(digits) - 1)
        exchanged = digits[:at] + digits[at + 1] + digits[at] + digits[at + 2:]
        near += [Fraction(exchanged)] * 2 if exchanged[0] != "0" else []
        at = rng.randrange(len(digits))
        near += [Fraction(digits[:at] + rng.choice("123456789") + digits[at + 1:])] * 2
    return pick([one for one in near if one > 0 and one != number], rng)


def slip(run, rng):
    plan = run.plan()
    right = carried_out(plan.steps, run.given)
    name = pick([one for step in plan.steps if step.kind != "extract" for one in step.names() if plan.is_written(one)], rng)
    wrong = bent(right[name], rng)
    values = carried_out(plan.steps, run.given, results={name: wrong})
    return Planted(plan, values, ("step_run", plan.place(name)), f"{name} is {written(wrong)} instead of {written(right[name])}")


def number_misread(run, rng):
    if any(filled(step.text, run.right) != step.text for step in run.problem.steps[1:]):
        raise Unfit  # The plan itself has the right numbers.
    plan = run.plan()
    right = carried_out(plan.steps, run.given)
    read = [name for step in plan.steps if step.kind == "extract" for name, formula, _ in step.outputs if formula.isidentifier()]
    name = pick(read, rng)
    usual = Fraction(rng.choice([2, 7, 10, 12, 24, 60, 100]))
    wrong = rng.choice([bent(right[name], rng), bent(right[name], rng), usual, right[rng.choice(read)]])
    values = carried_out(plan.steps, run.given, results={name: wrong})
    return Planted(plan, values, ("step_run", plan.place(name)), f"{name} is {written(wrong)} instead of {written(right[name])}")


def wrong_plan(run, rng):
    step = pick([step for step in run.problem.steps if step.wrong], rng)
    name, = step.names()
    plan = run.plan(wrong=name)
    values = carried_out(plan.steps, run.given)
    if values[plan.answered()] < 0:
        raise Unfit
    return Planted(plan, values, ("procedure", plan.place(name)), f"{name} is planned as {step.wrong[0]}")


def wrong_copy(run, rng):
    plan = run.plan()
    values = carried_out(plan.steps, run.given)
    others = [value for name, value in values.items() if plan.is_written(name) and value != run.expected]
    answer = rng.choice([bent(run.expected, rng), pick(others, rng)])
    told = run.expected if rng.random() < 0.25 else answer
    if has_more_decimals(answer, 6) and "fractions" not in run.problem.allows:
        raise Unfit
    what = f"the final number is {written(answer)} instead of {written(run.expected)}"
    what += ", the sentence is right" if told != answer else ""
    return Planted(plan, values, ("step_run", len(plan.steps)), what, answer, told)


def other_operation(run, rng):
    plan = run.plan()
    step = pick([step for step in run.problem.steps if step.wrong and plan.is_written(step.names()[0])], rng)
    name, = step.names()
    values = carried_out(plan.steps, run.given, formulas={name: step.wrong[0]})
    return Planted(plan, values, ("step_run", plan.place(name)), f"{name} is calculated as {step.wrong[0]}")


FAULTS = {"slip": slip, "other operation": other_operation, "number misread": number_misread, "wrong plan": wrong_plan,
          "wrong copy": wrong_copy}


@dataclass
class Case:
    kind: str                   # "right", or the fault
    made: dict
    truth: tuple = ("none", None)
    what: str = ""


def with_fault(run, kind, rng):
    """A run with a fault and a wrong answer; None where it cannot be had."""
    for _ in range(25):
        try:
            planted = FAULTS[kind](run, rng)
        except Unfit:
            continue
        answer = planted.values[planted.plan.answered()] if planted.answer is None else planted.answer
        if answer != run.expected and max(map(abs, planted.values.values())) <= LARGEST:
            name = f"{run.name}-{kind.replace(' ', '-')}"
            made = record(run, name, planted.plan, planted.values, answer, answer if planted.told is None else planted.told)
            return Case(kind, made, planted.truth, planted.what)
    return None


def cases_of(problem, most, seed):
    """Right runs of a problem, and from each but those that round, two with a fault."""
    right, faulty = [], []
    kinds = random.Random(f"{seed} {problem.name}").sample(list(FAULTS), len(FAULTS))
    for attempt in range(5 * most):
        n = len(right)
        if n == most:
            break
        key = f"{seed} {problem.name} {attempt}"
        rng = random.Random(key)
        is_rounded = n == most - 1 and "decimals" in problem.allows
        given = chosen(problem, rng, is_rounded)
        if given is None and is_rounded:
            is_rounded, given = False, chosen(problem, rng, False)
        if given is None:
            continue
        run = Run(problem, f"{problem.name}-{n}", key, given, {**given, **carried_out(problem.steps, given)}, is_styled=n > 0)
        plan = run.plan()
        values = carried_out(plan.steps, given, is_rounded=is_rounded)
        if values[plan.answered()] != run.expected:
            continue  # What was rounded changed the answer.
        right.append(Case("right", record(run, run.name, plan, values, run.expected, run.expected)))
        if not is_rounded:
            made = [with_fault(run, kinds[at % len(kinds)], rng) for at in (2 * n, 2 * n + 1)]
            faulty += [case for case in made if case]
    return right, faulty


# -------------------------------------------------------------------------------------------------- the figures

KNOWN = ("no answer", "expected number", "worked answer")


def judged(case, said):
    """How the place to fix of a run is: "none", "placed" or "wrong place"."""
    found = said["triage"]["fix"], said["triage"]["step"]
    if case.kind != "right" and found[0] == case.truth[0] and (found[1] == case.truth[1] or found == ("procedure", None)):
        return "placed"
    return "none" if found[0] in ("none", "unknown") else "wrong place"


def warned(said):
    """Findings above a note about what a step did."""
    return [one for one in said["findings"] if one["rule"].startswith("run/") and one["severity"] != "note"]


def tell_right(results):
    columns = ("accused", "called likely", "called sure", "with a warning")
    print(f"{'right runs':28}{'runs':>6}" + "".join(f"{column:>16}" for column in columns))
    for known in KNOWN:
        said = results[known]
        accused = [one["triage"]["confidence"] for case, one in said if judged(case, one) != "none"]
        counts = len(accused), accused.count("likely"), accused.count("sure"), sum(bool(warned(one)) for _, one in said)
        print(f"  {known:26}{len(said):6}" + "".join(f"{count:16}" for count in counts))


def tell_faults(known, said):
    columns = ("placed", "wrong place", "of them likely", "of them sure", "nothing said")
    print(f"\n{'faults, ' + known:28}{'runs':>6}" + "".join(f"{column:>16}" for column in columns))
    for kind in (*FAULTS, "all"):
        of = [(judged(case, one), one["triage"]["confidence"]) for case, one in said if kind in (case.kind, "all")]
        places = collections.Counter(place for place, _ in of)
        wrong = collections.Counter(word for place, word in of if place == "wrong place")
        placed = f"{places['placed']} ({100 * places['placed'] / max(len(of), 1):.1f} %)"
        counts = places["wrong place"], wrong["likely"], wrong["sure"], places["none"]
        print(f"  {kind:26}{len(of):6}{placed:>16}" + "".join(f"{count:16}" for count in counts))
    confidences("place to fix, by confidence", [(word, place == "placed") for place, word in of if place != "none"])


def tell_failures(results, most):
    """Right runs that are accused, then wrong places, the surest first."""
    order = {"sure": 0, "likely": 1, "unsure": 2}
    failed = [(known, case, one) for known, said in results.items() for case, one in said if judged(case, one) == "wrong place"]
    failed.sort(key=lambda failure: (failure[1].kind != "right", order[failure[2]["triage"]["confidence"]]))
    for known, case, one in failed[:most]:
        place, made = one["triage"], case.made
        print(f"\n{made['id']}, {known}: wanted {case.truth}, got {place['fix']} {place['step']} {place['confidence']}: "
              + " | ".join(reason["text"] for reason in place["why"][:2]))
        print("    changed:", case.what or "nothing")
        print("    question:", made["question"])
        for step in made["procedure"]["steps"]:
            outputs = ", ".join(f"{output['name']}={made['state'].get(output['name'])}" for output in step["output"])
            print("   ", step["id"], step["stepDescription"], "->", outputs)
        print("    final number:", made["pred_num"], "expected:", made["gold_num"])
        for finding in warned(one):
            print("   ", finding["severity"], finding["rule"], finding["message"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default="target/release/stepscope")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--runs", type=int, default=12, help="right runs of a problem")
    parser.add_argument("--records", help="a folder for the records that were checked")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="tell so many failures")
    options = parser.parse_args()
    if options.records:
        os.makedirs(options.records, exist_ok=True)
    known_problems = problems(os.path.join(HERE, "styles.txt"))
    right, faulty = [], []
    for problem in known_problems:
        made = cases_of(problem, options.runs, options.seed)
        right += made[0]
        faulty += made[1]

    def results(title, cases, known):
        keep = options.records and os.path.join(options.records, f"{title}, {known}.jsonl".replace(", ", "-").replace(" ", "-"))
        return list(zip(cases, checked(options.program, [with_answer(known, case.made) for case in cases], keep)))

    of_right = {known: results("right", right, known) for known in KNOWN}
    of_faulty = {known: results("faults", faulty, known) for known in KNOWN}
    print(f"{len(known_problems)} problems, {len(right)} right runs, {len(faulty)} with a fault, seed {options.seed}\n")
    tell_right(of_right)
    for known in KNOWN:
        tell_faults(known, of_faulty[known])
    tell_failures({known: of_right[known] + of_faulty[known] for known in KNOWN}, options.show)


if __name__ == "__main__":
    main()
