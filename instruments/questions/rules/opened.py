"""Question sets on this machine: by the name of rules that come along, or by a rules file of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.text.suggestions import did_you_mean
from polyculture.cache.toml_files import read_toml
from polyculture.instruments.datasets.rules import SHELF as DATA_SHELF
from polyculture.instruments.datasets.rules import rules_of as data_rules_of
from polyculture.instruments.questions.loaders import set_of
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.rules.model import TABLES, Rules
from polyculture.instruments.questions.rules.prompts import prompts_of
from polyculture.instruments.questions.rules.questions import Questions
from polyculture.sources.left_out import check_command, in_short
from polyculture.sources.places import Source
from polyculture.sources.rules import checked, one_or_several
from polyculture.sources.shelf import Shelf

SETS = Path(__file__).parent.with_name("sets")
_DATA = "It has contexts and entities: ask about them with polyculture cbs exp.toml --data {name}."
SHELF = Shelf("question set", SETS, Rules, TABLES, {DATA_SHELF.folder: _DATA})
_OF_QUESTIONS = ("questions", "loader")  # tables of which rules of questions have one
RELEVANCE = "relevance"  # the loader whose folder is a run's: without one, that of the experiment that asks


def citation_of(dataset: str) -> str:
    """What to cite for a set or a selection of one, by its rules; "" for a user's own set: no run keeps its rules."""
    for name, rules in SHELF.known.items():
        if rules.citation and (dataset == name or dataset.removeprefix(f"{name}-") in rules.selections):
            return rules.citation
    return ""


def source_of(name: str) -> Source:
    """Where a data set is published, of questions or of contexts and entities: by name, or by a rules file.

    Raises `DataSetError` where there is none of it.
    """
    is_file = name.endswith(".toml")
    if name in SHELF.names or (is_file and not read_toml(Path(name), DataSetError).keys().isdisjoint(_OF_QUESTIONS)):
        return SHELF.of(name)
    if ":" in name or is_file or name in DATA_SHELF.names:
        return data_rules_of(name)
    raise DataSetError(f"there is no data set {name!r}", remedy=did_you_mean(name, [*DATA_SHELF.names, *SHELF.names]))


def open_set(
    name_or_file: str, folder: Path | None = None, selection: str | None = None, concepts: Path | None = None
) -> QuestionSet:
    """A question set from `folder`, or from where it was fetched to; a user's own from where its rules file lies.

    `selection`: one of the rules' [selections]; `concepts` are of relevance alone. Raises `DataSetError` where ids
    repeat with another text, no question is left, or a language has no prompt. A file that cannot be read is a remark.
    """
    named = f"{name_or_file}:{selection}" if selection else name_or_file
    return replace(_opened(name_or_file, folder, selection, concepts), check_command=check_command(named, folder))


def _opened(name_or_file: str, folder: Path | None, selection: str | None, concepts: Path | None) -> QuestionSet:
    rules = SHELF.of(name_or_file)
    others = _other_files(rules) if selection is None and not SHELF.comes_along(rules) else None
    if concepts is not None and rules.loader != RELEVANCE:
        raise DataSetError(f"{rules.name} takes no concepts", remedy="Leave it out.")
    if rules.loader is not None:
        return _made(Path(name_or_file), rules, folder, selection, concepts)
    name = rules.name
    if selection is not None:
        rules, name = _selected(rules, selection), f"{rules.name}-{selection}"
    root = SHELF.folder_of(name_or_file, rules, folder)
    read = Questions(rules, name, root, others)
    read.read()
    if not read.found:
        why = in_short(read.remarks)
        is_read = any(line.place.row for line in read.remarks)
        remedy = "Compare the fields of the rules with what the files hold: docs/datasets.md explains them."
        remedy = remedy if is_read else rules.how_to_get
        raise DataSetError(f"holds no usable question{f': {why}' if why else ''}", where=root, remedy=remedy)
    questions = tuple(read.found.values())
    _check_orders(rules, questions, name_or_file)
    return QuestionSet(name, rules.title, rules.kind, root, questions, prompts_of(rules, root, questions),
                       rules.numbers, tuple(read.remarks), rules.read_as, rules.orders, rules.published)  # fmt: skip


def _other_files(rules: Rules) -> list[str]:
    """The files that a set's selections and prompts are read from."""
    selected = (one_or_several(one.set.get("files", ())) for one in rules.selections.values())
    return [*(pattern for files in selected for pattern in files), *filter(None, [rules.prompts.files])]


def _check_orders(rules: Rules, questions: Sequence[Question], where: object) -> None:
    """Raises `DataSetError` of an order that is one of no question's options."""
    numbers = {len(question.options) for question in questions}
    for number, order in enumerate(rules.orders):
        if len(order) not in numbers:
            first = questions[0]
            what = f"orders.{number}: {list(order)} is no order of the {len(first.options)} options of {first.name}"
            remedy = f"Write each of 0 to {len(first.options) - 1} once, or leave it out."
            raise DataSetError(f"{what} ({first.place})", where=where, remedy=remedy)


def _made(file: Path, rules: Rules, folder: Path | None, selection: str | None, concepts: Path | None) -> QuestionSet:
    """A set that a loader makes, under the name that its rules give it; prompts in the rules take the place of ours."""
    made = set_of(str(rules.loader))(folder, selection, concepts)
    if made.kind != rules.kind:
        what = f"kind: these questions are of kind {made.kind!r}, not {rules.kind!r}"
        raise DataSetError(what, where=file, remedy=f"Write kind = {made.kind!r}.")
    name = rules.name + made.name.removeprefix(str(rules.loader))  # of a selection 'relevance-blend'
    if "prompts" in rules.model_fields_set or not made.prompts:
        made = replace(made, prompts=prompts_of(rules, made.folder, made.questions))
    questions = tuple(replace(one, set=name) for one in made.questions)
    return replace(made, name=name, title=rules.title, questions=questions, published=rules.published)


def _selected(rules: Rules, name: str) -> Rules:
    """The rules with a selection's values in every block."""
    selection = rules.selections.get(name)
    if selection is None:
        there = f"There are {', '.join(rules.selections)}." if rules.selections else "There is none."
        raise DataSetError(f"there is no selection {name!r} of {rules.name}", remedy=there)
    data = rules.model_dump(by_alias=True, exclude_unset=True)
    for block in data["questions"]:
        facets = {**block.get("facets", {}), **selection.set.get("facets", {})}
        block |= {**selection.set, "facets": facets}
    data |= {"selections": {}, "published": selection.published}
    return checked(Rules, data, f"{rules.name}: selections.{name}", TABLES)
