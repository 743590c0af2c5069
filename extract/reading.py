"""Reading an extractor model's answer: a step apart from asking for it, so that mended rules never buy an answer again.

What was asked is known by `llm_extractor_id`, who reads the answer by `present_reader`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.cache.text.inflection import NO_ENDINGS, Endings
from polyculture.extract.answer import UnusableAnswerError, read_answer
from polyculture.extract.base import Extracted, FoundMention
from polyculture.extract.fields import fields_hash
from polyculture.extract.offsets import locate
from polyculture.extract.rules import rules_hash
from polyculture.extract.spellings import spellings_hash
from polyculture.generate.engines.answer import NO_ANSWER, text_in
from polyculture.generate.engines.endings import ending_of
from polyculture.generate.refusals import is_refusal_anywhere

VERSION = 17  # of the rules in the code that decide mentions: raise it when they change


def present_reader(endings: Endings = NO_ENDINGS) -> str:
    """A hash of all that decides what an answer is worth; `endings` are those of culture packs, here and below."""
    return content_id("llm reader", VERSION, rules_hash(endings), fields_hash(), spellings_hash())


@dataclass(frozen=True, slots=True)
class ReadMentions:
    """The mentions that an answer lists, located in the text, and what is known of what it lost: as in `ReadAnswer`."""

    mentions: tuple[FoundMention, ...]
    note: str | None = None
    cut: bool = False
    repeats: bool = False
    unknown_kinds: int = 0
    unreadable: int = 0
    declined: bool | None = None

    def result(self, answer: Extracted, arrived: str | None = None) -> Extracted:
        """The answer as a good one; `arrived` is what was mended of it before it was read."""
        note = "; ".join(filter(None, (arrived, self.note))) or None
        return replace(
            answer,
            status="ok",
            error=None,
            retryable=None,
            mentions=self.mentions,
            note=note,
            cut=self.cut,
            unknown_kinds=self.unknown_kinds,
            unreadable=self.unreadable,
            declined=self.declined,
        )


def read_mentions(
    answer: str, finish_reason: str | None, text: str, topic: Topic, language: str, endings: Endings = NO_ENDINGS
) -> ReadMentions:
    """The mentions in `text` that an answer without its reasoning lists.

    Raises `UnusableAnswerError`, with a message of one line, where nothing of it can be read.
    """
    read = read_answer(answer, topic.kinds, ending_of(finish_reason))
    if not read.entities and is_refusal_anywhere(answer):  # `I cannot do that. {"mentions": []}`
        raise UnusableAnswerError("the answer is a refusal")
    mentions = locate(text, read.entities, language, endings)
    return ReadMentions(mentions, read.note, read.cut, read.repeats, read.unknown_kinds, read.unreadable, read.declined)


def read_raw(
    raw: str, finish_reason: str | None, text: str, topic: Topic, language: str, endings: Endings = NO_ENDINGS
) -> ReadMentions:
    """The mentions in an answer that still holds the model's reasoning, which is left out first."""
    answer = text_in(raw)
    if answer is None:
        raise UnusableAnswerError(NO_ANSWER)
    return read_mentions(answer, finish_reason, text, topic, language, endings)
