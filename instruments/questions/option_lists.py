"""Where a prompt that somebody else wrote shows the options of a question, and under which labels.

A prompt may list options on lines of their own ("A: soup"), within a sentence ("A) soup, B) rice"), as bullets, cells,
tags or JSON. So the text of each option is looked for, and then the label before it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from polyculture.instruments.questions.asking import Order
from polyculture.instruments.questions.model import UNKNOWN, Question

_STOPS = ".。．!！;；,， \t\n"  # an option's own last sign, which a prompt may leave out
# What tells labels apart: a number, or one letter of any script. A letter that ends a word is none.
_CIRCLED = "①-⑳Ⓐ-ⓩ㉠-㉭㋐-㋾"
_SIGN = rf"(?:(?<![A-Za-z0-9])(?:\d{{1,2}}|[ivxIVX]{{2,4}}|[A-Za-z])|(?<!\w)[^\W\d_A-Za-z]|[{_CIRCLED}])"
_LABEL = rf"(?P<open>[(\[（【]?)(?P<sign>{_SIGN})(?P<close>[)\]）】]?)"
# What may stand between a label and its option: signs and blanks, tags (`</td><td>`) or keys (`", "text": "`).
_KEY = r"""["']?\s*,\s*["']\w{1,20}["']\s*[:：]\s*"""
_BETWEEN = rf"(?P<between>(?:{_KEY}|</?(?:[bipu]|[A-Za-z]\w{{1,9}})>|[^\w<{_CIRCLED}]){{0,12}})"
_BEFORE = re.compile(rf"{_LABEL}{_BETWEEN}\Z")
_OTHER_LABEL = re.compile(rf"{_LABEL}(?P<between>[^\w\n]{{1,12}})(?=\S)")
_REACH = 80  # characters before an option in which its label begins
_FEW = 16  # characters between options that are listed without labels
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|([\"'/\\nt]))")
_ESCAPED = {"n": "\n", "t": "\t"}
# Letters in the order in which exams of a country number options, where they are not neighbours in Unicode: Arabic
# (two), Korean (two), Japanese (katakana of the information technology engineers' examination, and hiragana), Thai.
_TURNS = (
    "أبجدهوز",
    "ابجدهوز",
    "가나다라마바사",
    "ㄱㄴㄷㄹㅁㅂㅅ",
    "アイウエオカキク",
    "あいうえおかきく",
    "กขคงจฉช",
)
_NO_BLANKS = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN")  # between words


@dataclass(frozen=True, slots=True)
class ShownOptions:
    """The options of a question as a prompt shows them, by place."""

    order: Order  # the index of the option
    labels: tuple[str, ...]  # as they are shown, with their brackets; empty where the prompt shows none
    texts: tuple[str, ...]  # in single blanks


@dataclass(frozen=True, slots=True)
class _OptionText:
    """The text of an option in a prompt."""

    index: int
    start: int
    end: int
    label: str = ""
    sign: str = ""
    between: str = ""  # what stands between the label and the text
    at: int = 0  # where the label begins

    @property
    def marked(self) -> bool:
        """Is there more than blanks around the label?"""
        return bool(self.between.strip()) or self.label != self.sign


def shown_in(asked: str, question: Question) -> ShownOptions | None:
    """The options of a question in a prompt; None where it does not show all of them.

    Of several lists the last counts. Where the prompt shows every option but 'unknown', the text under the label that
    is left over is a wording of it. Options without labels are taken where they follow each other in a list.
    """
    if not question.options:
        return None
    size = len(question.options)
    once = _unescaped(asked)
    for text in dict.fromkeys(unicodedata.normalize("NFC", one) for one in (asked, once, _unescaped(once))):
        places = list(_places(text, question.options))
        labelled = [one for one in places if one.label]
        marked = [one for one in labelled if one.marked]
        found = _last_list(marked, size) or _with_other_unknown(text, marked, question)
        found = found or _last_list(labelled, size, in_turn=True)
        if found is not None:
            return _shown(text, found, tuple(one.label for one in found))
        bare = _last_list([_OptionText(one.index, one.start, one.end) for one in places], size)
        if bare is not None and _is_list(text, bare):
            return _shown(text, bare, ())
    return None


def _shown(text: str, found: Sequence[_OptionText], labels: tuple[str, ...]) -> ShownOptions:
    texts = tuple(" ".join(text[one.start : one.end].split()) for one in found)
    return ShownOptions(tuple(one.index for one in found), labels, texts)


def _places(text: str, options: Sequence[str]) -> Iterator[_OptionText]:
    """Every place of an option, the longest of those that begin together, with the label before it."""
    found: dict[int, _OptionText] = {}
    for index, option in enumerate(options):
        for match in _pattern(option).finditer(text):
            known = found.get(match.start())
            if known is None or known.end < match.end():
                found[match.start()] = _labelled(text, _OptionText(index, match.start(), match.end()))
    for start in sorted(found):
        yield found[start]


@lru_cache(maxsize=4096)
def _pattern(option: str) -> re.Pattern[str]:
    """An option in any case and any blanks, with or without the sign that it ends with."""
    whole = unicodedata.normalize("NFC", option.strip())
    core = whole.rstrip(_STOPS) or whole
    text = r"\s+".join(map(re.escape, core.split()))
    before, behind = (edge if _has_edge(sign) else "" for edge, sign in ((r"(?<!\w)", core[0]), (r"(?!\w)", core[-1])))
    return re.compile(f"{before}{text}(?:{re.escape(whole[len(core) :])})?{behind}", re.IGNORECASE)


def _has_edge(sign: str) -> bool:
    """Is a word's edge seen beside this sign?"""
    return re.match(r"\w", sign) is not None and not unicodedata.name(sign, "").startswith(_NO_BLANKS)


def _labelled(text: str, place: _OptionText) -> _OptionText:
    """A place with the label that stands before it, on its line or the one above."""
    start = max(place.start - _REACH, 0)
    match = _BEFORE.search(text[start : place.start])
    if match is None or match["between"].count("\n") > 1:
        return place
    return _with_label(place, match, start)


def _with_label(place: _OptionText, match: re.Match[str], start: int) -> _OptionText:
    label = f"{match['open']}{match['sign']}{match['close']}"
    return replace(place, label=label, sign=match["sign"], between=match["between"], at=start + match.start("open"))


def _number(sign: str) -> int:
    """The place of a sign among its kind."""
    return int(sign) if sign.isdecimal() else ord(sign[0])


def _last_list(places: Sequence[_OptionText], size: int, *, in_turn: bool = False) -> list[_OptionText] | None:
    """The last `size` places in a row that are of different options, under different labels of one form.

    `in_turn`: under the letters or numbers that follow each other, as labels without any mark do ("A soup B rice").
    """
    for end in range(len(places), size - 1, -1):
        some = list(places[end - size : end])
        signs = [one.sign for one in some]
        if len({one.index for one in some}) < size or len({_form(one) for one in some}) > 1:
            continue
        if in_turn and not (all(signs) and _follow_each_other(signs)):
            continue
        if not signs[0] or len(set(signs)) == size:
            return some
    return None


def _follow_each_other(signs: Sequence[str]) -> bool:
    """Are signs neighbours, in the order in which options are numbered?"""
    first = _number(signs[0])
    in_order = list(range(first, first + len(signs)))
    return [*map(_number, signs)] == in_order or any("".join(signs) in turn for turn in _TURNS)


def _form(place: _OptionText) -> tuple[str, bool, str]:
    """What surrounds a label's sign, and whether that is a number."""
    at = place.label.find(place.sign)
    return place.label[:at], place.sign.isdecimal(), place.label[at + len(place.sign) :]


def _with_other_unknown(text: str, places: Sequence[_OptionText], question: Question) -> list[_OptionText] | None:
    """The last list that shows all options but 'unknown', with the text under the label that is left over."""
    if question.roles.count(UNKNOWN) != 1:
        return None
    unknown, size = question.roles.index(UNKNOWN), len(question.options)
    persons = _last_list([one for one in places if one.index != unknown], size - 1)
    if not persons:
        return None
    others = [
        _with_label(_OptionText(unknown, match.end(), match.end()), match, 0)
        for match in _OTHER_LABEL.finditer(text)
        if not any(one.at <= match.start() < one.end for one in persons)
    ]
    taken = {one.sign for one in persons}
    near = [
        one
        for one in others
        if one.marked and one.sign not in taken and _form(one) == _form(persons[0])
        and (not one.sign.isascii() or abs(_number(one.sign) - _number(persons[0].sign)) < size)
    ]  # fmt: skip
    if not near:
        return None
    found = min(near, key=lambda one: min(abs(one.at - edge) for other in persons for edge in (other.at, other.end)))
    found = replace(found, end=_end_of_text(text, found.start, persons))
    return sorted((*persons, found), key=lambda one: one.at) if found.end > found.start else None


def _end_of_text(text: str, start: int, others: Sequence[_OptionText]) -> int:
    """Where a wording ends: at the next label, the end of its line, or what stands between the other options."""
    ends = [len(text), text.find("\n", start), *(one.at for one in others)]
    for one, other in itertools.pairwise(others):
        mark = text[one.end : other.at].strip()
        if 0 < len(mark) <= 3:  # as in 'A) soup, B) rice' and 'A: soup / B: rice'
            ends.append(text.find(mark, start))
    end = min(one for one in ends if one >= start)
    return start + len(text[start:end].rstrip(" \t,;/|\"'-–—*•·([{<"))


def _is_list(text: str, found: Sequence[_OptionText]) -> bool:
    """Do texts without labels stand as a list: little between each two, and at most a word such as 'or'?"""
    gaps = [text[one.end : other.start] for one, other in itertools.pairwise(found)]
    return all(len(gap) <= _FEW and len(re.findall(r"\w+", gap)) <= 1 for gap in gaps)


def _unescaped(text: str) -> str:
    """A text that holds JSON within JSON: `\\"` and `\\u00e9` as what they mean."""
    return _ESCAPE.sub(lambda one: chr(int(one[1], 16)) if one[1] else _ESCAPED.get(one[2], one[2]), text)
