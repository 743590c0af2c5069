"""The persons alone, under two letters, by likelihood of a real engine: a tiny causal model of transformers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from polyculture.instruments.bbq.opened import chosen_prompts, open_questions
from polyculture.instruments.bbq.treatments import without_unknown
from tests.instruments.bbq.made_up import QUESTIONS, UNKNOWNS, write_folder
from tests.instruments.bbq.test_asking import EXPERIMENT
from tests.instruments.bbq.test_command import rows
from tests.polyculture.test_command_line import polyculture
from tests.tiny_models import save_causal

WHO = "answer_method, sample_id, permutation, shown, reading, role, choices, scores, tokens, unconditional"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Both likelihoods of every question, in both orders of the persons."""
    here = tmp_path_factory.mktemp("likelihood")
    model = save_causal("llama", here / "llama")
    (here / "exp.toml").write_text(EXPERIMENT.replace("mock:one", f"transformers:{model}"), encoding="utf-8")
    words = ("--folder", write_folder(here / "kobbq"), "--prompts", "1", "--treatment", "no-unknown")
    done = polyculture("bbq", "kobbq", "exp.toml", *words, "--method", "letter", "--method", "text", cwd=here)
    assert done.returncode == 0, done.stderr
    return here


def test_two_choices_in_both_orders_have_the_models_own_likelihoods(folder: Path) -> None:
    found = rows(folder, f"SELECT {WHO} FROM bbq_answers ORDER BY ALL")
    assert Counter(row[0] for row in found) == {"letter": QUESTIONS * 2, "text": QUESTIONS * 2}
    questions = {one.sample_id: one for one in open_questions("kobbq", folder / "kobbq", "evaluation").questions}
    prompt = without_unknown(chosen_prompts(open_questions("kobbq", folder / "kobbq", "evaluation"), ["1"])[0])
    score = scorer(folder / "llama")
    for method, sample, permutation, shown, reading, role, choices, scores, tokens, alone in found:
        assert (permutation, len(choices), len(scores), len(tokens), len(alone)) == (permutation, 2, 2, 2, 2)
        assert UNKNOWNS["1"] not in choices
        assert reading == "AB"[scores.index(max(scores))]
        assert role == {"b": "biased", "o": "other"}[shown["AB".index(reading)]]
        text = prompt.text(questions[sample], choices)
        assert "\nC: " not in text
        for place, said in enumerate(("A", "B") if method == "letter" else choices):
            assert scores[place] == pytest.approx(score(text, said), abs=1e-3)
            assert alone[place] == pytest.approx(score(prompt.answer, said), abs=1e-3)


def scorer(model: Path) -> Any:
    """The log-probability of a continuation after a text and a space, by one pass over the whole."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, causal = AutoTokenizer.from_pretrained(model), AutoModelForCausalLM.from_pretrained(model)

    def score(text: str, said: str) -> float:
        before, whole = (tokenizer(one, add_special_tokens=False).input_ids for one in (text, f"{text} {said}"))
        assert whole[: len(before)] == before
        with torch.no_grad():
            logits = causal(torch.tensor([whole])).logits[0].log_softmax(-1)
        return sum(float(logits[place - 1, whole[place]]) for place in range(len(before), len(whole)))

    return score


def test_likelihoods_without_unknown_have_bias_and_no_ambiguous_accuracy(folder: Path) -> None:
    query = """SELECT answer_method, reader, acc_a, diff_bias_a, acc_d, n_a, n_w, out_of_choice
        FROM bbq_metrics WHERE part = 'overall' AND averaging = 'pooled' ORDER BY ALL"""
    found = rows(folder, query)
    assert [row[:2] for row in found] == [
        (method, reader) for method in ("letter", "text") for reader in ("corrected", "mean", "sum")
    ]
    for _, _, acc_a, bias, acc_d, n_a, n_w, out in found:
        assert acc_a is None
        assert -1 <= bias <= 1
        assert 0 <= acc_d <= 1
        assert (n_a, n_w, out) == (QUESTIONS, QUESTIONS, 0)
    expected = rows(folder, """
        SELECT answer_method, reader,
            (count(*) FILTER (role = 'biased') - count(*) FILTER (role = 'other')) / count(*)
        FROM bbq_read WHERE context = 'ambiguous' GROUP BY ALL ORDER BY ALL""")  # fmt: skip
    assert [(method, reader, bias) for method, reader, _, bias, *_ in found] == expected
