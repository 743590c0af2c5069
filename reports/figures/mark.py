"""A mark of a figure: its label, and its place on the axes of the evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

_MARK = "mark:"


@dataclass(frozen=True, slots=True)
class Mark:
    """One number of a figure. `place` names axes of the evidence (model, language, topic, condition, country)."""

    label: str
    place: Mapping[str, str]

    def address(self) -> str:
        """The mark as an address, which a drawing carries."""
        return _MARK + json.dumps([self.label, dict(self.place)])


def mark_at(address: str) -> Mark | None:
    """The mark in an address of a drawing; None for any other address."""
    return Mark(*json.loads(address.removeprefix(_MARK))) if address.startswith(_MARK) else None
