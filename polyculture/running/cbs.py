"""The stages of `polyculture cbs` in order: score, link the entities, measure. They are called here."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polyculture.instruments.cbs
from polyculture.console import say, watch
from polyculture.experiment.workspace import Workspace
from polyculture.instruments.cbs.rows import CULTURAL_LINKS
from polyculture.running.steps import StepRunner

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.instruments.cbs.camel_draws import Drawing
    from polyculture.instruments.cbs.step import ScoringJob

TOPICS = Path(polyculture.instruments.cbs.__file__).with_name("entity_topics.toml")
TABLE = Path(polyculture.instruments.cbs.__file__).with_name("table.sql")


@dataclass(kw_only=True)
class Likelihoods(StepRunner):
    """An experiment whose models score contexts and entities, and what has become of it in this command."""

    def score(self, jobs: Sequence[ScoringJob]) -> None:
        """Scores what is missing; a model is loaded once, and only if it has something to do."""
        from polyculture.instruments.cbs.step import ScoringStep

        self.run_step(ScoringStep(jobs), tell_settled=False)

    def link(self) -> None:
        """Links the scored entities of the types that are topics, with the linker that the experiment names."""
        from polyculture.cache.parquet import write_parquet
        from polyculture.running.linking import plan_linking

        asks = _asks(self.workspace)
        if not asks.num_rows:
            return
        with watch("link entities", asks.num_rows):
            links = _links(self.workspace, asks, plan_linking(self.workspace).source)
        write_parquet(links, self.workspace.run.table("cultural_links"))
        linked = links.column("status").to_pylist().count("linked")
        say(f"link entities: {linked} of {links.num_rows} linked")

    def measure(self, rule: str, drawing: Drawing | None = None) -> None:
        """Computes the scores with their intervals, and those of CAMeL's draws or others; prints the table."""
        from polyculture.cli.tables import print_query
        from polyculture.instruments.cbs.camel_draws import Drawing
        from polyculture.instruments.cbs.measure import measure_bias

        measure_bias(self.workspace.run, drawing or Drawing(seed=self.workspace.experiment.sampling.seed))
        title = f"Cultural Bias Score, rule: {_RULES[rule]} (95 % interval; in brackets: entities that a context has)"
        print_query(self.workspace.run, TABLE, title, rule=rule)
        self._tell_versions()

    def _tell_versions(self) -> None:
        """Says so where a model was another one than before, and nobody could know until it was opened."""
        from polyculture.cache.store import open_store
        from polyculture.running.layout import store_layout

        with open_store(self.workspace.run, store_layout()) as store:
            found = store.sql(_VERSIONS).fetchall()
        for model, versions in found:
            say(f"{model}: these scores were made by {' and by '.join(versions)}; name one by revision and dtype to "
                "have all made by it")  # fmt: skip


_VERSIONS = """
SELECT model, list(DISTINCT model_version ORDER BY model_version) AS versions
FROM scores WHERE model_version IS NOT NULL GROUP BY model HAVING len(versions) > 1 ORDER BY model
"""
_RULES = {"sum": "log-probability of the whole entity", "mean": "mean log-probability per token"}


def _asks(workspace: Workspace) -> pa.Table:
    """Entities to be linked: language, entity_type, surface, topic and kind, each once."""
    import pyarrow as pa

    from polyculture.cache.store import open_store
    from polyculture.running.layout import store_layout

    topics = tomllib.loads(TOPICS.read_text(encoding="utf-8"))
    query = "SELECT DISTINCT language, entity_type, entity AS surface FROM scores ORDER BY ALL"
    with open_store(workspace.run, store_layout()) as store:
        rows = [
            dict(zip(("language", "entity_type", "surface"), row, strict=True)) for row in store.sql(query).fetchall()
        ]
    known = [row for row in rows if row["entity_type"] in topics and row["language"] in workspace.catalog.languages]
    columns = ("language", "entity_type", "surface", "topic", "kind")
    schema = pa.schema([(name, pa.string()) for name in columns])
    return pa.Table.from_pylist([{**row, **topics[row["entity_type"]]} for row in known], schema=schema)


def _links(workspace: Workspace, asks: pa.Table, source: Any) -> pa.Table:
    """The table `cultural_links`: what the linker says of each ask."""
    from polyculture.cache.parquet import rows_to_table
    from polyculture.link.linker import Linker

    links = Linker(workspace.catalog, source).link(asks)["links"].to_pylist()
    found = {(row["language"], row["topic"], row["kind"], row["surface"]): row for row in links}
    rows = []
    for ask in asks.to_pylist():
        link = found[ask["language"], ask["topic"], ask["kind"], ask["surface"]]
        kept = {name: link[name] for name in ("status", "qid", "match", "confidence")}
        asked = {name: ask[name] for name in ("language", "entity_type", "topic", "kind")}
        rows.append({**asked, "entity": ask["surface"], **kept})
    return rows_to_table(CULTURAL_LINKS, rows)
