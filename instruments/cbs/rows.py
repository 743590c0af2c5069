"""The tables of CBS: scores of entities, their links, and Cultural Bias Scores."""

from __future__ import annotations

from dataclasses import dataclass

from polyculture.cache.layout import Table, Wanted


@dataclass(frozen=True, slots=True)
class WantedScore:
    """A context of a data set as a model is asked it under a setup."""

    request_id: str  # as in `scores`
    model: str
    setup_id: str  # its scores count while this is the model's setup
    topic: str  # as in `scores`
    context_id: str  # as in `dataset_contexts`


@dataclass(frozen=True, slots=True)
class Score:
    """The log-probability of one entity in the gap of one context, or the error."""

    score_id: str  # hash of request, topic and entity
    request_id: str  # hash of what was sent but the entity: model, setup, the text on both sides of the gap
    entity_id: str  # as in `dataset_entities`
    model: str
    language: str  # of the context: a code of the data set's
    topic: str  # of the job: data set, native culture and type of entities
    status: str  # 'ok' | 'failed'
    error: str | None  # why it failed, one line
    retryable: bool | None  # of a failure: worth asking again
    log_probability: float | None  # natural logarithm, the sum over the entity's tokens
    tokens: int | None  # tokens of the entity
    token_log_probabilities: list[float] | None  # of each of them
    token_boundary: str | None  # between context and entity: 'clean' | 'moved space' | 'merged' | 'resplit'
    prompt_tokens: int | None  # that a server counted for it; None where the model ran in this process
    completion_tokens: int | None
    purchase: str | None  # 'direct': a server was asked; None where the model ran in this process, or another run asked
    model_version: str | None  # what the engine says it ran
    note: str | None = None  # what of the answer was dropped on arrival: impossible counts


@dataclass(frozen=True, slots=True)
class CulturalLink:
    """The Wikidata item that an entity of a data set means, or the reason why there is none."""

    language: str  # of the data set, and one of the catalogue's
    entity_type: str  # as the data set has it
    entity: str
    topic: str  # as which it was linked
    kind: str
    status: str  # 'linked' | 'ambiguous' | 'no candidate' | 'no path'
    qid: str | None  # set when linked or ambiguous
    match: str | None  # how alike the item's name is: 'exact' | 'normalised' | 'key'


@dataclass(frozen=True, slots=True)
class BiasInterval:
    """A Cultural Bias Score averaged over contexts, or a difference of two, with its 95 % interval."""

    metric: str  # 'cbs' | 'cbs_difference': the score less that with what an `other_` column names in its place
    rule: str  # 'sum': log-probability; 'mean': per token; 'probability': mean of the tokens'; 'calibrated': by context
    model: str
    dataset: str
    language: str | None  # None over all languages of the data set
    culture: str | None  # None over all native cultures
    entity_type: str | None  # None over all types
    setting: str
    other_setting: str | None  # of a difference: grounded less neutral
    phrasing: str | None  # None of contexts that have no pair
    other_phrasing: str | None  # of a difference between the two of each pair
    context_prefix: str | None  # what is put before the contexts; None: nothing
    plain: bool  # the difference is that to the same contexts without prefix
    form: str
    estimate: float  # of a score 0 .. 1, of a difference -1 .. 1
    low: float | None  # None where there is too little to say
    high: float | None
    p: float | None  # of a difference: two-sided, paired over entities, and over contexts where these are the same
    contexts: int
    native_entities: int  # with a likelihood in at least one of the contexts
    western_entities: int
    native_fewest: int  # in the context that has the fewest
    native_most: int  # in the context that has the most
    western_fewest: int  # as of native ones
    western_most: int  # as of native ones
    pairs: int  # native x Western, over all contexts
    ties: float  # share of pairs of equal likelihood
    sampled_mean: float | None  # CAMeL's protocol: the mean score over some draws of entities
    sampled_deviation: float | None
    draws: int | None  # of a score: how often entities were drawn
    drawn: int | None  # how many of each culture each time, where there are so many
    lacking: str | None = None  # why there is no interval: 'few contexts' | 'few entities' | 'all agree'
    ties_count: str | None = None  # 'strict': as not Western; 'half': half for either
    tied: int | None = None  # pairs of equal likelihood
    western_won: int | None = None  # pairs in which the Western entity is the more probable
    average: str | None = None  # over 'contexts', 'types', 'columns' or 'pairs'
    gender: str | None = None  # 'female' | 'male' of a column of names or clothing; None: the whole type
    preset: str | None = None  # of the draws, and of what an average leaves out; None: ours
    columns: int | None = None  # types, or genders of them apart, that it is over


@dataclass(frozen=True, slots=True)
class MatchedBias:
    """A Cultural Bias Score over pairs of a native and a Western entity that are alike, averaged over contexts."""

    matched: str  # alike in 'tokens' (their number), in 'prior' (the log-probability after nothing), or in 'both'
    caliper: float | None  # how far priors of a pair may differ, in standard deviations; None: they do not count
    caliper_nats: float | None  # the same of this type; None over types
    rule: str
    ties_count: str
    model: str
    dataset: str
    language: str
    culture: str
    entity_type: str | None  # None over all types
    setting: str
    phrasing: str | None
    form: str
    estimate: float | None  # None where no pair is alike
    low: float | None
    high: float | None
    lacking: str | None  # why there is no interval, or no number: also 'no prior' | 'no pair'
    unmatched: float | None  # the score over all pairs of the same contexts
    contexts: int
    contexts_without: int  # with entities of both sides, and no pair that is alike
    native_entities: int  # in a pair that is alike
    western_entities: int
    pairs: int
    all_pairs: int  # of all contexts with entities of both sides
    tied: int
    western_won: int
    gender: str | None = None  # 'female' | 'male' of a column of names or clothing; None: the whole type


SCORES = Table(
    "scores",
    Score,
    key="score_id",
    account="score",
    unit="scores",
    wanted=Wanted("wanted_pairs", ("model", "topic", "entity_id"), facts=True),
)
WANTED_SCORES = Table("wanted_scores", WantedScore)
CULTURAL_LINKS = Table("cultural_links", CulturalLink)
BIAS_VARIANTS = Table("bias_variants", BiasInterval)
MATCHED_BIAS = Table("matched_bias", MatchedBias)
