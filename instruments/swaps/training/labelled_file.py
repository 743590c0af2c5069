"""Reads texts with their sentiment: a table in any form that data sets are read in, as the UTF-16 of HARD."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.instruments.datasets.sheets import Sheet, read_sheets
from polyculture.instruments.swaps.training.examples import ExampleFile, LabelledText
from polyculture.instruments.swaps.training.settings import FineTuning


def read_labelled(path: Path, columns: tuple[str, str], settings: FineTuning) -> ExampleFile[LabelledText]:
    """The texts of a file and their sentiments; `columns` name that of the text and that of the label.

    Raises `DataSetError`, naming the row, where a label is unknown, and where the file holds fewer than two labels.
    A row without text or label, and a text that stands twice, is left out and counted.
    """
    left_out, found = Counter[str](), dict[str, str]()
    sheets = read_sheets(path.parent, path)
    places = [_place(sheets[0], name, path) for name in columns] if sheets else []
    for number, cells in sheets[0].numbered() if sheets else ():
        text, label = (cells[place] if place < len(cells) else "" for place in places)
        meant = settings.label_of(label)
        if not text or not label:
            left_out["no text" if not text else "no label"] += 1
        elif meant is None:
            remedy = "Say under [labels] what it means, in a file that --settings names."
            raise DataSetError(f"row {number}: the label {label!r} is unknown", where=path, remedy=remedy)
        elif text in found:
            left_out["the same text twice" if found[text] == meant else "the same text twice, with another label"] += 1
        else:
            found[text] = meant
    if len(set(found.values())) < 2:
        have = f"only {next(iter(found.values()))!r}" if found else "no labelled text"
        raise DataSetError(f"holds {have}", where=path, remedy="Give texts of two labels at least.")
    return ExampleFile(path, tuple(LabelledText(text, label) for text, label in found.items()), left_out)


def _place(sheet: Sheet, name: str, path: Path) -> int:
    if sheet.header.count(name) != 1:
        what = f"has {'no' if name not in sheet.header else 'more than one'} column {name!r}"
        remedy = f"It has {', '.join(sheet.header)}: name two of these with --text-column and --label-column."
        raise DataSetError(what, where=path, remedy=remedy)
    return sheet.header.index(name)
