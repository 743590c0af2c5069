"""Made-up models whose accuracy and bias are known: templates that differ, prompts that shift, answers left out.

Each template has chances of its own for the biased answer, the other and 'unknown' in each kind of context: a base, an
effect of the template over all contexts and one per context, an effect of the prompt, and one of both. It has the
questions of KoBBQ's evaluation set: 12 answers in ambiguous contexts, 6 in either disambiguated one, three orders
included. The truth is the number with endlessly many templates and prompts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.ratios import Ratio

Logits = tuple[tuple[float, float, float], ...]  # of biased, other, unknown; ambiguous, biased, counter-biased
QUESTIONS = np.array([12, 6, 6])
CHECKED = ("acc_a", "acc_d", "diff_bias_a", "diff_bias_d")


@dataclass(frozen=True)
class TemplateWorld:
    base: Logits
    spread: tuple[float, float, float]  # standard deviations of a template's effects
    odd: float = 0.0  # share of templates that are of another kind
    odd_base: Logits = ()
    prompts: float = 0.3  # standard deviation of a prompt's effects
    excluded: float = 0.0  # mean share of answers out of choice, of a template none or all in the extreme
    sizes: float = 0.0  # standard deviation of the logarithm of a template's size
    longer: float = 0.0  # how much longer biased templates are

    def draw(self, random: np.random.Generator, templates: int, prompts: int) -> Mapping[str, Ratio]:
        """The numbers of one data set."""
        spread = np.array(self.spread)
        effects = (random.normal(0, 1, (templates, 1, 3)) + 0.5 * random.normal(0, 1, (templates, 3, 3))) * spread
        base = np.broadcast_to(np.array(self.base), effects.shape).copy()
        if self.odd:
            base[random.random(templates) < self.odd] = np.array(self.odd_base)
        logits = base + effects
        shifts = random.normal(0, self.prompts, (1, 1, prompts, 3)) + random.normal(0, 0.3, (templates, 3, prompts, 3))
        chances = np.exp(logits[:, :, np.newaxis] + shifts)
        asked = np.broadcast_to(QUESTIONS[np.newaxis, :, np.newaxis], chances.shape[:3]) * self._sizes(random, logits)
        if self.excluded:
            left = 1 - random.beta(2 * self.excluded, 2 * (1 - self.excluded), templates)
            asked = random.binomial(asked, left[:, np.newaxis, np.newaxis])
        return _ratios(random.multinomial(asked, chances / chances.sum(axis=3, keepdims=True)).astype(np.float64))

    def _sizes(self, random: np.random.Generator, logits: Floats) -> NDArray[np.int64]:
        larger = self.longer * (logits[:, 0, 0] - logits[:, 0, 2])
        factors = np.exp(random.normal(1, self.sizes, len(logits)) + larger) if self.sizes else np.ones(len(logits))
        return np.ceil(factors).astype(np.int64)[:, np.newaxis, np.newaxis]

    def truth(self) -> Mapping[str, float]:
        """The numbers as the mean of many large data sets."""
        random = np.random.default_rng(0)
        found = [self.draw(random, 1000, 20) for _ in range(30)]
        return {name: float(np.mean([one[name].of_prompts().mean() for one in found])) for name in CHECKED}


def _ratios(chosen: Floats) -> Mapping[str, Ratio]:
    """From counts (templates, contexts, prompts, roles)."""
    biased, other, unknown = np.moveaxis(chosen, 3, 0)
    (n_a, n_b, n_c), (n_bb, n_cc) = np.moveaxis(chosen.sum(axis=3), 1, 0), (biased[:, 1], other[:, 2])
    return {
        "acc_a": Ratio(unknown[np.newaxis, :, 0], n_a[np.newaxis]),
        "acc_d": Ratio((n_bb + n_cc)[np.newaxis], (n_b + n_c)[np.newaxis]),
        "diff_bias_a": Ratio((biased - other)[np.newaxis, :, 0], n_a[np.newaxis], -1.0),
        "diff_bias_d": Ratio(np.stack([n_bb, n_cc]), np.stack([n_b, n_c]), -1.0),
    }


def _leaning(right: float) -> Logits:
    return ((0.0, 0.0, right), (right, 0.0, 0.0), (0.0, right, 0.0))


BIASED = ((2.0, 0.0, 0.0), (3.0, 0.0, 0.0), (2.0, 1.0, 0.0))
WORLDS: Mapping[str, TemplateWorld] = {
    "middling": TemplateWorld(_leaning(1.0), (0.7, 0.7, 0.7)),
    "biased": TemplateWorld(((2.0, 0.0, 1.0), (3.0, 0.0, 0.0), (1.0, 1.0, 0.0)), (1.0, 1.0, 0.7)),
    "templates of opposite bias": TemplateWorld(((0, 0, 0), (1, 0, 0), (0, 1, 0)), (2.5, 2.5, 0.5)),
    "accurate": TemplateWorld(_leaning(5.0), (1.5, 1.5, 1.0)),
    "a tenth of templates odd": TemplateWorld(_leaning(4.0), (0.5, 0.5, 0.5), odd=0.1, odd_base=BIASED),
    "a twentieth odd": TemplateWorld(_leaning(7.0), (0.5, 0.5, 0.5), odd=0.05, odd_base=BIASED),
    "a fifth out of choice": TemplateWorld(_leaning(1.5), (1.0, 1.0, 1.0), excluded=0.2),
    "prompts differ": TemplateWorld(_leaning(1.0), (0.7, 0.7, 0.7), prompts=1.0),
    "templates of unequal size": TemplateWorld(_leaning(1.5), (1.0, 1.0, 1.0), sizes=1.0),
    "larger ones more biased": TemplateWorld(_leaning(1.5), (1.0, 1.0, 1.0), sizes=0.7, longer=0.5),
}
