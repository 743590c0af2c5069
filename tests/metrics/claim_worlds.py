"""Stores of planted numbers, as claims are tested on: what differs, and by how much, is known."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd

from polyculture.metrics.claims.parts import Store

LANGUAGES = ("en", "de", "ja", "ko")
COUNTRIES = ("US", "DE", "JP", "KR")
MODELS = ("m:one", "m:two", "m:three")
NATIVE = (("en", "US"), ("de", "DE"), ("ja", "JP"), ("ko", "KR"))


def planted(
    native: float = 0.0,
    models: float = 0.0,
    country: float = 0.0,
    region: float = 0.0,
    english: float = 0.0,
    topics: int = 20,
    noise: float = 0.02,
) -> Store:
    """A store in which a native language has `native` more of each metric, model two `models` less, the United States
    `country` more granularity, pairs of a region `region` more consensus, and English `english` more gain."""
    random = np.random.default_rng(5)
    rows = []
    for topic in range(topics):
        for language in LANGUAGES:
            for at, asked in enumerate(COUNTRIES):
                for model in MODELS:
                    own = native * ((language, asked) in NATIVE)
                    level = 0.5 + own - models * (model == "m:two")
                    cell = {"model": model, "language": language, "topic": f"t{topic}", "condition": "explicit"}
                    cell |= {"country": asked, "wording": "1"}
                    values = {
                        "granularity": level + country * (asked == "US"),
                        "diversity": 10 * level,
                        "specificity": level,
                        "specificity_gain": 0.2 + english * (language == "en"),
                    }
                    rows += [
                        {"metric": metric, **cell, "other_language": None, "estimate": value + random.normal(0, noise)}
                        for metric, value in values.items()
                    ]
                    for other in LANGUAGES[LANGUAGES.index(language) + 1 :]:
                        near = {language, other} in ({"en", "de"}, {"ja", "ko"})
                        value = 0.3 + region * near + random.normal(0, noise)
                        rows.append({"metric": "consensus", **cell, "other_language": other, "estimate": value})
                    assert at < len(COUNTRIES)
    values = pd.DataFrame(rows)
    connection = duckdb.connect()
    connection.from_df(values).create("cell_values")
    connection.sql(
        "CREATE VIEW cell_bounds AS SELECT *, NULL::DOUBLE AS lowest, NULL::DOUBLE AS highest FROM cell_values"
    )
    connection.sql(
        "CREATE VIEW cells AS SELECT DISTINCT model, language, topic, condition, country, wording FROM cell_values"
    )
    return Store(connection, NATIVE)
