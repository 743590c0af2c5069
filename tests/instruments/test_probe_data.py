"""Published questions for probes: what stays, what is left out and counted, who answered, and which part is asked."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest
from openpyxl import Workbook

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.probe.layout import PROBE_QUESTIONS, ProbedQuestion
from polyculture.instruments.probe.questions import as_probed, present_questions
from polyculture.instruments.probe.words import word_rule
from polyculture.instruments.questions.model import Question
from polyculture.instruments.questions.rules.opened import open_set
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import LEVELS, answer_of, write_blend, write_open, write_sheets
from tests.polyculture.test_command_line import polyculture
from tests.scoring_models import smollm2
from tests.tiny_models import save_causal

pytestmark = pytest.mark.skipif(find_spec("spacy") is None, reason="the extra 'taggers' is not installed")
pytest.importorskip("torch", reason="the extra 'transformers' is not installed")


def write_camel2(folder: Path) -> Path:
    """Two contexts about food and one about authors; dishes of three Arab countries and of none, in three spellings."""
    for name, rows in {
        "qa-contexts/qa-contexts-food.xlsx": [
            ("Arabic Context", "English Context"),
            ("أكلنا [MASK] في البيت", "We ate [MASK] at home"),
            ("أحب [MASK] كثيرا", "I like [MASK] a lot"),
        ],
        "qa-contexts/qa-contexts-authors.xlsx": [
            ("Arabic Context", "English Context"),
            ("قرأت كتاب [MASK]", "I read a book by [MASK]"),
        ],
        "entities/food.xlsx": [
            ("Source", "Arabic Entity", "English Entity", "Wikipedia Text", "Country", "Type", "Culture"),
            ("OSCAR", "مقلوبة", "Makloube", "", "the morocco", "Food", "Arab"),
            ("OSCAR", "كبسة", "Kabsa", "", "Morocco", "Food", "Arab"),
            ("OSCAR", "هريس", "Harees", "", "Syrian Arab Republic", "Food", "Arab"),
            ("OSCAR", "عصيدة", "Aseeda", "", "egypt", "Food", "Arab"),
            ("OSCAR", "بيتزا", "Pizza", "", "Morocco", "Food", "Western"),
            ("OSCAR", "لازانيا", "Lasagna", "", "Italy", "Food", "Western"),
            ("OSCAR", "خبز", "Bread", "", "", "Food", "Arab"),
        ],
    }.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        book = Workbook()
        assert book.active is not None
        for row in rows:
            book.active.append(row)
        book.save(file)
    return folder


def answers_of(one: Question) -> list[tuple[str, float]]:
    return list(zip(one.answers, one.weights, strict=True))


def test_blend_is_asked_in_the_languages_of_its_cultures(tmp_path: Path) -> None:
    folder = write_blend(tmp_path / "blend", 3)
    english = {(one.facets["country"], one.unit): one for one in open_set("blend", folder).questions}
    assert len(english) == 3 * len(LEVELS)
    assert answers_of(english["South Korea", "Al-en-01"]) == [
        ("south korea dish 1", 3), ("soup of South Korea", 2), ("rice", 1),
    ]  # fmt: skip
    local = open_set("blend", folder, "local")
    asked = {one.facets["country"]: one for one in local.questions if one.unit == "Al-en-01"}
    assert local.name == "blend-local"
    assert {asked[name].language for name in ("South Korea", "Mexico", "Northern Nigeria")} == {"ko", "es", "ha"}
    assert asked["South Korea"].text == "local What do people eat on day 1 in South Korea?"
    assert answers_of(asked["South Korea"])[0] == ("local south korea dish 1", 3)


def test_in_spanish_all_cultures_are_asked_about(tmp_path: Path) -> None:
    """A question in Spanish about each culture: Mexico's own, with another's name in its place."""
    folder = write_blend(tmp_path / "blend", 2, ("Mexico", "US", "China", "Assam"))
    file = folder / "annotations" / "Mexico_data.json"
    file.write_text(file.read_text(encoding="utf-8").replace("in Mexico?", "in M\u00e9xico?"), encoding="utf-8")
    text = file.read_text(encoding="utf-8").replace('"question": "local What do people eat on day 1 in M',
                                                    '"question": "local What do they eat in M')  # fmt: skip
    file.write_text(text, encoding="utf-8")
    found = open_set("blend", folder, "es")
    assert (found.name, {one.language for one in found.questions}) == ("blend-es", {"es"})
    asked = {one.facets["country"]: one for one in found.questions if one.unit == "Al-en-01"}
    assert {name: one.text for name, one in asked.items()} == {
        name: f"local What do they eat in {word}?"
        for name, word in (("Mexico", "México"), ("US", "Estados Unidos"), ("China", "China"), ("Assam", "Assam"))
    }
    assert answers_of(asked["Mexico"])[0] == ("local mexico dish 1", 3)
    assert answers_of(asked["China"])[0] == ("china dish 1", 3)  # nobody answered in Spanish
    file.unlink()  # and Spain's is not there
    with pytest.raises(DataSetError, match="text is empty"):
        open_set("blend", folder, "es")


def test_regions_levels_and_neighbours_come_from_a_file_of_cultures(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'levels = ["much", "little"]\n[countries]\nAssam = { level = "little", region = "hills" }\n'
        'Korea = { level = "much", region = "coast", spellings = ["South Korea"] }\n'
        'Japan = { level = "much", region = "coast" }\n',
        encoding="utf-8",
    )
    lines = ["q1\tsouth-korea\ten\t\tA?", "q1\tMars\ten\tsky\tA?", "q1\tVenus\ten\t\tA?", "q1\t\ten\t\tA?"]
    questions = open_set(str(write_open(tmp_path, lines))).questions
    placed = {row.culture: row for row, _ in as_probed(questions, read_cultures(mine)).values()}
    assert {name: (one.region, one.level, one.topic, one.neighbours) for name, one in placed.items()} == {
        "south-korea": ("coast", "much", None, ["Korea", "Japan"]),
        "Mars": (None, None, "sky", ["Venus"]),
        "Venus": (None, None, None, ["Mars"]),
    }


def test_a_choice_is_probed_without_its_options_and_once(tmp_path: Path) -> None:
    """A question and target stand in two sheets; the answer of people is the right option."""
    found = open_set("culture-mcq", write_sheets(tmp_path, 2))
    probed = as_probed(found.questions, read_cultures())
    assert len(found.questions) == 2 * len(probed) == 4 * len(LEVELS)
    run = RunFolder(tmp_path / "run")
    written = {one.name: rows.to_pylist() for one, rows in present_questions(run, probed.values()).items()}
    keys = {row["question_key"]: row for row in written["probe_questions"]}
    said = {(keys[row["question_key"]]["culture"], row["answer"]) for row in written["probe_human_answers"]}
    assert said == {(culture, answer_of(culture, number)) for culture in LEVELS for number in range(2)}


def test_camel2_has_a_dish_of_each_country_in_both_languages(tmp_path: Path) -> None:
    found = open_set("camel2-open", write_camel2(tmp_path))
    countries = {"Morocco", "Syria", "Egypt"}
    assert Counter((one.language, one.facets["country"]) for one in found.questions) == dict.fromkeys(
        ((language, country) for language in ("ar", "en") for country in countries), 2
    )
    names = {"مقلوبة": "Makloube", "كبسة": "Kabsa", "هريس": "Harees", "عصيدة": "Aseeda"}
    arabic = {one.name: one for one in found.questions if one.language == "ar"}
    for one in found.questions:
        (answer,) = one.answers
        assert answer in one.text
        assert "[MASK]" not in one.text
        assert one.facets["country"] not in one.text
        if one.language == "en":
            assert names[arabic[one.name].answers[0]] == answer
    assert {prompt.language for prompt in found.prompts} == {"ar", "en"}
    left = {one.reason for one in found.remarks}
    assert "left out: entities that are foreign to their country: 2" in left  # the Arabic and the English pizza
    assert "left out: contexts of authors, whose entities have no country: 2" in left
    near = {
        row.culture: row.neighbours for row, _ in as_probed(found.questions, read_cultures(found.cultures)).values()
    }
    assert near["Syria"] == ["Egypt", "Iran"]  # of the study's cultures of CAMeL-2, not those of BLEnD
    with pytest.raises(DataSetError, match=r"folder.*camel2"):
        open_set("camel2-open", tmp_path / "absent")


def test_a_command_asks_a_part_of_published_questions_and_keeps_what_people_said(tmp_path: Path) -> None:
    model = save_causal("llama", tmp_path / "llama")
    (tmp_path / "exp.toml").write_text(
        f'name = "inside"\nmodels = ["transformers:{model}"]\nlanguages = ["en"]\ntopics = ["food"]\n'
        'countries = ["JP"]\n[options.transformers]\ndevice = "cpu"\nbare_prompts = true\n'
        "[instruments.probe]\nresamples = 19\nanswer_tokens = 4\nitem_tokens = 4\n",
        encoding="utf-8",
    )
    write_blend(tmp_path / "blend", 3)
    words = ("probe", "blend", "exp.toml", "--folder", "blend")
    done = polyculture(*words, "--culture", "USA", "--culture", "south_korea", "--culture", "Assam",
                       "--units", "2", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "8 x skipped: asks for a number" in done.stderr
    assert "blend: 6 of 24 questions, 2 of 3 units" in done.stderr
    with open_store(RunFolder(tmp_path / "runs" / "inside"), store_layout()) as store:
        found = store.sql("SELECT culture, region, level, count(*) FROM probes GROUP BY ALL ORDER BY 1").fetchall()
        assert found == [
            ("Assam", "South Asia", "low", 2), ("South Korea", "East Asia", "mid", 2),
            ("US", "North America", "high", 2),
        ]  # fmt: skip
        assert {rule for rule, _ in store.sql("SELECT word_rule, 1 FROM probes").fetchall()} == {word_rule("en")}
        said = "SELECT answer, votes FROM probe_human_answers JOIN probe_questions USING (question_key) " \
               "WHERE culture = 'US' ORDER BY question_id, place LIMIT 3"  # fmt: skip
        found = store.sql(said).fetchall()
        assert [(answer[:-1], votes) for answer, votes in found[:1]] == [("us dish ", 3)]
        assert found[1:] == [("soup of US", 2), ("rice", 1)]
    assert "en: no spaCy model is installed" in done.stderr + done.stdout
    again = polyculture(*words, "--culture", "USA", "--culture", "south_korea", "--culture", "Assam",
                        "--units", "2", cwd=tmp_path)  # fmt: skip
    assert again.returncode == 0, again.stderr
    assert " done" not in again.stderr  # the model is not even opened


def test_questions_of_two_data_sets_stand_side_by_side(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    before = [
        ProbedQuestion("k1", "mine", "en", "Iran", "q1", None, "What?"),
        ProbedQuestion("k2", "open", "en", "A", "q", None, "B?"),
    ]
    write_parquet(objects_to_table(PROBE_QUESTIONS, before), run.table(PROBE_QUESTIONS.name))
    asked = open_set(str(write_open(tmp_path, ["q\tMexico\ten\t\tWhat?"])))
    one = replace(asked.questions[0], answers=("corn", "maize"), weights=(3.0, 3.0))
    chosen = as_probed([one], read_cultures()).values()
    written = {one.name: rows.to_pylist() for one, rows in present_questions(run, chosen).items()}
    assert [(row["dataset"], row["culture"], row["region"], row["level"]) for row in written["probe_questions"]] == [
        ("mine", "Iran", None, None), ("open", "Mexico", "North America", "high"),
    ]  # fmt: skip
    assert [(row["answer"], row["votes"]) for row in written["probe_human_answers"]] == [("corn", 3), ("maize", 3)]


@pytest.mark.full
def test_of_the_published_files_as_many_stay_as_are_documented(shared_data: Path) -> None:
    english = open_set("blend", shared_data / "blend")
    assert len(english.questions) == 4543
    assert Counter(one.reason for one in english.remarks) == {
        "skipped: asks for a number": 841, "skipped: nobody answered it": 116,
    }  # fmt: skip
    local = open_set("blend", shared_data / "blend", "local")
    assert len(local.questions) == 4542  # one has no local text
    spanish = open_set("blend", shared_data / "blend", "es")
    assert len(spanish.questions) == 4486  # eight ids name neither Mexico nor Spain, and are asked there alone
    assert len({one.facets["country"] for one in spanish.questions}) == 11
    korean = {one.unit: one.text for one in local.questions if one.language == "ko"}
    assert korean["Al-en-01"].startswith("대한민국의 유치원생들이")
    assert len(open_set("culturescope", shared_data / "culturescope").questions) == 4956  # one has no answer
    camel2 = open_set("camel2-open", shared_data / "camel2")
    assert Counter(one.language for one in camel2.questions) == {"ar": 704, "en": 704}


@pytest.mark.full
def test_a_real_small_model_is_probed_at_every_layer_within_minutes(tmp_path: Path, shared_data: Path) -> None:
    (tmp_path / "exp.toml").write_text(
        f'name = "inside"\nmodels = ["transformers:{smollm2()}"]\n'
        '[options.transformers]\ndevice = "cpu"\nbatch_size = 32\n',
        encoding="utf-8",
    )
    about = ("--folder", shared_data / "blend", "--units", "50")
    cultures = [f"--culture={name}" for name in ("Iran", "Mexico", "South Korea", "UK")]
    begun = time.process_time()
    done = polyculture("probe", "blend", "exp.toml", *about, *cultures, "--control=text", cwd=tmp_path)
    took = time.process_time() - begun
    assert done.returncode == 0, done.stderr
    with open_store(RunFolder(tmp_path / "runs" / "inside"), store_layout()) as store:
        query = (
            "SELECT arm, status, count(DISTINCT probe_id), count(*) FROM probes JOIN probe_readings USING (probe_id)"
        )
        [patched, text] = store.sql(f"{query} GROUP BY ALL ORDER BY arm").fetchall()
        layers = store.sql("SELECT max(layers) FROM probes").fetchall()[0][0]
    assert (patched, text) == (("patched", "ok", 200, 200 * layers), ("text", "ok", 200, 200))
    assert took < 2 * 20 * 60, f"{took:.0f} seconds of CPU: more than 20 minutes of two cores"
