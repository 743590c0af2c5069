"""How often a report shows a finding where nothing differs, and how often the intervals of its findings miss.

    python -m bench.findings [--reports 2000]

The worlds are those of `tests/metrics/selection_worlds.py`. At most 5 % of reports without a difference should show a
finding, and at most 5 % of shown intervals should miss. The last column is what 95 % intervals of the same findings
would miss: it shows what picking does.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.metrics.selection_worlds import WORLDS, tried

SMALLEST = ["--reports", "2"]


def main() -> None:
    """Prints a line for each world."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--reports", type=int, default=2000)
    reports: int = parser.parse_args().reports
    print(f"{'world':26}{'with findings':>15}{'findings':>10}{'missed':>9}{'at 95 %':>9}")
    for name, world in WORLDS.items():
        found = tried(world, reports)
        print(f"{name:26}{found.with_findings:>15.3f}{found.shown:>10.2f}{found.missed:>9.3f}{found.unwidened:>9.3f}")


if __name__ == "__main__":
    main()
