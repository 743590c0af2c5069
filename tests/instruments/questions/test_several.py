"""Answers that pick all options that fit, shown under numbers: read strictly, and by their places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from polyculture.instruments.questions.loaders.kobbq_survey import kobbq_survey
from polyculture.instruments.questions.reading.choice import Ground
from polyculture.instruments.questions.reading.readers import readers_of
from polyculture.instruments.questions.reading.several import read_several

SHOWN = ("백인", "흑인", "북한 주민", "러시아인", "러시아·중앙아시아인", "중장년, 노인", "그런 고정관념이 없음")


@pytest.mark.parametrize(
    ("said", "places", "ground"),
    [
        ("1", (0,), Ground.LETTER),
        ("1, 3", (0, 2), Ground.LETTER),
        ("3,1", (0, 2), Ground.LETTER),
        ("1번, 3번", (0, 2), Ground.LETTER),
        ("1번과 3번입니다.", (0, 2), Ground.LETTER),
        ("**1, 3**", (0, 2), Ground.LETTER),
        ("1. 백인\n3. 북한 주민", (0, 2), Ground.LETTER),
        ("1: 백인, 4: 러시아인", (0, 3), Ground.LETTER),
        ("백인(1), 흑인(2)", (0, 1), Ground.LETTER),
        ("① ③", (0, 2), Ground.LETTER),
        ("①③", (0, 2), Ground.LETTER),
        ("백인, 흑인", (0, 1), Ground.OPTION),
        ("백인과 흑인", (0, 1), Ground.OPTION),
        ("북한 주민", (2,), Ground.OPTION),
        ("러시아·중앙아시아인", (4,), Ground.OPTION),
        ("러시아인, 러시아·중앙아시아인", (3, 4), Ground.OPTION),
        ("중장년, 노인", (5,), Ground.OPTION),
        ("그런 고정관념이 없음", (6,), Ground.OPTION),
        ("답: 2, 3", (1, 2), Ground.LETTER),
        ("정답은 2, 3입니다.", (1, 2), Ground.LETTER),
        ("The answers are 2 and 3.", (1, 2), Ground.LETTER),
        ("한국 사회의 통념에 따르면 이렇습니다. 답: 2, 3", (1, 2), Ground.EXPLICIT),
        ("1, 1, 2", (0, 1), Ground.LETTER),
        ("1. 흑인", None, Ground.CONFLICT),
        ("1, 7", None, Ground.CONFLICT),
        ("백인, 그런 고정관념이 없음", None, Ground.CONFLICT),
        ("1-3", None, Ground.OTHER),
        ("1~3번", None, Ground.OTHER),
        ("8", None, Ground.OTHER),
        ("0", None, Ground.OTHER),
        ("1.5", None, Ground.OTHER),
        ("1번이 아닙니다", None, Ground.OTHER),
        ("흑인이 아니라 백인", None, Ground.OTHER),
        ("동유럽의 백인계", None, Ground.OTHER),
        ("2024년 조사에서 1번", None, Ground.OTHER),
        ("A", None, Ground.OTHER),
        ("모두", None, Ground.OTHER),
        ("", None, Ground.EMPTY),
        ("죄송하지만 도와드릴 수 없습니다.", None, Ground.REFUSAL),
    ],
)
def test_several_answers_are_read_strictly(said: str, places: tuple[int, ...] | None, ground: Ground) -> None:
    found = read_several(said, SHOWN, len(SHOWN) - 1, "ko")
    assert found.ground == ground
    assert (None if found.place is None else (found.place, *found.also)) == places


def test_a_set_that_asks_for_all_that_fit_is_read_so(shared_data: Path) -> None:
    several = kobbq_survey(shared_data / "kobbq")
    one = replace(several, read_as=())
    assert [reader.name for reader in readers_of(several)] == ["ours"]  # likelihoods of options say nothing of several
    assert "sum" in [reader.name for reader in readers_of(one)]
    assert readers_of(one)[0].reader_id != readers_of(several)[0].reader_id
