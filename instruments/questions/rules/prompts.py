"""The prompts of a set, in its languages: a publisher's file of them, templates of the rules file, or ours."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar

from polyculture.cache.errors import DataSetError
from polyculture.cache.text.sanitize import mended
from polyculture.instruments.questions.asking import SLOT
from polyculture.instruments.questions.model import PromptTemplate, Question
from polyculture.instruments.questions.rules.model import ALL, PromptRules, Rules
from polyculture.sources.headers import KnownColumns
from polyculture.sources.record import BadRow
from polyculture.sources.rows import placed_records
from polyculture.sources.values import RowError, SourceRow

HOUSE_PROMPTS = Path(__file__).parent.with_name("prompts.toml")
HOUSE = "house"
_SIGN = re.compile(r"[A-Za-z0-9]")
_MOST_LETTERS, _MOST_NUMBERS = 26, 99
Words = TypeVar("Words")


def prompts_of(rules: Rules, folder: Path, questions: Sequence[Question]) -> tuple[PromptTemplate, ...]:
    """The prompts in every language of the questions; none of sentence pairs and gaps, which are asked bare.

    Raises `DataSetError` where a language has none: no other takes its place unless the rules say so.
    """
    if rules.kind not in ("choice", "open"):
        return ()
    languages = sorted({question.language for question in questions})
    if rules.prompts.files is not None:
        return tuple(prompt for language in languages for prompt in _read(rules, folder, language))
    return tuple(prompt for language in languages for prompt in _of_language(rules, questions, language))


def _of_language(rules: Rules, questions: Sequence[Question], language: str) -> list[PromptTemplate]:
    spoken = "en" if rules.prompts.instruction == "en" else language
    templates = _of(rules.prompts.templates, spoken) or rules.prompts.templates.get(ALL)
    if templates:
        names = [HOUSE] if len(templates) == 1 else [str(number) for number in range(1, len(templates) + 1)]
        unknown = rules.prompts.unknown or (None,) * len(templates)
        return [_prompt(rules, *one) for one in zip(names, (language,) * len(names), templates, unknown, strict=True)]
    words = _of(_house(), spoken) or {}
    if ("open" if rules.kind == "open" else "choose") not in words:
        what = f"has no prompt in {language!r}, the language of some of its questions"
        slots = "{question}" if rules.kind == "open" else "{question}\\n{options}"
        remedy = f"""Write it under [prompts], as templates.{language} = "...\\n{slots}\\n..."; or there \
templates = "...\\n{slots}\\n..." for all languages, or instruction = "en" to ask under our English words."""
        raise DataSetError(what, where=rules.name, remedy=remedy)
    mine = [question for question in questions if question.language == language]
    template = house_template(words, rules.kind == "open", mine, _labels(rules.prompts.label))
    return [_prompt(rules, HOUSE, language, template)]


def _of(words: Mapping[str, Words], language: str) -> Words | None:
    """What is there in a language, or in the one that it is the regional form of: es for es-MX, but not zh for zh-TW,
    which is another script."""
    exact = next((value for code, value in words.items() if code.casefold() == language.casefold()), None)
    base, _, region = language.partition("-")
    alike = len(region) == 2 and (base != "zh" or region.upper() in ("CN", "SG"))
    return exact or (words.get(base) if alike else None)


@cache
def _house() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(HOUSE_PROMPTS.read_text(encoding="utf-8"))


def house_template(words: Mapping[str, str], is_open: bool, questions: Sequence[Question], shown: Sequence[str]) -> str:
    """Our own template of some questions: with their labels where all have as many options, and their context."""
    with_context = any(question.context for question in questions)
    numbers = {len(question.options) for question in questions}
    if is_open:
        task = words["open"]
    elif len(numbers) == 1 and shown:
        *first, last = shown[: numbers.pop()]
        task = words["choose"].format(labels=f"{words['comma'].join(first)}{words['last']}{last}")
    else:
        task = words["choose_any"]
    lines = [f"{words['read' if with_context else 'reply']}{words.get('between', ' ')}{task}", ""]
    lines += [f"{words['context']}{{context}}"] if with_context else []
    lines += [f"{words['question']}{{question}}", *([] if is_open else ["{options}"]), words["answer"]]
    return "\n".join(lines)


def _prompt(rules: Rules, name: str, language: str, template: str, unknown: str | None = None) -> PromptTemplate:
    """A template as a prompt. Raises `DataSetError` where it lacks a slot or has one that is none."""
    told, where = rules.prompts, f"{rules.name}: prompt {name!r}"
    option, label = told.option, told.label
    slots = SLOT.findall(template)
    if rules.kind == "choice" and "options" not in slots:
        template, option, label = _with_options(template, where)
        slots = SLOT.findall(template)
    needed = {"question", "options"} if rules.kind == "choice" else {"question"}
    wrong = sorted(needed - set(slots)) + sorted(set(slots) - {"context", "question", "options"})
    if wrong:
        raise DataSetError(f"slot {{{wrong[0]}}} is missing, or no slot", where=where,
                           remedy="Slots are {context}, {question} and {options}, or {a}, {b}, {c}.")  # fmt: skip
    shown = tuple(_labels(label)) if rules.kind == "choice" else ()
    return PromptTemplate(name, language, template, shown, option, unknown)


def _with_options(template: str, where: str) -> tuple[str, str, tuple[str, ...]]:
    """A template with a slot an option, {a} {b} {c}, as one with {options}: its form of a line, and the first label.

    What stands before the first slot may begin the line: "Options:(A) {a}". The second tells where the label begins.
    """
    places = [match for match in SLOT.finditer(template) if len(match[1]) == 1]
    letters = [match[1].lower() for match in places]
    if len(places) < 2 or letters != [chr(ord("a") + number) for number in range(len(places))]:
        raise DataSetError("has neither {options} nor {a}, {b}, ...", where=where, remedy="Write {options}.")
    before = template[places[0].end() : places[1].start()]
    line = before.lstrip("\n")
    sign = _SIGN.search(line)
    head = line if sign is None else f"{line[: sign.start()]}{_earlier(sign[0])}{line[sign.end() :]}"
    start = places[0].start() - len(head)
    if sign is None or template[start : places[0].start()] != head or not before.startswith("\n"):
        what = "does not show each option on a line of its own under a letter"
        raise DataSetError(what, where=where, remedy="As in 'A: {a}', line break, 'B: {b}'.")
    label = head.strip().rstrip(":. ")
    option = head.replace(label, "{label}", 1) + "{option}"
    return f"{template[:start]}{{options}}{template[places[-1].end() :]}", option, (label,)


def _earlier(sign: str) -> str:
    return chr(ord(sign) - 1)


def _labels(label: Sequence[str]) -> list[str]:
    """Labels as they are listed; of one alone so many in its form: '(a)', '(b)', ...; digits go on beyond 9."""
    if len(label) != 1:
        return list(label)
    first, sign = label[0], _SIGN.search(label[0])
    if sign is None or sign[0] not in "Aa1":
        raise DataSetError(f"label {first!r} is none to begin with", remedy="As 'A', '(a)' or '1'; or list all labels.")

    def shown(place: int) -> str:
        return str(int(sign[0]) + place) if sign[0].isdecimal() else chr(ord(sign[0]) + place)

    most = _MOST_NUMBERS if sign[0].isdecimal() else _MOST_LETTERS
    return [f"{first[: sign.start()]}{shown(place)}{first[sign.end() :]}" for place in range(most)]


def _read(rules: Rules, folder: Path, language: str) -> list[PromptTemplate]:
    """A publisher's prompts in its file's order. Raises `DataSetError`, naming file and row."""
    told: PromptRules = rules.prompts
    path = (told.files or "").replace("{language}", language)
    file = folder / path
    if not file.is_file():
        raise DataSetError(f"there is no {path}, which its prompts come from", where=folder,
                           remedy=f"Get it from the publisher: polyculture data fetch {rules.name}.")  # fmt: skip
    found: dict[str, PromptTemplate] = {}
    known = KnownColumns.of((told.id, told.template, *told.unknown))
    for place, record in placed_records(folder, file, known):
        if isinstance(record, BadRow):
            raise DataSetError(record.reason, where=place, remedy="Get the file again, or mend the row.")
        row = SourceRow(place, record, {})
        try:
            name, template = row.text(told.id), mended(str(row.get(told.template) or "")).replace("\\n", "\n")
            unknown = row.text(told.unknown[0]) if told.unknown else None
        except RowError as fault:
            raise DataSetError(str(fault), where=place, remedy="Name its columns under [prompts].") from fault
        if name in found:
            raise DataSetError(f"prompt {name!r} is there twice", where=place, remedy="Keep one of them.")
        found[name] = _prompt(rules, name, language, template.strip(), unknown or None)
    return list(found.values())
