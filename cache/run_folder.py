"""The paths of one experiment's files: `runs/<experiment>/...`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote


@dataclass(frozen=True, slots=True, order=True)
class Job:
    """The unit of batch work, of restart and of files on disk."""

    model: str
    language: str
    topic: str

    def __str__(self) -> str:
        return f"{self.model} {self.language} {self.topic}"


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The folder of one experiment. Paths only: nothing is read or written here."""

    root: Path

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.json"

    @property
    def experiment(self) -> Path:
        return self.root / "experiment.toml"

    @property
    def store(self) -> Path:
        return self.root / "store.duckdb"

    @property
    def report(self) -> Path:
        return self.root / "report.html"

    @property
    def report_data(self) -> Path:
        """The folder for the data of a report that is too large for one file."""
        return self.root / "report-data"

    @property
    def report_tables(self) -> Path:
        """The folder of the report's tables, where they were asked for."""
        return self.root / "report-tables"

    @property
    def instruments(self) -> Path:
        """The options that commands of instruments were last asked with."""
        return self.root / "instruments.json"

    def table(self, name: str) -> Path:
        """The one file of a table that is written for the whole run: prompts, links, candidates, entities, ..."""
        return self.root / f"{name}.parquet"

    def shards(self, table: str, job: Job) -> Path:
        """The folder of a job's shards of a table: `responses/model=<m>/language=<l>/topic=<t>`."""
        parts = (f"model={quote(job.model, safe='')}", f"language={job.language}", f"topic={job.topic}")
        return self.root.joinpath(table, *parts)

    def jobs(self, table: str) -> list[Job]:
        """The jobs that have a folder of shards of a table, whether the experiment still names them or not."""
        found = []
        for folder in sorted((self.root / table).glob("model=*/language=*/topic=*")):
            model, language, topic = (part.partition("=")[2] for part in folder.parts[-3:])
            found.append(Job(unquote(model), language, topic))
        return found
