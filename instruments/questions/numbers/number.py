"""A row of `numbers` of question sets with nothing in it yet."""

from __future__ import annotations

from polyculture.cache.schema.measured import EVERY, WITHOUT, Number
from polyculture.instruments.questions.layout import MEASURE

EMPTY = Number(
    measure=MEASURE.name, metric="", level="", model="", dataset="", language="", country=EVERY, topic=EVERY,
    condition=WITHOUT, wording=EVERY, method="", reader="", facets={}, estimate=None, no_estimate=None, low=None,
    high=None, no_interval=None, wide_low=None, wide_high=None, no_wide="the first interval is of other questions",
    unit="unit", units=0, n=0, sizes={}, cells=0, missing=0, method_of_interval=None, inputs="",
)  # fmt: skip
