"""Arrow without numpy and pandas, for commands of a second: none needs another."""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec

_LEFT_OUT = ("numpy", "pandas")


class _LeftOut(MetaPathFinder):
    """Finds nothing, and nobody after it finds what is left out."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Raises `ImportError` for numpy and pandas."""
        if name in _LEFT_OUT:
            raise ImportError("left out: see polyculture.cli.arrow_alone", name=name)
        return None


def load_arrow_alone(module: str = "pyarrow") -> None:
    """Imports a `module` of Arrow, and has it look for both in vain: it does so once, and takes a quarter of a second.

    It looks for numpy when it is imported, and for pandas before it makes its first array of a list, which might be a
    series. Later in this process it takes an array or a series as a list like any other, and makes none: only for a
    command that has none.
    """
    if any(name in sys.modules for name in ("pyarrow", *_LEFT_OUT)):
        return
    hidden = _LeftOut()
    sys.meta_path.insert(0, hidden)
    try:
        import_module(module)
        import pyarrow as pa

        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)
