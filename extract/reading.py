"""Reading an extractor model's answer: a step apart from asking for it, so that mended rules never buy an answer again.

What was asked is known by `llm_extractor_id`, who reads the answer by `present_reader`.
"""

from __future__ import annotations

from polyculture.cache.catalog import Topic
from polyculture.cache.identity import content_id
from polyculture.extract.answer import UnusableAnswerError, read_answer
from polyculture.extract.base import FoundMention
from polyculture.extract.offsets import locate
from polyculture.extract.rules import rules_hash
from polyculture.generate.engines.reasoning import CUT, split_reasoning

VERSION = 1  # of the rules in the code that decide mentions: raise it when they change


def present_reader() -> str:
    """A hash of all that decides what an answer is worth."""
    return content_id("llm reader", VERSION, rules_hash())


def read_mentions(
    answer: str, finish_reason: str | None, text: str, topic: Topic, language: str
) -> tuple[FoundMention, ...]:
    """The mentions in `text` that an answer without its reasoning lists.

    Raises `UnusableAnswerError`, with a message of one line.
    """
    return locate(text, read_answer(answer, topic.kinds, finish_reason), language)


def read_raw(raw: str, finish_reason: str | None, text: str, topic: Topic, language: str) -> tuple[FoundMention, ...]:
    """The same of an answer as it came, with the reasoning that stands in it."""
    answer = split_reasoning(raw).answer
    if answer is None:
        raise UnusableAnswerError(CUT)
    return read_mentions(answer, finish_reason, text, topic, language)
