"""Replies that are not there yet when a function returns: awaited. They are recorded once they are there."""

from __future__ import annotations

import atexit
import inspect
import os
import threading
import weakref
from collections.abc import Awaitable
from typing import Any

from ._call import _Asked, _safely


class Interrupted(Exception):
    """Nobody waited for the end of a reply."""


class _Coming:
    """A reply on its way. It is recorded once, however it ends."""

    def __init__(self, asked: _Asked) -> None:
        self._asked: _Asked | None = asked
        self._is_begun = False

    def begin(self) -> None:
        """The model is asked now. What was never begun was never asked."""
        if self._asked is not None:
            self._asked.begin()
            self._is_begun = True
            _begun.add(self)

    def enter(self) -> None:
        """Code of the recorded function runs from here to ``leave``; ``usage`` in it is of this call."""
        if self._asked is not None:
            self._asked.enter()

    def leave(self) -> None:
        if self._asked is not None:
            self._asked.leave()

    def take(self) -> _Asked | None:
        """The call, for whoever records its end; ``None``: it is recorded."""
        asked, self._asked = self._asked, None
        _begun.discard(self)
        return asked

    def fail(self, error: BaseException) -> None:
        asked = self.take()
        if asked is not None:
            _safely(asked.end, None, error)

    def give_up(self) -> None:
        """Record what came of a reply whose end will not be seen."""
        self.fail(Interrupted("the end of the reply was not seen"))

    def __del__(self) -> None:
        asked = self._asked
        if asked is not None and self._is_begun:
            # Objects die anywhere, also in a thread that holds the lock of the file.
            last = _Coming(asked)
            try:
                threading.Thread(target=last.give_up).start()
            except RuntimeError:  # the interpreter ends
                last.take()


def _hand_on(asked: _Asked | None, reply: Any) -> Any:
    """The reply for the caller. It is recorded now, or once it is there."""
    if asked is None:
        return reply
    asked.leave()
    if callable(getattr(type(reply), "add_done_callback", None)):
        coming = _Coming(asked)
        coming.begin()
        reply.add_done_callback(lambda done: _done(coming, done))
        return reply
    if inspect.isawaitable(reply):
        return _awaited(_Coming(asked), reply)
    _safely(asked.end, reply)
    return reply


def _done(coming: _Coming, future: Any) -> None:
    """Record what a future became."""
    try:
        reply = future.result()
    except BaseException as error:
        coming.fail(error)
    else:
        _hand_on(coming.take(), reply)


async def _awaited(coming: _Coming, reply: Awaitable[Any]) -> Any:
    coming.begin()
    coming.enter()
    try:
        value = await reply
    except GeneratorExit:  # nobody waits for it any more
        raise
    except BaseException as error:
        coming.fail(error)
        raise
    finally:
        coming.leave()
    return _hand_on(coming.take(), value)


_begun: weakref.WeakSet[_Coming] = weakref.WeakSet()


def _flush() -> None:
    """At the end of the process nothing more comes."""
    for coming in list(_begun):
        coming.give_up()


def _after_fork() -> None:
    """What a parent waits for is recorded there."""
    for coming in list(_begun):
        coming.take()


atexit.register(_flush)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
