"""`polyculture swap sentiment` and `qa` as a user runs them, against a server that answers in known ways."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.reports.report import write_report
from polyculture.running.layout import store_layout
from tests.polyculture.test_command_line import one_line, polyculture
from tests.quick_start import begin_polyculture
from tests.report_run import sections_named
from tests.servers import Reply, StubServer
from tests.stored import rows
from tests.unknown_form import in_unknown_form, later_version

EXPERIMENT = """
name = "swapped"
models = ["openai:stub"]
[prices."openai:stub"]
input = 100
output = 1000
[options.openai]
base_url = "{url}"
"""
ANSWER = 0.0057  # 7 tokens of prompt and 5 of answer
NATIVE, WESTERN = ("ramen", "onigiri", "takoyaki"), ("pizza", "lasagna")
CONTEXTS = {
    "I loved the [MASK] so much.": "positive",
    "What a wonderful [MASK]!": "positive",
    "The [MASK] is on the table.": "neutral",
    "The [MASK] was awful.": "negative",
}
QUESTIONS = ("At noon we had [MASK] by the sea.", "She sells [MASK] at the station.")
TEXTS = len(CONTEXTS) * (len(NATIVE) + len(WESTERN))


def write(folder: Path, url: str) -> Path:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url), encoding="utf-8")
    entities = [f"en,Japanese,food,{name}" for name in NATIVE] + [f"en,Western,food,{name}" for name in WESTERN]
    contexts = [f"en,Japanese,food,neutral,{label},{text}" for text, label in CONTEXTS.items()]
    contexts += [f"en,Japanese,food,qa,,{text}" for text in QUESTIONS]
    write_table(folder / "entities.csv", "language,culture,type,entity", entities)
    write_table(folder / "contexts.csv", "language,culture,type,setting,sentiment,context", contexts)
    return file


def says_in_file(file: Path, command: str, **options: object) -> None:
    """Writes options that have no flag into the experiment file, in place of those before."""
    text = file.read_text(encoding="utf-8").partition(f"\n[{command}]\n")[0]
    lines = "".join(f"{name} = {json.dumps(value)}\n" for name, value in options.items())
    file.write_text(f"{text}\n[{command}]\n{lines}", encoding="utf-8")


def write_table(file: Path, header: str, lines: list[str]) -> None:
    file.write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")


def says(content: str) -> Reply:
    choice = {"message": {"content": content}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": 5}
    return Reply(body=json.dumps({"model": "stub", "choices": [choice], "usage": usage}).encode())


def labelling(rule: Callable[[str], str]) -> Callable[[Mapping[str, Any], int], Reply]:
    """A model that labels a text by `rule`."""

    def answer(body: Mapping[str, Any], before: int) -> Reply:
        text = body["messages"][-1]["content"].partition("Text: ")[2]
        return says(json.dumps({"sentiment": rule(text)}))

    return answer


def gold(text: str) -> str:
    return next(label for context, label in CONTEXTS.items() if text.endswith(context.partition("]")[2]))


@pytest.fixture
def server() -> Iterator[StubServer]:
    with StubServer() as stub:
        yield stub


@pytest.fixture
def own(tmp_path: Path, server: StubServer) -> tuple[Path, ...]:
    return (write(tmp_path, server.url), Path("--data"), Path("own"), Path("--folder"), tmp_path)


def test_false_negatives_and_positives_are_those_that_were_made(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    # ramen is always taken for bad, pizza always for good; all else for what it is.
    server.behaviour = labelling(
        lambda text: "negative" if "ramen" in text else "positive" if "pizza" in text else gold(text)
    )
    done = polyculture("swap", "sentiment", *own, "--draws", "2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "0 failed" in done.stderr
    assert "false negative" in done.stdout
    assert "all types" not in done.stdout, "over one type and one culture stands what is theirs"
    assert len(server.asked) == TEXTS  # once for both draws
    counts = "native, draw, texts, matched, not_negative, false_negatives, not_positive, false_positives"
    assert rows(tmp_path, f"SELECT {counts} FROM sentiment_counts ORDER BY 1 DESC, 2") == [
        (True, 0, 12, 9, 9, 3, 6, 0),
        (True, 1, 12, 9, 9, 3, 6, 0),
        (False, 0, 8, 6, 6, 0, 4, 2),
        (False, 1, 8, 6, 6, 0, 4, 2),
    ]
    query = "SELECT metric, facets['side'], estimate, n FROM numbers WHERE measure = 'sentiment' AND topic = 'food'"
    found = {(metric, side): (estimate, answers) for metric, side, estimate, answers in rows(tmp_path, query)}
    assert found["false_negative_rate", "native"] == (pytest.approx(1 / 3), 18)
    assert found["false_negative_rate", "western"] == (0.0, 12)
    gaps = dict(rows(tmp_path, "SELECT metric, difference FROM swap_rates WHERE entity_type = 'food'"))
    assert (gaps["false_negative_rate"], gaps["false_positive_rate"]) == (pytest.approx(1 / 3), pytest.approx(-1 / 2))
    assert found["accuracy", "native"][0] == found["accuracy", "western"][0] == 0.75
    query = "SELECT DISTINCT metric, contexts FROM swap_rates WHERE entity_type = 'food'"
    rests_on = {"accuracy": 4, "false_negative_rate": 3, "false_positive_rate": 2}
    assert rests_on.items() <= dict(rows(tmp_path, query)).items()
    levels = rows(tmp_path, "SELECT DISTINCT language, culture, entity_type FROM swap_rates ORDER BY ALL")
    assert levels == [("en", "Japanese", "food"), ("en", "Japanese", None), (None, None, None)]
    page = write_report(
        RunFolder(tmp_path / "runs" / "swapped"), layout=store_layout(), sections=sections_named("swapped", "numbers")
    ).read_text(encoding="utf-8")
    section = page.partition('<section id="swapped"')[2].partition("</section>")[0]
    assert "English, Japanese: food" in section
    assert "neutral, false negative rate" in section
    assert "+0.33" in section
    assert ", Extraction, own" not in section  # nothing was asked
    assert 'id="numbers"' not in page  # 100 % of texts that nobody asked for were said to be missing


def test_a_task_measures_its_own_answers_and_leaves_the_numbers_of_others_as_they_are(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    server.behaviour = labelling(gold)
    numbers = tmp_path / "runs" / "swapped" / "numbers"
    measured, shown = numbers / "sentiment.parquet", "SELECT count(*) FROM swap_rates WHERE task = 'sentiment'"
    assert polyculture("swap", "sentiment", *own, cwd=tmp_path).returncode == 0
    assert [file.name for file in numbers.iterdir()] == ["sentiment.parquet"]
    written, found = measured.stat().st_mtime_ns, rows(tmp_path, shown)
    server.behaviour = lambda *_: says('{"answer": "ramen"}')
    assert polyculture("swap", "qa", *own, cwd=tmp_path).returncode == 0
    assert sorted(file.name for file in numbers.iterdir()) == ["qa.parquet", "sentiment.parquet"]
    assert measured.stat().st_mtime_ns == written
    assert rows(tmp_path, shown) == found != [(0,)]


def test_more_draws_of_greedy_answers_cost_nothing_and_others_are_asked(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    server.behaviour = labelling(gold)
    few = (*own, "--entities", "1")
    assert polyculture("swap", "sentiment", *few, "--draws", "1", cwd=tmp_path).returncode == 0
    assert len(server.asked) == 2 * len(CONTEXTS)
    assert polyculture("swap", "sentiment", *few, "--draws", "9", cwd=tmp_path).returncode == 0
    assert len(server.asked) == len(set(server.asked)) <= TEXTS
    drawn = "SELECT draw, native, count(*) FROM swap_answers GROUP BY ALL ORDER BY ALL"
    expected = [(draw, side, len(CONTEXTS)) for draw in range(9) for side in (False, True)]
    assert rows(tmp_path, drawn) == expected
    bought = rows(tmp_path, "SELECT sum(answers), sum(cost) FROM spending")
    assert bought == [(len(server.asked), pytest.approx(len(server.asked) * ANSWER))]
    # With a temperature each draw is an answer of its own, and the greedy ones count no more.
    before = len(server.asked)
    says_in_file(own[0], "sentiment", temperature=0.7)
    refused = one_line(polyculture("swap", "sentiment", *few, "--draws", "2", cwd=tmp_path))
    assert "sentiment prompt en: temperature was 0.0 and is now 0.7" in refused
    assert len(server.asked) == before
    more = ("--draws", "2", "--accept-changes")
    assert polyculture("swap", "sentiment", *few, *more, cwd=tmp_path).returncode == 0
    assert len(server.asked) - before == 2 * 2 * len(CONTEXTS)
    assert rows(tmp_path, "SELECT count(*) FROM swap_answers") == [(4 * len(CONTEXTS),)]
    assert rows(tmp_path, "SELECT count(*) FROM stored_swap_responses")[0][0] > 4 * len(CONTEXTS)


def test_what_does_not_parse_is_a_failed_row_with_the_answer(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    answers = {"ramen": "I would rather not say.", "pizza": "positive or negative"}

    def answer(body: Mapping[str, Any], before: int) -> Reply:
        text = body["messages"][-1]["content"].partition("Text: ")[2]
        odd = next((said for name, said in answers.items() if name in text), None)
        return says(odd or f"It is {gold(text)}.")

    server.behaviour = answer
    done = polyculture("swap", "sentiment", *own, cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "8 failed; the reasons are in the view failures" in done.stderr
    failed = "SELECT DISTINCT entity, raw, error, answer FROM swap_answers WHERE status = 'failed' ORDER BY ALL"
    assert rows(tmp_path, failed) == [
        ("pizza", "positive or negative", "the answer names 2 of the three labels: 'positive or negative'", None),
        ("ramen", "I would rather not say.", "the answer names 0 of the three labels: 'I would rather not say.'", None),
    ]
    query = (
        "SELECT native, western, difference, failed FROM swap_rates WHERE metric = 'accuracy' AND entity_type = 'food'"
    )
    assert rows(tmp_path, query) == [(1.0, 1.0, 0.0, 24)]


def test_an_answer_in_an_unknown_form_is_kept_and_read_by_a_later_version(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    server.behaviour = in_unknown_form(lambda asked: json.dumps({"sentiment": gold(asked.partition("Text: ")[2])}))
    says_in_file(tmp_path / "exp.toml", "stop", answers=0)
    assert polyculture("swap", "sentiment", *own, cwd=tmp_path).returncode == 6
    asked = len(server.asked)
    query = "SELECT DISTINCT status, raw, count(body) FROM stored_swap_responses GROUP BY ALL"
    assert rows(tmp_path, query) == [("failed", None, TEXTS)]
    with later_version():
        done = polyculture("swap", "sentiment", *own, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(server.asked) == asked
    accuracy = "SELECT DISTINCT estimate FROM numbers WHERE measure = 'sentiment' AND metric = 'accuracy'"
    assert rows(tmp_path, accuracy) == [(1.0,)]


def test_killed_and_run_again_nothing_that_was_paid_for_is_asked_again(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    server.behaviour, server.latency = labelling(gold), 0.05
    words = ("swap", "sentiment", *own, "--draws", "3")
    killed = begin_polyculture(*words, cwd=tmp_path)
    deadline = time.monotonic() + 120
    while len(server.asked) < 8 and time.monotonic() < deadline:
        time.sleep(0.02)
    killed.kill()
    killed.join()
    journal = next((tmp_path / "runs").rglob("journal.jsonl"), None)
    lines = journal.read_bytes().splitlines() if journal else []
    kept = {json.loads(line)["swap_responses"][0]["answer_id"] for line in lines}
    before = len(server.asked)
    done = polyculture(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    again = [prompt.partition("Text: ")[2] for prompt, _ in server.asked[before:]]
    assert len(again) == TEXTS - len(kept)
    assert max(Counter(again).values(), default=1) == 1
    assert rows(tmp_path, "SELECT count(*) FROM swap_answers") == [(3 * TEXTS,)]


@pytest.mark.parametrize(
    ("contexts", "told"),
    [
        (["en,Japanese,drink,neutral,positive,I loved the [MASK]."], "contexts.csv row 2: none of 1 contexts"),
        (["en,Japanese,food,neutral,good,I loved the [MASK]."], "no context has a sentiment"),
    ],
)
def test_a_data_set_that_cannot_be_asked_about_is_told(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...], contexts: list[str], told: str
) -> None:
    write_table(tmp_path / "contexts.csv", "language,culture,type,setting,sentiment,context", contexts)
    assert told in one_line(polyculture("swap", "sentiment", *own, cwd=tmp_path))
    assert not server.asked


def test_texts_in_any_language_are_asked_about_in_english_or_by_a_prompt_of_ones_own(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    for name in ("contexts.csv", "entities.csv"):
        file = tmp_path / name
        file.write_text(file.read_text().replace("en,", "sw,"), encoding="utf-8")
    server.behaviour = labelling(gold)
    done = polyculture("swap", "sentiment", *own, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "prompts in English ask about texts in sw; `prompts` under [sentiment] names your own" in done.stderr
    assert server.asked[0][0].startswith("Which sentiment does the writer")
    mine = tmp_path / "mine"
    mine.mkdir()
    says_in_file(own[0], "sentiment", prompts="mine")
    told = one_line(polyculture("swap", "sentiment", *own, cwd=tmp_path))
    assert "mine/sw.toml: there is no prompt for texts in 'sw'" in told
    (mine / "sw.toml").write_text("", encoding="utf-8")
    told = one_line(polyculture("swap", "sentiment", *own, cwd=tmp_path))
    assert "mine/sw.toml: asks in 'sw' and lacks [sentiment]" in told
    # What another task asks by, it may leave out; how words of Swahili are compared, it may say.
    prompt = 'prompt = "Maandishi haya ni chanya, hasi au wastani? Text: {text}"'
    labels = 'labels = { positive = "chanya", negative = "hasi", neutral = "wastani" }'
    words = '[words.sw]\ntitles = ["Bwana"]'
    (mine / "sw.toml").write_text(f"[sentiment]\n{prompt}\n{labels}\n{words}\n", encoding="utf-8")
    server.behaviour = labelling(lambda text: {"positive": "chanya", "negative": "hasi"}.get(gold(text), "wastani"))
    done = polyculture("swap", "sentiment", *own, "--accept-changes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "prompts in English" not in done.stderr
    assert server.asked[-1][0].startswith("Maandishi haya")
    assert rows(tmp_path, "SELECT DISTINCT wording, matched FROM swap_answers") == [("own", 1)]


def test_answers_in_one_language_stay_when_another_is_asked(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    """They were taken for another prompt of the same, and were in no number."""
    for name in ("contexts.csv", "entities.csv"):
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        more = [line.replace("en,", "de,", 1).replace(" the ", " das ") for line in lines if line.startswith("en,")]
        write_table(tmp_path / name, lines[0], [*lines[1:], *more])
    server.behaviour = lambda *_: says('{"answer": "ramen"}')
    for language in ("en", "de"):
        done = polyculture("swap", "qa", *own, "--draws", "1", "--language", language, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert rows(tmp_path, "SELECT language, count(*) FROM swap_answers GROUP BY ALL ORDER BY 1") == [
        ("de", 10),
        ("en", 10),
    ]


def test_a_corrected_label_counts_at_once_and_other_settings_are_other_answers(
    tmp_path: Path, server: StubServer, own: tuple[Path, ...]
) -> None:
    server.behaviour = labelling(lambda _: "negative")
    words = ("swap", "sentiment", *own, "--draws", "1")
    assert polyculture(*words, cwd=tmp_path).returncode == 0
    asked = len(server.asked)
    contexts = tmp_path / "contexts.csv"
    contexts.write_text(contexts.read_text().replace("positive", "negative"), encoding="utf-8")
    said = polyculture(*words, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    assert len(server.asked) == asked
    found = "SELECT DISTINCT gold, matched FROM swap_answers WHERE gold <> 'neutral' ORDER BY ALL"
    assert rows(tmp_path, found) == [("negative", 1)]
    experiment = own[0]
    experiment.write_text(
        experiment.read_text().replace("[options.openai]", "[options.openai]\nextra_body = {min_p = 0.1}")
    )
    refused = one_line(polyculture(*words, cwd=tmp_path))
    assert f"extra_body was not set and is now {{'min_p': 0.1}}. To be redone: {asked} answers" in refused
    assert len(server.asked) == asked
    told = polyculture(*words, "--accept-changes", cwd=tmp_path).stderr
    assert (
        f"extra_body was not set and is now {{'min_p': 0.1}}. {asked} answers of the last run are no longer current"
        in told
    )
    assert len(server.asked) == 2 * asked
    assert rows(tmp_path, "SELECT count(*) FROM swap_answers") == [(asked,)]
    bought = rows(tmp_path, "SELECT sum(answers), sum(cost) FROM spending")
    assert bought == [(2 * asked, pytest.approx(2 * asked * ANSWER))], "what counts no more was paid for all the same"


def test_a_demo_with_a_data_set_beside_it_is_a_mistake_of_usage(tmp_path: Path) -> None:
    for command in (("cbs",), ("swap", "qa")):
        told = one_line(polyculture(*command, "--demo", "--data", "camellia", cwd=tmp_path))
        assert "--demo has models and texts of its own: leave out --data" in told
    assert not list(tmp_path.iterdir())
