"""Cases for each rule: sentences that it takes, and sentences that it refuses, in Markdown, Rust and C."""

from . import count, markdown, rules, subjects
from .rules import Finding

FITS = " ".join(["Word"] * rules.LONGEST)
MANY = f"{FITS} more"
NARROW = " ".join(["W"] * rules.LONGEST)
DOC, C = "    /// ", "\t/* "

# Markdown, and the lines of its sentences that are too long.
LONG = [
    (f"{MANY}.", [1]),
    (f"{FITS}.", []),
    (f"# Title\n\nShort. {MANY}.\n", [3]),
    (f"Short one.\n{MANY}.", [2]),
    (f"{FITS}. {FITS}.", []),  # two sentences
    (f"{FITS}. headstart {FITS[5:]}.", []),  # a name in small letters can begin one
    (f"{FITS[5:]} e.g. This.", [1]),  # an abbreviation is no end
    (f"{FITS[15:]} (Hoe et al. 1996) more.", [1]),
    (f"{FITS[5:]} Fig. 3 shows.", [1]),
    (f"{FITS[10:]} RFC 6298 §2.4 says.", [1]),  # nor is the point of a number
    (f"{FITS[5:]} `a b c`.", []),  # code is one word
    (f"{FITS[5:]} [one](https://example.org/a b).", []),  # a link is its text
    (f"{FITS}\n![a picture of words](x.png).", []),
    (f"- {FITS}\n- {FITS}", []),  # items end sentences
    (f"1. {FITS}\n   more.", [1]),
    (f"```\n{MANY}\n```\n", []),
    (f"~~~\n{MANY}\n~~~\n", []),
    (f"| {MANY} |\n", []),
    (f"<!-- {MANY} -->\nShort.", []),
    (f"{FITS} – × …", []),  # marks are no words
    (f'He says "{FITS[10:]}." Then {FITS[5:]}.', []),
    (f"{FITS}? {FITS}! {FITS}.", []),
    (f"{FITS[5:]} so. `code` {FITS[10:]}.", []),  # code can begin a sentence
    (f"## {FITS}\n{FITS}.", []),  # a heading is a block
]

READERS = [
    ("# Title\n\nFor operators: how to install.\n", True),
    ("# Title\n\n*For operators.* How to install.\n", True),
    ("# Title\n\nThis page says how to install.\n", False),
    ("# Title\n\nFor example, install it.\n", False),
    ("# Title\n\nFor instance, install it.\n", False),
    ("# Title\n", False),
]

HEADLESS = [
    "What it computes is written to the file.",
    "What it was asked.",
    "Whose packets these are.",
    "Who sends.",
    "How many segments wait.",
    "Which side sent it; `None` if unknown.",
    "Why there is none.",
    "Of all.",
    "Of these, the last ones.",
    "That of a server.",
    "Those of other networks, longest first.",
    "The same with a rate.",
    "By itself.",
    "When the last segment was sent; 0 if none was.",
    "Where data goes.",
    "As `cwnd` is.",
    "**What** it was asked.",
]
WITH_SUBJECT = [
    "# What it needs",  # a title is no sentence
    "Bytes acknowledged so far.",
    "Returns the estimate's source.",
    "Starts cold.",
    "Those five segments wait.",
    "The same port is used.",
    "That ends the recovery.",
    "What ends the recovery?",
    "When the timer expires, the window is halved.",
    "Where there is no timer there is no loss.",
    "By then the timer has expired.",
    "At most ten segments.",
    "Without a queue, 31 segments leave.",
]

PRIVATE = [
    ("The sender is told.", ["told"]),
    ("Told the sender.", ["told"]),
    ("Segments are sent again.", ["sent again"]),
    ("Segments are sent\n    /// again.", ["sent again"]),
    ("Two of its edges, and such.", ["edges", "such"]),
    ("The sender retold it, and tell-tale.", ["tell"]),
    ("The sender falls back, or has to fall back.", []),
    ("Fall & Floyd 1996; the right-edge\n    /// recovery, such as here.", []),
    ("The call `told(so many)` returns.", []),  # code is no word
]

# Path, source, and (line, rule) of what is found.
SOURCES = [
    ("a.rs", f"{DOC}{NARROW}.\n", []),
    ("a.rs", f"{DOC}{NARROW}\n{DOC}more.\n", [(1, "long")]),
    ("a.rs", f"//! Short.\n\n// {NARROW}\n\n// more.\n", []),  # an empty line ends a comment
    ("a.rs", f"{DOC}{NARROW}\n    // more.\n", []),  # and so does another mark
    ("a.rs", f"f(); // {NARROW}\ng(); // more.\n", []),  # and code
    ("a.rs", f"/* {NARROW}\n * more. */\n", [(1, "long")]),
    ("a.rs", f"{DOC}# Errors\n{DOC}Fails.\n{DOC}What it was asked.\n", [(3, "headless")]),
    ("a.rs", f"{DOC}# Errors\n{DOC}Why it failed.\n", [(2, "headless")]),  # a heading is a block
    ("a.rs", f"{DOC}# Errors\n{DOC}If the file is missing.\n", []),
    ("a.rs", f"{DOC}```\n{DOC}let it = What; // Of all.\n{DOC}```\n", []),
    ("a.rs", "let a = '\"'; // Of all.\nlet b = \"// Of all.\";\n", [(1, "headless")]),
    ("a.rs", "fn f<'a>(a: &'a str) {} // Of all.\n", [(1, "headless")]),
    ("a.rs", 'let a = r#"a " // told"#; // Of all.\n', [(1, "headless")]),
    ("a.h", f"{C}{NARROW}. */\n", []),
    ("a.h", f"{C}{NARROW}\n\t * more. */\n", [(1, "long")]),
    ("a.h", f"{C}Short. */\n{C}Short.\n\t * What it was asked. */\n", [(3, "headless")]),
    ("a.h", f"{C}{NARROW} */\n{C}more. */\n", []),
    ("a.h", "int a; // Of all.\n", [(1, "headless")]),
    ("a.c", "\t/* The sender\n\t * is told. */\n", [(2, "private")]),
    ("a.c", '\tf("/* told */");\n', []),
    ("a.rs", f"{DOC}{'x' * 92}\n", []),  # 100 columns
    ("a.rs", f"{DOC}{'x' * 93}\n", [(1, "columns")]),
    ("a.rs", f"let {'x' * 100};\n", []),  # code is no comment
    ("a.rs", f"{DOC}https://example.org/{'x' * 93}\n", []),  # nor can a link be broken
    ("a.rs", f"{DOC}| {'x' * 93} |\n", []),  # nor a table
    ("a.h", f"{C}{'x' * 86} */\n", []),  # a tab has 8 columns
    ("a.h", f"{C}{'x' * 87} */\n", [(1, "columns")]),
    ("a.h", f"{C}Short.\n\t * {'x' * 90} */\n", [(2, "columns")]),
    ("crates/testbed/src/a.rs", "// A private folder, by a filler.\n", [(1, "private"), (1, "private")]),
    ("crates/wire/src/a.rs", "// A private folder, by a filler.\n", []),
    # Texts of product code: help and messages. Labels have no full stop.
    ("x/src/a.rs", 'f("nobody has told this host");\n', [(1, "private"), (1, "private")]),
    ("x/src/a.rs", 'f("A host.\\n\\\n    What the sender was asked.");\n', [(2, "headless")]),
    ("x/src/a.rs", 'f("A host.\\n\\\n    Two hosts\\n\\\n    What the sender was asked.");\n', [(3, "headless")]),
    ("x/src/a.rs", 'f("What the sender was asked");\n', []),
    ("x/src/a.rs", 'f("told {}", g("told a=1 b=2 c=3 d"));\n', []),  # no prose
    ("x/src/a.rs", '#[cfg(test)]\nmod tests {\nf("nobody has told this host");\n', []),
    ("x/tests/a.rs", 'f("nobody has told this host");\n', []),
    ("x/src/tests.rs", 'f("nobody has told this host");\n', []),
]

SUBJECTS = [
    ("sequential: pool the variance of both groups", 0),
    ("policy, race: tests of warm starts", 0),
    ("check harm: RACK and IPv6 in the cells", 0),
    ("agent: Linux 6.16 is supported", 0),
    ("agent: " + "x" * 65, 0),
    ("agent: " + "x" * 66, 1),
    ("agent: Pool the variance", 1),
    ("agent: pool the variance.", 1),
    ("Agent: pool the variance", 1),
    ("pool the variance", 1),
    ("Pool the variance.", 2),
    ("Merge branch 'agent'", 0),
    ("fixup! agent: pool the variance", 0),
]


def check_count():
    """Words and findings of each kind, and the words of each page."""
    texts = {"a.md": "Of all.\nTwo words.\n", "x/src/a.rs": '// Of all.\nf("nobody has told this host");\n'}
    assert count.by_kind(texts) == {count.PAGES: (4, 1), count.COMMENTS: (2, 1), count.PRINTED: (5, 2)}
    assert list(count.lines(texts))[:2] == ["      4  a.md", "      4  words on 1 pages"]
    assert "comments: 1 findings in 2 words, 500.0 in 1,000" in list(count.lines(texts))


def found_in(path, text):
    return [(finding.line, finding.rule) for finding in sorted(rules.of_file(path, text))]


def run():
    for text, expected in LONG:
        assert found_in("a.md", text) == [(line, "long") for line in expected], text
    for text, expected in READERS:
        assert markdown.names_reader(text) == expected, text
        assert ((1, "reader") in found_in("docs/a.md", text)) != expected, text
        assert (1, "reader") not in found_in("a.md", text), text
    for sentences, expected in (HEADLESS, [(1, "headless")]), (WITH_SUBJECT, []):
        for sentence in sentences:
            for path, text in ("a.rs", f"{DOC}{sentence}\n"), ("a.h", f"{C}{sentence} */\n"), ("a.md", sentence):
                assert found_in(path, text) == expected, text
    for sentence, expected in PRIVATE:
        for path, text in ("a.rs", f"{DOC}{sentence}\n"), ("a.h", f"{C}{sentence.replace('///', '*')} */\n"):
            found = [finding.what.split(":")[0] for finding in rules.of_file(path, text)]
            assert found == expected, (text, found)
    for path, text, expected in SOURCES:
        assert found_in(path, text) == expected, (path, text, found_in(path, text))
    for subject, expected in SUBJECTS:
        assert len(list(subjects.mistakes(subject))) == expected, subject
    assert subjects.of_message("\n# told\nagent: pool it\n\nBody.\n") == "agent: pool it"
    check_count()
    cases = (LONG, READERS, HEADLESS, WITH_SUBJECT, PRIVATE, SOURCES, SUBJECTS)
    print(f"prose: {sum(map(len, cases))} cases hold")
