"""The assemblage behind a cell's responses, unseen items included: the interval of diversity."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.intervals.estimate import ONE_RESPONSE, Estimate, no_narrower, symmetric
from polyculture.metrics.intervals.incidence import Incidence, Integers, Numbers, incidence


@dataclass(frozen=True, slots=True)
class Assemblage:
    """The items of a cell, those that were seen and an estimate of those that were not.

    Chances are those of turning up at least once in as many responses as there are, rates those of turning up in one.
    An item is unique when one response only mentions it.
    """

    responses: int
    items: Integers  # sorted
    unique: NDArray[np.bool_]  # for each of `items`
    rate: Numbers  # for each of `items`
    chance: Numbers  # the same
    unseen: float  # how many items there are that no response mentions
    unseen_rate: float  # of each of them
    unseen_chance: float  # the same
    unique_of: Integers  # for each unique item, in the order of `items`: the response that mentions it
    incidence: Incidence


def assemblage(responses: int, response: Integers, item: Integers) -> Assemblage:
    """The assemblage behind `responses` responses, from all distinct pairs of a response and an item in it.

    Estimated as in Chao et al. (2014) for incidence data: the chance of what was seen is lowered, and that of the
    unseen raised, to what Good and Turing's coverage says; the number of unseen items is Chao2. A chance is lowered by
    no more than the chance to have been missed: where nearly all items are unique, Chao's factor leaves them next to
    none, and intervals of consensus cover too little. A single response does not tell how often its items come: they
    are taken to come in every other one, and as many others in the rest.
    """
    found = incidence(responses, response, item)
    once, twice = int((found.counts == 1).sum()), int((found.counts == 2).sum())
    share = found.counts / responses
    missed = share * (1 - share) ** responses
    deficit = _mass_of_unseen(responses, once, twice)
    lowered = share - min(1.0, deficit / missed.sum()) * missed if missed.sum() > 0 else share
    unseen = _chao2(responses, once, twice)
    each = min(1.0, deficit / unseen) if unseen else 0.0
    if responses == 1:
        lowered, unseen, each = share / 2, len(share), 0.5
    return Assemblage(
        responses=responses,
        items=found.items,
        unique=found.counts == 1,
        rate=lowered,
        chance=1 - (1 - lowered) ** responses,
        unseen=unseen,
        unseen_rate=each,
        unseen_chance=1 - (1 - each) ** responses,
        unique_of=found.response[found.count == 1],
        incidence=found,
    )


def diversity_estimate(cell: Assemblage) -> Estimate:
    """The number of distinct items, as an estimate of its expectation for this number of responses.

    Where few responses bring most of the unique items (lists among sentences), how many such responses there happen to
    be decides. Then the jackknife's variance is the larger one, and the upper limit leaves room for one more of them:
    the skewness is that of the unique items per response.
    """
    found = count_estimate(cell, float(len(cell.items)), cell.responses)
    variance, third = _unique_moments(cell)
    if variance == 0:
        return found
    varied = no_narrower(replace(found, variance=max(found.variance, variance)), found.slope)
    return no_narrower(varied, max(found.slope, third / variance))


def count_estimate(cell: Assemblage, value: float, size: int) -> Estimate:
    """`value`, a number of distinct items in `size` responses, as uncertain as the count in `size` new ones would be.

    Were items independent, the count would be a sum of independent yes or no. They come in bundles, so the variance is
    multiplied by how unevenly the unique items are spread over the responses. Items so rare that none was seen would
    add as much to the variance as to the count: the upper limit leaves room for them.
    """
    chance = 1 - (1 - np.append(cell.rate, cell.unseen_rate)) ** size
    number = np.append(np.ones(len(cell.items)), cell.unseen)
    variance = float(number @ _variance(chance))
    third = float(number @ (_variance(chance) * (1 - 2 * chance)))
    spread = bundling([(cell, np.ones(len(cell.unique_of)))])
    estimate = symmetric(value, variance * spread, max(cell.responses - 1, 1))
    lacking = ONE_RESPONSE if cell.responses < 2 else None
    return replace(no_narrower(estimate, spread * (third + 1) / (variance + 1)), lacking=lacking)


def _unique_moments(cell: Assemblage) -> tuple[float, float]:
    """The sum over responses of the squared, and of the cubed, deviation of their unique items from the mean."""
    _, some = np.unique(cell.unique_of, return_counts=True)
    deviations = np.zeros(cell.responses)
    deviations[: len(some)] = some
    deviations -= deviations.mean()
    return float((deviations**2).sum()), float((deviations**3).sum())


def bundling(effects: list[tuple[Assemblage, Numbers]]) -> float:
    """The design effect of items that come together, on a sum of `effects`, one per unique item; at least 1.

    The jackknife's variance over responses (leaving one out takes its unique items away) over what it would be if each
    unique item stood in a response of its own.
    """
    together = apart = 0.0
    for cell, effect in effects:
        if cell.responses < 2 or not len(effect):
            continue
        _, owner = np.unique(cell.unique_of, return_inverse=True)
        per_response = np.bincount(owner, weights=effect)
        together += float((per_response**2).sum() - effect.sum() ** 2 / cell.responses)
        apart += float((effect**2).sum() * (cell.responses - 1) / cell.responses)
    return max(1.0, together / apart) if apart > 0 else 1.0


def _mass_of_unseen(responses: int, once: int, twice: int) -> float:
    """Expected number of items in one more response that none of the present ones mentions."""
    if once == 0:
        return 0.0
    if twice:
        kept = 2 * twice / ((responses - 1) * once + 2 * twice)
    elif once > 1:
        kept = 2 / ((responses - 1) * (once - 1) + 2)
    else:
        kept = 0.0
    return once / responses * (1 - kept)


def _chao2(responses: int, once: int, twice: int) -> int:
    scaled = once**2 / (2 * twice) if twice else once * (once - 1) / 2
    return int(np.ceil((responses - 1) / responses * scaled))


def _variance(chance: Numbers) -> Numbers:
    return chance * (1 - chance)
