"""How far the prompts of an experiment are reviewed, by language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from polyculture.cache.store.schema import PromptReview

YES = {"natural": "yes", "same": "yes", "relation": "origin"}


@dataclass(frozen=True, slots=True)
class ReviewStanding:
    """The review of a language's templates. Shares are means over templates, of a template over its judges."""

    language: str
    templates: int  # that are asked
    reviewed: int  # with at least one verdict
    complete: int | None  # of these, those of which one judge at least answered every question; None: it is not known
    judges: int
    natural: float | None  # None where nobody said
    same: float | None  # as the English, where it was judged
    origin: float | None  # of texts whose English says where a person is from: they say so, and not residence; as above
    changed: int  # judgements of templates that are no longer asked in this wording: they do not count


def review_standing(
    asked: Mapping[str, str],
    reviews: Sequence[PromptReview],
    residence: Iterable[str] = (),
    questions: Mapping[str, Sequence[str]] | None = None,
) -> list[ReviewStanding]:
    """A row per language. `asked` has the language of each template that is asked, by id.

    `questions` has those that are asked of each template, and `residence` the templates that are meant to say where a
    person lives, which have no part in `origin`. Without `questions`, what rests on them is None: a finished run keeps
    the verdicts alone.
    """
    apart = set(residence)
    found = []
    for language in dict.fromkeys(asked.values()):
        of_language = [one for one in reviews if one.language == language and one.has_verdict]
        counted = [one for one in of_language if one.template_id in asked]
        found.append(
            ReviewStanding(
                language=language,
                templates=sum(code == language for code in asked.values()),
                reviewed=len({one.template_id for one in counted}),
                complete=None
                if questions is None
                else len({one.template_id for one in counted if _is_whole(one, questions)}),
                judges=len({one.judge for one in counted}),
                natural=_share(counted, "natural"),
                same=_share(counted, "same"),
                origin=None
                if questions is None
                else _share([one for one in counted if one.template_id not in apart], "relation"),
                changed=len(of_language) - len(counted),
            )
        )
    return found


def _is_whole(review: PromptReview, questions: Mapping[str, Sequence[str]]) -> bool:
    return all(getattr(review, name) is not None for name in questions[review.template_id])


def _share(reviews: Iterable[PromptReview], name: str) -> float | None:
    said: dict[str, list[bool]] = {}
    for one in reviews:
        verdict = getattr(one, name)
        if verdict is not None:
            said.setdefault(one.template_id, []).append(verdict == YES[name])
    return fmean(fmean(verdicts) for verdicts in said.values()) if said else None


def objections(asked: Mapping[str, str], reviews: Iterable[PromptReview]) -> list[PromptReview]:
    """The judgements of present templates with a verdict that is not the one that is meant, and those with a note."""
    return [
        one
        for one in reviews
        if one.template_id in asked
        and (one.note or "no" in (one.natural, one.same) or one.relation not in (None, YES["relation"]))
    ]


def unreviewed_line(standing: Sequence[ReviewStanding]) -> str | None:
    """The plain line for languages that nobody has reviewed; None where there is none."""
    none = [one.language for one in standing if not one.reviewed]
    if not none:
        return None
    of = "" if len(none) == len(standing) else f" in {', '.join(none)}"
    return f"No native speaker has reviewed these prompts{of}."
