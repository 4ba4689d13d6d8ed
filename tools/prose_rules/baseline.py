"""How many findings of a rule a file may have: `tools/prose.baseline`, which only shrinks."""

from collections import Counter, defaultdict

from .rules import ADVICE

SHRINK = "write the smaller baseline: tools/prose --shrink"


def read(text):
    """The counts by (path, rule). A line is a path and `rule=count` of each rule.

    A merge keeps the lines of both branches (.gitattributes). Either only shrinks, so the smaller count holds.
    """
    counts = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            path, *rules = line.split()
            for rule, count in (pair.split("=") for pair in rules):
                counts[path, rule] = min(int(count), counts.get((path, rule), int(count)))
    return counts


def written(counts):
    """The text of a baseline."""
    lines = defaultdict(list)
    for (path, rule), count in sorted(counts.items()):
        if count:
            lines[path].append(f"{rule}={count}")
    head = "# Findings of tools/prose by file and rule. They only become fewer: tools/prose --shrink.\n"
    return head + "".join(f"{path} {' '.join(rules)}\n" for path, rules in lines.items())


def counted(found):
    """The counts of `{path: [Finding]}`."""
    return Counter((path, finding.rule) for path, findings in found.items() for finding in findings)


def smaller(allowed, found):
    """The baseline for what is found: no count is above the old one."""
    counts = counted(found)
    return {key: min(count, counts[key]) for key, count in allowed.items()}


def errors(allowed, found):
    """Yields what to print where more, or less, is found than is allowed."""
    counts = counted(found)
    for path, rule in sorted(counts | allowed):
        has, may = counts[path, rule], allowed.get((path, rule), 0)
        if has > may:
            for finding in found[path]:
                if finding.rule == rule:
                    yield f"{path}:{finding.line}: {rule}: {finding.what}"
            yield f"{path}: {has} findings of {rule!r}, {may} allowed; mend {has - may} of those above; {ADVICE[rule]}"
        elif has < may:
            yield f"{path}: {has} findings of {rule!r}, {may} in the baseline; {SHRINK}"
