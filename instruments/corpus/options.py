"""What `polyculture corpus` can be told."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from polyculture.cache.written_paths import FilePath
from polyculture.instruments.cbs.options import RULE
from polyculture.instruments.contract import AtLeastOne
from polyculture.instruments.datasets.opened import DatasetOptions


class CorpusOptions(DatasetOptions):
    """Compare how probable native and Western entities are in a corpus: by a 4-gram model without smoothing.

    The corpus is read once, and only what the contexts and entities need is counted. In the store its model is called
    ngram:NAME:unsmoothed.
    """

    corpus: Annotated[
        tuple[FilePath, ...],
        Field(
            description="Text: JSON lines, plain or Parquet, compressed or not; or a folder.",
            json_schema_extra={"many_values": True},
        ),
    ]
    language: Annotated[  # type: ignore[assignment]  # one language, as a corpus has
        str, Field(description="The language of the corpus, as the data set has it.")
    ]
    name: Annotated[str | None, Field(description="The name of the corpus. Default: that of its first file.")] = None
    text_field: Annotated[str, Field(description="The field of JSON, or column of Parquet, with the text.")] = "text"
    rule: Annotated[Literal["sum", "mean", "probability"], Field(description=RULE)] = "sum"
    processes: Annotated[AtLeastOne | None, Field(description="The number of processes. Default: one per core.")] = None
