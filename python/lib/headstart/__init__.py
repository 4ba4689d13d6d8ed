"""Measures, predicts and explains TCP start-up for short transfers.

>>> import headstart
>>> race = headstart.race("30kB", "20mbit,80ms,100p", "linux,hs-cubic", exact=True)
>>> race.sentences[0]
'This page needs 247 ms (last byte) under linux; a perfect start would save 74.6 ms of it, 30 %.'
"""

from headstart import plot, theory
from headstart._commands import (
    Plan,
    analyze,
    papers,
    predict,
    race,
    schemes,
    scoreboard,
    simulate,
)
from headstart._core import Ack, Start, Table, Window
from headstart._error import Error
from headstart._progress import Progress, tqdm
from headstart._results import (
    Analysis,
    Forecast,
    Papers,
    Race,
    Results,
    Schemes,
    Scoreboard,
    Sweep,
    Theory,
)
from headstart._startup import StartUp, register

__all__ = [
    "Ack",
    "Analysis",
    "Error",
    "Forecast",
    "Papers",
    "Plan",
    "Progress",
    "Race",
    "Results",
    "Schemes",
    "Scoreboard",
    "Start",
    "StartUp",
    "Sweep",
    "Table",
    "Theory",
    "Window",
    "analyze",
    "papers",
    "plot",
    "predict",
    "race",
    "register",
    "schemes",
    "scoreboard",
    "simulate",
    "theory",
    "tqdm",
]
