"""The formats that can be imported. Another one is a file here and a line in `READERS`."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.errors import UserError, did_you_mean
from polyculture.imports.readers import columnar, inspect_log, lines, lm_eval, makieval, openai_batch, separated
from polyculture.imports.record import Reader

# In the order in which they are tried: logs of tools before the plain file that each of them is, too.
READERS: tuple[Reader, ...] = (
    lm_eval.READER,
    openai_batch.READER,
    inspect_log.READER,
    lines.READER,
    separated.READER,
    columnar.READER,
    makieval.READER,
)


def find_reader(path: Path, name: str | None = None) -> Reader:
    """The reader of this name, or the first that recognises the file. Raises `UserError` where there is none."""
    known = {reader.name: reader for reader in READERS}
    if name is not None:
        if name not in known:
            remedy = did_you_mean(name, known) or f"One of: {', '.join(known)}."
            raise UserError(f"no format is called {name!r}", remedy=remedy)
        return known[name]
    for reader in READERS:
        if reader.recognises(path):
            return reader
    raise UserError("is of no format that its name tells", where=path, remedy=f"Say --format: {', '.join(known)}.")
