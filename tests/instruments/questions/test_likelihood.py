"""Sentences, gaps, labels and option texts by the likelihood of real engines: tiny models, judged by brute force."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polyculture.cache.store.run_folder import RunFolder
from polyculture.generate.engines import ModelSpec
from polyculture.instruments.questions.asking import Method
from polyculture.instruments.questions.asking_step import LikelihoodStep
from polyculture.instruments.questions.layout import ANSWERS
from polyculture.instruments.questions.model import Question
from tests.instruments.questions.made_up import GAPPED, OWN, PAIR, choice
from tests.instruments.questions.test_asking import job
from tests.instruments.questions.test_asking_step import rows
from tests.steps import do_step
from tests.tiny_models import save_causal, save_masked

torch = pytest.importorskip("torch")


def scored(folder: Path, model: Path, question: Question, method: Method, **options: Any) -> dict[str, Any]:
    """The row of a question's answer."""
    prompts = (OWN,) if method in ("letter", "text") else (None,)
    asked, run = job(question, method=method, prompts=prompts), RunFolder(folder / method)
    do_step(run, LikelihoodStep("score", [asked]), ModelSpec(f"transformers:{model}", {"device": "cpu", **options}))
    (row,) = rows(run, asked, ANSWERS)
    assert row["error"] is None
    return row


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_masked(tmp_path_factory.mktemp("masked") / "bert")


@pytest.fixture(scope="module")
def causal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_causal("llama", tmp_path_factory.mktemp("causal") / "llama")


def opened(model: Path, kind: str) -> tuple[Any, Any]:
    import transformers

    return transformers.AutoTokenizer.from_pretrained(model), getattr(transformers, kind).from_pretrained(model)


def test_a_masked_model_weighs_what_sentences_share(tmp_path: Path, masked: Path) -> None:
    row = scored(tmp_path, masked, PAIR, "sentence")
    tokenizer, model = opened(masked, "AutoModelForMaskedLM")
    assert row["tokens"] == [2.0, 2.0]  # "we ate"
    for place, sentence in enumerate(PAIR.options):
        ids, total = tokenizer(sentence)["input_ids"], 0.0
        for at in (1, 2):  # behind [CLS]
            fed = [*ids[:at], tokenizer.mask_token_id, *ids[at + 1 :]]
            with torch.inference_mode():
                total += float(model(torch.tensor([fed])).logits[0, at].log_softmax(-1)[ids[at]])
        assert row["scores"][place] == pytest.approx(total, abs=1e-4)


@pytest.mark.parametrize("method", ["sentence", "gap", "letter", "text"])
def test_a_causal_model_weighs_texts_to_their_end(tmp_path: Path, causal: Path, method: Method) -> None:
    question = {"sentence": PAIR, "gap": GAPPED}.get(method, choice())
    row = scored(tmp_path, causal, question, method, bos=True)
    tokenizer, model = opened(causal, "AutoModelForCausalLM")
    before, texts = {
        "sentence": ("", PAIR.options),
        "gap": ("we ate", [f"we ate {one} in the house" for one in GAPPED.options]),
    }.get(method, (None, row["labels"] if method == "letter" else row["shown"]))
    asked = job(question, method=method, prompts=(OWN,) if before is None else (None,))
    if before is None:
        before = asked.scored(next(asked.asks())).prefix.rstrip(" ")
        texts = [f"{before} {one}" for one in texts]
    for place, text in enumerate(texts):
        ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
        start = 1 + len(tokenizer(before, add_special_tokens=False)["input_ids"])
        with torch.inference_mode():
            spread = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        total = sum(float(spread[at - 1, ids[at]]) for at in range(start, len(ids)))
        assert row["scores"][place] == pytest.approx(total, abs=1e-3)
        assert row["tokens"][place] == len(ids) - start


def test_sentences_are_weighed_where_the_tokenizer_begins_a_text_with_no_token(tmp_path: Path, causal: Path) -> None:
    tokenizer, _ = opened(causal, "AutoModelForCausalLM")
    assert tokenizer("we ate")["input_ids"][0] != tokenizer.bos_token_id
    plain, behind = (scored(tmp_path / str(bos), causal, PAIR, "sentence", bos=bos) for bos in (False, True))
    assert plain["scores"] == pytest.approx(behind["scores"], abs=1e-5)
    assert plain["tokens"] == behind["tokens"]
