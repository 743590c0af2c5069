"""Polyculture: what does a language model know and say about the world's cultures, in every language?

    import polyculture

    run = polyculture.open("exp.toml")
    run.table("granularity")

What stands in `__all__` is the interface; it is loaded when it is first used (docs/python.md).
"""

from __future__ import annotations

import sys

# As `typing` has it, which takes longer to load than all that a Ctrl-C may meet before it ends a command in one line.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from polyculture.api.handle import Run
    from polyculture.api.opening import open
    from polyculture.api.start import run
    from polyculture.cache.errors import (
        BudgetError,
        ChangedExperimentError,
        ExperimentError,
        IncompleteError,
        JobHeldError,
        PolycultureError,
        StoreError,
        UserError,
    )
    from polyculture.experiment.file import Experiment

__version__ = "0.1.0"
# Locks, signals and the links of a checkout are those of POSIX: on Windows, to look whether a process lives ends it.
UNSUPPORTED = "Polyculture runs on Linux and macOS; on Windows, install it in WSL2, which is Linux"
__all__ = [
    "BudgetError",
    "ChangedExperimentError",
    "Experiment",
    "ExperimentError",
    "IncompleteError",
    "JobHeldError",
    "PolycultureError",
    "Run",
    "StoreError",
    "UserError",
    "__version__",
    "open",
    "run",
]

# Where each stands: loading all of it takes a second, which the command line would wait for.
_HOMES = {
    "Experiment": "experiment.file",
    "Run": "api.handle",
    "open": "api.opening",
    "run": "api.start",
}

if not TYPE_CHECKING:  # a type checker would take any name for a part of the interface

    def __getattr__(name: str) -> Any:
        """Loads a part of the interface when it is first asked for."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        if sys.platform == "win32":
            raise ImportError(UNSUPPORTED, name=__name__)
        from importlib import import_module

        found = getattr(import_module(f"{__name__}.{_HOMES.get(name, 'cache.errors')}"), name)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
