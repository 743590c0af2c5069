"""What engines declare of themselves, and that the rest of the house asks nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError, ExperimentError
from polyculture.cache.store.ledger import Ledger
from polyculture.cache.store.model_facts import Price
from polyculture.experiment.checks import check_models, check_prices
from polyculture.experiment.file import Experiment
from polyculture.generate import engines
from polyculture.generate.budget import BudgetedSampling, JobBudget
from polyculture.generate.engines import (
    ENGINES,
    REPRESENTING,
    SAMPLING,
    SCORING,
    TOKENIZING,
    EngineKind,
    Message,
    ModelSpec,
    Request,
    check_can,
    find_kind,
    open_engine,
)
from polyculture.generate.engines.base import Completion, Decoding
from polyculture.generate.engines.setup import model_setup
from polyculture.generate.tokens import count_tokens
from polyculture.running.batching import asked_in_batches, batches_at_once, open_batches
from tests.generate.toy_engine import Toy

ROOT = Path(__file__).parents[2]
# An engine's own folder may name another engine, and a package of the same name may be checked for.
OWN = re.compile(r"generate/engines/((__init__|llamacpp|mock)\.py|(openai|transformers|vllm)/)")
PACKAGES = {  # these name a library, not an engine
    ("polyculture/experiment/workspace.py", "openai"),  # the versions that a manifest records
    ("instruments/probe/encoder.py", "transformers"),  # the library that opens an encoder
}


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_declares_itself(name: str) -> None:
    kind = find_kind(ModelSpec(f"{name}:model"))
    assert kind.name == name
    assert (kind.offer(SAMPLING) is not None) == (name != "imported")
    assert kind.paid == (name == "openai")
    assert kind.real == (name != "mock")


def test_an_engine_that_does_not_say_whether_it_is_paid_cannot_be_declared() -> None:
    told: dict[str, Any] = {"name": "free", "options": engines.kind.Options, "offers": ()}
    with pytest.raises(TypeError, match="paid"):
        EngineKind(**told)
    assert not EngineKind(**told, paid=False).paid


def test_nothing_else_in_the_house_names_an_engine() -> None:
    engines = "|".join(name for name in ENGINES if name != "imported")  # which is a word of texts, too
    named = re.compile(rf"[\"']({engines})[\"']")
    rooms = ("generate", "extract", "link", "metrics", "instruments", "reports", "collect", "cache", "polyculture")
    found = {
        (str(file.relative_to(ROOT)), name)
        for room in rooms
        for file in (ROOT / room).rglob("*.py")
        for name in named.findall(file.read_text(encoding="utf-8"))
    }
    assert {place for place in found if not OWN.match(place[0])} - PACKAGES == set()


def test_a_new_engine_is_one_file_and_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(ENGINES, "toy", "tests.generate.toy_engine")  # type: ignore[arg-type]
    spec = ModelSpec("toy:one", {"voice": "loud", "threads": 4})
    with open_engine(spec) as engine:
        (answer,) = engine.sample([Request("r", (Message("user", "Hello"),), Decoding(), (3,))])
    assert (answer.text, answer.completion_tokens) == ("loud 3", 2)
    assert model_setup(spec, "answer") == {"voice": "loud"}
    assert find_kind(spec).gpus(None) == 2
    assert not asked_in_batches(spec)
    assert batches_at_once(spec) == 1
    assert count_tokens(spec, ["a few words"]).counted_by.startswith("estimate")
    with pytest.raises(EngineError, match=r"toy:one.*'transformers'"):
        check_can(spec, REPRESENTING)
    experiment = Experiment.model_validate(
        {
            "name": "x",
            "models": ["toy:one"],
            "languages": ["en"],
            "topics": ["food"],
            "countries": ["IT"],
            "max_cost": 1.0,
        }
    )
    assert not list(check_models(experiment, tmp_path))
    with pytest.raises(ExperimentError, match=r"max_cost.*toy:one"):
        check_prices(experiment, tmp_path)


class _Failing(Toy):
    """Its answers: a text, a failure that may be billed, and one of a request that no server worked on."""

    def sample(self, requests: Iterable[Request]) -> Iterator[Completion]:
        for answer in super().sample(requests):
            error = (None, "HTTP 500: something broke", "HTTP 429: too many requests")[answer.seed]
            yield replace(answer, text=None, completion_tokens=None, error=error) if error else answer


def test_failures_of_an_engine_without_a_meter_are_charged_where_they_may_have_been_billed(tmp_path: Path) -> None:
    spent = []
    for seeds in ((0,), (0, 1), (0, 1, 2)):
        with closing(Ledger(tmp_path / str(len(seeds)), 1.0)) as ledger:
            budget = JobBudget(ledger, "generate x", lambda: 0.0, batch=False)
            engine = BudgetedSampling(_Failing(ModelSpec("toy:one")), Price(0.0, 1.0), budget)
            answers = list(engine.sample([Request("r", (Message("user", "Hello"),), Decoding(max_tokens=100), seeds)]))
            assert [answer.error is None for answer in answers] == [seed == 0 for seed in seeds]
            spent.append(ledger.spent())
    assert spent[0] > 0
    assert [money - spent[0] for money in spent[1:]] == pytest.approx([100 / 1e6] * 2)


def test_a_missing_capability_is_told_before_anything_is_loaded() -> None:
    """The packages and files of these models are not here: opening one would say so instead."""
    with pytest.raises(EngineError, match=r"vllm:/absent.*'transformers'"):
        open_engine(ModelSpec("vllm:/absent"), REPRESENTING)
    with pytest.raises(EngineError, match=r"log-probabilities.*'openai'"):
        open_engine(ModelSpec("llamacpp:/absent.gguf"), SCORING)
    with pytest.raises(EngineError, match=r"openai:gpt-x.*'llamacpp'"):
        open_engine(ModelSpec("openai:gpt-x", {"base_url": "http://localhost:1/v1"}), TOKENIZING)
    batched = ModelSpec("openai:gpt-x", {"tokenizer": "here", "batch": True})
    with pytest.raises(EngineError, match="without batch"):
        check_can(batched, SCORING)


def test_a_model_without_batches_is_not_opened_for_them(tmp_path: Path) -> None:
    from threading import Event

    with pytest.raises(EngineError, match=r"cannot.*batches"):
        open_batches(ModelSpec("vllm:x"), tmp_path, Event())


def test_an_option_decides_unless_its_type_says_otherwise() -> None:
    everything = {"score", "represent", "answer", "patch", "attend"}

    def decided(model: str, **options: object) -> set[str]:
        spec = ModelSpec(model, options)
        return {use for use in ("score", "represent", "answer", "patch", "attend") if model_setup(spec, use)}  # type: ignore[arg-type]

    assert decided("openai:m", base_url="http://localhost:1/v1") == everything
    assert decided("openai:m", concurrency=3, api_key_env="KEY", batch_poll=1.0) == set()
    assert decided("openai:m", tokenizer="t") == {"score"}
    assert decided("openai:m", extra_body={"x": 1}) == {"answer"}
    assert decided("transformers:org/m", bos=True) == {"score", "represent", "patch", "attend"}
    assert decided("transformers:org/m", bare_prompts=True) == {"answer", "patch", "attend"}
    assert decided("transformers:org/m", batch_tokens=9, batch_patches=4, batch_size=2) == set()
    assert decided("transformers:org/m", device="cpu") == everything  # it decides the precision
    assert decided("vllm:org/m", gpu_memory_utilization=0.5, python="python") == set()
    assert decided("vllm:org/m", quantization="fp8") == everything
