"""Which option an answer picks: a verdict before any mention, decided by where labels and options are.

A text becomes tokens (`tokens`). Each token that is not denied has a standing in its sentence (`sentence`). The last
verdict of a text decides; where it has none, the last claim; and only then mentions, if they name one option. All else
is out of choice. A phrase that the answer cannot be known is the option 'unknown' where one is offered.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, cached_property

from polyculture.generate.refusals import is_refusal
from polyculture.instruments.questions.reading.answer_text import ENDS, MARKS, WORD, answer_text, folded
from polyculture.instruments.questions.reading.by_option import by_option
from polyculture.instruments.questions.reading.languages import language_of
from polyculture.instruments.questions.reading.sentence import NamedOption, Sentence, Standing
from polyculture.instruments.questions.reading.tokens import (
    LABELS,
    TEXTS,
    TOKEN,
    TOKENS,
    OfferedOptions,
    offered,
    place_of,
)

_BRIEF = 80  # characters of a text that says only that the answer is unknown
_SHORT = 160  # characters of an answer that may say so in any words, by what it denies of the text
_MARKS = re.escape(MARKS)
_TEXT = re.compile(f"[{TEXTS}]")
_LABEL = re.compile(f"[{LABELS}]")
_STOP = re.compile(rf"[.!?…]+(?=[\s\"'”’»*)\]]|$)|[{ENDS}]+|\n+")
_BEHIND = re.compile(rf"([{TEXTS}])\s*[*\"']*[(\[]\s*[*\"']*([{LABELS}])")
_VERDICT = re.compile(rf"(?:^|[\n.,;] *)[(\[*]*([{LABELS}])[)\]*]*[:：] *[^\s{TEXTS}]")
_ITEM = re.compile(r"[)\]*_\"']*[.:)\]*_]+[)\]*_\"']* ?\S|[)\]*_]* [-–—] ")
_NEXT = re.compile(rf" *{WORD}| [–—] | [{LABELS}]")  # a dash is a copula in Slavic languages
_PAIR = re.compile(rf"([{LABELS}])[{_MARKS}]*[{TEXTS}]|[{TEXTS}]\s*[*\"']*[(\[]\s*[*\"']*([{LABELS}])[)\]]?")

_CORRECTED = re.compile(
    rf"(?<!{WORD} )[{LABELS}]([)\]*_~]*) *→ *(?=[(\[*_]*[{LABELS}])"
)  # "A → B": the arrow leads to the answer


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
class ChoiceReading:
    """The place of the option that an answer picks, as shown; None where it picks none."""

    place: int | None
    ground: str
    also: tuple[int, ...] = ()  # other places that it picks, where all options that fit are asked for
    matched: float | None = None  # of an open question: how far the answer matches, 0 to 1


def read_choice(
    text: str, shown: Sequence[str], labels: Sequence[str], unknown: int | None, language: str
) -> ChoiceReading:
    """The option that an answer picks: `shown` and `labels` (empty where none were shown) by place.

    `unknown` is the place of the option that says that the answer cannot be known; None where there is none.
    """
    words = language_of(language)
    said = answer_text(text, words.is_answer_key)
    options = offered(tuple(shown), tuple(labels), language)
    exact = [place for place, option in enumerate(options.spelled) if said == option and said not in labels]
    if len(exact) == 1 and said:
        return ChoiceReading(exact[0], Ground.OPTION)
    if not said.strip(MARKS):
        return ChoiceReading(None, Ground.EMPTY)
    if asked := words.next_question(said):  # a base model runs on: what it answers there answers its own question
        before = read_choice(said[:asked], shown, labels, unknown, language)
        if before.ground in (Ground.LETTER, Ground.OPTION, Ground.EXPLICIT):
            return before
    bare = said.strip(MARKS)
    if bare in options.cores:
        return ChoiceReading(options.cores.index(bare), Ground.LETTER)
    for place, core in enumerate(options.cores):  # "F. I": the text of one option may be the label of another
        text = said.removeprefix(core).lstrip(".): ")
        if said.startswith((f"{core}. ", f"{core}) ", f"{core}: ")) and text == options.spelled[place] in options.cores:
            return ChoiceReading(place, Ground.LETTER)
    own = [place for place, option in enumerate(options.spelled) if bare == option.strip(MARKS)]
    if len(own) == 1:
        return ChoiceReading(own[0], Ground.OPTION)
    texts = options.with_texts(said)
    tokens = options.with_labels(texts)
    if any_case := not re.search(f"[{LABELS}]", tokens):
        tokens = options.with_labels(texts, any_case=True)
    found = _ChoiceText(folded(tokens), folded(texts), options, any_case=any_case).read(unknown)
    if found.ground is Ground.OTHER and not TOKEN.search(texts):
        counted = options.with_ordinals(folded(texts))
        found = (
            _ChoiceText(counted, folded(texts), options, any_case=False).read(unknown)
            if counted != folded(texts)
            else found
        )
    if found.place is None and found.ground in (Ground.OTHER, Ground.DENIED) and is_refusal(said, language):
        return ChoiceReading(None, Ground.REFUSAL)
    return found


@cache
def _joined_pattern(suffix: str) -> re.Pattern[str]:
    label, text = f"([{LABELS}])(?:{suffix})?", f"([{TEXTS}])"
    mark = r"\s*[)\].:,*\-–—(\[\"'「“]+\s*"
    return re.compile(rf"{label}{mark}{text}|^\W*{label} {text}|[:：] ?{label} {text}")


@dataclass(frozen=True, slots=True)
class _Part:
    """A sentence in tokens."""

    text: str
    line: bool  # a whole line
    listed: bool  # of a line in a list of different options


class _ChoiceText:
    """A text in tokens."""

    def __init__(self, text: str, without_labels: str, options: OfferedOptions, *, any_case: bool) -> None:
        self.text, self.without_labels = _CORRECTED.sub(r"\1", text), without_labels
        self.options, self.words, self.any_case = options, options.language, any_case

    def read(self, unknown: int | None) -> ChoiceReading:
        """The reading, but for refusals."""
        if (of_each := by_option(self.lines)) is not None:
            ground = Ground.EXPLICIT if len(of_each) == 1 else Ground.SEVERAL if of_each else Ground.DENIED
            return ChoiceReading(of_each[0] if len(of_each) == 1 else None, ground)
        listed = {place_of(token) for token in TOKEN.findall(self.text)}
        if len(listed) > 1 and len(self.lines) == 1 and not TOKEN.sub("", self.text).strip(MARKS):
            return self._too_many(listed)
        if self._names_another_letter():
            return ChoiceReading(None, Ground.SEVERAL)
        named = self.named
        standing = [one for one in named if not one.denied]
        if several := self._depends(standing):  # what stands outside the conditions may still pick one
            standing = [one for one in standing if not one.conditional]
        own = [one for one in standing if not one.conceded]
        found = self._read(named, own, unknown)
        if found.ground is Ground.OTHER and len(own) < len(standing):  # "most people there eat rice"
            found = self._read(named, standing, unknown)
        return ChoiceReading(None, Ground.SEVERAL) if several and found.ground is Ground.OTHER else found

    def _depends(self, standing: Sequence[NamedOption]) -> bool:
        """Is more than one option picked, each under its own condition: "If he called, A. If she called, B."?"""
        least = {True: Standing.NAMED, False: Standing.MARKED}  # of a label, and of an option's text
        picked = [one for one in standing if one.conditional and not one.shared and one.standing >= least[one.label]]
        return len({one.place for one in picked}) > 1

    def _read(
        self, named: Sequence[NamedOption], standing: Sequence[NamedOption], unknown: int | None
    ) -> ChoiceReading:
        """The reading by the options that are named, and by those of them that stand."""
        labels = [one for one in standing if one.label]
        for decisive in (Standing.VERDICT, Standing.CLAIM):
            if chosen := [one for one in standing if one.standing is decisive]:
                # "The answer is B. If he had called, it would be A."
                without = [one for one in chosen if not one.conditional] or chosen
                last = without[-1]
                if last.alone and not last.label and any(one.opens and one.place != last.place for one in without):
                    return ChoiceReading(None, Ground.CONFLICT)  # "**B**", and the text of A on the next line
                return self._picked(last.place, standing, unknown)
        marked = {one.place for one in labels if one.standing is Standing.MARKED}
        if len(marked) == 1:
            return self._picked(marked.pop(), standing, unknown)
        if self._says_unknown(standing) or any(
            one.place == unknown and one.standing and not one.label and not one.shared for one in standing
        ):
            return ChoiceReading(unknown, Ground.UNKNOWN) if unknown is not None else ChoiceReading(None, Ground.ABSENT)
        weak = {one.place for one in labels if one.standing}
        if weak and not self.words.known:  # which of several was meant, words would tell that nobody knows here
            weak = {one.place for one in labels}
        ending = {one.place for one in standing if not one.label and one.standing is Standing.MARKED}
        if len(weak) == 1 and {one.place for one in standing if not one.label and one.standing} <= weak:
            return self._picked(weak.pop(), standing, unknown)
        if weak:
            return ChoiceReading(None, Ground.SEVERAL)
        if (opening := self._opening()) is not None:
            return ChoiceReading(opening, Ground.LETTER)
        texts = {one.place for one in standing if not one.label and one.standing}
        if len(texts) == 1 and (not self.options.cores or len(self.sentences) == 1):
            return ChoiceReading(texts.pop(), Ground.NAMED)
        if len(ending) == 1:  # "It is the grandmother. The grandfather was late."
            return ChoiceReading(ending.pop(), Ground.NAMED)
        if texts:
            return ChoiceReading(None, Ground.SEVERAL if len(texts) > 1 else Ground.OTHER)
        return ChoiceReading(None, Ground.DENIED if any(one.denied for one in named) else Ground.OTHER)

    def _opening(self) -> int | None:
        """The only label of a text that begins with it and its own text: "B. The woman could not use the phone"."""
        pair = _PAIR.match(self.text.lstrip(MARKS))
        places = {place_of(token) for token in TOKEN.findall(pair[0])} if pair else set()
        return places.pop() if len(places) == 1 and places >= {*map(place_of, _LABEL.findall(self.text))} else None

    def _names_another_letter(self) -> bool:
        """Is a letter that was not offered all that stands beside one that was: "B and E" of A to D?"""
        if not _LABEL.search(self.text):
            return False
        rest = self.words["both"].sub(" ", TOKEN.sub(" ", self.text)).strip(MARKS)
        cores = [core.casefold() for core in self.options.cores]
        letters = all(sign.isascii() and sign.isalpha() for sign in (rest, *cores))
        return len(rest) == 1 and letters and rest not in cores

    def _too_many(self, places: set[int]) -> ChoiceReading:
        joined = [{*pair} for pair in self._joined()]
        return ChoiceReading(None, Ground.CONFLICT if places in joined else Ground.SEVERAL)

    def _picked(self, place: int, standing: Sequence[NamedOption], unknown: int | None) -> ChoiceReading:
        joined = set(self._joined())
        if any((label == place) != (text == place) for label, text in joined) and (place, place) not in joined:
            return ChoiceReading(None, Ground.CONFLICT)
        labels = {one.place for one in standing if one.label and one.standing}
        if labels == {place}:
            if place != unknown is not None and self._is_only_unknown():
                return ChoiceReading(None, Ground.CONFLICT)
            return ChoiceReading(place, Ground.LETTER)
        texts = {one.place for one in standing if not one.label}
        return ChoiceReading(place, Ground.OPTION if not labels and texts == {place} else Ground.EXPLICIT)

    def _joined(self, *lines: str) -> Iterator[tuple[int, int]]:
        """The places of labels, and of the texts that they are joined to: "B: the text", "the text (B)"."""
        joined = _joined_pattern(self.words.suffix)
        for line in lines or self.lines:
            for found in joined.finditer(line):
                label, text = (one for one in found.groups() if one)
                if place_of(label) == place_of(text) or ":" in found[0] or not self._goes_on(line[found.end() :]):
                    yield place_of(label), place_of(text)
            for found in _BEHIND.finditer(line):
                yield place_of(found[2]), place_of(found[1])

    def _goes_on(self, rest: str) -> bool:
        """Is an option's text the beginning of a sentence about it, as in "B. Rice is not common there"?"""
        ending = self.words.ending.match(rest)
        rest = _STOP.split(rest[ending.end() :] if ending else rest, 1)[0]
        claimed = self.words["because"].match(rest.lstrip(" ")) or self.words["answer"].search(rest)
        return _NEXT.match(rest) is not None and not claimed

    def _says_unknown(self, standing: Sequence[NamedOption] = ()) -> bool:
        """Is there a phrase that nobody can know, which is not what an option does: "the man did not know"?"""
        phrase = self.words["unknown"].search(self.without_labels)
        if phrase is None and not any(one.standing for one in self.named) and len(self.text) <= _SHORT:
            return any(self._denies_text(part.text) for part in self.sentences)
        if phrase and self.words["negation"].fullmatch(phrase[0]):  # "neither A nor B" of four options
            denied = {one.place for one in self.named if one.denied}
            phrase = phrase if len(denied) in (0, len(self.options.shown) - 1) else None
        if phrase is None or self.words.own.verb_final or len({one.place for one in standing if not one.label}) != 1:
            return phrase is not None
        begun = max(self.without_labels.rfind(stop, 0, phrase.start()) for stop in ".!?\n。")
        return _TEXT.search(self.without_labels, begun + 1, phrase.start()) is None

    def _denies_text(self, sentence: str) -> bool:
        """Does a sentence that names no option deny something of the text: "the passage does not go into that"?"""
        return self.words["text"].search(sentence) is not None and any(
            self.words[kind].search(sentence) for kind in ("negation", "wrong")
        )

    def _is_only_unknown(self) -> bool:
        """Is a label all that stands before a phrase that nobody can know, which is the whole text?"""
        start, rest = self.text.lstrip(MARKS)[:1], self.text.lstrip(MARKS)[1:].strip(MARKS)
        if not TOKEN.match(start) or TOKEN.search(rest):
            return False
        if any(self.words[kind].search(rest) for kind in ("but", "conceded")):
            return False
        return len(rest) <= _BRIEF and "\n" not in rest and self._says_unknown()

    @cached_property
    def sentences(self) -> list[_Part]:
        """The sentences and lines. A point behind a label that begins one does not end it."""
        found: list[_Part] = []
        listed = self._listed_lines()
        for number, line in enumerate(self.lines):
            parts: list[str] = []
            begun = 0
            for stop in self._stops(line):
                part = line[begun : stop.end()]
                if not (_LABEL.fullmatch(part.strip(MARKS)) and line[stop.end() :].strip(MARKS)):
                    parts.append(part)
                    begun = stop.end()
            parts = [part for part in (*parts, line[begun:]) if part.strip(MARKS)]
            found += [_Part(_PAIR.sub(self._one_token, part), len(parts) == 1, number in listed) for part in parts]
        return found

    def _stops(self, line: str) -> list[re.Match[str]]:
        """Where sentences end: at a mark, and in Thai at a blank behind an option that a copula makes the answer."""
        stops = [*_STOP.finditer(line)]
        if unmarked := self.words.own.unmarked:
            joined = self.words["both"].pattern
            stops += re.finditer(rf"{unmarked} ?[*_]*[{TOKENS}][*_)]* (?!{joined})", line)
            stops.sort(key=lambda stop: stop.end())
        return stops

    @cached_property
    def lines(self) -> list[str]:
        """The lines that say anything."""
        return [line for line in self.text.split("\n") if line.strip(MARKS)]

    def _listed_lines(self) -> set[int]:
        """The lines of lists: neighbours of one form that begin with different options, or with several in one line.

        An option that a list names once more, below or above the others, is none of its items.
        """
        forms = [self._form(line) for line in self.lines]
        listed = {
            number
            for number, line in enumerate(self.lines)
            if len({*_VERDICT.findall(line)}) > 1  # "A: no. B: yes."
            or len({label for label, text in self._joined(line) if label == text}) > 1
        }
        begun = 0
        for end in range(1, len(forms) + 1):
            if end < len(forms) and forms[begun] is not None and forms[begun] == forms[end]:
                continue
            places = Counter(self._first_place(number) for number in range(begun, end))
            if forms[begun] is not None and len(places) > 1:
                again = [place for place, count in places.items() if count > 1]
                once = {*range(begun, end)}
                if len(again) == 1:
                    once -= {number for number in once if self._first_place(number) == again[0]}
                listed |= once
            begun = end
        return listed

    def _first_place(self, number: int) -> int:
        return place_of(self.lines[number].lstrip(MARKS)[:1])

    def _form(self, line: str) -> tuple[str, str] | None:
        """What is before and behind the option that begins a line; None where none does."""
        bare = line.lstrip(MARKS)
        if not TOKEN.match(bare):
            return None
        pair = _PAIR.match(bare)
        rest = bare[pair.end() if pair else 1 :]
        behind = "pair" if pair else "alone" if not rest.strip(MARKS) else "goes on" if _ITEM.match(rest) else ""
        return (line[: len(line) - len(bare)], behind) if behind else None

    def _one_token(self, pair: re.Match[str]) -> str:
        """A label with its own text is one token; with another's both stay, and a word that only looks like a label."""
        if len({place_of(token) for token in TOKEN.findall(pair[0])}) > 1:
            return pair[0]
        within = pair.string[: pair.start()].strip(MARKS) and pair[0][1:-1].isspace()
        return pair[0] if within and self.options.are_words else f"{pair[1] or pair[2]})."

    @cached_property
    def named(self) -> list[NamedOption]:
        """The options that are named, in the order of the text."""
        sentences = [Sentence(part.text, self.options, any_case=self.any_case) for part in self.sentences]
        has_weak = self.words.known and any(any(sentence.weak) for sentence in sentences)
        if has_weak and any(sentence.has_plain for sentence in sentences):
            for sentence in sentences:
                sentence.drop_words()
        found: list[NamedOption] = []
        begun, withdrawn = 0, False  # the options of the last sentence that has any, and whether they are taken back
        for number, (part, sentence) in enumerate(zip(self.sentences, sentences, strict=True)):
            first, last = number == 0 and not part.listed, number == len(sentences) - 1 and not part.listed
            own = [*sentence.named(first=first, last=last, line=part.line and not part.listed)]
            withdrawn = withdrawn or (bool(found) and sentence.withdraws)
            if withdrawn and any(one.standing >= Standing.MARKED and not one.denied for one in own):
                found[begun:] = [replace(one, denied=True) for one in found[begun:]]
            if own:
                begun, withdrawn = len(found), False
            found += own
        return found
