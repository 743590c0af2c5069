"""Why a comparison has no interval: in words, and what would give it one."""

from __future__ import annotations

from polyculture.metrics.comparison.compare import FEW_SHARED, NO_CELL, NOTHING, UNEQUAL
from polyculture.metrics.comparison.stored import OTHERS_ALONE
from polyculture.metrics.inference.family import NO_SAMPLING
from polyculture.metrics.inference.prompts import (
    FEW_COUNTRIES,
    FEW_TOPICS,
    FEWEST_ALONE,
    FEWEST_CROSSED,
    INCOMPLETE,
    NO_SPREAD,
)
from polyculture.metrics.limits import BY_CONSTRUCTION
from polyculture.metrics.means import FEW_A_PROMPT, FEW_DISTINCT, FEW_RESPONSES, FEWEST_RESPONSES, ONE_A_PROMPT
from polyculture.metrics.responses import FEWEST_OF_COUNT

NEEDS = f"{FEWEST_CROSSED} topics and {FEWEST_CROSSED} countries, or {FEWEST_ALONE} of one where the other is one"
_ANSWERS = "{} answers or more to each prompt: a larger [sampling] n, and none that failed or was withheld"
_OF_BOTH = "the same prompts of both, answered, and with a linked mention"
_REASONS = {
    NO_SAMPLING: (
        "the difference of these prompts is exact: nothing was sampled",
        "the exact difference decides; of other prompts: --target others",
    ),
    ONE_A_PROMPT: ("one response a prompt does not tell how responses vary", _ANSWERS.format(2)),
    FEW_A_PROMPT: (
        f"a count of fewer than {FEWEST_OF_COUNT} responses a prompt does not tell how it varies",
        _ANSWERS.format(FEWEST_OF_COUNT),
    ),
    FEW_SHARED: (
        "fewer than half of the cells have a number on both sides",
        _OF_BOTH,
    ),
    NOTHING: ("no side names a thing that is linked", "look at health: texts, mentions and links"),
    FEW_RESPONSES: (f"fewer than {FEWEST_RESPONSES} responses a side", "a larger [sampling] n"),
    FEW_DISTINCT: (
        "in more than a twentieth of the cells of a side most texts repeat another one, of the same or another model",
        "a server that heeds the seed, without a cache before it; no model twice",
    ),
    UNEQUAL: ("the number grows with the responses, and the sides have unequal ones", "compare diversity"),
    FEW_TOPICS: ("too few topics", NEEDS),
    FEW_COUNTRIES: ("too few countries", NEEDS),
    INCOMPLETE: ("some topics lack numbers of some countries", "--by the topics or countries that have all"),
    NO_SPREAD: ("the difference is the same everywhere", "more topics, countries or responses"),
    NO_CELL: ("no prompt has a number on both sides", _OF_BOTH),
    "few contexts": ("too few contexts", "more contexts"),  # these three are of instruments
    "few units": ("too few questions", "more questions"),
    "all agree": ("nothing varies: both sides are the same everywhere", "more texts or questions"),
    OTHERS_ALONE: ("this measure compares other prompts like these alone", "--target others"),
    BY_CONSTRUCTION: (
        "the gazetteer's lists decide it, not how texts speak of a thing",
        'a model as extractor: [extract] with = "..."',
    ),
}


def explained(reason: str) -> str:
    """A reason in words; one that is not known here, as of an instrument, is its words."""
    return _REASONS.get(reason, (reason,))[0]


def with_remedy(reason: str) -> str:
    """'too few topics. Remedy: 3 topics and ...'; of a reason that is not known no remedy is."""
    return ". Remedy: ".join(_REASONS.get(reason, (reason,)))
