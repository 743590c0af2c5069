"""What a process has on its way, in a few bytes that survive its death: written before a request is sent.

The file is written in one piece, without a flush: it outlives a killed process, not a machine that loses power.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from struct import error as StructError  # noqa: N812 - a class, whatever its name
from typing import Self

_FORM = Struct("<qdd")


@dataclass(frozen=True, slots=True)
class InFlightSpend:
    """Money that the ledger does not know of yet."""

    turn: int  # the ledger's bookings of the account before
    spent: float  # by answers that came since
    reserved: float  # for requests that were sent and not answered

    @classmethod
    def read(cls, path: Path) -> Self | None:
        """What a file says; None where it is absent or cut."""
        try:
            return cls(*_FORM.unpack(path.read_bytes()))
        except (OSError, StructError):
            return None


class InFlightFile:
    """One such file of a living process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
        self.write(InFlightSpend(0, 0.0, 0.0))

    def write(self, state: InFlightSpend) -> None:
        """Replaces what the file says."""
        os.pwrite(self._file, _FORM.pack(state.turn, state.spent, state.reserved), 0)

    def close(self) -> None:
        """Removes the file."""
        os.close(self._file)
        self.path.unlink(missing_ok=True)
