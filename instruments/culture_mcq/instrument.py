"""Cultural knowledge by multiple choice as an instrument: `polyculture culture-mcq exp.toml`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.choices.needs import needs_of
from polyculture.instruments.contract import Asked, Command, Listing, Setup, Shown, Study, Validity
from polyculture.instruments.culture_mcq.asking import GENERATED, Method
from polyculture.instruments.culture_mcq.attention_rows import Measure

if TYPE_CHECKING:
    from polyculture.cache.worker import Step
    from polyculture.generate.engines import Capability
    from polyculture.generate.engines.models import Models
    from polyculture.instruments.choices.reading_step import Reader
    from polyculture.instruments.culture_mcq.asking import McqJob
    from polyculture.instruments.culture_mcq.model import McqQuestion
    from polyculture.instruments.culture_mcq.prompts import McqPrompt
    from polyculture.instruments.culture_mcq.rows import McqAnswerRow
    from polyculture.reports.section import Section

_OWN = Path(__file__).parent
AtLeastOne = Annotated[int, Field(ge=1)]


class CultureMcqOptions(BaseModel):
    """Ask what is usual in a culture, with the answers of other cultures as wrong options.

    Accuracy, and how often wrong answers are those of cultures with most resources or of the target's region.
    What is answered already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Annotated[
        Literal["released", "built", "strict"],
        Field(description="released: the study's sheets; built: made from BLEnD; strict: the same without options "
                          "that annotators of the target gave as well."),
    ] = "released"  # fmt: skip
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
        AtLeastOne | None, Field(description="Only so many questions of BLEnD, about all targets, drawn by --seed.")
    ] = None
    seed: Annotated[int, Field(description="What is drawn: questions, wrong options, their order.")] = 1
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    method: Annotated[
        tuple[Method, ...], Field(description="generated: the model writes; text: how probable each option is.")
    ] = (GENERATED,)
    prompt: Annotated[Path | None, Field(description="Wordings of yours (TOML), in place of ours.")] = None
    temperature: Annotated[float, Field(ge=0, allow_inf_nan=False, description="0: the likeliest answer.")] = 0.0
    max_tokens: Annotated[AtLeastOne, Field(description="Of an answer, its reasoning included.")] = 30
    table: Annotated[
        Literal["questions", "options", "published"] | None,
        Field(description="List one of the study's tables of the sheets; ask nothing."),
    ] = None
    attention: Annotated[
        tuple[Measure, ...],
        Field(description="Read how much the last token attends to each option, too: its weight, or the norm of the "
                          "weighted value. Of models whose attention can be read."),
    ] = ()  # fmt: skip
    check: Annotated[bool, Field(description="List what the files hold beside the published counts; ask nothing.")] = (
        False
    )


def study(asked: Asked, options: CultureMcqOptions) -> Study:
    """Asks the questions and reads the answers. Raises `DataSetError` without any question."""
    from polyculture.instruments.culture_mcq.attention_study import attending
    from polyculture.instruments.culture_mcq.opened import open_questions, some_questions, tell_left_out
    from polyculture.instruments.culture_mcq.prompts import read_prompts
    from polyculture.instruments.culture_mcq.rows import present_questions
    from polyculture.instruments.cultures.cultures import read_cultures

    if listing := checked(options):
        return Study(listing=lambda: listing)
    cultures = read_cultures(options.cultures)
    found = open_questions(options.mode, options.sheets, options.blend, cultures, options.seed)
    prompts = read_prompts(options.prompt)
    questions = some_questions(found, options.type, options.questions, options.seed)
    steps, setups, ids, jobs = _asking(asked, options, found.name, questions, prompts)
    reading_attention, own_setups, own_ids = attending(asked, options.attention, jobs)
    tell_left_out(found, asked.say)
    readers = _readers()

    def derive() -> None:
        from polyculture.instruments.culture_mcq.attention_tests import measure_attention
        from polyculture.instruments.culture_mcq.numbers import measure_culture_mcq

        measure_culture_mcq(asked.run, cultures.levels)
        measure_attention(asked.run)

    values = {"dataset": found.name, "model": list(asked.models)}
    return Study(
        [*steps, _reading_step(asked, readers), *reading_attention],
        Validity(
            setups | own_setups,
            ids | own_ids,
            partial(present_questions, asked.run, found.name, found.questions),
            f"data set {found.name!r}: not all that was asked is among its questions now",
            {reader.name: reader.reader_id for reader in readers},
        ),
        derive,
        (
            Shown(_OWN / "culture_mcq.sql", {**values, "part": ["overall", "level", "also given"]}),
            Shown(_OWN / "culture_mcq_tests.sql", values),
            *([Shown(_OWN / "culture_mcq_attention_tests.sql", values)] if options.attention else []),
        ),
        view="culture_mcq_answers, culture_mcq_attention" if options.attention else "culture_mcq_answers",
    )


def checked(options: CultureMcqOptions) -> Listing | None:
    """With --check, what the folders hold beside the published counts; with --table, a table of the sheets."""
    from polyculture.instruments.culture_mcq.check import CheckRow, check_blend, check_sheets, written
    from polyculture.instruments.culture_mcq.opened import open_blend, open_questions
    from polyculture.instruments.culture_mcq.paper_tables import sheet_table
    from polyculture.instruments.cultures.cultures import read_cultures

    if not options.check and options.table is None:
        return None
    cultures = read_cultures(options.cultures)
    if options.table is not None:
        found = open_questions("released", options.sheets, options.blend, cultures, options.seed)
        return sheet_table(options.table, found, cultures)
    rows: list[CheckRow] = []
    if options.sheets is not None or options.blend is None:
        found = open_questions("released", options.sheets, options.blend, cultures, options.seed)
        rows += check_sheets(found, cultures)
    if options.blend is not None:
        rows += check_blend(open_blend(options.blend, cultures), cultures)
    columns = ("what", "of", "found", "published", "agrees", "note")
    values = [(row.part, row.group, written(row.found), written(row.published), row.agrees, row.note) for row in rows]
    return Listing(columns, values)


Parts = tuple[list["Step[Any, Models]"], dict[str, Setup], dict[str, str], list["McqJob"]]


def _asking(
    asked: Asked,
    options: CultureMcqOptions,
    dataset: str,
    questions: Sequence[McqQuestion],
    prompts: Sequence[McqPrompt],
) -> Parts:
    """The steps that ask models, with the setups and wordings that are valid, and the steps' jobs."""
    from polyculture.instruments.choices.generation_step import GenerationStep
    from polyculture.instruments.choices.likelihood_step import LikelihoodStep
    from polyculture.instruments.culture_mcq.asking import prompt_id
    from polyculture.instruments.culture_mcq.reading import ScoreReader, WordReader
    from polyculture.instruments.culture_mcq.rows import MCQ_ANSWERS

    steps: list[Step[Any, Models]] = []
    setups: dict[str, Setup] = {}
    ids: dict[str, str] = {}
    all_jobs: list[McqJob] = []
    for method in dict.fromkeys(options.method):
        use = "answer" if method == GENERATED else "score"
        jobs: list[McqJob] = []
        for model in asked.models:
            setups[f"{use} {model}"] = setup = asked.setup(model, use)
            jobs += _jobs(asked, options, dataset, questions, prompts, method, model, setup)
        all_jobs += jobs
        decoding = jobs[0].decoding
        ids |= {
            f"{dataset} {method} {prompt.name}": prompt_id(prompt, method, decoding, asked.seed) for prompt in prompts
        }
        if method == GENERATED:
            steps.append(GenerationStep(MCQ_ANSWERS, jobs, WordReader()))
        else:
            steps.append(LikelihoodStep(method, MCQ_ANSWERS, jobs, ScoreReader("sum")))
    return steps, setups, ids, all_jobs


def _jobs(
    asked: Asked,
    options: CultureMcqOptions,
    dataset: str,
    questions: Sequence[McqQuestion],
    prompts: Sequence[McqPrompt],
    method: Method,
    model: str,
    setup: Setup,
) -> list[McqJob]:
    """A job per type of questions."""
    from polyculture.cache.manifest import setup_id
    from polyculture.cache.run_folder import Job
    from polyculture.generate.engines.base import Decoding
    from polyculture.instruments.culture_mcq.asking import McqJob
    from polyculture.instruments.culture_mcq.rows import LANGUAGE

    decoding = Decoding(options.temperature, top_p=1.0, top_k=None, max_tokens=options.max_tokens)
    ending = "" if method == GENERATED else f"-{method}"
    by_type: dict[str, list[McqQuestion]] = {}
    for one in questions:
        by_type.setdefault(one.question_type, []).append(one)
    return [
        McqJob(
            Job(model, LANGUAGE, f"{dataset}-{kind}{ending}"), dataset, method, setup_id(setup), some, prompts,
            decoding if method == GENERATED else None, asked.seed,
        )
        for kind, some in by_type.items()
    ]  # fmt: skip


def _readers() -> list[Reader[McqAnswerRow]]:
    """Who reads what is stored."""
    from polyculture.instruments.choices.likelihoods import RULES
    from polyculture.instruments.culture_mcq.reading import ScoreReader, WordReader

    scores: list[Reader[McqAnswerRow]] = [ScoreReader(rule) for rule in RULES]
    return [WordReader(), *scores]


def _reading_step(asked: Asked, readers: Sequence[Reader[McqAnswerRow]]) -> Step[Any, Models]:
    from polyculture.instruments.choices.reading_step import ReadingStep
    from polyculture.instruments.culture_mcq.reading import reading_row
    from polyculture.instruments.culture_mcq.rows import MCQ_ANSWERS, MCQ_READINGS

    return ReadingStep(asked.run, MCQ_ANSWERS, MCQ_READINGS, readers, reading_row)


def _needs(options: CultureMcqOptions) -> tuple[Capability[Any], ...]:
    """What its methods take, and attention where that is read; nothing where only the files' counts are listed."""
    from polyculture.generate.engines import ATTENDING

    if options.check or options.table is not None:
        return ()
    return (*needs_of(options.method), *([ATTENDING] if options.attention else []))


class CultureMcq:
    """What models take for usual in a culture, among the answers of others."""

    name = "culture_mcq"
    commands: Mapping[str, Command] = {
        "culture-mcq": Command(
            CultureMcqOptions,
            study,
            "polyculture culture-mcq exp.toml --sheets mcq_hard-negatives --questions 20",
            alone=checked,
            lists=lambda options: options.check or options.table is not None,
            needs=_needs,
        )
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.culture_mcq.attention_section import SECTION as ATTENTION
        from polyculture.instruments.culture_mcq.section import SECTIONS

        return (*SECTIONS, ATTENTION)


INSTRUMENT = CultureMcq()
