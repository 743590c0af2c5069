"""How often 95 % intervals cover the truth, and how often differences are told, in worlds whose truth is known.

    python -m bench.coverage [--data-sets 1000] [--only compared]

Of a cell: `shares`, `counts`, `consensus`, `companions` and `gains`, in the worlds of
`tests/metrics/response_worlds.py`; a line has the share covered with 10, 20, 50 and 100 responses. Of comparisons
(`tests/metrics/compared_worlds.py`): `compared`, in which nothing differs: covered, withheld, p <= 0.05, and the median
width; `power`, in which the first model is higher by two and by three standard errors: how often it is told;
`families`, whole pages on which nothing differs: how many tell a difference. `questions`, accuracy and bias of answers
to question sets, are those of `tests/instruments/questions/template_worlds.py`,
those of `bias`, the Cultural Bias Score, those of `tests/instruments/bias_worlds.py`: covered, withheld, with a type
that is all 0 or all 1, p <= 0.05 between settings of the same truth, no p; and those of
`tests/instruments/paired_worlds.py`, languages of one sheet and two models: covered, the median width, models with
disjoint intervals; of their difference covered, p < 0.05, the median width. For `components`, those of
`tests/metrics/component_worlds.py`: the mean estimate and the truth, and how often the intervals of a component and of
its share cover the truth. For `arms`, those of `tests/instruments/arm_worlds.py`: a probe and an arm beside it, the
difference of F and of shares, and the rank correlation of pairs of cultures. For `flattening`, those of
`tests/instruments/flattening_worlds.py`: F and its share of all pairs. For `swaps`, those of
`tests/instruments/swap_worlds.py`: covered of a side's rate, of the gap of both sides, of two models and of their gaps,
p < 0.05 between the models; the mean size of a difference in counts, and what chance gives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from polyculture.instruments.questions.numbers.uncertainty import estimate as estimate_questions
from polyculture.metrics.comparison.compare import TARGETS
from polyculture.metrics.inference.family import OTHERS, THESE
from polyculture.metrics.inference.leave_one_out import COMPANIONS
from tests.instruments.arm_worlds import WORLDS as ARM_WORLDS
from tests.instruments.arm_worlds import tried as arms_tried
from tests.instruments.bias_worlds import WORLDS as BIAS_WORLDS
from tests.instruments.bias_worlds import tried as bias_tried
from tests.instruments.flattening_worlds import WORLDS as FLATTENING_WORLDS
from tests.instruments.flattening_worlds import tried as flattening_tried
from tests.instruments.paired_worlds import WORLDS as PAIRED_WORLDS
from tests.instruments.paired_worlds import tried as paired_tried
from tests.instruments.questions.template_worlds import WORLDS as TEMPLATE_WORLDS
from tests.instruments.swap_worlds import WORLDS as SWAP_WORLDS
from tests.instruments.swap_worlds import tried as swaps_tried
from tests.metrics.compared_worlds import NULLS, World, false_findings, told, tried
from tests.metrics.component_worlds import WORLDS as COMPONENT_WORLDS
from tests.metrics.component_worlds import told as components_told
from tests.metrics.response_worlds import (
    FEW,
    GAINS,
    PAIRS,
    PLAIN,
    SHARES,
    UNEQUAL,
    companion_covered,
    consensus_covered,
    count_covered,
    gain_covered,
    share_covered,
)

SIZES = (10, 20, 50, 100)  # responses of a cell
SMALLEST = ("--data-sets", "2")


def main() -> None:
    """Prints a line per measure and world, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-sets", type=int, default=1_000)
    parser.add_argument("--only", choices=[*PARTS], nargs="*", default=[*PARTS])
    asked = parser.parse_args()
    for name in asked.only:
        PARTS[name](asked.data_sets)


def line(what: str, where: str, *shares: float) -> None:
    """Prints shares as percentages."""
    sys.stdout.write(f"{what:12} {where:64} {' '.join(f'{share:7.1%}' for share in shares)}\n")
    sys.stdout.flush()


def shares(count: int) -> None:
    """Granularity and specificity of a cell."""
    for name, draw in SHARES.items():
        line("share", name, *(share_covered(draw, size, count) for size in SIZES))


def counts(count: int) -> None:
    """Diversity of a cell, at all of its responses and at a half."""
    for name, world in (PLAIN | FEW | UNEQUAL).items():
        line("diversity", name, *(count_covered(world, size, size, count) for size in SIZES))
        line("at a half", name, *(count_covered(world, size, size // 2, count) for size in SIZES))


def consensus(count: int) -> None:
    """Consensus of a pair of languages, the last at 20 responses of 100 in one of them."""
    for name in PAIRS:
        sizes = [*((size, size) for size in SIZES), (20, 100)]
        line("consensus", name, *(consensus_covered(name, both, count) for both in sizes))


def companions(count: int) -> None:
    """Hill numbers, coverage and dominance of a cell."""
    for metric in COMPANIONS:
        for name, world in (PLAIN | FEW | UNEQUAL).items():
            line(metric, name, *(companion_covered(metric, world, size, count) for size in SIZES))


def gains(count: int) -> None:
    """The difference of two cells' shares, the last of 20 responses and of 100."""
    for name, pair in GAINS.items():
        sizes = [*((size, size) for size in SIZES), (20, 100)]
        line("gain", name, *(gain_covered(pair, both, count) for both in sizes))


def compared(count: int) -> None:
    """Two models that do not differ."""
    for name, (world, metric, target, truth, texts) in NULLS.items():
        found = tried(world, metric, target, count, truth=truth, selection=texts)
        line(f"{target}", f"{metric}: {name}", found.covered, found.withheld, found.rejected, found.width)


def power(count: int) -> None:
    """Two models that differ by two and by three standard errors."""
    for name in ("nothing varies", "60% of the variance common to conditions", "topics' effects, 3 conditions"):
        for target in TARGETS:
            line("power", f"{target}: {name}", *(told(NULLS[name][0], errors, target, count) for errors in (2.0, 3.0)))


def families(count: int) -> None:
    """Pages of models that do not differ: these prompts where nothing varies, others where prompts do."""
    for models in (2, 5, 7):
        world = World(models=models, conditions=1)
        line("families", f"{THESE}: {models} models", false_findings(world, THESE, count))
        varied = replace(world, of_prompt=0.1, of_topic=0.03, of_country=0.03)
        line("families", f"{OTHERS}: {models} models, prompts vary", false_findings(varied, OTHERS, count))


def bias_scores(count: int) -> None:
    """Prints a line per world of Cultural Bias Scores."""
    for where, world in BIAS_WORLDS.items():
        found = bias_tried(world, count)
        shares_found = f"{found.covered:6.1%} {found.withheld:8.1%} {found.agreed:6.1%}"
        sys.stdout.write(f"{'bias':12} {where:60} {shares_found} {found.rejected:6.1%} {found.untested:6.1%}\n")
        sys.stdout.flush()
    for where, pair in PAIRED_WORLDS.items():
        of = paired_tried(pair, count)
        score = f"{of.covered:6.1%} {of.width:7.3f} {of.apart:6.1%}"
        sys.stdout.write(
            f"{'bias':12} {where:60} {score} {of.difference_covered:6.1%} {of.told:6.1%} {of.difference_width:7.3f}\n"
        )
        sys.stdout.flush()


def decomposed(count: int) -> None:
    """Prints a line per component of each world."""
    for where, world in COMPONENT_WORLDS.items():
        for name, found in components_told(world, count).items():
            numbers = f"{found.mean:9.6f} {found.truth:9.6f} {found.covered:6.1%} {found.share_covered:6.1%}"
            sys.stdout.write(f"{'components':12} {where:68} {name:20} {numbers}\n")
            sys.stdout.flush()


def arms(count: int) -> None:
    """Prints a line per world of a probe and an arm beside it: covered, and withheld, of each of the three numbers."""
    for where, world in ARM_WORLDS.items():
        found = arms_tried(world, count)
        numbers = " ".join(f"{one:6.1%}" for one in (*found.covered, *found.withheld))
        sys.stdout.write(f"{'arms':12} {where:64} {numbers}\n")
        sys.stdout.flush()


def flattenings(count: int) -> None:
    """Prints a line per world of cultures: covered, and withheld, of F and of its share over all pairs."""
    for where, world in FLATTENING_WORLDS.items():
        found = flattening_tried(world, count)
        numbers = " ".join(f"{one:6.1%}" for one in (*found.covered, *found.withheld))
        sys.stdout.write(f"{'flattening':12} {where:64} {numbers}\n")
        sys.stdout.flush()


def swaps(count: int) -> None:
    """Prints a line per world of swapped entities."""
    for where, world in SWAP_WORLDS.items():
        found = swaps_tried(world, count)
        covered = " ".join(f"{one:6.1%}" for one in (found.rate, found.gap, found.models, found.gaps, found.told))
        sys.stdout.write(f"{'swaps':12} {where:52} {covered} {found.size:6.1f} {found.chance:6.1f}\n")
        sys.stdout.flush()


def question_answers(count: int) -> None:
    """Accuracy and bias of answers to multiple choice under five prompts; by 10, 20, 44 and 269 templates."""
    for name, world in TEMPLATE_WORLDS.items():
        for metric, true in world.truth().items():
            found = []
            for templates in (10, 20, 44, 269):
                random = np.random.default_rng([21, templates, len(name)])
                sets = [estimate_questions(world.draw(random, templates, 5)[metric]) for _ in range(count)]
                limits = [one.limits(-1.0, 1.0) for one in sets if one and not one.withheld()]
                held = [low <= true <= high for low, high in limits if low is not None and high is not None]
                found.append(float(np.mean(held)) if held else float("nan"))
            line("questions", f"{name}: {metric}", *found)


PARTS: dict[str, Callable[[int], None]] = {
    "shares": shares,
    "counts": counts,
    "consensus": consensus,
    "companions": companions,
    "gains": gains,
    "compared": compared,
    "power": power,
    "families": families,
    "questions": question_answers,
    "bias": bias_scores,
    "components": decomposed,
    "arms": arms,
    "flattening": flattenings,
    "swaps": swaps,
}


if __name__ == "__main__":
    main()
