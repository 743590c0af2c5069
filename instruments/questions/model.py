"""A question of any set, the prompts that it is asked by, and a set as it was read from files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from polyculture.cache.identity import content_id
from polyculture.sources.left_out import LeftOut, SourceLocation

# 'choice': options under letters; 'pair': two sentences; 'gap': candidates in the gap of `text`; 'open': no options.
QuestionKind = Literal["choice", "pair", "gap", "open"]

# Roles of options that numbers know. A set may have others, as levels of a culture's distance: numbers count them all.
BIASED, OTHER, UNKNOWN, PERSON = "biased", "other", "unknown", "person"


@dataclass(frozen=True, slots=True)
class Question:
    """A question of a set. Options stand in the publisher's order; everything refers to them by their index."""

    name: str  # the publisher's id, or made of columns; unique in a set and language
    set: str  # 'kobbq', 'bbq', ... as its rules call it
    language: str  # of its texts: the file's, never a default
    kind: QuestionKind
    unit: str  # of sampling: a template, a row; its versions, names and orders are one witness
    text: str  # the question; of a gap the sentence with `MASK`; empty of a pair
    options: tuple[str, ...]  # of a pair the two sentences; of a gap the candidates; empty of an open question
    roles: tuple[str, ...]  # what each option is: 'biased', 'other', 'unknown', 'person', or the set's own; '' for none
    right: tuple[int, ...]  # indexes of right options; empty where none is
    place: SourceLocation
    context: str = ""  # the text before the question
    answers: tuple[str, ...] = ()  # that an open question accepts
    weights: tuple[float, ...] = ()  # of each of these: how many people gave it
    # 'category', 'label', 'country', 'topic', 'context' ('ambiguous' | 'biased' | 'counter-biased' | 'disambiguated'),
    # 'polarity' ('biased' | 'counter-biased'), 'pair' (of questions that belong together),
    # 'model' (the only one that is asked), ...
    facets: Mapping[str, str] = field(default_factory=dict)

    @property
    def question_id(self) -> str:
        """A hash of all that makes a question and the meaning of its options; facets and unit are no part of it."""
        return content_id(
            "question", self.set, self.language, self.name, self.kind, self.context, self.text, self.options,
            self.roles, self.right, self.answers, self.weights,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class PromptTemplate:
    """The wording of a question in one language."""

    name: str  # the publisher's, as '3'; 'house' is ours
    language: str
    template: str  # slots {context}, {question}, {options}; what lacks a context loses its whole line
    # Of the options, as shown: 'A', '(a)', '1'; at least as many as options; () of an open one.
    labels: tuple[str, ...] = ()
    option: str = "{label}: {option}"  # a line of {options}
    unknown: str | None = None  # stands in place of the wording of the option whose role is 'unknown'


@dataclass(frozen=True)
class QuestionSet:
    """A set as it was read from a folder."""

    name: str
    title: str
    kind: QuestionKind
    folder: Path
    questions: tuple[Question, ...]
    prompts: tuple[PromptTemplate, ...]  # of every language of the questions
    numbers: tuple[str, ...]  # families: 'accuracy' | 'bbq' | 'kobbq' | 'pairs' | 'cloze' | 'exact_match' | 'levels'
    remarks: tuple[LeftOut, ...] = ()
    read_as: tuple[str, ...] = ()  # readers beside ours: 'publisher'
    # Of options, that the publisher shows: indexes at each place; () as they stand.
    orders: tuple[tuple[int, ...], ...] = ()
    published: Mapping[str, int] = field(default_factory=dict)  # counts that the publisher states
    unasked: Mapping[str, str] = field(default_factory=dict)  # values of a facet that no question has here, and why
    check_command: str = ""  # that lists what is left out or changed
    cultures: Path | None = None  # the file of the cultures that it is about; None: those of CultureScope's BLEnD
