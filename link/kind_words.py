"""Words that say which kind of work, band or genre a name is: "(novela)", "(album)", "(樂團)"."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from polyculture.cache.catalog import Catalog
from polyculture.link.normalise import fold_of, normalise
from polyculture.link.within import SIDES, carriers_of, sorts_of

_SORTS = ("works", "groups", "genres")


def create_kind_words(connection: duckdb.DuckDBPyConnection, catalog: Catalog) -> None:
    """Creates the table `kind_words` (topic, language, word) of the topics and languages of the queries.

    The words are those of `carriers.toml` beside titles, bands and genres, in their normal form.
    """
    asked = connection.execute("SELECT DISTINCT topic, language FROM query_groups ORDER BY ALL").fetchall()
    rows: list[tuple[str, str, str]] = []
    for topic, code in asked:
        language = catalog.language(code)
        own = carriers_of(language)
        sorts = [sort for sort in sorts_of(topic) if sort in _SORTS]
        if own and sorts:
            words = [word for sort in sorts for side in SIDES for word in own[sort][side]]
            keys = normalise(words, fold_of(language.label_languages[0]))
            rows += [(topic, code, key) for key in sorted(set(keys)) if key]
    names = ("topic", "language", "word")
    texts = {name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate(names)}
    connection.from_arrow(pa.table(texts)).create("kind_words")
