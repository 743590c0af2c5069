"""Data sets of BBQ's form on this machine: their questions and prompts, and the part of them that is asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from polyculture.cache.errors import DataSetError, did_you_mean
from polyculture.cache.files import is_folder_name
from polyculture.cache.identity import content_id
from polyculture.instruments.bbq import bbq_english, kobbq, kobbq_samples, plain
from polyculture.instruments.bbq.model import Question, QuestionSet
from polyculture.instruments.bbq.prompts import (
    HOUSE,
    PROMPTS,
    AskingPrompt,
    house_languages,
    house_prompt,
    read_prompts,
)

if TYPE_CHECKING:
    from polyculture.instruments.bbq.model import Remark

Which = Literal["evaluation", "all"]
OWN = "own"
_NAMED = 3  # remarks that a line names


@dataclass(frozen=True)
class Opened:
    """A data set as it is asked."""

    name: str  # in the store: 'kobbq', or 'kobbq-all' of the templates expanded
    language: str
    folder: Path
    questions: tuple[Question, ...]
    prompts: Mapping[str, AskingPrompt]  # the publisher's; ours where there are none
    remarks: Sequence[Remark]


def _kobbq(folder: Path, which: Which) -> QuestionSet:
    if which == "all":
        return kobbq.load(templates_folder(folder))
    return kobbq_samples.load_samples(_find(folder, kobbq_samples.SAMPLES), folder)


def templates_folder(folder: Path) -> Path:
    """Where the templates of KoBBQ lie. Raises `DataSetError` where they do not."""
    return _find(folder, kobbq.TEMPLATES).parent


def _bbq(folder: Path, _which: Which) -> QuestionSet:
    return bbq_english.load(folder)


def survey_folder(folder: Path) -> Path:
    """Where the survey behind KoBBQ lies. Raises `DataSetError` where it does not."""
    from polyculture.instruments.bbq.survey import FILE

    return _find(folder, FILE).parent


LOADERS: Mapping[str, Callable[[Path, Which], QuestionSet]] = {kobbq.NAME: _kobbq, bbq_english.NAME: _bbq}


def open_questions(data: str, folder: Path, which: Which) -> Opened:
    """A data set from a folder: by its name, or as `own:NAME:LANGUAGE` a plain table of the user's.

    Raises `DataSetError` where it cannot be read or holds no question.
    """
    found = _load(data, folder, which)
    if not found.questions:
        first = f": {found.remarks[0].place}: {found.remarks[0].reason}" if found.remarks else ""
        raise DataSetError(f"holds no question that can be used{first}", where=folder, remedy="See docs/bbq.md.")
    name = f"{found.name}-{which}" if which == "all" and found.name == kobbq.NAME else found.name
    return Opened(name, found.language, folder, found.questions, _prompts(folder, found.language), found.remarks)


def _load(data: str, folder: Path, which: Which) -> QuestionSet:
    if data in LOADERS:
        return LOADERS[data](folder, which)
    own, _, called = data.partition(":")
    if own != OWN:
        what = f"there is no data set {data!r} of multiple-choice questions"
        known = f"There are {', '.join(LOADERS)}, and own:NAME:LANGUAGE."
        raise DataSetError(what, remedy=did_you_mean(data, list(LOADERS)) or known)
    name, _, language = called.partition(":")
    if not is_folder_name(name) or name in LOADERS or not is_folder_name(language):
        raise DataSetError(f"{data!r} does not say a name and a language", remedy="As in own:cbbq:zh.")
    return plain.load(folder, name, language)


def _prompts(folder: Path, language: str) -> Mapping[str, AskingPrompt]:
    file = _place(folder, PROMPTS)
    return read_prompts(file) if file else {HOUSE: house_prompt(language)}


def chosen_prompts(opened: Opened, names: Sequence[str]) -> list[AskingPrompt]:
    """The prompts that are named: '3', '1..5', 'house'; all of the data set's without a name.

    Raises `DataSetError` where one is not there.
    """
    wanted = [one for name in names for one in _several(name)] or list(opened.prompts)
    chosen: dict[str, AskingPrompt] = {}
    for name in wanted:
        if name == HOUSE:
            chosen[name] = house_prompt(opened.language)
        elif name in opened.prompts:
            chosen[name] = opened.prompts[name]
        else:
            known = ", ".join(dict.fromkeys((*opened.prompts, HOUSE)))
            raise DataSetError(f"there is no prompt {name!r}", where=opened.folder, remedy=f"There are {known}.")
    return list(chosen.values())


def _several(name: str) -> list[str]:
    """'1..3' or '1-3' as the numbers from the first to the last."""
    first, _, last = name.replace("..", "-").partition("-")
    if first.isdecimal() and last.isdecimal():
        return [str(number) for number in range(int(first), int(last) + 1)]
    return [part.strip() for part in name.split(",")]


def some_templates(questions: Sequence[Question], number: int | None, seed: int) -> list[Question]:
    """The questions of so many templates, drawn by the seed; of more templates the fewer ones are a part."""
    if number is None:
        return list(questions)
    templates = sorted({question.template_id for question in questions}, key=lambda one: content_id("bbq", seed, one))
    chosen = set(templates[:number])
    return [question for question in questions if question.template_id in chosen]


def tell_remarks(opened: Opened, say: Callable[[str], None]) -> None:
    """Reports in one line what of a data set is left out or read otherwise."""
    if opened.remarks:
        say(told(opened.folder, opened.remarks))


def told(place: Path, remarks: Sequence[Remark]) -> str:
    """Remarks in one line: how many there are, and the first ones."""
    first = [f"{one.place}: {one.reason}" for one in remarks[:_NAMED]]
    more = len(remarks) - len(first)
    return f"{place}: {len(remarks)} remarks: {'; '.join(first)}" + (f"; and {more} more" if more else "")


def house_line(opened: Opened, prompts: Sequence[AskingPrompt]) -> str | None:
    """A line where our own prompt is asked in another language than the data set's."""
    if opened.language in house_languages() or all(prompt.name != HOUSE for prompt in prompts):
        return None
    return f"there is no prompt of ours in {opened.language!r}: these questions are asked in English"


def _place(folder: Path, name: str) -> Path | None:
    """Where a file of a publisher's repository lies: in the folder, in one of its own, or beside it."""
    places = (folder, folder / "data", folder / "evaluation", folder.parent / "evaluation", folder.parent / "data")
    return next((place / name for place in places if (place / name).is_file()), None)


def _find(folder: Path, name: str) -> Path:
    found = _place(folder, name)
    if found is None:
        remedy = f"Get it with `polyculture data fetch {kobbq.NAME}`, or name the folder that you have with --folder."
        raise DataSetError(f"there is no {name}", where=folder, remedy=remedy)
    return found
