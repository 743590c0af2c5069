"""What takes the place of the placeholder's state at each layer, by arm."""

from __future__ import annotations

import numpy as np

from polyculture.generate.engines.patching import AnswerStates, Vector
from polyculture.instruments.probe.arms import Arm


def vectors(arm: Arm, found: AnswerStates, probe_id: str, seed: int, placeholder: Vector | None = None) -> Vector:
    """What takes the place of the placeholder's state at each layer: [layers, width].

    'noise': Gaussian, as long as the states; 'mean': the states over the number of tokens; 'rescaled': as long as the
    placeholder's own state at that layer, which `placeholder` gives; any other arm: the states.
    """
    if found.states is None:
        raise ValueError("an answer without states has no vectors")
    if arm == "noise":
        return noise(found.states, probe_id, seed)
    if arm == "mean":
        mean: Vector = (found.states / max(1, found.tokens)).astype(np.float32)
        return mean
    if arm == "rescaled" and placeholder is not None:
        return as_long_as(found.states, placeholder)
    return found.states


def noise(states: Vector, probe_id: str, seed: int) -> Vector:
    """Gaussian vectors as long as the states, the same in every run."""
    drawn = np.random.default_rng([seed, int(probe_id[:12], 16)]).standard_normal(states.shape)
    return as_long_as(drawn.astype(np.float32), states)


def as_long_as(vectors: Vector, others: Vector) -> Vector:
    """Each row of `vectors`, made as long as that of `others`; a row of zeros stays one."""
    length = np.linalg.norm(vectors, axis=1)
    scaled: Vector = (vectors * (np.linalg.norm(others, axis=1) / np.where(length > 0, length, 1.0))[:, None]).astype(
        np.float32
    )
    return scaled
