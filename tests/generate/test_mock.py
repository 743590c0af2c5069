"""The engine that only plays a model: deterministic, failing as it is told, marked as not real."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from polyculture.cache.errors import EngineError
from polyculture.experiment.file import Experiment
from polyculture.generate.engines import (
    REPRESENTING,
    SCORING,
    Completion,
    Decoding,
    Message,
    ModelSpec,
    Request,
    ScoreRequest,
    check_model,
    open_engine,
)
from polyculture.generate.engines.mock import ByteModel, MockEngine
from polyculture.generate.engines.setup import model_setup


def request(text: str = "Which dish?", seeds: int = 4, **decoding: object) -> Request:
    return Request(text, (Message("user", text),), Decoding(**decoding), tuple(range(seeds)))  # type: ignore[arg-type]


def answers(asked: Request, **options: object) -> list[Completion]:
    with open_engine(ModelSpec("mock:a", options)) as engine:
        return list(engine.sample([asked]))


def test_the_same_question_gets_the_same_answer_and_each_seed_another() -> None:
    first, again = answers(request()), answers(request())
    assert first == again
    assert len({answer.text for answer in first}) == 4
    assert all(answer.prompt_tokens == 2 and answer.finish_reason == "stop" for answer in first)


def test_answers_of_a_file_and_failures_that_it_states(tmp_path: Path) -> None:
    file = tmp_path / "answers.toml"
    file.write_text(
        '[[answer]]\nprompt = "tea"\nerror = "overloaded"\nretryable = true\n'
        '[[answer]]\nprompt = "dish"\ntexts = ["Pizza", "Sushi"]\n'
    )
    assert [a.text for a in answers(request(), answers=str(file))] == ["Pizza", "Sushi", "Pizza", "Sushi"]
    failed = answers(request("Which tea?", 1), answers=str(file))[0]
    assert (failed.text, failed.error, failed.retryable) == (None, "overloaded", True)
    assert answers(request("Which hat?", 1), answers=str(file))[0].text == "Which hat? 0"
    before = model_setup(ModelSpec("mock:a", {"answers": str(file)}), "answer")
    file.write_text('[[answer]]\ntexts = ["Soup"]\n')
    assert model_setup(ModelSpec("mock:a", {"answers": str(file)}), "answer") != before
    file.write_text('[[answer]]\ntxts = ["Soup"]\n')
    with pytest.raises(EngineError, match=r"answer\.0\.txts"):
        check_model(ModelSpec("mock:a", {"answers": str(file)}))


def test_reasoning_is_told_apart_from_the_answer() -> None:
    told = answers(request(seeds=1), reasoning="They may mean dinner.")[0]
    assert (told.text, told.reasoning) == ("Which dish? 0", "They may mean dinner.")


def test_a_schema_is_answered_by_its_smallest_value() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"type": "string", "enum": ["a", "b"]}, "all": {"type": "array", "items": {}}},
        "required": ["kind", "all"],
    }
    found = [json.loads(answer.text or "") for answer in answers(request(seeds=2, schema=schema))]
    assert found == [{"kind": "a", "all": []}, {"kind": "b", "all": []}]


def test_scores_are_true_log_probabilities() -> None:
    model = ByteModel("a")
    everything = math.fsum(math.exp(next(model.tokens("x", chr(code))).log_probability) for code in range(128))
    assert 0 < everything < 1  # ASCII is half of the bytes
    with open_engine(ModelSpec("mock:a"), SCORING) as engine:
        rows = list(engine.score([ScoreRequest("r", "I eat ", ("pizza", "寿司", " "))]))
    assert [row.index for row in rows] == [0, 1, 2]
    assert [token.token for token in rows[1].tokens] == ["寿", "司"]
    assert all(token.log_probability < 0 for row in rows for token in row.tokens)
    assert rows[2].error == "' ' tokenises to nothing"
    with open_engine(ModelSpec("mock:b"), SCORING) as other:
        assert next(iter(other.score([ScoreRequest("r", "I eat ", ("pizza",))]))).total != rows[0].total


def test_hidden_states() -> None:
    with open_engine(ModelSpec("mock:a"), REPRESENTING) as engine:
        pizza, empty = engine.represent([ScoreRequest("r", "I eat ", ("pizza", " "))], ("first", "3"))
        with pytest.raises(EngineError, match="has no layer '9'"):
            list(engine.represent([], ("9",)))
    assert pizza.layers == (0, 3)
    assert [len(vector) for vector in pizza.vectors] == [8, 8]
    assert empty.error


def test_a_function_can_answer() -> None:
    with MockEngine(ModelSpec("mock:a"), script=lambda asked, seed: f"{asked.request_id} {seed}") as engine:
        assert [answer.text for answer in engine.sample([request("q", 2)])] == ["q 0", "q 1"]


def test_an_experiment_with_it_says_that_it_is_not_real() -> None:
    asked = {"name": "x", "languages": ["en"], "topics": ["food"], "countries": ["IT"], "notes": ["own"]}
    dry = Experiment.model_validate({**asked, "models": ["mock:a", "vllm:b"]})
    assert dry.report_notes[0] == "own"
    assert dry.report_notes[1].startswith("Not real: no model answers for mock:a,")
    assert Experiment.model_validate({**asked, "models": ["vllm:b"]}).report_notes == ("own",)
