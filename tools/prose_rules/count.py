"""How much prose the repository has, and how many findings that prose has for its length."""

from collections import defaultdict

from . import rules, source

PAGES, PRINTED, COMMENTS = "pages", "help and messages", "comments"


def by_kind(texts):
    """(words, findings in sentences) of each kind of prose in `{path: text}`."""
    kinds = defaultdict(lambda: (0, 0))
    for path, text in texts.items():
        for prose in rules.prose_of(path, text):
            kind = {"": PAGES, source.TEXT: PRINTED}.get(prose.mark, COMMENTS)
            words, findings = kinds[kind]
            found = len(list(rules.of_prose(path, prose)))
            kinds[kind] = words + len(prose.text.split()), findings + found
    return dict(kinds)


def lines(texts):
    """Yields what `--count` prints: the words of each page and of all, then findings per 1,000 words."""
    pages = {path: len(text.split()) for path, text in texts.items() if path.endswith(".md")}
    for path, words in sorted(pages.items(), key=lambda page: (page[1], page[0])):
        yield f"{words:7,}  {path}"
    yield f"{sum(pages.values()):7,}  words on {len(pages)} pages"
    for kind, (words, findings) in sorted(by_kind(texts).items()):
        yield f"{kind}: {findings} findings in {words:,} words, {findings * 1000 / max(words, 1):.1f} in 1,000"
