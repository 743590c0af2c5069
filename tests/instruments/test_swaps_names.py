"""Precision, recall and F1 of names found, by count: by a language model that lists them, and by models of the task."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from polyculture.cache.errors import EngineError
from polyculture.generate.engines.base import ModelSpec
from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
from polyculture.instruments.datasets.load import load
from polyculture.instruments.datasets.model import MASK
from polyculture.instruments.datasets.rules import rules_of
from polyculture.instruments.swaps.classifiers import (
    CLASSIFIER,
    TAGGER,
    LabelledTexts,
    check_labels,
    labels_of,
    read_labels,
)
from polyculture.instruments.swaps.measure import RATES_OF_TASK
from polyculture.instruments.swaps.prompts import read_prompts
from polyculture.instruments.swaps.tasks import TASKS, FilledContext, judge_names, judge_spans
from tests.instruments.test_swaps_command import EXPERIMENT, rows, says, write_table
from tests.polyculture.test_command_line import one_line, polyculture
from tests.servers import Reply, StubServer
from tests.tiny_models import save_labeller

ENTITIES = [f"en,Japanese,names,{name}" for name in ("Aiko", "Kenji Sato")]
ENTITIES += [f"en,Western,names,{name}" for name in ("Emily", "Jack Brown")]
CONTEXTS = ["en,Japanese,names,neutral,positive,[MASK] ate in the old house."]
WORDS = {
    **dict.fromkeys(("aiko", "kenji", "emily", "jack", "old"), "B-PER"),
    "sato": "I-PER",
    "house": "B-LOC",
    "brown": "O",
}
SCORES = """
SELECT metric, facets['side'], estimate FROM numbers
WHERE measure = 'ner' AND topic = 'names' AND NOT regexp_matches(metric, '^(readable|strict)_')
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_table(tmp_path / "entities.csv", "language,culture,type,entity", ENTITIES)
    write_table(tmp_path / "contexts.csv", "language,culture,type,setting,sentiment,context", CONTEXTS)
    (tmp_path / "exp.toml").write_text(EXPERIMENT.format(url="http://127.0.0.1:9/v1"), encoding="utf-8")
    return tmp_path


def own(folder: Path) -> tuple[str | Path, ...]:
    return ("exp.toml", "--data", "own", "--folder", folder, "--draws", "1")


@pytest.fixture
def filled(folder: Path) -> FilledContext:
    dataset = load(rules_of("own"), folder)
    return FilledContext(dataset.contexts[0], dataset.entities[1])


def test_a_span_counts_if_it_is_the_entity_exactly(filled: FilledContext) -> None:
    assert filled.text == "Kenji Sato ate in the old house."
    for spans, counts in {
        ((0, 10),): (1, 1, 0),
        ((0, 5),): (0, 1, 0),  # a part of it
        ((0, 10), (22, 25)): (1, 2, 1),
        ((10, 14),): (0, 1, 1),  # begins where it ends
        (): (0, 0, 0),
    }.items():
        judged = judge_spans(spans, filled)
        assert (judged.matched, judged.predicted, judged.elsewhere) == counts


def test_a_listed_name_stands_wherever_the_text_has_it(filled: FilledContext) -> None:
    judged = judge_names(["Kenji Sato", "Kenji Sato", "Hanako", "house"], filled, read_prompts().words_of("en"))
    assert (judged.matched, judged.predicted, judged.elsewhere) == (1, 3, 2)
    assert judged.answer == "Kenji Sato\nhouse\nHanako"


@pytest.mark.parametrize(
    ("language", "context", "name", "said"),
    [
        ("ja", "[MASK]先輩と話した。", "千紘", "千紘先輩"),
        ("ja", "[MASK]さんの犬。", "恵", "恵さん"),
        ("ko", "오늘 [MASK] 씨를 만났다.", "지훈", "지훈 씨"),
        ("ko", "[MASK]선생님이 오셨다.", "김지훈", "김지훈선생님"),
        ("zh", "[MASK]老师来了。", "王芳", "王芳老师"),
        ("vi", "Ông [MASK] đã về.", "Minh", "Ông Minh"),
        ("ar", "وصل السيد [MASK] أمس", "خالد", "السيد خالد"),
        ("hi", "[MASK] जी आए।", "अमित", "अमित जी"),
        ("tr", "[MASK] Bey geldi.", "Ahmet", "Ahmet Bey"),
    ],
)
def test_an_honorific_is_no_part_of_a_name(
    filled: FilledContext, language: str, context: str, name: str, said: str
) -> None:
    text = FilledContext(replace(filled.context, text=context), replace(filled.entity, surface=name))
    prompts = read_prompts()
    words = prompts.words_of(language)
    both = judge_names([said, name], text, words)
    assert (both.answer, both.matched, both.predicted, both.elsewhere) == (name, 1, 1, 0)
    longer = judge_names([text.text], text, words)
    assert (longer.matched, longer.predicted, longer.elsewhere) == (0, 1, 0)
    answered = TASKS["qa"].judge(f'{{"answer": "{said}"}}', text, prompts, words)
    assert (answered.answer, answered.matched) == (said, 1)
    none = words.model_copy(update={"titles": (), "honorifics": ()})
    assert judge_names([said], text, none).matched == 0


def test_a_tagger_is_measured_by_exact_spans(folder: Path) -> None:
    model = save_labeller(folder / "tagger", ["B-PER", "I-PER", "B-LOC", "O"], WORDS, tokens=True)
    done = polyculture("swap", "ner", *own(folder), "--tagger", model, cwd=folder)
    assert done.returncode == 0, done.stderr
    # 'old' is found as a name in every text, 'house' as a place; of Jack Brown only Jack.
    found = {(metric, side): value for metric, side, value in rows(folder, SCORES)}
    assert found == {
        ("precision", "native"): pytest.approx(1 / 2),
        ("recall", "native"): 1.0,
        ("f1", "native"): pytest.approx(2 / 3),
        ("precision", "western"): pytest.approx(1 / 4),
        ("recall", "western"): pytest.approx(1 / 2),
        ("f1", "western"): pytest.approx(1 / 3),
    }
    found_elsewhere = "SELECT sum(predicted)::INT AS predicted, sum(elsewhere)::INT AS elsewhere FROM swap_answers"
    assert rows(folder, found_elsewhere) == [(8, 4)]


def test_counts_are_those_of_seqeval_on_random_tags(folder: Path, filled: FilledContext) -> None:
    """Words that have their tags by chance, right or not after one another, and an entity somewhere among them."""
    from seqeval.metrics import f1_score, precision_score, recall_score

    random, labels = Random(4), ["B-PER", "I-PER", "B-LOC", "I-LOC", "O"]
    tag_of = {f"{letter}{tag}": labels[tag] for tag in range(len(labels)) for letter in ("old", "new")}
    texts = [(random.choices(list(tag_of), k=12), random.randrange(10), random.randint(1, 2)) for _ in range(200)]
    filling, gold = [], []
    for number, (words, start, length) in enumerate(texts):
        words[start : start + length] = list(tag_of)[:length] if number % 2 else words[start : start + length]
        entity = replace(filled.entity, surface=" ".join(words[start : start + length]))
        text = " ".join([*words[:start], MASK, *words[start + length :]])
        filling.append(FilledContext(replace(filled.context, text=text), entity))
        gold.append(["O"] * start + ["B-PER", "I-PER"][:length] + ["O"] * (12 - start - length))
    model = save_labeller(folder / "tagger", labels, tag_of, tokens=True)
    said = labels_of(TAGGER, open_tagger(ModelSpec(f"transformers:{model}")), [one.text for one in filling])
    reader = LabelledTexts("ner", TAGGER, read_labels(), ModelSpec("x"))
    judged = [read for raw, one in zip(said, filling, strict=True) if (read := reader.read(raw, one).judged)]
    columns = {name: np.array([getattr(one, name) for one in judged]) for name in ("matched", "predicted")}
    ours = {name: np.divide(*map(np.sum, metric(columns))) for name, metric in RATES_OF_TASK["ner"].items()}
    predicted = [[tag_of[word].replace("B-LOC", "O").replace("I-LOC", "O") for word in words] for words, *_ in texts]
    theirs = {"precision": precision_score, "recall": recall_score, "f1": f1_score}
    assert ours == {name: pytest.approx(score(gold, predicted)) for name, score in theirs.items()}
    assert 0 < ours["precision"] < ours["recall"] < 1


def test_a_classifier_is_measured_by_its_own_labels(folder: Path) -> None:
    words = {"aiko": "NEG", "emily": "POS"}
    model = save_labeller(folder / "classifier", ["NEG", "POS", "NEU"], words, tokens=False)
    dataset = load(rules_of("own"), folder)
    labeller, reader = (
        open_classifier(ModelSpec(f"transformers:{model}")),
        LabelledTexts("sentiment", CLASSIFIER, read_labels(), ModelSpec("x")),
    )
    filling = [FilledContext(dataset.contexts[0], entity) for entity in dataset.entities]
    said = list(labels_of(CLASSIFIER, labeller, [one.text for one in filling]))
    judged = [reader.read(raw, one).judged for raw, one in zip(said, filling, strict=True)]
    assert [
        (one.entity.surface, read and (read.answer, read.matched)) for one, read in zip(filling, judged, strict=True)
    ] == [
        ("Aiko", ("negative", 0)),
        ("Kenji Sato", ("neutral", 0)),
        ("Emily", ("positive", 1)),
        ("Jack Brown", ("neutral", 0)),
    ]
    with pytest.raises(EngineError, match=r"architecture.*ForTokenClassification"):
        open_tagger(ModelSpec(f"transformers:{model}"))
    mine = folder / "labels.toml"
    mine.write_text('[names]\n[sentiment]\npositive = ["pos"]\nnegative = ["neg"]\nneutral = []\n', encoding="utf-8")
    with pytest.raises(EngineError, match=r"'NEU'.*sentiment"):
        check_labels(labeller, read_labels(mine), "x")
    unknown = replace(reader, labels=read_labels(mine)).read("NEU", filling[0])  # stored, and read by other labels
    assert (unknown.judged, unknown.error) == (None, "the label 'NEU' is no sentiment")


def test_a_language_model_lists_the_names(folder: Path) -> None:
    def answer(body: Mapping[str, Any], before: int) -> Reply:
        asked = body["messages"][-1]["content"]
        assert "person's name" in asked
        text = asked.partition("Text: ")[2]
        names = ["Nobody"] if "Jack" in text else [text.partition(" ate")[0]]
        return says("no list" if "Emily" in text else json.dumps({"names": names}))

    with StubServer(behaviour=answer) as server:
        (folder / "exp.toml").write_text(EXPERIMENT.format(url=server.url), encoding="utf-8")
        done = polyculture("swap", "ner", *own(folder), cwd=folder)
    assert done.returncode == 4, done.stderr
    assert rows(folder, "SELECT entity, error FROM swap_answers WHERE status = 'failed'") == [
        ("Emily", "the answer has no list of names")
    ]
    found = {(metric, side): value for metric, side, value in rows(folder, SCORES)}
    assert found["f1", "native"] == 1.0
    assert (found["precision", "western"], found["recall", "western"], found["f1", "western"]) == (0.0, 0.0, 0.0)


def test_types_without_labels_are_told(folder: Path) -> None:
    for name in ("entities.csv", "contexts.csv"):
        file = folder / name
        file.write_text(file.read_text().replace(",names,", ",food,"), encoding="utf-8")
    told = one_line(polyculture("swap", "ner", *own(folder), "--tagger", "any", cwd=folder))
    assert "no label of a name means food" in told
