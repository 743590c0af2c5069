"""The metrics: SQL views over the store, and their uncertainty, which SQL cannot compute."""

from __future__ import annotations

from pathlib import Path

from polyculture.cache.core import CORE
from polyculture.cache.layout import Layer, Layout, compose

# The numbered cells and their prompts, which all queries of mentions start from.
CELLS = ("numbered_cells", "asked_prompts", "cell_prompts")
# The views to materialise by `open_store(..., keep=KEPT)`: each reads mentions, responses or large sums once.
KEPT = (
    *CELLS,
    *("cell_extractions", "cell_mentions", "cell_surfaces", "cell_incidence", "numbered_items", "cell_answers"),
    *("incidence_counts", "linked_incidences", "diversity_companions"),
    *("country_shares", "specificity", "consensus", "cell_values", "aggregates"),
)
# The same for the queries of texts alone.
KEPT_OF_TEXTS = ("item_origins", "item_regions")


_OWN = Path(__file__).parent
# The views of the metrics, in the order in which they build on one another; instruments feed the boards of models.
VIEWS = Layer(
    (*sorted((_OWN / "views").glob("*.sql")), _OWN / "boards" / "no_boards.sql"),
    {"board_entries": ("no_board_entries",), "board_failures": ("no_board_failures",)},
    (_OWN / "boards" / "leaderboard.sql",),
)
METRICS = compose(CORE, Layout(views=VIEWS))
