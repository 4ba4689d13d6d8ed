"""Prose in Rust and C: comments, and the texts that a program prints."""

import re
from typing import NamedTuple

TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\b[bc]?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|'(?:\\.[^'\n]*|[^'\\\n])'""", re.S
)
MARK = re.compile(r"//[/!]?|/\*[*!]?")
TESTS = re.compile(r"#\[cfg\(test\)\]\s+(?:pub(?:\(\w+\))? )?mod \w+ \{")
WORD = re.compile(r"""[(\["'“‘]*(?:[A-Za-z][a-z'’-]*|[A-Z]+|\d+|\{[^}]*\})[.,;:!?)\]"'”’]*""")
TEXT = '"'


class Token(NamedTuple):
    """A comment or a string literal. `first` is true if its line begins with it."""

    line: int
    at: int
    first: bool
    text: str


class Prose(NamedTuple):
    """A comment or a text. Each line of `text` is a line of the file, from `line` on."""

    line: int
    mark: str
    text: str


def tokens(source):
    """Yields each comment and each string literal."""
    line, at = 1, 0
    for found in TOKEN.finditer(source):
        line += source.count("\n", at, found.start())
        at = found.start()
        begin = source.rfind("\n", 0, at) + 1
        yield Token(line, at, not source[begin:at].strip(), found.group())


def comments(tokens):
    """Yields each comment. Successive lines of `//` are one comment."""
    held = None
    for line, _, first, token in tokens:
        if token[0] != "/":
            continue
        mark = MARK.match(token).group()
        if mark.startswith("/*"):
            text = re.sub(r"\n[ \t]*\*?", "\n", token[len(mark) : -2])
        else:
            text = token[len(mark) :]
        text = re.sub(r"^ ", "", text, flags=re.M)
        if held and first and mark == held.mark and mark[1] == "/" and line == end(held) + 1:
            held = held._replace(text=f"{held.text}\n{text}")
            continue
        if held:
            yield held
        held = Prose(line, mark, text)
    if held:
        yield held


def end(prose):
    return prose.line + prose.text.count("\n")


def texts(source, tokens):
    """Yields the string literals of Rust that are prose: help, messages, descriptions."""
    tests = TESTS.search(source)
    for line, at, _, token in tokens:
        if tests and at > tests.start():
            return
        if token[0] not in '"r':
            continue
        for paragraph in token.strip('r#"').split("\\n"):
            text = re.sub(r"\\$", "", paragraph, flags=re.M).replace('\\"', '"')
            if is_prose(text):
                yield Prose(line, TEXT, text)
            line += paragraph.count("\n")


def is_prose(text):
    """Whether a text has at least four words, and three of four of its words are plain ones."""
    words = text.split()
    return len(words) >= 4 and sum(bool(WORD.fullmatch(word)) for word in words) * 4 >= len(words) * 3


def wide_lines(source, tokens, tab, columns):
    """Yields (line, width) of each line of a comment that is too wide and could be broken."""
    lines = source.split("\n")
    for line, _, _, token in tokens:
        if token[0] != "/":
            continue
        for number in range(line, line + token.count("\n") + 1):
            text = lines[number - 1].expandtabs(tab)
            table = re.match(r"\s*(//[/!]?|\*)?\s*\|", text)
            if len(text) > columns and not table and "://" not in text:
                yield number, len(text)
