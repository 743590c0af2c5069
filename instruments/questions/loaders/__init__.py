"""Code of ours for sets that a rules file alone cannot read.

Rows of a publisher's files, that a rules file names with `expand`:
- `kobbq`: of KoBBQ's templates; `kobbq_survey`: of whom a stereotype is held, as the people behind it were asked
- `culturescope`: what is usual in a culture, with three wrong options

Whole sets, that it names with `loader`:
- `culture`: what is usual in a culture, asked openly
- `relevance`: questions of these with what a probe read out of a model before them
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from polyculture.instruments.questions.loaders.culturescope import culture_rows
from polyculture.instruments.questions.loaders.kobbq import template_rows
from polyculture.instruments.questions.loaders.kobbq_survey import survey_rows
from polyculture.sources.record import BadRow, Record

Rows: TypeAlias = "Callable[[Iterable[Record | BadRow], Path], Iterator[Record | BadRow]]"
ROWS: Mapping[str, Rows] = {"kobbq": template_rows, "kobbq-survey": survey_rows, "culturescope": culture_rows}
