"""The paths of one experiment's files: `runs/<experiment>/...`."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

NAME_FILE = "job.json"  # in a job's folder whose path cannot hold the whole name
_LONGEST = 255  # bytes of one part of a path on most file systems
_DIGITS = 16  # of the hash
_HASHED = re.compile(rf"%\+[0-9a-f]{{{_DIGITS}}}$")  # percent-encoding never has these signs
_UNSAFE = re.compile(r"[%/\\\x00-\x1f\x7f\ud800-\udfff]")


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
    def report_made(self) -> Path:
        """What the report was made of, as a hash: an unchanged one is not written again."""
        return self.root / ".report"

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

    @property
    def whole_files(self) -> list[Path]:
        """All Parquet files that are not parts of jobs: those of whole tables, and those of measures."""
        return sorted([*self.root.glob("*.parquet"), *self.root.glob("*/*.parquet")])

    def shards(self, table: str, job: Job) -> Path:
        """The folder of a job's shards of a table: `responses/model=<m>/language=<l>/topic=<t>`.

        What would lead elsewhere is percent-encoded; a part that is too long ends in a hash, and `NAME_FILE` has the
        name.
        """
        model = _part("model", quote(job.model, safe="", errors="surrogatepass"))
        language, topic = _part("language", _encoded(job.language)), _part("topic", _encoded(job.topic))
        return self.root / table / model / language / topic

    def name_of(self, folder: Path, job: Job) -> str | None:
        """What `NAME_FILE` in a job's folder must hold; None where the path itself says the job."""
        return None if _job_of(folder) == job else json.dumps([job.model, job.language, job.topic])

    def jobs(self, table: str) -> list[Job]:
        """The jobs that have a folder of shards of a table, whether the experiment still names them or not."""
        found = [read_job(folder) for folder in (self.root / table).glob("model=*/language=*/topic=*")]
        return sorted({job for job in found if job is not None})


def read_job(folder: Path) -> Job | None:
    """The job whose folder this is; None where nobody has written to it and its path has not the whole name."""
    file = folder / NAME_FILE
    if file.is_file():
        return Job(*json.loads(file.read_bytes()))
    return None if any(_HASHED.search(part) for part in folder.parts[-3:]) else _job_of(folder)


def _job_of(folder: Path) -> Job:
    model, language, topic = (unquote(part.partition("=")[2]) for part in folder.parts[-3:])
    return Job(model, language, topic)


def _encoded(value: str) -> str:
    """A language or topic, of which only what steers a path is encoded: people read these names."""
    return _UNSAFE.sub(lambda sign: quote(sign[0], safe="", errors="surrogatepass"), value)


def _part(key: str, encoded: str) -> str:
    """One part of a path, within the file system's limit."""
    part = f"{key}={encoded}"
    data = part.encode()
    if len(data) <= _LONGEST:
        return part
    digest = hashlib.sha256(encoded.encode()).hexdigest()[:_DIGITS]
    return f"{data[: _LONGEST - _DIGITS - 2].decode(errors='ignore')}%+{digest}"


def incoming_folder(run: RunFolder) -> Path:
    """Where an import is on its way into a run: nothing of it counts until it is moved in."""
    return run.root / "importing"


def sealed_import(run: RunFolder) -> Path:
    """The mark of an import that is whole, and is being moved in."""
    return incoming_folder(run) / "sealed.json"
