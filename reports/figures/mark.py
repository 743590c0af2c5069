"""A mark of a figure: what it is called, and where on the axes of the evidence what it counts is found."""

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
        """The mark as the address that a drawing carries."""
        return _MARK + json.dumps([self.label, dict(self.place)])


def mark_at(address: str) -> Mark | None:
    """The mark behind an address of a drawing; None where it is the address of something else."""
    return Mark(*json.loads(address.removeprefix(_MARK))) if address.startswith(_MARK) else None
