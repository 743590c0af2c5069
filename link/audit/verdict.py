"""The linker's answer to a gold mention, beside the expected one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from polyculture.link.audit.gold import NIL, GoldMention

WRONG = (
    "mention",
    "language",
    "topic",
    "kind",
    "expected",
    "got",
    "status",
    "match",
    "matched_by",
    "matched",
    "why",
    "line",
)
STATUSES = ("linked", "ambiguous", "no path", "no candidate")
ONE_ITEM, TOPIC_DECIDES, SEVERAL = "one item", "several, one in the topic", "several in the topic"


@dataclass(frozen=True, slots=True)
class Verdict:
    """A gold mention with the linker's answer."""

    gold: GoldMention
    expected: tuple[str, ...]  # after redirects
    in_snapshot: bool  # is any of them there?
    in_topic: bool  # does any of them belong to a counted kind of the topic?
    kind: str  # of the link that answers
    status: str
    qid: str | None
    match: str | None
    matched_by: str | None
    matched: str | None
    candidates: int
    survivors: int
    reason: str | None  # the linker's reason for the expected item, if it was a candidate

    @property
    def nil(self) -> bool:
        """Is the mention NIL, to be left unlinked?"""
        return not self.gold.expected

    @property
    def linkable(self) -> bool:
        """Does the snapshot hold an expected item?"""
        return self.in_snapshot and not self.nil

    @property
    def right(self) -> bool:
        """Is the answer an expected item, or none for NIL?"""
        return self.qid is None if self.nil else self.qid in self.expected

    @property
    def name(self) -> str:
        """The ambiguity of the name: how many items have it, and how many of them are in the topic."""
        if self.survivors > 1:
            return SEVERAL
        return TOPIC_DECIDES if self.candidates > 1 else ONE_ITEM

    @property
    def why(self) -> str:
        """The reason for a wrong answer."""
        if self.nil:
            return f"nothing is meant, and {self.matched!r} was found"
        if not self.in_snapshot:
            return "the expected item is not in the snapshot"
        if not self.in_topic:
            return f"the expected item belongs to no kind of {self.gold.topic}"
        return self.reason or "the expected item was not found by this name"

    def row(self) -> tuple[Any, ...]:
        """A row of the list of wrong answers, with the columns `WRONG`."""
        gold = self.gold
        meant, got = "|".join(self.expected) or NIL, self.qid or NIL
        said = (gold.mention, gold.language, gold.topic, self.kind)
        return (*said, meant, got, self.status, self.match, self.matched_by, self.matched, self.why, gold.line)
