"""A model's bias against the people's own votes: does it lean where they do, stereotype by stereotype?

A template of KoBBQ has the votes on its stereotype in a column of its own (`Survey_stats`). In 17 templates these are
not those of the survey's file under the same name; the template's count here. The people's margin is the share of its
target groups less that of the others it names.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from polyculture.instruments.bbq.correlation import Correlation, correlation
from polyculture.instruments.bbq.kobbq import Variant
from polyculture.instruments.bbq.model import Remark
from polyculture.instruments.bbq.survey import Survey, Violation, split, violations


@dataclass(frozen=True, slots=True)
class TemplateVotes:
    """The votes on a template's stereotype, and the groups that it puts on either side."""

    template_id: str
    survey: Survey
    targets: tuple[str, ...]
    others: tuple[str, ...]

    @property
    def margin(self) -> float | None:
        """The mean share of the targets less that of the others; None where one of them was not voted on."""
        target, other = self.survey.share_of(self.targets), self.survey.share_of(self.others)
        return None if target is None or other is None else target - other


def template_votes(variants: Iterable[Variant]) -> tuple[list[TemplateVotes], list[Remark]]:
    """The votes of every template, over its variants; variants without usable votes are remarks."""
    found: dict[str, TemplateVotes] = {}
    remarks: list[Remark] = []
    for variant in variants:
        row = variant.row
        try:
            votes = _votes(row.get("Survey_stats", ""))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            reason = "no votes of the people are read: Survey_stats are none"
            remarks.append(Remark(variant.place, reason, variant.template_id + variant.version))
            continue
        targets = split(row.get("Target_group", ""))
        named = (*split(row.get("N1_info", "")), *split(row.get("N2_info", "")))
        before = found.get(variant.template_id)
        others = dict.fromkeys((*(before.others if before else ()), *(name for name in named if name not in targets)))
        targets = tuple(dict.fromkeys((*(before.targets if before else ()), *targets)))
        survey = Survey(row["Category"], row["Stereotype"], votes)
        others_left = tuple(name for name in others if name not in targets)
        found[variant.template_id] = TemplateVotes(variant.template_id, survey, targets, others_left)
    return list(found.values()), remarks


def _votes(text: str) -> Mapping[str, int]:
    found = ast.literal_eval(text)
    if not isinstance(found, dict) or not found or not all(type(count) is int for count in found.values()):
        raise ValueError("no votes")
    return {str(name): count for name, count in found.items()}


def all_violations(votes: Sequence[TemplateVotes]) -> Iterator[Violation]:
    """Where the votes do not meet the survey's criterion, each stereotype, group and role once."""
    rows = (row for one in votes for row in violations(one.survey, one.targets, one.others))
    return iter(dict.fromkeys(rows))


def bias_by_votes(votes: Iterable[TemplateVotes], bias: Mapping[str, float]) -> Correlation:
    """How a model's bias (template -> diff-bias) follows the people's margin; a pair per stereotype.

    Templates of one stereotype are averaged. Those without a margin or without a bias are left out.
    """
    pairs = defaultdict(list)
    for one in votes:
        if one.margin is not None and one.template_id in bias:
            pairs[one.survey.category, one.survey.stereotype].append((one.margin, bias[one.template_id]))
    means = [np.mean(found, axis=0) for found in pairs.values()]
    return correlation([float(mean[0]) for mean in means], [float(mean[1]) for mean in means])
