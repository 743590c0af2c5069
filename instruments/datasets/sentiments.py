"""The sentiment that a data set gives a context."""

from __future__ import annotations

from typing import Literal, get_args

from polyculture.instruments.datasets.model import MaskedContext

Label = Literal["positive", "negative", "neutral"]
LABELS: tuple[Label, ...] = get_args(Label)


def gold_label(context: MaskedContext) -> Label | None:
    """The sentiment of a context; None where the publisher gives none, or another word than the three."""
    said = (context.sentiment or "").strip().casefold()
    return next((label for label in LABELS if label == said), None)
