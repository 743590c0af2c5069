"""Noise in the place of an answer's states, at each layer."""

from __future__ import annotations

import numpy as np

from polyculture.generate.engines.patching import Vector


def noise(states: Vector, probe_id: str, seed: int) -> Vector:
    """Gaussian vectors as long as the states, [layers, width], the same in every run."""
    drawn = np.random.default_rng([seed, int(probe_id[:12], 16)]).standard_normal(states.shape).astype(np.float32)
    length = np.linalg.norm(drawn, axis=1)
    scale = np.linalg.norm(states, axis=1) / np.where(length > 0, length, 1.0)
    scaled: Vector = (drawn * scale[:, None]).astype(np.float32)
    return scaled
