"""Words that mean something else to us than to readers, and the field's words for it."""

import re

# A row: private words, separated by commas, and what to write.
TABLE = [
    ("told, tell, tells, telling, hear, hears, hearing, heard, said", "notified, reported, received, logged"),
    ("attend, attends, attended, attending, attendance", "hook, kernel events"),
    ("lender, lenders, loan, loans, lent, borrow, borrows, borrowed", "window pool, reservation"),
    ("grant, grants, granted, granting, promise, promises, promised", "allocation"),
    ("coming", "pending handshake"),
    ("belonging, belong, belongs, place, places", "session membership, slot"),
    ("goes again, go again, gone again, sent again, send again, sends again, sending again, anew", "retransmitted; re-"),
    ("by turns", "interleaved"),
    ("arrived, came in, came through", "delivered, acknowledged"),
    ("ordinary, short way, short ways, longhand", "fast path, slow path"),
    ("folded, parked", "compressed, idle"),
    ("misfit, misfits", "fit error"),
    ("foretell, foretells, foretold, predicted sender, predicted senders", "forecast, inferred sender"),
    ("retreat, retreats, retreated, fall", "fall back"),
    (
        "setback, setbacks, upheaval, upheavals, verdict, verdicts, stance, stances, news",
        "loss signal, path reset, loss report, capability, change",
    ),
    ("occasion, occasions", "send opportunity"),
    ("strays", "unmatched segments"),
    (
        "wishes, knobs, keeper, estate, begun, predecessor, successor",
        "socket options, settings, state file, handover state, startup, running agent, new agent",
    ),
    ("tally, tallies, tallied, counted", "counters"),
    ("yardstick, yardsticks, held against", "baseline, compared with"),
    ("edge, edges, reached, beyond", "queue limit, uncensored maximum, excess"),
    ("lateness", "scheduling delay"),
    ("circumstances, scene, scenes", "conditions, scenario"),
    ("so many, such, nobody, somebody, whoever", "the number, the noun itself"),
    ("held out", "control group"),
    ("begin cold, begins cold, begin warm, begins warm", "cold start, warm start"),
    ("lesson, lessons, heed, heeds, heeded", "sample, apply"),
    ("as they come", "unmodified, stock"),
    ("made again", "repeated because of scheduling delay"),
]

# These are private in the crate `testbed` only.
TESTBED = [("tongue, filler, bed, here, private", "protocol, padding, test bed, executor, temporary directory")]

# Phrases in which these words are the field's, or plain English.
PLAIN = {
    "fall back": "the field's word",
    "fall & floyd": "a paper of 1996",
    "right edge": "of a window (RFC 9293)",
    "left edge": "of a window (RFC 9293)",
    "safe retreat": "a phase of RFC 9959",
    "a news page": "a page of news, by the name of `news`",
    "beyond:": "scripts read a column of that name",
    "column beyond": "scripts read a column of that name",
    "such as": "before examples",
    "test bed": "the field's word",
    "no such": "plain English",
    "in place": "plain English",
    "out of place": "plain English",
    "takes place": "plain English",
}

WORD = re.compile(r"\w+|&")


def by_first_word(rows):
    """Each phrase of these rows as a list of words, with what to write, under its first word."""
    found = {}
    for phrases, instead in rows:
        for phrase in phrases.split(", "):
            found.setdefault(phrase.split()[0], []).append((phrase.split(), instead))
    return found


ANYWHERE, IN_TESTBED = by_first_word(TABLE), by_first_word(TABLE + TESTBED)
PLAIN_WORDS = re.compile("|".join(phrase.replace(" ", r"[\s-]+") for phrase in PLAIN), re.I)


def private(path, text):
    """Yields (offset, words, what to write) of each private word."""
    phrases = IN_TESTBED if path.startswith("crates/testbed/") else ANYWHERE
    text = PLAIN_WORDS.sub(lambda found: re.sub(r"\S", "-", found.group()), text)
    found = list(WORD.finditer(text))
    words = [word.group().lower() for word in found]
    for at, word in enumerate(words):
        for phrase, instead in phrases.get(word, ()):
            if words[at : at + len(phrase)] == phrase:
                yield found[at].start(), " ".join(phrase), instead
