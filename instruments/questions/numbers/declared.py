"""Numbers that are declared as a line: those of the families, and a publisher's own score in the rules file of a set.

A declaration is `NAME = SHARE`, a sum of shares, or a weighted sum of numbers declared before it.

    cbbq_amb = biased / all [context=ambiguous]
    cbbq_disamb = biased / (biased + other) [context=biased|counter-biased]
    cbbq_total = 0.4 cbbq_amb + 0.6 cbbq_disamb
    gap = right / picked [polarity=biased] - right / picked [polarity=counter-biased]

What is counted is a word of `words.py`, as `all` answers that came or those that are `right`, or the role of the option
that is picked; `not-biased` is any option of another role. `right&biased` are both at once. Brackets name facets of the
questions. A share that counts `biased` or `other` leaves out questions of which nobody knows whom the stereotype is
about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from polyculture.instruments.questions.numbers.tally import Mask, Tally
from polyculture.instruments.questions.numbers.withheld import few_are_read
from polyculture.instruments.questions.numbers.words import (
    ANSWERS,
    OF_FORM,
    SUMS,
    WHATEVER_IS_READ,
    came,
    counted,
    is_directed,
    roles_in,
)
from polyculture.metrics.inference.arrays import Floats
from polyculture.metrics.inference.ratios import Ratio

_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)|(?P<where>\[[^\]]*\])|(?P<sign>[-+*/()&=]))"
)
_DECLARED = re.compile(r"\s*[A-Za-z_][\w-]*\s*=")

WeightedCounts = tuple[tuple[float, str], ...]  # what is counted, and how often


@dataclass(frozen=True, slots=True)
class WeightedShare:
    """A share of answers, with its weight in a number."""

    weight: float
    tops: WeightedCounts
    bottoms: WeightedCounts
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()  # facet, and the values that count

    def of(self, at: Tally) -> tuple[Floats, Floats]:
        """What is counted above and below the line, (units, prompts) each."""
        here = self._rows(at)
        nothing = np.zeros((at.units, len(at.prompts)))
        tops, bottoms = (
            sum((times * counted(at, word, here) for times, word in words), nothing)
            for words in (self.tops, self.bottoms)
        )
        return tops, bottoms

    def few_read(self, at: Tally, prompt: str | None) -> bool:
        """Are fewer than half of the answers read that the share is about, under a prompt or all?"""
        if all(word in OF_FORM for _, word in self.tops):
            return False
        here = came(at) & self._rows(at)
        if prompt is not None:
            here &= at["wording"] == at.prompts.index(prompt)
        for _, word in self.bottoms:
            here &= ANSWERS[word](at) if word in WHATEVER_IS_READ else True
        return few_are_read(*(float(at["n"][here & rows].sum()) for rows in (True, at["outcome"] == "unread")))

    @property
    def counts_answers(self) -> bool:
        """Is it a share of answers, and not of questions in several orders or of candidates?"""
        return not any(word in SUMS for _, word in self.bottoms)

    @property
    def roles(self) -> set[str]:
        """The roles of options that it counts."""
        return {role for _, word in (*self.tops, *self.bottoms) for role in roles_in(word)}

    @property
    def needs_right(self) -> bool:
        """Does it ask which option is right?"""
        words = {one for _, word in (*self.tops, *self.bottoms) for one in word.split("&")}
        return not words.isdisjoint(("right", "wrong", "keyed"))

    def _rows(self, at: Tally) -> Mask:
        """The answers to the questions that count."""
        here = np.ones(len(at["n"]), bool)
        for facet, values in self.where:
            here &= np.isin(at.facet(facet), values)
        directed = any(is_directed(word) for _, word in (*self.tops, *self.bottoms))
        return here & ~at["undirected"] if directed else here

    @property
    def lowest(self) -> float:
        return -1.0 if any(times < 0 for times, _ in self.tops) else 0.0


@dataclass(frozen=True, slots=True)
class DeclaredNumber:
    """A number: a weighted sum of shares."""

    name: str
    shares: tuple[WeightedShare, ...]

    def of(self, at: Tally) -> Ratio:
        """The number of a tally, with its range."""
        tops, bottoms = zip(*(share.of(at) for share in self.shares), strict=True)
        ends = [sorted((share.weight * share.lowest, share.weight)) for share in self.shares]
        weights = tuple(share.weight for share in self.shares)
        lowest, highest = (sum(end[side] for end in ends) for side in (0, 1))
        graded = any(word == "matched" for share in self.shares for _, word in share.tops) and at.is_graded
        return Ratio(np.stack(tops), np.stack(bottoms), lowest, highest, weights, graded)

    def few_read(self, at: Tally, prompt: str | None = None) -> bool:
        """Are fewer than half of the answers of one of its shares read, under a prompt or all?"""
        return any(share.few_read(at, prompt) for share in self.shares)

    @property
    def counts_answers(self) -> bool:
        return all(share.counts_answers for share in self.shares)


def is_declared(number: str) -> bool:
    """Is an entry of a set's `numbers` a declaration, and not the name of a family?"""
    return _DECLARED.match(number) is not None


def declared_numbers(numbers: Iterable[str]) -> dict[str, DeclaredNumber]:
    """The declared ones of the numbers of a set, by name. Raises `ValueError` of one that does not follow the form."""
    found: dict[str, DeclaredNumber] = {}
    for line in filter(is_declared, numbers):
        one = _DeclarationLine(line, found).read()
        if one.name in found:
            raise ValueError(f"{one.name!r} is declared twice")
        found[one.name] = one
    return found


class _DeclarationLine:
    """A declaration, read from left to right."""

    def __init__(self, text: str, known: Mapping[str, DeclaredNumber]) -> None:
        self._text, self._known, self._at = text, known, 0
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                raise ValueError(f"{text!r}: {text[place:].strip()!r} cannot be read")
            self._tokens.append((str(match.lastgroup), match[0].strip()))
            place = match.end()

    def read(self) -> DeclaredNumber:
        name = self._take("name")
        self._take("sign", "=")
        shares: list[WeightedShare] = []
        sign = -1.0 if self._skip("-") else 1.0
        while True:
            shares += self._term(sign)
            if self._at == len(self._tokens):
                return DeclaredNumber(name, tuple(shares))
            sign = -1.0 if self._skip("-") else 1.0
            if sign > 0 and not self._skip("+"):
                raise self._fault("'+' or '-'")

    def _term(self, sign: float) -> list[WeightedShare]:
        weight = sign * float(self._take("number")) if self._kind() == "number" else sign
        self._skip("*")
        if self._kind() == "name" and (self._tokens[self._at][1] in self._known):
            own = self._known[self._take("name")]
            return [WeightedShare(weight * one.weight, one.tops, one.bottoms, one.where) for one in own.shares]
        tops = self._counts()
        self._take("sign", "/")
        bottoms = self._counts()
        return [WeightedShare(weight, tops, bottoms, self._where())]

    def _counts(self) -> WeightedCounts:
        """A word, or several in brackets, each with its weight."""
        if not self._skip("("):
            return ((1.0, self._words()),)
        found = [self._weighted(1.0)]
        while not self._skip(")"):
            sign = -1.0 if self._skip("-") else 1.0
            if sign > 0 and not self._skip("+"):
                raise self._fault("'+', '-' or ')'")
            found.append(self._weighted(sign))
        return tuple(found)

    def _weighted(self, sign: float) -> tuple[float, str]:
        times = sign * float(self._take("number")) if self._kind() == "number" else sign
        return times, self._words()

    def _words(self) -> str:
        words = [self._take("name")]
        while self._skip("&"):
            words.append(self._take("name"))
        if len(words) > 1 and (alone := SUMS.keys() & {*words}):
            raise ValueError(f"{self._text!r}: {min(alone)!r} cannot be joined by '&': it does not count answers")
        return "&".join(words)

    def _where(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        if self._kind() != "where":
            return ()
        conditions = [part.partition("=") for part in self._take("where")[1:-1].split(",")]
        if not all(facet.strip() and values.strip() for facet, _, values in conditions):
            raise ValueError(f"{self._text!r}: write what brackets select as [context=ambiguous] or [facet=one|other]")
        return tuple((facet.strip(), tuple(map(str.strip, values.split("|")))) for facet, _, values in conditions)

    def _kind(self) -> str:
        return self._tokens[self._at][0] if self._at < len(self._tokens) else ""

    def _skip(self, sign: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == ("sign", sign)
        self._at += found
        return found

    def _take(self, kind: str, value: str = "") -> str:
        if self._kind() != kind or (value and self._tokens[self._at][1] != value):
            raise self._fault(value or f"a {kind}")
        self._at += 1
        return self._tokens[self._at - 1][1]

    def _fault(self, wanted: str) -> ValueError:
        there = self._tokens[self._at][1] if self._at < len(self._tokens) else "its end"
        return ValueError(f"{self._text!r}: {wanted} is needed where {there!r} is. Write it as 'NAME = biased / all'")
