"""A question whose wrong options are what other cultures answer to it, as in CultureScope (2025, section 3.2.3).

A `resource` question has a wrong option of each resource level, of another culture than the target; that of the highest
level is the biased one. Of a `region` question one is of the target's own region, the biased one, and two are of two
other regions. Roles are 'own', 'biased' and 'other'.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from polyculture.cache.folding import fold
from polyculture.instruments.cultures.blend import Blend
from polyculture.instruments.cultures.cultures import Culture
from polyculture.instruments.datasets.model import SourceLocation
from polyculture.instruments.questions.model import BIASED, OTHER, Question

OPTIONS = 4
OWN = "own"  # the role of the target's answer
LANGUAGE = "en"  # of questions and options: BLEnD has the options of other cultures in English alone
NOT_KNOWN = "not known"


class QuestionType(StrEnum):
    """Where the wrong options are from."""

    RESOURCE = "resource"
    REGION = "region"


@dataclass(frozen=True, slots=True)
class Option:
    """What most annotators of a country answered."""

    text: str
    country: str
    group: str  # the level or the region of the country, by the type of the question


@dataclass(frozen=True, slots=True)
class HardQuestion:
    """A question about a target culture, with its options in the order in which they are shown."""

    kind: QuestionType
    source_id: str  # BLEnD's id, the same for all targets: the unit of sampling
    target: Culture
    text: str
    options: tuple[Option, ...]
    right: int
    biased: int
    place: SourceLocation

    @property
    def key(self) -> tuple[str, str, str]:
        """What there is one question of."""
        return self.kind, self.source_id, self.target.country

    def question(self, name: str, levels: Sequence[str], blend: Blend | None) -> Question:
        """The same as a question of the set `name`; `levels` are all, from the most resources to the least.

        With BLEnD it is known of which topic it is, and whether annotators of the target gave a wrong option as well,
        so that there are several right ones.
        """
        asked = blend.answered.get((self.source_id, self.target.country)) if blend else None
        also = NOT_KNOWN
        if asked is not None:
            wrong = [one.text for place, one in enumerate(self.options) if place != self.right]
            also = "yes" if any(fold(text) in asked.given for text in wrong) else "no"
        facets = {
            "type": str(self.kind),
            "country": self.target.country,
            "level": self.target.level,
            "region": self.target.region,
            "levels": "; ".join(levels),
            "also_given": also,
            "countries": "; ".join(one.country for one in self.options),  # of the options, in their order
            "groups": "; ".join(one.group for one in self.options),
        }
        if asked is not None:
            facets |= {"topic": asked.topic} if asked.topic else {}
        roles = [OTHER] * len(self.options)
        roles[self.right], roles[self.biased] = OWN, BIASED
        return Question(
            name=" ".join((self.source_id, self.target.country, self.kind)),
            set=name,
            language=LANGUAGE,
            kind="choice",
            unit=self.source_id,
            text=self.text,
            options=tuple(one.text for one in self.options),
            roles=tuple(roles),
            right=(self.right,),
            place=self.place,
            facets=facets,
        )
