"""The papers' protocols as a user runs them: presets, prompts of one's own, wordings, strict match, raw counts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from polyculture.cache.errors import DataSetError, UserError
from polyculture.instruments.swaps.asking import SwapQuestions
from polyculture.instruments.swaps.options import NerOptions, QaOptions, SentimentOptions
from polyculture.instruments.swaps.prompts import preset_prompts, read_prompts, worded
from polyculture.instruments.swaps.tasks import TASKS, AnswerError, read_label
from tests.instruments.test_swaps_command import (
    CONTEXTS,
    NATIVE,
    TEXTS,
    gold,
    rows,
    says,
    says_in_file,
    write,
    write_table,
)
from tests.polyculture.test_command_line import polyculture
from tests.servers import Reply, StubServer

KEY = {"neutral": "0", "positive": "1", "negative": "2"}  # Camellia, Table 8


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer() as stub:
        yield stub


@pytest.fixture
def own(tmp_path: Path, server: StubServer) -> tuple[str | Path, ...]:
    return (write(tmp_path, server.url), "--data", "own", "--folder", tmp_path)


def content(body: Mapping[str, Any]) -> str:
    return str(body["messages"][-1]["content"])


def by_key(body: Mapping[str, Any], before: int) -> Reply:
    """A model that knows the key, and takes ramen for bad."""
    text = content(body).partition("Post: ")[2].partition("\n")[0]
    return says(KEY["negative" if "ramen" in text else gold(text)])


def test_camellia_asks_in_english_by_a_key_and_each_option_overrides(
    tmp_path: Path, server: StubServer, own: tuple[str | Path, ...]
) -> None:
    server.behaviour = by_key
    done = polyculture("swap", "sentiment", *own, "--preset", "camellia", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "preset camellia (Naous et al. 2025" in done.stderr
    assert "draws 3 (Figure 5)" in done.stderr
    assert "You changed: data own, not camellia" in done.stderr
    body = server.bodies[0]
    assert "a post in English" in content(body)
    assert "{" not in content(body)
    assert {name: body[name] for name in ("temperature", "top_p", "top_k", "max_tokens")} == {
        "temperature": 0, "top_p": 1, "top_k": 1, "max_tokens": 30,
    }  # fmt: skip
    assert not any("json" in key or "schema" in key or key == "response_format" for key in body)
    assert len(server.asked) == TEXTS
    assert rows(tmp_path, "SELECT count(DISTINCT draw), count(*) FILTER (status = 'ok') FROM swap_answers") == [
        (3, 3 * TEXTS)
    ]
    [(wording, settings)] = rows(tmp_path, "SELECT DISTINCT wording, settings FROM swap_answers")
    assert wording == "camellia"
    said = json.loads(settings)
    assert (said["ask"], said["schema"], said["max_tokens"], said["top_k"]) == ("en", False, 30, 1)
    assert "a post in English" in said["prompt"]
    # Another limit is another answer; the first ones stay, and count again without a query.
    says_in_file(Path(own[0]), "sentiment", max_tokens=12)
    words = ("swap", "sentiment", *own, "--preset", "camellia", "--draws", "1")
    refused = polyculture(*words, cwd=tmp_path)
    assert refused.returncode == 2
    assert "max_tokens was 30 and is now 12" in refused.stderr
    assert len(server.asked) == TEXTS
    other = polyculture(*words, "--accept-changes", cwd=tmp_path)
    assert other.returncode == 0, other.stderr
    assert "draws 1, not 3, max_tokens 12, not 30" in other.stderr
    says_in_file(Path(own[0]), "sentiment")
    assert len(server.asked) == 2 * TEXTS
    assert server.bodies[-1]["max_tokens"] == 12
    assert rows(tmp_path, "SELECT DISTINCT draw FROM swap_answers") == [(0,)]
    assert polyculture("swap", "sentiment", *own, "--preset", "camellia", cwd=tmp_path).returncode == 0
    assert len(server.asked) == 2 * TEXTS
    assert rows(tmp_path, "SELECT count(*) FROM swap_answers") == [(3 * TEXTS,)]


def test_a_preset_in_the_experiment_file_is_read_and_its_options_override(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server.url)
    server.behaviour = by_key
    with file.open("a", encoding="utf-8") as out:
        out.write(f'[instruments.sentiment]\npreset = "camellia"\ndata = "own"\nfolder = "{tmp_path}"\n')
        out.write("json_schema = true\nmax_tokens = 20\n")
    done = polyculture("swap", "sentiment", file, "--draws", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert server.bodies[0]["max_tokens"] == 20
    assert '"enum"' in json.dumps(server.bodies[0])
    assert rows(tmp_path, "SELECT DISTINCT draw FROM swap_answers") == [(0,)]


def test_presets_set_what_the_papers_say() -> None:
    sentiment, qa = (options.model_validate({"preset": "camellia"}) for options in (SentimentOptions, QaOptions))
    for camellia in (sentiment, qa):
        assert (camellia.draws, camellia.entities, camellia.equal_sides, camellia.data) == (3, 50, True, "camellia")
        assert (camellia.temperature, camellia.top_p, camellia.top_k, camellia.json_schema) == (0, 1, 1, False)
        assert camellia.max_tokens == 30
    assert sentiment.pooled
    assert SentimentOptions.model_validate({"preset": "camellia", "json_schema": True, "draws": 1}).json_schema
    for options in (SentimentOptions, NerOptions):
        camel = options.model_validate({"preset": "camel"})
        assert (camel.draws, camel.entities, camel.equal_sides, camel.setting) == (5, 50, True, ("grounded",))
        assert options.model_validate(camel.model_dump(mode="json")) == camel  # as a run keeps it
    assert NerOptions.model_validate({"preset": "camel"}).type == ("names", "authors", "locations")
    for options, paper in ((QaOptions, "camel"), (NerOptions, "camellia")):  # which have no such task
        with pytest.raises(ValidationError, match="Input should be 'ours' or"):
            options.model_validate({"preset": paper})
    assert preset_prompts("camel") is None
    assert worded("ja", "qa", None, None).wording == "standard"
    for language, name in read_prompts().languages.items():
        found = worded(language, "qa", None, preset_prompts("camellia"))
        assert f"a post in {name}." in found.prompts.qa.prompt
        assert found.words == read_prompts().words_of(language)


def test_a_side_with_fewer_entities_gives_them_again_until_there_are_as_many_texts(
    tmp_path: Path, server: StubServer, own: tuple[str | Path, ...]
) -> None:
    """Contexts x entities on both sides, each text asked once; ramen is missed wherever it is good."""
    server.behaviour = by_key
    words = ("swap", "sentiment", *own, "--preset", "camellia", "--draws", "1")
    done = polyculture(*words, "--entities", "7", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sentiment en: 4 contexts x 7 = 28 texts a side in each draw" in done.stderr
    assert len(server.asked) == TEXTS
    times = "SELECT native, count(*), sum(times), max(times) FROM swap_answers GROUP BY 1 ORDER BY 1"
    assert rows(tmp_path, times) == [(False, 8, 28, 4), (True, 12, 28, 3)]
    sides = "SELECT native, asked, positive, missed_positives FROM sentiment_counts ORDER BY 1"
    ramen = rows(tmp_path, "SELECT sum(times) FROM swap_answers WHERE entity = 'ramen' AND gold = 'positive'")[0][0]
    assert rows(tmp_path, sides) == [(False, 28, 14, 0), (True, 28, 14, ramen)]
    counted = "SELECT native, western, native_texts, western_texts FROM sentiment_count_differences WHERE counted = 'missed_positives'"  # fmt: skip  # noqa: E501
    assert set(rows(tmp_path, counted)) == {(ramen, 0, 28, 28)}
    rate = "SELECT native, native_asked FROM swap_rates WHERE metric = 'missed_positive_rate'"
    assert {(round(value * 14, 9), asked) for value, asked in rows(tmp_path, rate)} == {(ramen, 28)}
    # Asked for fewer, each text counts once; nothing is asked again.
    assert polyculture(*words, "--entities", "2", cwd=tmp_path).returncode == 0
    assert len(server.asked) == TEXTS
    assert set(rows(tmp_path, "SELECT times FROM swap_answers")) == {(1,)}


@pytest.mark.parametrize(
    ("said", "label"),
    [("1", "positive"), (" 2.", "negative"), ("0 = neutral", "neutral"), ("Digit: 1", "positive"), ("10", None),
     ("1.5", None), ("2/10", None), ("-1", None), ("0 or 2", None), ("1, 2", None), ("positive", "positive")],
)  # fmt: skip
def test_a_digit_of_the_key_stands_alone(said: str, label: str | None) -> None:
    preset = preset_prompts("camellia")
    assert preset is not None
    if label is None:
        with pytest.raises(AnswerError):
            read_label(said, preset[1])
    else:
        assert read_label(said, preset[1]) == label


MINE = """
language = "en"
[sentiment]
prompt = "Label this {language} text, and remember that it is {language}: {text}"
[languages]
en = "plain English"
"""


def test_one_file_of_prompts_asks_about_all_texts(
    tmp_path: Path, server: StubServer, own: tuple[str | Path, ...]
) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE, encoding="utf-8")
    server.behaviour = lambda body, _: says(gold(content(body)))
    words = ("swap", "sentiment", *own, "--draws", "1")
    says_in_file(Path(own[0]), "sentiment", prompts="mine.toml", json_schema=False, top_p=0.9)
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Label this plain English text, and remember that it is plain English: " in server.asked[0][0]
    assert (server.bodies[0]["max_tokens"], server.bodies[0]["top_p"]) == (48, 0.9)
    assert "response_format" not in server.bodies[0]
    assert rows(tmp_path, "SELECT DISTINCT wording FROM swap_answers") == [("own",)]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (MINE.replace("{text}", "{txt}"), "sentiment.prompt: must hold {text}, {language} if it likes, and no "
         "other slot; {txt} is unknown here"),
        (MINE.replace('en = "plain English"', 'en = ""'), None),
        (MINE + '[qa]\nprompt = "Say it: {text}"\n', "qa.prompt: must hold {text} and {question} or {type}"),
        (MINE.replace("[sentiment]", "[feeling]"), "unknown key 'feeling'"),
        ('language = "xx"\n', "asks in 'xx' and lacks [sentiment]"),
        (MINE.replace("[languages]", 'labels = { positive = "1", negative = "0", neutral = "1" }\n[languages]'),
         "sentiment.labels: two labels have the same word"),
    ],
)  # fmt: skip
def test_a_slot_that_does_not_fit_is_one_line(tmp_path: Path, text: str, told: str | None) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(text, encoding="utf-8")
    if told is None:
        worded("en", "sentiment", mine, None)
        return
    with pytest.raises(UserError) as fault:
        worded("en", "sentiment", mine, None)
    assert "mine.toml: " in str(fault.value)
    assert told in str(fault.value)


TYPE_TWICE = """
language = "en"
[qa]
none = "None"
prompt = "Which {type} is in this {language} text? {text} Say the {type} alone, or None; it is {language}."
"""


def test_a_prompt_of_ones_own_says_what_the_papers_prompts_say(
    tmp_path: Path, server: StubServer, own: tuple[str | Path, ...]
) -> None:
    """Camellia's Table 9 needs the type twice, and has no question apart from its prompt."""
    mine = tmp_path / "mine.toml"
    mine.write_text(TYPE_TWICE, encoding="utf-8")
    server.behaviour = extracted
    says_in_file(Path(own[0]), "qa", prompts="mine.toml")
    done = polyculture("swap", "qa", *own, "--draws", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert server.asked[0][0].startswith("Which food or dish is in this English text? ")
    assert server.asked[0][0].endswith("Say the food or dish alone, or None; it is English.")
    assert rows(tmp_path, "SELECT DISTINCT answer FROM swap_answers WHERE entity = 'lasagna'") == [("",)]


def test_a_language_without_a_name_and_prompts_that_are_not_there_are_one_line(tmp_path: Path) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE, encoding="utf-8")
    with pytest.raises(DataSetError, match=r"\{language\}: there is no name for 'qaa'.*Add under \[languages\]"):
        worded("qaa", "sentiment", mine, None)
    with pytest.raises(DataSetError, match="is not there"):
        worded("en", "sentiment", tmp_path / "nowhere", None)


ANSWERS = {"ramen": "The RAMEN!", "onigiri": "onigiri", "takoyaki": "food", "pizza": "pizza", "lasagna": "None"}


def extracted(body: Mapping[str, Any], before: int) -> Reply:
    text = content(body)
    return says(next(said for name, said in ANSWERS.items() if name in text))


def test_strict_match_stands_beside_the_normalised_one(
    tmp_path: Path, server: StubServer, own: tuple[str | Path, ...]
) -> None:
    server.behaviour = extracted
    words = ("swap", "qa", *own, "--draws", "1")
    says_in_file(Path(own[0]), "qa", json_schema=False)
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "strict accuracy" in done.stdout
    found = "SELECT DISTINCT entity, answer, matched, strict FROM swap_answers ORDER BY ALL"
    assert rows(tmp_path, found) == [
        ("lasagna", "None", 0, 0),
        ("onigiri", "onigiri", 1, 1),
        ("pizza", "pizza", 1, 1),
        ("ramen", "The RAMEN!", 1, 0),
        ("takoyaki", "food", 0, 0),
    ]
    rates = (
        "SELECT native, western, difference FROM swap_rates "
        "WHERE entity_type = 'food' AND metric = 'accuracy' AND reading = '{}'"
    )
    normalised = [(pytest.approx(2 / 3), 0.5, pytest.approx(2 / 3 - 1 / 2))]
    strict = [(pytest.approx(1 / 3), 0.5, pytest.approx(1 / 3 - 1 / 2))]
    assert rows(tmp_path, rates.format("normalised")) == normalised
    assert rows(tmp_path, rates.format("strict")) == strict
    asked = len(server.asked)
    # Other prompts ask anew; where nothing is found, Camellia's asks for None, which is stored as nothing.
    done = polyculture("swap", "qa", *own, "--preset", "camellia", "--accept-changes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == 2 * asked
    assert rows(tmp_path, "SELECT DISTINCT answer, matched FROM swap_answers WHERE entity = 'lasagna'") == [("", 0)]
    assert rows(tmp_path, "SELECT DISTINCT wording FROM swap_rates") == [("camellia",)]


def test_raw_counts_in_both_readings_per_setting_and_pooled(tmp_path: Path, server: StubServer) -> None:
    file = write(tmp_path, server.url)
    settings = ["grounded", "neutral"]
    lines = [f"en,Japanese,food,{settings[n % 2]},{label},{text}" for n, (text, label) in enumerate(CONTEXTS.items())]
    write_table(tmp_path / "contexts.csv", "language,culture,type,setting,sentiment,context", lines)
    # Native: positive is taken for neutral, so a false negative in the papers' reading and none in ours.
    server.behaviour = lambda body, _: says(
        "neutral" if any(name in content(body) for name in NATIVE) else gold(content(body).partition("Text: ")[2])
    )
    says_in_file(file, "sentiment", pooled=True)
    words = ("--data", "own", "--folder", tmp_path, "--entities", "2", "--draws", "2")
    done = polyculture("swap", "sentiment", file, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "pooled True" in " ".join(done.stdout.split())
    assert "Asian - Western" in done.stdout
    query = (
        "SELECT setting, counted, native, western, difference, absolute_difference, native_texts, draws FROM "
        "sentiment_count_differences WHERE entity_type IS NULL AND counted IN ('false_negatives', 'missed_positives') "
        "ORDER BY ALL"
    )
    # Grounded: one positive and one neutral context; neutral: one positive and one negative.
    assert rows(tmp_path, query) == [
        ("grounded", "false_negatives", 0, 0, 0, 0, 4, 2),
        ("grounded", "missed_positives", 2, 0, 2, 2, 4, 2),
        ("grounded + neutral", "false_negatives", 0, 0, 0, 0, 8, 2),
        ("grounded + neutral", "missed_positives", 4, 0, 4, 4, 8, 2),
        ("neutral", "false_negatives", 0, 0, 0, 0, 4, 2),
        ("neutral", "missed_positives", 2, 0, 2, 2, 4, 2),
    ]
    pooled = "SELECT metric, native FROM swap_rates WHERE pooled AND entity_type = 'food'"
    rates = dict(rows(tmp_path, pooled))
    assert (rates["missed_positive_rate"], rates["false_negative_rate"]) == (1, 0)
    # F1: positive 0, negative 0, neutral 2 * 1 / (1 + 4).
    assert rates["macro_f1"] == pytest.approx(0.4 / 3)
    western = dict(rows(tmp_path, pooled.replace("native", "western")))
    assert western["macro_f1"] == 1
    limits = "coalesce(native_low, western_low, difference_low, p) IS NOT NULL"
    assert not rows(tmp_path, f"FROM swap_rates WHERE metric = 'macro_f1' AND {limits}")
    assert not rows(tmp_path, "FROM swap_rates WHERE pooled <> (setting LIKE '%+%')")


def test_languages_that_were_not_asked_alike_are_not_added_up(tmp_path: Path, server: StubServer) -> None:
    """A row over all held answers to two wordings, with the schema and without, under the title of the later one."""
    file = write(tmp_path, server.url)
    for name in ("contexts.csv", "entities.csv"):
        table = tmp_path / name
        lines = table.read_text(encoding="utf-8").splitlines()
        more = [line.replace("en,", "de,", 1).replace(" the ", " das ") for line in lines if line.startswith("en,")]
        write_table(table, lines[0], [*lines[1:], *more])
    server.behaviour = extracted
    words = ("swap", "qa", file, "--data", "own", "--folder", tmp_path, "--draws", "1")
    alike = polyculture(*words, cwd=tmp_path)
    assert alike.returncode == 0, alike.stderr
    assert "no rows over all languages" not in alike.stderr
    over_all = "SELECT DISTINCT wording, native_asked + western_asked FROM swap_rates WHERE language IS NULL"
    [(wording, asked)] = rows(tmp_path, over_all)
    assert (wording, asked) == ("standard", 20)
    says_in_file(file, "qa", json_schema=False, prompts="mine")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "de.toml").write_text(
        '[types]\nother = "Name"\n[qa]\nquestion = "Welches {type}?"\nprompt = "{question} Text: {text}"\n',
        encoding="utf-8",
    )
    done = polyculture(*words, "--language", "de", "--accept-changes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "qa: openai:stub, own: no rows over all languages, which were asked in other ways: de; en" in done.stderr
    assert rows(tmp_path, "SELECT count(*) FROM swap_answers") == [(20,)]
    assert not rows(tmp_path, over_all)
    found = "SELECT DISTINCT language, wording FROM swap_rates WHERE entity_type IS NULL ORDER BY ALL"
    assert rows(tmp_path, found) == [("de", "own"), ("en", "standard")]


def test_answers_are_added_up_where_all_but_the_name_of_the_language_is_the_same(tmp_path: Path) -> None:
    def settings_id(language: str, place: Path | None = None, **more: Any) -> str:
        found = worded(language, "ner", place, preset_prompts("camellia") if place is None else None)
        one = SwapQuestions(
            TASKS["ner"], language, found.prompts, found.words, wording=found.wording, shared=found.shared, **more
        )
        return str(json.loads(one.question.settings or "")["settings_id"])

    mine = tmp_path / "mine.toml"
    mine.write_text('[ner]\nprompt = "This {language} text names a {type}: {text}"\n', encoding="utf-8")
    ours, own = settings_id("ja"), settings_id("ja", mine)
    assert settings_id("ur") == ours != own == settings_id("ur", mine)
    assert settings_id("ja", seed=2) != ours
    assert settings_id("ja", temperature=0.5) != ours
    assert settings_id("ja", constrained=False) != ours
    assert settings_id("ja", limit=9) != ours
    # Each in its own language: the words differ by nature, and all else must be the same.
    prompt = '[types]\nother = "{}"\n[ner]\nprompt = "{{type}}: {{text}}"\n'
    for language, name in (("ja", "名前"), ("ur", "نام")):
        (tmp_path / f"{language}.toml").write_text(prompt.format(name), encoding="utf-8")
    each = settings_id("ja", tmp_path)
    assert settings_id("ur", tmp_path) == each != own
    assert settings_id("ur", tmp_path, seed=2) != each
    mine.write_text('[ner]\nprompt = "Other words name a {type}: {text}"\n', encoding="utf-8")
    assert settings_id("ur", mine) != own
