"""Subjects of commits: `area: what changes`."""

import re
import subprocess
import sys

LONGEST = 72
FORM = re.compile(r"[a-z0-9][\w ,./-]*: (?P<what>\S.*)")
# Subjects that git writes, and those of commits that will be folded into others.
OF_GIT = re.compile(r'Merge |Revert "|(?:fixup|squash|amend)! ')
# Names in one capital. A word with two capitals, or a figure, is a name in any case.
NAMES = set(
    "Allman Chromium Debian Ensemble Grafana Hoe Jacobson Karn Linux Nagle Parquet Prometheus Python Redis Reno Rust"
    " Vegas Wireshark Windows".split()
)


def mistakes(subject):
    """Yields what is wrong with a subject."""
    if OF_GIT.match(subject):
        return
    if len(subject) > LONGEST:
        yield f"{len(subject)} characters, at most {LONGEST}"
    if subject.endswith("."):
        yield "a full stop at the end"
    form = FORM.fullmatch(subject)
    if not form:
        yield "not of the form `area: what changes`, the area in small letters"
        return
    word = re.match(r"\w*", form["what"]).group()
    if re.fullmatch(r"[A-Z][a-z]*", word) and word not in NAMES:
        yield f"{word!r} begins with a capital after the colon, and is no name (tools/prose_rules/subjects.py)"


def of_message(text):
    """The subject of a commit's message as its author has edited it."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return lines[0].strip() if lines else ""


def of_commits(chosen):
    """(commit, subject) of each commit of a range. Without a range: of those that no remote's main has."""
    if not chosen:
        mains = git("for-each-ref", "--format=%(refname)", "refs/remotes/*/main").split()
        if not mains:
            return []
        chosen = ["HEAD", "--not", *mains]
    log = git("log", "--no-merges", "--format=%h %s", *chosen, "--")
    return [line.split(" ", 1) for line in log.splitlines()]


def git(command, *arguments):
    """What git prints; ends this program if git fails, but for a list of references outside of a repository."""
    run = subprocess.run(["git", command, *arguments], stdout=subprocess.PIPE, text=True)
    if run.returncode and command != "for-each-ref":
        sys.exit(run.returncode)
    return run.stdout
