"""The options of `polyculture probe`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from polyculture.cache.written_paths import FilePath, NameOrFolder
from polyculture.instruments.contract import AtLeastOne, SeveralNames, in_file
from polyculture.instruments.probe.arms import Control, ProbeProtocol
from polyculture.instruments.questions.options import SetOptions


class ProbeOptions(SetOptions):
    """Read what a model's layers hold of cultures, and how far one culture's leans on another's (flattening).

    SET is a set as of `polyculture ask`, whose questions say which culture they are about. The model answers them
    without their options. Each layer's state of the answer's content words takes the place of a placeholder's, and what
    the model then writes is split into items. What is probed already stays.
    """

    culture: Annotated[SeveralNames, Field(description="Only these cultures, three at least.")] = ()
    protocol: Annotated[
        ProbeProtocol,
        Field(description="paper: a layer is replaced alone; released: with the two below, as in the code."),
    ] = "paper"
    control: Annotated[
        tuple[Control, ...],
        Field(
            description="Arms beside: noise of the same length; the answer's words as text; the vector of a question "
            "of the same topic about another culture."
        ),
    ] = ()
    tagger: Annotated[
        tuple[NameOrFolder, ...],
        Field(
            description="What tells nouns and verbs: a spaCy model (package or folder), auto (an installed one of the "
            "language, else the rule) or rule. Of several, the first that serves a language."
        ),
    ] = ("auto",)
    encoder: Annotated[
        tuple[NameOrFolder, ...],
        Field(
            description="A sentence encoder for the filters paper and released: a folder or a hub name, of one "
            "language LANGUAGE=NAME."
        ),
    ] = ()
    link: Annotated[
        bool, Field(description="Link items to Wikidata by the experiment's linker, for what is said beside.")
    ] = False
    cultures: Annotated[FilePath | None, in_file("Countries, regions and levels (TOML).")] = None
    inspection: Annotated[FilePath | None, in_file("The text to continue (TOML): prompt, placeholder.")] = None
    answer_tokens: Annotated[AtLeastOne, in_file("Of an answer, at most.")] = 64
    item_tokens: Annotated[AtLeastOne, in_file("Of a layer's text, at most.")] = 24
    resamples: Annotated[AtLeastOne, in_file("Halves for intervals, permutations for p.")] = 999
    seed: Annotated[int, in_file("Of noise and draws.", ge=0)] = 1
