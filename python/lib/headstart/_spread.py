"""Work spread over the processes of a cluster: its tasks, and the join of their results.

A task is a function of this module and one argument. Clusters differ only in the :class:`Pool` that
runs tasks; :mod:`headstart.ray` and :mod:`headstart.dask` have one each.
"""

from __future__ import annotations

import fnmatch
import io
import math
import os
import shutil
import zipfile
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Callable, Iterable, Iterator, Protocol, Union

from headstart import _core
from headstart._commands import Plan, Text, Texts, _answered
from headstart._error import Error
from headstart._plan import plain
from headstart._progress import Progress
from headstart._results import Analysis, Forecast, Scoreboard, Sweep
from headstart._startup import StartUp, register, registered


class Pool(Protocol):
    """Processes that run tasks, and repeat a task whose process has died."""

    slots: int
    """Tasks that run at a time."""

    def map(
        self, task: Callable[[Any], Any], jobs: Iterable[Any], most: int
    ) -> Iterator[tuple[int, Any]]:
        """Yields number and result of each job as it ends; at most ``most`` jobs are submitted at a time."""


@dataclass(frozen=True)
class Part:
    """A part of a plan, of a board or of the captures."""

    subject: Any
    options: dict[str, Any]
    shard: str = "1/1"
    start_ups: list[type[StartUp]] = field(default_factory=list)

    def prepare(self) -> None:
        """Registers the start-ups of the process that asks."""
        for start_up in self.start_ups:
            register(start_up)


def _start_ups(*named: Any) -> list[type[StartUp]]:
    """The start-ups of Python that a plan or options name."""
    texts = [repr(one) for one in named]
    for one in named:
        if isinstance(one, (str, PathLike)) and "\n" not in fspath(one) and Path(one).is_file():
            texts.append(Path(one).read_text(encoding="utf-8", errors="replace"))
    return registered("".join(texts))


def _shards(count: int) -> list[str]:
    return [f"{number}/{count}" for number in range(1, count + 1)]


def _most(pool: Pool, in_flight: int | None) -> int:
    """Tasks that are submitted at a time: each process has its next one at hand."""
    if in_flight is None:
        return 2 * pool.slots
    if in_flight < 1:
        raise Error(f"in_flight={in_flight}: use 1 or more", key="in_flight")
    return in_flight


def _size(name: str, value: int) -> int:
    if value < 1:
        raise Error(f"{name}={value}: use 1 or more", key=name)
    return value


# Plans


def simulate_part(part: Part) -> bytes:
    """Makes a part of a plan's runs; returns the folder of its results as a zip archive.

    Runs that fail are in the archive's manifest.
    """
    part.prepare()
    with TemporaryDirectory(prefix="headstart-") as folder:
        place = Path(folder, "part")
        options = {**part.options, "out": fspath(place), "shard": part.shard}
        try:
            _core.simulate(part.subject, options, None)
        except Error as error:
            if error.result is None:
                raise
        # Tables are computed from the runs when the parts are joined.
        return _packed(place, ["manifest.json", "runs/**/*"])


def plan_parts(plan: Plan, runs_per_task: int) -> list[Part]:
    """The parts of a plan as tasks."""
    plan = plain(plan)
    count = math.ceil(_core.run_count(plan) / _size("runs_per_task", runs_per_task))
    start_ups = _start_ups(plan)
    return [Part(plan, {"jobs": 1}, shard, start_ups) for shard in _shards(count)]


def join_sweep(folders: Iterable[Path], out: Text | None, force: bool = False) -> Sweep:
    """Joins the folders of parts; ``out`` gets the tables as Parquet."""
    options = {"parts": sorted(folders), "format": "parquet", "incomplete": True, "force": force}
    with _folder_of(out) as place:
        return _answered(Sweep, _core.merge, {**options, "out": fspath(place)})


def simulate(
    pool: Pool,
    plan: Plan,
    *,
    out: Text | None,
    force: bool,
    runs_per_task: int,
    in_flight: int | None,
    progress: Progress | None,
) -> Sweep:
    """Runs a plan by the tasks of :func:`simulate_part`."""
    parts = plan_parts(plan, runs_per_task)
    _folder_of(out).claim(parts[0].subject, force)
    runs, done = _core.run_count(parts[0].subject), 0
    with TemporaryDirectory(prefix="headstart-") as folder:
        places = []
        for number, packed in pool.map(simulate_part, parts, _most(pool, in_flight)):
            places.append(_unpacked(packed, Path(folder, f"part{number:06}")))
            done += len(range(number, runs, len(parts)))
            if progress is not None:
                progress(done, runs)
        return join_sweep(places, out, force)


# Boards


def scoreboard_part(part: Part) -> list[list[int]]:
    """Makes a part of a board's runs; returns their outcomes as numbers."""
    part.prepare()
    return _core.scoreboard_part({**part.options, "jobs": 1}, part.shard)


def scoreboard(
    pool: Pool,
    options: dict[str, Any],
    *,
    runs_per_task: int,
    in_flight: int | None,
    progress: Progress | None,
) -> Scoreboard:
    """Runs a board by the tasks of :func:`scoreboard_part`."""
    runs = _core.scoreboard_count(options)
    count = math.ceil(runs / _size("runs_per_task", runs_per_task))
    outcomes: list[list[list[int]]] = [[] for _ in range(count)]
    # Pages are written when the parts are joined.
    start_ups = _start_ups(options)
    jobs = [Part(None, {**options, "report": None}, shard, start_ups) for shard in _shards(count)]
    done = 0
    for number, outcome in pool.map(scoreboard_part, jobs, _most(pool, in_flight)):
        outcomes[number] = outcome
        done += len(outcome)
        if progress is not None:
            progress(done, runs)
    return _answered(Scoreboard, _core.scoreboard_joined, options, outcomes)


# Captures

TABLES = ["connections", "transfers", "retransmissions", "loss_epochs"]
"""Tables of a capture. Windows are as long as the capture, so they have to be named."""

Captures = Union[Text, Iterable[Texts]]
"""Captures; files that belong together, like those of two directions, stand in a list of their own."""


@dataclass(frozen=True)
class Read:
    """What a task has made of a capture."""

    packed: bytes | None
    """The folder of its tables as a zip archive; ``None`` if nothing could be read."""
    notes: list[str]
    failure: str | None = None
    """The reason why not all was read."""


def analyze_part(part: Part) -> Read:
    """Analyses one capture; returns its sums, and the tables that options name."""
    tables = part.options["tables"]
    # The command writes one table at least.
    files = ["*"] if tables else ["sums.json"]
    with TemporaryDirectory(prefix="headstart-") as folder:
        place = Path(folder, "tables")
        given = {"out": fspath(place), "mergeable": True, "jobs": 1, "files": part.subject}
        given["tables"] = tables or "connections"
        try:
            notes = _core.analyze({**part.options, **given}, None).notes
        except Error as error:
            if error.result is None:
                return Read(None, [], str(error))
            return Read(_packed(place, files), error.result.notes, str(error))
        return Read(_packed(place, files), notes)


def analyze(
    pool: Pool,
    captures: Captures,
    options: dict[str, Any],
    *,
    out: Text | None,
    in_flight: int | None,
    progress: Progress | None,
) -> Analysis:
    """Analyses captures by the tasks of :func:`analyze_part`."""
    inputs = _inputs(captures)
    # Only sums are wanted without a folder.
    tables = [] if out is None else options["tables"] or TABLES
    jobs = [Part(files, {**options, "tables": tables}) for files in inputs]
    folder = _folder_of(out)
    folder.refuse("capture=*")
    failures: list[str] = []
    notes: list[str] = []
    # Empty tables would make the types of a data set ambiguous, so captures without results have none.
    with folder as place:
        folders = folder.made
        done = 0
        for number, read in pool.map(analyze_part, jobs, _most(pool, in_flight)):
            if read.packed is not None:
                name = Path(inputs[number][0]).name
                folders.append(place / f"capture={number:06}-{name}")
                _unpacked(read.packed, folders[-1])
            if read.failure is not None:
                failures.append(f"{', '.join(inputs[number])}: {read.failure}")
            notes += read.notes
            done += 1
            if progress is not None:
                progress(done, len(inputs))
        if not folders:
            raise Error("\n".join(failures) or "no captures")
        try:
            merged = _core.analyze({"merge": sorted(folders)}, None)
        except Error as error:
            # A damaged capture is among the failures already.
            if error.result is None:
                raise
            merged = error.result
    result = Analysis(merged, sorted(notes))
    if failures:
        counted = f"{len(failures)} of {len(inputs)} captures could not be read, or not to their ends"
        raise Error("\n".join([*sorted(failures), counted]), result=result)
    return result


def predict_part(part: Part) -> tuple[list[dict[str, Any]], str | None]:
    """Forecasts one capture; returns the rows that there are, and the reason why there are no others."""
    part.prepare()
    failure = None
    try:
        answer = _core.predict({**part.options, "jobs": 1, "files": part.subject}, None)
    except Error as error:
        failure, answer = str(error), error.result
    return [] if answer is None else answer.table("times").to_pylist(), failure


def predict(
    pool: Pool,
    captures: Captures,
    options: dict[str, Any],
    *,
    in_flight: int | None,
    progress: Progress | None,
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Forecasts captures, each by itself, by the tasks of :func:`predict_part`."""
    inputs = _inputs(captures)
    rows: list[list[dict[str, Any]]] = [[] for _ in inputs]
    failures = {}
    done = 0
    start_ups = _start_ups(options)
    jobs = [Part(files, options, start_ups=start_ups) for files in inputs]
    for number, (times, failure) in pool.map(predict_part, jobs, _most(pool, in_flight)):
        name = ",".join(inputs[number])
        rows[number] = [{"capture": name, **row} for row in times]
        if failure is not None:
            failures[name] = failure
        done += 1
        if progress is not None:
            progress(done, len(inputs))
    return [row for of_capture in rows for row in of_capture], failures


def _inputs(captures: Captures) -> list[list[str]]:
    def files(one: Any) -> list[str]:
        return [fspath(one)] if isinstance(one, str) or hasattr(one, "__fspath__") else [fspath(f) for f in one]

    if isinstance(captures, str) or hasattr(captures, "__fspath__"):
        captures = [captures]  # type: ignore[list-item]
    try:
        inputs = [files(one) for one in captures]  # type: ignore[union-attr]
    except TypeError as error:
        raise Error(f"captures: {error}: use paths", key="captures") from error
    if not all(inputs) or not inputs:
        raise Error("captures: name at least one file", key="captures")
    return inputs


# Folders


def _packed(folder: Path, patterns: Iterable[str]) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted({file for pattern in patterns for file in folder.glob(pattern)}):
            if file.is_file():
                packed.write(file, file.relative_to(folder))
    return archive.getvalue()


def _unpacked(packed: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extractall(folder)
    return folder


class _folder_of:
    """A folder on this machine for results; on leaving, its files go to ``out``.

    ``out`` is a folder, an address of fsspec like ``s3://bucket/results``, or ``None`` for a folder
    that is removed.
    """

    def __init__(self, out: Text | None) -> None:
        self._address = None if out is None else fspath(out) if hasattr(out, "__fspath__") else str(out)
        self._is_remote = self._address is not None and "://" in self._address
        self._temporary: TemporaryDirectory[str] | None = None
        self.made: list[Path] = []
        """Folders that were made in it. They are removed if the work leaves no results."""

    def claim(self, plan: Plan | None, force: bool) -> None:
        """Refuses, before the work, a folder that cannot have the results of a plan.

        Without ``plan``, a folder on this machine is refused only when the parts are joined.
        """
        if self._address is None or self._is_remote:
            self.refuse("*", force)
        elif plan is not None:
            _core.claim_folder(plan, {"out": self._address, "force": force})

    def refuse(self, pattern: str, force: bool | None = None) -> None:
        """Refuses, before the work, an address that cannot be, and a folder with entries of such names.

        ``force`` permits the entries; ``None``: the caller's function has no such option.
        """
        try:
            found = fnmatch.filter(self._names(), pattern)
        except OSError as error:
            raise Error(f"out={self._address!r}: {error}; name another folder", key="out") from error
        if found and not force:
            way_out = "name another folder" + ("" if force is None else ", or use force=True")
            raise Error(f"out={self._address!r}: holds {min(found)}; {way_out}", key="out")

    def _names(self) -> list[str]:
        """Names of the entries. A folder on this machine is made; it must be writable."""
        if self._address is None:
            return []
        if self._is_remote:
            system, path = self._system()
            entries = system.ls(path, detail=False) if system.exists(path) else []
            return [entry.rstrip("/").rpartition("/")[2] for entry in entries]
        Path(self._address).mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=self._address):
            pass
        return os.listdir(self._address)

    def __enter__(self) -> Path:
        if self._address is not None and not self._is_remote:
            return Path(self._address)
        self._temporary = TemporaryDirectory(prefix="headstart-")
        return Path(self._temporary.name, "results")

    def __exit__(self, _: Any, raised: BaseException | None, __: Any) -> None:
        is_kept = raised is None or getattr(raised, "result", None) is not None
        if self._temporary is None:
            for folder in [] if is_kept else self.made:
                shutil.rmtree(folder, ignore_errors=True)
            return
        with self._temporary as whole:
            if self._is_remote and is_kept:
                self._upload(Path(whole, "results"))

    def _system(self) -> tuple[Any, str]:
        try:
            from fsspec.core import url_to_fs
        except ImportError as error:
            raise Error(f"out={self._address!r} needs fsspec: pip install fsspec", key="out") from error
        try:
            return url_to_fs(self._address)  # type: ignore[no-any-return]
        except (ImportError, ValueError) as error:
            raise Error(f"out={self._address!r}: {error}", key="out") from error

    def _upload(self, folder: Path) -> None:
        system, path = self._system()
        for pattern in ("**/*.parquet", "*.json", "*/sums.json"):
            for file in folder.glob(pattern):
                if "runs" in file.relative_to(folder).parts:
                    continue
                target = f"{path}/{file.relative_to(folder).as_posix()}"
                system.makedirs(target.rpartition("/")[0], exist_ok=True)
                with file.open("rb") as source, system.open(target, "wb") as sink:
                    shutil.copyfileobj(source, sink)
