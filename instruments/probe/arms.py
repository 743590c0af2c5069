"""The arms of a probe: what stands in the place of the placeholder's state.

`patched` is the probe itself. Controls put something else there: what is read of them was not in the answer's states.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from polyculture.cache.store.store import Store
    from polyculture.generate.engines.patching import Vector

ProbeProtocol = Literal["paper", "released"]  # the study's text, or its published code
Control = Literal["noise", "text", "other-culture"]
Arm = Literal["patched", Control]
PATCHED: Arm = "patched"
CONTROLS: tuple[Control, ...] = get_args(Control)
TEXT: Arm = "text"  # one text a question, and not one a layer
LENT: Arm = "other-culture"  # whose vector is that of another question
SEEDED = frozenset[Arm]({LENT, "noise"})


def missing_controls(arms: Iterable[str]) -> list[Control]:
    """The controls that are not among some arms."""
    run = set(arms)
    return [one for one in CONTROLS if one not in run]


_UNKEPT = """
SELECT model, dataset, language, filter, string_agg(culture, ', ' ORDER BY culture), any_value(others)
FROM probe_unkept
WHERE arm = 'patched'
GROUP BY model, dataset, language, filter
ORDER BY ALL
"""


def unkept_lines(store: Store, named: Callable[[str], str] = str) -> Iterator[str]:
    """What a filter leaves out whole, and what is left of the scores: a line for each model, language and filter."""
    from polyculture.instruments.probe.flattening import FEWEST

    for model, dataset, language, name, cultures, others in store.execute(_UNKEPT).fetchall():
        left = f"no score without {FEWEST} cultures" if others < FEWEST else f"scores are of the other {others}"
        yield f"{named(model)}, {dataset}, {language}: the filter {name!r} keeps no item of {cultures}: {left}"


def noise(states: Vector, probe_id: str, seed: int) -> Vector:
    """Gaussian vectors as long as the states, [layers, width], the same in every run."""
    import numpy as np

    drawn = np.random.default_rng([seed, int(probe_id[:12], 16)]).standard_normal(states.shape).astype(np.float32)
    length = np.linalg.norm(drawn, axis=1)
    scale = np.linalg.norm(states, axis=1) / np.where(length > 0, length, 1.0)
    scaled: Vector = (drawn * scale[:, None]).astype(np.float32)
    return scaled
