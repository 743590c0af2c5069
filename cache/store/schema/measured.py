"""The measures of generated text, and people's judgements of it.

Numbers with their intervals have one row type for every measure. A number is found by its key: measure, metric, level,
and the facets from `model` to `facets`. No facet is ever NULL, so that keys compare with `=`:

- `EVERY` ('*'): the number is a mean over all values of the facet.
- `WITHOUT` ('-'): the measure has no such facet.
- `UNNAMED` ('none'): of a country that the prompt does not name.
"""

from __future__ import annotations

from dataclasses import dataclass, field

EVERY, WITHOUT, UNNAMED = "*", "-", "none"
CELL = "cell"


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number with its 95 % interval, or the reason why it has none."""

    measure: str  # what measured it: 'entities' | 'cbs'
    metric: str  # 'granularity' | 'diversity' | ... | 'cbs'
    level: str  # 'cell', or the facets that a mean keeps: 'model, language'
    model: str  # as the experiment file names it; 'imported:NAME', 'ngram:NAME'
    dataset: str = WITHOUT  # the data set of an instrument; '-': none
    language: str  # of the prompt or context
    country: str  # ISO 3166, or the culture as the data set writes it; 'none': the prompt names none
    topic: str  # the topic, or the type of entity
    condition: str  # of the prompt, or the setting of a context
    wording: str = WITHOUT  # of the question
    method: str = WITHOUT  # how a model's probabilities or answers become the number: the likelihood rule of CBS
    reader: str = WITHOUT  # who read the answers; '-': nothing was read
    facets: dict[str, str] = field(default_factory=dict)  # of few measures: 'other_language', 'phrasing', ...
    estimate: float | None = None  # the number; None: see no_estimate
    no_estimate: str | None = None  # why there is no number: 'no linked item' | 'no response read' | ...
    low: float | None = None  # lower limit of the 95 % interval of new samples of the same prompts
    high: float | None = None  # upper limit of the same
    no_interval: str | None = None  # why there is none: 'few responses' | 'few items' | ...
    wide_low: float | None = None  # lower limit of the 95 % interval of new prompts like these; of means alone
    wide_high: float | None = None  # upper limit of the same
    no_wide: str | None = None  # why there is none: 'one prompt' | 'few topics' | 'few countries' | 'incomplete' | ...
    unit: str  # what was resampled for the interval: 'response' | 'context'
    units: int  # how many of them the number rests on, each counted once
    n: int  # observations in them: linked items, each once a response; pairs of entities
    sizes: dict[str, int] = field(default_factory=dict)  # further counts behind it: 'native_entities', ...
    cells: int  # numbers averaged, each wording counted; 1 for a cell
    missing: int = 0  # numbers of the group that are missing, and left out of the mean
    method_of_interval: str | None = None  # how the interval was computed; None without a number
    inputs: str  # hash of the data it rests on: a row of other data than the run's present data is not shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference of two sides in one metric, of one target: with its 95 % interval, or the reason why it has none.

    Both sides are means over the cells that both have. The facets say what both share: `EVERY` is a mean over all of a
    facet's values that both have, and so is the facet that is compared.
    """

    measure: str  # what measured it, as in `numbers`
    metric: str  # as in `numbers`
    dimension: str  # what is compared: 'model' | 'language' | 'country' | 'condition' | 'wording' | 'run' | ...
    a: str  # the first side; 'the rest': all others together
    b: str  # the second one
    target: str  # 'same_prompts': new samples of the same prompts | 'new_prompts': new prompts like them
    selection: str  # of the texts: 'all' | 'answered' (no refusals) | 'right language' | 'complete' (not cut)
    model: str = EVERY  # the facets of `numbers`: what both sides share
    dataset: str = WITHOUT  # the data set of an instrument; '-': none
    language: str = EVERY  # of the prompts or contexts; '*': all that both have
    country: str = EVERY  # ISO 3166, or the culture as the data set writes it; '*': all that both have
    topic: str = EVERY  # the topic, or the type of entity; '*': all that both have
    condition: str = EVERY  # of the prompts, or the setting of contexts; '*': all that both have
    wording: str = WITHOUT  # of the question; '*': all that both have
    method: str = WITHOUT  # how probabilities or answers become the number
    reader: str = WITHOUT  # who read the answers; '-': nothing was read
    facets: dict[str, str] = field(default_factory=dict)  # what few measures have, as in `numbers`
    a_estimate: float | None = None  # mean of the first side over the shared cells
    b_estimate: float | None = None  # the same of the second side
    difference: float | None = None  # a - b; None: no cell has both numbers
    low: float | None = None  # lower limit of the 95 % interval of the difference
    high: float | None = None  # upper limit of the same
    p: float | None = None  # two-sided, of no difference; below 0.05 where the interval leaves out 0
    q: float | None = None  # p after Benjamini and Hochberg over the rows of one target and selection
    reason: str | None = None  # why there is no interval: 'no sampling' | 'fewer than three topics' | ...
    verdict: str  # 'higher' | 'lower' | 'not shown' | 'untestable'
    unit: str  # what was resampled: 'response' | 'topic x country' | 'template' | 'context x entity'
    units: int  # how many of them
    cells: int  # pairs of cells that have both numbers
    naming: int | None = None  # responses that name a linked item, of texts: the metric says nothing of the others
    a_items: int | None = None  # linked items behind the first side, each once a response; of texts
    b_items: int | None = None  # the same of the second
    missing_a: int = 0  # pairs that both were asked, and of which the first side has no number
    missing_b: int = 0  # the same of the second
    left_out: int = 0  # cells that only one side was asked
    at_n: int | None = None  # of counts: the fewest responses at which two cells were compared
    without_largest: float | None = None  # the difference without the topic that adds most to it
    topics: int  # topics in which both sides have numbers
    topics_same_sign: int  # of these, with a difference of the same sign
    countries: int  # the same of countries
    countries_same_sign: int  # of these, with a difference of the same sign
    a_model: str | None = None  # the one model behind the first side, where nothing else names it
    b_model: str | None = None  # the same of the second
    a_language: str | None = None  # the same of languages
    b_language: str | None = None  # the same of the second
    tipping: float | None = None  # share of the unlinked mentions that turns it if linked so; of units if left out
    chance: float | None = None  # what no effect gives on average, of a measure that is a mean of absolute differences
    inputs: str  # as in `numbers`
    corrected: float | None = None  # the difference without what judges call wrong (`polyculture audit`)
    corrected_low: float | None = None  # lower limit of its 95 % interval, with the judged sample's own uncertainty
    corrected_high: float | None = None  # upper limit of the same
    freedom: float | None = None  # degrees of freedom of the interval, Student's; None without one


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judgement of a mention and its link, or of what a response lacks (`polyculture audit`)."""

    judge: str  # their name
    extraction_id: str
    ordinal: int | None  # of the mention; None where the whole response is judged
    language: str
    topic: str
    mention: str | None  # 'right' | 'wrong'; None where it was not judged
    specific: int | None  # 1 or 0 where the judge corrected the granularity
    qid: str | None  # the item that the mention was linked to when it was judged
    link: str | None  # 'right' | 'wrong' | 'none': no item is meant; None where it was not judged
    missed: int | None  # of the whole response: things that it names and that no mention stands for
    adjudicator: bool | None = None  # does the judge decide what others differ on?
    existence: str | None = None  # of the thing: 'item' | 'no item' (real, and Wikidata lacks it) | 'invented'
    on_topic: str | None = None  # of the whole response, 'yes' | 'no': is it about its topic?
    region: str | None = None  # of the whole response: the region that it is of, 'mixed' | 'neutral'


@dataclass(frozen=True, slots=True)
class AuditedText:
    """A gold text that the run's extractor read, and how many of the names that it gave are right."""

    text_id: str  # the gold text, as its file names it
    language: str
    topic: str
    extractor_id: str  # who read it: an audit of another extractor says nothing of the run
    names: int  # dictionary forms that it gave of mentions whose right ones are known
    right_names: int
    english: int  # English names, likewise
    right_english: int


@dataclass(frozen=True, slots=True)
class PromptReview:
    """What a speaker of its language says of a template (`polyculture prompts review`).

    Of templates that changed since, or are not asked, no prompt has the `template_id`.
    """

    judge: str  # the name of the sheet
    template_id: str  # the template: a hash of its text; of a changed one nothing is said
    language: str
    topic: str
    condition: str
    wording: str
    template: str  # as it was judged, with its placeholder
    natural: str | None  # 'yes' | 'no': would a native speaker ask it so? None where it was not judged
    relation: str | None  # of a person to the country that is named: 'origin' | 'residence' | 'other'
    same: str | None  # 'yes' | 'no': does it ask for the same as the English?
    says: str | None  # what it asks for, in the judge's words, before the English was read
    note: str | None  # anything else that the judge wrote

    @property
    def has_verdict(self) -> bool:
        """Whether the judge answered a question about the template, and did not only write words."""
        return (self.natural, self.relation, self.same) != (None, None, None)
