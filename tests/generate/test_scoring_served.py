"""Scoring by a server that echoes texts: a real model behind the protocol, held against the same model in process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import SCORING, ModelSpec, Scored, ScoreRequest, open_engine
from polyculture.generate.engines.openai.faults import RequestError
from polyculture.generate.engines.openai.scoring import PROBE, OpenAIScorer, read_logprobs
from tests.servers import HTML, Behaviour, Reply, StubServer, failure
from tests.tiny_models import save_causal, wordpiece

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

REQUESTS = (
    ScoreRequest("en", "Yesterday, in the old house by the sea, we ate ", ("the soup", "fish and chips", "")),
    ScoreRequest("ja", "昨日の夕食は、", ("寿司", "寿司と天ぷら", "𩸽")),
    ScoreRequest("ko", "어제 먹은 것은 ", ("김치", "김치와 밥")),
    ScoreRequest("th", "ที่บ้านคุณยายเรากิน", ("ต้มยำ", "พิซซ่า")),
    ScoreRequest("merged", "we ate so", ("up", "me")),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal("mistral", tmp_path_factory.mktemp("served"))


@pytest.fixture(scope="module")
def echo(folder: Path) -> Callable[[Mapping[str, Any]], Reply]:
    """Reads a text, or token numbers, as `vllm serve` does: the first token has no log-probability, one is added."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    model: Any = AutoModelForCausalLM.from_pretrained(folder).eval()

    def answer(body: Mapping[str, Any]) -> Reply:
        assert body["echo"]
        prompt = body["prompt"]
        ids = tokenizer(prompt)["input_ids"] if isinstance(prompt, str) else prompt
        with torch.inference_mode():
            spread = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
        values = [None, *(float(spread[place, token]) for place, token in enumerate(ids[1:])), -0.5]
        choice = {"text": "", "logprobs": {"token_logprobs": values}}
        return Reply(body=json.dumps({"model": "tiny", "choices": [choice]}).encode())

    return answer


def spec(server: StubServer, tokenizer: Path | None) -> ModelSpec:
    options: dict[str, Any] = {"base_url": server.url, "concurrency": 4}
    return ModelSpec("openai:tiny", options if tokenizer is None else {**options, "tokenizer": str(tokenizer)})


def scores(engine: OpenAIScorer) -> dict[tuple[str, int], Scored]:
    with engine:
        return {(row.request_id, row.index): row for row in engine.score(REQUESTS)}


async def at_once(_: float) -> None:
    await asyncio.sleep(0)


def test_scores_are_those_of_the_same_model_in_process(
    folder: Path, echo: Callable[[Mapping[str, Any]], Reply]
) -> None:
    def busy_at_first(body: Mapping[str, Any], before: int) -> Reply:
        return failure(429) if before == 0 else echo(body)

    with StubServer(behaviour=busy_at_first) as server:
        served = scores(OpenAIScorer(spec(server, folder), sleep=at_once))
    with open_engine(ModelSpec(f"transformers:{folder}"), SCORING) as engine:
        here = {(row.request_id, row.index): row for row in engine.score(REQUESTS)}
    assert served.keys() == here.keys()
    for place, row in here.items():
        other = served[place]
        assert (row.error, row.boundary) == (other.error, other.boundary)
        assert [token.token for token in row.tokens] == [token.token for token in other.tokens]
        assert [token.log_probability for token in other.tokens] == pytest.approx(
            [token.log_probability for token in row.tokens], abs=1e-3
        )
    assert served["en", 2].error == "'' tokenises to nothing"


def test_a_text_that_the_server_does_not_take_is_a_row_with_a_reason(
    folder: Path, echo: Callable[[Mapping[str, Any]], Reply]
) -> None:
    def short(body: Mapping[str, Any], _: int) -> Reply:
        return failure(400, "too long") if len(body["prompt"]) == longest else echo(body)

    with open_engine(ModelSpec(f"transformers:{folder}"), SCORING) as engine:
        longest = max(
            len(engine._loaded.tokenizer(REQUESTS[3].prefix + word)["input_ids"]) for word in ("ต้มยำ", "พิซซ่า")
        )
    with StubServer(behaviour=short) as server:
        rows = scores(OpenAIScorer(spec(server, folder), sleep=at_once))
    failed = [row for row in rows.values() if row.error and "HTTP 400: too long" in row.error]
    assert failed
    assert all(row.total is None and not row.retryable for row in failed)


USAGES: list[tuple[Any, tuple[int | None, int | None], str | None]] = [
    (None, (9, 1), None),
    ({"prompt_tokens": 9, "completion_tokens": 2**64 - 1}, (9, None), "completion_tokens: no number"),
    ({"prompt_tokens": -9, "completion_tokens": 1}, (None, 1), "prompt_tokens: no number"),
    ({"prompt_tokens": True, "completion_tokens": 1}, (None, 1), "prompt_tokens: no number"),
    ([1], (9, 1), "usage: no table"),
]


def logprobs(values: list[Any], usage: Any = None, **changed: Any) -> bytes:
    return json.dumps({"choices": [{"logprobs": {"token_logprobs": values}}], "usage": usage, **changed}).encode()


@pytest.mark.parametrize(("usage", "counts", "note"), USAGES)
def test_counts_that_cannot_be_are_null_with_a_note(
    usage: Any, counts: tuple[int | None, int | None], note: str | None
) -> None:
    found = read_logprobs(logprobs([None, *[-0.5] * 8, -1.0], usage, model=["m"]), 9)
    assert (found.usage.prompt, found.usage.completion) == counts
    assert found.model is None
    assert str(found.note).startswith(note or "model: no text")


@pytest.mark.parametrize(
    "values", ["none", 5, {"a": 1}, [None, "-0.5", -1.0], [None, True, -1.0], [None, [-0.5], -1.0], [None, {}, -1.0]]
)
def test_log_probabilities_that_are_none_are_no_answer(values: Any) -> None:
    with pytest.raises(RequestError, match=r"answer.*completion"):
        read_logprobs(logprobs(values))


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "is not a finite number"),
        (float("-inf"), "is not a finite number"),
        (-(10**400), "is not a finite number"),
        (None, "is not a finite number"),
        (5.0, "is above 0"),
    ],
)
def test_a_log_probability_that_cannot_be_is_no_score(
    folder: Path, echo: Callable[[Mapping[str, Any]], Reply], value: float | None, told: str
) -> None:
    from transformers import AutoTokenizer

    def poisoned(body: Mapping[str, Any], _: int) -> Reply:
        reply = echo(body)
        answer = json.loads(reply.body)
        if not isinstance(body["prompt"], str) and body["prompt"] != probe:
            answer["choices"][0]["logprobs"]["token_logprobs"][-2] = value  # of the last token that was sent
        return Reply(body=json.dumps(answer).encode())

    probe = AutoTokenizer.from_pretrained(folder)(PROBE)["input_ids"]
    with StubServer(behaviour=poisoned) as server:
        rows = scores(OpenAIScorer(spec(server, folder), sleep=at_once))
    asked = [row for row in rows.values() if row.prompt_tokens is not None]
    assert asked
    assert all(row.total is None and told in str(row.error) for row in asked)


def zeros(body: Mapping[str, Any], _: int) -> Reply:
    """A server that echoes a text, and fills in what it did not compute."""
    choice = {"text": "", "logprobs": {"token_logprobs": [None, *[0.0] * len(body["prompt"])]}}
    return Reply(body=json.dumps({"choices": [choice]}).encode())


CHAT_ONLY: list[tuple[Behaviour, str]] = [
    (
        lambda _, __: failure(404, "no such path"),
        r"gives no log-probabilities of a given text \(HTTP 404: no such path",
    ),
    (lambda _, __: Reply(body=b'{"choices": [{"text": "x"}]}'), "the answer does not echo the text"),
    (lambda _, __: HTML, r"answers with a web page \(HTML\)"),
    (zeros, r"gives no log-probabilities of a given text \(the answer has no log-probability below 0\)"),
]


@pytest.mark.parametrize(("behaviour", "told"), CHAT_ONLY)
def test_a_server_that_cannot_says_so_before_anything_is_asked(folder: Path, behaviour: Behaviour, told: str) -> None:
    with StubServer(behaviour=behaviour) as server, OpenAIScorer(spec(server, folder)) as engine:
        with pytest.raises(EngineError, match=told) as fault:
            engine.score(REQUESTS)
        assert "\n" not in str(fault.value)
        assert len(server.bodies) == 1


def test_without_a_tokenizer_or_with_another_model_s_one_line_says_so(
    tmp_path: Path, echo: Callable[[Mapping[str, Any]], Reply]
) -> None:
    wordpiece().save_pretrained(tmp_path)
    with StubServer(behaviour=lambda body, _: echo(body)) as server:
        with pytest.raises(EngineError, match=r"option.*tokenizer"):
            open_engine(spec(server, None), SCORING)
        other = OpenAIScorer(spec(server, tmp_path))
        with other, pytest.raises(EngineError, match=r"server's.*tokens"):
            other.score(REQUESTS)
        absent = OpenAIScorer(spec(server, tmp_path / "absent"))
        with pytest.raises(EngineError, match=r"tokenizer: .*absent cannot be opened"), absent:
            pass
