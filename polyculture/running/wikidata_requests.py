"""What linking an experiment asks of Wikidata's services, in requests and minutes; told by `plan` before it does."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from polyculture.cache.catalog import Catalog
from polyculture.experiment.snapshots import STARTER
from polyculture.experiment.workspace import Workspace
from polyculture.running.linking import api_settings

# Assumed: the study has 20 million mentions in 6.0 million responses, and of m mentions in a language and topic some
# 5 m^0.6 are distinct: people's answers on food (BLEnD, five languages) have 4 to 6 times m^0.6, on drinks 2 to 3.
MENTIONS_A_RESPONSE = 3
_DISTINCT, _GROWTH = 5.0, 0.6


def request_rows(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Rows for `plan`: what the live service would be asked, and what a pull would be. None with an own index."""
    section = workspace.experiment.link
    if section.fill:
        settings, names = api_settings(workspace), assumed_names(workspace)
        yield "link asks", f"{settings.requests_line}; here {settings.requests_for(names)}"
        yield (
            "",
            (
                f"for some {names:,} distinct names. Assumed: {MENTIONS_A_RESPONSE} mentions a response,"
                f" of m in a language and topic {_DISTINCT:g} m^{_GROWTH:g} distinct"
            ),
        )
    if section.fill or section.snapshot == STARTER:
        yield "or pull", pull_line(workspace)


def assumed_names(workspace: Workspace) -> int:
    """How many distinct names the texts that are extracted are assumed to mention, generated or imported ones."""
    texts = Counter[tuple[str, str]]()
    for job in workspace.jobs:
        texts[job.language, job.topic] += workspace.extracted_of(job)
    mentions = [float(count * MENTIONS_A_RESPONSE) for count in texts.values()]
    return round(sum(min(m, _DISTINCT * math.pow(m, _GROWTH)) for m in mentions))


def own_file(workspace: Workspace) -> Path:
    """The snapshot that `wikidata pull EXPERIMENT` writes, and `fill` where [link] names none: beside the file."""
    return workspace.file.parent / f"{workspace.experiment.name}-wikidata.duckdb"


def pulled_catalog(workspace: Workspace) -> Catalog:
    """The catalogue with the experiment's languages alone, so that no other names are pulled."""
    catalog = workspace.catalog
    chosen = {code: catalog.language(code) for code in workspace.experiment.languages}
    return catalog.model_copy(update={"languages": chosen})


def link_lines(workspace: Workspace, snapshot: Path) -> str:
    """What stands in the experiment file for linking with a snapshot."""
    folder, file = workspace.file.resolve().parent, snapshot.resolve()
    name = file.relative_to(folder) if file.is_relative_to(folder) else file
    return f'[link] snapshot = "{name.as_posix()}"'


def pull_line(workspace: Workspace) -> str:
    """The command that gets all items of the experiment's topics, or what is written where it was given."""
    file = own_file(workspace)
    if file.exists():
        return f"{file.name} is there: {link_lines(workspace, file)}"
    return f"polyculture wikidata pull {workspace.file.name}: all items of the topics; it says first how many"
