"""The figures of the last campaign (`make hostile`), written into docs/reliability.md.

python -m benchmarks.reliability
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

from benchmarks.common import RESULTS, Section, exit_code, markdown_table, parser

FOLDER = RESULTS / "reliability"
PAGE = Section("reliability.md")


def figures(name: str) -> dict[str, Any]:
    """What a campaign counted."""
    counted: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return counted


def total(prefix: str) -> tuple[int, Counter[str]]:
    """The number of scenarios whose names have the prefix, and the sums of what they counted."""
    names = [path.stem for path in sorted(FOLDER.glob(f"{prefix}-*.json"))]
    sums: Counter[str] = Counter()
    for name in names:
        sums.update(figures(name))
    return len(names), sums


def rows() -> list[tuple[str, str]]:
    """What was tried, and what happened."""
    inputs, files, odd = (figures(name) for name in ("hostile-inputs", "mutated-files", "odd-graphs"))
    scenarios, kills = total("kill-points")
    _, full = total("disk-full")
    pairs, load, damage, million = (
        figures(name) for name in ("two-processes", "review-load", "review-damage", "review-million")
    )
    return [
        (
            f"{inputs['cases']:,} hostile inputs: {inputs['files']:,} files, {inputs['options']:,} options, "
            f"{inputs['run_folders']:,} tampered run folders",
            "each used, or refused in one line with exit code 2; no traceback",
        ),
        (
            f"{files['files']:,} damaged files",
            f"{files['refused']:,} refused in one line, {files['read']:,} read, written and read back equal",
        ),
        (
            f"{odd['graphs']:,} odd graphs × {odd['methods']:,} methods",
            f"{odd['runs']:,} runs: {odd['refused']:,} refused in one line, the others as promised",
        ),
        (
            f"SIGKILL at each of {kills['points']:,} disk steps of {scenarios} commands",
            f"{kills['old']:,} times the old state, {kills['new']:,} times the new one, never between; "
            f"the same command then came to the same bytes {kills['same_bytes_again']:,} times",
        ),
        (
            f"a disk that is full from each of {full['points']:,} steps on",
            f"{full['one_line']:,} times one line and exit code 2, {full['undisturbed']:,} times undisturbed "
            f"(removals need no space); {full['old']:,} old states, {full['new']:,} new",
        ),
        (
            f"{pairs['pairs']:,} pairs of processes on one `--out`",
            f"{pairs['mixed']:,} mixed folders; the second was refused {pairs['refused'] + pairs['exists']:,} times",
        ),
        (
            f"{load['writers']} writers in the review for {load['seconds']} s, the server killed {load['kills']} times",
            f"{load['acknowledged']:,} verdicts acknowledged, {load['lost']:,} lost",
        ),
        (
            f"{damage['tried']:,} damaged `review.sqlite`",
            f"{damage['refused']:,} refused in one line, {damage['harmless']:,} with the right edges selected, "
            f"{damage['wrong']:,} wrong",
        ),
        (
            f"a review of {million['edges']:,} flagged edges",
            f"opened in {million['open_s']:.1f} s, a verdict and the next page "
            f"{million['verdict_and_next_page_s']:.2f} s, a search {million['search_s']:.2f} s, "
            f"{million['memory_mb']:,} MB",
        ),
    ]


def main() -> int:
    parser(__doc__).parse_args()
    return exit_code(lambda: PAGE.write(markdown_table(("tried", "seen"), rows())))


if __name__ == "__main__":
    sys.exit(main())
