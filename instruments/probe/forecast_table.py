"""The forecast of a probe as rows for `plan`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from polyculture.generate.engines import PATCHING, ModelSpec, find_kind
from polyculture.generate.engines.options import read_options
from polyculture.generate.engines.patching import Inspection
from polyculture.instruments.probe.forecast import Forecast, Plan, forecast

COLUMNS = (
    "model", "layers", "questions", "continuations", "tokens read", "tokens written", "GPU memory", "of it weights",
    "states", "hours", "hours singly",
)  # fmt: skip
_BYTES_A_TOKEN = 4  # where the model's own tokenizer is not at hand


@dataclass(frozen=True, slots=True)
class Planned:
    """What is asked of each model."""

    questions: Sequence[str]
    arms: Sequence[str]
    answer_tokens: int
    inspection: Inspection


def forecast_row(spec: ModelSpec, planned: Planned) -> tuple[object, ...]:
    """A model's row of `COLUMNS`; the model and a reason without its files here, or without layers to look into."""
    from polyculture.instruments.probe.step import PART

    kind = find_kind(spec)
    if kind.offer(PATCHING) is None:
        return _unknown(spec, "no layers to look into")
    shape = kind.shape(spec, read_options(kind.options, spec))
    if shape is None:
        return _unknown(spec, "its files are not here")
    plan = Plan(
        len(planned.questions), planned.arms, sum(_tokens(spec, planned.questions)), planned.answer_tokens,
        _tokens(spec, [planned.inspection.prompt])[0], planned.inspection.max_tokens, PART,
    )  # fmt: skip
    return forecast_cells(spec.model, shape.layers, forecast(shape, plan))


def forecast_cells(model: str, layers: int, told: Forecast) -> tuple[object, ...]:
    """A forecast as it is printed."""
    sizes = (_size(one) for one in (told.gpu, told.weights, told.states))
    counts = (told.answers, told.continuations, told.read, told.written)
    return (model, layers, *counts, *sizes, f"{told.seconds / 3600:.2g}", f"{told.singly / 3600:.2g}")


def _tokens(spec: ModelSpec, texts: Sequence[str]) -> list[int]:
    counter = find_kind(spec).counter(spec)
    return [counter.encode(one) if counter else math.ceil(len(one.encode()) / _BYTES_A_TOKEN) for one in texts]


def _size(number: int) -> str:
    return f"{number / 1e9:.1f} GB" if number >= 1e9 else f"{number / 1e6:.1f} MB"


def _unknown(spec: ModelSpec, why: str) -> tuple[object, ...]:
    return (spec.model, why, *[None] * (len(COLUMNS) - 2))
