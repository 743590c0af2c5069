"""Fine-tunes the models that CAMeL measures in its section 4.3 (Naous et al. 2024), with the Trainer of transformers.

    python examples/fine_tune.py sentiment hard.tsv --base aubmindlab/bert-base-arabertv02 -o models/hard
    polyculture swap sentiment exp.toml --data camel --preset camel --classifier models/hard

    python examples/fine_tune.py ner ANERCorp.txt --kind PERS --base aubmindlab/bert-base-arabertv02 -o models/persons
    polyculture swap ner exp.toml --data camel --preset camel --type names --tagger models/persons

Of the sentiment file, as many texts of each label are drawn, 30,000 in all, as the paper says. The file of names is in
CoNLL's form, a word and its tag a line; a model learns one kind of name, as in the paper. 80 % of the examples are
learnt from, 10 % choose the best epoch, and 10 % are tested on. The paper gives no other number: epochs, batches and
the learning rate are the usual ones for models of BERT's size (Devlin et al. 2019, appendix A.3).

It needs `pip install "polyculture[transformers]"`. It is an example and no part of the package: change what you like.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
import transformers

# What the labels of a sentiment file mean: words, and the stars from 1 to 5 of HARD (Elnagar et al. 2018).
MEANINGS = {"positive": {"positive", "pos", "4", "5"}, "negative": {"negative", "neg", "1", "2"},
            "neutral": {"neutral", "neu", "3"}}  # fmt: skip
SHARES = (0.8, 0.9)  # where the examples to learn from end, and those that choose the epoch
IGNORED = -100  # the label of tokens that are no part of a word
LONGEST = 256  # tokens of a text; what is longer is cut
Example = tuple[list[str], list[str]]  # a text and its label, or the words of a sentence and their tags


def read_texts(file: Path, text: str, label: str) -> Iterator[Example]:
    """The texts of a table, each once, with what their labels mean. Ends the script where a label is unknown."""
    content = file.read_bytes()
    lines = content.decode("utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig").splitlines() or [""]
    tabs = "\t" in lines[0]
    rows = csv.DictReader(lines, delimiter="\t" if tabs else ",", quoting=csv.QUOTE_NONE if tabs else csv.QUOTE_MINIMAL)
    if lacking := {text, label} - {*(rows.fieldnames or ())}:
        raise SystemExit(f"{file} has no column {', '.join(sorted(lacking))}: see --text-column and --label-column")
    known: set[str] = set()
    for number, row in enumerate(rows, start=2):
        said, word = (row[text] or "").strip(), (row[label] or "").strip().casefold()
        meant = next((meaning for meaning, words in MEANINGS.items() if word in words), None)
        if meant is None:
            raise SystemExit(f"{file}, line {number}: the label {word!r} is unknown: add it to MEANINGS in this script")
        if said and said not in known:
            known.add(said)
            yield [said], [meant]


def read_names(file: Path, kind: str) -> Iterator[Example]:
    """The sentences of a file, with the tags of one kind of name in IOB2.

    Ends the script where a line has no tag, and where no name is of this kind.
    """
    words, tags, kinds = list[str](), list[str](), set[str]()
    for number, line in enumerate([*file.read_text(encoding="utf-8-sig").splitlines(), ""], start=1):
        fields = line.split()
        if not fields or fields[0] == "-DOCSTART-":  # between documents
            if words:
                yield words, tags
            words, tags = [], []
        elif len(fields) == 1 or not re.fullmatch(r"O|[BIESLU]-\S+", fields[-1]):
            raise SystemExit(f"{file}, line {number}: {line[:60]!r} is no word with a tag, such as 'Cairo B-LOC'")
        else:
            prefix, _, own = fields[-1].partition("-")
            kinds.add(own)
            begins = prefix in ("B", "S", "U") or not tags or tags[-1] == "O"
            words, tags = [*words, fields[0]], [*tags, f"{'B' if begins else 'I'}-{kind}" if own == kind else "O"]
    if kind not in kinds:
        raise SystemExit(f"{file}: no name is tagged {kind}, but {', '.join(sorted(kinds - {''}))}: see --kind")


def balanced(examples: Sequence[Example], rows: int, seed: int) -> list[Example]:
    """So many examples, equally many of each label, at random. Ends the script where a label has too few."""
    by_label: dict[str, list[Example]] = {}
    for one in examples:
        by_label.setdefault(one[1][0], []).append(one)
    if len(by_label) < 2:
        raise SystemExit(f"the file has texts of {'one' if by_label else 'no'} label: give texts of two labels or more")
    each = rows // len(by_label)
    for label, some in by_label.items():
        if len(some) < each:
            raise SystemExit(f"{len(some)} texts are {label}, and --rows {rows} needs {each}: ask for fewer")
    draw = random.Random(seed)
    return [one for label in sorted(by_label) for one in draw.sample(by_label[label], each)]


def encode(
    examples: Iterable[Example], tokenizer: Any, numbers: Mapping[str, int], *, names: bool
) -> list[dict[str, Any]]:
    """Rows for the Trainer. The first piece of a word has its tag, and each further one goes on with it (I-)."""
    found = []
    for words, tags in examples:
        row = tokenizer(words if names else words[0], is_split_into_words=names, truncation=True, max_length=LONGEST)
        places = row.word_ids() if names else []
        labels: list[int] | int = [
            IGNORED if at is None else numbers[tags[at] if at != last else tags[at].replace("B-", "I-")]
            for last, at in zip([None, *places], places, strict=False)
        ]
        found.append({"input_ids": row["input_ids"], "labels": labels if names else numbers[tags[0]]})
    return found


def spans(tags: Sequence[str]) -> set[tuple[int, int]]:
    """Where names begin and end, of tags in IOB2."""
    text = "".join(tag[0] for tag in tags)
    return {found.span() for found in re.finditer(r"BI*", text)}


def scores(predicted: Any, rows: Sequence[dict[str, Any]], labels: Sequence[str], *, names: bool) -> dict[str, float]:
    """On examples that were not learnt from: accuracy beside that of always one label; or F1 of exact spans."""
    if not names:
        gold = [row["labels"] for row in rows]
        right = sum(one == other for one, other in zip(gold, predicted.argmax(-1), strict=True))
        return {"accuracy": right / len(gold), "always one label": max(Counter(gold).values()) / len(gold)}
    matched = told = there = 0
    for row, best in zip(rows, predicted.argmax(-1), strict=True):
        places = [place for place, label in enumerate(row["labels"]) if label != IGNORED]
        own, found = (spans([labels[each[place]] for place in places]) for each in (row["labels"], best))
        matched, told, there = matched + len(own & found), told + len(found), there + len(own)
    return {"F1": 2 * matched / max(told + there, 1), "names": float(there)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("sentiment", "ner"))
    parser.add_argument("file", type=Path, help="sentiment: a table of texts and labels; ner: words and tags")
    parser.add_argument("--base", required=True, help="the model to begin with: a name on the hub, or a folder")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a new folder for the model")
    parser.add_argument("--text-column", default="text", help="sentiment: the column with the text")
    parser.add_argument("--label-column", default="label", help="sentiment: the column with the label or rating")
    parser.add_argument("--rows", type=int, default=30_000, help="sentiment: so many texts, balanced over labels")
    parser.add_argument("--kind", default="PERS", help="ner: the kind of name, as the file's tags have it")
    parser.add_argument("--epochs", type=float, default=3)
    parser.add_argument("--learning-rate", type=float, default=2e-5)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--seed", type=int, default=1, help="of the draw, the split, the new weights and the batches")
    asked = parser.parse_args()
    names = asked.task == "ner"
    if asked.output.exists():
        raise SystemExit(f"{asked.output} exists already: name a new folder with --output")
    examples = list(read_names(asked.file, asked.kind)) if names else balanced(
        list(read_texts(asked.file, asked.text_column, asked.label_column)), asked.rows, asked.seed
    )  # fmt: skip
    random.Random(asked.seed).shuffle(examples)
    labels = ["O", f"B-{asked.kind}", f"I-{asked.kind}"] if names else sorted({label for _, [label] in examples})
    numbers = {label: number for number, label in enumerate(labels)}

    transformers.set_seed(asked.seed)
    tokenizer = transformers.AutoTokenizer.from_pretrained(asked.base)
    kind = transformers.AutoModelForTokenClassification if names else transformers.AutoModelForSequenceClassification
    model = kind.from_pretrained(asked.base, num_labels=len(labels), label2id=numbers, id2label=dict(enumerate(labels)))
    rows = encode(examples, tokenizer, numbers, names=names)
    ends = [0, *(round(share * len(rows)) for share in SHARES), len(rows)]
    train, choose, test = (rows[start:end] for start, end in pairwise(ends))
    collator = transformers.DataCollatorForTokenClassification if names else transformers.DataCollatorWithPadding
    with TemporaryDirectory() as folder:
        trainer = transformers.Trainer(
            model=model, train_dataset=train, eval_dataset=choose, data_collator=collator(tokenizer),
            args=transformers.TrainingArguments(
                output_dir=folder, num_train_epochs=asked.epochs, learning_rate=asked.learning_rate, warmup_steps=0.1,
                per_device_train_batch_size=asked.batch_size, weight_decay=0.01, seed=asked.seed, report_to=[],
                eval_strategy="epoch", save_strategy="epoch", save_total_limit=1, load_best_model_at_end=True,
                dataloader_pin_memory=torch.cuda.is_available(),  # without a GPU torch warns of it
            ),
        )  # fmt: skip
        trainer.train()
        result = scores(trainer.predict(test).predictions, test, labels, names=names)
    model.save_pretrained(asked.output)
    tokenizer.save_pretrained(asked.output)
    made_of = {
        **{name: str(value) if isinstance(value, Path) else value for name, value in vars(asked).items()},
        "sha256": hashlib.sha256(asked.file.read_bytes()).hexdigest(), "transformers": transformers.__version__,
        "learnt from": len(train), "tested on": len(test), "scores": result,
    }  # fmt: skip
    (asked.output / "fine_tuning.json").write_text(json.dumps(made_of, indent=2, ensure_ascii=False), encoding="utf-8")
    print(", ".join(f"{name} {value:.3f}" for name, value in result.items()))


if __name__ == "__main__":
    main()
