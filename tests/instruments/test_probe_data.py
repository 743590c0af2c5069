"""Published questions for probes: what stays, what is left out and counted, who answered, and which part is asked."""

from __future__ import annotations

import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest
from openpyxl import Workbook

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.cultures.blend import NUMERIC, UNANSWERED
from polyculture.instruments.probe.layout import PROBE_QUESTIONS, QuestionRow
from polyculture.instruments.probe.published import open_published, open_table
from polyculture.instruments.probe.questions import HumanAnswer, OpenQuestion, choose, draw_ids, present_questions
from polyculture.instruments.probe.words import word_rule
from polyculture.running.layout import store_layout
from tests.instruments.culture_files import LEVELS, resource_row, write_blend, write_rows
from tests.instruments.culture_files import NUMERIC as ASKS_NUMBER
from tests.polyculture.test_command_line import one_line, polyculture
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


def test_blend_is_asked_in_english_or_in_the_languages_of_its_cultures(tmp_path: Path) -> None:
    folder = write_blend(tmp_path / "blend", 3)
    english = open_published("blend", folder, (), None)
    assert (english.dataset, len(english.questions)) == ("blend", 3 * len(LEVELS))
    assert f"24 stay; {NUMERIC}: 8; {UNANSWERED}: 8" in english.told[0] or (
        f"24 stay; {UNANSWERED}: 8; {NUMERIC}: 8" in english.told[0]
    )
    one = next(one for one in english.questions if (one.culture, one.question_id) == ("South Korea", "Al-en-01"))
    assert (one.language, one.region, one.level, one.topic) == ("en", "East Asia", "mid", "Food")
    assert one.question == "What do people eat on day 1 in South Korea?"
    assert [(answer.spellings, answer.votes) for answer in one.answers] == [
        (("south korea dish 1",), 3), (("soup of South Korea",), 2), (("rice",), 1),
    ]  # fmt: skip
    local = open_published("blend", folder, ("local",), None)
    asked = {one.culture: one for one in local.questions if one.question_id == "Al-en-01"}
    assert local.dataset == "blend-local"
    assert {asked[name].language for name in ("South Korea", "Mexico", "Northern Nigeria")} == {"ko", "es", "ha"}
    assert asked["South Korea"].question == "local What do people eat on day 1 in South Korea?"
    assert asked["South Korea"].answers[0].spellings == ("local south korea dish 1",)
    with pytest.raises(DataSetError, match=r"English.*languages"):
        open_published("blend", folder, ("en", "ko"), None)


def test_cultures_are_data_and_a_language_that_is_not_known_is_counted(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'levels = ["much", "little"]\n[countries]\nAssam = { level = "little", region = "hills", language = "as" }\n'
        'Korea = { level = "much", region = "coast", spellings = ["South Korea"] }\n',
        encoding="utf-8",
    )
    folder = write_blend(tmp_path / "blend", 2)
    found = open_published("blend", folder, ("local",), mine)
    assert {(one.culture, one.level, one.region) for one in found.questions} == {("Assam", "little", "hills")}
    assert "the language of Korea is not known: 2" in found.told[0]
    assert found.culture("South Korea") == "Korea"
    assert "is no country of the cultures" in found.told[1]
    table = tmp_path / "open.tsv"
    table.write_text("question_id\tculture\tlanguage\tquestion\nq1\tsouth-korea\ten\tA?\nq1\tMars\ten\tA?\n", "utf-8")
    placed = [(one.culture, one.region, one.level) for one in open_table(table, mine).questions]
    assert placed == [("south-korea", "coast", "much"), ("Mars", None, None)]


def test_in_a_language_of_names_all_cultures_are_asked_about(tmp_path: Path) -> None:
    """A question in Spanish about each culture: Mexico's own, with another's name in its place."""
    mine = tmp_path / "mine.toml"
    mine.write_text(
        'levels = ["much", "little"]\n[countries]\n'
        'Mexico = { level = "much", region = "America", language = "es", names = { es = "Mexico" } }\n'
        'US = { level = "much", region = "America", language = "en", names = { es = "Estados Unidos" } }\n'
        'China = { level = "much", region = "Asia", language = "zh", names = { es = "China" } }\n'
        'Assam = { level = "little", region = "Asia", language = "as" }\n',
        encoding="utf-8",
    )
    found = open_published("blend", write_blend(tmp_path / "blend", 2), ("es",), mine)
    assert (found.dataset, {one.language for one in found.questions}) == ("blend-es", {"es"})
    asked = {one.culture: one for one in found.questions if one.question_id == "Al-en-01"}
    assert {name: one.question for name, one in asked.items()} == {
        name: f"local What do people eat on day 1 in {word}?"
        for name, word in (("Mexico", "Mexico"), ("US", "Estados Unidos"), ("China", "China"))
    }
    assert asked["Mexico"].answers[0].spellings == ("local mexico dish 1",)
    assert asked["China"].answers[0].spellings == ("china dish 1",)  # nobody answered in Spanish
    assert "no text in es: 2" in found.told[0]  # Assam has no name


def test_the_sheets_are_asked_once_per_question_and_target(tmp_path: Path) -> None:
    rows = [resource_row(target, number) for number in range(2) for target in LEVELS]
    rows.append(resource_row("Assam", 9, prompt=ASKS_NUMBER.format("Assam")))
    write_rows(tmp_path / "a" / "one.csv", rows)
    found = open_published("culturescope", tmp_path / "a", (), None)
    assert len(found.questions) == 2 * len(LEVELS)
    assert f"{NUMERIC}: 1" in found.told[0]
    one = next(one for one in found.questions if (one.culture, one.question_id) == ("US", "Al-en-01"))
    assert [(answer.spellings, answer.votes) for answer in one.answers] == [(("us dish 1",), None)]


def test_camel2_has_a_dish_of_each_country_in_both_languages(tmp_path: Path) -> None:
    found = open_published("camel2", write_camel2(tmp_path), (), None)
    countries = {"Morocco", "Syria", "Egypt"}
    assert Counter((one.language, one.culture) for one in found.questions) == dict.fromkeys(
        ((language, country) for language in ("ar", "en") for country in countries), 2
    )
    names = {"مقلوبة": "Makloube", "كبسة": "Kabsa", "هريس": "Harees", "عصيدة": "Aseeda"}
    arabic = {(one.question_id, one.culture): one for one in found.questions if one.language == "ar"}
    for one in found.questions:
        (answer,) = one.answers
        assert answer.spellings[0] in one.question
        assert "[MASK]" not in one.question
        assert one.culture not in one.question
        if one.language == "en":
            assert names[arabic[one.question_id, one.culture].answers[0].spellings[0]] == answer.spellings[0]
    (told,) = found.told
    assert "entities that are foreign to their country: 2" in told  # the Arabic and the English pizza
    assert "contexts of authors, whose entities have no country: 2" in told
    with pytest.raises(DataSetError, match=r"folder.*camel2"):
        open_published("camel2", tmp_path / "absent", (), None)


def test_a_draw_is_joint_nested_and_of_ids_that_most_cultures_have() -> None:
    questions = [
        OpenQuestion(f"q{n}", culture, "en", f"{n} {culture}?")
        for n in range(40)
        for culture in ("A", "B", "C")
        if n % 2 or culture != "C"
    ]
    drawn = {number: draw_ids(questions, number, 7) for number in (5, 20, 25)}
    assert {number: len(ids) for number, ids in drawn.items()} == {5: 5, 20: 20, 25: 25}
    assert drawn[5] < drawn[20] < drawn[25]
    assert drawn[20] == {f"q{n}" for n in range(1, 40, 2)}  # those of all three come first
    assert draw_ids(questions, 5, 8) != drawn[5]
    part = choose(Path("x.tsv"), questions, per_culture=5, seed=7)
    assert Counter(one.culture for one in part) == {"A": 5, "B": 5, "C": 5}


def test_a_command_asks_a_part_of_published_questions_and_keeps_what_people_said(tmp_path: Path) -> None:
    model = save_causal("llama", tmp_path / "llama")
    (tmp_path / "exp.toml").write_text(
        f'name = "inside"\nmodels = ["transformers:{model}"]\nlanguages = ["en"]\ntopics = ["food"]\n'
        'countries = ["JP"]\n[options.transformers]\ndevice = "cpu"\nbare_prompts = true\n'
        "[instruments.probe]\nresamples = 19\nanswer_tokens = 4\nitem_tokens = 4\n",
        encoding="utf-8",
    )
    write_blend(tmp_path / "blend", 3)
    words = ("probe", "exp.toml", "--data", "blend", "--folder", "blend")
    done = polyculture(*words, "--culture", "USA", "--culture", "south_korea", "--culture", "Assam",
                       "--per-culture", "2", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "BLEnD: of 40 questions about 8 cultures 24 stay" in done.stderr + done.stdout
    with open_store(RunFolder(tmp_path / "runs" / "inside"), store_layout()) as store:
        found = store.sql("SELECT culture, region, level, count(*) FROM probes GROUP BY ALL ORDER BY 1").fetchall()
        assert found == [
            ("Assam", "South Asia", "low", 2), ("South Korea", "East Asia", "mid", 2),
            ("US", "North America", "high", 2),
        ]  # fmt: skip
        assert {rule for rule, _ in store.sql("SELECT word_rule, 1 FROM probes").fetchall()} == {word_rule("en")}
        said = "SELECT answer, votes FROM probe_human_answers JOIN probe_questions USING (question_key) " \
               "WHERE culture = 'US' AND question_id = 'Al-en-00' ORDER BY place"  # fmt: skip
        assert store.sql(said).fetchall() == [("us dish 0", 3), ("soup of US", 2), ("rice", 1)]
    assert "en: no spaCy model is installed" in done.stderr + done.stdout
    both = polyculture(*words, "--questions", "open.tsv", cwd=tmp_path)
    assert "either --questions FILE, or --data" in one_line(both)


def test_questions_of_two_data_sets_stand_side_by_side(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    before = [
        QuestionRow("k1", "mine", "en", "Iran", "q1", None, "What?"),
        QuestionRow("k2", "open", "en", "A", "q", None, "B?"),
    ]
    write_parquet(objects_to_table(PROBE_QUESTIONS, before), run.table(PROBE_QUESTIONS.name))
    asked = [OpenQuestion("q", "Mexico", "en", "What?", None, "America", "high", (HumanAnswer(("corn", "maize"), 3),))]
    written = {one.name: rows.to_pylist() for one, rows in present_questions(run, "open", asked).items()}
    assert [(row["dataset"], row["culture"], row["region"], row["level"]) for row in written["probe_questions"]] == [
        ("mine", "Iran", None, None), ("open", "Mexico", "America", "high"),
    ]  # fmt: skip
    (answer,) = written["probe_human_answers"]
    assert (answer["answer"], answer["spellings"], answer["votes"]) == ("corn", ["corn", "maize"], 3)


@pytest.mark.full
def test_of_the_published_files_as_many_stay_as_are_documented(shared_data: Path) -> None:
    english = open_published("blend", shared_data / "blend", (), None)
    assert len(english.questions) == 4543
    assert english.told[0].endswith(f"4543 stay; {NUMERIC}: 841; {UNANSWERED}: 116")
    local = open_published("blend", shared_data / "blend", ("local",), None)
    assert len(local.questions) == 4542  # one has no local text
    spanish = open_published("blend", shared_data / "blend", ("es",), None)
    assert len(spanish.questions) == 4486  # eight ids name neither Mexico nor Spain, and are asked there alone
    assert len({one.culture for one in spanish.questions}) == 11
    korean = {one.question_id: one.question for one in local.questions if one.language == "ko"}
    assert korean["Al-en-01"].startswith("대한민국의 유치원생들이")
    assert len(open_published("culturescope", shared_data / "culturescope", (), None).questions) == 4957
    camel2 = open_published("camel2", shared_data / "camel2", (), None)
    assert Counter(one.language for one in camel2.questions) == {"ar": 704, "en": 704}


@pytest.mark.full
def test_a_real_small_model_is_probed_at_every_layer_within_minutes(tmp_path: Path, shared_data: Path) -> None:
    (tmp_path / "exp.toml").write_text(
        f'name = "inside"\nmodels = ["transformers:{smollm2()}"]\n'
        '[options.transformers]\ndevice = "cpu"\nbatch_size = 32\n',
        encoding="utf-8",
    )
    about = ("--data", "blend", "--folder", shared_data / "blend", "--per-culture", "50")
    cultures = [f"--culture={name}" for name in ("Iran", "Mexico", "South Korea", "UK")]
    begun = time.process_time()
    done = polyculture("probe", "exp.toml", *about, *cultures, "--control=text", cwd=tmp_path)
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
