"""Tables to numbers: the metrics as SQL views over the store, and the uncertainty that SQL cannot give."""

from __future__ import annotations

from pathlib import Path

# The cells and their prompts under numbers: what all reading of mentions begins with.
CELLS = ("numbered_cells", "asked_prompts", "cell_prompts")
# The views that others rest on, for `open_store(..., keep=KEPT)`: each reads mentions, responses or large sums once.
KEPT = (
    *CELLS,
    *("cell_extractions", "cell_mentions", "cell_surfaces", "cell_incidence", "numbered_items", "cell_answers"),
    *("incidence_counts", "diversity_companions"),
    *("specificity", "consensus", "cell_values", "aggregates"),
)


def views() -> list[Path]:
    """The SQL files of the metric views, in the order in which they build on one another."""
    return sorted((Path(__file__).parent / "views").glob("*.sql"))
