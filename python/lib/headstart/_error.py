"""The exception of this package."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """A request that headstart refuses, or work that failed.

    The text is the command line's: what is wrong, and the way out.

    >>> import headstart
    >>> try:
    ...     headstart.race("30kB", http="4")
    ... except headstart.Error as error:
    ...     print(error.key, "|", error)
    http | invalid value '4' for '--http <VERSION,…>': use 1.0, 1.1, 2 or 3
    """

    file: str | None
    """The file that is wrong, if the mistake is in one."""
    line: int | None
    """The line of the file, from 1."""
    key: str | None
    """The argument, or the key of the file, if it is known."""
    result: Any
    """Results that there are nevertheless, like those of a race of which one load did not end."""

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        key: str | None = None,
        result: Any = None,
    ) -> None:
        super().__init__(message)
        self.file = file
        self.line = line
        self.key = key
        self.result = result
