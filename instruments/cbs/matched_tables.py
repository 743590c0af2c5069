"""Cultural Bias Scores of pairs that are alike, for the report: a table per matching and rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from polyculture.cache.manifest import Manifest
from polyculture.instruments.cbs.score_tables import TEXTS
from polyculture.reports.groups import Group, Row, groups, place_label
from polyculture.reports.names import Names
from polyculture.reports.numbers import FormattedEstimate, count, decimal, estimate, known, share
from polyculture.reports.texts import section_texts, texts


@dataclass(frozen=True, slots=True)
class MatchedLine:
    """The score of a type, or of one gender of it, in a setting: over pairs that are alike, and over all."""

    label: str
    setting: str
    score: FormattedEstimate
    every: str  # over all pairs of the same contexts
    # contexts with a pair that is alike, of how many; entities of both sides in one; pairs that stay, of all
    sizes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MatchedTable:
    """All scores of a matching under a rule."""

    rule: str
    alike: str  # in words
    groups: tuple[Group[MatchedLine], ...]


def matched_tables(rows: Sequence[Row], manifest: Manifest, names: Names) -> tuple[MatchedTable, ...]:
    """A table per matching and rule from the rows of `matched_pairs.sql`, in their order; none without any."""

    def lines(own: Sequence[Row]) -> list[MatchedLine]:
        return [_line(row, names) for row in own]

    return tuple(
        MatchedTable(rule, _alike(matched, caliper), groups(list(found), "form", manifest, names, lines))
        for (matched, caliper, rule), found in groupby(
            rows, key=lambda row: (row["matched"], known(row["caliper"]), row["rule"])
        )
    )


def _alike(matched: str, caliper: float | None) -> str:
    said: str = section_texts(TEXTS).words["alike"][matched]
    return said if caliper is None else said.format(caliper=f"{caliper:g}")


def _line(row: Row, names: Names) -> MatchedLine:
    gender = known(row["gender"])
    of_all = known(row["unmatched"])
    contexts = row["contexts"] + row["contexts_without"]
    return MatchedLine(
        f"{place_label(row, names)}{f', {gender}' if gender else ''}",
        ", ".join(filter(None, (row["setting"], known(row["phrasing"])))),
        _score(row),
        "" if of_all is None else decimal(of_all, "score"),
        (
            f"{count(row['contexts'])} of {count(contexts)}",
            count(row["native_entities"]),
            count(row["western_entities"]),
            f"{count(row['pairs'])} of {count(row['all_pairs'])} ({share(row['pairs'], row['all_pairs']) or '–'})",
        ),
    )


def _score(row: Row) -> FormattedEstimate:
    """The score with its interval; without one, the reason."""
    why = known(row["lacking"]) or "no_interval"
    if known(row["estimate"]) is None:
        words = section_texts(TEXTS).words["no_match"]
        return FormattedEstimate(None, None, words.get(why) or texts().missing[why])
    return estimate("score", row["estimate"], row["low"], row["high"], None, why)
