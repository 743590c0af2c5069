"""A rules file: how the files of a question set are read. See docs/datasets.md."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from polyculture.instruments.questions.loaders import rows_of, set_of
from polyculture.instruments.questions.model import QuestionKind
from polyculture.sources.languages import in_each_language
from polyculture.sources.places import parse_files
from polyculture.sources.record import Expand
from polyculture.sources.rules import (
    ColumnName,
    ColumnNames,
    FileRules,
    SeveralTexts,
    SourceRules,
    TableRules,
    field,
    one_or_several,
    shape_of,
)

TEXTS, SEVERAL = "texts", "several"  # families of open questions that accept no answer, and of several right options
OF_CODE_ALONE = ("hypotheses", "survey")  # families of sets whose rows code makes
_OF_READERS = ("f1", "soft_match", "weighted_match")  # what `exact_match` is called by its readers
TARGET, RIGHT = "target", "right"  # names of [questions.roles] that are no roles of options
# Facets of sets that code makes. Numbers stand apart by some, others are no parts to have numbers of: with a user's
# column of the same name the whole set would have no number, or the column none.
OF_CODE = ("condition", "type", "model", "version", "levels", "countries", "groups")
NUMBERS: Mapping[str, str] = {"choice": "accuracy", "pair": "pairs", "gap": "cloze", "open": "exact_match"}
ALL = "all"  # in place of a language: every language without templates of its own
LANGUAGE = r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$"


def _loading(found: Callable[[str], object]) -> Callable[[str], str]:
    """A check that there is code of this name. It raises `ValueError`."""

    def check(name: str) -> str:
        found(name)
        return name

    return check


PublishedOrder = Annotated[tuple[int, ...], AfterValidator(lambda order: _permuted(order))]
LanguageCode = Annotated[str, Field(pattern=LANGUAGE)]


class OptionsColumn(TableRules):
    """Options, their roles or accepted answers in one column; or the same of every row."""

    shape: ClassVar[str] = "in a column"
    column: ColumnName | None = None
    text: SeveralTexts = ()  # of every row: `{ text = ["True", "False"] }`
    form: Literal["list", "split"] = Field(default="list", alias="as")
    separator: str = "|"  # with as = "split"

    @model_validator(mode="after")
    def _one_way(self) -> OptionsColumn:
        if (self.column is None) is not bool(self.text):
            raise ValueError("needs one of: column, text")
        return self


# Accepted answers, or their weights: a column, a path to several (`annotations[].answers`), or a list in one column.
Accepted = Annotated[
    Annotated[ColumnName, Tag("name")] | Annotated[OptionsColumn, Tag("in a column")], Discriminator(shape_of)
]


class Where(TableRules):
    """Which option is meant: one of `column`, `text`, `place`, `of` with `is`, or `groups` with `of`."""

    column: ColumnName | None = None  # whose value names it
    # How it names it; a list has the name of each option in turn: `as = ["أ", "ب", "ج"]`.
    form: Literal["text", "index from 0", "index from 1", "letter"] | tuple[str, ...] = Field(
        default="text", alias="as"
    )
    separator: str | None = None  # of a text that names several, '' of 'ABD'; a list does without
    nobody: SeveralTexts = ()  # values of the column that say: no option, whatever follows
    text: SeveralTexts = ()  # its wordings
    place: Annotated[int, Field(ge=1)] | None = None  # counted from 1
    # A value that every option has: `answer_info.{option}`, {option} being the option's column.
    of: ColumnName | None = None
    value: SeveralTexts = Field(default=(), alias="is")
    groups: ColumnNames = ()  # columns that name groups: the option whose `of` is of one of them

    @model_validator(mode="after")
    def _one_way(self) -> Where:
        by_group = self.of is not None and self.groups
        ways = [self.column is not None, self.text, self.place, self.of is not None and self.value, by_group]
        if sum(bool(way) for way in ways) != 1:
            raise ValueError("needs one of: column, text, place, of with is, of with groups")
        return self


Wheres = Annotated[tuple[Where, ...], BeforeValidator(one_or_several)]  # the first that finds one counts


class QuestionBlock(FileRules):
    """Questions; or one of the languages of a row."""

    target: ClassVar[str] = "questions"

    expand: Annotated[str, AfterValidator(_loading(rows_of))] | None = None  # code that makes the rows: `loaders`
    id: ColumnName = field("what the question is called; unique in a language", default="row")
    text: ColumnName | None = field("what is asked; of a gap the text with `[MASK]`", needed=("choice", "gap", "open"))
    context: ColumnName | None = field("the text that is shown before the question")
    language: ColumnName | None = field("the code of its language, or its English name")
    options: Annotated[
        Annotated[tuple[ColumnName, ...], Tag("list")] | Annotated[OptionsColumn, Tag("in a column")],
        Discriminator(shape_of),
    ] = field(
        "the options, a column each, or a column with all; of a pair both sentences, of a gap the candidates",
        needed=("choice", "pair", "gap"),
        default=(),
        example='["column a", "column b"]',
    )
    right: Wheres = field("which option is right", default=(), example='{ column = "key", as = "letter" }')
    roles: Annotated[
        Annotated[tuple[str, ...], Tag("list")]
        | Annotated[OptionsColumn, Tag("in a column")]
        | Annotated[Mapping[str, Wheres], Tag("table")],
        Discriminator(shape_of),
    ] = field(
        "which option is `unknown`, `biased`, `target`: by column, wording, place or a value",
        default={},
        example='{ unknown = { text = "Unknown" }, biased = { column = "biased" } }',
    )
    answers: Annotated[tuple[Accepted, ...], BeforeValidator(one_or_several)] = field(
        'the accepted answers, all of several columns; `numbers = ["texts"]` needs no such column',
        needed=("open",),
        default=(),
    )
    weights: Accepted | None = field("of an open question: how many people gave each answer")
    facets: Mapping[str, ColumnName] = field(
        "your columns by which numbers are grouped, under names that you choose",
        default={},
        example='{ country = "column" }',
    )

    @property
    def expanding(self) -> Expand | None:
        """The code that `expand` names."""
        return rows_of(self.expand) if self.expand else None

    @model_validator(mode="before")
    @classmethod
    def _right_among_roles(cls, data: Any) -> Any:
        roles = data.get("roles") if isinstance(data, dict) else None
        if not isinstance(roles, dict) or RIGHT not in roles:
            return data
        return {**data, "right": roles[RIGHT], "roles": {name: one for name, one in roles.items() if name != RIGHT}}


class SetSelection(TableRules):
    """A part of a set, or the set read in another way: `set` puts other values into every block."""

    published: Mapping[str, int] = {}
    set: Mapping[str, Any] = {}


class PromptRules(TableRules):
    """The prompts: a publisher's file of them, or templates, for all languages or by language; else ours."""

    files: Annotated[str, AfterValidator(parse_files)] | None = None
    id: str = "id"
    template: str = "prompt"  # '\n' in it is a line break
    unknown: SeveralTexts = ()  # the column with the prompt's wording of 'unknown'; of templates the wording of each
    templates: Annotated[
        Mapping[LanguageCode | Literal["all"], SeveralTexts], BeforeValidator(lambda told: _of_all(told))
    ] = {}
    option: str = "{label}: {option}"
    label: SeveralTexts = ("A",)  # the first: 'A', '(a)', '1'; or all of them; none: options stand without
    instruction: Literal["language", "en"] = "language"  # 'en': every language under the English template

    @model_validator(mode="after")
    def _of_files(self) -> PromptRules:
        ignored = [] if self.files else [name for name in ("id", "template") if name in self.model_fields_set]
        if ignored:
            told = f"{ignored[0]}: is a column of the prompts' file, and no `files` are named"
            raise ValueError(f'{told}; a prompt of your own is templates = "..."')
        return self

    @model_validator(mode="after")
    def _wordings(self) -> PromptRules:
        if self.unknown and {len(self.unknown)} != (
            {1} if self.files else {len(one) for one in self.templates.values()}
        ):
            raise ValueError("unknown: is a column of the prompts' file, or a wording for each of the templates")
        return self


class Rules(SourceRules):
    """A question set: its publisher, and how its files are read."""

    kind: QuestionKind = "choice"
    language: LanguageCode | None = None
    numbers: Annotated[tuple[str, ...], AfterValidator(lambda numbers: _checked(numbers))] = ()
    unit: str = "row"  # a facet, or 'row': the question itself
    read_as: tuple[Literal["publisher", "several"], ...] = ()
    orders: tuple[PublishedOrder, ...] = ()  # in which the publisher shows the options; (): as they stand
    questions: tuple[QuestionBlock, ...] = ()
    loader: Annotated[str, AfterValidator(_loading(set_of))] | None = None  # code that makes the whole set: `loaders`
    prompts: PromptRules = PromptRules()
    selections: Mapping[Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")], SetSelection] = {}
    published: Mapping[str, int] = {}  # 'questions', or 'FACET=VALUE': how many the publisher counts

    @property
    def blocks(self) -> Sequence[QuestionBlock]:
        """The blocks of questions."""
        return self.questions

    @property
    def called(self) -> Collection[str]:
        """Its name, and those of its selections."""
        return (self.name, *(f"{self.name}-{selection}" for selection in self.selections))

    @model_validator(mode="before")
    @classmethod
    def _in_each_language(cls, data: Any) -> Any:
        languages, blocks = (data.get(key) if isinstance(data, dict) else None for key in ("languages", "questions"))
        if not (isinstance(languages, dict) and isinstance(blocks, list)):
            return data
        return {**data, "questions": [one for block in blocks for one in in_each_language(block, languages)]}

    @model_validator(mode="after")
    def _complete(self) -> Rules:
        if self.loader is None and not (self.questions and self.numbers):
            raise ValueError("questions and numbers: are needed, or a loader")
        if self.loader is not None and (self.questions or self.numbers or self.selections or self.orders):
            raise ValueError("loader: makes its own questions, numbers, selections and orders")
        if self.orders and self.kind != "choice":
            raise ValueError(f"orders: options of a set of kind {self.kind!r} are shown in none; leave it out")
        for number, block in enumerate(self.questions):
            lacking = block.lacking(self.kind)
            without_answers = self.kind == "open" and TEXTS in self.numbers and block.says("text")
            if lacking is not None and not without_answers:
                raise ValueError(f"questions.{number}: a set of kind {self.kind!r} {lacking}")
            if TEXTS in self.numbers and (self.kind != "open" or block.answers):
                raise ValueError(
                    f"numbers: {TEXTS!r} is of open questions that accept no answer: leave one of them out"
                )
            unused = [name for name in ("answers", "weights") if self.kind != "open" and getattr(block, name)]
            made = [name for name in self.numbers if name in OF_CODE_ALONE and block.expand is None]
            if made:
                raise ValueError(
                    f"numbers: {made[0]!r} is of sets whose rows code makes, as culture-mcq and kobbq-survey"
                )
            if unused and block.expand is None:
                raise ValueError(f"questions.{number}: {unused[0]!r} is of open questions, not of {self.kind!r}")
            if "language" in block.facets:
                raise ValueError(f"questions.{number}.facets: 'language' is a field of its own: language = COLUMN")
            taken = [name for name in (*block.facets, *block.fixed) if name in OF_CODE and block.expand is None]
            if taken:
                what = f"{taken[0]!r} means something else in sets that code makes; call it otherwise, as"
                raise ValueError(f"questions.{number}.facets: {what} 'my_{taken[0]}'")
            if self.unit not in ("row", *block.facets, *block.fixed):
                raise ValueError(f"unit: {self.unit!r} is no facet of questions.{number}, nor 'row'")
        facets = {name for block in self.questions for name in (*block.facets, *block.fixed)}
        facets |= {name for part in self.selections.values() for name in part.set.get("facets", {})}
        self.check_words([*(one.name for one in QuestionBlock.target_fields()), *sorted(facets)])
        self._check_several()
        unknown = [key for key in self.published if key != "questions" and "=" not in key]
        if unknown:
            raise ValueError(f"published: {unknown[0]!r} is neither 'questions' nor of the form 'category=Age'")
        return self

    def _check_several(self) -> None:
        """Raises `ValueError` where all options that fit are asked for, and prompts or numbers are of one option."""
        named = {SEVERAL, "survey"}.intersection(self.numbers)
        if (SEVERAL in self.read_as) is not bool(named):
            raise ValueError(f"numbers: {SEVERAL!r} goes with read_as = [{SEVERAL!r}]: all right options are picked")
        if not named:
            return
        others = [one for one in self.numbers if one not in named and "=" not in one]
        if others:
            raise ValueError(f"numbers: {others[0]!r} is of sets of which one option is picked, not all that fit")
        if not (self.prompts.files or self.prompts.templates) or not all(map(str.isdecimal, self.prompts.label)):
            raise ValueError(
                'prompts: write templates that ask for all options that fit, and show these under numbers: label = "1"'
            )


def _checked(numbers: tuple[str, ...]) -> tuple[str, ...]:
    """Names of families, and declarations of numbers that a publisher computes in its own way."""
    from polyculture.instruments.questions.numbers.declared import declared_numbers, is_declared  # which loads numpy
    from polyculture.instruments.questions.numbers.families import families

    known = (*(name for name, family in families().items() if not family.form), *OF_CODE_ALONE)
    wrong = next((one for one in numbers if one not in known and not is_declared(one)), None)
    if wrong is not None:
        raise ValueError(f"{wrong!r} is none of {', '.join(known)}, nor a declaration as 'NAME = biased / all'")
    names = {name for family in families().values() for name in family.numbers}
    taken = sorted(declared_numbers(numbers).keys() & {*known, *names, *_OF_READERS})
    if taken:
        raise ValueError(f"{taken[0]!r} is the name of a number that is computed otherwise; call yours 'my_{taken[0]}'")
    return numbers


def head_of(kind: str) -> tuple[str, ...]:
    """The lines above the blocks of a rules file to start from."""
    return (
        f'kind = "{kind}"',
        f'numbers = ["{NUMBERS[kind]}"]  # what is computed; docs/datasets.md lists the others',
        'language = "en"  # of all questions; where each says its own, leave it out',
        '# languages = { sw = "Swahili" }  # of columns like "{language} text": a row is asked in each',
        '# unit = "dish"  # of sampling: a facet; without it, each question is one',
        '# words.country = { Nippon = "JP" }  # of a field: what the publisher writes, and what it is called here',
    )


def _of_all(templates: Any) -> Any:
    """Templates by language; what is no table is for all languages."""
    return templates if isinstance(templates, Mapping) else {ALL: templates}


def _permuted(order: tuple[int, ...]) -> tuple[int, ...]:
    if sorted(order) != list(range(len(order))):
        raise ValueError(f"{list(order)} is no order: it has each of 0 to {max(len(order) - 1, 1)} once")
    return order


TABLES = (QuestionBlock, Where, OptionsColumn, PromptRules, SetSelection)
