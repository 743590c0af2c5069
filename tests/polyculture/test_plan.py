"""`plan`: tokens by the model's tokenizer, money by the prices, hours by a measured rate."""

from __future__ import annotations

import errno
import json
import os
import re
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import duckdb
import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store_file import disk_faults
from polyculture.experiment.workspace import Workspace
from polyculture.generate.budget import most_prompt_tokens
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request
from polyculture.generate.engines.batch_records import BatchRecord, BatchRecords
from polyculture.generate.tokens import count_tokens
from polyculture.metrics.power import Noise
from polyculture.running.batching import waiting_line
from polyculture.running.calibration import calibrate, read_rates
from polyculture.running.detection import detectable
from polyculture.running.estimate import StageEstimate, estimates
from polyculture.running.opening import open_workspace
from tests import servers
from tests.extracted import extracted_by
from tests.metrics.test_prompt_values import kitchen
from tests.polyculture.test_command_line import polyculture
from tests.polyculture.test_sql import contents
from tests.servers import Reply, StubServer
from tests.stages import prepare, texts_of
from tests.stored import rows
from tests.test_nothing_is_lost import say, write_experiment

EXPERIMENT = """
name = "planned"
models = ["openai:gpt-4o-mini"]
languages = ["en", "hi"]
topics = ["food"]
countries = ["IT", "JP"]
[sampling]
n = 100
max_tokens = 16
[extract]
with = "openai:gpt-4o-mini"
[prices."openai:gpt-4o-mini"]
input = 1
output = 10
[options.openai]
base_url = "{url}"
concurrency = 4
{more}
"""
TEXTS = ("Write a short paragraph.", "अनुच्छेद लिखिए", "ก๋วยเตี๋ยว", "\U000e0001" * 5, "1234567890" * 9)
needs_vocabularies = pytest.mark.skipif(find_spec("bpe_openai") is None, reason="bpe-openai is not installed")


def workspace(folder: Path, url: str = "http://127.0.0.1:9/v1", more: str = "") -> Workspace:
    file = folder / "exp.toml"
    file.write_text(EXPERIMENT.format(url=url, more=more), encoding="utf-8")
    return open_workspace(file)


def sampled(folder: Path, url: str) -> Workspace:
    """The experiment without a model that extracts."""
    file = folder / "exp.toml"
    text = EXPERIMENT.format(url=url, more="").replace('[extract]\nwith = "openai:gpt-4o-mini"\n', "")
    file.write_text(text, encoding="utf-8")
    return open_workspace(file)


def estimate(of: Workspace, stage: str = "generate") -> StageEstimate:
    return next(one for one in estimates(of, texts_of(of)) if one.stage == stage)


@needs_vocabularies
def test_openais_models_have_their_own_tokenizers() -> None:
    found = count_tokens(ModelSpec("openai:gpt-4o-mini"), ["Hello world"])
    assert (found.tokens, found.counted_by) == ([2 + 7], "o200k_base")
    assert count_tokens(ModelSpec("openai:gpt-3.5-turbo"), ["Hello"]).counted_by == "cl100k_base"
    assert count_tokens(ModelSpec("openai:mine"), ["Hello world"]).counted_by == "estimate by o200k_base"


def test_a_model_in_a_folder_counts_with_its_own_tokenizer(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    model = tokenizers.models.WordLevel({"write": 0, "a": 1, "[UNK]": 2}, unk_token="[UNK]")
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    found = count_tokens(ModelSpec(f"vllm:{tmp_path}"), ["write a paragraph"])
    assert (found.tokens, found.counted_by) == ([3 + 7], "its own tokenizer")


@needs_vocabularies
def test_no_prompt_has_more_tokens_than_are_reserved_for_it() -> None:
    for text, tokens in zip(TEXTS, count_tokens(ModelSpec("openai:gpt-4o"), TEXTS).tokens, strict=True):
        assert tokens <= most_prompt_tokens(Request("", (Message("user", text),), Decoding(), (1,)))


def test_the_rest_is_counted_and_priced(tmp_path: Path) -> None:
    with StubServer() as server:
        ready = workspace(tmp_path, server.url)
        before = estimate(ready)
        assert (before.jobs, before.prompts, before.responses, before.left) == (2, 10, 1000, 1000)
        assert before.answer_tokens == 16_000  # nothing is known but the limit
        assert before.most == before.cost == pytest.approx((before.prompt_tokens + 160_000) / 1e6)
        assert polyculture("run", "--only", "generate", ready.file, "--language", "en", cwd=tmp_path).returncode == 0
    after = estimate(ready)
    assert after.left == 500
    assert after.answer_tokens == 500 * 5  # as the answers so far
    assert after.cost == pytest.approx((after.prompt_tokens + 25_000) / 1e6)
    assert after.most == pytest.approx((after.prompt_tokens + 80_000) / 1e6)
    extraction = estimate(ready, "extract")
    assert (extraction.responses, extraction.left) == (1000, 1000)
    assert extraction.prompt_tokens > 1000 * 100  # the instructions, each time


def test_answers_are_expected_as_long_as_their_prompts_ask(tmp_path: Path) -> None:
    ready = workspace(tmp_path)
    long = tmp_path / "long.toml"
    long.write_text(ready.file.read_text(encoding="utf-8").replace("max_tokens = 16", "max_tokens = 512"), "utf-8")
    found = estimate(open_workspace(long))
    assert 1000 * 50 < found.answer_tokens < 1000 * 250  # 50 words, in English and in Hindi
    assert found.most_tokens == 1000 * 512
    assert not found.free
    told = polyculture("plan", long, "--details", cwd=tmp_path)
    assert f"{found.most_tokens:,}" in told.stdout
    assert "Items in the snapshot" in told.stdout
    assert re.search(r"named in Hindi +[1-9]\d*.*\n +their names +[1-9]", told.stdout)
    counts = re.findall(r"from (\w\w) +(\d+)", told.stdout)
    assert counts
    few = [code for code, count in counts if int(count) < 10]
    assert ("too few items (under 10)" in told.stderr) == bool(few)
    assert all(code in told.stderr for code in few)
    assert "not compared: models" in told.stderr
    assert f"Next: polyculture run {long}" in told.stderr


def test_texts_that_are_still_to_come_are_expected_alike_by_all_who_read_or_write_them(tmp_path: Path) -> None:
    """The extractor's estimate took each text to be as long as the limit allows: several times what it will pay for."""
    ready, found = workspace(tmp_path), []
    for limit in (512, 1024):
        file = tmp_path / f"{limit}.toml"
        file.write_text(ready.file.read_text("utf-8").replace("max_tokens = 16", f"max_tokens = {limit}"), "utf-8")
        found.append((estimate(open_workspace(file)), estimate(open_workspace(file), "extract")))
    (texts, extraction), others = found
    assert extraction.answer_tokens == texts.answer_tokens  # as much is written about a text as it has
    instructions = (extraction.prompt_tokens - texts.answer_tokens) / 1000
    assert 100 < instructions < 2000
    assert (texts.answer_tokens, extraction.prompt_tokens) == (others[0].answer_tokens, others[1].prompt_tokens)
    assert extraction.most is not None
    assert others[1].most - extraction.most == pytest.approx(1000 * 512 / 1e6)  # the dearest case reads whole texts


def test_texts_that_repeat_are_extracted_once_in_the_estimate(tmp_path: Path) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2}
    same = {"choices": [{"message": {"content": "Pizza."}, "finish_reason": "stop"}], "usage": usage}
    with StubServer(behaviour=lambda *_: Reply(body=json.dumps(same).encode())) as server:
        ready = workspace(tmp_path, server.url)
        every = estimate(ready, "extract")
        assert polyculture("run", "--only", "generate", ready.file, "--language", "en", cwd=tmp_path).returncode == 0
    repeated = estimate(ready, "extract")
    assert (repeated.left, repeated.most) == (every.left, every.most)
    assert repeated.prompt_tokens < every.prompt_tokens / 100


def test_a_million_samples_are_planned_at_once_whatever_is_stored(tmp_path: Path) -> None:
    experiment = """
name = "{name}"
models = ["mock:one"]
languages = ["en", "ja"]
topics = ["food", "music"]
countries = ["IN", "JP"]
[sampling]
n = {n}
[extract]
with = "mock:two"
"""
    file = tmp_path / "exp.toml"

    def planned(name: str, n: int) -> list[tuple[int, int]]:
        file.write_text(experiment.format(name=name, n=n), encoding="utf-8")
        begun = time.process_time()
        ready = open_workspace(file)
        found = [(one.responses, one.left) for one in estimates(ready, texts_of(ready))]
        assert time.process_time() - begun < 5  # to count them one by one takes minutes
        return found

    million = 1_000_000
    sizes, _ = zip(*planned("small", million), strict=True)
    assert sizes == (20 * million, 20 * million)
    file.write_text(experiment.format(name="small", n=2), encoding="utf-8")
    assert polyculture("run", "--only", "generate", "exp.toml", cwd=tmp_path).returncode == 0
    assert planned("small", million)[0] == (20 * million, 20 * million - 40)
    assert planned("small", 1)[0] == (20, 0)
    assert planned("beside", million)[0] == (20 * million, 20 * million - 40)  # what a run beside it holds


def test_a_batch_is_priced_with_its_discount(tmp_path: Path) -> None:
    direct = estimate(workspace(tmp_path))
    batch = estimate(workspace(tmp_path, more="batch = true"))
    assert batch.cost == pytest.approx(direct.cost / 2)


def test_a_calibration_is_over_in_time_and_its_answers_are_not_asked_again(tmp_path: Path) -> None:
    with StubServer(latency=0.05) as server:
        ready = sampled(tmp_path, server.url)
        prepare(ready)
        calibrate(ready, texts_of(ready), seconds=1.5)
        asked = len(server.asked)
        assert 0 < asked < 1000
        rate = read_rates(ready.run)["generate", "openai:gpt-4o-mini"]
        assert 0 < rate <= 4 / 0.05 * 1.1  # four in flight
        left = estimate(ready)
        assert left.left == 1000 - asked
        assert left.hours == pytest.approx(left.left / rate / 3600)
        server.latency = 0.0
        assert polyculture("run", "--only", "generate", ready.file, cwd=tmp_path).returncode == 0
        assert len(server.asked) == len(set(server.asked)) == 1000


def test_a_calibration_waits_for_answers_that_take_longer(tmp_path: Path) -> None:
    with StubServer(latency=1.0) as server:
        ready = sampled(tmp_path, server.url)
        prepare(ready)
        calibrate(ready, texts_of(ready), seconds=0.1)
        asked = len(server.asked)
    assert 0 < asked <= 2 * 8  # of two jobs, what the engine had taken
    assert 0 < read_rates(ready.run)["generate", "openai:gpt-4o-mini"] <= 4 * 1.1
    assert estimate(ready).left == 1000 - asked


def test_the_command_prints_it_and_says_what_waits(tmp_path: Path) -> None:
    ready = workspace(tmp_path, more="batch = true")
    assert waiting_line(ready.run) is None
    write_waiting(ready.run)
    done = polyculture("plan", ready.file, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = done.stdout
    assert "at most" in told
    assert "1 batch with 2 requests waits at the provider" in told


def write_waiting(run: RunFolder) -> None:
    folder = run.root / "batches" / "generate" / "model=m" / "language=en" / "topic=food"
    BatchRecords(folder).save(BatchRecord(key="k", made=0.0, ids=["a", "b"], batch_id="batch_1"))
    BatchRecords(folder).save(BatchRecord(key="l", made=0.0, ids=["c"], batch_id="batch_2", downloaded=True))


def test_detectable_differences_rest_on_the_variances_of_the_run(tmp_path: Path) -> None:
    """Of a run of two models and three wordings, with the prompts of the experiment."""
    ready = workspace(tmp_path, more="[prompts]\nwordings = 3")
    kitchen(ready.run.root).write()
    found = detectable(ready, ready.manifest())
    assert {row.compared for row in found.differences} == {"two languages"}  # there is one model
    granularity = next(row for row in found.differences if row.metric == "granularity")
    assert (granularity.condition, granularity.prompts) == ("explicit", 2)
    assert (granularity.wordings, granularity.samples) == (3, 100)
    assert granularity.new_prompts is None  # two prompts have no interval of others like them
    assert granularity.same_prompts is not None
    assert "variances from planned, explicit prompts" in found.basis
    assert any("new prompts: no interval; it needs 5 topics and 5 countries" in line for line in found.untestable)


def test_what_a_run_cannot_tell_has_a_line_in_place_of_a_difference_of_zero(tmp_path: Path) -> None:
    ready = workspace(tmp_path, more="[prompts]\nwordings = 3")
    kitchen(ready.run.root).write()
    by_gazetteer = ready.manifest().model_copy(update=extracted_by({"with": "gazetteer"}))
    found = detectable(ready, by_gazetteer)
    assert "granularity" not in {row.metric for row in found.differences}
    assert any(line.startswith("granularity: constant by construction") for line in found.basis)
    assert Noise(0.0, None, None, 0.0, 10, 1).varies is False


def test_a_part_of_a_country_is_said_to_be_the_whole(tmp_path: Path) -> None:
    file = tmp_path / "exp.toml"
    text = EXPERIMENT.format(url="http://127.0.0.1:9/v1", more="")
    file.write_text(text.replace('["IT", "JP"]', '["Scotland", "Italy"]'), encoding="utf-8")
    planned = polyculture("plan", file, cwd=tmp_path)
    assert "countries: Scotland is a part of GB, and the whole is asked about: United Kingdom" in planned.stderr
    assert "Italy is" not in planned.stderr


def test_a_language_of_a_region_and_countries_of_implicit_prompts_are_said(tmp_path: Path) -> None:
    """zh-hk was asked as zh-tw, and persons of Taiwan were asked about without a word."""
    file = tmp_path / "exp.toml"
    text = EXPERIMENT.format(url="http://127.0.0.1:9/v1", more="").replace('"en", "hi"', '"en-US", "zh-hk", "Deutsch"')
    conditions = 'conditions = ["neutral", "implicit_male"]\n[sampling]'
    file.write_text(text.replace("[sampling]", conditions), encoding="utf-8")
    said = " ".join(polyculture("plan", file, cwd=tmp_path).stderr.split())
    assert "languages: en-US is asked as en: English" in said
    assert "languages: zh-hk is asked as zh-tw: " in said
    assert "Deutsch is" not in said
    assert "countries that `countries` does not list: US in en, TW in zh-tw, DE in de. implicit_countries" in said
    more = 'implicit_countries = "all"\n[sampling]'
    file.write_text(text.replace("[sampling]", conditions.replace("[sampling]", more)), encoding="utf-8")
    assert "does not list" not in polyculture("plan", file, cwd=tmp_path).stderr


def test_a_finished_run_is_planned_beside_another_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ended in a ValueError where another run held the same job, and in a traceback where one may only read."""
    monkeypatch.setattr(servers, "answer_text", say)
    with StubServer(latency=0) as stub:
        first = write_experiment(tmp_path, stub.url, n=2)
        second = tmp_path / "second.toml"
        second.write_text(
            first.read_text(encoding="utf-8").replace('name = "run"', 'name = "second"'), encoding="utf-8"
        )
        for file in (first, second):
            assert polyculture("run", file, cwd=tmp_path).returncode == 0
        before = contents(RunFolder(tmp_path / "runs" / "second"))
        done = polyculture("plan", second, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert contents(RunFolder(tmp_path / "runs" / "second")) == before


def test_a_folder_that_one_may_only_read_is_said_in_a_line(tmp_path: Path) -> None:
    for number in (errno.EACCES, errno.EROFS, errno.ENOSPC):
        said = f'IO Error: Cannot open file "{tmp_path}/.store.duckdb.tmp": {os.strerror(number)}'
        with pytest.raises(OSError, match=re.escape(os.strerror(number))), disk_faults(tmp_path / "store.duckdb"):
            raise duckdb.IOException(said)


def test_options_that_let_a_model_write_more_raise_the_most(tmp_path: Path) -> None:
    few, many = estimate(workspace(tmp_path)), estimate(workspace(tmp_path, more="extra_body = { max_tokens = 64 }"))
    assert (few.most_tokens, many.most_tokens) == (16_000, 64_000)
    assert (many.most or 0) > (few.most or 0)


def test_a_tokenizer_that_options_name_counts(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    built = tokenizers.Tokenizer(tokenizers.models.WordLevel({"write": 0, "[UNK]": 1}, unk_token="[UNK]"))
    built.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    built.save(str(tmp_path / "tokenizer.json"))
    found = count_tokens(ModelSpec("openai:gpt-4o-mini", {"tokenizer": str(tmp_path)}), ["write two paragraphs"])
    assert (found.tokens, found.counted_by) == ([3 + 7], "its own tokenizer")


def test_samples_that_failed_for_good_leave_no_text_to_extract(tmp_path: Path) -> None:
    """Their texts never come, and were counted as texts that are still to be extracted."""
    refused = Reply(status=400, body=b'{"error": {"message": "no"}}')
    with StubServer(behaviour=lambda body, _before: refused if body["seed"] % 10 == 0 else None) as server:
        ready = workspace(tmp_path, server.url)
        polyculture("run", "--only", "generate", ready.file, cwd=tmp_path)
    ((texts,),) = rows(ready.file, "SELECT count(*) FROM responses WHERE status = 'ok'", "planned")
    assert 800 < texts < 1000
    assert estimate(ready).left == 0
    assert estimate(ready, "extract").left == texts


def test_where_no_answer_was_of_use_nothing_is_expected_of_them(tmp_path: Path) -> None:
    """Tokens per usable answer were infinite where an extractor had none, and `plan` ended in a traceback."""

    def says(_body: Mapping[str, Any], _before: int) -> Reply:
        choice = {"finish_reason": "stop", "message": {"content": "Resposta: B"}}
        usage = {"prompt_tokens": 20, "completion_tokens": 3}
        return Reply(body=json.dumps({"choices": [choice], "usage": usage}).encode())

    with StubServer(behaviour=says) as server:
        file = workspace(tmp_path, server.url).file
        text = file.read_text(encoding="utf-8").replace("n = 100", "n = 1")
        file.write_text(text, encoding="utf-8")
        assert polyculture("run", file, cwd=tmp_path).returncode == 4
        assert rows(tmp_path, "SELECT DISTINCT status FROM extractions") == [("failed",)]
        file.write_text(text.replace("n = 1\n", "n = 2\n"), encoding="utf-8")
        planned = polyculture("plan", file, cwd=tmp_path)
        assert planned.returncode == 0, planned.stderr
        assert 0 < estimate(open_workspace(file), "extract").prompt_tokens < 1_000_000
