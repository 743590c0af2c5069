"""What a plan promises comes true: its differences are found as often as it says, by the test of `compare`."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import stats

from bench.demo_noise import noise_of_one_side
from polyculture.metrics.inference.family import NEW_PROMPTS, SAME_PROMPTS
from polyculture.metrics.inference.prompts import prompt_mean
from polyculture.metrics.power import (
    LANGUAGE,
    MODEL,
    Noise,
    Plan,
    SideValues,
    found_difference,
    noise_of_sides,
)
from polyculture.metrics.prompt_values import PromptValue
from polyculture.metrics.responses import DataSlice

Random = np.random.Generator


def value(
    model: str, language: str, topic: str, country: str, wording: str, estimate: float, variance: float
) -> PromptValue:
    return PromptValue(DataSlice(model, language, "-", topic, "explicit", country, wording), estimate, variance, 20)


def differences(random: Random, noise: Noise, plan: Plan) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Differences of two sides that do not differ, by block and wording."""

    def drawn(variance: float | None, *shape: int) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.sqrt(2 * (variance or 0.0)) * random.normal(size=shape)

    sampling = noise.sampling * noise.responses / plan.samples
    blocks, wordings = plan.blocks, plan.wordings
    rest = drawn((noise.rest or 0.0) + sampling, blocks, wordings)
    return drawn(noise.block, blocks, 1) + drawn(noise.wording, 1, wordings) + rest


def compared(random: Random, noise: Noise, plan: Plan, truth: float, count: int) -> float:
    """How often `compare` finds a difference in other prompts like these, in these wordings."""
    noise, found = replace(noise, wording=0.0), 0
    for _ in range(count):
        values = differences(random, noise, plan).mean(axis=1) + truth
        mean = prompt_mean(*np.divmod(np.arange(plan.blocks), plan.countries), values)
        found += 2 * stats.t.sf(abs(values.mean()) / np.sqrt(mean.variance), mean.freedom) < 0.05
    return found / count


def test_the_noise_of_a_run_is_that_of_its_world() -> None:
    """A large run, whose components are known: of models, and of languages, whose values are means over the others."""
    random = np.random.default_rng(1)
    models, languages, countries, wordings = 8, 3, 40, 12
    values = (
        random.normal(size=(models, 1, 1, 1))
        + 0.2 * random.normal(size=(models, 1, countries, 1))
        + 0.1 * random.normal(size=(models, 1, 1, wordings))
        + 0.3 * random.normal(size=(models, 1, countries, wordings))
        + random.normal(size=(1, languages, countries, 1))
        + 0.4 * random.normal(size=(models, languages, countries, wordings))
    )
    rows = [
        value(f"m{m}", f"l{k}", "food", f"C{c}", f"w{w}", values[m, k, c, w], 0.16)
        for m, k, c, w in np.ndindex(*values.shape)
    ]
    noise = noise_of_sides(rows, MODEL, 20)
    assert (noise.block, noise.wording, noise.rest) == pytest.approx((0.04, 0.01, 0.09), rel=0.25)
    assert (noise.sampling, noise.values, noise.responses) == (pytest.approx(0.16 / languages), languages, 20)
    of_languages = noise_of_sides(rows, LANGUAGE, 20)
    assert of_languages.block == pytest.approx(1, rel=0.25)
    assert of_languages.sampling == pytest.approx(0.16 / models)


def test_a_run_of_one_wording_does_not_tell_what_wordings_add() -> None:
    random = np.random.default_rng(2)
    rows = [
        value(f"m{m}", "en", topic, f"C{c}", "w", random.normal(), 0.01)
        for m, topic, c in product(range(3), ("food", "book"), range(9))
    ]
    noise = noise_of_sides(rows, MODEL, 10)
    assert (noise.wording, noise.rest) == (None, None)
    # more wordings are taken to help against sampling alone
    one, nine = (found_difference(noise, Plan(5, 6, wordings, 10), 0.8, NEW_PROMPTS) or 0 for wordings in (1, 9))
    assert 0 < one - nine < 0.05
    assert noise_of_sides(rows, LANGUAGE, 10) is None  # one language


def test_these_prompts_need_samples_and_other_prompts_need_prompts() -> None:
    noise = Noise(0.06**2, 0.03**2, 0.05**2, 0.1**2, 10, 3)
    these, others = (
        [found_difference(noise, Plan(5, 6, 1, samples), 0.8, target) or 0 for samples in (10, 10**6)]
        for target in (SAME_PROMPTS, NEW_PROMPTS)
    )
    assert these[1] < these[0] / 100
    assert others[1] > others[0] / 2
    assert found_difference(noise, Plan(3, 6, 1, 1), 0.8, SAME_PROMPTS) is None
    assert found_difference(noise, Plan(4, 9, 1, 10), 0.8, NEW_PROMPTS) is None


@pytest.mark.parametrize("plan", [Plan(5, 6, 1, 20), Plan(6, 10, 3, 20), Plan(1, 8, 1, 20)])
def test_the_promised_power_comes_true(plan: Plan) -> None:
    noise = Noise(0.06**2, 0.03**2, 0.05**2, 0.1**2, 10, 3)
    truth = found_difference(noise, plan, 0.8, NEW_PROMPTS)
    assert truth is not None
    assert compared(np.random.default_rng(3), noise, plan, truth, 400) == pytest.approx(0.8, abs=0.08)


def test_one_side_has_at_most_the_noise_of_two_that_share_nothing() -> None:
    """With endless blocks, what one side's blocks and wordings vary by is what two independent sides differ by."""
    dice = np.random.default_rng(3)
    table = SideValues(dice.normal(0, 2, (1, 3000, 1)) + dice.normal(0, 1, (1, 1, 400)), 0.5, 1)
    noise = noise_of_one_side([table], 10.0)
    assert noise.block == pytest.approx(4, rel=0.1)
    assert noise.wording == pytest.approx(1, rel=0.2)
    assert noise.rest == 0.0
    assert noise.sampling == 0.5
    two = replace(table, values=np.concatenate([table.values, table.values]))
    assert noise_of_one_side([two], 10.0) is None
