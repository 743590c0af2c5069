"""Near misses: names of a topic's items that are spelled almost like a mention without a candidate.

They are shown as candidates with the reason "near miss" and are never linked: of slips between short names one in five
is another thing, and a model seldom misspells what it can name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import duckdb

from polyculture.cache.catalog import Catalog
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.queries import label_chain
from polyculture.link.statements import statement

CUTOFF = 85.0  # of rapidfuzz's ratio of the normal forms: one letter in seven
MOST = 5


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A name of an item of the topic, and how alike it is, 0 to 100."""

    qid: str
    name: str
    language: str
    score: float

    @property
    def reason(self) -> str:
        """The reason in words."""
        return f"near miss: {self.score:.0f} of 100 alike, never linked"


def near_misses(
    connection: duckdb.DuckDBPyConnection, catalog: Catalog, asked: Iterable[tuple[str, str, str]]
) -> dict[tuple[str, str, str], Sequence[NearMiss]]:
    """The nearest names for each (language, topic, surface), at most `MOST`, of items that reach the topic.

    Names are compared that begin with the same letter, in the languages of the fallback chain. The connection has a
    snapshot's `members`, and `topic_scopes`.
    """
    from rapidfuzz import fuzz  # here: few mentions have no candidate

    found: dict[tuple[str, str, str], Sequence[NearMiss]] = {}
    for language, topic, surface in sorted(set(asked)):
        chain = [code for code, _ in label_chain(catalog.language(language))]
        (form,) = normalise([surface], fold_of(chain[0]))
        params = {"languages": chain, "topic": topic, "first": form[:1], "longest": len(form)}
        names = connection.execute(statement("near_names"), params).fetchall()
        # Not rapidfuzz.process, which imports numpy.
        alike = [
            NearMiss(f"Q{item}", name, of, score)
            for item, of, name, normalised in names
            if (score := fuzz.ratio(form, normalised, score_cutoff=CUTOFF))
        ]
        found[language, topic, surface] = sorted(alike, key=lambda miss: -miss.score)[:MOST]
    return found
