"""The questions that are asked: the study's sheets, or questions built from BLEnD; all of them, or a part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from polyculture.cache.errors import DataSetError
from polyculture.cache.identity import content_id
from polyculture.instruments.culture_mcq.build import build_questions
from polyculture.instruments.culture_mcq.model import McqQuestion, McqSet, QuestionType
from polyculture.instruments.culture_mcq.released import load_released
from polyculture.instruments.cultures.blend import Blend, load_blend
from polyculture.instruments.cultures.cultures import Cultures
from polyculture.instruments.datasets.fetch import check_as_received
from polyculture.instruments.datasets.model import LeftOut
from polyculture.instruments.datasets.opened import data_folder

Mode = Literal["released", "built", "strict"]
_NAMED = 3  # remarks that a line names


def open_questions(mode: Mode, sheets: Path | None, blend: Path | None, cultures: Cultures, seed: int) -> McqSet:
    """The questions of a mode, of both types. Raises `DataSetError` where files are missing or hold none."""
    if mode == "released":
        known = open_blend(blend, cultures) if blend is not None else None
        return load_released(_folder(sheets, "culturescope"), cultures, known)
    told = open_blend(blend, cultures)
    found = build_questions(told, cultures, list(QuestionType), strict=mode == "strict", seed=seed)
    if not found.questions:
        why = "; ".join(f"{reason}: {count}" for reason, count in found.counts[:_NAMED])
        remedy = "Give more cultures answers, or others levels and regions: see docs/culture-mcq.md."
        raise DataSetError(f"no question can be made: {why}", where=blend, remedy=remedy)
    return found


def open_blend(folder: Path | None, cultures: Cultures) -> Blend:
    """BLEnD from a folder. Raises `DataSetError` where it is not there."""
    return load_blend(_folder(folder, "blend"), cultures)


def some_questions(found: McqSet, types: Sequence[str], number: int | None, seed: int) -> list[McqQuestion]:
    """Those of these types, of so many questions of BLEnD, drawn by the seed, about all targets.

    Fewer are a part of more. Raises `DataSetError` where there is none.
    """
    chosen = [one for one in found.questions if one.question_type in types]
    if not chosen:
        why = f"; {_some(found.left_out)}" if found.left_out else ""
        raise DataSetError(f"there is no question of type {' or '.join(types)}{why}", remedy="Ask another type.")
    if number is None:
        return chosen
    ids = sorted({one.source_id for one in chosen}, key=lambda one: content_id("culture mcq draw", seed, one))
    drawn = set(ids[:number])
    return [one for one in chosen if one.source_id in drawn]


def tell_left_out(found: McqSet, say: Callable[[str], None]) -> None:
    """Reports in a line each: what of the files is left out, what cannot be built, what has several right answers."""
    if found.left_out:
        say(f"{found.name}: {len(found.left_out)} remarks: {_some(found.left_out)}")
    if found.counts:
        told = "; ".join(f"{reason}: {count}" for reason, count in found.counts)
        say(f"{found.name}: {sum(count for _, count in found.counts)} questions cannot be made: {told}")
    checked = [one for one in found.questions if one.also_given is not None]
    also = sum(bool(one.also_given) for one in checked)
    if also:
        say(f"{found.name}: in {also} of {len(checked)} questions annotators of the target gave a wrong option, too")
    elif not checked:
        say(f"{found.name}: whether annotators also gave a wrong option is not known without --blend")


def _some(left_out: Sequence[LeftOut]) -> str:
    told = [f"{one.place}: {one.reason}" for one in left_out[:_NAMED]]
    more = len(left_out) - len(told)
    return "; ".join(told) + (f"; and {more} more" if more else "")


def _folder(folder: Path | None, name: str) -> Path:
    place = folder or data_folder(name)
    if not place.exists():
        flag = "--sheets" if name == "culturescope" else "--blend"
        remedy = f"Name the folder with {flag}: see docs/culture-mcq.md."
        raise DataSetError("there is no such folder", where=place, remedy=remedy)
    if place.is_dir():
        check_as_received(place)
    return place
