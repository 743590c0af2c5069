"""Probing as an instrument: `polyculture probe exp.toml --data blend`, or `--questions FILE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from polyculture.instruments.contract import Asked, AtLeastOne, Command, Shown, Study, Validity, in_file
from polyculture.instruments.probe.arms import Control, Protocol
from polyculture.instruments.probe.attention.command import AttentionOptions
from polyculture.instruments.probe.attention.command import study as attention_study

if TYPE_CHECKING:
    from polyculture.instruments.probe.arms import Arm
    from polyculture.instruments.probe.asking import ProbeJob
    from polyculture.instruments.probe.lenders import Lenders
    from polyculture.instruments.probe.published import Opened
    from polyculture.instruments.probe.questions import OpenQuestion

_OWN = Path(__file__).parent
Names = tuple[str, ...]


class ProbeOptions(BaseModel):
    """Read what a model's layers hold of cultures, and how far one culture's leans on another's (flattening).

    The model answers open questions. Each layer's state of the answer's content words takes the place of a
    placeholder's, and what the model then writes is split into items. What is probed already stays.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    questions: Annotated[
        Path | None, Field(description="A table of tabs: question_id, culture, language, question, and topic if any.")
    ] = None
    data: Annotated[
        Literal["blend", "camel2", "culturescope"] | None,
        Field(description="Published questions, in place of a table: BLEnD, CAMeL-2, or the study's released sheets."),
    ] = None
    folder: Annotated[Path | None, Field(description="The folder of the data set, if it was not fetched.")] = None
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    culture: Annotated[Names, Field(description="Only these cultures, three at least.")] = ()
    language: Annotated[
        Names, Field(description="Only these asking languages; of BLEnD also local: each culture in its own.")
    ] = ()
    per_culture: Annotated[
        AtLeastOne | None, Field(description="So many question ids, drawn by the seed jointly for all cultures.")
    ] = None
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
    seed: Annotated[int, in_file("Of subset, noise and draws.", ge=0)] = 1


def study(asked: Asked, options: ProbeOptions) -> Study:
    """Probes, filters, measures. Raises `DataSetError` without questions about three cultures."""
    from polyculture.instruments.probe.arms import CONTROLS, PATCHED
    from polyculture.instruments.probe.encoder import encoders_of
    from polyculture.instruments.probe.layout import ASKED
    from polyculture.instruments.probe.questions import present_questions
    from polyculture.instruments.probe.step import ProbingStep

    opened = _opened(options)
    dataset, chosen = opened.dataset, _chosen(opened, options)
    _tell_few(asked, chosen)
    arms: tuple[Arm, ...] = (PATCHED, *dict.fromkeys(options.control))
    languages = sorted({one.language for one in chosen})
    encoders = encoders_of(options.encoder, languages)
    lenders = _lenders(dataset, opened.questions, chosen, options.seed)
    _check_topics(opened.where, chosen, arms)
    jobs = [job for model in asked.models for job in _jobs(asked, options, dataset, chosen, arms, lenders, model)]
    rules = jobs[0].rules
    for line in opened.told:
        asked.say(line)
    if options.tagger == ("auto",) and (
        lacking := sorted(one for one, name in rules.taggers.items() if name == "rule")
    ):
        asked.say(f"{', '.join(lacking)}: no spaCy model is installed, so content words are by the rule (--tagger)")

    def derive() -> None:
        from polyculture.instruments.probe.measure import measure_probe, measure_similarities

        measure_similarities(asked.run, encoders)
        if options.link:
            from polyculture.instruments.probe.links import link_items

            link_items(asked)
        measure_probe(asked.run, options.resamples, options.seed)
        _tell_lacking(asked)

    return Study(
        (ProbingStep(jobs, encoders.values()),),
        Validity(
            {f"patch {model}": asked.setup(model, "patch") for model in asked.models},
            {
                f"{ASKED} {dataset} {arm} {language}": rules.asked_id(arm, language)
                for arm in (PATCHED, *CONTROLS)  # one of other rules is no control of this probe
                for language in languages
            },
            partial(present_questions, asked.run, dataset, chosen, [one for job in jobs for one in job.wanted()]),
            f"questions {dataset!r}: not all that was asked before is asked now",
        ),
        derive,
        (
            Shown(_OWN / "flattening_matrix.sql", {"dataset": dataset, "model": list(asked.models)}),
            Shown(_OWN / "arms_beside.sql", {"dataset": dataset, "model": list(asked.models)}),
        ),
        view="probes",
    )


def _opened(options: ProbeOptions) -> Opened:
    """The questions that options name. Raises `DataSetError` where they name none, or two sources."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.probe.published import open_published, open_table

    if options.questions is not None and options.data is not None:
        raise DataSetError("a probe asks a table or published data", remedy="Give either --questions or --data.")
    if options.questions is not None:
        return open_table(options.questions, options.cultures)
    if options.data is None:
        remedy = (
            "Name published data with --data, or a table of open questions with --questions FILE: see docs/probe.md."
        )
        raise DataSetError("a probe has nothing to ask", remedy=remedy)
    return open_published(options.data, options.folder, options.language, options.cultures)


def _chosen(opened: Opened, options: ProbeOptions) -> list[OpenQuestion]:
    """The part of the questions that options name; 'local' is no language of its own."""
    from polyculture.instruments.probe.published import LOCAL
    from polyculture.instruments.probe.questions import Part, choose

    cultures = tuple(opened.culture(name) for name in options.culture)
    languages = () if options.data == "blend" and LOCAL in options.language else options.language
    part = Part(cultures, languages, options.per_culture, options.seed)
    return choose(opened.where, opened.questions, part)


def _jobs(
    asked: Asked,
    options: ProbeOptions,
    dataset: str,
    questions: Sequence[OpenQuestion],
    arms: Sequence[Arm],
    lenders: Mapping[str, Lenders],
    model: str,
) -> list[ProbeJob]:
    """A job per language and culture."""
    from polyculture.cache.run_folder import Job
    from polyculture.generate.engines.base import Decoding
    from polyculture.instruments.probe.asking import HOUSE, ProbeJob, ProbeRules, read_inspection
    from polyculture.instruments.probe.taggers import choose_taggers

    inspection = read_inspection(options.inspection or HOUSE, options.item_tokens)
    answering = Decoding(0.0, top_p=1.0, top_k=None, max_tokens=options.answer_tokens)
    taggers = choose_taggers(options.tagger, {one.language for one in questions})
    rules = ProbeRules(inspection, answering, options.protocol, options.seed, taggers)
    setup = asked.setup(model, "patch")
    ordered = sorted(questions, key=_place)
    return [
        ProbeJob(
            Job(model, language, f"{dataset}-{culture}"), dataset, list(some), arms, rules, lenders[language], setup
        )
        for (language, culture), some in groupby(ordered, key=_place)
    ]


def _place(one: OpenQuestion) -> tuple[str, str]:
    return one.language, one.culture


def _tell_few(asked: Asked, questions: Sequence[OpenQuestion]) -> None:
    """A line for languages in which too few cultures are asked about for a score."""
    from polyculture.instruments.probe.flattening import FEWEST

    cultures: dict[str, set[str]] = {}
    for one in questions:
        cultures.setdefault(one.language, set()).add(one.culture)
    few = sorted(language for language, names in cultures.items() if len(names) < FEWEST)
    if few:
        asked.say(f"{', '.join(few)}: asked about fewer than {FEWEST} cultures; items, and no flattening score")


def _lenders(
    dataset: str, everything: Sequence[OpenQuestion], chosen: Sequence[OpenQuestion], seed: int
) -> dict[str, Lenders]:
    """Per language, all questions about the chosen cultures: whatever part is asked, the same vectors are lent."""
    from polyculture.instruments.probe.lenders import Lenders

    cultures = {one.culture for one in chosen}
    able: dict[str, list[OpenQuestion]] = {one.language: [] for one in chosen}
    for one in everything:
        if one.language in able and one.culture in cultures:
            able[one.language].append(one)
    return {language: Lenders(dataset, some, seed) for language, some in able.items()}


def _check_topics(file: Path, questions: Sequence[OpenQuestion], arms: Sequence[Arm]) -> None:
    """Raises `DataSetError` where vectors are to be lent by topic and no question has one."""
    from polyculture.cache.errors import DataSetError
    from polyculture.instruments.probe.arms import LENT

    if LENT in arms and not any(one.topic for one in questions):
        what = f"has no topics, by which {LENT} chooses vectors"
        raise DataSetError(what, where=file, remedy="Give the table a column topic, or leave this control out.")


def _tell_lacking(asked: Asked) -> None:
    """A line for each filter that keeps no item of a culture, and one for controls without which scores say little."""
    from polyculture.cache.layout import compose
    from polyculture.cache.schema import CORE
    from polyculture.cache.store import open_store
    from polyculture.instruments.probe.arms import CONTROLS, missing_controls, unkept_lines
    from polyculture.instruments.probe.layout import PROBE

    with open_store(asked.run, compose(CORE, PROBE)) as store:
        for line in unkept_lines(store):
            asked.say(line)
        missing = missing_controls(arm for (arm,) in store.execute("SELECT DISTINCT arm FROM probes").fetchall())
    if missing:
        what = "no control was run" if len(missing) == len(CONTROLS) else f"not run: {', '.join(missing)}"
        asked.say(f"probe controls: {what}. The items may be the model's own words, not what a layer holds (--control)")


COMMANDS: Mapping[str, Command] = {
    "probe": Command(
        ProbeOptions,
        study,
        "polyculture probe exp.toml --data blend --folder BLEnD/data --per-culture 50 --control noise",
        tables=(_OWN / "entity_knowledge.sql",),
        needs=lambda _: ("patch",),
    ),
    "attention": Command(
        AttentionOptions,
        attention_study,
        "polyculture probe attention culture-mcq exp.toml --folder mcq_hard-negatives --units 20",
        argument="set",
        needs=lambda _: ("attend",),
    ),
}
