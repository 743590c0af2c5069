"""The transformers engine: every score is that of one plain pass over the whole text, by models small and real."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines import Decoding, Message, ModelSpec, Request, Scored, ScoreRequest, open_engine
from polyculture.generate.engines.model_files import let_waiting_threads_sleep
from polyculture.generate.engines.transformers.engine import TransformersEngine
from tests.tiny_models import CAUSAL, save_causal, save_masked

torch = pytest.importorskip("torch", reason="the extra 'transformers' is not installed")

FOODS = ("the soup", "the soup was hot", "fish", "fish and chips", "the")
REQUESTS = (
    ScoreRequest("en", "Yesterday, in the old house by the sea, we ate ", FOODS),
    ScoreRequest("ja", "昨日の夕食は、", ("寿司", "寿司と天ぷら", "天ぷら", "𩸽")),
    ScoreRequest("ko", "어제 먹은 것은 ", ("김치", "김치와 밥", "밥")),
    ScoreRequest("merged", "we ate so", ("up", "me")),
    ScoreRequest("one", "we ate", (" soup",)),
)


# Scores 300 and then 2,000 entities behind one context, and prints the peak memory after each.
GROWING = """
import resource, sys, torch
from transformers import GPT2Config, GPT2LMHeadModel
from polyculture.generate.engines import ModelSpec, ScoreRequest, open_engine
from tests.tiny_models import byte_level
torch.set_num_threads(1)
config = GPT2Config(vocab_size=32768, n_embd=16, n_layer=1, n_head=1, n_positions=64)
GPT2LMHeadModel(config).save_pretrained(sys.argv[1])
byte_level().save_pretrained(sys.argv[1])
with open_engine(ModelSpec(f"transformers:{sys.argv[1]}", {"device": "cpu"})) as engine:
    for size in (300, 2000):
        request = ScoreRequest("r", "we ate the soup and ", tuple(f"d{number}" for number in range(size)))
        assert sum(row.error is None for row in engine.score([request])) == size
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def by_key(rows: Iterator[Scored]) -> dict[tuple[str, int], Scored]:
    listed = list(rows)
    keyed = {(row.request_id, row.index): row for row in listed}
    assert len(keyed) == len(listed)
    return keyed


def plain_scores(engine: TransformersEngine, text: str, asked: int) -> list[float]:
    """The log-probabilities of the last `asked` tokens of `text`, by one pass over it and nothing clever."""
    loaded = engine._loaded
    ids = torch.tensor([loaded.tokenizer(text)["input_ids"]], device=loaded.model.device)
    with torch.inference_mode():
        spread = loaded.model(input_ids=ids).logits[0].log_softmax(-1)
    places = range(ids.shape[1] - asked, ids.shape[1])
    return [float(spread[place - 1, ids[0, place]]) for place in places]


def assert_plain(engine: TransformersEngine, requests: Sequence[ScoreRequest], tolerance: float = 1e-4) -> None:
    rows = by_key(engine.score(iter(requests)))
    assert set(rows) == {(request.request_id, n) for request in requests for n in range(len(request.continuations))}
    for request in requests:
        for index, continuation in enumerate(request.continuations):
            row = rows[request.request_id, index]
            assert row.error is None
            expected = plain_scores(engine, request.prefix + continuation, len(row.tokens))
            assert [token.log_probability for token in row.tokens] == pytest.approx(expected, abs=tolerance)
            assert row.total == pytest.approx(sum(expected), abs=10 * tolerance)
            assert row.mean == pytest.approx(sum(expected) / len(expected), abs=tolerance)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("models")
    return {"bert": save_masked(root / "bert")} | {kind: save_causal(kind, root / kind) for kind in CAUSAL}


def opened(folder: Path, **options: Any) -> TransformersEngine:
    engine = open_engine(ModelSpec(f"transformers:{folder}", options))
    assert isinstance(engine, TransformersEngine)
    return engine


@pytest.mark.parametrize("kind", CAUSAL)
@pytest.mark.parametrize("batch_tokens", [1, 5, 17, None])
def test_scores_are_those_of_a_plain_pass(folders: dict[str, Path], kind: str, batch_tokens: int | None) -> None:
    with opened(folders[kind], batch_tokens=batch_tokens) as engine:
        assert engine.scorer.method == ("plain" if kind in ("bloom", "mamba") else "tree")
        assert_plain(engine, REQUESTS)


def test_a_causal_model_scores_to_the_end_where_it_is_asked_to(folders: dict[str, Path]) -> None:
    within = ScoreRequest("a", "we ate", (" soup", " rice and tea"), " in the house")
    with opened(folders["gpt2"]) as engine:
        to_end = by_key(engine.score([replace(within, to_end=True)]))
        whole = by_key(
            engine.score([ScoreRequest("a", "we ate", (" soup in the house", " rice and tea in the house"))])
        )
        short = by_key(engine.score([within]))
    for key in whole:
        assert to_end[key].total == pytest.approx(whole[key].total)
        assert to_end[key].total < short[key].total
        assert not to_end[key].masked


@pytest.mark.parametrize("kind", ["gemma3", "mistral", "gpt2"])
def test_tree_and_plain_agree_in_eager_attention(folders: dict[str, Path], kind: str) -> None:
    with opened(folders[kind], attention="eager", batch_tokens=12) as tree:
        assert tree.scorer.method == "tree"
        assert_plain(tree, REQUESTS)
        tree.scorer.method = "plain"
        assert_plain(tree, REQUESTS)


def test_no_token_is_fed_twice_and_none_that_nobody_needs(folders: dict[str, Path]) -> None:
    from polyculture.generate.engines.transformers.prefix_trie import plan

    with opened(folders["gpt2"]) as engine:
        groups = list(engine._groups(iter(REQUESTS), failed := deque()))
        paths = {text.pair.ids[:n] for group in groups for text in group for n in range(1, text.pair.end)}
        (forest,) = plan(groups, 10_000)
        assert len(forest) == len(paths)
        assert not failed


def test_token_boundaries_are_told(folders: dict[str, Path]) -> None:
    with opened(folders["gpt2"]) as engine:
        rows = by_key(engine.score(iter(REQUESTS)))
    assert {rows["en", n].boundary for n in range(5)} == {"moved space"}
    assert {rows["ja", n].boundary for n in range(4)} == {"clean"}
    assert rows["merged", 0].boundary == "merged"


def test_what_cannot_be_scored_is_a_row_with_the_reason(folders: dict[str, Path]) -> None:
    long = ScoreRequest("long", "we ate", (" soup" * 200, " soup"))
    with opened(folders["gpt2"]) as engine:
        rows = by_key(engine.score([ScoreRequest("r", "", ("",)), long, ScoreRequest("e", "we ate", ("", " fish"))]))
    assert rows["long", 0].error == "202 tokens are more than the 128 that the model reads"
    assert rows["e", 0].error == "'' tokenises to nothing"
    assert rows["r", 0].total is rows["r", 0].mean is None
    assert rows["long", 1].error is rows["e", 1].error is None


@pytest.mark.parametrize("bos", [False, True])
def test_a_whole_text_is_scored_behind_the_token_that_begins_texts(folders: dict[str, Path], bos: bool) -> None:
    with opened(folders["gpt2"], bos=bos) as engine:
        (row,) = engine.score([ScoreRequest("r", "", ("soup",))])
        expected = plain_scores(engine, "<bos>soup", len(row.tokens))
        assert [token.log_probability for token in row.tokens] == pytest.approx(expected, abs=1e-4)
        (row,) = engine.score([ScoreRequest("r", "we ate", (" soup",))])
        expected = plain_scores(engine, f"{'<bos>' if bos else ''}we ate soup", len(row.tokens))
        assert [token.log_probability for token in row.tokens] == pytest.approx(expected, abs=1e-4)


def test_requests_are_taken_as_they_are_needed(folders: dict[str, Path]) -> None:
    taken = 0

    def endless() -> Iterator[ScoreRequest]:
        nonlocal taken
        while True:
            taken += 1
            yield ScoreRequest(str(taken), f"we ate {taken}", (" soup", " fish"))

    with opened(folders["gpt2"], batch_tokens=50) as engine:
        rows = engine.score(endless())
        for _ in range(20):
            next(rows)
        assert taken < 60


def test_memory_does_not_grow_with_the_number_of_entities(tmp_path: Path) -> None:
    """Logits of a pass over this vocabulary take 64 MiB, of all 2,000 entities at once 256."""
    peaks = subprocess.run(  # the peak of a process of its own
        [sys.executable, "-c", GROWING, str(tmp_path)], check=True, capture_output=True, text=True, timeout=300
    ).stdout.split()
    few, many = map(int, peaks)
    assert many - few < 100_000, "KiB"


def test_packs_are_bounded(folders: dict[str, Path]) -> None:
    from polyculture.generate.engines.transformers.prefix_trie import plan

    many = ScoreRequest("many", "we ate the soup and ", tuple(f"dish {number}" for number in range(5000)))
    failed: deque[Scored] = deque()
    with opened(folders["gpt2"]) as engine:
        groups = list(engine._groups([many], failed))
    assert max(map(len, groups)) == 4096
    packs = list(plan(groups, 512))
    assert max(map(len, packs)) <= 512 + len(groups[0][0].fed)
    assert sum(len(pack.texts) for pack in packs) == 5000


@pytest.mark.parametrize("entities", [3, 100])
def test_the_first_pass_is_smaller_and_loses_no_text(folders: dict[str, Path], entities: int) -> None:
    """The first score once waited for a pass of 512 tokens: 27 s of a busy CPU."""
    from polyculture.generate.engines.transformers.prefix_trie import plan

    requests = [
        ScoreRequest(str(n), f"we ate the soup {n} and ", tuple(f"dish {number}" for number in range(entities)))
        for n in range(40)
    ]
    failed: deque[Scored] = deque()
    with opened(folders["gpt2"]) as engine:
        groups = list(engine._groups(requests, failed))
    packs = list(plan(groups, 512, first=64))
    longest = max(len(text.fed) for group in groups for text in group)
    assert len(packs[0]) <= 64 + longest
    assert max(map(len, packs)) <= 512 + longest
    assert len(packs) <= len(list(plan(groups, 512))) + 2
    texts = [(text.request_id, text.pair.index) for pack in packs for text, _ in pack.texts]
    assert sorted(texts) == sorted((str(n), index) for n in range(40) for index in range(entities))


WAITING = """
import os, sys
from polyculture.generate.engines import SCORING, ModelSpec, open_engine
open_engine(ModelSpec("transformers:" + sys.argv[1]), SCORING)
print("torch" in sys.modules, os.environ["OMP_WAIT_POLICY"])
"""


def test_threads_that_wait_leave_the_cores_to_others(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """On two busy cores a pass over nine tokens took 1.3 s, for the 0.1 s that it takes without spinning threads."""
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    found = subprocess.run(
        [sys.executable, "-c", WAITING, str(folders["gpt2"])], check=True, capture_output=True, text=True, timeout=300
    )
    assert found.stdout.split() == ["False", "PASSIVE"]
    monkeypatch.setenv("OMP_WAIT_POLICY", "ACTIVE")
    let_waiting_threads_sleep()
    assert os.environ["OMP_WAIT_POLICY"] == "ACTIVE", "the user's own word"


def test_half_precision_is_close(folders: dict[str, Path]) -> None:
    with opened(folders["gemma3"], dtype="bfloat16") as engine:
        assert engine.scorer.method == "tree"
        assert "bfloat16" in engine.model_version
        assert_plain(engine, REQUESTS, tolerance=0.1)


class TestMasked:
    REQUEST = ScoreRequest("r", "we ate ", ("soup", "rice", "rice soup", "old bread cakes"), suffix=" with tea")

    def brute_force(self, engine: TransformersEngine, continuation: str, pseudo: bool) -> list[float]:
        tokenizer, model = engine._loaded.tokenizer, engine._loaded.model
        before = tokenizer("we ate")["input_ids"][:-1]
        gap = tokenizer(continuation, add_special_tokens=False)["input_ids"]
        ids = [*before, *gap, *tokenizer("with tea")["input_ids"][1:]]
        places = range(len(before), len(before) + len(gap))
        scores = []
        for place in places:
            hidden = [place] if pseudo else places
            fed = [tokenizer.mask_token_id if n in hidden else token for n, token in enumerate(ids)]
            with torch.inference_mode():
                spread = model(input_ids=torch.tensor([fed], device=model.device)).logits[0].log_softmax(-1)
            scores.append(float(spread[place, ids[place]]))
        return scores

    @pytest.mark.parametrize("masked", ["fill", "pseudo"])
    @pytest.mark.parametrize("batch_tokens", [1, None])
    def test_gaps_are_filled_as_brute_force_does(
        self, folders: dict[str, Path], masked: str, batch_tokens: int
    ) -> None:
        with opened(folders["bert"], masked=masked, batch_tokens=batch_tokens) as engine:
            rows = by_key(engine.score([self.REQUEST]))
            for index, continuation in enumerate(self.REQUEST.continuations):
                expected = self.brute_force(engine, continuation, masked == "pseudo")
                got = [token.log_probability for token in rows["r", index].tokens]
                assert got == pytest.approx(expected, abs=1e-4)

    def test_a_request_may_ask_for_one_token_at_a_time(self, folders: dict[str, Path]) -> None:
        with opened(folders["bert"]) as engine:
            rows = by_key(engine.score([replace(self.REQUEST, one_by_one=True)]))
            for index, continuation in enumerate(self.REQUEST.continuations):
                got = [token.log_probability for token in rows["r", index].tokens]
                assert got == pytest.approx(self.brute_force(engine, continuation, pseudo=True), abs=1e-4)
                assert rows["r", index].masked

    def test_unknown_words_are_rows_with_the_reason(self, folders: dict[str, Path]) -> None:
        with opened(folders["bert"]) as engine:
            known, unknown = engine.score([ScoreRequest("r", "we ate ", ("寿司", "soup"))])
        assert {known.index, unknown.index} == {0, 1}
        assert [row.error for row in (known, unknown) if row.index == 0] == ["'寿司' tokenises to unknown tokens"]

    def test_it_writes_no_texts(self, folders: dict[str, Path]) -> None:
        with opened(folders["bert"]) as engine, pytest.raises(EngineError, match="masked model"):
            engine.sample([])


class TestSampling:
    def request(self, name: str, *seeds: int, temperature: float = 1.0) -> Request:
        decoding = Decoding(temperature=temperature, top_p=0.95, top_k=50, max_tokens=8)
        return Request(name, (Message("user", f"we ate {name}"),), decoding, seeds)

    def test_a_text_is_its_seed_s_alone(self, folders: dict[str, Path]) -> None:
        with opened(folders["gpt2"], bare_prompts=True, batch_size=3) as engine:
            together = {
                (c.request_id, c.seed): c for c in engine.sample([self.request("a", 1, 2, 3), self.request("bb", 4, 5)])
            }
            alone = list(engine.sample([self.request("bb", 5)]))
        assert len({c.text for c in together.values()}) == 5
        assert together["bb", 5].text == alone[0].text
        assert all(c.completion_tokens and c.finish_reason in ("length", "stop") for c in together.values())

    def test_greedy_is_the_likeliest_text(self, folders: dict[str, Path]) -> None:
        with opened(folders["gpt2"], bare_prompts=True) as engine:
            first, second = engine.sample([self.request("a", 1, 2, temperature=0.0)])
        assert first.text == second.text

    def test_draws_follow_the_probabilities(self) -> None:
        from polyculture.generate.engines.transformers.sampling import _SeededChoice

        spread = torch.tensor([0.5, 0.2, 0.0, 0.3]).log().expand(4000, 4)
        chosen = _SeededChoice(range(4000))(torch.zeros(4000, 1), spread).argmax(-1)
        shares = [float((chosen == n).float().mean()) for n in range(4)]
        assert shares == pytest.approx([0.5, 0.2, 0.0, 0.3], abs=0.03)
        assert shares[2] == 0.0

    def test_a_chat_template_is_needed_or_the_word_that_none_is_wanted(self, folders: dict[str, Path]) -> None:
        with opened(folders["gpt2"]) as engine, pytest.raises(EngineError, match="bare_prompts"):
            engine.sample([self.request("a", 1)])


@pytest.mark.parametrize(
    ("name", "said"),
    [("nowhere/at-all-here.gguf", "there is no such file"), ("tiny", "neither a causal nor a masked language model")],
)
def test_what_cannot_be_opened_is_told_in_a_line(folders: dict[str, Path], name: str, said: str) -> None:
    if name == "tiny":
        from transformers import BertConfig, BertModel

        folder = folders["bert"].parent / "headless"
        BertModel(BertConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2)).save_pretrained(folder)
        name = str(folder)
    with pytest.raises(EngineError, match=said), open_engine(ModelSpec(f"transformers:{name}")):
        pass


@pytest.mark.slow
def test_a_real_model_from_a_gguf_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """SmolLM2 knows the capital of France, and a chat template."""
    gguf = pytest.importorskip("gguf")
    monkeypatch.setattr(gguf, "GGUFReader", cache(gguf.GGUFReader))  # transformers parses the file three times
    with open_engine(ModelSpec("transformers:smollm2")) as engine:
        assert isinstance(engine, TransformersEngine)
        capital = ScoreRequest("c", "The capital of France is ", ("Paris", "London", "Bern"))
        rows = by_key(engine.score([capital]))
        assert max(rows.values(), key=lambda row: row.total or -100).index == 0
        assert engine.model_version.startswith("SmolLM2-135M-Instruct.Q4_1.gguf sha256:")
        question = Request(
            "q", (Message("user", "What is the capital of France?"),), Decoding(temperature=0.0, max_tokens=8), (1,)
        )
        for completion in engine.sample([question]):
            assert "Paris" in (completion.text or ""), completion


def test_whether_a_model_fills_gaps_is_known_without_transformers(folders: dict[str, Path]) -> None:
    """`plan` and `status` ask it of every model: the import takes three seconds."""
    script = """
import sys
from polyculture.generate.engines import find_kind, read_options
from polyculture.generate.engines.base import ModelSpec
for name in sys.argv[1:]:
    spec = ModelSpec(f"transformers:{name}")
    kind = find_kind(spec)
    print(kind.masked(spec, read_options(kind.options, spec)))
print("transformers" in sys.modules)
"""
    named = [str(folders["bert"]), str(folders["llama"]), str(folders["llama"] / "nothing")]
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    done = subprocess.run([sys.executable, "-c", script, *named], capture_output=True, text=True, env=environment)
    assert done.stdout.split() == ["True", "False", "False", "False"], done.stderr
