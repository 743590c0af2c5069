"""A row of `numbers` of question sets with nothing in it yet."""

from __future__ import annotations

from polyculture.cache.schema.measured import EVERY, WITHOUT, Number
from polyculture.instruments.questions.layout import MEASURE

EMPTY = Number(
    measure=MEASURE.name, metric="", level="", model="", dataset="", language="", country=EVERY, topic=EVERY,
    condition=WITHOUT, wording=EVERY, method="", reader="", no_wide="the first interval is of other questions",
    unit="unit", units=0, n=0, cells=0, inputs="",
)  # fmt: skip
