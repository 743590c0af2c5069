"""The likeliest of several options, under three rules.

'sum', the log-probability of the whole option; 'mean', per token; 'corrected', less the log-probability that the option
has after the prompt's last line alone (Brown et al. 2020, section 2.4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from polyculture.instruments.questions.reading.choice import Reading

Rule = Literal["sum", "mean", "corrected"]
RULES: tuple[Rule, ...] = get_args(Rule)
TIE, LIKELIEST = "tie", "likeliest"  # grounds


def read_likelihoods(
    rule: Rule, scores: Sequence[float], tokens: Sequence[float] = (), unconditional: Sequence[float] = ()
) -> Reading:
    """The option with the highest value, of natural logarithms by place; none where several have it.

    'mean' divides `scores` by `tokens`; 'corrected' subtracts `unconditional`.
    """
    values = list(scores)
    if rule == "mean":
        values = [score / count for score, count in zip(scores, tokens, strict=True)]
    elif rule == "corrected":
        values = [score - alone for score, alone in zip(scores, unconditional, strict=True)]
    best = max(values)
    return Reading(None, TIE) if values.count(best) > 1 else Reading(values.index(best), LIKELIEST)
