"""The rules of prose, and what a file has that breaks them."""

import re
from typing import NamedTuple

from . import markdown, source, words

LONGEST = 30
COLUMNS = 100

# Files that nobody writes, each with the reason.
LEFT_OUT = {"crates/gateway-proto/generated/v1.rs": "prost writes it; the words are those of the .proto"}

ADVICE = {
    "columns": f"a line of a comment has at most {COLUMNS} columns: break it",
    "headless": "begin with the noun or the verb: `Bytes acknowledged so far.`, `Returns the estimate.`",
    "long": f"a sentence has at most {LONGEST} words: make two",
    "private": "take the field's word",
    "reader": 'the first paragraph of a page begins with "For" and says for whom the page is',
}

# "What it was told.", "Of all.", "That of a server.": a clause, or an attribute, for the noun.
CLAUSE = r"(?:What(?:ever)?|Who(?:ever|m|mever|se|sever)?|Why|How|Which|Of)\b"
NOUNLESS = (
    r"(?:That of|Those (?:of|that|which|who|whose|from|in|by|with|without|behind|at)"
    r"|The (?:same|ones?) (?:of|as|for|that|which|who|whose|with|in|by|from|at|where|when|if|to|but|over))\b"
)
# "When it was sent.": a condition without a main clause, which would follow a comma. "If" is left out, since documentation
# of Rust says under "# Errors" and "# Panics": "If the file is missing."
CONDITION = re.compile(r"(?:When|Where|While|As|Wherever|Whenever|Because|So that)\b[^,;:.!?]*(?:[;:]|[.!]?$)")
HEADLESS = re.compile(f"{CLAUSE}|{NOUNLESS}")
# "By itself.": a preposition and nothing that could be a verb.
PREPOSITION = re.compile(
    r"(?:By|From|In|At(?! most| least)|With|Without|For|To|On|Until|After|Before|Since|Between|Under|Over|Beside"
    r"|Behind|Among|Through|Into|Within)\b[^,;:.!?]*[.;]?$"
)
AUXILIARY = "is|are|was|were|has|have|had|does|do|did|can|cannot|could|may|might|must|shall|should|will|would|needs?"
VERB = re.compile(rf"\b(?:{AUXILIARY})\b")
VERB_OR_SUBJECT = re.compile(rf"\b(?:{AUXILIARY}|it|they|he|she|we|you|there|nothing|nobody)\b")
MOST_WITHOUT_VERB = 8


class Finding(NamedTuple):
    line: int
    rule: str
    what: str


def is_headless(sentence):
    """Whether a sentence begins with a clause or an attribute that stands for a noun."""
    sentence = sentence.lstrip("*_\"'“‘([ \n\t")
    if sentence.endswith("?"):
        return False
    if HEADLESS.match(sentence):
        return True
    if condition := CONDITION.match(sentence):
        return len(VERB.findall(condition.group())) < 2
    short = len(sentence.split()) <= MOST_WITHOUT_VERB
    return short and bool(PREPOSITION.match(sentence)) and not VERB_OR_SUBJECT.search(sentence)


def of_sentence(path, mark, sentence):
    """Yields (offset in lines, rule, what) of each finding in a sentence."""
    count = len(markdown.words(sentence))
    begin = " ".join(sentence.split()[:8])
    if count > LONGEST:
        yield 0, "long", f"{count} words: {begin} …"
    # Labels are texts without a full stop.
    if is_headless(sentence) and (mark != source.TEXT or sentence.endswith(".")):
        yield 0, "headless", begin
    text = sentence.lstrip()
    for at, word, instead in words.private(path, text):
        yield text.count("\n", 0, at), "private", f"{word}: {instead}"


def of_prose(path, prose):
    """Yields the findings in a comment, a text or a page."""
    for line, block in markdown.blocks(prose.text):
        heading = markdown.HEADING.match(block)
        for offset, sentence in markdown.sentences(markdown.plain(block)):
            for further, rule, what in of_sentence(path, prose.mark, sentence):
                if not (heading and rule == "headless"):
                    yield Finding(prose.line + line - 1 + offset + further, rule, what)


def prose_of(path, text):
    """Yields the prose in a file of Markdown, Rust or C: the page, or each comment and each text."""
    if path.endswith(".md"):
        yield source.Prose(1, "", text)
        return
    tokens = list(source.tokens(text))
    yield from source.comments(tokens)
    if path.endswith(".rs") and is_product(path):
        yield from source.texts(text, tokens)


def of_file(path, text):
    """Yields the findings in a file of Markdown, Rust or C."""
    for prose in prose_of(path, text):
        yield from of_prose(path, prose)
    if path.endswith(".md"):
        if path.startswith("docs/") and not markdown.names_reader(text):
            yield Finding(1, "reader", "the page names no reader")
        return
    tokens = source.tokens(text)
    for line, width in source.wide_lines(text, tokens, 4 if path.endswith(".rs") else 8, COLUMNS):
        yield Finding(line, "columns", f"{width} columns")


def is_product(path):
    """Whether a file of Rust is neither a test, nor an example, nor a fuzz target."""
    parts = path.split("/")
    return "src" in parts and not any(part in ("tests", "tests.rs", "testing") for part in parts)
