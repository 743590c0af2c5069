"""The options of `polyculture bbq`, on the command line and in an experiment."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.bbq.asking import GENERATED, Method
from polyculture.instruments.bbq.opened import Which
from polyculture.instruments.bbq.orders import Orders
from polyculture.instruments.bbq.parser import ParserName
from polyculture.instruments.bbq.treatments import TreatmentName

TableName = Literal["pairs", "tests", "votes", "published", "ambiguous", "disambiguated", "counts", "labels"]
AtLeastOne = Annotated[int, Field(ge=1)]
Names = tuple[str, ...]


class BbqOptions(BaseModel):
    """Ask multiple-choice questions that a stereotype answers wrongly: KoBBQ, and data sets of BBQ's form.

    Accuracy and diff-bias, in ambiguous and in disambiguated contexts. What is answered already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    data: Annotated[str, Field(description="kobbq, bbq, or own:NAME:LANGUAGE: a table of yours.")] = "kobbq"
    folder: Annotated[Path | None, Field(description="The folder of the data set, if it was not fetched.")] = None
    set: Annotated[Which, Field(description="evaluation: the published samples; all: every template expanded.")] = (
        "evaluation"
    )
    templates: Annotated[AtLeastOne | None, Field(description="Only so many templates, drawn by --seed.")] = None
    seed: Annotated[int, Field(description="Which templates are drawn.")] = 1
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    prompts: Annotated[
        Names, Field(description="The data set's prompts: 3, 1..5; or house: ours. Default: all of the data set's.")
    ] = ()
    permutations: Annotated[
        Orders, Field(description="Orders of the choices: published (021, 102, 210), cyclic, or all six.")
    ] = "published"
    method: Annotated[
        tuple[Method, ...],
        Field(description="generated: the model writes; letter, text: how probable the letter or the choice is."),
    ] = (GENERATED,)
    treatment: Annotated[
        TreatmentName | None,
        Field(description="Ask with a warning against stereotypes, with reasoning first, with several wordings of "
                          "unknown or one, or without unknown among the choices: an arm of its own, for --table "
                          "pairs."),
    ] = None  # fmt: skip
    parser: Annotated[
        tuple[ParserName, ...], Field(description="How texts are read: by the paper's words, or as the publisher does.")
    ] = ("paper",)
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False, description="0: the likeliest answer.")] = 0.0
    max_tokens: Annotated[AtLeastOne, Field(description="Of an answer, its reasoning included.")] = 30
    check: Annotated[
        bool, Field(description="List what KoBBQ's folder holds beside the paper's counts; ask nothing.")
    ] = False
    table: Annotated[
        TableName | None,
        Field(description="List also: pairs (two models, methods or treatments on the same questions), tests (between "
                          "categories, labels and data sets), votes (bias against the people's), published (the "
                          "paper's figures beside yours), or the paper's tables: counts, ambiguous, disambiguated, "
                          "labels (beside the run's other data sets)."),
    ] = None  # fmt: skip
    answers: Annotated[
        tuple[Path, ...],
        Field(
            description="Files with answers that you have (TSV, CSV, JSON lines): no model is asked.",
            json_schema_extra={"many_values": True},
        ),
    ] = ()
    called: Annotated[str | None, Field(description="With --answers: the model that gave them. Default: the file.")] = (
        None
    )
    column: Annotated[str | None, Field(description="With --answers: the column of the texts.")] = None
