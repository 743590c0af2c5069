"""Reasoning that a model writes before its answer, told apart from it.

The marks are data (`reasoning.toml`). `answer.py` calls `split_reasoning` for every text, whoever made it; where the
model's turn ends is told by `turns`.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path
from typing import Any

from polyculture.cache.text.sanitize import parse

TAIL = 8  # tokens of a prompt in which an opening tag that ends it stands whole
_MARKS = Path(__file__).with_name("reasoning.toml")
_LONGEST_LONE = 65_536  # characters of a text in which a closing tag without an opening one is looked for
_LIKE_ANGLE = re.compile("POINTING|ANGLE BRACKET|(?:LESS|GREATER)-THAN SIGN$")
_BRACKETS = (*range(0x100), *range(0x2000, 0x3100), *range(0xFE00, 0x10000))  # where Unicode has them
_QUOTED = tuple("`'\"“‘„")  # before a tag that a sentence mentions
_QUOTES = "«‹〈《"  # around a word or a title, too: an opening one alone says nothing
_NAME = r"(?P<name>[^\W\d_][\w'’ -]{1,40}?)"  # of what encloses or heads reasoning
_FENCE = re.compile(r"```(?:json)?\s(?P<inside>.*)```", re.DOTALL)
# A part of a text in a tag; the last one may be cut.
_SECTION = re.compile(r"\s*<(?P<name>[A-Za-z]{3,20})>(?P<inside>.*?)(?:</(?P=name)>\s*|\Z)", re.DOTALL)
# Special tokens between turns and channels, with the words that follow them there: they are no reasoning either.
_SPECIAL = re.compile(r"(?:<[|｜][\w▁:/ -]{1,40}[|｜]>(?:(?:assistant|analysis|commentary|final)\b)?\s*)+")
# What special tokens say of an answer (Command A: <|START_RESPONSE|>) goes also where no reasoning stands before it.
_SPECIAL_ANSWER = re.compile(r"\s*<[|｜]")
_WORD = re.compile(r"\S")
_INVISIBLE = " \u200b\ufeff"  # the space, the one of no width, the byte order mark
SENTENCE_ENDS = '.!?…。！？।؟۔\n*)»”"'  # reasoning begins and ends beside one of these, or at the text's ends


@dataclass(frozen=True, slots=True)
class Split:
    """A text taken apart. `answer` is None where the reasoning does not end in the text."""

    answer: str | None
    reasoning: str | None = None
    prompt_opened: bool = False  # its reasoning had no opening tag: the chat template writes it


@dataclass(frozen=True, slots=True)
class _Tag:
    """A tag in a text: `key` is equal for an opening tag and the tags that close it."""

    start: int
    end: int
    key: str
    opens: bool


def split_reasoning(text: str, *, cut: bool = False, prompt_tail: str = "") -> Split:
    """The answer in a text and the reasoning around it.

    Reasoning begins where the text does, or a sentence, or where the prompt (`prompt_tail`, its end) opened it. It ends
    with the tag of its own name. Reasoning that is not closed has no answer behind it where the text begins with it or
    was `cut`, unless a tag opens the answer. Elsewhere the tag is a part of the answer, as are tags within a sentence.
    A closing tag without an opening one ends reasoning that the prompt opened. Other names of reasoning (`<plan>`) and
    headings (`**Thinking:**`) must begin the text, with an answer behind them, and a heading with one of the answer.
    Of a text that is sections in tags and nothing else, one of them reasoning, the conclusion at the end is the answer.
    """
    opened = _opened(prompt_tail)
    if (header := headers().match(text)) is not None and "<s>" not in header[0]:
        text = text[header.end() :].lstrip()
    first = _split_bare(text) or _split_object(text) or _split_sections(text, cut=cut) or _split_lead(text, cut=cut)
    if first is not None:
        return first
    marks = [*_marks(text)]
    if opened is None and not marks:
        return Split(_unwrapped(text) if _SPECIAL_ANSWER.match(text) else _without_end_tag(text))
    if opened is not None and not any(
        mark.opens and mark.key == opened and not text[: mark.start].strip() for mark in marks
    ):
        marks.insert(0, _Tag(0, 0, opened, opens=True))
    if not cut and len(marks) == 2 and _opens_twice(text, *marks):
        marks[1] = replace(marks[1], opens=False)
    split = _walk(text, marks, cut=cut, prompt_opened=opened is not None)
    more = _split_lead(split.answer, cut=cut) if split.answer and split.reasoning else None
    return (
        split
        if more is None
        else replace(split, answer=more.answer, reasoning=_joined([split.reasoning or "", more.reasoning or ""]))
    )


def _walk(text: str, marks: Sequence[_Tag], *, cut: bool, prompt_opened: bool) -> Split:
    reasoning: list[str] = []
    answer, position, number = "", 0, 0
    partners, within = _partners(marks), set[int]()
    while number < len(marks):
        mark, closing = marks[number], partners.get(number)
        if not mark.opens:
            # All before the last end of reasoning is reasoning, answers in between included (EuroEval/EuroEval#969).
            ends = _closes_alone(text, mark) or (bool(reasoning) and text[mark.start - 1 : mark.start] not in _QUOTED)
            if number not in within and ends:
                prompt_opened = prompt_opened or not reasoning
                reasoning.append(answer + text[position : mark.start])
                answer, position = "", mark.end
            number += 1
            continue
        first = _is_first(text, position, mark)
        begins = (
            bool(reasoning) or _begins_sentence(text, mark.start) or answer_label().fullmatch(text[: mark.start][:99])
        )
        unclosed = (cut or first) and mark.key not in _QUOTES
        if begins and closing is None and not text[mark.end :].strip():  # a text ends with it: nothing follows
            answer += text[position : mark.start].rstrip()
            position = len(text)
            break
        if not (begins or _is_glued(text, marks, closing)) or not (closing is not None or unclosed):
            # A tag within the answer. What closes it in the same line is one, too.
            if closing is not None and "\n" not in text[mark.end : marks[closing].start]:
                within.add(closing)
            number += 1
            continue
        if closing is None:
            begun = next(filter(_is_opening, _tags("answers").finditer(text, mark.end)), None)
            if begun is None or not _begins_sentence(text, begun.start()):
                return Split(None, _joined([*reasoning, text[mark.end :]]), prompt_opened)
            reasoning.append(text[mark.end : begun.start()])
            answer, position = answer + text[position : mark.start], begun.start()
            break
        reasoning.append(text[mark.end : marks[closing].start])
        answer += text[position : mark.start].strip("\u200b\ufeff")
        position, number = marks[closing].end, closing + 1
    answer += text[position:]
    return Split(_unwrapped(answer) if reasoning else answer, _joined(reasoning), prompt_opened and bool(reasoning))


def _opens_twice(text: str, first: _Tag, second: _Tag) -> bool:
    """Whether a text begins with a tag and has it once more at the beginning of a line, where it must mean its end."""
    same = first.opens and second.opens and text[first.start : first.end] == text[second.start : second.end] != ""
    return same and _is_first(text, 0, first) and text[second.start - 1] == "\n"


def _partners(marks: Sequence[_Tag]) -> dict[int, int]:
    """The place of the mark that closes each opening one: its own, or the last of its name behind it."""
    partners, open_ones, last = dict[int, int](), dict[str, list[int]](), dict[str, int]()
    for place, mark in enumerate(marks):
        if mark.opens:
            open_ones.setdefault(mark.key, []).append(place)
            continue
        last[mark.key] = place
        if open_ones.get(mark.key):
            partners[open_ones[mark.key].pop()] = place
    unclosed = ((place, last.get(key, -1)) for key, places in open_ones.items() for place in places)
    return partners | {place: closing for place, closing in unclosed if closing > place}


def _is_glued(text: str, marks: Sequence[_Tag], closing: int | None) -> bool:
    """Whether a closing mark stands at a word's beginning, as none does that a sentence mentions."""
    return closing is not None and text[marks[closing].end : marks[closing].end + 1].isalnum()


def _closes_alone(text: str, mark: _Tag) -> bool:
    """Whether a closing tag without an opening one ends reasoning, rather than being mentioned in a sentence: there it
    stands alone as a word does, or in quotes."""
    glued = text[mark.start - 1 : mark.start].isalnum() and text[mark.end : mark.end + 1].isalnum()
    at_an_end = glued or _begins_sentence(text, mark.start) or text[mark.end : mark.end + 1] == "\n"
    return mark.start <= _LONGEST_LONE and at_an_end


def _is_first(text: str, position: int, mark: _Tag) -> bool:
    """Whether nothing but white space stands between a position and a mark."""
    word = _WORD.search(text, position)
    return word is None or word.start() >= mark.start


def _begins_sentence(text: str, place: int) -> bool:
    """Whether a sentence ends right before a place, or nothing stands before it."""
    return text[max(0, place - 9) : place].rstrip(_INVISIBLE)[-1:] in ("", *SENTENCE_ENDS)


def _split_bare(text: str) -> Split | None:
    for pair in _pairs():
        if pair.bare and (begun := pair.open.match(text)) and (ended := pair.close.search(text, begun.end())):
            return Split(text[ended.end() :].lstrip(), _joined([text[begun.end() : ended.start()]]))
        if pair.sure and (begun := pair.sure.match(text)):
            return Split(None, _joined([text[begun.end() :]]))
    return None


def _split_sections(text: str, *, cut: bool) -> Split | None:
    """A text that has nothing but sections in tags, with reasoning and then a conclusion among them: LLaVA-CoT's
    SUMMARY, CAPTION, REASONING, CONCLUSION, which are ordinary words in any other text."""
    sections, place = list[re.Match[str]](), 0
    while section := _SECTION.match(text, place):
        sections.append(section)
        place = section.end()
    names = [section["name"].casefold() for section in sections]
    concludes = bool(names) and names[-1] in words_of("conclusions")
    reasoned = any(name in words_of("names") for name in (names[:-1] if concludes else names[1:]))
    if text[place:].strip() or not reasoned or not (concludes or cut):
        return None
    *thoughts, last = (section["inside"].strip() for section in sections)
    return Split(last, _joined(thoughts)) if concludes else Split(None, _joined([*thoughts, last]))


def _split_lead(text: str, *, cut: bool) -> Split | None:
    """A text that begins with reasoning, in a pair of tags or under a heading, and goes on behind it."""
    start, unclosed = text.lstrip(), None
    for lead in _leads():
        opening = lead.open.match(start)
        if opening is None or not (_is_like_reasoning if lead.pair else _is_heading)(opening["name"]):
            continue
        if lead.pair and (_tags("names").fullmatch(tag := opening[0].strip()) or start.count(tag) > 1):
            return None
        closing = lead.closing(opening).search(start, opening.end())
        # What answers a question of the text itself is not the answer behind its reasoning.
        if closing is not None and (lead.cut or _own_question().search(start, opening.end(), closing.start()) is None):
            return _behind(start, opening, closing, cut=cut)
        unclosed = unclosed or (opening if lead.cut else None)
    return Split(None, _joined([start[unclosed.end() :]])) if cut and unclosed else None


def _behind(start: str, opening: re.Match[str], closing: re.Match[str], *, cut: bool) -> Split | None:
    """A text with the reasoning between two marks; None where no answer follows."""
    inside, behind = start[opening.end() : closing.start()], start[closing.end() :]
    # "<plan>Basic</plan> costs five euros" goes on with its sentence.
    word = opening["name"].casefold() not in words_of("names") and not _is_heading(opening["name"])
    if not behind.strip() or (word and behind[:1] in " \t,;" and inside.rstrip()[-1:] not in SENTENCE_ENDS):
        return None
    rest = split_reasoning(behind.lstrip(), cut=cut)
    answer = None if rest.answer is None else _unwrapped(rest.answer)
    return Split(answer, _joined([inside, rest.reasoning or ""]))


def _split_object(text: str) -> Split | None:
    """A JSON object of reasoning and an answer, and of numbers about them (a confidence)."""
    body = _FENCE.fullmatch(text.strip())
    inside = (body["inside"] if body else text).strip()
    if not (inside.startswith("{") and inside.endswith("}")):
        return None
    try:
        fields = parse(inside.encode("utf-8", "surrogateescape"))
    except ValueError:
        return None
    told = [key for key in fields if key.casefold().replace(" ", "_") in words_of("answers") and key != "text"]
    thoughts = [key for key in fields if _is_heading(key.replace("_", " "))]
    beside = [value for key, value in fields.items() if key not in (*told, *thoughts)]
    if len(told) != 1 or not thoughts or any(isinstance(value, str | list | dict) and value for value in beside):
        return None
    said = [value if isinstance(value, list) else [value] for value in map(fields.get, (*told, *thoughts))]
    if not all(isinstance(one, str) for one in chain(*said)) or not isinstance(fields[told[0]], str):
        return None
    return Split(fields[told[0]], _joined(chain(*said[1:])))


def _is_heading(name: str) -> bool:
    return re.sub(r"^(?:my|the) ", "", name.casefold().strip()) in tables()["headings"]


@lru_cache(maxsize=1024)
def _is_like_reasoning(name: str) -> bool:
    """Whether a part of a name is or begins with one of `stems`, or the name has one of `signs`."""
    parts = re.split(r"[\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold())
    spaced, others = tables()["stems"], tables()["signs"]
    return any(part == stem or (len(stem) > 4 and part.startswith(stem)) for stem in spaced for part in parts) or any(
        sign in name for sign in others
    )


def _joined(parts: Iterable[str]) -> str | None:
    plain = (_SPECIAL.sub("\n", part).strip() for part in parts)
    return "\n\n".join(part for part in plain if part) or None


def is_mark(token: str) -> bool:
    """Whether a special token is a mark of reasoning or of an answer, or a part of one."""
    marks = [mark for pair in _pairs() for mark in (pair.open, pair.close)]
    whole = any(mark.fullmatch(token) for mark in (_tags("names"), _tags("answers"), *marks))
    return whole or any(re.escape(token) in mark.pattern for mark in marks)


def is_only_tags(text: str) -> bool:
    """Whether a text has tags of reasoning or of an answer, and nothing else."""
    begun = text.lstrip()[:1] in _angles()[0] + "[&\\"
    return begun and not _tags("answers").sub("", _tags("names").sub("", text)).strip()


def _without_end_tag(answer: str) -> str:
    """The answer without a tag at its end that closes what the prompt, or nobody, opened."""
    if not answer.rstrip().endswith((">", "]")):
        return answer
    tags = [*_tags("answers").finditer(answer)]
    lone = tags and not any(map(_is_opening, tags)) and not answer[tags[-1].end() :].strip()
    return answer[: tags[-1].start()].rstrip() if lone else answer


def _unwrapped(answer: str) -> str:
    """The answer without the tags that some models write around it."""
    answer = answer.lstrip()
    opening = _tags("answers").match(answer)
    if opening is None or not _is_opening(opening):
        return _without_end_tag(answer)
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


def _marks(text: str) -> Iterator[_Tag]:
    """The marks of reasoning in a text, in their order."""
    if not _may_have_marks().search(text):
        return iter(())
    # Any name closes any other: only the bracket must be the same.
    found = [_Tag(one.start(), one.end(), one[0][0], _is_opening(one)) for one in _tags("names").finditer(text)]
    names = {(mark.start, mark.end) for mark in found}
    for number, pair in enumerate(_pairs()):
        begins = [] if pair.bare else pair.open.finditer(text)
        opened = [
            _Tag(*one.span(), f"pair {number}", True)
            for one in begins
            if one.span() not in names or pair.close.search(text, one.end())
        ]
        if opened or (pair.lone and not pair.bare):
            found += [*opened, *(_Tag(*one.span(), f"pair {number}", False) for one in pair.close.finditer(text))]
    return iter(sorted(found, key=lambda mark: (mark.start, -mark.end, not mark.key.startswith("pair"))))


def _is_opening(found: re.Match[str]) -> bool:
    sides = (found["before"] or "") + (found["behind"] or "")
    return not found["slash"] and "end" not in sides.casefold() and not found[0].startswith(("[/", "[END_"))


@cache
def _angles() -> tuple[str, str]:
    """What is like `<` and like `>` in Unicode (＜ ⟨ ❬ ‹ « 《 ◁ ◀ and others), as the insides of two classes."""
    named = {one: name for one in map(chr, _BRACKETS) if _LIKE_ANGLE.search(name := unicodedata.name(one, ""))}
    left = [one for one, name in named.items() if re.search(r"LESS-THAN|\bLEFT\b", name)]
    right = [one for one, name in named.items() if re.search(r"GREATER-THAN|\bRIGHT\b", name)]
    return "".join(left), "".join(right)


@cache
def _may_have_marks() -> re.Pattern[str]:
    """What every mark has one of: most texts have none, which shows in a tenth of the time."""
    return re.compile(rf"[{_angles()[0]}[\\]|&(?:lt|#)")


@cache
def _tags(which: str) -> re.Pattern[str]:
    """Tags of names in every shape: any bracket that is like an angle, with or without a bar. The groups without a name
    hold the name.

    In square brackets it is in capitals, and only the names of `bracketed`: "[ANALYSIS]" is a heading in an answer.
    """
    words = "|".join(sorted(map(re.escape, words_of(which)), key=len, reverse=True))
    bracketed = "|".join(name.upper() for name in words_of("bracketed"))
    left, right = _angles()
    return re.compile(
        rf"(?i:(?:\\?[{left}]{{1,2}}|&(?:lt|#0*60|#x0*3c);|\\u003c)[|｜]?\s?(?P<slash>[/\\]{{0,2}})\s?[|｜]?"
        rf"(?:(?P<before>(?:begin|start|end)(?:[_▁]of)?[_▁]?)|[\w-]{{1,20}}[:_-]|ant)?({words})"
        rf"(?P<behind>[_:▁](?:start|begin|end))?(?:\s[^{left}{right}&]{{0,200}})?\s?/?[|｜]?"
        rf"(?:\\?[{right}]{{1,2}}|&(?:gt|#0*62|#x0*3e);|\\u003e))"
        rf"|\[/?(?:(?:BEGIN|START|END)_(?:OF_)?)?({bracketed})\]"
    )


@dataclass(frozen=True, slots=True)
class _MarkPair:
    """A row of `pairs`."""

    open: re.Pattern[str]
    close: re.Pattern[str]
    bare: bool = False
    lone: bool = True
    sure: re.Pattern[str] | None = None


@cache
def _pairs() -> Sequence[_MarkPair]:
    found = []
    for row in tables()["pairs"]:
        marks: dict[str, Any] = {name: re.compile(row[name]) for name in ("open", "close", "sure") if name in row}
        found.append(_MarkPair(**{**_rule(row), **marks}))
    return found


@dataclass(frozen=True, slots=True)
class _Lead:
    """A row of `leads`."""

    open: re.Pattern[str]
    close: str
    pair: bool = False  # of tags
    cut: bool = True  # whether what it opens is reasoning where no end follows

    def closing(self, opening: re.Match[str]) -> re.Pattern[str]:
        """What ends the reasoning that was opened."""
        return re.compile(self.close.replace("{same}", re.escape(opening["name"])))


@cache
def _leads() -> Sequence[_Lead]:
    inside = {
        "{name}": _NAME,
        "{answer}": _answer_heading(),
        "{left}": f"[{_brackets('Ps', 'Pi')}{_angles()[0]}]",
        "{right}": f"[{_brackets('Pe', 'Pf')}{_angles()[1]}]",
    }

    def filled(pattern: str) -> str:
        for name, one in inside.items():
            pattern = pattern.replace(name, one)
        return pattern

    return [_Lead(**{**_rule(row), "open": re.compile(filled(row["open"])), "close": filled(row["close"])})
            for row in tables()["leads"]]  # fmt: skip


def _rule(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row without what it says of its system."""
    return {key: value for key, value in row.items() if key not in ("system", "source")}


def _brackets(*categories: str) -> str:
    return re.escape("".join(one for one in map(chr, _BRACKETS) if unicodedata.category(one) in categories))


@cache
def _answer_words() -> str:
    """The names of an answer, as a regular expression. One letter alone is no heading: it may be a choice."""
    of_forms = [word for form in tables()["turn"]["forms"] for word in form["answer"]]
    words = [
        *words_of("answers"),
        *tables()["more_answers"],
        *(word for word in of_forms if not word.isascii() or len(word) > 1),
    ]
    ordered = sorted({word.replace("_", " ") for word in words}, key=len, reverse=True)
    return rf"(?i:(?:my |the )?(?:{'|'.join(map(re.escape, ordered))}))"


@cache
def _answer_heading() -> str:
    """The heading of an answer, as a regular expression: bold, in brackets, or at the beginning of a line."""
    word, colon = _answer_words(), "[ \\t]?[:：]"
    return (
        rf"(?:(?:\*\*|__)[^\w\n]{{0,4}}{word}(?:{colon})?(?:\*\*|__)(?:{colon})?|[\[【]{word}[\]】](?:{colon})?"
        rf"|\n[^\w\n]{{1,8}}{word}[^\w\n]{{0,8}}(?=\n)"
        rf"|\n[^\w\n]{{0,4}}{word}(?:[*_]{{2}})?{colon}[*_]{{0,3}})"
    )


@cache
def _own_question() -> re.Pattern[str]:
    """The name of a question at the beginning of a line."""
    words = {word for form in tables()["turn"]["forms"][:-2] for word in form["question"]}
    return re.compile(rf"\n[^\w\n]{{0,5}}(?:{'|'.join(sorted(map(re.escape, words)))})[*_]{{0,3}}[ \t]?[:：]")


@cache
def answer_label() -> re.Pattern[str]:
    """What may stand before reasoning as the name of the answer's turn: `Answer:`, `**Assistant**: `."""
    return re.compile(rf"\W{{0,4}}{_answer_words()}[*_ ]{{0,3}}[:：][*_ ]{{0,3}}")


@cache
def headers() -> re.Pattern[str]:
    """What begins a model's own turn: the markers and names of a template."""
    return re.compile(r"(?:\s*(?:" + "|".join(map(re.escape, words_of("headers"))) + "))+")


@cache
def words_of(which: str) -> Sequence[str]:
    """The words of the rows that have such words: `names` and `answers` of tags, `ends` and `headers` of turns."""
    rows = (row for which_rows in ("tags", "turns") for row in tables()[which_rows])
    return list(dict.fromkeys(word for row in rows for word in row.get(which, ())))


@cache
def tables() -> Mapping[str, Any]:
    """The tables of `reasoning.toml`: all marks, of reasoning and of turns."""
    return tomllib.loads(_MARKS.read_text(encoding="utf-8"))
