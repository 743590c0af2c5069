"""`polyculture bbq-survey exp.toml`: a model as a respondent of the survey behind KoBBQ."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.bbq.respondent.wordings import Language
from polyculture.instruments.contract import Asked, Shown, Study, Validity

if TYPE_CHECKING:
    from polyculture.generate.engines.base import Decoding
    from polyculture.instruments.bbq.respondent.asking import SurveyJob
    from polyculture.instruments.bbq.respondent.questions import SurveyQuestion
    from polyculture.instruments.contract import Setup

_OWN = Path(__file__).parent
AtLeastOne = Annotated[int, Field(ge=1)]


class SurveyOptions(BaseModel):
    """Ask models the survey behind KoBBQ: of which groups is a stereotype held?

    The model's shares of answers, over wordings and orders, stand beside the votes of a hundred people. What is
    answered already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    folder: Annotated[Path | None, Field(description="The folder of KoBBQ, if it was not fetched.")] = None
    stereotypes: Annotated[AtLeastOne | None, Field(description="Only so many stereotypes, drawn by --seed.")] = None
    seed: Annotated[int, Field(description="Which stereotypes are drawn.")] = 1
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    language: Annotated[
        tuple[Language, ...], Field(description="Of our wordings; stereotypes and groups stand in Korean in both.")
    ] = ("ko",)
    orders: Annotated[AtLeastOne, Field(description="Orders of the answers, turned by even steps.")] = 3
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False, description="0: the likeliest answer.")] = 0.0
    max_tokens: Annotated[AtLeastOne, Field(description="Of an answer, its reasoning included.")] = 150


def study(asked: Asked, options: SurveyOptions) -> Study:
    """Asks the survey's questions and reads the answers. Raises `DataSetError` without any question."""
    from polyculture.cache.manifest import setup_id
    from polyculture.generate.engines.base import Decoding
    from polyculture.instruments.bbq.respondent.asking import prompt_id
    from polyculture.instruments.bbq.respondent.questions import some_stereotypes
    from polyculture.instruments.bbq.respondent.reading import SurveyReader, reading_row
    from polyculture.instruments.bbq.respondent.rows import SURVEY_ANSWERS, SURVEY_READINGS, present_questions
    from polyculture.instruments.bbq.respondent.step import SurveyStep
    from polyculture.instruments.bbq.respondent.wordings import wordings
    from polyculture.instruments.choices.reading_step import ReadingStep

    every = _questions(asked, options)
    questions = some_stereotypes(every, options.stereotypes, options.seed)
    decoding = Decoding(options.temperature, top_p=1.0, top_k=None, max_tokens=options.max_tokens)
    setups: dict[str, Setup] = {f"answer {model}": asked.setup(model, "answer") for model in asked.models}
    languages = list(dict.fromkeys(options.language))
    jobs = [
        job
        for model in asked.models
        for language in languages
        for job in _jobs(asked, options, model, setup_id(setups[f"answer {model}"]), language, questions, decoding)
    ]
    readers = [SurveyReader(language, kind) for language in languages for kind in (False, True)]

    def derive() -> None:
        from polyculture.instruments.bbq.respondent.numbers import measure_respondent

        measure_respondent(asked.run)

    return Study(
        [
            SurveyStep(SURVEY_ANSWERS, jobs),
            ReadingStep(asked.run, SURVEY_ANSWERS, SURVEY_READINGS, readers, reading_row),
        ],
        Validity(
            setups,
            {
                f"survey {wording.name}": prompt_id(wording, decoding, asked.seed)
                for language in languages
                for wording in wordings(language)
            },
            partial(present_questions, asked.run, every),
            "the survey: not all that was asked is in its file",
            {f"survey {reader.name} {reader.language}": reader.reader_id for reader in readers},
        ),
        derive,
        (Shown(_OWN / "survey_results.sql", {"model": list(asked.models), "language": languages}),),
        view="bbq_survey_answers",
    )


def _questions(asked: Asked, options: SurveyOptions) -> list[SurveyQuestion]:
    """The stereotypes of the survey's file; a line says what of it is left out."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.bbq.opened import survey_folder, told
    from polyculture.instruments.bbq.respondent.questions import survey_questions
    from polyculture.instruments.bbq.survey import FILE, read_survey
    from polyculture.instruments.datasets.opened import data_folder

    folder = survey_folder(options.folder or data_folder("kobbq"))
    surveys, remarks = read_survey(folder)
    if not surveys:
        raise DataSetError("holds no stereotype that can be used", where=folder / FILE, remedy="See docs/bbq.md.")
    if remarks:
        asked.say(told(folder / FILE, remarks))
    return survey_questions(surveys)


def _jobs(
    asked: Asked,
    options: SurveyOptions,
    model: str,
    setup: str,
    language: str,
    questions: Sequence[SurveyQuestion],
    decoding: Decoding,
) -> list[SurveyJob]:
    """A job per category."""
    from polyculture.cache.run_folder import Job
    from polyculture.instruments.bbq.respondent.asking import SurveyJob
    from polyculture.instruments.bbq.respondent.wordings import wordings

    by_category: dict[str, list[SurveyQuestion]] = {}
    for one in questions:
        by_category.setdefault(one.category, []).append(one)
    return [
        SurveyJob(
            Job(model, language, f"survey-{category}"), setup, some, wordings(language), options.orders, decoding,
            asked.seed,
        )
        for category, some in sorted(by_category.items())
    ]  # fmt: skip
