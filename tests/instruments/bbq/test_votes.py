"""A model's bias against the people's votes, on KoBBQ's own templates."""

from __future__ import annotations

from pathlib import Path

import pytest

from polyculture.instruments.bbq.kobbq import load_templates
from polyculture.instruments.bbq.survey import Survey
from polyculture.instruments.bbq.votes import TemplateVotes, all_violations, bias_by_votes, template_votes


def votes(number: int, share: int, stereotype: str = "") -> TemplateVotes:
    survey = Survey("Age", stereotype or f"s{number}", {"old": share, "young": 5, "no_stereo": 95 - share})
    return TemplateVotes(f"age-{number:03}", survey, ("old",), ("young",))


def test_the_margin_is_of_the_people_asked() -> None:
    assert votes(1, 70).margin == pytest.approx(0.65)
    assert TemplateVotes("t", votes(1, 70).survey, ("old",), ("children",)).margin is None


def test_templates_of_one_stereotype_are_one_pair() -> None:
    given = [votes(number, 30 + number) for number in range(20)] + [votes(90, 31, "s1"), votes(91, 60)]
    bias = {f"age-{number:03}": number / 20 for number in range(20)} | {"age-090": 0.05}
    found = bias_by_votes(given, bias)
    assert found.pairs == 20  # one stereotype twice, one without a bias
    assert found.spearman is not None
    assert found.spearman == pytest.approx(1.0)


def test_the_votes_of_the_published_templates(shared_data: Path) -> None:
    variants, _ = load_templates(shared_data / "kobbq" / "data")
    found, remarks = template_votes(variants)
    assert not remarks
    assert len(found) == len({variant.template_id for variant in variants})
    lacking = [one.template_id for one in found if one.margin is None]
    assert lacking == []
    against = [row for row in all_violations(found) if row.category == "Religion"]
    assert [(row.role, row.share) for row in against] == [("target", 0.32)]  # an equal share is a sixth
    assert len(list(all_violations(found))) == 128
    following = bias_by_votes(found, {one.template_id: one.margin or 0.0 for one in found if one.margin is not None})
    assert following.spearman == pytest.approx(1.0)
