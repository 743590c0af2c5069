"""Which option an answer picks: decided by where labels and options stand, and by the words around them.

A text becomes tokens (`tokens`). Each token that is not denied has a standing, and the highest one decides if it names
one option:

| standing | where |
| --- | --- |
| conclusion | after "so", "final answer" in a sentence |
| answer | beside "the answer is", "correct", "I choose"; after a colon at the end of a line |
| line | first or last, and a line or sentence of its own; first, with a point, bracket or dash behind it |
| marked | bold, in brackets or quotes, beside "option"; first in a sentence with a point, comma or bracket behind it |
| named | elsewhere, unless the label may be an ordinary word there |

All else is out of choice. A phrase that the answer cannot be known is the option 'unknown' where one is offered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from functools import cache, cached_property

from polyculture.generate.refusals import is_refusal
from polyculture.instruments.questions.reading.answer_text import MARKS, WORD, answer_text, folded
from polyculture.instruments.questions.reading.languages import language_of
from polyculture.instruments.questions.reading.tokens import (
    LABELS,
    TEXTS,
    TOKENS,
    Offered,
    is_label,
    offered,
    place_of,
)

_NEAR = 40  # characters between a word for the answer and the option that it names
_COMMA = 10  # characters that a comma between them counts for
_DENIED = 40  # characters after an option within which it may be denied
_MOST = 25  # first and last options in a sentence that are looked at
_AROUND = 100  # characters before and after an option that decide its standing
_SHORT = 2  # letters of articles that name an option before its label
_BRIEF = 80  # characters of a text that says only that the answer is unknown
_TOKEN, _TEXT = re.compile(f"[{TOKENS}]"), re.compile(f"[{TEXTS}]")
_MARKS = re.escape(MARKS)
_STOP = re.compile(r"[.!?…]+(?=[\s\"'”’»*)\]]|$)|[。！？।۔؟።]+|\n+")
_COLON = re.compile(rf"(?:{WORD}{{2}}|[^\W\da-z])[{_MARKS}]*[:=：][{_MARKS}]*$")
_OWN_TEXT = re.compile(rf"([{LABELS}])(?:[{_MARKS}–—/|]*)([{TEXTS}])")
_BEHIND = re.compile(rf"([{TEXTS}])\s*[*\"']*[(\[]\s*[*\"']*([{LABELS}])")
_PAIR = re.compile(rf"([{LABELS}])[{_MARKS}]*[{TEXTS}]|[{TEXTS}]\s*[*\"']*[(\[]\s*[*\"']*([{LABELS}])[)\]]?")
_OTHER_LABEL = re.compile(r"(?:^|\s)\W?[a-z\d]{1,2}[).:\]]+\s*$")  # of none that was offered: "D: the text"
_CLOSED = re.compile(rf"[\"'”’»」』)\]*_`}}>$]*(?:[.,:;)\]*\-–—\n।۔。、，：!،/|።፣፡]|\((?![{LABELS}]))")
_BUT_QUESTION = MARKS.replace("?", "").replace("؟", "")
_WITHIN = re.compile(rf"{WORD}[^.!?:\n{TOKENS}]*$")  # before what does not begin a sentence
_LIST = " \n,，、،/&|+*_\"'`()[]{}「」“”"  # between labels that are named in one breath
_OPENING, _CLOSING = "*_`\"'“‘«‹「『《【[({<$", "*_`\"'”’»›」』》】])}>$"


class Ground(StrEnum):
    """Why an answer is read as it is."""

    LETTER = "letter"  # the label of one option, and no other
    OPTION = "option"  # the text of one option
    EXPLICIT = "explicit"  # of several options the one that is said to be the answer
    NAMED = "named"  # one option's text, within a sentence
    UNKNOWN = "unknown"  # in other words, the option that says that nobody can know
    CONFLICT = "conflict"  # a label joined to another option's text
    SEVERAL = "several"  # more than one option
    DENIED = "denied"  # no option but what is denied
    REFUSAL = "refusal"  # declines in words
    EMPTY = "empty"  # nothing was said
    ABSENT = "absent"  # says that nobody can know, which was not offered
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Reading:
    """The place of the option that an answer picks, as shown; None where it picks none."""

    place: int | None
    ground: str
    also: tuple[int, ...] = ()  # other places that it picks, where all options that fit are asked for


class Standing(IntEnum):
    """How plainly an option is picked."""

    NONE = 0
    NAMED = 1
    MARKED = 2
    LINE = 3
    ANSWER = 4
    CONCLUSION = 5


@dataclass(frozen=True, slots=True)
class _Named:
    place: int
    standing: Standing
    label: bool
    denied: bool
    shared: bool  # named in one breath with another: "A or B"


def read_choice(text: str, shown: Sequence[str], labels: Sequence[str], unknown: int | None, language: str) -> Reading:
    """The option that an answer picks: `shown` and `labels` (empty where none were shown) by place.

    `unknown` is the place of the option that says that the answer cannot be known; None where there is none.
    """
    words = language_of(language)
    said = answer_text(text, words.is_answer_key)
    if not said.strip(MARKS):
        return Reading(None, Ground.EMPTY)
    options = offered(tuple(shown), tuple(labels), language)
    bare = said.strip(MARKS)
    if bare in options.cores:
        return Reading(options.cores.index(bare), Ground.LETTER)
    texts = options.with_texts(said)
    tokens = options.with_labels(texts)
    if any_case := not re.search(f"[{LABELS}]", tokens):
        tokens = options.with_labels(texts, any_case=True)
    found = _Answer(folded(tokens), folded(texts), options, any_case=any_case).read(unknown)
    if found.place is None and found.ground in (Ground.OTHER, Ground.DENIED) and is_refusal(said, language):
        return Reading(None, Ground.REFUSAL)
    return found


@cache
def _joined_pattern(suffix: str) -> re.Pattern[str]:
    label, text = f"([{LABELS}])(?:{suffix})?", f"([{TEXTS}])"
    mark = r"\s*[)\].:,*\-–—(\[\"'「“]+\s*"
    return re.compile(rf"{label}{mark}{text}|^\W*{label} {text}|[:：] ?{label} {text}")


class _Answer:
    """A text in tokens."""

    def __init__(self, text: str, without_labels: str, options: Offered, *, any_case: bool) -> None:
        self.text, self.without_labels = text, without_labels
        self.options, self.words, self.any_case = options, options.language, any_case

    def read(self, unknown: int | None) -> Reading:
        """The reading, but for refusals."""
        named = self.named
        standing = [one for one in named if not one.denied]
        plain = {one.place for one in standing if one.standing >= Standing.LINE}
        if concluded := {one.place for one in standing if one.standing is Standing.CONCLUSION}:
            plain = concluded
        if len(plain) > 1:
            return Reading(
                None, Ground.CONFLICT if {*plain} in [{*pair} for pair in self._joined()] else Ground.SEVERAL
            )
        labels = [one for one in standing if one.label]
        marked = {one.place for one in labels if one.standing is Standing.MARKED}
        picked = plain or (marked if len(marked) == 1 else set())
        if picked:
            return self._picked(picked.pop(), standing, unknown)
        if self._says_unknown(standing) or any(
            one.place == unknown and one.standing and not one.label and not one.shared for one in standing
        ):
            return Reading(unknown, Ground.UNKNOWN) if unknown is not None else Reading(None, Ground.ABSENT)
        weak = {one.place for one in labels if one.standing}
        if len(weak) == 1:
            return self._picked(weak.pop(), standing, unknown)
        if weak:
            return Reading(None, Ground.SEVERAL)
        texts = {one.place for one in standing if not one.label and one.standing}
        if len(texts) == 1 and (not self.options.cores or len(self.sentences) == 1):
            return Reading(texts.pop(), Ground.NAMED)
        if texts:
            return Reading(None, Ground.SEVERAL if len(texts) > 1 else Ground.OTHER)
        return Reading(None, Ground.DENIED if any(one.denied for one in named) else Ground.OTHER)

    def _picked(self, place: int, standing: Sequence[_Named], unknown: int | None) -> Reading:
        joined = set(self._joined())
        if any((label == place) != (text == place) for label, text in joined) and (place, place) not in joined:
            return Reading(None, Ground.CONFLICT)
        labels = {one.place for one in standing if one.label and one.standing}
        if labels == {place}:
            if place != unknown is not None and self._is_only_unknown():
                return Reading(None, Ground.CONFLICT)
            return Reading(place, Ground.LETTER)
        texts = {one.place for one in standing if not one.label}
        return Reading(place, Ground.OPTION if not labels and texts == {place} else Ground.EXPLICIT)

    def _joined(self) -> Iterator[tuple[int, int]]:
        """The places of labels, and of the texts that they are joined to: "B: the text", "the text (B)"."""
        joined = _joined_pattern(self.words.suffix)
        for line in self.text.split("\n"):
            for found in joined.finditer(line):
                label, text = (one for one in found.groups() if one)
                yield place_of(label), place_of(text)
            for found in _BEHIND.finditer(line):
                yield place_of(found[2]), place_of(found[1])

    def _says_unknown(self, standing: Sequence[_Named] = ()) -> bool:
        """Is there a phrase that nobody can know, which is not what an option does: "the man did not know"?"""
        phrase = self.words["unknown"].search(self.without_labels)
        if phrase is None or self.words.own.verb_final or len({one.place for one in standing if not one.label}) != 1:
            return phrase is not None
        begun = max(self.without_labels.rfind(stop, 0, phrase.start()) for stop in ".!?\n。")
        return _TEXT.search(self.without_labels, begun + 1, phrase.start()) is None

    def _is_only_unknown(self) -> bool:
        """Is a label all that stands before a phrase that nobody can know, which is the whole text?"""
        start, rest = self.text.lstrip(MARKS)[:1], self.text.lstrip(MARKS)[1:].strip(MARKS)
        if not _TOKEN.match(start) or _TOKEN.search(rest):
            return False
        return len(rest) <= _BRIEF and "\n" not in rest and self._says_unknown() and not self.words["but"].search(rest)

    @cached_property
    def sentences(self) -> list[str]:
        """The sentences and lines. A point behind a label that begins one does not end it."""
        parts: list[str] = []
        begun = 0
        for stop in _STOP.finditer(self.text):
            part = self.text[begun : stop.end()]
            if "\n" not in stop[0] and _TOKEN.fullmatch(part.strip(MARKS)) and self.text[stop.end() :].strip(MARKS):
                continue
            parts.append(part)
            begun = stop.end()
        parts.append(self.text[begun:])
        return [_PAIR.sub(self._one_token, part) for part in parts if part.strip(MARKS)]

    @cached_property
    def named(self) -> list[_Named]:
        sentences = self.sentences
        listed = self._repeats_options()
        found: list[_Named] = []
        for number, sentence in enumerate(sentences):
            first, last = number == 0, number == len(sentences) - 1
            if listed:  # the options repeated, and perhaps one of them again below
                first, last = False, last and any(self.text.count(token) > 1 for token in _TOKEN.findall(sentence))
            found += self._named_in(sentence, first=first, last=last)
        return found

    def _repeats_options(self) -> bool:
        """Do several lines begin with different options, or are several labels followed by their own texts?"""
        begun = (_TOKEN.match(line.lstrip(MARKS)) for line in self.text.split("\n"))
        pairs = {place_of(label) for label, text in _OWN_TEXT.findall(self.text) if place_of(label) == place_of(text)}
        return len({place_of(match[0]) for match in begun if match}) > 1 or len(pairs) > 1

    def _named_in(self, sentence: str, *, first: bool, last: bool) -> Iterator[_Named]:
        tokens = list(_TOKEN.finditer(sentence))
        tokens = tokens if len(tokens) <= 2 * _MOST else tokens[:_MOST] + tokens[-_MOST:]
        weak = [self._may_be_word(sentence, token) for token in tokens]
        if any(weak) and self._has_plain:
            groups = [self._joined_by_or(sentence, tokens, number) for number in range(len(tokens))]
            tokens = [token for token, group in zip(tokens, groups, strict=True) if not all(weak[one] for one in group)]
            weak = [False] * len(tokens)
        denied = [
            self._is_denied(sentence, tokens, number) or self._is_conceded(sentence, token)
            for number, token in enumerate(tokens)
        ]
        last = last and len({token[0] for token in tokens}) == 1
        standings = [self._standing(sentence, token, first=first, last=last) for token in tokens]
        if not sentence.rstrip(_BUT_QUESTION).endswith(("?", "؟")):
            for pattern, standing in ((self.words["answer"], Standing.ANSWER), (self.words["so"], Standing.CONCLUSION)):
                for word in pattern.finditer(sentence):
                    number = self._beside(sentence, word, tokens, denied, only_after=standing is Standing.CONCLUSION)
                    if number is not None and not (weak[number] and self._is_article(word, tokens[number])):
                        standings[number] = max(standings[number], standing)
        for number, token in enumerate(tokens):
            group = [one for one in self._joined_by_or(sentence, tokens, number) if not denied[one]]
            standing = max((standings[one] for one in (number, *group)), default=Standing.NONE)
            shared = len({place_of(tokens[one][0]) for one in group}) > 1
            if shared:  # "A or B" picks none
                standing = min(standing, Standing.MARKED)
            yield _Named(place_of(token[0]), standing, is_label(token[0]), denied[number], shared)

    def _one_token(self, pair: re.Match[str]) -> str:
        """A label with its own text is one token; with another's both stay, and a word that only looks like a label."""
        label = pair[1] or pair[2]
        if len({place_of(token) for token in _TOKEN.findall(pair[0])}) > 1:
            return pair[0]
        within = pair.string[: pair.start()].strip(MARKS) and pair[0][1:-1].isspace()
        return pair[0] if within and self.options.are_words else f"{label})"

    @cached_property
    def _has_plain(self) -> bool:
        """Is there an option in the text that is not denied, and cannot be an ordinary word?"""
        for sentence in self.sentences:
            tokens = list(_TOKEN.finditer(sentence))[: 2 * _MOST]
            for number, token in enumerate(tokens):
                if not self._may_be_word(sentence, token) and not self._is_denied(sentence, tokens, number):
                    return True
        return False

    def _may_be_word(self, sentence: str, token: re.Match[str]) -> bool:
        """May a label be an article or another word here, which goes on: "a man", "A resposta", "2 people"?"""
        if not is_label(token[0]):
            return False
        before, after = sentence[: token.start()][-_AROUND:], sentence[token.end() :][:_AROUND]
        words = self.options.are_words if _WITHIN.search(before) else self.options.begin_sentences
        marked = before and after and before[-1] in _OPENING and after[0] in _CLOSING
        return (words or self.any_case) and not marked and not self._is_closed(after)

    def _is_denied(self, sentence: str, tokens: Sequence[re.Match[str]], number: int) -> bool:
        start, end = tokens[number].span()
        before = sentence[tokens[number - 1].end() if number else 0 : start].rstrip(MARKS)
        light = self.words["option"].sub("", before).rstrip(MARKS)
        if any(match.end() >= len(light) - 4 for match in self.words["negation"].finditer(light)):
            return True
        after = sentence[end : end + _DENIED].lstrip(_CLOSING)
        follower = _TOKEN.search(after)
        window = after[: follower.start()] if follower else after
        stop = re.search(r"[,;，、،؛:.。()\n–—]| - ", window)
        window = window[: stop.start()] if stop else window
        reason = self.words["because"].search(window)
        if not self.words.own.verb_final:
            reason = min(filter(None, (reason, self.words["both"].search(window), self.words["but"].search(window))),
                         key=lambda found: found.start(), default=None)  # fmt: skip
        window = window[: reason.start()] if reason else window
        if not is_label(tokens[number][0]) and not (
            self.words["answer"].search(window) or (self.words.own.verb_final and follower)
        ):
            return False  # "the woman was not comfortable" may well be the answer
        whole = follower is None or stop or reason or self.words.own.verb_final
        return any(whole or match.end() < len(window.rstrip(MARKS)) for match in self.words["wrong"].finditer(window))

    def _is_article(self, word: re.Match[str], token: re.Match[str]) -> bool:
        """Is what may be a word none that was chosen: before the word for the answer, or not as it was shown?"""
        if self.any_case or self.options.are_decorated:
            return True
        return token.start() < word.start() and not self.words.own.verb_final and not self.options.are_digits

    def _is_conceded(self, sentence: str, token: re.Match[str]) -> bool:
        """Does "although" begin the clause, or "but" with the answer behind it the next one?"""
        clause = re.split("[,;，、،]", sentence[: token.start()])[-1]
        if self.words["although"].search(clause):
            return True
        contrast = self.words["but"].search(sentence, token.end())
        rest = sentence[contrast.end() :] if contrast else ""
        return bool(_TOKEN.search(rest)) and self.words["answer"].search(rest) is not None

    def _beside(self, sentence: str, word: re.Match[str], tokens: Sequence[re.Match[str]], denied: Sequence[bool], *,
                only_after: bool) -> int | None:  # fmt: skip
        """The option nearest to a word for the answer that is not denied, with no reason between them."""
        gaps: list[tuple[int, int]] = []
        after = [number for number, token in enumerate(tokens) if token.start() >= word.end() and not denied[number]]
        before = [number for number, token in enumerate(tokens) if token.end() <= word.start() and not denied[number]]
        if after:
            gaps.append((self._gap(sentence[word.end() : tokens[after[0]].start()]), after[0]))
        if before and not only_after:
            gaps.append((self._gap(sentence[tokens[before[-1]].end() : word.start()]), before[-1]))
        near = [gap for gap in gaps if gap[0] <= _NEAR]
        picks = [gap for gap in near if len(self._joined_by_or(sentence, tokens, gap[1])) == 1] or near
        return min(picks, key=lambda gap: gap[0])[1] if picks else None

    def _gap(self, between: str) -> int:
        if ";" in between or self.words["because"].search(between):
            return _NEAR + 1
        return len(between.strip(MARKS)) + _COMMA * len(re.findall("[,，、،]", between))

    def _joined_by_or(self, sentence: str, tokens: Sequence[re.Match[str]], number: int) -> set[int]:
        """The options that are named in one breath with one: "A or B"."""
        group = {number}
        for step in (1, -1):
            at = number
            while 0 <= at + step < len(tokens):
                left, right = sorted((at, at + step))
                between = sentence[tokens[left].end() : tokens[right].start()]
                rest = self.words["option"].sub("", between)
                if self.words["both"].sub("", rest).strip(_LIST) or (between and not rest.strip()):
                    break
                at += step
                group.add(at)
        return group

    def _standing(self, sentence: str, token: re.Match[str], *, first: bool, last: bool) -> Standing:
        before = sentence[max(0, token.start() - _AROUND) : token.start()]
        after = sentence[token.end() : token.end() + _AROUND]
        starts = not before.strip(MARKS)
        rest = self._without_ending(after)
        alone = starts and (not rest.strip(MARKS) or not after.strip(MARKS))
        ends = alone or not rest.strip(MARKS)
        closed = ends or any(_CLOSED.match(part.lstrip(" ")) for part in (after, rest))
        closed = closed or self.words["because"].match(rest.lstrip(" ")) is not None
        if alone and (first or last):
            return Standing.LINE
        if ends and _COLON.search(before):
            return Standing.ANSWER
        if not is_label(token[0]):
            if self.options.cores and _OTHER_LABEL.search(before):
                return Standing.NONE
            return Standing.MARKED if alone else Standing.NAMED
        if starts and first and closed:
            return Standing.LINE
        marked = before[-1:] in _OPENING and after[:1] in _CLOSING if before and after else False
        if marked or alone or (starts and closed) or self._beside_option(before, after):
            return Standing.MARKED
        return Standing.NONE if self._may_be_word(sentence, token) else Standing.NAMED

    def _is_closed(self, after: str) -> bool:
        """Does nothing follow, or what may follow a label and no article: a mark, an ending, a verb?"""
        rest = self._without_ending(after[:_AROUND])
        if rest != after[:_AROUND] or not rest.strip(MARKS) or _CLOSED.match(rest.lstrip(" ")):
            return True
        words = (self.words["follows"], self.words["because"], self.words["but"], self.words["both"])
        return any(word.match(rest.lstrip(" ")) for word in words)

    def _without_ending(self, after: str) -> str:
        ending = self.words.ending.match(after)
        return after[ending.end() :] if ending else after

    def _beside_option(self, before: str, after: str) -> bool:
        """Is there a word for an option directly before or after?"""
        left = before.rstrip(MARKS)
        if any(match.end() == len(left) for match in self.words["option"].finditer(left)):
            return True
        word = self.words["option"].match(self._without_ending(after).lstrip(MARKS))
        return word is not None and (len(word[0]) > _SHORT or not word[0].isascii())  # "la" is one before a label alone
