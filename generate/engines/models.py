"""The models of a step, opened by role when it first asks one, and wrappers around them."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self, cast

from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import Capability, E_co, Engine

MODEL = "model"  # the role of the model that a job studies


class Models(Protocol):
    """The models of one work. Each is loaded once, within the budget; the caller frees them."""

    def open(self, needs: Capability[E_co], role: str = MODEL) -> E_co:
        """The model of a role, ready for what is needed of it.

        Raises `EngineError` where it cannot be loaded, and before anything is loaded where it lacks the capability.
        """
        ...

    def spec(self, role: str = MODEL) -> ModelSpec:
        """The model of a role with its options."""
        ...


@dataclass(frozen=True)
class OneModel:
    """A model that is open already, in every role: `engine` has every capability that is used."""

    engine: Engine
    of: ModelSpec

    def open(self, needs: Capability[E_co], role: str = MODEL) -> E_co:  # noqa: ARG002
        """`engine`."""
        return cast("E_co", self.engine)

    def spec(self, role: str = MODEL) -> ModelSpec:  # noqa: ARG002
        """The model with its options."""
        return self.of


class Closing:
    """What is freed by `close` when it is left."""

    def __enter__(self) -> Self:
        return self

    def close(self) -> None:
        """Frees what it holds: nothing, unless a class says so."""

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Wrapper(Closing):
    """A wrapper around an engine has the capabilities whose methods it defines, and no others."""
