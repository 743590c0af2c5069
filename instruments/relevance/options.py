"""The options of `polyculture relevance`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.culture_mcq.asking import GENERATED, Method

AtLeastOne = Annotated[int, Field(ge=1)]


class RelevanceOptions(BaseModel):
    """Ask multiple-choice questions with and without what the probe read out of the model's layers.

    The same questions alone, with the culture named, with the probe's items, with another source's concepts, with items
    about another culture, and with items that do not repeat the answer. Run `polyculture probe` first. What is answered
    already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Annotated[
        Literal["released", "built", "strict"],
        Field(description="Which questions, as of culture-mcq: the study's sheets, or made from BLEnD."),
    ] = "released"
    sheets: Annotated[Path | None, Field(description="The folder of the study's released sheets.")] = None
    blend: Annotated[Path | None, Field(description="The folder of BLEnD with `annotations` and `questions`.")] = None
    cultures: Annotated[
        Path | None, Field(description="Countries, regions and levels of yours (TOML), in place of the study's.")
    ] = None
    type: Annotated[
        tuple[Literal["resource", "region"], ...],
        Field(description="Wrong options of each resource level, or of the target's and two other regions."),
    ] = ("resource", "region")
    questions: Annotated[
        AtLeastOne | None, Field(description="Only so many questions that were probed, about all targets, drawn by "
                                             "--seed.")
    ] = None  # fmt: skip
    probed: Annotated[str | None, Field(description="The probe's data set, where the run has several.")] = None
    filter: Annotated[
        Literal["none", "paper", "released"],
        Field(description="Which items the probe keeps; paper and released need the probe's --encoder."),
    ] = "none"
    without_echoes: Annotated[
        bool,
        Field(description="Leave out items that repeat the inspection prompt, the culture's name or the question."),
    ] = False
    concepts: Annotated[
        Path | None,
        Field(description="Another source's concepts, a table of tabs: question_id, culture and concepts, or culture, "
                          "topic and concepts."),
    ] = None  # fmt: skip
    most: Annotated[AtLeastOne, Field(description="Concepts before a question, at most.")] = 20
    draws: Annotated[AtLeastOne, Field(description="Of another source's concepts, and of other cultures.")] = 3
    seed: Annotated[int, Field(description="What is drawn: questions, concepts, other cultures.")] = 1
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    method: Annotated[
        tuple[Method, ...], Field(description="generated: the model writes; text: how probable each option is.")
    ] = (GENERATED,)
    prompt: Annotated[
        Path | None, Field(description="Wordings of the question of yours (TOML), as of culture-mcq.")
    ] = None
    wording: Annotated[
        Path | None, Field(description="Lines before a question of yours (TOML), in place of ours.")
    ] = None  # fmt: skip
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False, description="0: the likeliest answer.")] = 0.0
    max_tokens: Annotated[AtLeastOne, Field(description="Of an answer, its reasoning included.")] = 30
