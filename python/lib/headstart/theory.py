"""Closed forms of the papers: ``headstart lab theory``.

>>> import headstart
>>> len(headstart.theory.windows(segments=[30]).table_names)
1
"""

from __future__ import annotations

from typing import Sequence

from headstart import _core
from headstart._commands import _answered
from headstart._results import Theory


def windows(
    segments: Sequence[int] | int | None = None, *, delayed_acks: bool = False
) -> Theory:
    """SPAND's initial window for a share of the path and sizes in segments, beside RFC 2414's."""
    return _topic("windows", segments=segments, delayed_acks=delayed_acks)


def gaps() -> Theory:
    """The rate at which Paced Start's search ends, over the share that is available."""
    return _topic("gaps")


def losses() -> Theory:
    """The loss of rate of parallel connections, if one of them loses a segment."""
    return _topic("losses")


def time(
    path: str | None = None,
    sizes: Sequence[str] | str | None = None,
    *,
    delayed_acks: bool = False,
) -> Theory:
    """The first window that minimises the completion time on a path, beside SPAND's."""
    return _topic("time", path=path, sizes=sizes, delayed_acks=delayed_acks)


def _topic(topic: str, **options: object) -> Theory:
    return _answered(Theory, _core.theory, {"topics": topic, **options})
