"""Models that are loaded for a job, with word of it where that takes long."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Timer
from typing import TYPE_CHECKING

from polyculture.console import PLAIN_EVERY, say

if TYPE_CHECKING:
    from polyculture.generate.engines import Engine, ModelSpec


@contextmanager
def load_model(spec: ModelSpec) -> Iterator[Engine]:
    """The engine of a model, loaded; who waits for it for more than ten seconds is told for what.

    Raises what `generate.engines.open_engine` and the engine itself raise.
    """
    from polyculture.generate.engines import open_engine

    told = Timer(PLAIN_EVERY, say, [f"{spec.model}: still being loaded"])
    told.daemon = True  # nothing waits for it
    with ExitStack() as stack:
        told.start()
        try:
            engine = stack.enter_context(open_engine(spec))
        finally:
            told.cancel()
        yield engine
