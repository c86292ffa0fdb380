"""A record as a card for a notebook, made of the page that the program writes of it: verdict, steps, findings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from html.parser import HTMLParser

from ._html import SHEET, cell, escaped, frame, shown, table, tag

# So many are on the card; the page has more.
_MOST_STEPS, _MOST_ITEMS, _MOST_FINDINGS, _MOST_REASONS = 30, 10, 8, 4
_LONGEST = 300
_VOID = frozenset(("meta", "br", "link", "img", "hr", "input", "wbr"))
_MOODS = ("bad", "warn", "good")


class Node:
    """An element of a page."""

    def __init__(self, name: str, given: dict[str, str]) -> None:
        self.name, self.given = name, given
        self.classes = given.get("class", "").split()
        self.inside: list[Node | str] = []

    def all(self, fits: Callable[[Node], bool]) -> Iterator[Node]:
        """The outermost elements below this one that fit, in order."""
        for each in self.inside:
            if isinstance(each, Node):
                if fits(each):
                    yield each
                else:
                    yield from each.all(fits)

    def first(self, name: str, classes: str = "") -> Node | None:
        return next(self.all(lambda each: each.name == name and (not classes or classes in each.classes)), None)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.inside)

    @property
    def mood(self) -> str:
        return next((mood for mood in _MOODS if mood in self.classes), "")


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.root = Node("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self._open[-1].inside.append(node)
        if tag not in _VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        if len(self._open) > 1 and self._open[-1].name == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].inside.append(data)


def card(page: str, place: str | None = None) -> str:
    """The card of a record's page, with the page behind it; ``place`` says where the record was written."""
    reader = _Reader()
    reader.feed(page)
    root = reader.root
    verdict = _section(root, "verdict")
    box = verdict and verdict.first("div", "verdict")
    parts = [
        tag("p", _words(root.first("p", "kicker")), "dim"),
        _verdict(box) if box else "",
        tag("p", _words(root.first("h1"))),
        _steps(_section(root, "steps")),
        _items(_section(root, "answer")),
        _findings(_section(root, "findings")),
        tag("p", escaped(place), "dim") if place else "",
        f"<details><summary>open the whole page</summary>{frame(page)}</details>",
    ]
    return SHEET + tag("div", "".join(parts), f"stepscope card {box.mood if box else ''}".rstrip())


def _section(root: Node, name: str) -> Node | None:
    # None is in another.
    sections = root.all(lambda each: each.name == "section")
    return next((each for each in sections if each.given.get("aria-labelledby") == name), None)


def _words(node: Node | None, most: int = _LONGEST) -> str:
    return "" if node is None else escaped(node.text, most)


def _more(section: Node, shown_here: int, count: int, what: str) -> str:
    """What the card leaves out of a section. The page may leave out more, and says so in its own words."""
    more = f"and {count - shown_here:,} more {what}" if count > shown_here else ""
    left = "; ".join(_words(each) for each in section.inside if isinstance(each, Node) and "dim" in each.classes)
    return tag("p", "; ".join(each for each in (more, left) if each), "dim") if more or left else ""


def _verdict(box: Node) -> str:
    says, fix = box.first("p", "says"), box.first("strong")
    reasons = list(box.all(lambda each: each.name == "li"))
    listed = "".join(tag("li", _words(each)) for each in reasons[:_MOST_REASONS])
    return (
        tag("p", _words(says), f"says {box.mood}".rstrip())
        + (tag("p", _words(fix)) if fix else "")
        + (tag("ol", listed) if listed else "")
    )


def _steps(section: Node | None) -> str:
    inside = section.inside if section else []
    heads = [each.first("summary") for each in inside if isinstance(each, Node) and each.name == "details"]
    steps = [each for each in heads if each is not None]
    if section is None or not steps:
        return ""
    # Those with a wrong value are there, however many there are.
    first = sorted(range(len(steps)), key=lambda n: (steps[n].first("span", "bad-text") is None, n))[:_MOST_STEPS]
    rows = [_step(steps[n]) for n in sorted(first)]
    return table(["step", "", "does", "writes"], rows) + _more(section, len(rows), len(steps), "steps")


def _step(summary: Node) -> list[str]:
    number, wrote = summary.first("strong"), summary.first("span", "wrote")
    does = "".join(each for each in summary.inside if isinstance(each, str))
    is_wrong = wrote is not None and wrote.first("span", "bad-text") is not None
    return [
        cell(shown(number.text).removeprefix("Step ") if number else "", "number"),
        _chip(summary),
        cell(does, most=_LONGEST),
        tag("td", _wrote(wrote) if wrote else "", "mark" if is_wrong else ""),
    ]


def _wrote(wrote: Node) -> str:
    """What a step wrote, each value with what is said of it."""
    parts = []
    for each in wrote.inside:
        if isinstance(each, str):
            parts.append(_between(each.removeprefix("writes ")))
        else:
            classes = "value" if "value" in each.classes else "bad" if "bad-text" in each.classes else "dim"
            parts.append(tag("span", escaped(each.text, _LONGEST), classes))
    return "".join(parts)


def _between(text: str) -> str:
    """A text between two elements, with the blanks at its ends."""
    inner = escaped(text)
    return f"{' ' if text[:1].isspace() else ''}{inner}{' ' if inner and text[-1:].isspace() else ''}"


def _items(section: Node | None) -> str:
    """The parts of an answer: what it says, and how it stands in the document."""
    items = list(section.all(lambda each: each.name == "li")) if section else []
    if section is None or not items:
        return ""
    rows = [[_cell(each, "strong"), _chip(each), _cell(each, "p", "prose")] for each in items[:_MOST_ITEMS]]
    return table(["answer", "", ""], rows) + _more(section, len(rows), len(items), "items")


def _findings(section: Node | None) -> str:
    found = list(section.all(lambda each: each.name == "li")) if section else []
    if section is None or not found:
        return tag("p", "No findings.", "dim") if section else ""
    rows = [[_chip(each), _cell(each, "p", "prose"), _cell(each, "code")] for each in found[:_MOST_FINDINGS]]
    return table(["finding", "", "rule"], rows) + _more(section, len(rows), len(found), "findings")


def _chip(node: Node) -> str:
    chip = node.first("span", "chip")
    return cell(chip.text if chip else "", f"short {chip.mood}".rstrip() if chip else "")


def _cell(node: Node, name: str, classes: str = "") -> str:
    found = node.first(name, classes)
    return cell(found.text if found else "", "value" if name == "code" else "", _LONGEST)
