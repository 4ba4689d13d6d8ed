"""Start-ups that are classes of Python."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar, Iterable

from headstart import _core
from headstart._core import Ack, Start, Window
from headstart._error import Error


class StartUp:
    """A start-up policy: the first window of a path and its growth, until congestion control goes on.

    A subclass defines :meth:`on_ack` at least, and stands among the schemes of a race, a plan or a
    scoreboard. Each path has an instance of its own. Every call takes the lock of the interpreter,
    so a race with such a start-up is much slower than others. An exception ends the race with
    :class:`Error`.

    >>> import headstart
    >>> class Larger(headstart.StartUp):
    ...     def begin(self, window, start):
    ...         if start.occasion == "new path":
    ...             window.cwnd = 3 * start.initial_window
    ...     def on_ack(self, window, ack):
    ...         if not self.done(window):
    ...             window.cwnd += ack.acked
    >>> race = headstart.race("30kB", "20mbit,80ms,100p", ["linux", Larger], exact=True)
    >>> [(row["scheme"], round(row["page_s"], 3)) for row in race.schemes.to_pylist()[:2]]
    [('linux', 0.247), ('linux+startup=Larger', 0.173)]
    """

    name: ClassVar[str]
    """Name in schemes, ``startup=NAME``; by default that of the class."""
    base: ClassVar[str] = "linux"
    """The scheme that has the start-up when the class itself stands among schemes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = cls.__name__

    def begin(self, window: Window, start: Start) -> None:
        """Sets the window to begin with. By default it stays the initial window.

        A start-up begins with the first data of a path, and again after a timeout.
        """

    def on_ack(self, window: Window, ack: Ack) -> None:
        """Grows the window on an ACK of new data, outside of recovery, until the start-up is done."""
        raise NotImplementedError(f"{type(self).__name__} has no on_ack")

    def on_loss(self, window: Window, event: str) -> bool | None:
        """Answers a loss, also after the start-up is done.

        ``event`` is ``timeout`` or ``partial ACK`` before recovery answers, ``reduced`` once the
        threshold is lowered, or ``undone`` if that was a mistake. ``True``, before recovery answers,
        falls back to slow start as if the start-up had never tried; set ``window.ssthresh`` first.
        """
        return None

    def done(self, window: Window) -> bool:
        """True once congestion control takes over. It is called after each :meth:`on_ack`."""
        return window.cwnd >= window.ssthresh


_registered: dict[str, type[StartUp]] = {}


def register(start_up: type[StartUp]) -> str:
    """Makes a class a value of ``startup=`` in all schemes; returns the scheme ``BASE+startup=NAME``.

    A class of the same name that was registered before is replaced. Functions that take schemes
    register the classes among them.

    >>> import headstart
    >>> class Mine(headstart.StartUp):
    ...     def on_ack(self, window, ack):
    ...         window.cwnd += ack.acked
    >>> headstart.register(Mine)
    'linux+startup=Mine'
    """
    if not (isinstance(start_up, type) and issubclass(start_up, StartUp)):
        raise Error(f"{start_up!r} is no subclass of headstart.StartUp")
    name = start_up.name
    if _registered.get(name) is not start_up:
        about = (start_up.__doc__ or name).strip().partition("\n")[0].rstrip(".")
        _core.register_start_up(start_up, name, about)
        _registered[name] = start_up
    return f"{start_up.base}+startup={name}"


def registered(text: str) -> list[type[StartUp]]:
    """The classes of this process that schemes in ``text`` name, for processes that work for it."""
    return [start_up for name, start_up in _registered.items() if f"startup={name}" in text]


def named(schemes: Any) -> Any:
    """Schemes with texts in place of classes."""
    if isinstance(schemes, (type, StartUp)):
        return register(schemes)  # type: ignore[arg-type]
    if isinstance(schemes, Iterable) and not isinstance(schemes, (str, bytes)):
        return [named(one) for one in schemes]
    return schemes


def interrupt(threads: Iterable[int]) -> None:
    """Raises ``KeyboardInterrupt`` in threads; nothing happens to those outside of Python."""
    for thread in threads:
        raised = ctypes.py_object(KeyboardInterrupt)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), raised)
