"""Blocks and sentences of Markdown, which doc comments are, too."""

import re

# Words whose full stop does not end a sentence.
ABBREVIATIONS = set("e.g. i.e. vs. cf. al. fig. figs. sec. eq. no. p. pp. approx. incl.".split())

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*([-*+]|\d+[.)])\s+")
HEADING = re.compile(r"^#{1,6}\s+")
CODE = re.compile(r"(`+)(.+?)\1", re.S)
IMAGE = re.compile(r"!\[[^\]]*\]\([^)]*\)", re.S)
LINK = re.compile(r"\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])", re.S)
COMMENT = re.compile(r"<!--.*?-->", re.S)
# The end of a sentence: a mark, closing quotes or brackets, then something that can begin the next one.
NAMES = "headstart|ns-2|nginx|curl|tshark|packetdrill"
BEGIN = rf"""["'“‘(\[*_]*([A-Z0-9À-ÞΑ-Ω×]|({NAMES})\b)"""
END = re.compile(rf"""[.!?]["'”’)\]*_]*(?=\s+{BEGIN}|\s*$)""")


def blocks(text):
    """Yields (line, text) of each heading, paragraph and list item."""
    # Same number of lines with and without comments, so that lines stay true.
    text = COMMENT.sub(lambda found: "\n" * found.group().count("\n"), text)
    begin, lines, fenced = 0, [], False
    for number, line in enumerate(text.split("\n"), 1):
        if FENCE.match(line):
            fenced, ends, starts = not fenced, True, False
        elif fenced or not line.strip() or line.lstrip().startswith("|"):
            ends, starts = True, False
        else:
            starts = True
            ends = bool(HEADING.match(line) or ITEM.match(line) or (lines and HEADING.match(lines[0])))
        if ends and lines:
            yield begin, "\n".join(lines)
            lines = []
        if starts:
            if not lines:
                begin = number
            lines.append(line)
    if lines:
        yield begin, "\n".join(lines)


def plain(text):
    """A block without its marks. Keeps line breaks, so that a sentence's line can be told."""
    text = HEADING.sub("", ITEM.sub("", text))
    text = re.sub(r"^\s*>\s?", "", text, flags=re.M)
    text = CODE.sub(lambda found: "Code" + "\n" * found.group().count("\n"), text)
    text = IMAGE.sub("", text)
    return LINK.sub(lambda found: found.group(1) + "\n" * found.group(2).count("\n"), text)


def sentences(text):
    """Yields (offset in lines, sentence) of a plain block."""
    begin = 0
    for found in END.finditer(text):
        last = text[begin : found.end()].split()[-1].lstrip("([\"'“‘*_").lower()
        if last in ABBREVIATIONS and text[found.end() :].strip():
            continue
        yield text.count("\n", 0, begin + leading(text[begin:])), text[begin : found.end()]
        begin = found.end()
    if text[begin:].strip():
        yield text.count("\n", 0, begin + leading(text[begin:])), text[begin:]


def leading(text):
    return len(text) - len(text.lstrip())


def words(sentence):
    return re.findall(r"\S*\w\S*", sentence)


def names_reader(text):
    """Whether the first paragraph below the title begins with "For" and somebody."""
    for _, block in blocks(text):
        if not HEADING.match(block):
            first = plain(block).lstrip("*_ ")
            return bool(re.match(r"For (?!example\b|instance\b)\w", first))
    return False
