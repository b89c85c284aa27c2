"""python -m benchmarks [speed] [parts] [scale] [forecast] [quality] [report]: measure, and write docs/benchmarks.md."""

from __future__ import annotations

import sys

from benchmarks import forecast, parts, quality, report, scale, speed
from benchmarks.common import exit_code

PARTS = {
    "speed": speed.run,
    "parts": parts.run,
    "scale": scale.run,
    "forecast": forecast.run,
    "quality": quality.run,
    "report": report.run,
}


def main() -> int:
    wanted = sys.argv[1:] or list(PARTS)
    unknown = [part for part in wanted if part not in PARTS]
    if unknown:
        sys.stderr.write(f"error: there is no benchmark {unknown[0]!r}; there are {', '.join(PARTS)}\n")
        return 2
    return exit_code(lambda: [PARTS[part]() for part in wanted])


sys.exit(main())
