"""The columns of a type: female and male names, or clothing, apart; another type is one column.

CAMeL's tables have ten columns for its eight types. A column of a gender holds the contexts of that gender, and those
of none: these are compared once with the entities of each gender, as Camellia asks them. An entity of both genders
stands in both columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from polyculture.instruments.cbs.uncertainty import ScoreMatrix, Words, part_of
from polyculture.instruments.datasets.model import BOTH

GENDERS = ("female", "male")


def gender_columns(matrix: ScoreMatrix) -> Mapping[str, ScoreMatrix]:
    """The matrix of each gender that entities of both sides have, by its name; empty where no gender counts."""
    if matrix.column is not None:
        return {}
    found = {gender: of_gender(matrix, gender) for gender in GENDERS}
    return {gender: column for gender, column in found.items() if column is not None}


def lacking_columns(matrix: ScoreMatrix) -> Mapping[str, str]:
    """The genders that entities or contexts have, and no column stands for: what it lacks."""
    known = matrix.genders
    if known is None or matrix.column is not None:
        return {}
    found = {}
    for gender in GENDERS:
        there = {side: gender in of for side, of in (("native", known.native), ("Western", known.western))}
        if (any(there.values()) or gender in known.contexts) and of_gender(matrix, gender) is None:
            without = [f"{side} " for side, has in there.items() if not has]
            side = without[0] if len(without) == 1 else ""
            found[gender] = f"no {side}entity of that gender" if without else "no context for that gender"
    return found


def of_gender(matrix: ScoreMatrix, gender: str) -> ScoreMatrix | None:
    """The part of a matrix that is about a gender; None where a side has no entity of just that gender."""
    known = matrix.genders
    if known is None or not (gender in known.native and gender in known.western):
        return None
    rows = np.isin(known.contexts, (gender, BOTH, ""))
    native, western = (_fits(side, gender) for side in (known.native, known.western))
    if not rows.any():
        return None
    return replace(part_of(matrix, rows, native, western), column=gender)


def _fits(genders: Words, gender: str) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    fits: np.ndarray[tuple[int], np.dtype[np.bool_]] = np.isin(genders, (gender, BOTH, ""))
    return fits
