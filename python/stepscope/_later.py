"""Replies that are not there yet when a function returns: awaited, or in pieces. They are recorded when they end."""

from __future__ import annotations

import atexit
import inspect
import io
import os
import threading
import types
import weakref
from collections.abc import Awaitable, Callable, Generator, Hashable, Iterator
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, cast

from ._call import _Asked
from ._pieces import _Body, _Pieces
from ._reply import _body, _is_raw, _text
from ._sink import _safely


class Interrupted(Exception):
    """The end of a reply was not seen: what came of it is a part."""


class _Coming:
    """A reply on its way. It is recorded once, however it ends."""

    def __init__(self, asked: _Asked, pieces: _Pieces | None = None) -> None:
        self._asked: _Asked | None = asked
        self._pieces = _Pieces() if pieces is None else pieces
        self._is_begun = False
        self._is_inside = False

    def begin(self) -> None:
        """The model is asked from now on. What was never begun was never asked."""
        if self._asked is not None and not self._is_begun:
            self._asked.begin()
            self.wait()

    def wait(self) -> None:
        """The model was asked already."""
        self._is_begun = True
        _begun.add(self)

    @property
    def is_listening(self) -> bool:
        """Whether the next piece counts: the call is not recorded yet, and no other reader of the reply asks for it."""
        return self._asked is not None and not self._is_inside

    def reading(self, end: str) -> None:
        """The body of the reply is read in pieces, as it came."""
        self._pieces = _Body(end)

    def enter(self) -> None:
        """Code of the recorded function runs from here to ``leave``; ``usage`` in it is of this call."""
        if self._asked is not None:
            self._asked.enter()

    def leave(self) -> None:
        if self._asked is not None:
            self._asked.leave()

    def next(self, get: Callable[[], Any]) -> Any:
        """One more piece."""
        if self._is_inside:  # an iterator of the same reply asks this one
            return get()
        self._get_in()
        try:
            piece = get()
        except BaseException as error:
            self._stop(error)
            raise
        finally:
            self._get_out()
        _safely(self._pieces.add, piece)
        return piece

    async def anext(self, get: Callable[[], Awaitable[Any]]) -> Any:
        """One more piece."""
        if self._is_inside:
            return await get()
        self._get_in()
        try:
            piece = await get()
        except GeneratorExit:  # nobody waits for it any more
            raise
        except BaseException as error:
            self._stop(error)
            raise
        finally:
            self._get_out()
        _safely(self._pieces.add, piece)
        return piece

    def _get_in(self) -> None:
        self.begin()
        self.enter()
        self._is_inside = True

    def _get_out(self) -> None:
        self._is_inside = False
        self.leave()

    def _stop(self, error: BaseException) -> None:
        if isinstance(error, (StopIteration, StopAsyncIteration)):
            self.end(self._pieces.error)
        else:
            self.end(error)

    def end(self, error: BaseException | None = None) -> None:
        """Record what came."""
        asked = self.take()
        if asked is not None:
            text = self._pieces.text()
            asked.note(self._pieces.counted, self._pieces.more())
            _safely(asked.end, "" if text is None and error is None else text, error)

    def give_up(self) -> None:
        """Record what came of a reply that is read no further."""
        if not self._is_begun:
            self.take()
        elif self._pieces.is_whole:
            self.end(self._pieces.error)
        else:
            self.end(Interrupted("the end of the reply was not seen; this is the part that came"))

    def take(self) -> _Asked | None:
        """The call, for whoever records its end; ``None``: it is recorded."""
        asked, self._asked = self._asked, None
        _begun.discard(self)
        return asked

    def __del__(self) -> None:
        asked = self._asked
        if asked is not None and self._is_begun:
            # Objects die anywhere, also in a thread that holds the lock of the file.
            last = _Coming(asked, self._pieces)
            last._is_begun = True
            try:
                threading.Thread(target=last.give_up).start()
            except RuntimeError:  # the interpreter ends
                last._asked = None


def _hand_on(asked: _Asked | None, reply: Any) -> Any:
    """The reply for the caller. It is recorded now, or once it is there."""
    if asked is None:
        return reply
    asked.leave()
    if not (isinstance(reply, str) or asked.is_taken_as_it_is):
        heard = _safely(_heard, asked, reply)
        if heard is not None:
            return heard
    _safely(asked.end, reply)
    return reply


def _heard(asked: _Asked, reply: Any) -> Any:
    """A reply that comes later, as the caller gets it; ``None``: it is there."""
    kind = type(reply)
    if callable(getattr(kind, "add_done_callback", None)):
        coming = _Coming(asked)
        coming.wait()
        reply.add_done_callback(lambda done: _done(coming, done))
        return reply
    if inspect.isawaitable(reply) and not hasattr(kind, "__aenter__"):
        return _awaited(_Coming(asked), reply)
    # What is open for reading, or iterates as a container does, is no stream of a model.
    is_context = hasattr(kind, "__aenter__") or (hasattr(kind, "__enter__") and not hasattr(kind, "__iter__"))
    if not (is_context or hasattr(kind, "__next__") or hasattr(kind, "__anext__") or _is_raw(kind)):
        return None
    if isinstance(reply, io.IOBase) or _text(reply) is not None or _body(reply) is not None:
        return None
    return _listened(_Coming(asked), reply)


def _done(coming: _Coming, future: Any) -> None:
    """Record what a future became."""
    try:
        reply = future.result()
    except BaseException as error:
        coming.end(error)
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
        coming.end(error)
        raise
    finally:
        coming.leave()
    return _hand_on(coming.take(), value)


@types.coroutine
def _going(steps: Iterator[Any]) -> Generator[Any, Any, Any]:
    """What ``__await__`` gave, to be awaited."""
    return (yield from steps)


_COMING = "_stepscope_coming"


def _listened(coming: _Coming, reply: Any) -> Any:
    """A stream, or what opens one: the object itself, which tells what is read from it. Generators and iterators that
    Python itself makes have a stand-in. ``None``: it cannot be listened to."""
    kind = type(reply)
    try:
        _listen(coming, reply, _listening(cast(Hashable, kind)))
    except (TypeError, AttributeError):
        if hasattr(kind, "__enter__") or hasattr(kind, "__aenter__"):
            return None  # `with` would not find them in a stand-in
        if hasattr(kind, "__next__"):
            return _Iterator(coming, reply)
        return _AsyncIterator(coming, reply) if hasattr(kind, "__anext__") else None
    if _is_raw(kind):
        _listen_beneath(coming, getattr(reply, "http_response", None))
    coming.wait()
    return reply


def _listen(coming: _Coming, reply: Any, listening: type) -> None:
    object.__setattr__(reply, _coming_name(listening), coming)
    reply.__class__ = listening


def _listen_beneath(coming: _Coming, response: Any) -> None:
    """The response that a raw one is made of has the same body."""
    try:
        _listen(coming, response, _listening(cast(Hashable, type(response)), is_beneath=True))
    except (TypeError, AttributeError):  # it cannot be listened to
        pass


class _StandIn:
    """An object that tells what is read from it; in everything else it is the other one."""

    def __init__(self, coming: _Coming, inner: Any) -> None:
        self._coming, self._inner = coming, inner

    def __getattr__(self, name: str) -> Any:
        if name == "_inner":  # not there yet
            raise AttributeError(name)
        return getattr(self._inner, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._inner)


class _Iterator(_StandIn):
    def __iter__(self) -> _Iterator:
        return self

    def __next__(self) -> Any:
        return self._coming.next(self._inner.__next__)

    def send(self, value: Any) -> Any:
        return self._coming.next(partial(self._inner.send, value))

    def throw(self, *error: Any) -> Any:
        return self._coming.next(partial(self._inner.throw, *error))

    def close(self) -> None:
        self._coming.enter()
        try:
            self._inner.close()
        finally:
            self._coming.leave()
            self._coming.give_up()


class _AsyncIterator(_StandIn):
    def __aiter__(self) -> _AsyncIterator:
        return self

    def __anext__(self) -> Awaitable[Any]:
        return self._coming.anext(self._inner.__anext__)

    def asend(self, value: Any) -> Awaitable[Any]:
        return self._coming.anext(partial(self._inner.asend, value))

    def athrow(self, *error: Any) -> Awaitable[Any]:
        return self._coming.anext(partial(self._inner.athrow, *error))

    async def aclose(self) -> None:
        self._coming.enter()
        try:
            await self._inner.aclose()
        finally:
            self._coming.leave()
            self._coming.give_up()


_Of = Callable[[Any], _Coming]


def _iter(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    def __iter__(self: Any) -> Any:
        pieces = plain(self)
        return pieces if pieces is self else _Iterator(of(self), pieces)

    return __iter__


def _aiter(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    def __aiter__(self: Any) -> Any:
        pieces = plain(self)
        return pieces if pieces is self else _AsyncIterator(of(self), pieces)

    return __aiter__


def _next(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    return lambda self: of(self).next(partial(plain, self))


def _anext(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    return lambda self: of(self).anext(partial(plain, self))


def _await(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    return lambda self: _awaited(of(self), _going(plain(self))).__await__()


def _open(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    """For ``__enter__``, and for ``parse``, which makes a reply of a raw response."""

    def enter(self: Any, *args: Any, **more: Any) -> Any:
        try:
            reply = plain(self, *args, **more)
        except BaseException as error:
            of(self).end(error)
            raise
        return reply if reply is self else _hand_on(of(self).take(), reply)

    return enter


def _aenter(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    async def __aenter__(self: Any) -> Any:
        try:
            reply = await plain(self)
        except BaseException as error:
            of(self).end(error)
            raise
        return reply if reply is self else _hand_on(of(self).take(), reply)

    return __aenter__


def _exit(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
    """For ``close`` too. What is awaited there only gives back the connection."""

    def leave(self: Any, *args: Any) -> Any:
        if _body(self) is not None:
            _hand_on(of(self).take(), self)
        of(self).give_up()
        return plain(self, *args)

    return leave


def _read_by(end: str) -> Callable[[Callable[..., Any], _Of], Callable[..., Any]]:
    """For the methods of raw responses that read the body in pieces; ``end``: what ends a piece, and is not in it."""

    def make(plain: Callable[..., Any], of: _Of) -> Callable[..., Any]:
        def read(self: Any, *args: Any, **more: Any) -> Any:
            pieces, coming = plain(self, *args, **more), of(self)
            if not coming.is_listening:
                return pieces
            coming.reading(end)
            return _AsyncIterator(coming, pieces) if hasattr(pieces, "__anext__") else _Iterator(coming, pieces)

        return read

    return make


_MEMBERS = {
    "__iter__": _iter,
    "__next__": _next,
    "__aiter__": _aiter,
    "__anext__": _anext,
    "__await__": _await,
    "__enter__": _open,
    "__aenter__": _aenter,
    "__exit__": _exit,
    "__aexit__": _exit,
    "close": _exit,
    "aclose": _exit,
}


_BODY_MEMBERS = {"iter_lines": _read_by("\n"), "iter_text": _read_by(""), "iter_bytes": _read_by("")}
_RAW_MEMBERS = {**_MEMBERS, "parse": _open, **_BODY_MEMBERS}
_BENEATH_MEMBERS = {**_BODY_MEMBERS, **{f"a{name}": make for name, make in _BODY_MEMBERS.items()}}


@lru_cache(maxsize=64)
def _listening(kind: type, is_beneath: bool = False) -> type:
    """A class whose objects tell what is read from them, and that is the other one in everything else."""
    members: dict[str, Any] = {name: getattr(kind, name) for name in ("__module__", "__qualname__", "__doc__")}
    # What is recorded twice tells both.
    members[_COMING] = f"{_coming_name(kind)}_"
    heard = _BENEATH_MEMBERS if is_beneath else _RAW_MEMBERS if _is_raw(kind) else _MEMBERS
    for name, make in heard.items():
        plain = getattr(kind, name, None)
        if callable(plain):
            members[name] = make(plain, attrgetter(members[_COMING]))
    return type(kind)(kind.__name__, (kind,), members)


def _coming_name(kind: type) -> str:
    """The attribute with the reply that objects of a class tell of."""
    name: str = getattr(kind, _COMING, _COMING)
    return name


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
