"""stepscope in Python: record runs of a language model, check them, look at them.

>>> from stepscope import record
>>> query = record(query, "runs.jsonl")            # evoproc's query function; its runs become lines of the file
>>> import stepscope
>>> stepscope.check("runs.jsonl")                  # findings and where to fix, as dicts
>>> stepscope.show("runs.jsonl")                   # the report; in a notebook a card
>>> stepscope.summary("runs.jsonl")                # counts; compare(a, b), review(path) and rerun(path) are there too
>>> stepscope.open("runs.jsonl")                   # the screen, from a terminal

The package is pure Python without dependencies; the wheel holds the program (``stepscope``, ``python -m stepscope``).
"""

from importlib import metadata as _metadata

from ._answers import record_answer
from ._arrow import batch_schema, batches
from ._call import usage
from ._check import check, rewards, save, stream
from ._check import open as open  # not in __all__: `from stepscope import *` would replace the builtin
from ._compare import Comparison, compare
from ._frame import CheckedRecords, to_frame
from ._langchain import LangChain
from ._parts import Part, parts
from ._program import StepscopeError, program
from ._record import Recording, record, start
from ._report import Report, show
from ._rerun import Rerun, rerun
from ._review import Review, review
from ._reward import reward
from ._run import Run
from ._search import record_search
from ._spans import SpanExporter
from ._step import Step
from ._summary import Summary, summary

try:
    __version__ = _metadata.version("stepscope")
except _metadata.PackageNotFoundError:  # imported from a checkout
    __version__ = "0+unknown"

__all__ = [
    "CheckedRecords",
    "Comparison",
    "LangChain",
    "Part",
    "Recording",
    "Report",
    "Rerun",
    "Review",
    "Run",
    "SpanExporter",
    "Step",
    "StepscopeError",
    "Summary",
    "batch_schema",
    "batches",
    "check",
    "compare",
    "parts",
    "program",
    "record",
    "record_answer",
    "record_search",
    "rerun",
    "review",
    "reward",
    "rewards",
    "save",
    "show",
    "start",
    "stream",
    "summary",
    "to_frame",
    "usage",
]
