"""The arms of a probe: what stands in the place of the placeholder's state, and in which text.

`patched` is the probe itself. Controls put something else there: what is read of them was not in the answer's states.
Settings are the probe itself under another choice that nobody can defend as the only one: scores should not turn on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

Control = Literal["noise", "text", "unpatched", "other-culture", "other-topic"]
Setting = Literal["mean", "rescaled", "inspection-2", "inspection-3"]
Arm = Literal["patched", Control, Setting]
PATCHED: Arm = "patched"
CONTROLS: tuple[Control, ...] = get_args(Control)
SETTINGS: tuple[Setting, ...] = get_args(Setting)
LENT = frozenset[Arm]({"other-culture", "other-topic"})  # whose vector is that of another question
WITHOUT_LAYERS = frozenset[Arm]({"text", "unpatched"})
SEEDED = LENT | {"noise"}


def missing_controls(arms: Iterable[str]) -> list[Control]:
    """The controls that are not among some arms."""
    run = set(arms)
    return [one for one in CONTROLS if one not in run]
