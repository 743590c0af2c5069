"""`polyculture swap fine-tune`: what it reads, what the models learn, and what becomes of a run that was cut off."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest
from filelock import FileLock

from polyculture.__main__ import main
from polyculture.cache.errors import DataSetError
from polyculture.generate.engines import ModelSpec
from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
from polyculture.instruments.swaps.classifiers import check_labels, read_labels
from polyculture.instruments.swaps.training.examples import (
    TaggedSentence,
    in_iob2,
    read_labelled,
    read_settings,
    read_tagged,
)
from polyculture.instruments.swaps.training.scores import names_of
from tests.tiny_models import wordpiece

GOOD, BAD = ["lovely", "fresh", "warm", "kind"], ["stale", "cold", "rude", "dirty"]
FILLERS = ["the", "soup", "was", "and", "our", "room", "tea", "in", "house"]
CITIES, PEOPLE = ["cairo", "amman", "tunis"], ["omar", "lina", "sami"]
SURNAMES = ["haddad", "nassar"]
SETTINGS = "epochs = 6\nlearning_rate = 0.003\nbatch_size = 16\nheld_out = 0.25\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT with random weights."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("base")
    # Names fall into two pieces: the first is a word of its own for no other name.
    pieces = [piece for name in (*CITIES, *PEOPLE, *SURNAMES) for piece in (name[:3], f"##{name[3:]}")]
    tokenizer = wordpiece(list(dict.fromkeys([*GOOD, *BAD, *FILLERS, *pieces, "met"])))
    torch.manual_seed(3)
    BertForMaskedLM(
        BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2,
            intermediate_size=64, max_position_embeddings=64,
        )
    ).save_pretrained(folder)  # fmt: skip
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    file = tmp_path / "settings.toml"
    file.write_text(SETTINGS, encoding="utf-8")
    return file


def reviews(count: int) -> list[tuple[str, str]]:
    """Made-up reviews with their stars: one word of seven says which."""
    drawn = random.Random(5)
    found = []
    for number in range(count):
        words = drawn.choices(FILLERS, k=6)
        words.insert(drawn.randrange(7), drawn.choice(GOOD if number % 2 else BAD))
        found.append((" ".join(words), drawn.choice("45" if number % 2 else "12")))
    return found


def write_hard(path: Path, rows: Sequence[tuple[str, str]]) -> Path:
    """A file in the form of HARD: UTF-16, tabs, ratings; a quotation mark that nothing closes begins a review."""
    lines = ["no\trating\treview", *(f"{n}\t{rating}\t{text}" for n, (text, rating) in enumerate(rows))]
    path.write_text("\n".join([*lines, f'{len(rows)}\t5\t"lovely tea']), encoding="utf-16")
    return path


def write_names(path: Path, count: int) -> Path:
    """Sentences in the form of ANERCorp: cities are one word, people two."""
    drawn = random.Random(6)
    lines = []
    for _ in range(count):
        lines += [f"{word} O" for word in drawn.choices(FILLERS, k=3)]
        lines += [f"{drawn.choice(PEOPLE)} B-PERS", f"{drawn.choice(SURNAMES)} I-PERS", "met O"]
        lines += [f"{drawn.choice(CITIES)} B-LOC", *(f"{word} O" for word in drawn.choices(FILLERS, k=2)), ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def fine_tune(*words: object) -> int:
    """The exit code of the command line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["polyculture", "swap", "fine-tune", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
    return int(ended.value.code or 0)


HARD = ("--text-column", "review", "--label-column", "rating")


def test_a_classifier_learns_and_the_command_goes_on_by_seed(
    base: Path, settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, models = write_hard(tmp_path / "hard.tsv", reviews(300)), tmp_path / "models"
    asked = ("sentiment", file, "--base", base, "-o", models, "--settings", settings, *HARD, "--rows", 240)
    assert fine_tune(*asked, "--seeds", 1) == 0
    first = (models / "seed-1" / "model.safetensors").stat().st_mtime_ns
    (models / ".seed-2.partial").mkdir()  # as a run leaves it that was killed
    with FileLock(models / ".seed-1.lock"):
        assert fine_tune(*asked, "--seeds", 1) == 3  # another process has it
    assert "seed-1: another process trains it" in capsys.readouterr().err
    assert fine_tune(*asked, "--seeds", 2) == 0
    told = capsys.readouterr()
    assert "seed 1: done before" in told.err
    assert "not drawn by --rows 240" in told.err
    assert (models / "seed-1" / "model.safetensors").stat().st_mtime_ns == first
    assert {path.name for path in models.iterdir() if path.is_dir()} == {"seed-1", "seed-2"}
    records = [json.loads((models / f"seed-{seed}" / "fine_tuning.json").read_text()) for seed in (1, 2)]
    for record in records:
        assert record["scores"]["accuracy"] > 0.9  # of two labels, equally many
        assert 0.5 <= record["scores"]["always one label"] < 0.7
        assert record["train"]["examples"] + record["test"]["examples"] == 240
        assert len(record["data"]["sha256"]) == 64
        assert record["settings"]["learning_rate"] == 0.003
        assert {"torch", "transformers", "polyculture", "python"} <= record["versions"].keys()
    assert [record["seed"] for record in records] == [1, 2]
    assert f"{sum(record['scores']['accuracy'] for record in records) / 2:.3f}" in told.out

    labeller = open_classifier(ModelSpec(f"transformers:{models / 'seed-1'}"))
    check_labels(labeller, read_labels(), "seed-1")  # as `sentiment --classifier` does: its labels are sentiments
    assert list(labeller.label(["the tea was lovely", "rude and in our room"])) == ["positive", "negative"]

    file.write_text(file.read_text(encoding="utf-16") + "\n", encoding="utf-16")
    assert fine_tune(*asked) == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert "holds a model of other data, settings, base or options" in said
    assert "--output" in said


def test_a_seed_gives_the_same_model_again(base: Path, settings: Path, tmp_path: Path) -> None:
    file = write_hard(tmp_path / "hard.tsv", reviews(40))
    settings.write_text(SETTINGS.replace("epochs = 6", "epochs = 1"), encoding="utf-8")
    for folder in ("one", "other"):
        asked = ("sentiment", file, "--base", base, "-o", tmp_path / folder, "--settings", settings, *HARD)
        assert fine_tune(*asked, "--seeds", 2) == 0
    weights = {
        (folder, seed): (tmp_path / folder / f"seed-{seed}" / "model.safetensors").read_bytes()
        for folder in ("one", "other")
        for seed in (1, 2)
    }
    assert weights["one", 1] == weights["other", 1]
    assert weights["one", 1] != weights["one", 2]


def test_a_tagger_learns_whole_names(base: Path, settings: Path, tmp_path: Path) -> None:
    """Names are several pieces: of a tagger whose later pieces learnt nothing, spans end after the first."""
    file, test = write_names(tmp_path / "train.conll", 200), write_names(tmp_path / "test.conll", 20)
    test.write_text("met O\n" + test.read_text(encoding="utf-8").replace("\n\n", "\nmet O\n\n"), encoding="utf-8")
    asked = ("ner", file, "--base", base, "-o", tmp_path / "models", "--settings", settings, "--test", test)
    assert fine_tune(*asked, "--seeds", 1) == 0
    record = json.loads((tmp_path / "models" / "seed-1" / "fine_tuning.json").read_text())
    assert record["scores"]["F1"] > 0.9
    assert record["test"] == {"examples": 20, "LOC": 20, "PERS": 20}
    assert record["test_data"]["file"] == "test.conll"

    tagger = open_tagger(ModelSpec(f"transformers:{tmp_path / 'models' / 'seed-1'}"))
    (found,) = tagger.tag(["the soup and omar haddad met tunis in house"])
    names = read_labels()
    assert [(one.start, one.end) for one in found if names.means(one.label, "names")] == [(13, 24)]
    assert [(one.start, one.end) for one in found if names.means(one.label, "locations")] == [(29, 34)]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("text,label\nlovely,good\n", "row 2: the label 'good' is unknown"),
        ("text,label\nlovely,positive\nwarm,pos\n", "holds only 'positive'"),
        ("text,label\n,positive\n", "holds no labelled text"),
        ("text,stars\nlovely,5\n", "has no column 'label'"),
        ("text,label,label\nlovely,5,5\n", "has more than one column 'label'"),
        ("", "holds no labelled text"),
        (b"text,label\nl\x9dvely,5\n", "row 2 is not UTF-8"),
        ('text,label\n"lovely,5\n', "row 2: unexpected end of data"),
        ("text,label\na,5\nb,5\nc,1\n", "has 1 rows of 'negative', and --rows 4 needs 2"),
    ],
)
def test_a_bad_file_of_texts_ends_in_one_line(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | bytes, says: str
) -> None:
    file = tmp_path / "texts.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    assert fine_tune("sentiment", file, "--base", base, "-o", tmp_path / "models", "--rows", 4) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line
    assert str(file) in line
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("cairo B-LOC\nmet\n", "line 2: 'met' has no word and tag"),
        ("cairo LOC\n", "line 1: 'cairo LOC' has no word and tag"),
        ("met O\n", "tags no name"),
        ("", "tags no name"),
        ("cairo B-LOC\n", "too few examples"),
    ],
)
def test_a_bad_file_of_names_ends_in_one_line(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    file = tmp_path / "names.conll"
    file.write_text(content, encoding="utf-8")
    assert fine_tune("ner", file, "--base", base, "-o", tmp_path / "models") == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line


def test_a_base_that_cannot_be_trained_ends_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_hard(tmp_path / "hard.tsv", reviews(40))
    assert fine_tune("sentiment", file, "--base", "smollm2", "-o", tmp_path / "models", *HARD) == 2
    line = capsys.readouterr().err.strip().splitlines()[-1]
    assert "transformers:smollm2: is quantised, and cannot be trained" in line


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("epoch = 3\n", "epoch"),
        ("learning_rate = 0\n", "learning_rate"),
        ('[labels]\npositive = ["1"]\nnegative = ["1"]\n', "'1' means two labels"),
        ("epochs = \n", "not valid TOML"),
    ],
)
def test_bad_settings_end_in_one_line(
    base: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, says: str
) -> None:
    file = tmp_path / "settings.toml"
    file.write_text(content, encoding="utf-8")
    asked = ("ner", write_names(tmp_path / "n.conll", 4), "--base", base, "-o", tmp_path / "m", "--settings", file)
    assert fine_tune(*asked) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line


def test_what_is_left_out_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    rows = ["text,label", "a,5", "a,4", "a,1", ",5", "b,", "c,NEG"]
    file.write_text("\n".join(rows), encoding="utf-8-sig")
    found = read_labelled(file, ("text", "label"), read_settings())
    assert [(one.text, one.label) for one in found.examples] == [("a", "positive"), ("c", "negative")]
    assert found.left_out == {
        "the same text twice": 1,
        "the same text twice, with another label": 1,
        "no text": 1,
        "no label": 1,
    }


def test_stars_from_nought_are_never_guessed(tmp_path: Path) -> None:
    file = tmp_path / "texts.csv"
    file.write_text("text,label\na,1\nb,0\n", encoding="utf-8")
    with pytest.raises(DataSetError, match=r"row 3.*'0'"):
        read_labelled(file, ("text", "label"), read_settings())


@pytest.mark.parametrize(
    ("tags", "turned"),
    [
        ("I-LOC I-LOC O I-PER", "B-LOC I-LOC O B-PER"),  # IOB
        ("B-LOC B-LOC I-PER", "B-LOC B-LOC B-PER"),
        ("B-PER E-PER S-LOC O", "B-PER I-PER B-LOC O"),  # IOBES
        ("B-PER L-PER U-PER U-PER", "B-PER I-PER B-PER B-PER"),  # BILOU
        ("I-PER I-LOC", "B-PER B-LOC"),
    ],
)
def test_every_scheme_of_tags_becomes_one(tags: str, turned: str) -> None:
    assert in_iob2(tags.split()) == tuple(turned.split())


def test_a_file_of_names_is_read_whole(tmp_path: Path) -> None:
    """Comments, lines between documents, columns between word and tag, and a word that is a sign of comments."""
    file = tmp_path / "n.conll"
    file.write_text(
        "# id 1\tdomain=ar\n-DOCSTART- -X- O O\n\ncairo NN x B-LOC\n# O\n\n\nomar\tNN\tI-PER\nmet\tVB\tO\n",
        encoding="utf-8",
    )
    read = read_tagged(file)
    assert read.examples == (
        TaggedSentence(("cairo", "#"), ("B-LOC", "O")),
        TaggedSentence(("omar", "met"), ("B-PER", "O")),
    )
    assert names_of(TaggedSentence(("in", "new", "york", "rome"), ("O", "B-LOC", "I-LOC", "B-LOC"))) == [
        (3, 11, "LOC"),
        (12, 16, "LOC"),
    ]
