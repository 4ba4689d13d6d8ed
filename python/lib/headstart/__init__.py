"""Measures, predicts and explains TCP start-up for short transfers.

>>> import headstart
>>> race = headstart.race("30kB", "20mbit,80ms,100p", "linux,hs-cubic", exact=True)
>>> race.sentences[0]
'This page needs 253 ms (last byte) under linux; a perfect start would save 80 ms of it, 32 %.'
"""

from headstart._commands import Plan, race, schemes, simulate
from headstart._core import Table
from headstart._error import Error
from headstart._progress import Progress, tqdm
from headstart._results import Race, Results, Schemes, Sweep

__all__ = [
    "Error",
    "Plan",
    "Progress",
    "Race",
    "Results",
    "Schemes",
    "Sweep",
    "Table",
    "race",
    "schemes",
    "simulate",
    "tqdm",
]
