"""What `polyculture probe` does: the part of the questions that is asked, the jobs, and what follows their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.layout import compose
from polyculture.cache.store.run_folder import Job
from polyculture.cache.store.schema import CORE
from polyculture.cache.store.store import open_store
from polyculture.generate.engines import known_layers
from polyculture.generate.engines.base import Decoding
from polyculture.instruments.contract import Asked, Shown, Study, Validity
from polyculture.instruments.probe.arms import CONTROLS, LENT, PATCHED, Arm, missing_controls, unkept_lines
from polyculture.instruments.probe.asking import HOUSE, Lenders, ProbeJob, ProbeRules, read_inspection
from polyculture.instruments.probe.encoder import encoders_of
from polyculture.instruments.probe.flattening import FEWEST
from polyculture.instruments.probe.layout import ASKED, PROBE
from polyculture.instruments.probe.options import ProbeOptions
from polyculture.instruments.probe.published import LOCAL, Opened, open_published, open_table
from polyculture.instruments.probe.questions import OpenQuestion, choose, present_questions
from polyculture.instruments.probe.step import ProbingStep
from polyculture.instruments.probe.taggers import choose_taggers

_FOLDER = Path(__file__).parent


def study(asked: Asked, options: ProbeOptions) -> Study:
    """Probes, filters, measures. Raises `DataSetError` without questions about three cultures."""
    opened = _opened(options)
    cultures = tuple(opened.culture(name) for name in options.culture)
    named = () if options.data == "blend" and LOCAL in options.language else options.language  # no language of its own
    chosen = choose(opened.where, opened.questions, cultures, named, options.per_culture, options.seed)
    dataset = opened.dataset
    _tell_few(asked, chosen)
    arms: tuple[Arm, ...] = (PATCHED, *dict.fromkeys(options.control))
    languages = sorted({one.language for one in chosen})
    encoders = encoders_of(options.encoder, languages)
    lenders = _lenders(dataset, opened.questions, chosen, options.seed)
    if LENT in arms and not any(one.topic for one in chosen):
        what = f"has no topics, by which {LENT} chooses vectors"
        raise DataSetError(what, where=opened.where, remedy="Give the table a column topic, or leave this control out.")
    jobs = [job for model in asked.models for job in _jobs(asked, options, dataset, chosen, arms, lenders, model)]
    rules = jobs[0].rules
    rows = {
        f"{ASKED} {dataset} {arm} {language}": (arm, language)
        for arm in (PATCHED, *CONTROLS)  # one of other rules is no control of this probe
        for language in languages
    }
    for line in opened.told:
        asked.warning(line)
    if options.tagger == ("auto",) and (
        lacking := sorted(one for one, name in rules.taggers.items() if name == "rule")
    ):
        asked.warning(f"{', '.join(lacking)}: no spaCy model is installed, so content words are by the rule (--tagger)")

    def derive() -> None:
        from polyculture.instruments.probe.measure import measure_probe, measure_similarities

        measure_similarities(asked.run, encoders)
        if options.link:
            from polyculture.instruments.probe.links import link_items

            link_items(asked)
        measure_probe(asked.run, options.resamples, options.seed)
        _tell_lacking(asked)

    return Study(
        (ProbingStep(jobs, encoders.values(), lambda model: known_layers(asked.spec(model))),),
        Validity(
            {f"patch {model}": asked.setup(model, "patch") for model in asked.models},
            {key: rules.asked_id(arm, language) for key, (arm, language) in rows.items()},
            partial(present_questions, asked.run, dataset, chosen, [one for job in jobs for one in job.wanted()]),
            f"questions {dataset!r}: not all that was asked before is asked now",
            settings={key: rules.settings(arm, language) for key, (arm, language) in rows.items()},
        ),
        derive,
        (
            Shown(_FOLDER / "flattening_matrix.sql", {"dataset": dataset, "model": list(asked.models)}),
            Shown(_FOLDER / "arms_beside.sql", {"dataset": dataset, "model": list(asked.models)}),
        ),
    )


def _opened(options: ProbeOptions) -> Opened:
    """The questions that options name. Raises `DataSetError` where they name none, or two sources."""
    if options.questions is not None and options.data is None:
        return open_table(options.questions, options.cultures)
    if options.data is not None and options.questions is None:
        return open_published(options.data, options.folder, options.language, options.cultures)
    what = "a probe has nothing to ask" if options.data is None else "a probe asks a table or published data"
    raise DataSetError(what, remedy="Give either --questions FILE, or --data: see docs/probe.md.")


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
    inspection = read_inspection(options.inspection or HOUSE, options.item_tokens)
    answering = Decoding(0.0, top_p=1.0, top_k=None, max_tokens=options.answer_tokens)
    taggers = choose_taggers(options.tagger, {one.language for one in questions})
    rules = ProbeRules(inspection, answering, options.protocol, options.seed, taggers)
    setup = asked.setup(model, "patch")
    place = attrgetter("language", "culture")
    return [
        ProbeJob(
            Job(model, language, f"{dataset}-{culture}"), dataset, list(some), arms, rules, lenders[language], setup
        )
        for (language, culture), some in groupby(sorted(questions, key=place), key=place)
    ]


def _tell_few(asked: Asked, questions: Sequence[OpenQuestion]) -> None:
    """A line for languages in which too few cultures are asked about for a score."""
    cultures: dict[str, set[str]] = {}
    for one in questions:
        cultures.setdefault(one.language, set()).add(one.culture)
    few = sorted(language for language, names in cultures.items() if len(names) < FEWEST)
    if few:
        asked.warning(f"{', '.join(few)}: asked about fewer than {FEWEST} cultures; items, and no flattening score")


def _lenders(
    dataset: str, everything: Sequence[OpenQuestion], chosen: Sequence[OpenQuestion], seed: int
) -> dict[str, Lenders]:
    """Per language, all questions about the chosen cultures: whatever part is asked, the same vectors are lent."""
    cultures = {one.culture for one in chosen}
    able: dict[str, list[OpenQuestion]] = {one.language: [] for one in chosen}
    for one in everything:
        if one.language in able and one.culture in cultures:
            able[one.language].append(one)
    return {language: Lenders(dataset, some, seed) for language, some in able.items()}


def _tell_lacking(asked: Asked) -> None:
    """A line for each filter that keeps no item of a culture, and one for controls without which scores say little."""
    with open_store(asked.run, compose(CORE, PROBE)) as store:
        for line in unkept_lines(store):
            asked.warning(line)
        missing = missing_controls(arm for (arm,) in store.execute("SELECT DISTINCT arm FROM probes").fetchall())
    if missing:
        what = "no control was run" if len(missing) == len(CONTROLS) else f"not run: {', '.join(missing)}"
        asked.warning(
            f"probe controls: {what}. The items may be the model's own words, not what a layer holds (--control)"
        )
