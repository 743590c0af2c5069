"""What ways of asking multiple-choice questions take of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability

GENERATED = "generated"  # the model writes; any other way compares likelihoods


def needs_of(methods: Sequence[str]) -> tuple[Capability[Any], ...]:
    """Texts where an answer is written, log-probabilities where likelihoods are compared."""
    from polyculture.generate.engines import SAMPLING, SCORING

    written = (SAMPLING,) if GENERATED in methods else ()
    scored = (SCORING,) if any(method != GENERATED for method in methods) else ()
    return (*written, *scored)
