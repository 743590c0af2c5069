"""`examples/fine_tune.py`: the models that CAMeL's section 4.3 trains, on a tiny one, as `swap` then loads them."""

from __future__ import annotations

import json
import random
import runpy
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from polyculture.generate.engines.base import ModelSpec
from polyculture.instruments.swaps.classifiers import check_labels, read_labels
from tests.tiny_models import wordpiece

pytest.importorskip("torch", reason="the extra 'transformers' is not installed")
pytest.importorskip("accelerate", reason="the Trainer of transformers needs accelerate, of the extra 'transformers'")

SCRIPT = Path(__file__).parents[2] / "examples" / "fine_tune.py"
WORDS = {"positive": ["lovely", "fresh", "warm"], "negative": ["stale", "cold", "rude"], "neutral": ["usual", "plain"]}
STARS = {"positive": "45", "negative": "12", "neutral": "3"}
FILLERS = "the soup was and our room tea in house".split()  # noqa: SIM905
CITIES, PEOPLE, SURNAMES = ["cairo", "amman", "tunis"], ["omar", "lina", "sami"], ["haddad", "nassar"]
HARD = ("--text-column", "review", "--label-column", "rating")
QUICK = ("--learning-rate", "0.01", "--epochs", "8")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights; names fall into two pieces, of which the first is a word of its own."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("base")
    pieces = [piece for name in (*CITIES, *PEOPLE, *SURNAMES) for piece in (name[:3], f"##{name[3:]}")]
    tokenizer = wordpiece(list(dict.fromkeys([*chain(*WORDS.values()), *FILLERS, *pieces, "met"])))
    torch.manual_seed(3)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def fine_tune(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Runs the script in this process: the folder of the model."""

    def run(task: str, file: Path, *words: str, output: str = "model") -> Path:
        asked = [str(SCRIPT), task, str(file), "--base", str(base), "-o", str(tmp_path / output), *words]
        monkeypatch.setattr(sys, "argv", asked)
        runpy.run_path(str(SCRIPT), run_name="__main__")
        return tmp_path / output

    return run


def write_reviews(file: Path, count: int, spread: Sequence[str] = tuple(WORDS)) -> Path:
    """A file in the form of HARD, where one word says the stars: UTF-16, tabs, and an open quotation mark."""
    draw = random.Random(5)
    lines = ["no\trating\treview"]
    for number in range(count):
        label = spread[number % len(spread)]
        words = [*draw.choices(FILLERS, k=5), str(number)]
        words.insert(draw.randrange(6), draw.choice(WORDS[label]))
        lines.append(f"{number}\t{draw.choice(STARS[label])}\t{' '.join(words)}")
    file.write_text("\n".join([*lines, f'{count}\t5\t"lovely tea', f'{count}\t5\t"lovely tea']), encoding="utf-16")
    return file


def test_a_classifier_learns_of_a_balanced_file(fine_tune: Callable[..., Path], tmp_path: Path) -> None:
    from polyculture.generate.engines.transformers.labelling import open_classifier

    file = write_reviews(tmp_path / "hard.tsv", 300, ("positive", "negative", "neutral", "positive"))
    model = fine_tune("sentiment", file, *HARD, *QUICK, "--rows", "180")
    told = json.loads((model / "fine_tuning.json").read_text(encoding="utf-8"))
    assert (told["learnt from"], told["tested on"]) == (144, 18)  # 80 and 10 %
    assert told["scores"]["accuracy"] > 0.8
    assert told["scores"]["always one label"] < 0.7
    labeller = open_classifier(ModelSpec(f"transformers:{model}"))
    check_labels(labeller, read_labels(), "model")  # as `swap sentiment --classifier` does
    texts = ["the tea was lovely", "rude and in our room", "our usual soup"]
    assert list(labeller.label(texts)) == ["positive", "negative", "neutral"]


def test_a_tagger_learns_one_kind_of_whole_names(fine_tune: Callable[..., Path], tmp_path: Path) -> None:
    """Names are several pieces: of a tagger whose later pieces learnt nothing, spans end after the first."""
    from polyculture.generate.engines.transformers.labelling import open_tagger

    draw, lines = random.Random(6), list[str]()
    for _ in range(200):
        lines += [f"{word} O" for word in draw.choices(FILLERS, k=3)]
        lines += [f"{draw.choice(PEOPLE)} B-PERS", f"{draw.choice(SURNAMES)} I-PERS", "met O"]
        lines += [f"{draw.choice(CITIES)} B-LOC", *(f"{word} O" for word in draw.choices(FILLERS, k=2)), ""]
    (tmp_path / "names.conll").write_text("\n".join(lines), encoding="utf-8")
    model = fine_tune("ner", tmp_path / "names.conll", *QUICK, "--kind", "PERS")
    told = json.loads((model / "fine_tuning.json").read_text(encoding="utf-8"))
    assert told["scores"]["F1"] > 0.9
    assert told["scores"]["names"] == told["tested on"] == 20
    tagger = open_tagger(ModelSpec(f"transformers:{model}"))
    (found,) = tagger.tag(["the soup and omar haddad met tunis in house"])
    assert [(one.start, one.end) for one in found if read_labels().means(one.label, "names")] == [(13, 24)]
    assert not [one for one in found if read_labels().means(one.label, "locations")]


def test_a_seed_gives_the_same_model_again(fine_tune: Callable[..., Path], tmp_path: Path) -> None:
    file = write_reviews(tmp_path / "hard.tsv", 60)
    few = (*HARD, "--epochs", "1", "--rows", "30")
    one, other = (fine_tune("sentiment", file, *few, output=name) for name in ("one", "other"))
    third = fine_tune("sentiment", file, *few, "--seed", "2", output="third")
    weights = [(folder / "model.safetensors").read_bytes() for folder in (one, other, third)]
    assert weights[0] == weights[1] != weights[2]


@pytest.mark.parametrize(
    ("task", "content", "says"),
    [
        ("sentiment", "text,label\nlovely,good\n", "line 2: the label 'good' is unknown"),
        ("sentiment", "text,label\nwarm,1\nlovely,0\n", "line 3: the label '0' is unknown"),
        ("sentiment", "text,stars\nlovely,5\n", "has no column label"),
        ("sentiment", "text,label\na,5\nb,5\nc,1\n", "1 texts are negative"),
        ("sentiment", "text,label\na,5\na,1\n", "texts of one label"),
        ("sentiment", "text,label\n", "texts of no label"),
        ("ner", "cairo B-LOC\nmet\n", "line 2: 'met' is no word with a tag"),
        ("ner", "cairo LOC\n", "line 1: 'cairo LOC' is no word with a tag"),
        ("ner", "cairo B-LOC\n", "no name is tagged PERS, but LOC"),
    ],
)
def test_a_file_that_cannot_be_learnt_from_ends_the_script(
    fine_tune: Callable[..., Path], tmp_path: Path, task: str, content: str, says: str
) -> None:
    (tmp_path / "file").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as end:
        fine_tune(task, tmp_path / "file", "--rows", "4")
    assert says in str(end.value)
    assert not (tmp_path / "model").exists()


def test_every_scheme_of_tags_becomes_one(tmp_path: Path) -> None:
    read: Any = runpy.run_path(str(SCRIPT))["read_names"]
    for tags, turned in (
        ("I-LOC I-LOC O I-PER", "B-LOC I-LOC O O"),  # IOB
        ("B-LOC B-LOC I-PER", "B-LOC B-LOC O"),
        ("B-LOC E-LOC S-LOC O", "B-LOC I-LOC B-LOC O"),  # IOBES
        ("B-LOC L-LOC U-LOC U-LOC", "B-LOC I-LOC B-LOC B-LOC"),  # BILOU
        ("I-PER I-LOC", "O B-LOC"),
    ):
        lines = [f"word NN {tag}" for tag in tags.split()]
        (tmp_path / "names").write_text("\n".join(["-DOCSTART- -X- O O", "", *lines, ""]), encoding="utf-8")
        assert [tags for _, tags in read(tmp_path / "names", "LOC")][-1] == turned.split()
