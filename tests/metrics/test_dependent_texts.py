"""Models that do not differ are told apart in a twentieth of pairs, though imported texts depend on one another."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from tests.metrics.dependent_texts import World, numbered, of_records, of_two_prompts, rejected

WORLDS: dict[str, World] = {
    "long texts twice, numbered": partial(numbered, long=True, times=(2,)),
    "long texts once to three times, numbered": partial(numbered, long=True, times=(1, 2, 3)),
    "short texts twice, numbered": partial(numbered, long=False, times=(2,)),
    "long texts under four prompts": partial(of_two_prompts, long=True, with_numbers=False),
    "long texts under four prompts, numbered": partial(of_two_prompts, long=True, with_numbers=True),
    "short texts under four prompts": partial(of_two_prompts, long=False, with_numbers=False),
    "short texts under four prompts, numbered": partial(of_two_prompts, long=False, with_numbers=True),
    "five texts a record": partial(of_records, dependent=True),
    "five independent texts a record": partial(of_records, dependent=False),
}


@pytest.mark.full
@pytest.mark.parametrize("world", WORLDS)
def test_models_that_do_not_differ_are_told_apart_in_a_twentieth_of_pairs(tmp_path: Path, world: str) -> None:
    for false, tested in rejected(tmp_path / "run", WORLDS[world], pairs=60, samples=40, seed=6).values():
        assert tested == 60
        assert false <= 8, "more have a chance of less than .7 %"
