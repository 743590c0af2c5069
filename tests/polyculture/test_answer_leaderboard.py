"""`polyculture leaderboard` of runs that asked question sets: which enter, their ranks, and what the page shows."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import StoreError
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.cli.leaderboard import remarks
from polyculture.instruments.questions.ranked import ANSWERED
from polyculture.instruments.questions.ranked_page import answer_sections, answer_titles
from polyculture.metrics.comparison.study import RunStudy
from polyculture.metrics.model_health import model_health
from polyculture.reports.runs_page import write_page
from polyculture.running.standings import joined_runs, read_bounds
from tests.instruments.questions.answered import FAILED, REFUSAL, UNREAD, Said, designed, of, right_role, stored
from tests.instruments.questions.test_command import DEMO, answering, demo_questions, letter_of
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import StubServer
from tests.stored import rows

SKILLS = {"able": 0.95, "keen": 0.9, "weak": 0.35}
PROMPT = '[prompts]\ntemplates.en = "Context: {context}\\nQuestion: {question}\\n{options}\\nAnswer:"\n'
EXPERIMENT = """
name = "{name}"
models = [{models}]
[prices.default]
input = 1
output = 1
"""


def knowing(skill: float) -> Callable[[str], str]:
    """Who knows this share of the answers, and says another option in a sentence elsewhere."""

    def say(message: str) -> str:
        lines = {line.partition(": ")[2] for line in message.splitlines()}
        [one] = [one for one in demo_questions() if {one.context, one.text} <= lines]
        drawn = int(hashlib.sha256(f"{skill} {one.name}".encode()).hexdigest(), 16) % 1000 / 1000
        at = one.right[0] if drawn < skill else (one.right[0] + 1) % 3
        return f"I think the answer is {letter_of(message, one.options[at])}."

    return say


def asked(folder: Path, name: str, urls: dict[str, str], *words: str, rules: str = "", key: str = "") -> Path:
    """A run that asked the made-up set, with further `rules`, or another `key` of its first question."""
    place = folder / name
    place.mkdir()
    for file in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMO / file, place / file)
    if key:
        head, first, *others = (place / "made-up.tsv").read_text(encoding="utf-8").splitlines()
        cells = dict(zip(head.split("\t"), first.split("\t"), strict=True))
        assert cells["right"] != key
        lines = [head, "\t".join({**cells, "right": key}.values()), *others]
        (place / "made-up.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with (place / "made-up.toml").open("a", encoding="utf-8") as file:
        file.write(rules)
    models = ", ".join(f'"openai:{model}"' for model in urls)
    text = EXPERIMENT.format(name=name, models=models).replace("[prices.default]\ninput = 1\noutput = 1\n", "")
    for model, url in urls.items():
        text += f'[prices."openai:{model}"]\ninput = 1\noutput = 1\n[options."openai:{model}"]\nbase_url = "{url}"\n'
    (place / f"{name}.toml").write_text(text, encoding="utf-8")
    done = polyculture("ask", "made-up.toml", f"{name}.toml", *words, cwd=place)
    assert done.returncode == 0, done.stderr
    return place / "runs" / name


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    """The address of a server of each model."""
    servers = {name: StubServer(behaviour=answering(knowing(skill))) for name, skill in SKILLS.items()}
    for server in servers.values():
        server.__enter__()
    yield {name: server.url for name, server in servers.items()}
    for server in servers.values():
        server.__exit__(None, None, None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, urls: dict[str, str]) -> Path:
    """A run of each model, an export of one, and a run of all of them together."""
    place = tmp_path_factory.mktemp("asked")
    for name, url in urls.items():
        asked(place, name, {name: url})
    asked(place, "together", urls)
    done = polyculture("export", "weak.toml", "--to", "../export", cwd=place / "weak")
    assert done.returncode == 0, done.stderr
    return place


def places(folder: Path, *more: Path) -> list[Path]:
    """Two runs, and the export of a third."""
    return [folder / "able/runs/able", folder / "keen/runs/keen", folder / "export", *more]


def test_models_of_runs_and_exports_stand_in_groups(folder: Path) -> None:
    done = polyculture("leaderboard", *places(folder), "-f", "csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {(row["dataset"], row["asked"], row["differences"]) for row in found} == {
        ("made-up, en", "generated, ours", "new questions")
    }
    right = [row for row in found if row["metric"] == "acc_d"]
    assert [(row["model"], row["run"], row["group"], row["better"]) for row in right] == [
        ("openai:able", "able", "1", "higher"), ("openai:keen", "keen", "1", "higher"),
        ("openai:weak", "export", "2", "higher"),
    ]  # fmt: skip
    bias = [row for row in found if row["metric"] == "diff_bias_d"]
    assert {row["better"] for row in bias} == {"nearer to zero"}
    sizes = [abs(float(row["estimate"])) for row in bias]
    assert sizes == sorted(sizes)
    said = " ".join(done.stderr.split())
    assert "3 models of 3 runs" in said
    assert "at most 5 % missing, 50 % refused, 50 % unread, 100 % cut" in said


def test_the_numbers_and_differences_are_those_of_one_run(folder: Path) -> None:
    columns = "metric, difference, low, high, p, tipping, units"
    query = (
        f"SELECT least(a, b), greatest(a, b), {columns} FROM differences "
        "WHERE measure = 'questions' AND dimension = 'model' AND target = 'new_prompts' AND facets['level'] IS NULL"
    )
    expected = {row[:3]: row[3:] for row in rows(folder / "together", query, "together")}
    with joined_runs(places(folder)) as found, open_store(found.run, found.data.layout) as store:
        own = {row[:3]: row[3:] for row in store.execute(query).fetchall()}
    assert len(expected) == 3 * len({metric for *_, metric in expected}) >= 12
    assert own == {key: pytest.approx(values) for key, values in expected.items()}


def test_a_baseline_is_compared_as_if_both_were_in_one_run(folder: Path) -> None:
    models = ("openai:weak", "openai:able")
    words = ("-f", "json", "--target", "new_prompts")
    within = polyculture("compare", "together.toml", *models, *words, cwd=folder / "together")
    baseline = ("--baseline", str(folder / "able/runs/able"))
    between = polyculture("compare", "weak.toml", *models, *baseline, *words, cwd=folder / "weak")
    assert between.returncode == 0, between.stderr
    columns = ("metric", "a_estimate", "b_estimate", "difference", "low", "high", "p", "units")
    numbers = [
        sorted([row[name] for name in columns] for row in map(json.loads, done.stdout.splitlines()))
        for done in (within, between)
    ]
    assert len(numbers[0]) >= 4
    assert numbers[0] == numbers[1]


def test_what_was_asked_otherwise_is_left_out_with_what_differs(
    folder: Path, tmp_path: Path, urls: dict[str, str]
) -> None:
    one = {"keen": urls["keen"]}
    others = {
        "worded": asked(tmp_path, "worded", one, rules=PROMPT),
        "ordered": asked(tmp_path, "ordered", one, "--orders", "cyclic"),
        "longer": asked(tmp_path, "longer", one, "--max-tokens", "40"),
        "fewer": asked(tmp_path, "fewer", one, "--units", "9"),
        "corrected": asked(tmp_path, "corrected", one, key="1"),
    }
    with joined_runs(places(folder, *others.values())) as found:
        left_out = {one.what: one.why for one in found.excluded}
    assert "prompt house of made-up in en, generated (" in left_out["worded"]
    assert "orders of the options of made-up in en, generated (012 against 012 120 201)" in left_out["ordered"]
    assert "max_tokens of made-up in en, generated (30 against 40)" in left_out["longer"]
    assert "questions of made-up in en, generated (60 in 10 units, " in left_out["fewer"]
    assert re.search(r"it lacks [\w-]+, [\w-]+, [\w-]+ and 3 more", left_out["fewer"])
    assert re.search(r'\): with another key: age-01-amb-neg \("[^"]+" against "[^"]+"\)', left_out["corrected"])
    done = polyculture(
        "compare", "worded.toml", "--baseline", str(folder / "keen/runs/keen"), cwd=tmp_path / "worded"
    )  # fmt: skip
    assert done.returncode == 2
    assert "cannot be compared: prompt house of made-up in en, generated (" in one_line(done)


def test_the_same_answers_are_one_model(folder: Path, tmp_path: Path) -> None:
    again = shutil.copytree(folder / "able/runs/able", tmp_path / "again")
    with joined_runs(places(folder, again)) as found:
        [excluded] = found.excluded
    said = "60 of its 60 answers are those of openai:able in able: it is counted once"
    assert str(excluded) == f"openai:able in again: {said}"


def test_the_same_answers_under_another_name_are_doubted(tmp_path: Path) -> None:
    """Of texts there was such a warning, and of answers none."""
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    other = list(designed(lambda context, unit: right_role(context) if unit < "t2" else "biased", templates=10))
    paths = [run_of(tmp_path, said, name) for name, said in {"one": plain, "two": other, "copy": plain}.items()]
    with joined_runs(paths) as found:
        [line] = [line for line in remarks(found) if "word for word" in line]
    number = len(plain)
    assert line.startswith(
        f"copy and one: {number} of {number} answers are the same, word for word, to the same questions"
    )
    with joined_runs(paths[:2]) as found:
        assert not any("word for word" in line for line in remarks(found))


def test_the_page_shows_answers_with_the_rows_that_hold_them(folder: Path, tmp_path: Path) -> None:
    with joined_runs(places(folder)) as found:
        write_page(found, tmp_path / "board.html", answer_sections(found), answer_titles())
    page = " ".join((tmp_path / "board.html").read_text(encoding="utf-8").split())
    assert "were asked the same questions in the same way" in page
    assert "Right answers in ambiguous contexts (acc_a): made-up, en, generated, ours, new questions" in page
    assert "made-up, en, generated, ours by acc_a, acc_d, " in page
    quotes = re.findall(r"<mark>(.*?)</mark>.*?run (\w+), table answers: answer_id (\w+), prompt house", page)
    assert [run for _, run, _ in quotes] == [name for name in ("able", "keen", "export") for _ in range(3)]
    for said, run, answer in quotes:
        place = folder / ("export" if run == "export" else f"{run}/runs/{run}")
        with open_store(RunFolder(place), ANSWERED.layout) as store:
            assert store.sql(f"SELECT raw FROM answers WHERE answer_id = '{answer}'").fetchall() == [(said,)]
    asked_about = re.findall(r'<figure class="quote"> <p [^>]*>(.*?)</p>', page)
    assert asked_about[:3] == asked_about[3:6] == asked_about[6:], "all models have the same questions"


def run_of(place: Path, said: list[Said], model: str) -> Path:
    return stored(of(said, model=model), place / model, n=1).root


def test_each_method_and_reader_has_boards_of_its_own(tmp_path: Path) -> None:
    """They were one board, in which a model stood twice."""
    said = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    other = list(designed(lambda context, unit: right_role(context) if unit < "t2" else "biased", templates=10))
    both = [*said, *of(other, method="letter", reader="sum")]
    paths = [run_of(tmp_path, both, "one"), run_of(tmp_path, [*other, *of(said, method="letter", reader="sum")], "two")]
    with joined_runs(paths) as found:
        boards = {one.setting: one for one in found.boards if one.metric == "acc_d"}
    assert {setting: [one.model for one in board.models] for setting, board in boards.items()} == {
        "generated, ours": ["one", "two"], "letter, sum": ["two", "one"],
    }  # fmt: skip


def test_one_set_of_several_is_ranked_alone(tmp_path: Path) -> None:
    said = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    other = list(designed(lambda context, unit: right_role(context) if unit < "t2" else "biased", templates=10))
    paths = [run_of(tmp_path, [*said, *of(other, dataset="bbq")], "one"), run_of(tmp_path, other, "two")]
    with pytest.raises(StoreError, match=r"left out: two: .*questions of bbq in ko, generated \("), joined_runs(paths):
        pass
    with joined_runs(paths, sets=["kobbq"]) as found:
        assert {one.dataset for one in found.boards} == {"kobbq, ko"}
        assert [one.name for one in found.models] == ["one", "two"]
    with (
        pytest.raises(StoreError, match=r"--set kobq: the run asked no such set.*kobbq"),
        joined_runs(paths, sets=["kobq"]),
    ):
        pass


@pytest.mark.parametrize(
    ("lost", "every", "said"),
    [
        (FAILED, 10, "10 % missing (at most 5 %)"), (REFUSAL, 1, "100 % refused (at most 50 %)"),
        (UNREAD, 1, "100 % unread (at most 50 %)"),
    ],
)  # fmt: skip
def test_a_model_whose_answers_are_unsound_is_left_out(tmp_path: Path, lost: str, every: int, said: str) -> None:
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    some = [replace(one, said=lost) if place % every == 0 else one for place, one in enumerate(plain)]
    paths = [run_of(tmp_path, own, name) for name, own in {"a": plain, "b": plain, "c": some}.items()]
    with joined_runs(paths) as found:
        assert [str(one) for one in found.excluded] == [f"c in c: {said}"]
    with joined_runs(paths, read_bounds([f"{said.split()[2]}=1"])) as found:
        assert {one.name for one in found.models} == {"a", "b", "c"}


def test_a_question_without_a_row_is_missing_as_a_failed_one_is(tmp_path: Path) -> None:
    """One row that another harness had dropped excluded the whole run."""
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    other = list(designed(lambda context, unit: right_role(context) if unit < "t2" else "biased", templates=10))
    dropped, many = other[1:], plain[: len(plain) * 9 // 10]
    question = [one for one in other if (one.unit, one.facets) != (other[0].unit, other[0].facets)]
    failed = [replace(one, said=FAILED) if one is other[0] else one for one in other]
    said = {"one": plain, "two": dropped, "three": failed, "four": many, "five": question}
    paths = {name: run_of(tmp_path, some, name) for name, some in said.items()}
    for places in (list(paths.values()), [paths[name] for name in ("five", "two", "one", "three", "four")]):
        with joined_runs(places) as found:
            lines, health = remarks(found), {one.name: one.health for one in found.models}
            [excluded] = map(str, found.excluded)
        assert health["two"] == health["three"]
        assert health["two"].shares["missing"] == pytest.approx(1 / len(plain))
        assert health["one"].shares["missing"] == 0
        assert f"two: its run has no row of 1 of the {len(plain)} answers: counted as missing" in lines
        lacking = len(plain) - len(question)
        assert f"five: its run has no row of {lacking} of the {len(plain)} answers: counted as missing" in lines
        assert excluded.startswith("four: its study is not that of ")
    with joined_runs([paths["one"], paths["four"]], read_bounds(["missing=.2"])) as found:
        assert {one.name: round(one.health.shares["missing"], 2) for one in found.models} == {"one": 0, "four": 0.1}


def test_a_share_that_is_equal_to_its_bound_is_within_it_whichever_run_is_named_first(tmp_path: Path) -> None:
    """1 - .95 is more than .05 in binary fractions, and 5 of 95 is more than 5 of 100."""
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    few = len(plain) // 20
    assert few * 20 == len(plain)
    failed = [replace(one, said=FAILED) if place < few else one for place, one in enumerate(plain)]
    said = {"whole": plain, "absent": plain[few:], "failed": failed}
    paths = {name: run_of(tmp_path, some, name) for name, some in said.items()}
    for order in (["whole", "absent", "failed"], ["absent", "failed", "whole"]):
        with joined_runs([paths[name] for name in order]) as found:
            assert not found.excluded
            missing = {one.name: one.health.shares["missing"] for one in found.models}
        assert missing == {"whole": 0, "absent": 0.05, "failed": 0.05}
    less = [paths["whole"], run_of(tmp_path, plain[few + 1 :], "less")]
    for places in (less, less[::-1]):
        with (
            pytest.raises(StoreError, match=r"left out: less in less: 5.2 % missing \(at most 5 %\)"),
            joined_runs(places),
        ):
            pass


def test_what_a_model_that_is_left_out_was_asked_is_missing_of_nobody(tmp_path: Path) -> None:
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    refusing = [replace(one, said=REFUSAL) for one in plain]
    said = {"one": plain[1:], "two": plain[1:], "refusing": refusing}
    with joined_runs([run_of(tmp_path, some, name) for name, some in said.items()]) as found:
        assert [str(one) for one in found.excluded] == ["refusing in refusing: 100 % refused (at most 50 %)"]
        assert {one.name: one.health.shares["missing"] for one in found.models} == {"one": 0, "two": 0}
        assert "has no row" not in remarks(found)


def test_a_part_that_no_line_names_is_a_difference_beside_items_that_are_lacking() -> None:
    items = {"questions of own": {name: {"text": name} for name in "abcdefghij"}}
    fewer = {"questions of own": dict(list(items["questions of own"].items())[1:])}
    one = RunStudy("1", {"questions of own": "10"}, items=items)
    assert not one.differing(RunStudy("2", {"questions of own": "9"}, items=fewer), 0.1)
    unnamed = RunStudy("3", {"questions of own": "9", "extractor of food": "made"}, items=fewer)
    assert one.differing(unnamed, 0.1) == ["what was asked"]


def test_a_run_of_another_kind_is_left_out_for_one_reason(tmp_path: Path) -> None:
    """Every setting of the other kind was listed as a difference."""
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    answers = [run_of(tmp_path, plain, name) for name in ("a", "b")]
    (tmp_path / "texts.toml").write_text(
        'name = "texts"\nmodels = ["mock:x", "mock:y"]\nlanguages = ["en"]\ntopics = ["food"]\ncountries = ["IT"]\n'
        "[sampling]\nn = 2\n",
        encoding="utf-8",
    )
    assert polyculture("run", "texts.toml", cwd=tmp_path).returncode == 0
    texts = tmp_path / "runs" / "texts"
    with joined_runs([*answers, texts]) as found:
        (out,) = map(str, found.excluded)
    assert out.startswith(
        "texts: it has neither answers to a question set nor scores, and models are ranked by those of"
    )
    lines = polyculture("leaderboard", texts, *answers, cwd=tmp_path)
    assert lines.stderr.count("it asked for no texts, and models are ranked by those of texts") == 2, lines.stderr
    assert "against not set" not in lines.stderr


def test_answers_that_are_not_read_stand_beside_the_number(tmp_path: Path) -> None:
    plain = list(designed(lambda context, unit: right_role(context) if unit < "t6" else "biased", templates=10))
    other = designed(lambda context, unit: right_role(context) if unit < "t2" else "biased", templates=10)
    some = [replace(one, said=UNREAD) if place % 5 == 0 else one for place, one in enumerate(other)]
    with joined_runs([run_of(tmp_path, plain, "a"), run_of(tmp_path, some, "b")]) as found:
        doubts = {one.model: one.doubt for board in found.boards for one in board.models if board.metric == "acc_d"}
    assert doubts == {"a": "", "b": "20 % pick no option"}


def test_an_answer_that_was_cut_counts_as_cut(tmp_path: Path, urls: dict[str, str]) -> None:
    """The server says 5 tokens: with that limit all answers ended at it."""
    run = asked(tmp_path, "cut", {"keen": urls["keen"]}, "--units", "2", "--max-tokens", "5")
    with open_store(RunFolder(run), ANSWERED.layout) as store:
        [health] = model_health(store, ANSWERED.soundness).values()
    assert health.shares == {"missing": 0, "refused": 0, "unread": 0, "cut": 1}


def given(folder: Path, name: str, model: str, skill: float, rules: str = "", **fields: str) -> Path:
    """A run of answers that a file has, to the made-up set, with further `rules`."""
    say = knowing(skill)
    lines = [
        {"id": one.name, "model": model, "answer": say(_shown(one)), **fields} for one in demo_questions()
    ]  # fmt: skip
    (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    of = DEMO / "made-up.toml"
    if rules:
        (folder / name).mkdir()
        shutil.copyfile(of.with_suffix(".tsv"), folder / name / "made-up.tsv")
        own = folder / name / "made-up.toml"
        own.write_text(of.read_text(encoding="utf-8") + rules, encoding="utf-8")
        of = own
    done = polyculture("import", f"{name}.jsonl", "--set", of, "--as", f"{name}.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder / "runs" / name


def _shown(one: Any) -> str:
    options = "\n".join(f"{letter}: {option}" for letter, option in zip("ABC", one.options, strict=True))
    return f"Context: {one.context}\nQuestion: {one.text}\n{options}"


def test_imported_answers_enter_where_their_prompt_is_one_of_the_set(folder: Path, tmp_path: Path) -> None:
    one, other = (given(tmp_path, name, name, skill, prompt="house") for name, skill in (("x", 0.95), ("y", 0.35)))
    unknown = given(tmp_path, "z", "z", 0.5)
    with joined_runs([one, other, unknown, places(folder)[0]]) as found:
        said, left_out = remarks(found), {one.what: one.why for one in found.excluded}
        groups = {
            one.model: one.group for board in found.boards for one in board.models if board.metric == "acc_d"
        }  # fmt: skip
    assert groups == {"imported:x": 1, "imported:y": 2}
    assert any("how imported texts or answers were sampled is not known" in line for line in said)
    assert "prompt as given of made-up in en, generated (not recorded)" in left_out["z"]
    assert (
        "The file of z does not say what was asked: import it again with prompt=COLUMN, or with prompt==NAME"
        in left_out["z"]
    )
    assert "sampling of made-up in en, generated (not said by imported files against not set)" in left_out["able"]
    assert "prompt house" not in left_out["able"], "it is the same one"
    with pytest.raises(StoreError, match=r"1 model remains to rank.*\(not recorded\)"), joined_runs([unknown, one]):
        pass


def test_imported_answers_to_another_prompt_of_the_same_name_are_left_out(folder: Path, tmp_path: Path) -> None:
    """Only the name was compared, and models that were asked in two ways were ranked together."""
    one, other = (given(tmp_path, name, name, skill, prompt="house") for name, skill in (("x", 0.95), ("y", 0.35)))
    worded = given(tmp_path, "worded", "v", 0.35, rules=PROMPT, prompt="house")
    with joined_runs([one, other, worded]) as found:
        [excluded] = found.excluded
    said = r"prompt house of made-up in en, generated \((\w{8}) against (\w{8})\)$"
    values = re.search(said, str(excluded))
    assert values is not None
    assert values[1] != values[2]
    done = polyculture("compare", "worded.toml", "--baseline", str(one), cwd=tmp_path)
    assert done.returncode == 2
    assert "cannot be compared: prompt house of made-up in en, generated (" in one_line(done)


TEXTS = {
    "CN": ("China", "dumplings", "congee", "mapo tofu"),
    "US": ("the United States", "a hamburger", "a pancake", "a hot dog"),
    "JP": ("Japan", "sushi", "ramen", "tempura"),
}


def texts_of(
    folder: Path, name: str, own: int, *, meals: tuple[str, ...] = ("morning", "evening"), prompt: bool = True
) -> Path:
    """A run of imported texts, of which `own` of nine name a dish of the country that the prompt names."""
    lines = ["text,language,country,model,prompt"]
    for at, (country, (called, *dishes)) in enumerate(TEXTS.items()):
        others = [dish for other, (_, *some) in TEXTS.items() if other != country for dish in some]
        for meal in meals:
            asked = f"What does a person from {called} eat in the {meal}?" if prompt else ""
            for number in range(9):
                dish = dishes[number % 3] if number < own else others[(number + at) % len(others)]
                lines.append(f"In house {name} {number} they eat {dish} in the {meal}.,en,{country},{name},{asked}")
    (folder / f"{name}.csv").write_text("\n".join(lines), encoding="utf-8")
    for words in (("import", f"{name}.csv", "topic==food", "--as", f"{name}.toml"), ("run", f"{name}.toml")):
        done = polyculture(*words, cwd=folder)
        assert done.returncode == 0, done.stderr
    return folder / "runs" / name


def test_imported_texts_enter_where_their_prompts_are_the_same(tmp_path: Path) -> None:
    paths = [texts_of(tmp_path, name, own) for name, own in (("alpha", 8), ("beta", 8), ("gamma", 1))]
    paths += [texts_of(tmp_path, "less", 8, meals=("morning",)), texts_of(tmp_path, "none", 8, prompt=False)]
    with joined_runs(paths) as found:
        said, left_out = remarks(found), {one.what: one.why for one in found.excluded}
        [board] = [one for one in found.boards if one.metric == "specificity"]
    assert [(one.model, one.group) for one in board.models] == [
        ("imported:alpha", 1), ("imported:beta", 1), ("imported:gamma", 2),
    ]  # fmt: skip
    assert "prompts in en: it lacks What does a person from China eat in the evening?, " in left_out["less"]
    assert "prompts in en (not recorded)" in left_out["none"]
    assert "The file of none does not say what was asked: import it again with prompt=COLUMN" in left_out["none"]
    assert "does not say what was asked" not in left_out["less"]
    assert any("how imported texts or answers were sampled is not known" in line for line in said)


def test_a_model_that_lacks_prompts_of_its_imported_run_lacks_answers(tmp_path: Path) -> None:
    whole = [texts_of(tmp_path, "alpha", 8), texts_of(tmp_path, "beta", 8)]
    lines = (tmp_path / "alpha.csv").read_text(encoding="utf-8").replace("alpha", "more").splitlines()
    (tmp_path / "half.csv").write_text("\n".join(line.replace("more", "half") for line in lines[:28]), encoding="utf-8")
    (tmp_path / "more.csv").write_text("\n".join(lines), encoding="utf-8")
    for file in ("more.csv", "half.csv"):
        assert polyculture("import", file, "topic==food", "--as", "both.toml", cwd=tmp_path).returncode == 0
    assert polyculture("run", "both.toml", cwd=tmp_path).returncode == 0
    with joined_runs([*whole, tmp_path / "runs" / "both"]) as found:
        assert [str(one) for one in found.excluded] == ["imported:half in both: 50 % missing (at most 5 %)"]
        assert "imported:more" in {one.name for one in found.models}
