"""Loads models, with a message where that takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, overload

from polyculture.console import PLAIN_EVERY, say

if TYPE_CHECKING:
    from polyculture.generate.engines import Capability, ModelSpec, Sampling
    from polyculture.generate.engines.capabilities import E_co


@overload
def load_model(spec: ModelSpec) -> AbstractContextManager[Sampling]: ...
@overload
def load_model(spec: ModelSpec, needs: Capability[E_co]) -> AbstractContextManager[E_co]: ...
def load_model(spec: ModelSpec, needs: Capability[Any] | None = None) -> AbstractContextManager[Any]:
    """A model, loaded for a capability; after ten seconds a message says what is loading.

    Without `needs` it samples. Raises what `generate.engines.open_engine` and the engine raise; where the capability is
    missing, before anything is loaded.
    """
    return _load(spec, needs)


@contextmanager
def _load(spec: ModelSpec, needs: Capability[Any] | None) -> Iterator[Any]:
    from polyculture.generate.engines import open_engine

    told = Timer(PLAIN_EVERY, say, [f"{spec.model}: still being loaded"])
    told.daemon = True  # nothing waits for it
    with ExitStack() as stack:
        told.start()
        try:
            engine = stack.enter_context(open_engine(spec) if needs is None else open_engine(spec, needs))
        finally:
            told.cancel()
        yield engine
