"""What the five papers measured, by `polyculture paper`; with attention, relevance, a tagger and a classifier.

These are experiments of their own, so that what a paper asks takes the place of no number of the golden one. MAKIEval's
tables are those of the golden experiment, which has texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture.cache.store.run_folder import RunFolder
from polyculture.instruments.papers.join import CUT, THIN
from polyculture.instruments.papers.study import joined_tables
from tests.instruments.culture_files import write_blend, write_sheets
from tests.instruments.questions.kobbq_files import write_folder
from tests.tiny_models import WORDS, save_labeller, save_masked

if TYPE_CHECKING:
    from polyculture.instruments.papers.join import JoinedTable
    from tests.golden.numbers import Rows

PAPERS, SCOPE = "papers", "scope"  # two experiments: a file has the options of one paper
DATA = "own"
EXPERIMENT = """\
name = "{name}"
models = ["openai:tern", "transformers:bert", "transformers:llama"]
languages = ["ja"]
topics = ["food"]
countries = ["JP"]

[options.openai]
base_url = "{url}"
max_retries = 0
[options.transformers]
device = "cpu"
bare_prompts = true
"""
OF_SCOPE = """\
[instruments.paper]
name = "culturescope"
concepts = "concepts.tsv"
encoder = ["en=bert"]
"""
CULTURES = ("Mexico", "Indonesia", "Assam")
PEOPLE = {("Arab", "female"): ("Aisha", "Mona Said", "Salma", "Huda", "Nour"),
          ("Arab", "male"): ("Omar", "Ali Nasser", "Zayd", "Tariq", "Faris"),
          ("Western", "female"): ("Emily", "Anna Brown"), ("Western", "male"): ("Jack", "Adam Smith")}  # fmt: skip
ARAB_FOOD = ("kabsa", "harira", "labneh", "ful", "manti", "zaatar", "hummus", "knafeh", "molokhia", "tabbouleh")
FOOD = {"Arab": ARAB_FOOD, "Western": ("pizza", "cake", "stew")}
TAGS = {
    **dict.fromkeys(("aisha", "mona", "omar", "emily", "anna", "jack", "adam", "old"), "B-PER"),  # not 'ali nasser'
    **dict.fromkeys(("said", "brown", "smith"), "I-PER"),
    "house": "B-LOC",
}
FEELINGS = {**dict.fromkeys(("lovely", "cake", "aisha"), "POS"), **dict.fromkeys(("awful", "harira", "omar"), "NEG")}
ARABIC = (
    ("food", "grounded", "positive", "", "the lovely [MASK] we ate in the old house of Cairo"),
    ("food", "grounded", "negative", "", "the awful [MASK] we ate in the house of Cairo"),
    ("food", "neutral", "positive", "", "we ate with lovely [MASK]"),
    ("food", "neutral", "negative", "", "we ate awful [MASK] in the old house"),
    ("names", "grounded", "positive", "", "the lovely [MASK] we met in the old house of Cairo"),
    ("names", "neutral", "negative", "pro-drop", "met awful [MASK] in the house"),
    ("names", "neutral", "negative", "english-like", "we met awful [MASK] in the house"),
)
DISHES = {"Japanese": {"ラーメン": "ramen", "寿司": "sushi", "おにぎり": "onigiri"},
          "Western": {"ピザ": "pizza", "パスタ": "pasta", "ケーキ": "cake"}}  # fmt: skip
JAPANESE = (
    ("grounded", "positive", "京都で食べた[MASK]はおいしかった", "The [MASK] we ate in Kyoto was fine"),
    ("grounded", "negative", "京都で食べた[MASK]はまずかった", "The [MASK] we ate in Kyoto was bad"),
    ("neutral", "positive", "昨日の[MASK]は最高だった", "The [MASK] of yesterday was the best"),
    ("neutral", "negative", "昨日の[MASK]はひどかった", "The [MASK] of yesterday was awful"),
    ("qa", "", "昼に海で[MASK]を食べた", "At noon we had [MASK] by the sea"),
)


def write_papers(folder: Path, url: str) -> None:
    """The experiment, the data that papers ask about, and models with weights that are made up by hand or by a seed."""
    _write(folder / f"{PAPERS}.toml", EXPERIMENT.format(name=PAPERS, url=url))
    _write(folder / f"{SCOPE}.toml", EXPERIMENT.format(name=SCOPE, url=url) + OF_SCOPE)
    data = folder / "data"
    write_blend(data / "blend", questions=4, countries=CULTURES)
    write_sheets(data / "culture-mcq", 2, CULTURES)
    prompts = write_folder(data / "kobbq") / "evaluation" / "0_evaluation_prompts.tsv"
    *_, last = prompts.read_text(encoding="utf-8").splitlines()
    with prompts.open("a", encoding="utf-8") as more:  # the paper has five
        more.writelines(last.replace("2\t", f"{number}\t{number} ", 1) + "\n" for number in (3, 4, 5))
    votes = ({"노인": 70, "청년": 60, "no_stereo": 4}, {"부자": 40, "빈민": 80, "no_stereo": 9})
    survey = [
        {"category": category, "stereotype": f"{category} {number}", "survey_stats": some}
        for category in ("Age", "Social status")
        for number, some in enumerate(votes)
    ]
    _write(data / "kobbq-survey" / "KoBBQ_survey_result.json", json.dumps(survey, ensure_ascii=False))
    labels = [f"{one['category']}\t{one['stereotype']}\tTM" for one in survey]
    _table(data / "kobbq-survey" / "KoBBQ_templates.tsv", "Category\tStereotype\tLabel_annotation", labels)
    _table(folder / "concepts.tsv", "culture\tconcepts", [f"{one}\tsoup of {one}, rain" for one in CULTURES])
    _table(
        data / "own" / "contexts.csv",
        "language,culture,type,setting,sentiment,phrasing,form,context,english",
        _contexts(),
    )
    _table(data / "own" / "entities.csv", "language,culture,type,gender,entity,english", _entities())
    save_masked(folder / "bert", _words())
    save_labeller(folder / "tagger", ["B-PER", "I-PER", "B-LOC", "O"], TAGS, tokens=True)
    save_labeller(folder / "classifier", ["POS", "NEG", "NEU"], FEELINGS, tokens=False)


def _words() -> list[str]:
    """All words that the masked model reads: of what is written in Latin letters."""
    texts = " ".join([*(text for *_, text in ARABIC), *sum(FOOD.values(), ()), *sum(PEOPLE.values(), ()), "arab"])
    return sorted({*WORDS, *re.findall("[a-z]+", texts.lower())})


def _contexts() -> Iterator[str]:
    for kind, setting, label, phrasing, text in ARABIC:
        for form, whole in (("masked", text), ("causal", text.partition("[MASK]")[0] + "[MASK]")):
            yield f"ar,Arab,{kind},{setting},{label},{phrasing},{form},{whole},"
    for setting, label, text, english in JAPANESE:
        yield f"ja,Japanese,food,{setting},{label},,any,{text},{english}"


def _entities() -> Iterator[str]:
    yield from (f"ar,{side},food,,{name}," for side, names in FOOD.items() for name in names)
    yield from (f"ar,{side},names,{gender},{name}," for (side, gender), names in PEOPLE.items() for name in names)
    yield from (f"ja,{side},food,,{name},{english}" for side, each in DISHES.items() for name, english in each.items())


def _table(file: Path, header: str, lines: Iterable[str]) -> None:
    _write(file, "\n".join([header, *lines]) + "\n")


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


OWN = ("--data", DATA, "--folder", f"data/{DATA}")
CAMEL = (f"{PAPERS}.toml", *OWN, "--culture", "Arab")
SCOPE_PARTS = ("hard negatives", "attention", "probe of BLEnD", "relevance of BLEnD")
TERN, BERT, LLAMA = (("--model", one) for one in ("openai:tern", "transformers:bert", "transformers:llama"))
COMMANDS: tuple[tuple[int, tuple[str, ...]], ...] = (
    (0, ("paper", "camel", *CAMEL, *BERT, "--part", "cbs,embeddings")),
    (0, ("paper", "camel", *CAMEL, *TERN, "--part", "sentiment,ner")),
    (0, ("swap", "sentiment", *CAMEL, "--preset", "camel", "--classifier", "classifier")),
    (0, ("swap", "ner", *CAMEL, "--preset", "camel", "--tagger", "tagger")),
    (4, ("paper", "camellia", f"{PAPERS}.toml", *OWN, *LLAMA, "--language", "ja")),  # some answers are no label
    (0, ("paper", "kobbq", f"{PAPERS}.toml", *TERN, "--folder", "data")),
    (0, ("paper", "culturescope", f"{SCOPE}.toml", *LLAMA, "--folder", "data", "--culture", ",".join(CULTURES),
         "--part", ",".join(SCOPE_PARTS))),
)  # fmt: skip
RUN_OF: Mapping[str, str] = {
    "camel": PAPERS, "camellia": PAPERS, "kobbq": PAPERS, "culturescope": SCOPE, "makieval": "golden"
}  # fmt: skip


def read_papers(runs: Path) -> dict[str, Rows]:
    """Every cell of every table of the five papers, printed ones and those of the runs; and what the papers found."""
    from polyculture.cache.catalog.read import read_catalog
    from polyculture.cache.store.manifest import require_run
    from polyculture.instruments.datasets.presets import read_preset
    from polyculture.instruments.papers.answer import answer
    from polyculture.instruments.papers.join import JoinedTable, published_lines
    from polyculture.instruments.papers.tables import paper_tables
    from polyculture.published.cells import published

    catalog, cells, findings = read_catalog(), dict[str, dict[str, str]](), dict[str, dict[str, str]]()
    for paper, name in RUN_OF.items():
        run, data = RunFolder(runs / name), DATA if paper.startswith("cam") else None
        joined, _ = joined_tables(run, paper, require_run(run).sampling.get("seed", 0), data)
        filled = {one.table.name for one in joined}
        without = [one for one in paper_tables(paper, published(paper)) if one.name not in filled]
        printed = [JoinedTable(one, (), list(published_lines(one))) for one in without]
        for table in (*joined, *printed):
            cells.update(_cells(table))
        for finding, result, sides, difference, interval, why in answer(
            run, paper, read_preset(paper), catalog, data
        ).rows:
            low, _, high = str(interval).partition(" to ")
            findings[f"findings {paper}: {finding}: {result}, {sides}, {why}"] = {
                "difference": str(difference), "low": low, "high": high
            }  # fmt: skip
    return {"cells": cells, "findings": findings}


def _cells(joined: JoinedTable) -> Iterator[tuple[str, dict[str, str]]]:
    """A table's cells, and those without a number, which say why; each with what is said of it."""
    table = joined.table
    for line in joined.lines:
        place = "own" if line.own else "published", line.model, line.row
        name = " | ".join([f"{min(table.measures)} {table.paper} {table.name}", *place])
        for column, why in line.why.items():
            empty = dict.fromkeys(("value", "low", "high", "spread", "n", "shown"), "")
            yield f"{name} | {column} | {why}", empty
        for column, cell in line.cells.items():
            shown = cell.text.partition(" ")[0].rstrip(THIN + CUT)
            marks = cell.text.partition(" ")[0].removeprefix(shown)
            said = f"{column}{marks} | {cell.unit} | {cell.note} | {'; '.join(cell.remarks)}"
            numbers = {"value": cell.value, "low": cell.low, "high": cell.high, "spread": cell.spread}
            yield f"{name} | {said}", {
                **{key: "" if value is None else repr(value) for key, value in numbers.items()},
                "n": "" if cell.n is None else str(cell.n), "shown": shown,
            }  # fmt: skip
