"""Arrow without pandas, or without numpy, too, for commands that have no use for them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

PANDAS, NUMPY = "pandas", "numpy"
_DOCUMENTATION = "pyarrow.vendored.docscrape"


class _AbsentPackage(MetaPathFinder):
    """Finds nothing, and nobody after it finds what is left out."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Raises `ImportError` for what is left out."""
        if name in self._names:
            raise ImportError("left out: see polyculture.cli.arrow_alone", name=name)
        return None


def load_arrow_alone(module: str = "pyarrow", without: Sequence[str] = (PANDAS, NUMPY)) -> None:
    """Imports a `module` of Arrow, and has it look in vain for others, which takes a quarter of a second.

    It looks for numpy when it is imported, and for pandas before it makes its first array of a list, which might be a
    series. Later in this process it takes an array or a series as a list like any other, and makes none: only for a
    command that has none. Its functions have no documentation of their options: to read that takes Arrow longer than
    to load them.
    """
    if any(name in sys.modules for name in ("pyarrow", *without)):
        return
    hidden = _AbsentPackage(without)
    sys.meta_path.insert(0, hidden)
    reader = ModuleType(_DOCUMENTATION)
    reader.NumpyDocString = lambda _: {"Parameters": ()}  # type: ignore[attr-defined]
    sys.modules[_DOCUMENTATION] = reader
    try:
        import_module(module)
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)
        del sys.modules[_DOCUMENTATION]
