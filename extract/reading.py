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
from polyculture.generate.engines.answer import NO_ANSWER, text_in

VERSION = 1  # of the rules in the code that decide mentions: raise it when they change
# The first reader's version and rules, as the ids of extractors hold them since rules of reading were a part of these.
FIXED_VERSION = 1
FIXED_RULES = "44d8934c1c88773efb000d02a4616ec2e378fcb4f5bd22d93e1f917065f70d34"


def present_reader() -> str | None:
    """A hash of all that decides what an answer is worth; None while that is as the first reader had it."""
    present, first = (VERSION, rules_hash()), (FIXED_VERSION, FIXED_RULES)
    return None if present == first else content_id("llm reader", *present)


def read_mentions(
    answer: str, finish_reason: str | None, text: str, topic: Topic, language: str
) -> tuple[FoundMention, ...]:
    """The mentions in `text` that an answer without its reasoning lists.

    Raises `UnusableAnswerError`, with a message of one line.
    """
    return locate(text, read_answer(answer, topic.kinds, finish_reason), language)


def read_raw(raw: str, finish_reason: str | None, text: str, topic: Topic, language: str) -> tuple[FoundMention, ...]:
    """The same of an answer as it came, with the reasoning that stands in it."""
    answer = text_in(raw)
    if answer is None:
        raise UnusableAnswerError(NO_ANSWER)
    return read_mentions(answer, finish_reason, text, topic, language)
