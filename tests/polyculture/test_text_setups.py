"""Another server's texts, or another file's, are never taken for this one's; and nothing is bought twice."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import ChangedExperimentError, ExperimentError
from polyculture.cache.store.manifest import CurrentId, require_run
from polyculture.instruments.contract import Validity
from polyculture.running.estimate import estimates
from polyculture.running.opening import open_workspace
from polyculture.running.texts import record_versions
from polyculture.running.validity import Proposal, make_valid
from tests.extract_engines import answer
from tests.polyculture.test_command_line import polyculture
from tests.quick_start import begin_polyculture
from tests.servers import Reply, StubServer, failure
from tests.stages import do_stages, prepare, texts_of
from tests.stored import rows

EXPERIMENT = """name = "{name}"
models = [{models}]
languages = ["en"]
topics = ["food"]
countries = ["IT", "JP"]
conditions = ["neutral", "explicit"]
[sampling]
n = {n}
max_tokens = 16
[extract]
with = "{extractor}"
[options.openai]
base_url = "{url}"
{more}
"""
PROMPTS = 3
REFUSED = ChangedExperimentError.exit_code


class Saying(StubServer):
    """A server whose texts begin with its own word; asked for JSON, it finds that word in the text, or none."""

    def __init__(self, word: str, **others: Any) -> None:
        super().__init__(behaviour=self._say, **others)
        self.word = word

    def _say(self, body: Mapping[str, Any], _before: int) -> Reply:
        said = f"{self.word} eats pizza and sushi, number {body.get('seed')}."
        if "response_format" in body:
            said = answer((self.word, "dish")) if self.word != "nobody" else answer(("pizza", "dish"))
        message = {"role": "assistant", "content": said}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 7, "completion_tokens": 5}
        return Reply(body=json.dumps({"model": f"{self.word}-1", "choices": [choice], "usage": usage}).encode())

    @property
    def times(self) -> int:
        return len(self.bodies)


@pytest.fixture
def anna() -> Iterator[Saying]:
    with Saying("Anna") as server:
        yield server


@pytest.fixture
def berta() -> Iterator[Saying]:
    with Saying("Berta") as server:
        yield server


def write(
    folder: Path,
    server: StubServer,
    more: str = "",
    *,
    n: int = 5,
    name: str = "texts",
    models: str = '"openai:m"',
    extractor: str = "gazetteer",
) -> Path:
    file = folder / f"{name}.toml"
    told = EXPERIMENT.format(name=name, models=models, n=n, extractor=extractor, url=server.url, more=more)
    file.write_text(told, encoding="utf-8")
    return file


def run(file: Path, *words: str, command: str = "", code: int = 0) -> str:
    """What a stage, `plan` or `run` tells of its work; without one, the stages that ask."""
    told = ""
    for one in [command] if command else ["generate", "extract"]:
        stage = (one,) if one in ("plan", "run") else ("run", "--only", one)
        done = polyculture(*stage, file, *words, cwd=file.parent)
        assert done.returncode == code, done.stderr
        told += done.stderr
        if code:
            break
    return told


def lefts(file: Path) -> list[int]:
    """What `plan` says is left, per stage."""
    ready = open_workspace(file)
    return [estimate.left for estimate in estimates(ready, texts_of(ready))]


def speakers(file: Path) -> dict[str, int]:
    """How many of the current texts each server wrote; every room must count the same ones."""
    found = dict(rows(file, "SELECT split_part(text, ' ', 1), count(*) FROM responses GROUP BY 1 ORDER BY 1"))
    # Two queries: planning one that asks several views at once takes DuckDB seconds.
    [(health, evident, counted)] = rows(file, "SELECT sum(answered), sum(extracted), sum(mentions) FROM health")
    [(cells, extracted, stray, linked)] = rows(
        file,
        """SELECT (SELECT count(*) FROM cell_answers), (SELECT count(*) FROM extractions),
            (SELECT count(*) FROM mentions ANTI JOIN responses USING (response_id)),
            (SELECT count(*) FROM linked_mentions SEMI JOIN responses USING (response_id))""",
    )
    assert health == sum(found.values())
    assert (cells, stray) == (PROMPTS, 0)
    assert extracted == evident == health
    assert counted == linked
    return found


@pytest.mark.slow
def test_another_server_is_refused_and_accepted_it_writes_everything_anew(
    tmp_path: Path, anna: Saying, berta: Saying
) -> None:
    file = write(tmp_path, anna)
    run(file)
    assert speakers(file) == {"Anna": 5 * PROMPTS}
    write(tmp_path, berta, n=8)
    for command in ("plan", "run", "generate"):
        told = run(file, command=command, code=REFUSED)
        assert told.count("\n") == 1
        assert f"openai:m: base_url was '{anna.url}' and is now '{berta.url}'" in told
        assert f"{5 * PROMPTS} responses, and" in told
        assert "--accept-changes" in told
        assert "`deployment`" in told
    assert berta.times == 0
    assert speakers(file) == {"Anna": 5 * PROMPTS}, "what was refused changes nothing"
    assert str(8 * PROMPTS) in polyculture("plan", file, "--accept-changes", cwd=tmp_path).stdout
    run(file, "--accept-changes")
    assert speakers(file) == {"Berta": 8 * PROMPTS}
    assert (anna.times, berta.times) == (5 * PROMPTS, 8 * PROMPTS)
    assert rows(file, "SELECT sum(answers) FROM spending WHERE stage = 'generate'") == [(13 * PROMPTS,)]
    assert rows(file, "SELECT setup FROM run_setups WHERE use = 'sample'") == [(json.dumps({"base_url": berta.url}),)]
    assert rows(file, "SELECT setup FROM former_setups") == [(json.dumps({"base_url": anna.url}),)]
    made = "SELECT split_part(text, ' ', 1), count(DISTINCT request_id) FROM stored_responses GROUP BY 1 ORDER BY 1"
    assert rows(file, made) == [("Anna", PROMPTS), ("Berta", PROMPTS)]
    write(tmp_path, anna)
    told = run(file)
    assert "base_url was" in told
    assert speakers(file) == {"Anna": 5 * PROMPTS}
    assert (anna.times, berta.times) == (5 * PROMPTS, 8 * PROMPTS), "what is on disk is bought again"


@pytest.mark.parametrize("more", ["extra_body = { style = 'curt' }", "deployment = 'elsewhere'"])
def test_what_can_change_a_text_is_refused(tmp_path: Path, anna: Saying, more: str) -> None:
    file = write(tmp_path, anna)
    run(file, command="generate")
    write(tmp_path, anna, more)
    assert more.split()[0] in run(file, code=REFUSED)
    run(file, "--accept-changes", command="generate")
    assert anna.times == 2 * 5 * PROMPTS
    write(tmp_path, anna, more.replace("'curt'", "'terse'").replace("elsewhere", anna.url))
    again = "curt" in more
    assert ("was {'style': 'curt'} and is now {'style': 'terse'}" in run(file, code=REFUSED if again else 0)) == again


def test_what_cannot_change_a_text_asks_nothing(tmp_path: Path, anna: Saying, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANOTHER_KEY", "another-key-for-the-same-server")
    file = write(tmp_path, anna)
    run(file)
    more = "concurrency = 2\ndeadline = 9.0\nmax_retries = 1\napi_key_env = 'ANOTHER_KEY'"
    write(tmp_path, anna, more)
    assert "is now" not in run(file, command="plan")
    run(file)
    assert anna.times == 5 * PROMPTS
    write(tmp_path, anna, more, n=6)
    run(file)
    assert anna.times == 6 * PROMPTS


def test_a_server_that_moves_keeps_its_texts(tmp_path: Path, anna: Saying) -> None:
    file = write(tmp_path, anna)
    run(file)
    with Saying("Anna") as moved:
        write(tmp_path, moved, f"deployment = '{anna.url}'", n=6)
        run(file)
        assert moved.times == PROMPTS
        assert speakers(file) == {"Anna": 6 * PROMPTS}


def test_a_wrong_address_that_never_answered_is_corrected_without_a_word(
    tmp_path: Path, anna: Saying, berta: Saying
) -> None:
    anna.behaviour = lambda _body, _before: failure(400, "no such route")
    file = write(tmp_path, anna, "max_retries = 0")
    run(file, command="generate", code=6)
    write(tmp_path, berta, "max_retries = 0")
    run(file)
    assert speakers(file) == {"Berta": 5 * PROMPTS}


def test_only_the_changed_model_is_asked_again(tmp_path: Path, anna: Saying, berta: Saying) -> None:
    models = '"openai:m", "openai:other"'
    file = write(tmp_path, anna, models=models)
    run(file, command="generate")
    write(tmp_path, anna, f"[options.'openai:other']\nbase_url = '{berta.url}'", models=models)
    told = run(file, command="generate", code=REFUSED)
    assert f"openai:other: base_url was '{anna.url}'" in told
    assert f"{5 * PROMPTS} responses" in told
    run(file, "--accept-changes")
    assert (anna.times, berta.times) == (2 * 5 * PROMPTS, 5 * PROMPTS)
    assert rows(file, "SELECT DISTINCT model, split_part(text, ' ', 1) FROM responses ORDER BY 1") == [
        ("openai:m", "Anna"), ("openai:other", "Berta"),
    ]  # fmt: skip


def test_a_file_that_is_overwritten_at_its_path_is_another_model(tmp_path: Path) -> None:
    file, answers = tmp_path / "texts.toml", tmp_path / "answers.toml"

    def say(word: str) -> None:
        answers.write_text(f"[[answer]]\ntexts = ['{word} eats pizza.']\n", encoding="utf-8")

    say("Anna")
    told = EXPERIMENT.format(name="texts", models='"mock:m"', n=2, extractor="gazetteer", url="http://x", more="")
    file.write_text(told + f"[options.mock]\nanswers = '{answers}'\n", encoding="utf-8")
    run(file)
    say("Berta")
    assert "mock:m: weights was 'sha256:" in run(file, code=REFUSED)
    run(file, "--accept-changes")
    assert speakers(file) == {"Berta": 2 * PROMPTS}
    say("Anna")
    run(file)
    assert speakers(file) == {"Anna": 2 * PROMPTS}
    assert rows(file, "SELECT count(*) FROM stored_responses") == [(4 * PROMPTS,)]


def test_a_machine_with_another_file_does_not_join_a_run(tmp_path: Path) -> None:
    answers, file = tmp_path / "answers.toml", tmp_path / "texts.toml"
    answers.write_text("[[answer]]\ntexts = ['Anna eats pizza.']\n", encoding="utf-8")
    told = EXPERIMENT.format(name="texts", models='"mock:m"', n=2, extractor="gazetteer", url="http://x", more="")
    file.write_text(told + f"[options.mock]\nanswers = '{answers}'\n", encoding="utf-8")
    manifest = require_run(prepare(open_workspace(file)).run)
    assert open_workspace(file).joining(manifest).present == manifest
    answers.write_text("[[answer]]\ntexts = ['Berta eats pizza.']\n", encoding="utf-8")
    with pytest.raises(ExperimentError, match=r"mock:m.*another"):
        open_workspace(file).joining(manifest)


def test_what_instruments_have_written_is_kept_when_texts_are_done(tmp_path: Path) -> None:
    """Versions of models and the contents of a snapshot are recorded after instruments were asked."""
    file = tmp_path / "texts.toml"
    file.write_text(
        EXPERIMENT.format(name="texts", models='"mock:m"', n=2, extractor="gazetteer", url="http://x", more=""),
        encoding="utf-8",
    )
    workspace = prepare(open_workspace(file))
    toy = Proposal(open_workspace(file), "toy", Validity(ids=[CurrentId(what="words", id="some-id")]))
    make_valid(toy, accept_changes=False)
    do_stages(file, "generate")
    record_versions(workspace)
    manifest = require_run(workspace.run)
    assert manifest.model_versions
    assert manifest.asked["toy"] == [CurrentId(what="words", id="some-id")]


def test_prompts_that_are_asked_together_end_the_others_of_the_same_and_nothing_else(tmp_path: Path) -> None:
    """What is asked, and a prompt, may have any name."""
    file = tmp_path / "texts.toml"
    file.write_text(
        EXPERIMENT.format(name="texts", models='"mock:m"', n=1, extractor="gazetteer", url="http://x", more=""),
        encoding="utf-8",
    )
    workspace = prepare(open_workspace(file))

    def asked(*ids: CurrentId) -> set[str]:
        proposal = Proposal(open_workspace(file), "toy", Validity(ids=ids))
        return {one.id for one in make_valid(proposal, accept_changes=True).asked["toy"]}

    one, other = (CurrentId(what="set en", prompt=name, id=name) for name in ("1", "1, prompt 2"))
    alone = CurrentId(what="set en, prompt 3", id="another question")
    reader = CurrentId(what="set en", id="reader", reads=True)
    assert asked(one, other, alone, reader) == {"1", "1, prompt 2", "another question", "reader"}
    assert asked(one) == {"1", "another question", "reader"}
    assert asked(other) == {"1, prompt 2", "another question", "reader"}
    assert len(require_run(workspace.run).asked["toy"]) == 3


@pytest.mark.slow
def test_neighbours_share_the_texts_of_one_server_and_of_no_other(tmp_path: Path, anna: Saying, berta: Saying) -> None:
    run(write(tmp_path, anna))
    same = write(tmp_path, anna, "concurrency = 3", name="same", n=6)
    assert f"{5 * PROMPTS} of them before" in run(same)
    assert anna.times == 6 * PROMPTS
    other = write(tmp_path, berta, name="other")
    run(other)
    assert berta.times == 5 * PROMPTS
    assert speakers(other) == {"Berta": 5 * PROMPTS}
    named = write(tmp_path, berta, f"deployment = '{anna.url}'", name="named")
    run(named)
    assert speakers(named) == {"Anna": 5 * PROMPTS}
    assert rows(named, "SELECT count(DISTINCT request_id), count(*) FILTER (purchase IS NULL) FROM responses") == [
        (PROMPTS, 5 * PROMPTS)
    ]


def test_another_server_of_the_extractor_is_refused_and_mixes_nothing(
    tmp_path: Path, anna: Saying, berta: Saying
) -> None:
    def told(reader: Saying) -> str:
        return f"[options.'openai:reader']\nbase_url = '{reader.url}'"

    file = write(tmp_path, anna, told(anna), extractor="openai:reader")
    run(file)
    assert set(rows(file, "SELECT surface FROM mentions")) == {("Anna",)}
    berta.word = "nobody"
    write(tmp_path, anna, told(berta), extractor="openai:reader")
    refused = run(file, code=REFUSED)
    assert f"openai:reader: base_url was '{anna.url}'" in refused
    assert f"{5 * PROMPTS} extractions" in refused
    assert lefts(file) == [0, 5 * PROMPTS], "what the plan is of is what comes after consent"
    run(file, "--accept-changes")
    assert set(rows(file, "SELECT surface FROM mentions")) == {("pizza",)}
    assert speakers(file) == {"Anna": 5 * PROMPTS}
    assert (anna.times, berta.times) == (2 * 5 * PROMPTS, 5 * PROMPTS)
    write(tmp_path, anna, told(anna), extractor="openai:reader")
    run(file)
    assert set(rows(file, "SELECT surface FROM mentions")) == {("Anna",)}
    assert (anna.times, berta.times) == (2 * 5 * PROMPTS, 5 * PROMPTS)


def test_an_extraction_of_the_same_text_is_shared_and_its_cost_is_not(tmp_path: Path, anna: Saying) -> None:
    prices = '[prices."openai:m"]\ninput = 1\noutput = 1\n[prices."openai:reader"]\ninput = 1\noutput = 1'
    first = write(tmp_path, anna, prices, extractor="openai:reader")
    run(first)
    assert anna.times == 2 * 5 * PROMPTS
    second = write(tmp_path, anna, prices, extractor="openai:reader", name="second")
    assert not any(left for left in lefts(second))
    told = run(second)
    assert anna.times == 2 * 5 * PROMPTS, "an extraction is bought twice"
    assert "extract openai:m en food: 15 done, 15 of them before" in told
    columns = "surface, kind, start, sample, condition, country, hallucinated, granularity"
    found = [rows(file, f"SELECT {columns} FROM mentions ORDER BY ALL") for file in (first, second)]
    assert found[0] == found[1] != []
    bought = [rows(file, "SELECT sum(answers), sum(cost) > 0 FROM spending") for file in (first, second)]
    assert bought == [[(30, True)], [(None, None)]]
    ids = [rows(file, "SELECT DISTINCT extractor_id, reader_id FROM extractions") for file in (first, second)]
    assert ids[0] == ids[1]
    third = write(tmp_path, anna, extractor="openai:reader", name="third", n=6)
    run(third)
    assert anna.times == 2 * 6 * PROMPTS


def test_an_extraction_of_another_text_or_server_is_not_shared(tmp_path: Path, anna: Saying, berta: Saying) -> None:
    run(write(tmp_path, anna, extractor="openai:reader"), command="generate")
    run(tmp_path / "texts.toml", command="extract")
    reader = f"[options.'openai:reader']\nbase_url = '{berta.url}'"
    other = write(tmp_path, anna, reader, extractor="openai:reader", name="other")
    run(other, command="generate")
    run(other, command="extract")
    assert (anna.times, berta.times) == (2 * 5 * PROMPTS, 5 * PROMPTS)
    texts = write(
        tmp_path, berta, f"[options.'openai:reader']\nbase_url = '{anna.url}'", extractor="openai:reader", name="own"
    )
    run(texts, command="generate")
    run(texts, command="extract")
    assert (anna.times, berta.times) == (3 * 5 * PROMPTS, 2 * 5 * PROMPTS), "other texts of the same samples"
    assert rows(texts, "SELECT count(*) FROM mentions WHERE hallucinated") == [(5 * PROMPTS,)]


def test_a_model_that_changes_behind_its_name_is_reported_and_stays_one_model(
    tmp_path: Path, anna: Saying, berta: Saying
) -> None:
    file = write(tmp_path, anna, "deployment = 'lab'")
    assert "several versions" not in run(file, command="generate")
    write(tmp_path, berta, "deployment = 'lab'", n=6)
    told = run(file, command="generate")
    assert "openai:m: its texts are of several versions behind one name: Anna-1 (15), Berta-1 (3)" in told
    assert rows(file, "SELECT DISTINCT model_versions FROM health") == [("Anna-1 | Berta-1",)]
    assert rows(file, "SELECT sum(asked), sum(answered) FROM health") == [(6 * PROMPTS, 6 * PROMPTS)]


@pytest.mark.slow
def test_what_is_killed_under_another_server_is_resumed_there(tmp_path: Path, anna: Saying) -> None:
    file = write(tmp_path, anna)
    run(file)
    with Saying("Berta", latency=0.4) as slow:
        write(tmp_path, slow, "concurrency = 2")
        process = begin_polyculture("run", file, "--accept-changes", cwd=tmp_path)
        while slow.times < 8:
            time.sleep(0.01)
            assert process.is_alive()
        process.kill()
        process.join()
        slow.latency = 0.0
        asked = slow.times
        run(file)
        assert speakers(file) == {"Berta": 5 * PROMPTS}
        assert slow.times <= 5 * PROMPTS + 4, "what was answered is asked again"
        assert slow.times > asked
    write(tmp_path, anna)
    run(file)
    assert speakers(file) == {"Anna": 5 * PROMPTS}
    assert anna.times == 5 * PROMPTS
