"""By how much errors of extraction and linking put a metric off."""

from __future__ import annotations

from dataclasses import dataclass

JUDGED = "judged responses"


@dataclass(frozen=True, slots=True)
class Shift:
    """The difference between the true and the machine's number of a sample, with its limits."""

    value: float  # a difference; of a count a ratio
    below: float
    above: float
    units: int  # judged responses, or audited texts
    rests_on: str = JUDGED  # or the English names of gold texts (`audit.names`)
