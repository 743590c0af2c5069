"""The study that an experiment file states: whether the experiment still is that study, and the statement itself.

`init --preset` writes the statement. Whoever runs the file with other models, later and elsewhere, gets numbers that
may be shown beside the first ones, or a line for each part that differs.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from polyculture import __version__
from polyculture.cache.errors import ExperimentError
from polyculture.cache.files import replacing, store_faults
from polyculture.experiment.sections import StudySection
from polyculture.metrics.comparison.study import Parts, differing_parts

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace

_TABLE = re.compile(r"\s*\[\[?\s*([\w-]+)")  # a line that begins a table: the first part of its name
STANDARD, STANDARD_VERSION = "standard", 1  # the study of `init --preset standard`, and its one version until now
_OWN_NAME = f"Give your study a name of its own; polyculture init FILE --preset {STANDARD} writes the standard one."
_REMEDY = (
    "Put back what was changed (the study's value comes first), or delete [study]: the run is then none of this study. "
    "A model that is to be asked in some languages alone is named in [languages_of]."
)


def check_study(workspace: Workspace, parts: Parts) -> None:
    """Raises `ExperimentError` where `parts` are not as `[study]` states them, naming all that differ; and where it
    states none, or is the standard study in a version that is not known, or without some of its parts."""
    stated, file = workspace.experiment.study, workspace.file
    if stated is None:
        return
    what = f"[study] is {stated.name}, version {stated.version}"
    if stated.name == STANDARD and stated.version != STANDARD_VERSION:
        known = f"Polyculture {__version__} knows version {STANDARD_VERSION} of it alone"
        remedy = (
            f"Use the Polyculture that wrote the file, or write one anew: polyculture init FILE --preset {STANDARD}."
        )
        raise ExperimentError(f"{what}, and {known}", where=file, remedy=remedy)
    if not stated.parts:
        written = shlex.quote(str(file))
        remedy = (
            f"Write the file anew: polyculture init FILE --preset {STANDARD}."
            if stated.name == STANDARD
            else f"State them: polyculture plan {written} --state-study. Or delete [study]."
        )
        raise ExperimentError(
            f"{what}, and states none of its parts, so that it fixes nothing", where=file, remedy=remedy
        )
    here = {part: value for part, value in parts.items() if part in stated.parts}
    if differ := differing_parts(stated.parts, here):
        is_older = stated.polyculture not in (None, __version__)
        made = f" It was stated with Polyculture {stated.polyculture}, and this is {__version__}." if is_older else ""
        said = f"{what}, and the experiment differs from it in {'; '.join(differ)}.{made}"
        restate = f" To state a new version of it: polyculture plan {shlex.quote(str(file))} --state-study."
        raise ExperimentError(said, where=file, remedy=_REMEDY + (restate if stated.name != STANDARD else ""))
    if stated.name == STANDARD and (lacking := [part for part in parts if part not in stated.parts]):
        said = f"{what}, and does not state {', '.join(lacking[:3])}{', ...' if lacking[3:] else ''}"
        raise ExperimentError(said, where=file, remedy=_OWN_NAME)


def restated(workspace: Workspace, parts: Parts) -> StudySection:
    """The study that an experiment is from now on, with all of its parts: the stated one, in its next version where a
    part differs; without one a study with the experiment's name.

    Raises `ExperimentError` for the standard study, which no other experiment is.
    """
    stated, file = workspace.experiment.study, workspace.file
    name, version = (stated.name, stated.version) if stated else (workspace.experiment.name, 1)
    if name == STANDARD:
        raise ExperimentError(f"[study] would be {STANDARD}, whose parts are fixed", where=file, remedy=_OWN_NAME)
    here = {part: value for part, value in parts.items() if stated and part in stated.parts}
    changed = stated is not None and bool(differing_parts(stated.parts, here))
    return StudySection(name=name, version=version + changed, polyculture=__version__, parts=parts)


def with_study(text: str, study: StudySection) -> str:
    """An experiment file with its `[study]` at the end, in the place of the one that it has.

    Raises `ValueError` where that would change anything else.
    """
    before = "".join(_without_study(text.splitlines(keepends=True))).rstrip()
    lines = [f"{json.dumps(part)} = {json.dumps(value, ensure_ascii=False)}" for part, value in study.parts.items()]
    head = ["[study]", f"name = {json.dumps(study.name, ensure_ascii=False)}", f"version = {study.version}"]
    made = f'polyculture = "{study.polyculture}"'
    found = "\n".join([before, "", *head, made, "", "[study.parts]", *lines, ""])
    own = {**tomllib.loads(text), "study": None}
    try:
        same = {**tomllib.loads(found), "study": None} == own
    except ValueError:
        same = False
    if not same:
        raise ValueError("[study] is not a table of its own")
    return found


def write_study(file: Path, study: StudySection) -> StudySection:
    """Writes a study into an experiment file. Raises `ExperimentError` where that would change anything else."""
    text = file.read_text(encoding="utf-8-sig")
    try:
        written = with_study(text, study)
    except ValueError as fault:
        remedy = "Write [study] as a table of its own, which begins with that line."
        raise ExperimentError(str(fault), where=file, remedy=remedy) from fault
    with store_faults(file), replacing(file) as temporary:
        temporary.write_text(written, encoding="utf-8")
    return study


def _without_study(lines: Iterable[str]) -> Iterator[str]:
    within = False
    for line in lines:
        if head := _TABLE.match(line):
            within = head[1] == "study"
        if not within:
            yield line
