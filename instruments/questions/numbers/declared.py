"""Numbers that a set declares in its rules file, so that it prints its publisher's own score.

A declaration is a line: `NAME = SHARE`, a sum of shares, or a weighted sum of numbers declared before it.

    cbbq_amb = biased / all [context=ambiguous]
    cbbq_disamb = biased / (biased + other) [context=biased|counter-biased]
    cbbq_total = 0.4 cbbq_amb + 0.6 cbbq_disamb
    gap = right / picked [polarity=biased] - right / picked [polarity=counter-biased]

What is counted: `all` answers that came, `read` (not `unread`), `picked` (an option), `right`, `wrong` (another option
than a right one), `refusal`, `unread`, or the role of the option that is picked. `right&biased` are both at once.
Brackets name facets of the questions. A share that counts `biased` or `other` leaves out questions of which nobody
knows whom the stereotype is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.instruments.questions.model import BIASED, OTHER
from polyculture.instruments.questions.numbers.tally import Mask, Tally
from polyculture.instruments.questions.numbers.uncertainty import Numbers, Ratio

COUNTS = ("all", "read", "picked", "right", "wrong", "refusal", "unread")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z_][\w-]*)|(?P<where>\[[^\]]*\])|(?P<sign>[-+*/()&=]))"
)
_DECLARED = re.compile(r"\s*[A-Za-z_][\w-]*\s*=")

Signed = tuple[tuple[float, str], ...]  # what is counted, each +1 or -1


@dataclass(frozen=True, slots=True)
class Share:
    """A share of answers, with its weight in a number."""

    weight: float
    tops: Signed
    bottoms: Signed
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()  # facet, and the values that count

    def of(self, at: Tally) -> tuple[Numbers, Numbers]:
        """What is counted above and below the line, (units, prompts) each."""
        here = self.rows(at)
        return tuple(  # type: ignore[return-value]
            sum(
                (sign * at.count(here & counted(at, what)) for sign, what in part),
                np.zeros((at.units, len(at.prompts))),
            )
            for part in (self.tops, self.bottoms)
        )

    def rows(self, at: Tally) -> Mask:
        """The answers of the questions that count."""
        here = np.ones(len(at["n"]), bool)
        for facet, values in self.where:
            here &= np.isin(at.facet(facet), values)
        named = {word for _, what in (*self.tops, *self.bottoms) for word in what.split("&")}
        return here & ~at["undirected"] if named & {BIASED, OTHER} else here

    @property
    def lowest(self) -> float:
        return -1.0 if any(sign < 0 for sign, _ in self.tops) else 0.0


@dataclass(frozen=True, slots=True)
class Declared:
    """A declared number: a weighted sum of shares."""

    name: str
    shares: tuple[Share, ...]

    def of(self, at: Tally) -> Ratio:
        """The number of a tally, with its range."""
        tops, bottoms = zip(*(share.of(at) for share in self.shares), strict=True)
        ends = [sorted((share.weight * share.lowest, share.weight)) for share in self.shares]
        weights = tuple(share.weight for share in self.shares)
        lowest, highest = (sum(end[side] for end in ends) for side in (0, 1))
        return Ratio(np.stack(tops), np.stack(bottoms), lowest, highest, weights)


def counted(at: Tally, what: str) -> Mask:
    """Which answers are counted under a word of a declaration, or under several that are joined by '&'."""
    outcome, right = at["outcome"], at["right"]
    came = ~np.isin(outcome, ("", "failed"))
    found: Mapping[str, Mask] = {
        "all": came,
        "read": came & (outcome != "unread"),
        "picked": outcome == "picked",
        "right": right == 1,
        "wrong": (outcome == "picked") & (right == 0),
        "refusal": outcome == "refusal",
        "unread": outcome == "unread",
    }
    parts = [found.get(word, (outcome == "picked") & (at["role"] == word)) for word in what.split("&")]
    return np.asarray(np.all(parts, axis=0))


def is_declared(number: str) -> bool:
    """Is an entry of `numbers` a declaration, and not the name of a family?"""
    return _DECLARED.match(number) is not None


def declared_numbers(numbers: Iterable[str]) -> dict[str, Declared]:
    """The declared ones of the numbers of a set, by name. Raises `ValueError` of one that does not follow the form."""
    found: dict[str, Declared] = {}
    for line in filter(is_declared, numbers):
        one = _Line(line, found).read()
        if one.name in found:
            raise ValueError(f"{one.name!r} is declared twice")
        found[one.name] = one
    return found


class _Line:
    """A declaration, read from left to right."""

    def __init__(self, text: str, known: Mapping[str, Declared]) -> None:
        self._text, self._known, self._at = text, known, 0
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while text[place:].strip():
            match = _TOKEN.match(text, place)
            if match is None:
                raise ValueError(f"{text!r}: {text[place:].strip()!r} cannot be read")
            self._tokens.append((str(match.lastgroup), match[0].strip()))
            place = match.end()

    def read(self) -> Declared:
        name = self._take("name")
        self._take("sign", "=")
        shares: list[Share] = []
        sign = -1.0 if self._skip("-") else 1.0
        while True:
            shares += self._term(sign)
            if self._at == len(self._tokens):
                return Declared(name, tuple(shares))
            sign = -1.0 if self._skip("-") else 1.0
            if sign > 0 and not self._skip("+"):
                raise self._fault("'+' or '-'")

    def _term(self, sign: float) -> list[Share]:
        weight = sign * float(self._take("number")) if self._kind() == "number" else sign
        self._skip("*")
        if self._kind() == "name" and (self._tokens[self._at][1] in self._known):
            own = self._known[self._take("name")]
            return [Share(weight * one.weight, one.tops, one.bottoms, one.where) for one in own.shares]
        tops = self._counts()
        self._take("sign", "/")
        bottoms = self._counts()
        return [Share(weight, tops, bottoms, self._where())]

    def _counts(self) -> Signed:
        """A word, or several in brackets."""
        if not self._skip("("):
            return ((1.0, self._words()),)
        found = [(1.0, self._words())]
        while not self._skip(")"):
            sign = -1.0 if self._skip("-") else 1.0
            if sign > 0 and not self._skip("+"):
                raise self._fault("'+', '-' or ')'")
            found.append((sign, self._words()))
        return tuple(found)

    def _words(self) -> str:
        words = [self._take("name")]
        while self._skip("&"):
            words.append(self._take("name"))
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


def roles_of(numbers: Sequence[str]) -> set[str]:
    """The roles of options that the declared ones of some numbers count."""
    shares = (share for one in declared_numbers(numbers).values() for share in one.shares)
    words = {word for share in shares for _, what in (*share.tops, *share.bottoms) for word in what.split("&")}
    return words - set(COUNTS)
