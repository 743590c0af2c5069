"""Keeps what a benchmark measured: a CSV file a subject with the columns table, row, column and value.

Only where the variable `POLYCULTURE_RESULTS` names the folder, as `bench/results`: a run at a small size, or on busy
cores, would replace what was measured in earnest.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "POLYCULTURE_RESULTS"
COLUMNS = ("table", "row", "column", "value")


def keep(subject: str, table: str, row: str, numbers: Mapping[str, object]) -> None:
    """Writes numbers, by column, into a row of `<subject>.csv`, in the place of those that it had."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return
    file = Path(folder) / f"{subject}.csv"
    lines = list(csv.reader(file.read_text(encoding="utf-8").splitlines()))[1:] if file.exists() else []
    found = {(table, row, column): str(value).strip() for column, value in numbers.items()}
    others = [line for line in lines if tuple(line[:3]) not in found]
    with file.open("w", encoding="utf-8", newline="") as opened:
        csv.writer(opened, lineterminator="\n").writerows([COLUMNS, *others, *([*key, v] for key, v in found.items())])
