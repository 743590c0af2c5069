"""Numbers with their intervals: one row type for every measure.

A number is found by its key: measure, metric, level, and the facets from `model` to `facets`. No facet is ever NULL, so
that keys compare with `=`:

- `EVERY` ('*'): the number is a mean over all values of the facet.
- `WITHOUT` ('-'): the measure has no such facet.
- `UNNAMED` ('none'): of a country that the prompt does not name.
"""

from __future__ import annotations

from dataclasses import dataclass

EVERY, WITHOUT, UNNAMED = "*", "-", "none"
CELL = "cell"


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its 95 % interval, or the reason why it has none."""

    measure: str  # what measured it: 'entities' | 'cbs'
    metric: str  # 'granularity' | 'diversity' | ... | 'cbs'
    level: str  # 'cell', or the facets that a mean keeps: 'model, language'
    model: str  # as the experiment file names it; 'imported:NAME', 'ngram:NAME'
    dataset: str  # the data set of an instrument; '-': none
    language: str  # of the prompt or context
    country: str  # ISO 3166, or the culture as the data set writes it; 'none': the prompt names none
    topic: str  # the topic, or the type of entity
    condition: str  # of the prompt, or the setting of a context
    wording: str  # of the question
    method: str  # how a model's probabilities or answers become the number: the likelihood rule of CBS
    reader: str  # who read the answers; '-': nothing was read
    facets: dict[str, str]  # what few measures have: 'other_language' of consensus, 'phrasing', 'context_prefix', ...
    estimate: float | None  # the number; None: see no_estimate
    no_estimate: str | None  # why there is no number: 'no linked item' | 'no response read' | ...
    low: float | None  # lower limit of the 95 % interval of other samples of these prompts
    high: float | None  # upper limit of the same
    no_interval: str | None  # why there is none: 'few responses' | 'few distinct texts' | 'few items' | ...
    wide_low: float | None  # lower limit of the 95 % interval of other wordings and names; of means alone
    wide_high: float | None  # upper limit of the same
    no_wide: str | None  # why there is none: 'one wording' | 'fewer than three wordings' | 'missing numbers' | ...
    unit: str  # what was resampled for the interval: 'response' | 'context'
    units: int  # how many of them the number rests on, each counted once
    n: int  # observations in them: linked items, each once a response; pairs of entities
    sizes: dict[str, int]  # further counts behind it, of an instrument: 'native_entities', 'tied', ...
    cells: int  # numbers averaged, each wording counted; 1 for a cell
    missing: int  # numbers of the group that are missing, and left out of the mean
    method_of_interval: str | None  # how the interval was computed; None without a number
    inputs: str  # hash of the data it rests on: a row of other data than the run's present data is not shown
