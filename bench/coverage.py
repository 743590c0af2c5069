"""How often 95 % intervals cover the truth, and how often differences are told, in worlds whose truth is known.

    python -m bench.coverage [--data-sets 1000] [--only compared]

Of a cell: `shares`, `counts`, `consensus` and `companions`, in the worlds of `tests/metrics/response_worlds.py`; a line
has the share covered with 10, 20, 50 and 100 responses. Of comparisons (`tests/metrics/compared_worlds.py`):
`compared`, in which nothing differs: covered, withheld, p <= 0.05, and the median width; `power`, in which the first
model is higher by two and by three standard errors: how often it is told; `families`, whole pages on which nothing
differs: how many tell a difference. All others are of worlds in `tests/instruments/`: `questions`
(`template_worlds`), accuracy and bias of answers to question sets; `bias` (`bias_worlds`), the Cultural Bias Score:
covered, withheld, with a type that is all 0 or all 1, p <= 0.05 between settings of the same truth, no p; and
(`paired_worlds`) languages of one sheet and two models: covered, the median width, models with disjoint intervals; of
their difference covered, p < 0.05, the median width; `arms` (`arm_worlds`), a probe and an arm beside it: the
difference of F and of shares; `flattening` (`arm_worlds`), F and its share of all pairs; `swaps`
(`swap_worlds`), covered of a side's rate, of the gap of both sides, of two models and of their gaps, p < 0.05 between
the models, the mean size of a difference in counts, and what chance gives.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.results import keep
from polyculture.metrics.comparison.compare import TARGETS
from polyculture.metrics.declared import ON_REQUEST
from polyculture.metrics.inference.family import NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.inference.ratios import estimate as estimate_questions
from tests.instruments.arm_worlds import PAIR_WORLDS, pairs_tried
from tests.instruments.arm_worlds import WORLDS as ARM_WORLDS
from tests.instruments.arm_worlds import tried as arms_tried
from tests.instruments.bias_worlds import WORLDS as BIAS_WORLDS
from tests.instruments.bias_worlds import tried as bias_tried
from tests.instruments.paired_worlds import WORLDS as PAIRED_WORLDS
from tests.instruments.paired_worlds import tried as paired_tried
from tests.instruments.questions.template_worlds import WORLDS as TEMPLATE_WORLDS
from tests.instruments.swap_worlds import WORLDS as SWAP_WORLDS
from tests.instruments.swap_worlds import tried as swaps_tried
from tests.metrics.compared_worlds import NULLS, World, false_findings, told, tried
from tests.metrics.response_worlds import (
    FEW,
    PAIRS,
    PLAIN,
    SHARES,
    UNEQUAL,
    companion_covered,
    consensus_covered,
    count_covered,
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


def line(subject: str, what: str, where: str, numbers: Mapping[str, float | str]) -> None:
    """Prints and keeps a line: shares as percentages, what is a text as it is."""
    said = {name: f"{one:.1%}" if isinstance(one, float) else one for name, one in numbers.items()}
    sys.stdout.write(f"{what:12} {where:64} {' '.join(f'{one:>8}' for one in said.values())}\n")
    sys.stdout.flush()
    keep(subject, what, where, said)


def by_size(covered: Callable[[int], float]) -> dict[str, float | str]:
    """The share covered, by how many responses a cell has."""
    return {str(size): float(covered(size)) for size in SIZES}


def shares(count: int) -> None:
    """Granularity and specificity of a cell."""
    for name, draw in SHARES.items():
        line("intervals", "share", name, by_size(lambda size, draw=draw: share_covered(draw, size, count)))


def counts(count: int) -> None:
    """Diversity of a cell, at all of its responses and at a half."""
    for name, world in (PLAIN | FEW | UNEQUAL).items():
        for what, part in (("diversity", 1), ("at a half", 2)):
            found = by_size(lambda size, world=world, part=part: count_covered(world, size, size // part, count))
            line("intervals", what, name, found)


def consensus(count: int) -> None:
    """Consensus of a pair of languages, the last at 20 responses of 100 in one of them."""
    for name in PAIRS:
        found = by_size(lambda size, name=name: consensus_covered(name, (size, size), count))
        line("intervals", "consensus", name, found | {"20, 100": float(consensus_covered(name, (20, 100), count))})


def companions(count: int) -> None:
    """Hill numbers, coverage and dominance of a cell."""
    for metric in ON_REQUEST:
        for name, world in (PLAIN | FEW | UNEQUAL).items():
            found = by_size(lambda size, of=(metric, world): companion_covered(*of, size, count))
            line("intervals", metric, name, found)


def compared(count: int) -> None:
    """Two models that do not differ."""
    for name, (world, metric, target, truth, texts) in NULLS.items():
        found = tried(world, metric, target, count, truth=truth, selection=texts)
        names = ("covered", "withheld", "rejected", "width")
        line("comparisons", target, f"{metric}: {name}", {one: float(getattr(found, one)) for one in names})


def power(count: int) -> None:
    """Two models that differ by two and by three standard errors."""
    for name in ("nothing varies", "60% of the variance common to conditions", "topics' effects, 3 conditions"):
        for target in TARGETS:
            found = {f"{errors:g} errors": float(told(NULLS[name][0], errors, target, count)) for errors in (2.0, 3.0)}
            line("comparisons", "power", f"{target}: {name}", found)


def families(count: int) -> None:
    """Pages of models that do not differ: these prompts where nothing varies, others where prompts do."""
    for models in (2, 5, 7):
        world = World(models=models, conditions=1)
        varied = replace(world, of_prompt=0.1, of_topic=0.03, of_country=0.03)
        for target, one, where in ((SAME_PROMPTS, world, ""), (NEW_PROMPTS, varied, ", prompts vary")):
            found = {"pages": float(false_findings(one, target, count))}
            line("comparisons", "families", f"{target}: {models} models{where}", found)


def bias_scores(count: int) -> None:
    """Cultural Bias Scores, and differences of two models'."""
    for where, world in BIAS_WORLDS.items():
        of = bias_tried(world, count)
        names = ("covered", "withheld", "agreed", "rejected", "untested")
        line("intervals", "bias", where, {name: float(getattr(of, name)) for name in names})
    for where, pair in PAIRED_WORLDS.items():
        both = paired_tried(pair, count)
        shares_of = {name: float(getattr(both, name)) for name in ("covered", "apart", "difference_covered", "told")}
        widths = {name: f"{getattr(both, name):.3f}" for name in ("width", "difference_width")}
        line("intervals", "bias", where, shares_of | widths)


def arms(count: int) -> None:
    """A probe and an arm beside it: covered, and withheld, of each of the three numbers."""
    for where, world in ARM_WORLDS.items():
        found = arms_tried(world, count)
        names = ("F", "share", "F withheld", "share withheld")
        values = map(float, (*found.covered, *found.withheld))
        line("probe_arms", "arms", where, dict(zip(names, values, strict=True)))


def flattenings(count: int) -> None:
    """Cultures: covered, and withheld, of F and of its share over all pairs."""
    for where, world in PAIR_WORLDS.items():
        found = pairs_tried(world, count)
        values = map(float, (*found.covered, *found.withheld))
        line(
            "probe_flattening",
            "flattening",
            where,
            dict(zip(("F", "share", "F withheld", "share withheld"), values, strict=True)),
        )


def swaps(count: int) -> None:
    """Swapped entities."""
    for where, world in SWAP_WORLDS.items():
        found = swaps_tried(world, count)
        covered = {name: float(getattr(found, name)) for name in ("rate", "gap", "models", "gaps", "told")}
        line(
            "intervals", "swaps", where, covered | {name: f"{getattr(found, name):.1f}" for name in ("size", "chance")}
        )


def question_answers(count: int) -> None:
    """Accuracy and bias of answers to multiple choice under five prompts; by 10, 20, 44 and 269 templates."""
    for name, world in TEMPLATE_WORLDS.items():
        for metric, true in world.truth().items():
            found: dict[str, float | str] = {}
            for templates in (10, 20, 44, 269):
                random = np.random.default_rng([21, templates, len(name)])
                sets = [estimate_questions(world.draw(random, templates, 5)[metric]) for _ in range(count)]
                limits = [one.limits(-1.0, 1.0) for one in sets if one and not one.withheld()]
                held = [low <= true <= high for low, high in limits if low is not None and high is not None]
                found[str(templates)] = float(np.mean(held)) if held else float("nan")
            line("question_intervals", "questions", f"{name}: {metric}", found)


PARTS: dict[str, Callable[[int], None]] = {
    "shares": shares,
    "counts": counts,
    "consensus": consensus,
    "companions": companions,
    "compared": compared,
    "power": power,
    "families": families,
    "questions": question_answers,
    "bias": bias_scores,
    "arms": arms,
    "flattening": flattenings,
    "swaps": swaps,
}


if __name__ == "__main__":
    main()
