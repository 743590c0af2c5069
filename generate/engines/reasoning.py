"""Reasoning that a model writes before its answer, and the end of its turn: told apart from the answer.

The marks are data (`reasoning.toml`). `split_reasoning` takes a text apart, `end_turn` cuts what follows a chat marker
or an invented next turn. `answer.py` calls both for every text, whoever made it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

TAIL = 8  # tokens of a prompt in which an opening tag that ends it stands whole
_MARKS = Path(__file__).with_name("reasoning.toml")
_LONGEST_LONE = 65_536  # characters of a text in which a closing tag without an opening one is looked for
_SIGNS = "<&◁["  # every mark begins with one of them
_LEAD = re.compile(r"\s*<([^\W\d][\w-]{1,40})>\s*")
# Special tokens between turns and channels, with the words that follow them there: they are no reasoning either.
_SPECIAL = re.compile(r"(?:<[|｜][\w▁:/ -]{1,40}[|｜]>(?:(?:assistant|analysis|commentary|final)\b)?\s*)+")
_WORD = re.compile(r"\S")
_GOES_ON = re.compile(r"</s>[ \t]*\w")  # no end of a turn: the words behind it are in the same line
_INVISIBLE = " \u200b\ufeff"  # the space, the one of no width, the byte order mark
_SENTENCE_ENDS = '.!?…。！？।؟۔\n*)»”"'  # reasoning begins and ends beside one of these, or at the text's ends


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart. `answer` is None where the reasoning does not end in the text."""

    answer: str | None
    reasoning: str | None = None
    prompt_opened: bool = False  # its reasoning had no opening tag: the chat template writes it


@dataclass(frozen=True, slots=True)
class _Mark:
    """A tag in a text: `key` is equal for an opening tag and the tags that close it."""

    start: int
    end: int
    key: str
    opens: bool


def split_reasoning(text: str, *, cut: bool = False, prompt_tail: str = "") -> Split:
    """The answer in a text and the reasoning around it.

    Reasoning begins where the text does, or a sentence, or where the prompt (`prompt_tail`, its end) opened it. It ends
    with the tag of its own name. Reasoning that is not closed has no answer behind it where the text begins with it or
    was `cut`; elsewhere the tag is a part of the answer, as are tags within a sentence. A closing tag without an
    opening one ends reasoning that the prompt opened. A tag whose name is only like one of reasoning (`<plan>`) must be
    the first of the text and the only one of its name, with an answer behind it.
    """
    opened = _opened(prompt_tail)
    if (header := _headers().match(text)) is not None and "<s>" not in header[0]:
        text = text[header.end() :].lstrip()
    first = _split_bare(text) or _split_lead(text, cut=cut)
    if first is not None:
        return first
    marks = [*_marks(text)]
    if opened is None and not marks:
        return Split(text)
    if opened is not None and not any(
        mark.opens and mark.key == opened and not text[: mark.start].strip() for mark in marks
    ):
        marks.insert(0, _Mark(0, 0, opened, opens=True))
    split = _walk(text, marks, cut=cut, prompt_opened=opened is not None)
    more = _split_lead(split.answer, cut=cut) if split.answer and split.reasoning else None
    return (
        split
        if more is None
        else replace(split, answer=more.answer, reasoning=_joined([split.reasoning or "", more.reasoning or ""]))
    )


def end_turn(text: str, *, prompt_tail: str = "") -> tuple[str, str | None]:
    """The text up to the first chat marker or invented turn, without the header of its own turn, and the mark that
    ended it; None where nothing did. A marker in backticks is a part of the text, as is `<s>struck through</s>`."""
    header = _headers().match(text)
    struck = header is not None and "<s>" in header[0] and _GOES_ON.search(text) is not None
    body = text[header.end() :].lstrip() if header and not struck else text
    ends = [*_turn_ends().finditer(body), *(_next_question(prompt_tail).finditer(body) if prompt_tail else ())]
    for found in sorted(ends, key=re.Match.start):
        before = body[: found.start()]
        if not before.endswith("`") and not (found[0] == "</s>" and before.rfind("<s>") > before.rfind("</s>")):
            return before.rstrip(), found[0].strip()
    return body, None


def _walk(text: str, marks: Sequence[_Mark], *, cut: bool, prompt_opened: bool) -> Split:
    reasoning: list[str] = []
    answer, position, number = "", 0, 0
    last_opening = {mark.key: mark.start for mark in marks if mark.opens}
    last_closing = {mark.key: mark.start for mark in marks if not mark.opens}
    while number < len(marks):
        mark = marks[number]
        if not mark.opens:
            if not reasoning and mark.start > last_opening.get(mark.key, -1) and _closes_alone(text, mark):
                reasoning.append(text[: mark.start])
                answer, position, prompt_opened = "", mark.end, True
            number += 1
            continue
        closed = mark.start < last_closing.get(mark.key, -1)
        if not (reasoning or _begins_sentence(text, mark.start)) or not (
            closed or cut or _is_first(text, position, mark)
        ):
            number += 1  # a tag within the answer
            continue
        closing = _closing(marks, number) if closed else None
        if closing is None:
            return Split(None, _joined([*reasoning, text[mark.end :]]), prompt_opened)
        reasoning.append(text[mark.end : marks[closing].start])
        answer += text[position : mark.start].strip("\u200b\ufeff")
        position, number = marks[closing].end, closing + 1
    answer += text[position:]
    return Split(_unwrapped(answer) if reasoning else answer, _joined(reasoning), prompt_opened and bool(reasoning))


def _closing(marks: Sequence[_Mark], number: int) -> int | None:
    """The place of the mark that closes an opening one: nested pairs of the same name are passed over."""
    depth, last = 0, None
    for place in range(number + 1, len(marks)):
        mark = marks[place]
        if mark.key != marks[number].key:
            continue
        if mark.opens:
            depth += 1
            continue
        last = place
        if depth == 0:
            return place
        depth -= 1
    return last


def _closes_alone(text: str, mark: _Mark) -> bool:
    """Whether a closing tag without an opening one ends reasoning, rather than being mentioned in a sentence: there it
    stands alone as a word does, or in quotes."""
    glued = text[mark.start - 1 : mark.start].isalnum() and text[mark.end : mark.end + 1].isalnum()
    at_an_end = glued or _begins_sentence(text, mark.start) or text[mark.end : mark.end + 1] == "\n"
    return mark.start <= _LONGEST_LONE and at_an_end


def _is_first(text: str, position: int, mark: _Mark) -> bool:
    """Whether nothing but white space stands between a position and a mark."""
    word = _WORD.search(text, position)
    return word is None or word.start() >= mark.start


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a sentence ends right before a place, or nothing stands before it."""
    return text[max(0, place - 9) : place].rstrip(_INVISIBLE)[-1:] in ("", *_SENTENCE_ENDS)


def _split_bare(text: str) -> Split | None:
    for pair in _pairs():
        if pair.bare and (begun := pair.open.match(text)) and (ended := pair.close.search(text, begun.end())):
            return Split(text[ended.end() :].lstrip(), _joined([text[begun.end() : ended.start()]]))
    return None


def _split_lead(text: str, *, cut: bool) -> Split | None:
    """A text that begins with a pair of tags whose name is like one of reasoning, and goes on behind it."""
    opening = _LEAD.match(text)
    tag = "" if opening is None else opening[0].strip()
    if opening is None or _tags("names").fullmatch(tag) or not _is_like_reasoning(opening[1]) or text.count(tag) > 1:
        return None
    inside, closing, behind = text[opening.end() :].partition(f"</{opening[1]}>")
    if not closing:
        return Split(None, _joined([inside])) if cut else None
    # "<plan>Basic</plan> costs five euros" goes on with its sentence.
    goes_on = behind[:1] in " \t,;" and inside.rstrip()[-1:] not in _SENTENCE_ENDS
    if not behind.strip() or goes_on:
        return None
    rest = split_reasoning(behind.lstrip(), cut=cut)
    answer = None if rest.answer is None else _unwrapped(rest.answer)
    return Split(answer, _joined([inside, rest.reasoning or ""]))


@lru_cache(maxsize=1024)
def _is_like_reasoning(name: str) -> bool:
    """Whether a part of a name is or begins with one of `stems`, or the name has one of `signs`."""
    parts = re.split(r"[_-]", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold())
    spaced, others = _data()["stems"], _data()["signs"]
    return any(part == stem or (len(stem) > 4 and part.startswith(stem)) for stem in spaced for part in parts) or any(
        sign in name for sign in others
    )


def _joined(parts: Iterable[str]) -> str | None:
    plain = (_SPECIAL.sub("\n", part).strip() for part in parts)
    return "\n\n".join(part for part in plain if part) or None


def _unwrapped(answer: str) -> str:
    """The answer without the tags that some models write around it."""
    answer = answer.lstrip()
    opening = _tags("answers").match(answer)
    if opening is None or not _is_opening(opening):
        return answer
    inside = answer[opening.end() :]
    closing = next((one for one in _tags("answers").finditer(inside) if not _is_opening(one)), None)
    return (inside if closing is None else inside[: closing.start()]).strip()


def _opened(prompt_tail: str) -> str | None:
    """The key of the mark that a prompt ends with, where it opens reasoning."""
    end = prompt_tail.rstrip()
    last = None
    for mark in _marks(end):
        last = mark
    return last.key if last is not None and last.opens and last.end == len(end) else None


def _marks(text: str) -> Iterator[_Mark]:
    """The marks of reasoning in a text, in their order."""
    if not any(sign in text for sign in _SIGNS):  # nearly always, and found out in a tenth of the time
        return iter(())
    # Any name closes any other: only the bracket must be the same.
    found = [_Mark(one.start(), one.end(), one[0][0], _is_opening(one)) for one in _tags("names").finditer(text)]
    for number, pair in enumerate(_pairs()):
        opened = [] if pair.bare else [_Mark(*one.span(), f"pair {number}", True) for one in pair.open.finditer(text)]
        if opened or (pair.lone and not pair.bare):
            found += [*opened, *(_Mark(*one.span(), f"pair {number}", False) for one in pair.close.finditer(text))]
    return iter(sorted(found, key=lambda mark: (mark.start, -mark.end)))


def _is_opening(found: re.Match[str]) -> bool:
    slash, sides = "/" in found[0][:5], (found["before"] or "") + (found["behind"] or "")
    return not slash and "end" not in sides.casefold() and not found[0].startswith("[END_")


@cache
def _tags(which: str) -> re.Pattern[str]:
    """Tags of names in every shape. The groups without a name hold the name.

    In square brackets it is in capitals, and only the names of `bracketed`: "[ANALYSIS]" is a heading in an answer.
    """
    words = "|".join(sorted(map(re.escape, _data()[which]), key=len, reverse=True))
    bracketed = "|".join(name.upper() for name in _data()["bracketed"])
    return re.compile(
        rf"(?i:(?:<|&lt;)/?(?:[\w-]{{1,20}}[:_-]|ant)?({words})(?:\s[^<>&]{{0,200}})?(?:>|&gt;))"
        rf"|\[/?(?:(?:BEGIN|START|END)_(?:OF_)?)?({bracketed})\]"
        rf"|(?i:◁/?({words})▷)"
        rf"|(?i:<[|｜]/?(?P<before>(?:begin|start|end)(?:_of)?[_▁])?({words})(?P<behind>[_:▁](?:start|begin|end))?[|｜]>)"
    )


@dataclass(frozen=True, slots=True)
class _Pair:
    """A row of `pairs`."""

    open: re.Pattern[str]
    close: re.Pattern[str]
    bare: bool = False
    lone: bool = True


@cache
def _pairs() -> Sequence[_Pair]:
    rows = _data()["pairs"]
    return [_Pair(**{**row, "open": re.compile(row["open"]), "close": re.compile(row["close"])}) for row in rows]


@cache
def _turn_ends() -> re.Pattern[str]:
    turn = _data()["turn"]
    ends, roles, headed = ("|".join(map(re.escape, turn[name])) for name in ("ends", "roles", "headed"))
    special = r"(?i:[<\[](?:eo[a-z]|bo[st]|pad|(?:end|start|begin)[ _-]?of[ _-]?\w{2,15})[>\]])"
    said = rf"(?:#{{2,4}} ?|\*\*)?(?:{roles}|{roles.upper()})(?: ?\d)?|#{{2,4}} ?(?:{headed})"
    return re.compile(rf"<[|｜][\w▁:/ -]{{1,40}}[|｜]>|{special}|{ends}|\n[ \t]*\n(?:{said}) ?[:：]")


@cache
def _next_question(prompt_tail: str) -> re.Pattern[str]:
    """What asks the next question where a prompt ends with the name of an answer; else what no text has."""
    for form in _data()["turn"]["forms"]:
        answer, question = ("|".join(map(re.escape, form[name])) for name in ("answer", "question"))
        if re.search(rf"(?:^|\n)[#* ]{{0,5}}(?:{answer})\**[ \n]?[:：]\**\s*$", prompt_tail):
            return re.compile(rf"\n[#* ]{{0,5}}(?:{question})\**[ \n]?[:：]")
    return re.compile(r"(?!)")


@cache
def _headers() -> re.Pattern[str]:
    return re.compile(r"(?:\s*(?:" + "|".join(map(re.escape, _data()["turn"]["headers"])) + "))+")


@cache
def _data() -> Mapping[str, Any]:
    return tomllib.loads(_MARKS.read_text(encoding="utf-8"))
