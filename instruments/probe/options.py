"""The options of `polyculture probe` and `polyculture probe attention`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.contract import AtLeastOne, in_file
from polyculture.instruments.probe.arms import Control, Protocol
from polyculture.instruments.questions.options import SetOptions

Names = tuple[str, ...]


class ProbeOptions(SetOptions):
    """Read what a model's layers hold of cultures, and how far one culture's leans on another's (flattening).

    SET is a set as of `polyculture ask`, whose questions say which culture they are about. The model answers them
    without their options. Each layer's state of the answer's content words takes the place of a placeholder's, and what
    the model then writes is split into items. What is probed already stays.
    """

    culture: Annotated[Names, Field(description="Only these cultures, three at least.")] = ()
    protocol: Annotated[
        Protocol, Field(description="paper: a layer is replaced alone; released: with the two below, as in the code.")
    ] = "paper"
    control: Annotated[
        tuple[Control, ...],
        Field(
            description="Arms beside: noise of the same length; the answer's words as text; the vector of a question "
            "of the same topic about another culture."
        ),
    ] = ()
    tagger: Annotated[
        Names,
        Field(
            description="What tells nouns and verbs: a spaCy model (package or folder), auto (an installed one of the "
            "language, else the rule) or rule. Of several, the first that serves a language."
        ),
    ] = ("auto",)
    encoder: Annotated[
        Names,
        Field(
            description="A sentence encoder for the filters paper and released: a folder or a hub name, of one "
            "language LANGUAGE=NAME."
        ),
    ] = ()
    link: Annotated[
        bool, Field(description="Link items to Wikidata by the experiment's linker, for what is said beside.")
    ] = False
    cultures: Annotated[Path | None, in_file("Countries, regions and levels (TOML).")] = None
    inspection: Annotated[Path | None, in_file("The text to continue (TOML): prompt, placeholder.")] = None
    answer_tokens: Annotated[AtLeastOne, in_file("Of an answer, at most.")] = 64
    item_tokens: Annotated[AtLeastOne, in_file("Of a layer's text, at most.")] = 24
    resamples: Annotated[AtLeastOne, in_file("Halves for intervals, permutations for p.")] = 999
    seed: Annotated[int, in_file("Of noise and draws.", ge=0)] = 1


class AttentionOptions(BaseModel):
    """Read how much the last token of a question attends to each of its options, before anything is written.

    Of a set of `polyculture ask` with options, of models whose attention can be read. Ask the set with `--orders one`,
    too: attention stands beside what was chosen in writing. What is read already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    set: Annotated[str, Field(description="A shipped set, or a rules file, as of `polyculture ask`.")] = "culture-mcq"
    folder: Annotated[Path | None, Field(description="The folder of its files, if they were not fetched.")] = None
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    only: Annotated[tuple[str, ...], Field(description="Only questions with this facet, as type=resource.")] = ()
    units: Annotated[AtLeastOne | None, Field(description="Only so many units, drawn by the seed.")] = None
    prompts: Annotated[tuple[str, ...], Field(description="The set's prompts: 3, or 1..5. Default: all.")] = ()

    def check_names(self) -> None:
        """Raises `DataSetError` of a set that there is not."""
        from polyculture.instruments.questions.options import AskOptions

        AskOptions(set=self.set).check_names()
