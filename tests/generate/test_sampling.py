"""SamplingSettings: what makes an answer the same one, and the seeds."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from polyculture.generate.sampling import SamplingSettings

STUDY = SamplingSettings()


def test_the_defaults_are_those_of_the_study() -> None:
    assert (STUDY.n, STUDY.temperature, STUDY.top_p, STUDY.top_k) == (500, 0.7, 0.9, 10)


@given(st.text(), st.integers(0, 2**31 - 1), st.integers(0, 10**9))
def test_every_seed_fits_31_bits_and_counts_on_from_the_first(text: str, seed: int, sample: int) -> None:
    base = replace(STUDY, seed=seed).base_seed(text)
    assert base >= 0
    assert base + sample < 2**31


def test_prompts_and_experiments_have_seeds_of_their_own() -> None:
    texts = [f"prompt {number}" for number in range(1000)]
    assert len({STUDY.base_seed(text) for text in texts}) == 1000
    assert STUDY.base_seed("a") != replace(STUDY, seed=2).base_seed("a")
    assert STUDY.base_seed("a") == SamplingSettings().base_seed("a")
