"""Another source's concepts about cultures, from a table of tabs that a user gives."""

from __future__ import annotations

import csv
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.folding import fold
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.probe.splitting import separators

_COLUMNS = ("culture", "concepts")
_FORM = "Give a table of tabs in UTF-8 with the columns culture and concepts, concepts between commas."


def read_concepts(file: Path, cultures: Cultures) -> Mapping[str, tuple[str, ...]]:
    """The concepts of each culture, each once. Raises `DataSetError` that names file, line and remedy."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    try:
        for name, text in _rows(file):
            known = cultures.country(name)
            of_culture = found[known.country if known else name]
            for one in (" ".join(part.split()) for part in separators().split(text)):
                of_culture.setdefault(fold(one), one)
    except (OSError, UnicodeDecodeError, csv.Error) as fault:
        raise DataSetError(f"cannot be read: {fault}", where=file, remedy=_FORM) from fault
    if not found:
        raise DataSetError("line 2: there is no row", where=file, remedy=_FORM)
    return {name: tuple(one for one in some.values() if one) for name, some in found.items()}


def _rows(file: Path) -> Iterator[tuple[str, str]]:
    """The culture and the concepts of each row."""
    with file.open(encoding="utf-8-sig", newline="") as opened:
        rows = csv.DictReader(opened, delimiter="\t", quoting=csv.QUOTE_NONE)
        missing = [name for name in _COLUMNS if name not in (rows.fieldnames or ())]
        if missing:
            raise DataSetError(f"line 1: has no column {', '.join(missing)}", where=file, remedy=_FORM)
        for number, row in enumerate(rows, 2):
            culture, concepts = ((row[name] or "").strip() for name in _COLUMNS)
            if not culture or not separators().sub("", concepts).strip() or None in row:
                what = f"line {number}: a culture and its concepts are needed, and no more cells than the header has"
                raise DataSetError(what, where=file, remedy=_FORM)
            yield culture, concepts
