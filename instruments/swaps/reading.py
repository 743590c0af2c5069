"""Who reads answers about swapped entities: a stored answer in, its score or the reason why it has none out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from polyculture.cache.identity import content_id
from polyculture.generate.engines.answer import NO_ANSWER, text_in
from polyculture.generate.refusals import is_refusal, refusal_rules_id
from polyculture.instruments.swaps.answer_parsing import spoken
from polyculture.instruments.swaps.prompts import Prompts
from polyculture.instruments.swaps.text import AnswerError, Filled, Reading, Task

VERSION = 2  # of the rules in the code that decide what an answer is worth: raise it when they change
REFUSED = "refused"
AT_LIMIT = " (it was cut at the token limit)"


class Reader(Protocol):
    """Reads answers to one question."""

    @property
    def reader_id(self) -> str:
        """A hash of everything that determines an answer's score."""
        ...

    def read(self, raw: str, filled: Filled, *, cut: bool = False) -> Reading:
        """The score of an answer as it came; `cut`: at the token limit."""
        ...


@dataclass(frozen=True)
class PromptReader:
    """Reads language models' answers to a task's questions in one language."""

    task: Task
    prompts: Prompts  # in the language of the question: the words of its labels
    own: Prompts  # in the language of the text: how its words are compared

    @cached_property
    def reader_id(self) -> str:
        refusals = refusal_rules_id(self.prompts.language)
        wording = self.task.wording(self.prompts)
        return content_id("swap reader", VERSION, self.task.name, wording, self.own.compared, refusals)

    def read(self, raw: str, filled: Filled, *, cut: bool = False) -> Reading:
        """What is said behind the reasoning. An answer that declines is a refusal, whatever its words."""
        answer = text_in(raw)
        if answer is None:
            return Reading(None, NO_ANSWER)
        refused = is_refusal(spoken(answer), self.prompts.language)
        try:
            judged = self.task.judge(answer, filled, self.prompts, self.own)
        except AnswerError as fault:
            return Reading(None, f"{fault}{AT_LIMIT if cut else ''}", refused)
        return Reading(None, REFUSED, refused) if refused else Reading(judged, refused=refused)
