"""The declaration of an engine, in its own file or folder: all that other rooms know of it.

An engine is one module with a `KIND`, and one line in `generate/engines/__init__.py`. A declaration is read before
anything is loaded, so its module imports no heavy package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Event
from typing import Any, Generic, TypeVar

from polyculture.cache.extras import Extra
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.capabilities import Capability, E_co, Sampling
from polyculture.generate.engines.options import Options, Use

EngineOptions = TypeVar("EngineOptions", bound=Options)
Encode = Callable[[str], int]


@dataclass(frozen=True)
class Offer(Generic[E_co]):
    """One capability of an engine, and what opens a model for it."""

    capability: Capability[E_co]
    # Makes a context manager, which loads the model when it is entered; 'module:name' is imported when it is used.
    open: Callable[[ModelSpec], E_co] | str
    extra: Extra | None = None

    def opened(self, spec: ModelSpec) -> E_co:
        """A model, to be entered."""
        if not isinstance(self.open, str):
            return self.open(spec)
        module, _, name = self.open.partition(":")
        made: E_co = getattr(import_module(f"polyculture.generate.engines.{module}"), name)(spec)
        return made


@dataclass(frozen=True)
class TokenCounter:
    """Counts the tokens of a text for `plan`; `name` is what its column "counted by" shows."""

    encode: Encode
    name: str


@dataclass(frozen=True)
class Batching(Generic[EngineOptions]):
    """How an engine is asked in batches that are answered within a day."""

    wanted: Callable[[EngineOptions], bool]
    at_once: Callable[[EngineOptions], int]  # jobs whose batches wait at the same time
    # The folder keeps the ids of the batches, the event ends the waiting.
    open: Callable[[ModelSpec, Path, Event], Sampling]


def _check_nothing(spec: ModelSpec, options: Any) -> None:
    """No more is wrong with a model than its options show."""


@dataclass(frozen=True, kw_only=True)
class EngineKind(Generic[EngineOptions]):
    """An engine's declaration. `paid` has no default: an engine that escaped `max_cost` would spend without limit."""

    name: str  # what stands before the colon in a model's name
    options: type[EngineOptions]  # which of them decide a number is said there, option by option
    paid: bool  # its answers cost money: `max_cost` needs a price
    offers: tuple[Offer[Any], ...]
    real: bool = True  # a model answers; numbers of an engine that only plays one are marked
    # Capabilities that a model lacks for its options, each with the remedy.
    lacks: Callable[[ModelSpec, EngineOptions], Mapping[Capability[Any], str]] = lambda _spec, _options: {}
    check: Callable[[ModelSpec, EngineOptions], None] = _check_nothing  # raises `EngineError`; opens nothing
    # What else decides a use, beside options or in their place. A path stands for the content of its file, None for a
    # default, which is in no setup.
    further_setup: Callable[[ModelSpec, EngineOptions, Use], Mapping[str, Any]] = lambda _spec, _options, _use: {}
    files: Callable[[ModelSpec, EngineOptions], Path | None] = lambda _spec, _options: (
        None
    )  # the model's, if they lie here
    # Does the model fill gaps, and not write on? Looks at its settings alone, and is False where these cannot be read.
    masked: Callable[[ModelSpec, EngineOptions], bool] = lambda _spec, _options: False
    # How many layers the model has, by its settings alone; None where these cannot be read.
    layers: Callable[[ModelSpec, EngineOptions], int | None] = lambda _spec, _options: None
    gpus: Callable[[EngineOptions], float] = lambda _options: 0.0  # that a copy of the model takes on a cluster
    counter: Callable[[ModelSpec], TokenCounter | None] = lambda _spec: None  # where its own tokenizer is at hand
    batching: Batching[EngineOptions] | None = None
    # The most tokens of an answer, of its prompt and written, that the options allow: raised where they ask for more.
    most_tokens: Callable[[EngineOptions, int, int], tuple[int, int]] = lambda _options, prompt, written: (
        prompt,
        written,
    )
    # What the remedies of the table of faults leave open: 'url' and 'key'. Empty where no service is asked.
    places: Callable[[ModelSpec, EngineOptions], Mapping[str, str]] = lambda _spec, _options: {}
    # The remedy of one failed answer, where the service's words say more than the table of faults; None where not.
    advice: Callable[[str], str | None] = lambda _error: None
    # What `plan` warns of: how the model is reached makes its numbers another model's, or those of several.
    warning: Callable[[ModelSpec, EngineOptions], str | None] = lambda _spec, _options: None

    def offer(self, capability: Capability[E_co]) -> Offer[E_co] | None:
        """How a model is opened for a capability; None where the engine does not have it."""
        return next((offer for offer in self.offers if offer.capability is capability), None)
