"""Whole clients: the methods of theirs that call a model."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")

# Of the clients of OpenAI and of those who keep to its shape (their `stream` asks by `create`), of Anthropic's and
# Ollama's, and of the module and the router of LiteLLM.
_METHODS = (
    "chat.completions.create",
    "chat.completions.parse",
    "completions.create",
    "responses.create",
    "responses.parse",
    "beta.chat.completions.create",
    "beta.chat.completions.parse",
    "messages.create",
    "messages.parse",
    "messages.stream",
    "beta.messages.create",
    "beta.messages.parse",
    "beta.messages.stream",
    "chat",
    "generate",
    "completion",
    "acompletion",
    "text_completion",
    "atext_completion",
    "responses",
    "aresponses",
)
# They give a client with other options.
_COPIES = ("copy", "with_options")


def methods(client: Any) -> list[str]:
    """The paths of the methods of a client that call a model; none: it is no client."""
    return [path for path in _METHODS if _is_method(_member(client, path.split(".")))]


def _is_method(found: Any) -> bool:
    # Resources have methods, and some can be called.
    return callable(found) and not isinstance(found, type) and not hasattr(found, "create")


def _member(value: Any, names: list[str]) -> Any:
    for name in names:
        try:
            value = getattr(value, name)
        except Exception:  # a property that needs what is not installed, or is not there
            return None
    return value


def recorded(client: T, paths: list[str], wrap: Callable[[Any], Any]) -> T:
    """The client itself with its methods recorded; a module, which others use too, has a stand-in."""
    if isinstance(client, ModuleType):
        return _Module(client, paths, wrap)  # type: ignore[return-value]
    for path in paths:
        *above, name = path.split(".")
        owner = _member(client, above)
        setattr(owner, name, wrap(getattr(owner, name)))
    for name in _COPIES:
        copy = getattr(client, name, None)
        if callable(copy) and paths[0].count("."):
            setattr(client, name, _copying(_plain(copy), wrap))
    return client


def _plain(copy: Any) -> Any:
    return getattr(copy, "_stepscope_plain", copy)


def _copying(copy: Callable[..., Any], wrap: Callable[[Any], Any]) -> Callable[..., Any]:
    def copied(*args: Any, **kwargs: Any) -> Any:
        client = copy(*args, **kwargs)
        return recorded(client, methods(client), wrap)

    copied._stepscope_plain = copy  # type: ignore[attr-defined]
    return copied


class _Module(ModuleType):
    """A module with its functions that call a model recorded; in everything else it is that module."""

    def __init__(self, module: ModuleType, paths: list[str], wrap: Callable[[Any], Any]) -> None:
        super().__init__(module.__name__, module.__doc__)
        self.__dict__["_stepscope_module"] = module
        self.__dict__.update({path: wrap(getattr(module, path)) for path in paths if "." not in path})

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_stepscope_module"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        # Settings of the module are those of everybody.
        setattr(self.__dict__["_stepscope_module"], name, value)

    def __dir__(self) -> list[str]:
        return dir(self.__dict__["_stepscope_module"])
