"""Questions built from BLEnD: what holds of every one of them, whatever the cultures answer."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from polyculture.cache.folding import fold
from polyculture.instruments.culture_mcq.build import build_questions
from polyculture.instruments.culture_mcq.model import McqQuestion, QuestionType
from polyculture.instruments.culture_mcq.opened import some_questions
from polyculture.instruments.cultures.blend import Blend, BlendAnswer, BlendQuestion, load_blend
from polyculture.instruments.cultures.cultures import Cultures, read_cultures
from tests.instruments.culture_mcq.made_up import write_blend

CULTURES = read_cultures()
BOTH = list(QuestionType)
answers = st.lists(
    st.tuples(st.lists(st.sampled_from(["tea", "Tea", "rice", "bread", "fish", "soup"]), min_size=1, max_size=2),
              st.integers(1, 3)),
    min_size=1, max_size=3,
)  # fmt: skip
worlds = st.dictionaries(
    st.tuples(st.sampled_from(["Q1", "Q2", "Q3"]), st.sampled_from(list(CULTURES.countries))), answers, max_size=30
)


def blend_of(world: dict[tuple[str, str], list[tuple[list[str], int]]]) -> Blend:
    questions = {
        key: BlendQuestion(*key, "What?", "", None, tuple(BlendAnswer(tuple(texts), votes) for texts, votes in some))
        for key, some in world.items()
    }
    return Blend(questions, questions, Counter(country for _, country in questions), {})


def possible(blend: Blend, cultures: Cultures, source_id: str, target: str, kind: QuestionType, strict: bool) -> bool:
    """Whether any three cultures make a question: tried one by one."""
    there = [country for one, country in blend.questions if one == source_id and country != target]
    gold = {country: blend.questions[source_id, country].gold_text for country in [*there, target]}
    own = blend.questions[source_id, target]
    for three in permutations(there, 3):
        texts = {gold[target], *(gold[one] for one in three)}
        given_too = any(
            fold(text) in own.given for one in three for text in blend.questions[source_id, one].gold.spellings
        )
        if len(texts) < 4 or (strict and given_too):
            continue
        places = [cultures.countries[one] for one in three]
        if kind is QuestionType.RESOURCE and tuple(one.level for one in places) == cultures.levels:
            return True
        regions = [one.region for one in places]
        if kind is QuestionType.REGION and regions[0] == cultures.countries[target].region and len(set(regions)) == 3:
            return True
    return False


@settings(max_examples=60, deadline=None)
@given(worlds, st.booleans(), st.integers(1, 5))
def test_every_question_that_can_be_made_is_made_and_is_right(
    world: dict[tuple[str, str], list[tuple[list[str], int]]], strict: bool, seed: int
) -> None:
    blend = blend_of(world)
    found = build_questions(blend, CULTURES, BOTH, strict=strict, seed=seed)
    made = {one.key for one in found.questions}
    assert len(made) == len(found.questions)
    for kind in BOTH:
        for source_id, target in blend.questions:
            wanted = possible(blend, CULTURES, source_id, target, kind, strict)
            assert ((kind, source_id, target) in made) == wanted
    assert len(made) + sum(count for _, count in found.counts) == 2 * len(blend.questions)
    for one in found.questions:
        check(one, blend, strict)
    for kind in BOTH:
        places = Counter(one.right for one in found.questions if one.question_type is kind)
        counts = [places[place] for place in range(4)]
        assert max(counts) - min(counts) <= 1


def check(one: McqQuestion, blend: Blend, strict: bool) -> None:
    own = blend.questions[one.source_id, one.target]
    right, wrong = one.options[one.right], [option for at, option in enumerate(one.options) if at != one.right]
    assert (right.country, right.text) == (one.target, own.gold.spellings[0])
    assert own.gold.votes == max(answer.votes for answer in own.answers)
    assert len({fold(option.text) for option in one.options}) == 4
    assert len({option.country for option in one.options}) == 4
    for option in wrong:
        assert option.text == blend.questions[one.source_id, option.country].gold.spellings[0]
    also = tuple(at for at, option in enumerate(one.options) if at != one.right and fold(option.text) in own.given)
    assert one.also_given == also
    if strict:
        assert also == ()
    biased = one.options[one.biased]
    if one.question_type is QuestionType.RESOURCE:
        assert sorted(option.group for option in wrong) == sorted(CULTURES.levels)
        assert biased.group == "high"
    else:
        assert len({option.group for option in wrong}) == 3
        assert biased.group == one.target_region
    assert one.biased != one.right


def test_the_seed_decides_and_nothing_else(tmp_path: Path) -> None:
    blend = load_blend(write_blend(tmp_path, 6), CULTURES)
    one = build_questions(blend, CULTURES, BOTH, seed=3)
    assert build_questions(blend, CULTURES, BOTH, seed=3) == one
    other = build_questions(blend, CULTURES, BOTH, seed=4)
    assert {question.key for question in other.questions} == {question.key for question in one.questions}
    assert other.questions != one.questions


def test_every_order_of_the_options_comes_equally_often(tmp_path: Path) -> None:
    blend = load_blend(write_blend(tmp_path, 30), CULTURES)
    found = build_questions(blend, CULTURES, BOTH)
    for kind in BOTH:
        mine = [one for one in found.questions if one.question_type is kind]
        assert len(mine) == 240
        places = Counter((one.right, one.biased) for one in mine)
        assert len(places) == 12
        assert set(places.values()) == {20}


def test_more_questions_hold_the_fewer_ones(tmp_path: Path) -> None:
    found = build_questions(load_blend(write_blend(tmp_path, 6), CULTURES), CULTURES, BOTH)
    two, four = some_questions(found, BOTH, 2, 1), some_questions(found, BOTH, 4, 1)
    assert {one.key for one in two} < {one.key for one in four}
    assert len({one.source_id for one in two}) == 2
    assert some_questions(found, BOTH, None, 1) == list(found.questions)


def test_of_the_published_answers_a_strict_question_has_one_right_option(shared_data: Path) -> None:
    blend = load_blend(shared_data / "blend", CULTURES)
    built = build_questions(blend, CULTURES, [QuestionType.RESOURCE])
    strict = build_questions(blend, CULTURES, [QuestionType.RESOURCE], strict=True)
    assert sum(bool(one.also_given) for one in built.questions) > len(built.questions) / 10
    assert not any(one.also_given for one in strict.questions)
    for found in (built, strict):
        assert len(found.questions) + sum(count for _, count in found.counts) == 4543
        places = Counter(one.right for one in found.questions)
        assert max(places.values()) - min(places.values()) <= 1
