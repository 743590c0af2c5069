"""The metrics: SQL views over the store, and their uncertainty, which SQL cannot compute."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.store.layout import Layer, Layout, Measure, compose
from polyculture.cache.store.linked import ENTITIES, ENTITY_COUNTRIES, LINKS
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.schema import CORE, EXTRACTIONS, MENTIONS, PROMPTS, RESPONSES, WANTED_RESPONSES
from polyculture.metrics.declared import DECLARED, rows_in_sql
from polyculture.metrics.layout import SATURATION

# The views to materialise by `open_store(..., keep=KEPT)`: each reads mentions, responses or large sums once.
KEPT = (
    # The numbered cells, their prompts, and the copies, which all queries of mentions start from. Before these, the
    # hashes of texts by which copies are found.
    *("numbered_cells", "asked_prompts", "answer_texts", "copies"),
    *(
        "numbered_mentions",
        "cell_extractions",
        "cell_surfaces",
        "cell_mentions",
        "named_items",
        "cell_incidence",
        "cell_answers",
    ),
    *("cell_texts", "linked_incidences"),
    # What `responses.ResponseReader` reads for each model and selection.
    *("read_texts", "dependent_responses", "cell_sizes", "asked_countries"),
    *dict.fromkeys(metric.contributions for metric in DECLARED if metric.is_sum),
    # What ranks and leaderboards start from: the boards of all instruments, and who is better on them.
    *("ranked_pairs", "numbered_entries", "told_orders"),
)


_OWN = Path(__file__).parent
# The views of the metrics, in the order in which they build on one another; instruments feed the boards of models.
VIEWS = Layer(
    (*sorted((_OWN / "views").glob("*.sql")), _OWN / "boards" / "texts.sql", _OWN / "boards" / "no_boards.sql"),
    {
        "board_entries": ("text_board_entries",),
        "board_orders": ("text_board_orders",),
        "board_failures": ("no_board_failures",),
    },
    (_OWN / "boards" / "leaderboard.sql",),
)


def _settings(_: RunFolder, manifest: Manifest) -> object:
    """What the run asks beside its texts, and which extractions of them count: of a sample those of its texts alone."""
    extractors = manifest.extractor_ids, manifest.reader_id, manifest.extractor.get("sample")
    return [manifest.models, manifest.countries, *extractors]


_TABLES = (PROMPTS, WANTED_RESPONSES, RESPONSES, EXTRACTIONS, MENTIONS, LINKS, ENTITIES, ENTITY_COUNTRIES)
MEASURE = Measure("entities", _TABLES, _settings)
# The declared metrics as a view, for whoever lists them in SQL.
_LISTED = Layer(feeds={"declared_metrics": rows_in_sql()})
METRICS_LAYOUT = compose(CORE, Layout((SATURATION,), _LISTED, VIEWS, (MEASURE,)))
