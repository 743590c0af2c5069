"""Where a step opens its models: by role, when it first asks one."""

from __future__ import annotations

from typing import Protocol

from polyculture.generate.engines.base import Engine, ModelSpec

MODEL = "model"  # the role of the model that a job studies


class Models(Protocol):
    """The models of one work. Each is loaded once, within the budget, and freed by whoever handed this out."""

    def open(self, role: str = MODEL) -> Engine:
        """The model of a role, ready to answer. Raises `EngineError` where it cannot be loaded."""
        ...

    def spec(self, role: str = MODEL) -> ModelSpec:
        """The model of a role with its options."""
        ...
