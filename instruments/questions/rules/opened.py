"""Question sets on this machine: by the name of rules that come along, or by a rules file of the user's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.files import is_folder_name
from polyculture.cache.text.suggestions import did_you_mean, near_words
from polyculture.cache.toml_files import read_toml
from polyculture.instruments.datasets.rules import known_data_sets
from polyculture.instruments.datasets.rules import rules_of as data_rules_of
from polyculture.instruments.questions.loaders import set_of
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.rules.model import TABLES, Rules
from polyculture.instruments.questions.rules.prompts import prompts_of
from polyculture.instruments.questions.rules.questions import Questions, where_from
from polyculture.sources.fetch import check_as_received, data_folder
from polyculture.sources.left_out import by_reason, check_command
from polyculture.sources.places import Source
from polyculture.sources.rows import root_of
from polyculture.sources.rules import checked

SETS = Path(__file__).parent.with_name("sets")
_NAMED = 3  # reasons that an error names
RELEVANCE = "relevance"  # the loader whose folder is a run's: without one, that of the experiment that asks


@cache
def known_sets() -> Mapping[str, Rules]:
    """The sets whose rules come along, by name."""
    return {file.stem: read_rules(file) for file in sorted(SETS.glob("*.toml"))}


def citation_of(dataset: str) -> str:
    """What to cite for a set or a selection of one, by its rules; "" for a user's own set: no run keeps its rules."""
    for name, rules in known_sets().items():
        if rules.citation and (dataset == name or dataset.removeprefix(f"{name}-") in rules.selections):
            return rules.citation
    return ""


def rules_of(name_or_file: str) -> Rules:
    """The rules of a set, by name or by the path of a rules file. Raises `DataSetError` where there are none."""
    if name_or_file.endswith(".toml"):
        file = Path(name_or_file)
        if not file.is_file():
            near = near_words(file.name, [one.name for one in file.parent.glob("*.toml")])
            meant = f"Did you mean {str(file.with_name(near[0]))!r}? " if near else ""
            raise DataSetError("there is no such rules file", where=file, remedy=f"{meant}See docs/datasets.md.")
        return _named_apart(read_rules(file), name_or_file)
    if not is_folder_name(name_or_file) or not (SETS / f"{name_or_file}.toml").is_file():
        known = [file.stem for file in SETS.glob("*.toml")]
        remedy = did_you_mean(name_or_file, known)
        raise DataSetError(f"there is no question set {name_or_file!r}", remedy=f"{remedy} Or name a rules file.")
    return read_rules(SETS / f"{name_or_file}.toml")


def source_of(name: str) -> Source:
    """Where a data set is published, of questions or of contexts and entities: by name, or by a rules file.

    Raises `DataSetError` where there is none of it.
    """
    found = known_sets()
    if name in found:
        return found[name]
    if name.endswith(".toml") and not read_toml(Path(name), DataSetError).keys().isdisjoint(("questions", "loader")):
        return read_rules(Path(name))
    known = known_data_sets()
    if ":" in name or name.endswith(".toml") or name in known:
        return data_rules_of(name)
    raise DataSetError(f"there is no data set {name!r}", remedy=did_you_mean(name, [*known, *found]))


def _named_apart(rules: Rules, file: str) -> Rules:
    """The rules of a user's file. Raises `DataSetError` where they are called like a shipped set and differ from it:
    in a run both would be one set."""
    for shipped in SETS.glob("*.toml"):
        stem, _, selection = rules.name.partition(f"{shipped.stem}-")
        if rules.name != shipped.stem and (stem or not selection):
            continue
        known = read_rules(shipped)
        if (rules.name == known.name and rules != known) or selection in known.selections:
            what = f"name: {rules.name!r} is that of a shipped set, and the rules differ"
            raise DataSetError(what, where=file, remedy="Give yours a name of its own.")
    return rules


def read_rules(file: Path) -> Rules:
    """The rules in a file. Raises `DataSetError`, naming file and place, where it is no TOML or does not fit."""
    return checked(Rules, read_toml(file, DataSetError), file, TABLES)


def open_set(
    name_or_file: str, folder: Path | None = None, selection: str | None = None, concepts: Path | None = None
) -> QuestionSet:
    """A question set from `folder`, or from where it was fetched to; a user's own from where its rules file lies.

    `selection`: one of the rules' [selections]; `concepts` are of relevance alone. Raises `DataSetError` where files
    cannot be read, ids repeat with another text, no question is left, or a language has no prompt.
    """
    named = f"{name_or_file}:{selection}" if selection else name_or_file
    return replace(_opened(name_or_file, folder, selection, concepts), check_command=check_command(named, folder))


def _opened(name_or_file: str, folder: Path | None, selection: str | None, concepts: Path | None) -> QuestionSet:
    rules = rules_of(name_or_file)
    if concepts is not None and rules.loader != RELEVANCE:
        raise DataSetError(f"{rules.name} takes no concepts", remedy="Leave it out.")
    if rules.loader is not None:
        return _made(Path(name_or_file), rules, folder, selection, concepts)
    place = folder or _folder_of(name_or_file, rules)
    name = rules.name
    if selection is not None:
        rules, name = _selected(rules, selection), f"{rules.name}-{selection}"
    root = root_of(place, [pattern for block in rules.questions for pattern in block.files])
    if not root.is_dir():
        raise DataSetError("is no folder", where=place, remedy=where_from(rules))
    check_as_received(root)
    read = Questions(rules, name, root)
    read.read()
    if not read.found:
        why = "; ".join(f"{number} x {reason} ({place})" for reason, number, place in by_reason(read.remarks)[:_NAMED])
        remedy = "Compare the fields of the rules with what the files hold: docs/datasets.md explains them."
        raise DataSetError(f"holds no usable question{f': {why}' if why else ''}", where=root, remedy=remedy)
    questions = tuple(read.found.values())
    _check_orders(rules, questions, name_or_file)
    return QuestionSet(name, rules.title, rules.kind, root, questions, prompts_of(rules, root, questions),
                       rules.numbers, tuple(read.remarks), rules.read_as, rules.orders, rules.published)  # fmt: skip


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


def _folder_of(name_or_file: str, rules: Rules) -> Path:
    fetched = data_folder(rules.files_of or rules.name)
    return Path(name_or_file).parent if name_or_file.endswith(".toml") and not fetched.is_dir() else fetched


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
