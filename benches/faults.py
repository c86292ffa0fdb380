#!/usr/bin/env python3
"""Plants one known fault in runs made from the worked questions of GSM8K, and measures how `stepscope check` places it.

  git clone --bare https://github.com/openai/grade-school-math /tmp/gsm8k
  benches/faults.py /tmp/gsm8k --seed 7
  benches/faults.py /tmp/gsm8k --seed 7 --misses --records /tmp/faults.jsonl

The calculator marks of a worked answer give a procedure: the numbers of the question are extracted, then each mark is a
step. The procedure is worded in several ways, carried out, and one thing is changed. What was changed says where to fix.
Every run is checked with the worked answer, with marks or without, and without it. Python's standard library only.
"""
import ast, collections, json, random, re
from fractions import Fraction

from outside import GSM8K, MARK, checked, confidences, lines, options_for_gsm8k, read, share

WORDS = {word: n for n, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())}
WORDS |= {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "half": Fraction(1, 2), "twice": 2, "dozen": 12}
USUAL = {60, 7, 12, 24, 100, 365, 52, 1000, 30, 2, 1}
SIGNS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
EMPTY = set("the a an of and to in for is are was were has have had will with that this his her their its she he they it so at "
            "on by from as per each every all total if then there be would can how many much more than them into out".split())


def plain(value):
    value = Fraction(value)
    return int(value) if value.denominator == 1 else round(float(value), 4)


def shown(value):
    return str(plain(value))


class Tree:
    """A calculation: a sign over two trees, or a leaf, which is a variable's name or a number of the plan."""

    def __init__(self, sign, left, right=None):
        self.sign, self.left, self.right = sign, left, right

    def value(self, state):
        if self.sign is None:
            return state[self.left] if isinstance(self.left, str) else self.left
        a, b = self.left.value(state), self.right.value(state)
        return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "/": lambda: a / b}[self.sign]()

    def names(self):
        if self.sign is None:
            return [self.left] if isinstance(self.left, str) else []
        return list(dict.fromkeys(self.left.names() + self.right.names()))

    def text(self, say=str, signs=None, least=0):
        if self.sign is None:
            return say(self.left)
        level = 1 if self.sign in "+-" else 2
        sign = (signs or {}).get(self.sign, self.sign)
        out = f"{self.left.text(say, signs, level)} {sign} {self.right.text(say, signs, level + (self.sign in '-/'))}"
        return f"({out})" if level < least else out

    def swapped(self):
        return Tree(self.sign, self.right, self.left)

    def row(self):
        """The operands of a chain of one sign; None of anything else."""
        if self.sign is None:
            return [self]
        left = [self.left] if self.left.sign is None else self.left.row() if self.left.sign == self.sign else None
        return left + [self.right] if left and self.right.sign is None else None


def parsed(text):
    def tree(node):
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return Tree(None, Fraction(str(node.value)))
        if isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
            left, right = tree(node.left), tree(node.right)
            return left and right and Tree(SIGNS[type(node.op)], left, right)
        return None
    try:
        return tree(ast.parse(re.sub(r"(?<![\d.])0+(?=\d)", "", text.replace(",", "").strip()), mode="eval").body)
    except SyntaxError:
        return None


def word_name(words, taken, backup):
    words = [word for word in re.findall(r"[A-Za-z]+", words) if word.lower() not in EMPTY and word.lower() not in WORDS]
    name = "_".join(word.lower() for word in words[:2]) or backup
    while name in taken:
        name = f"{name}_{len(taken)}"
    return name


class Question:
    """A question with its procedure; ValueError where its worked answer cannot be one."""

    def __init__(self, row):
        self.question, self.worked = row["question"], row["answer"]
        self.gold = Fraction(self.worked.rsplit("####", 1)[1].strip().replace(",", ""))
        self.read, self.steps = {}, []
        places = [(Fraction(found[0].replace(",", "").rstrip(".")), found.end(), self.question[found.end():][:1] == "%")
                  for found in re.finditer(r"\d[\d,]*(?:\.\d+)?", self.question)]
        places += [(Fraction(WORDS[found[0].lower()]), found.end(), False)
                   for found in re.finditer(r"[A-Za-z]+", self.question) if found[0].lower() in WORDS]
        self.places, known = places, {}
        for line in self.worked.split("####")[0].splitlines():
            for mark in MARK.finditer(line):
                left, right = mark[1].rsplit("=", 1)
                tree = parsed(left)
                if tree is None or tree.sign is None:
                    raise ValueError(mark[1])
                result = Fraction(right.strip().replace(",", ""))
                tree = self.bound(tree, known)
                if tree.value({**self.read, **{name: value for name, (_, value, _) in known.items()}}) != result:
                    raise ValueError("not exact")
                behind = MARK.sub("", line[mark.end():])
                name = word_name(re.sub(r"^[\d.,]+", "", behind).split(".")[0], [*self.read, *known], f"result_{len(known)}")
                known[name] = (tree, result, MARK.sub("", line).strip())
                self.steps.append((name, tree, known[name][2]))
        if len(self.steps) < 2 or list(known.values())[-1][1] != self.gold or not self.read:
            raise ValueError("too short")
        used = {name for _, tree, _ in self.steps for name in tree.names()}
        if any(name not in used for name, _, _ in self.steps[:-1]):
            raise ValueError("a value that nothing reads")

    def bound(self, tree, known):
        if tree.sign is not None:
            return Tree(tree.sign, self.bound(tree.left, known), self.bound(tree.right, known))
        own = tree.left
        for name, (_, value, _) in reversed(known.items()):
            if value == own:
                return Tree(None, name)
        for name, value in self.read.items():
            if value == own:
                return Tree(None, name)
        for value, end, percent in self.places:
            if value == own or percent and value / 100 == own:
                name = word_name(self.question[end:end + 40].split(".")[0].split("?")[0], self.read, f"quantity_{len(self.read)}")
                self.read[name] = own
                return Tree(None, name)
        if own in USUAL:
            return tree
        raise ValueError(f"{own} from nowhere")


# ----------------------------------------------------------------------------------------------------- wordings

def said(name):
    return f"the {name.replace('_', ' ')}" if isinstance(name, str) else shown(name)


def prose(tree, rng):
    """A calculation in words; None where it is too deep for a sentence."""
    row = tree.row()
    if row is None:
        for outer, words in (("+", "Add {b} to {a}"), ("-", "Subtract {b} from {a}"), ("*", "Multiply {a} by {b}"),
                             ("/", "Divide {a} by {b}")):
            if tree.sign == outer:
                noun = {"+": "the sum of {0} and {1}", "*": "the product of {0} and {1}",
                        "-": "the difference between {0} and {1}", "/": "the quotient of {0} and {1}"}
                sides = []
                for side in (tree.left, tree.right):
                    if side.sign is None:
                        sides.append(said(side.left))
                    elif side.row() and len(side.row()) == 2:
                        sides.append(noun[side.sign].format(*(said(one.left) for one in side.row())))
                    else:
                        return None
                return words.format(a=sides[0], b=sides[1]) + "."
        return None
    names = [said(one.left) for one in row]
    if len(names) > 2:
        listed = ", ".join(names[:-1]) + " and " + names[-1]
        rest = ", ".join(names[1:-1]) + (", and " if len(names) > 3 else " and ") + names[-1]
        return {"+": [f"Add {listed}.", f"Compute the sum of {listed}."], "*": [f"Multiply {listed}.", f"Find the product of {listed}."],
                "-": [f"Subtract {rest} from {names[0]}."], "/": [None]}[tree.sign][rng.randrange(1 if tree.sign in "-/" else 2)]
    a, b = names
    return rng.choice({
        "+": [f"Add {a} and {b}.", f"Add {a} to {b}.", f"Compute the sum of {a} and {b}.", f"Put {a} and {b} together.",
              f"Find the total of {a} and {b}.", f"Combine {a} with {b}.", f"Find how much {a} plus {b} is."],
        "-": [f"Subtract {b} from {a}.", f"Take {b} away from {a}.", f"Find the difference between {a} and {b}.",
              f"Remove {b} from {a}.", f"Find what is left of {a} after {b} are taken off.", f"Determine how many more {a} is than {b}.",
              f"Work out how much remains of {a} once {b} are gone.", f"Decrease {a} by {b}.", f"Deduct {b} from {a}."],
        "*": [f"Multiply {a} by {b}.", f"Compute the product of {a} and {b}.", f"Multiply {a} and {b}.", f"Take {a} times {b}.",
              f"Find {a} multiplied by {b}."],
        "/": [f"Divide {a} by {b}.", f"Find how many times {b} goes into {a}.", f"Split {a} equally among {b}.",
              f"Split {a} into as many equal parts as {b}.", f"Distribute {a} equally over {b}.",
              f"Find how many groups of {b} fit into {a}.", f"Compute the ratio of {a} to {b}.", f"Compute the quotient of {a} and {b}."],
    }[tree.sign])


def worded(wording, name, tree, line, state, rng):
    """The text of a step and the description of its output; None where this wording cannot say it."""
    what = name.replace("_", " ")
    if wording == "signs":
        return rng.choice(["Compute {} = {}.", "Calculate the value: {} = {}.", "Set {} to the result: {} = {}."][:2]).format(name, tree.text()), ""
    if wording == "typographic":
        return f"Work out {tree.text(lambda own: own.replace('_', ' ') if isinstance(own, str) else shown(own), {'*': '×', '/': '÷', '-': '−'})}.", f"{what}"
    if wording == "described":
        return f"Determine the {what}.", f"{what.capitalize()}: {tree.text()}."
    if wording == "prose":
        text = prose(tree, rng)
        return text and (text, rng.choice(["", f"the {what}"]))
    if wording == "bare":
        return rng.choice([f"Work out the {what}.", f"Determine the {what}.", f"Find the {what}."]), ""
    numbers = tree.text(lambda own: shown(state[own]) if isinstance(own, str) else shown(own))
    return f"{numbers} = {shown(tree.value(state))}, the {what}.", ""


WORDINGS = ("signs", "typographic", "described", "prose", "bare", "worked")
FAULTS = ("none", "misread", "usual", "exchanged", "slip", "operator slip", "swapped slip", "copied wrong",
          "operator", "swapped", "stops early", "missed", "gold")


def planted(question, fault, wording, rng):
    """The run of a question with a fault, and where it is to be fixed: (record, fix, step, recovered); None: not this one."""
    names, read, steps = list(question.read), dict(question.read), list(question.steps)
    fix, step, gold = "step_run", None, question.gold
    slips, ending = {}, question.gold
    bound = [name for name in names if any(name in tree.names() for _, tree, _ in steps)]
    taken = set(read.values()) | {value for value, _, _ in question.places}
    if fault == "misread" or fault == "usual":
        name = rng.choice(bound)
        own = read[name]
        digits = str(plain(own))
        wrong = [own + 1, own - 1, own * 10, own + rng.randint(2, 9)] + ([Fraction(digits[::-1])] if own > 10 and own.denominator == 1 else [])
        wrong = [0, 1, 2, 4, 6, 7, 8, 10, 12, 24, 60, 100, 365, 1000] if fault == "usual" else wrong
        wrong = [Fraction(one) for one in wrong if one not in taken and (one > 0 or fault == "usual")]
        if not wrong or own.denominator != 1:
            return None
        read[name], step = rng.choice(wrong), 1
    elif fault == "exchanged":
        pairs = [(a, b) for a in bound for b in bound if a < b and read[a] != read[b]]
        if not pairs:
            return None
        a, b = rng.choice(pairs)
        read[a], read[b], step = read[b], read[a], 1
    elif fault in ("operator", "swapped", "operator slip", "swapped slip"):
        at = rng.randrange(len(steps))
        name, tree, line = steps[at]
        if fault.startswith("swapped"):
            other = tree.swapped() if tree.sign in "-/" else None
        else:
            other = Tree(rng.choice([sign for sign in "+-*/" if sign != tree.sign]), tree.left, tree.right)
        if other is None:
            return None
        if fault.endswith("slip"):
            slips[name], step = other, at + 2
        else:
            if wording in ("bare",):
                return None
            steps[at], fix, step = (name, other, line), "procedure", at + 2
    elif fault == "slip":
        at = rng.randrange(len(steps))
        slips[steps[at][0]], step = rng.choice([lambda v: v + 1, lambda v: v - 1, lambda v: v + 10, lambda v: v * 10, lambda v: v - 2, lambda v: v + 100]), at + 2
    elif fault == "stops early":
        steps, fix = steps[:-1], "procedure"
    elif fault == "missed":
        name = rng.choice(bound)
        at, uses = next((at, tree) for at, (_, tree, _) in enumerate(steps) if name in tree.names())
        if sum(name in tree.names() for _, tree, _ in steps) > 1 or uses.row() is None or uses.sign is None:
            return None
        kept = [leaf for leaf in uses.row() if leaf.left != name]
        if uses.sign in "-/" and uses.row()[0].left == name or len(kept) + 1 != len(uses.row()):
            return None
        target, _, line = steps[at]
        if len(kept) == 1:
            # The step falls away, and what it read goes on in its place.
            if at + 1 == len(steps) or not isinstance(kept[0].left, str):
                return None
            put = lambda tree: Tree(tree.sign, put(tree.left), put(tree.right)) if tree.sign else Tree(None, kept[0].left if tree.left == target else tree.left)
            steps = [(own, put(tree), text) for own, tree, text in steps if own != target]
        else:
            tree = kept[0]
            for leaf in kept[1:]:
                tree = Tree(uses.sign, tree, leaf)
            steps[at] = (target, tree, line)
        fix = "procedure"
        names.remove(name)
    elif fault == "gold":
        fix, gold = "gold", question.gold + rng.choice([1, -1, 10, 3])
    elif fault == "none":
        fix = "none"
    state, written = dict(read), {}
    describe = rng.choice([lambda name: "", lambda name: f"{name.replace('_', ' ')} in the question", lambda name: f"({shown(question.read[name])})",
                           lambda name: f"{name.replace('_', ' ').capitalize()} (value {shown(question.read[name])})", lambda name: f"= {shown(question.read[name])}."])
    field = lambda name, text="": {"name": name, "description": text}
    planned = [{"id": 1, "inputs": [field("problem_text")], "output": [field(name, describe(name)) for name in names],
                "stepDescription": rng.choice(["Extract the quantities.", "Extract all numbers from the problem text.", "Read the facts from the question."])}]
    for name, tree, line in steps:
        if any(leaf not in state for leaf in tree.names()):
            return None
        try:
            value = tree.value(state)
            own = worded(wording, name, tree, line, state, rng)
            if name in slips:
                value = slips[name](value) if callable(slips[name]) else slips[name].value(state)
        except ZeroDivisionError:
            return None
        if not own:
            return None
        value = Fraction(shown(value))
        if wording == "worked" and name in slips:
            own = (own[0].rsplit(" = ", 1)[0] + f" = {shown(value)}, the {name.replace('_', ' ')}.", "")
        state[name] = value
        planned.append({"id": len(planned) + 1, "inputs": [field(leaf) for leaf in tree.names()] or [field("problem_text")],
                        "stepDescription": own[0], "output": [field(name, own[1])]})
    last = steps[-1][0]
    answer = state[last]
    if fault == "copied wrong":
        answer, step = answer + rng.choice([1, 5, -1, 10]), len(planned) + 1
    planned.append({"id": len(planned) + 1, "inputs": [field(last)], "output": [field("final_answer")],
                    "stepDescription": rng.choice([f"State {last} as the final answer.", "State the answer.", "Return the result as the final answer."])})
    is_right = abs(float(answer) - float(question.gold)) < 1e-6
    if (fault in ("none", "gold")) != is_right or abs(float(answer)) > 1e12:
        return None
    if fault not in ("none", "gold") and abs(float(answer) - float(gold)) < 0.01 * abs(float(gold)):
        return None
    state = {"problem_text": question.question} | {name: plain(state[name]) for name in [*names, *(name for name, _, _ in steps)]}
    state |= {"final_answer": f"The answer is {shown(answer)}.", "final_answer_numerical": plain(answer), "confidence": 0.9}
    worked = question.worked.split("####")[0]
    made = {"id": "x", "question": question.question, "gold_answer": f"{worked}#### {shown(gold)}", "gold_num": plain(gold), "status": "ok",
            "mode": "procedural", "procedure": {"NameDescription": "A plan", "steps": planned}, "state": state, "pred_num": plain(answer)}
    return made, fix, step, question.gold if fix == "step_run" else None


def gold_as(style, made):
    """The worked answer as other data sets write it; `hidden`: without it."""
    made = dict(made)
    if style == "hidden":
        del made["gold_answer"], made["gold_num"]
    elif style == "unmarked":
        made["gold_answer"] = MARK.sub("", made["gold_answer"])
    elif style == "typographic":
        text = re.sub(r"(?<=\d)\s*\*\s*(?=[\d$(])", " × ", MARK.sub("", made["gold_answer"]))
        made["gold_answer"] = re.sub(r"(?<=\d)\s*/\s*(?=[\d$(])", " ÷ ", text)
    return made


def questions_of(options, rng):
    """The questions of a clone whose worked answers can be procedures, in an order of their own."""
    questions = []
    for row in lines(read(options.clone, f"{GSM8K}{options.part}.jsonl")):
        try:
            questions.append(Question(row))
        except (ValueError, ZeroDivisionError):
            pass
    rng.shuffle(questions)
    return questions


def main():
    parser = options_for_gsm8k(__doc__, "test", "a file for the records that were checked")
    parser.add_argument("--most", type=int, default=500, help="so many questions")
    parser.add_argument("--only", help="one fault")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    questions = questions_of(options, rng)
    cases = []
    faults = [options.only] if options.only else FAULTS
    for question in questions[:options.most]:
        for wording in WORDINGS:
            fault = rng.choice(faults)
            case = planted(question, fault, wording, rng)
            if case is None:
                continue
            made, fix, step, recovered = case
            for style in (rng.choice(["marked", "unmarked", "typographic"]), "hidden"):
                if style == "hidden" and fault == "gold":
                    continue
                cases.append((gold_as(style, made) | {"id": f"{len(cases)}"}, fault, wording, style, fix, step, recovered))
    said = checked(options.program, [case[0] for case in cases], options.records)
    print(f"{len(cases)} runs of {min(options.most, len(questions))} questions ({len(questions)} can be used), seed {options.seed}")
    tables = collections.defaultdict(lambda: [0, 0])
    count = lambda key, hit: tables[key].__setitem__(slice(None), [tables[key][0] + bool(hit), tables[key][1] + 1])
    calibration, misses = [], []
    for (made, fault, wording, style, fix, step, recovered), one in zip(cases, said):
        verdict = one["triage"]
        above = [finding for finding in one["findings"] if finding["severity"] != "note"]
        if style == "hidden":
            if fault == "none":
                count(("alarm without gold", "none", wording), above or verdict["fix"] in ("step_run", "procedure", "gold"))
                hit = not above and verdict["fix"] not in ("step_run", "procedure", "gold")
            else:
                accused = above or verdict["fix"] != "unknown"
                hit = not accused or verdict["fix"] in ("unknown", fix)
                count(("found without gold", fault, wording), above)
                count(("wrong without gold", fault, wording), not hit)
        else:
            hit = verdict["fix"] == fix
            count(("fix", fault, wording), hit)
            count(("step", fault, wording), hit and verdict["step"] == step) if step else None
            if fault == "none":
                count(("alarm with gold", "none", wording), above)
                hit &= not above
            if recovered is not None:
                count(("recovered", fault, wording), verdict["recovered"] is not None and abs(verdict["recovered"] - float(recovered)) < 1e-6)
            calibration.append((verdict["confidence"], hit))
        if not hit:
            misses.append((fault, wording, style, made, fix, step, verdict, above))
    for table in ("fix", "step", "recovered", "alarm with gold", "alarm without gold", "found without gold", "wrong without gold"):
        rows = [fault for fault in FAULTS if any(key[:2] == (table, fault) for key in tables)]
        print(f"\n{table:20}" + "".join(f"{wording:>13}" for wording in WORDINGS))
        for fault in rows:
            cells = [tables.get((table, fault, wording), (0, 0)) for wording in WORDINGS]
            print(f"{fault:20}" + "".join(f"{f'{hits}/{of}' if of else '-':>13}" for hits, of in cells))
        hits, of = map(sum, zip(*[value for key, value in tables.items() if key[0] == table] or [(0, 0)]))
        print(f"{'all':20} {share(hits, of)}")
    print()
    confidences("place to fix, by confidence", calibration)
    for fault, wording, style, made, fix, step, verdict, above in misses if options.misses else []:
        why = " | ".join(argument["text"] for argument in verdict["why"][:2])
        print(f"\n{made['id']} {fault} / {wording} / {style}: wanted {fix} {step}, got {verdict['fix']} {verdict['step']} {verdict['confidence']}: {why}",
              *[f"{finding['rule']}: {finding['message']}" for finding in above], sep="\n      ")
        print("      Q", made["question"], "\n      G", repr(made.get("gold_answer")))
        for planned in made["procedure"]["steps"]:
            print("     ", planned["id"], planned["stepDescription"], "<-", ", ".join(field["name"] for field in planned["inputs"]), "->",
                  ", ".join(f"{field['name']}={made['state'].get(field['name'])} {field['description']!r}" for field in planned["output"]))


if __name__ == "__main__":
    main()
