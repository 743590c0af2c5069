"""What the run of an export asked for: texts, data sets, or both. Descriptions and citations follow from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from polyculture.cache.store.store import Store

MAKIEVAL = "Zhao et al. (2025). MAKIEval. arXiv:2505.21693"


@dataclass(frozen=True, slots=True)
class RunContents:
    """`texts`: did models write any? `datasets`: the data sets whose items models were asked, with what to cite."""

    texts: bool
    datasets: Mapping[str, str]

    @property
    def description(self) -> str:
        """What the export holds, in a sentence."""
        texts = "what language models write about cultures: texts, entities, their Wikidata items, and metrics"
        sets = f"what language models answer to data sets about cultures: {', '.join(self.datasets)}"
        both = f"{texts}; and {sets}" if self.texts else sets
        said = both if self.datasets else texts
        return f"{said[0].upper()}{said[1:]}."

    @property
    def citation(self) -> str:
        """What to cite, in sentences."""
        sources = ["Cite Polyculture by its CITATION.cff."]
        if self.texts:
            sources.append(f"The metrics of entities are those of {MAKIEVAL}.")
        if self.datasets:
            cited = "; ".join(f"{name} ({cite or 'as its publisher asks'})" for name, cite in self.datasets.items())
            sources.append(f"Cite the data sets that the models were asked: {cited}.")
        return " ".join(sources)


def what_was_asked(store: Store, citation_of: Callable[[str], str]) -> RunContents:
    """Reads a store with the views of the metrics. Data sets are those of which a number was computed.

    `citation_of` gives what to cite for a data set by its name; "" where nobody knows.
    """
    [(texts,)] = store.execute("SELECT count(*) > 0 FROM responses WHERE status = 'ok'").fetchall()
    names = store.execute("SELECT DISTINCT dataset FROM numbers WHERE dataset <> '-' ORDER BY dataset").fetchall()
    return RunContents(bool(texts), {name: citation_of(name) for (name,) in names})
