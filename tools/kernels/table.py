"""Results as tables: a row for each feature and mode, a column for each kernel; then what was skipped, and why."""

import re

TEST = re.compile(r"test any_kernel::(?:\w+::)*(\w+) \.\.\. (ok|FAILED)")
MODES = ("cubic", "bbr", "session", "wrap", "window")


class Result:
    """What one kernel's guest has shown."""

    def __init__(self, image, outcome, expected):
        self.series, self.version = image.kernel.series, image.kernel.version
        self.order = image.kernel.order()
        self.expected, self.seconds = expected, outcome.seconds
        self.path = "link" if "tun" in image.modules else "loopback"
        self.outcome = outcome
        self.tests = dict(TEST.findall("\n".join(outcome.lines.get("tests", []))))
        self.skipped = {}
        for line in outcome.lines.get("skipped", []):
            test, _, why = line.partition("\t")
            name = test.split("::")[-1]
            self.skipped[name] = why
            if self.tests.get(name) == "ok":
                self.tests[name] = "–"
        found = [line for line in outcome.lines.get("check", []) if line.startswith("programs")]
        says = re.search(r"\bmode (\w+)", found[0]) if found else None
        self.mode = says[1] if says else "none"

    def has_failed(self):
        is_as_expected = self.expected in (None, self.mode)
        return not self.outcome.is_done() or "FAILED" in self.tests.values() or not self.tests or not is_as_expected


def feature_of(test):
    """`warm_start_ipv4_cubic` is a feature and a mode."""
    name, _, last = test.rpartition("_")
    return (name.replace("_", " "), last) if last in MODES else (test.replace("_", " "), "")


# What docs/agent/reference.md tells of a kernel, and the tests that stand for it.
SUMMARY = {
    "`hs_cubic`": ("warm_start_ipv4_cubic", "warm_start_ipv6_cubic", "restart_after_idle_cubic"),
    "`hs_bbr`": ("warm_start_ipv4_bbr",),
    "`hs_session`": ("warm_start_ipv4_session", "warm_start_ipv6_session"),
    "`window`": ("warm_start_ipv4_window", "warm_start_ipv6_window"),
    "`check` is right": ("check_predicts_the_mode",),
    "end and `kill -9`": ("kill_9_wrap", "kill_9_window", "nothing_left_after_sigterm_wrap"),
}


def summarise(results):
    """Which kernel gets which mode, a row for each: the table of docs/agent/reference.md."""
    rows = [["Linux", "Debian's package", "`--mode auto`", *SUMMARY]]
    for result in results:
        cells = [worst([result.tests.get(test, "not run") for test in tests]) for tests in SUMMARY.values()]
        rows.append([result.series, result.version, f"`{result.mode}`" if result.mode != "none" else "none", *cells])
    return markdown(rows)


def worst(cells):
    return next((cell for cell in ("FAILED", "not run", "–") if cell in cells), "ok")


def show(results):
    """Each feature in each mode on each kernel."""
    tests = sorted({test for result in results for test in result.tests}, key=feature_of)
    rows = [["feature", "mode", *(result.series for result in results)]]
    rows.append(["version", "", *(result.version for result in results)])
    rows.append(["`--mode auto` gets", "", *(result.mode for result in results)])
    rows.append(["path in the guest", "", *(result.path for result in results)])
    for test in tests:
        feature, mode = feature_of(test)
        rows.append([feature, mode, *(result.tests.get(test, "not run") for result in results)])
    rows.append(["seconds", "", *(f"{result.seconds:.0f}" for result in results)])
    return markdown(rows)


def markdown(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def show_skipped(results):
    reasons = {}
    for result in results:
        for test, why in result.skipped.items():
            reasons.setdefault((result.series, why), []).append(test)
    lines = [f"  Linux {series}: {why}: {', '.join(sorted(tests))}" for (series, why), tests in reasons.items()]
    return "\n".join(["skipped (–):", *lines]) if lines else "nothing was skipped"


def show_failure(result):
    """What a kernel's guest said where something failed."""
    lines = result.outcome.lines
    parts = [f"Linux {result.series} ({result.version}): expected mode {result.expected}, check says {result.mode}"]
    if not result.outcome.is_done():
        parts += result.outcome.text.splitlines()[-40:]
    parts += lines.get("check", []) + lines.get("tests", []) + lines.get("stderr", [])[-120:]
    return "\n    ".join(parts)
