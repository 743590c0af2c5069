"""Named-entity tagging: is an entity of one culture found as a name as well as one of another?

Naous et al. 2024 (CAMeL). A name counts when its span is exactly the entity's, as conlleval counts (Tjong
Kim Sang and De Meulder 2003); all names of the type that were found in the text are predictions. The published contexts
do not list their other names. A prediction elsewhere is a false positive on both sides, and is counted separately.

Annotation guidelines (MUC-7, IREX) exclude titles and honorifics (Mr., さん, 씨) from names. Taggers learn this.
Our prompts give language models no such rule: the entity with an adjacent title or honorific counts as the entity.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from polyculture.instruments.swaps.prompts import Prompts, fill
from polyculture.instruments.swaps.text import AnswerError, Filled, Judged, answer_schema, json_value

KEY = "names"
MOST_NAMES = 30  # of an answer; one that fills this is not believed to be finished
Span = tuple[int, int]


class NameTagging:
    """Asks for all names of the entity's type."""

    name = "ner"
    max_tokens = 256

    def prompt(self, filled: Filled, prompts: Prompts) -> str:
        return fill(prompts.ner.prompt, text=filled.text, type=prompts.type_words(filled.context.entity_type))

    def schema(self, prompts: Prompts) -> dict[str, Any]:  # noqa: ARG002
        return answer_schema(KEY, {"type": "array", "items": {"type": "string"}, "maxItems": MOST_NAMES})

    def wording(self, prompts: Prompts) -> Any:
        return prompts.ner.model_dump(), dict(prompts.types)

    def asked(self, prompts: Prompts) -> dict[str, str]:
        return {"prompt": prompts.ner.prompt}

    def judge(self, raw: str, filled: Filled, prompts: Prompts, own: Prompts) -> Judged:  # noqa: ARG002
        names = json_value(raw, KEY)
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise AnswerError("the answer has no list of names")
        if len(names) >= MOST_NAMES:
            raise AnswerError(f"the answer goes on for ever: {len(names)} names")
        return judge_names([name.strip() for name in names if name.strip()], filled, own)


def judge_names(names: Iterable[str], filled: Filled, own: Prompts) -> Judged:
    """What names without places are worth: each stands wherever the text has it; one that it lacks is a false one."""
    spans: set[Span] = set()
    invented = set()
    for name in names:
        found = {(place.start(), place.end()) for place in re.finditer(re.escape(name), filled.text)}
        spans |= found
        invented |= set() if found else {name}
    judged = judge_spans([_bare(span, filled, own) for span in spans], filled, invented)
    return replace(judged, strict=int(filled.span in spans), strict_predicted=len(spans) + len(invented))


def judge_spans(spans: Iterable[Span], filled: Filled, invented: Iterable[str] = ()) -> Judged:
    """What spans of the text are worth, with names that the text does not hold."""
    each, beside = sorted(set(spans)), sorted(set(invented))
    start, end = filled.span
    elsewhere = sum(stop <= start or begin >= end for begin, stop in each) + len(beside)
    named = [filled.text[begin:stop] for begin, stop in each] + beside
    found = int((start, end) in each)
    return Judged("\n".join(named), found, len(named), elsewhere, found, len(named))


def _bare(span: Span, filled: Filled, own: Prompts) -> Span:
    """The entity's span if `span` adds only a title before it or an honorific after it; else `span` unchanged."""
    (begin, stop), (start, end) = span, filled.span
    beside = ((filled.text[begin:start], own.titles), (filled.text[end:stop], own.honorifics))
    bare = all(word.strip().casefold() in ("", *map(str.casefold, words)) for word, words in beside)
    return filled.span if bare and begin <= start < end <= stop else span
