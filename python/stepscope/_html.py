"""What notebooks draw: text that is nothing but text, and a sheet that goes with the notebook's light or dark."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence

# Text has the notebook's own colour, so that it can be read on whatever ground; only the accents are chosen. Notebooks say
# that they are dark in different ways.
_DARK = (
    "body[data-jp-theme-light=false]",
    "body.vscode-dark",
    "body[data-theme=dark]",
    "html[data-theme=dark]",
    "html[theme=dark]",
)
# The name stands twice in a selector, so that it counts for more than the notebook's own rules for tables.
_SHEET = """
ROOT{--bad:#a01c22;--warn:#7a4a00;--good:#1b6434;--link:#1a4f9c;color-scheme:light;font-size:.93em;line-height:1.45}
DARK{--bad:#ff9a92;--warn:#f0c067;--good:#84d79c;--link:#93bdff;color-scheme:dark}
ROOT p{margin:.3em 0}ROOT .dim{opacity:.75}ROOT .says{font-size:1.12em;font-weight:600}
ROOT ol{margin:.3em 0;padding-left:1.6em}
ROOT.card{border:1px solid rgba(128,128,128,.4);border-left-width:.35em;border-radius:4px;padding:.5em .9em;max-width:64em}
ROOT.card.bad{border-left-color:var(--bad)}ROOT.card.warn{border-left-color:var(--warn)}ROOT.card.good{border-left-color:var(--good)}
ROOT .bad{color:var(--bad)}ROOT .warn{color:var(--warn)}ROOT .good{color:var(--good)}
ROOT .value{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.92em}
ROOT table{border-collapse:collapse;table-layout:auto;margin:.5em 0;font-size:1em;border:0}
ROOT tr,ROOT tr:hover{background:none}
ROOT th,ROOT td{text-align:left;vertical-align:top;padding:.25em .8em .25em 0;border:0;border-bottom:1px solid rgba(128,128,128,.3);white-space:normal;overflow-wrap:break-word;max-width:30em}
ROOT th{font-weight:600;opacity:.75}ROOT td.short{white-space:nowrap}ROOT td.number{text-align:right;white-space:nowrap}
ROOT td.wide{min-width:18em}ROOT td.mark{border:1px solid var(--bad);padding-left:.4em}
ROOT .charts{display:flex;flex-wrap:wrap;gap:.5em 2.5em;align-items:flex-start}
ROOT td.bar{min-width:9em;vertical-align:middle}ROOT td.bar div{min-width:1px;height:.7em;background:var(--link)}
ROOT summary{cursor:pointer;color:var(--link)}
ROOT iframe{width:100%;height:40em;border:1px solid rgba(128,128,128,.4);color-scheme:inherit}
"""
_ROOT = ".stepscope.stepscope"
SHEET = "<style>" + _SHEET.replace("DARK", ",".join(f"{dark} {_ROOT}" for dark in _DARK)).replace("ROOT", _ROOT) + "</style>"


def shown(text: object, most: int | None = None) -> str:
    """A text for one line: what is invisible, moves a cursor or turns the direction of text is named, as the program
    does it."""
    words = " ".join(str(text).split())
    if not words.isprintable():
        words = "".join(each if each.isprintable() else _named(ord(each)) for each in words)
    return words if most is None or len(words) <= most else words[: most - 1] + "…"


def _named(code: int) -> str:
    return chr(0x2400 + code) if code < 0x20 else f"⟨U+{code:04X}⟩"


def escaped(text: object, most: int | None = None) -> str:
    """A text as HTML."""
    return html.escape(shown(text, most))


def tag(name: str, inside: str, classes: str = "") -> str:
    """An element around what is HTML already."""
    return f'<{name} class="{classes}">{inside}</{name}>' if classes else f"<{name}>{inside}</{name}>"


def cell(text: object, classes: str = "", most: int | None = None) -> str:
    """A cell of a table with a text."""
    return tag("td", "" if text is None else escaped(text, most), classes)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of rows of cells."""
    head = "".join(tag("th", escaped(each)) for each in heads)
    body = "".join(tag("tr", "".join(row)) for row in rows)
    return f"<table><thead>{tag('tr', head)}</thead><tbody>{body}</tbody></table>"


def frame(page: str) -> str:
    """A page in a frame of its own, in which nothing runs: neither its styles nor what it holds touch the notebook."""
    return f'<iframe srcdoc="{html.escape(page, quote=True)}" title="report" sandbox loading="lazy"></iframe>'
