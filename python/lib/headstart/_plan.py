"""Plans and schemes as the compiled module takes them."""

from __future__ import annotations

import math
from os import PathLike, fspath
from typing import Any, Iterable, Mapping

from headstart._error import Error
from headstart._startup import StartUp, named


def plain(value: Any, key: str = "") -> Any:
    """A plan with dicts, lists, texts and numbers only; other plans stay as they are.

    Raises :class:`Error` with the path of a key whose value no plan can have.
    """
    if isinstance(value, Mapping):
        for name in value:
            if not isinstance(name, str):
                raise _refused(key, f"{name!r} is no key: use a text")
        return {name: plain(one, f"{key}.{name}" if key else name) for name, one in value.items()}
    if not key:
        return value
    if isinstance(value, (type, StartUp)):
        return named(value)
    if isinstance(value, PathLike):
        return fspath(value)
    if hasattr(value, "tolist"):
        # A number or an array of NumPy, or a Series of pandas.
        value = value.tolist()
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        raise _refused(key, f"{value} has more than 64 bits")
    if isinstance(value, float) and not math.isfinite(value):
        raise _refused(key, f"{value} is no finite number")
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plain(one, f"{key}[{at}]") for at, one in enumerate(value)]
    raise _refused(key, f"{value!r} is no value of a plan: leave the key out, or use a text")


def _refused(key: str, why: str) -> Error:
    return Error(f"{key or 'plan'}: {why}", key=key or None)
