"""What `plan` counts of instruments, against what models were really given: at a server, and in this process."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import polyculture.instruments as instruments
from polyculture.extract.llm import prompt_head
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.openai.scoring import PROBE
from polyculture.generate.engines.transformers.engine import TransformersEngine
from polyculture.generate.tokens import count_tokens
from polyculture.running.calibration import read_rates
from polyculture.running.call_list import calls_in_file
from polyculture.running.estimate import cap_line, estimates
from polyculture.running.opening import open_workspace
from tests.instruments.culture_files import write_sheets
from tests.instruments.test_cbs_paid import echo
from tests.instruments.test_probe import write_questions
from tests.polyculture.test_command_line import polyculture
from tests.servers import Reply, StubServer
from tests.stored import rows
from tests.tiny_models import byte_level, save_causal

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

EXPERIMENT = """
name = "truth"
models = ["{model}"]
[options.openai]
base_url = "{url}"
tokenizer = "tokenizer"
[options.transformers]
device = "cpu"
[probe]
set = "open.toml"
tagger = ["rule"]
resamples = 19
answer_tokens = 8
item_tokens = 6
control = {controls}
"""
PROBED = '[instruments.probe]\nset = "open.toml"\n'
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %} A:"
SERVER, HERE = "openai:stub", "transformers:llama"
DEMOS = Path(instruments.__file__).parent
CBS = ("--data", "own:likely", "--folder", DEMOS / "cbs" / "demo", "--contexts", "1", "--entities", "4")
SWAPS = ("--data", "own:swapped", "--folder", DEMOS / "swaps" / "demo", "--contexts", "2", "--entities", "2")
ONE = ("--only", "template=age-01")


@dataclass
class Tokens:
    """What models were given, and what they wrote."""

    read: int = 0
    written: int = 0


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with a tiny model, its tokenizer, and data of every instrument."""
    folder = save_causal("llama", tmp_path / "llama")
    (folder / "chat_template.jinja").write_text(TEMPLATE, encoding="utf-8")
    byte_level().save_pretrained(tmp_path / "tokenizer")
    write_questions(tmp_path)
    write_sheets(tmp_path / "sheets", 1, ("China", "Mexico", "Indonesia"))
    for name in ("made-up.toml", "made-up.tsv"):
        shutil.copyfile(DEMOS / "questions" / "demo" / name, tmp_path / name)
    return tmp_path


def write(folder: Path, model: str, url: str = "http://127.0.0.1:9/v1", controls: str = "[]", more: str = "") -> None:
    text = EXPERIMENT.format(model=model, url=url, controls=controls) + more
    (folder / "exp.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Tokens:
    """The tokens that a model in this process reads, each time that one is put through it, and those that it writes."""
    import transformers

    tokens = Tokens()
    forward = transformers.LlamaModel.forward

    def counted(model: Any, input_ids: Any = None, attention_mask: Any = None, **named: Any) -> Any:
        cache = named.get("past_key_values")
        of_answer = cache is not None and cache.get_seq_length() > 0 and input_ids.shape[1] == 1
        if not of_answer:  # else it reads what it has just written
            padded = attention_mask is not None and attention_mask.dim() == 2
            tokens.read += int(attention_mask[:, -input_ids.shape[1] :].sum()) if padded else input_ids.numel()
        return forward(model, input_ids=input_ids, attention_mask=attention_mask, **named)

    def writing(name: str, size: Callable[[Any], int]) -> None:
        method = getattr(TransformersEngine, name)

        def written(engine: Any, *words: Any, **named: Any) -> Iterator[Any]:
            for answer in method(engine, *words, **named):
                tokens.written += size(answer)
                yield answer

        monkeypatch.setattr(TransformersEngine, name, written)

    monkeypatch.setattr(transformers.LlamaModel, "forward", counted)
    writing("sample", lambda answer: answer.completion_tokens)
    for name in ("continue_patched", "continue_texts"):
        writing(name, lambda answer: answer.tokens)
    return tokens


def asked(folder: Path, *words: str | Path) -> Tokens:
    """Asks an instrument; what it said before that it would take: tokens to read, and to write at most."""
    done = polyculture(*words, cwd=folder)
    assert done.returncode == 0, done.stderr
    ((read, written),) = re.findall(r"to ask, ([\d,]+) tokens in, at most\s+([\d,]+) out", done.stderr)
    return Tokens(*(int(number.replace(",", "")) for number in (read, written)))


def within(planned: Tokens, truth: Tokens, factor: float) -> None:
    assert truth.read <= planned.read <= factor * truth.read
    assert truth.written <= planned.written


@pytest.mark.parametrize("controls", ["[]", '["noise", "text", "other-culture"]'])
def test_a_probe_is_counted_with_what_is_written_for_every_layer(here: Path, given: Tokens, controls: str) -> None:
    write(here, HERE, controls=controls)
    planned = asked(here, "probe", "exp.toml")
    within(planned, given, 1.5)
    assert planned.written <= 1.5 * given.written  # this model ends few texts before their most tokens
    assert given.written > 9 * 4 * 6, "nine questions, four layers"


def test_a_probe_of_a_model_whose_settings_cannot_be_read_says_what_it_takes(here: Path) -> None:
    write(here, "transformers:nobody/nothing", more=PROBED)
    planned = polyculture("plan", "exp.toml", cwd=here, HF_HUB_OFFLINE="1")
    assert planned.returncode == 0, planned.stderr
    assert "nobody knows how many layers it has" in planned.stderr
    assert f"{9 * (8 + 128 * 6):,}" in planned.stdout


@pytest.mark.parametrize(
    ("words", "factor"),
    [
        (("ask", "culture-mcq", "exp.toml", "--folder", "sheets", "--method", "attention"), 1.1),
        (("probe", "embeddings", "exp.toml", *CBS, "--layer", "last"), 1.1),
        # A causal model in this process reads what contexts have in common once: a server would read it each time.
        (("cbs", "exp.toml", *CBS), 10),
        (("ask", "made-up.toml", "exp.toml", *ONE, "--method", "text"), 10),
    ],
)
def test_a_model_in_this_process_reads_no_more_than_is_counted(
    here: Path, given: Tokens, words: tuple[str | Path, ...], factor: float
) -> None:
    write(here, HERE)
    within(asked(here, *words), given, factor)


@pytest.mark.parametrize(
    "words",
    [
        ("cbs", "exp.toml", *CBS),
        ("ask", "made-up.toml", "exp.toml", *ONE),
        ("ask", "made-up.toml", "exp.toml", *ONE, "--method", "letter"),
        ("swap", "sentiment", "exp.toml", *SWAPS, "--draws", "2"),
        ("swap", "qa", "exp.toml", *SWAPS, "--draws", "2"),
    ],
)
def test_a_server_reads_what_is_counted(here: Path, words: tuple[str | Path, ...]) -> None:
    spec = ModelSpec(SERVER, {"tokenizer": str(here / "tokenizer")})

    def answer(body: Mapping[str, Any], before: int) -> Reply:
        if "prompt" in body:
            return echo(body, before)
        return Reply(body=json.dumps({"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}).encode())

    with StubServer(behaviour=answer) as server:
        write(here, SERVER, server.url)
        done = polyculture(*words, cwd=here)
        said = re.findall(r"to ask, ([\d,]+) tokens in, at most\s+([\d,]+) out", done.stderr)
        # What a server scores first shows that its tokenizer is the model's, and is no text of the experiment.
        first = (PROBE, byte_level()(PROBE)["input_ids"])
        bodies = [body for body in server.bodies if body.get("prompt") not in first]
    ((read, written),) = [[int(number.replace(",", "")) for number in numbers] for numbers in said]
    chats = [turn["content"] for body in bodies for turn in body.get("messages", ())]
    truth = sum(len(body["prompt"]) for body in bodies if "prompt" in body)
    truth += sum(count_tokens(spec, chats).tokens) if chats else 0
    assert bodies
    assert truth <= read <= 1.2 * truth
    assert written >= sum(body["max_tokens"] for body in bodies)


def test_answers_of_an_instrument_serve_as_measured_lengths_and_as_money_spent(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan read texts' tables alone: answers of 3 tokens were expected to have the most, and to have cost nothing."""
    monkeypatch.chdir(here)  # where the file's own paths begin
    answer = {"choices": [{"message": {"content": "A"}, "finish_reason": "stop"}]}
    reply = Reply(body=json.dumps({**answer, "usage": {"prompt_tokens": 70, "completion_tokens": 3}}).encode())
    priced = f'[instruments.ask]\nset = "made-up.toml"\n[prices."{SERVER}"]\ninput = 0\noutput = 1000\n'
    with StubServer(behaviour=lambda _body, _before: reply) as server:
        write(here, SERVER, server.url, more=priced)
        file = here / "exp.toml"
        file.write_text(f"max_cost = 0.5\n{file.read_text(encoding='utf-8')}", encoding="utf-8")
        (before,) = estimates(ready := open_workspace(file, here / "runs"), calls_in_file(ready))
        assert before.answer_tokens == before.most_tokens > 3 * before.left
        assert polyculture("ask", "made-up.toml", "exp.toml", *ONE, cwd=here).returncode == 0
        paid = len(server.bodies)
    (after,) = estimates(ready := open_workspace(file, here / "runs"), calls_in_file(ready))
    assert 0 < paid < before.left
    assert after.left == before.left - paid
    # Of the category Age some answers are there; those of other categories of the set are asked alike.
    assert after.answer_tokens == 3 * after.left
    line = cap_line(ready, [after])
    assert line is not None
    assert f"{paid * 3 / 1000:.2f} is spent, and what is left is expected to cost {after.left * 3 / 1000:.2f}" in line


def test_instruments_alone_are_calibrated_and_nothing_is_asked_twice(
    here: Path, given: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(here)  # where the file's own paths begin
    write(here, HERE, more=PROBED)
    write_questions(here, ("Iran", "Korea", "Mexico", "Peru", "Kenya"))  # a job each, of which three are measured
    planned = polyculture("plan", "exp.toml", cwd=here)
    assert planned.returncode == 0, planned.stderr
    assert "--calibrate" in planned.stderr
    assert given.read == 0
    calibrated = polyculture("plan", "exp.toml", "--calibrate", cwd=here)
    assert calibrated.returncode == 0, calibrated.stderr
    ready = open_workspace(here / "exp.toml")
    rate = read_rates(ready.run)["probe", HERE]
    (left,) = estimates(ready, calls_in_file(ready))
    assert (left.responses, left.left) == (15, 6)
    assert left.hours == pytest.approx(6 / rate / 3600)
    measured = given.read
    assert polyculture("probe", "exp.toml", cwd=here).returncode == 0
    assert given.read - measured < measured, "two jobs are asked, and not the three that were measured"
    assert rows(here, "SELECT count(*), count(DISTINCT question_key) FROM probes") == [(15, 15)]


def test_the_layers_of_a_gguf_file_are_those_that_it_says(here: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="the extra 'transformers' is not installed")
    writer = gguf.GGUFWriter(here / "seven.gguf", "llama")
    writer.add_block_count(7)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    write(here, f"transformers:{here / 'seven.gguf'}", more=PROBED)
    planned = polyculture("plan", "exp.toml", cwd=here)
    assert planned.returncode == 0, planned.stderr
    assert "nobody knows how many layers it has" not in planned.stderr
    assert f"{9 * (8 + 7 * 6):,}" in planned.stdout


def test_imported_texts_are_counted_as_long_as_they_are(tmp_path: Path) -> None:
    texts = [f"Pizza, and {'more ' * number}pizza." for number in range(40)]
    lines = [{"model": "m", "lang": "en", "topic": "food", "prompt": "What?", "text": text} for text in texts]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    assert polyculture("import", "a.jsonl", "--as", "exp.toml", "language=lang", cwd=tmp_path).returncode == 0
    file = tmp_path / "exp.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace('with = "gazetteer"', 'with = "openai:reads"'), encoding="utf-8")
    ready = open_workspace(file)
    (planned,) = estimates(ready, calls_in_file(ready))
    spec, head = ModelSpec("openai:reads"), " ".join(turn.content for turn in prompt_head(ready.catalog.topic("food")))
    truth = sum(count_tokens(spec, [f"{head} {one}" for one in texts]).tokens)
    assert (planned.left, planned.prompt_tokens) == (40, truth)
    of_texts = sum(count_tokens(spec, texts).tokens)
    assert of_texts / 2 < planned.answer_tokens < 2 * of_texts
