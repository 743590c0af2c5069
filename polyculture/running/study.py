"""The study that an experiment file states: whether the experiment still is that study, and the statement itself.

`init --preset` writes the statement. Whoever runs the file with other models, later and elsewhere, gets numbers that
may be shown beside the first ones, or a line for each part that differs.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from polyculture import __version__
from polyculture.cache.errors import ExperimentError
from polyculture.metrics.comparison.study import Parts, differing_parts

if TYPE_CHECKING:
    from polyculture.experiment.workspace import Workspace

_REMEDY = (
    "Put back what was changed (the study's value comes first), or delete [study]: the run is then none of this study. "
    "A model that is to be asked in some languages alone is named in [languages_of]."
)


def check_study(workspace: Workspace, parts: Parts) -> None:
    """Raises `ExperimentError` where `parts` are not as `[study]` states them, naming all that differ."""
    stated, file = workspace.experiment.study, workspace.file
    if stated is None:
        return
    here = {part: value for part, value in parts.items() if part in stated.parts}
    if differ := differing_parts(stated.parts, here):
        is_older = stated.polyculture not in (None, __version__)
        made = f" It was stated with Polyculture {stated.polyculture}, and this is {__version__}." if is_older else ""
        what = f"[study] is {stated.name}, version {stated.version}, and the experiment differs from it in "
        raise ExperimentError(f"{what}{'; '.join(differ)}.{made}", where=file, remedy=_REMEDY)


def stated_lines(parts: Parts) -> str:
    """What stands behind name and version under `[study]` where all of these parts are stated."""
    lines = [f"{json.dumps(part)} = {json.dumps(value, ensure_ascii=False)}" for part, value in parts.items()]
    return "\n".join([f'polyculture = "{__version__}"', "", "[study.parts]", *lines, ""])
