"""Arrow without pandas, for commands of a second: neither needs the other."""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec


class _NoPandas(MetaPathFinder):
    """Finds nothing, and nobody after it finds pandas."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Raises `ImportError` for pandas."""
        if name == "pandas":
            raise ImportError("left out: see polyculture.cli.arrow_alone", name=name)
        return None


def load_arrow_alone() -> None:
    """Imports Arrow, and has it look for pandas in vain: it does so once, and imports all of it, an eighth of a second.

    It looks before it makes its first array of a list, which might be a series. Later in this process a series given to
    Arrow is a list like any other: only for a command that has none. `to_pandas` works, for it looks again.
    """
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)
