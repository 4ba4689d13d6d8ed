"""Progress of long work."""

from __future__ import annotations

from typing import Any, Callable

Progress = Callable[[int, int], None]
"""Gets the number of things done, and of all, which stays the same; 0: it is not known. The last call
has the final numbers."""


def tqdm(**options: Any) -> Progress:
    """Returns a progress callback that shows a bar of tqdm; ``options`` go to ``tqdm.auto.tqdm``.

    >>> import io, headstart
    >>> bar = headstart.tqdm(file=io.StringIO())
    >>> _ = headstart.race("3kB", schemes="linux", exact=True, progress=bar)
    """
    from tqdm.auto import tqdm as bar_of

    bar = None

    def show(done: int, total: int) -> None:
        nonlocal bar
        if bar is None:
            # The size of a pipe is not known.
            bar = bar_of(total=total or None, **options)
        bar.update(done - bar.n)
        if done == total:
            bar.close()

    return show
