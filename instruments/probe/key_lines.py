"""What the command says of scores by linked item: what stands in them, and what the key leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from polyculture.cache.core import CORE
from polyculture.cache.layout import compose
from polyculture.cache.run_folder import RunFolder
from polyculture.cache.store import open_store
from polyculture.instruments.probe.layout import PROBE
from polyculture.instruments.probe.rows import FlatteningRow

_LINES = """
SELECT model, language, filter, coalesce(unlinked, 'linked'), count(*) FROM probe_linked
GROUP BY ALL ORDER BY model, language, filter, count(*) DESC
"""


def key_lines(run: RunFolder, scores: Sequence[FlatteningRow]) -> Iterator[str]:
    """A line per model, language and filter: occurrences with a link, and others by reason. Where no unit has three
    cultures with linked items, it says that there is no score."""
    told: dict[str, dict[str, int]] = {}
    with open_store(run, compose(CORE, PROBE)) as store:
        for model, language, name, why, many in store.execute(_LINES).fetchall():
            told.setdefault(f"{model}, {language}, filter {name}", {})[why] = many
    for where, found in told.items():
        linked = found.pop("linked", 0)
        others = ", ".join(f"{why} {many}" for why, many in found.items())
        rest = f"; left out: {others}" if others else ""
        yield f"key item: {where}: {linked} of {linked + sum(found.values())} occurrences are linked{rest}"
    if not any(row.key == "item" for row in scores):
        yield "key item: no score, as fewer than three cultures have linked items in any language or in all together"
