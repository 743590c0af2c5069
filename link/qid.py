"""The numbers of items: Q5 is 5."""

from __future__ import annotations

import re

LARGEST = 999_999_999  # far above any item number in use; greater numbers are errors
_QID = re.compile(r"Q([1-9][0-9]{0,8})")


def number(qid: str) -> int:
    """The number of a QID: 'Q5' is 5. Raises `ValueError` for anything else."""
    match = _QID.fullmatch(qid)
    if match is None:
        raise ValueError(f"{qid!r} is not a QID")
    return int(match[1])
