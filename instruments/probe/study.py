"""What `polyculture probe` does: the part of the questions that is asked, the jobs, and what follows their answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from polyculture.instruments.contract import AskedExperiment, PrintedTable
from polyculture.instruments.cultures.cultures import read_cultures
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.probe.arms import CONTROLS, LENT, PATCHED, Arm, missing_controls, unkept_lines
from polyculture.instruments.probe.asking import HOUSE, Lenders, ProbeJob, ProbeRules, read_inspection
from polyculture.instruments.probe.encoder import encoders_of
from polyculture.instruments.probe.flattening import FEWEST
from polyculture.instruments.probe.layout import PROBE, ProbedQuestion
from polyculture.instruments.probe.links import link_items
from polyculture.instruments.probe.measure import measure_probe, measure_similarities
from polyculture.instruments.probe.options import ProbeOptions
from polyculture.instruments.probe.questions import (
    as_probed,
    check_number,
    check_set,
    culture_of,
    named_cultures,
    present_questions,
)
from polyculture.instruments.probe.step import ProbingStep
from polyculture.instruments.probe.taggers import choose_taggers
from polyculture.instruments.questions.model import Question, QuestionSet
from polyculture.instruments.questions.selection import chosen_questions, tell_left_out

_FOLDER = Path(__file__).parent


def inquiry(asked: AskedExperiment, options: ProbeOptions) -> Inquiry[ProbeJob]:
    """Probes, filters, measures. Raises `DataSetError` without questions about three cultures."""
    chosen: dict[str, tuple[ProbedQuestion, Question]] = {}
    lenders: dict[tuple[str, str], Lenders] = {}
    for one in options.opened(asked.run.root):
        some, able = _part_of(asked, options, one)
        chosen |= some
        lenders |= able
    questions = [row for row, _ in chosen.values()]
    names = list(dict.fromkeys(row.dataset for row in questions))
    arms: tuple[Arm, ...] = (PATCHED, *dict.fromkeys(options.control))
    languages = sorted({one.language for one in questions})
    encoders = encoders_of(options.encoder, languages)
    if LENT in arms and not any(one.topic for one in questions):
        what = f"{', '.join(names)}: no question has a topic, by which {LENT} chooses vectors"
        raise DataSetError(what, remedy="Give the set's rules a facet topic, or leave this control out.")
    rules = _rules(options, languages)
    # All models are asked the same.
    jobs = _jobs(questions, arms, rules, lenders)
    if options.tagger == ("auto",) and (
        lacking := sorted(one for one, name in rules.taggers.items() if name == "rule")
    ):
        asked.warning(f"{', '.join(lacking)}: no spaCy model is installed, so content words are by the rule (--tagger)")

    def derive() -> None:
        measure_similarities(asked.run, encoders)
        if options.link:
            link_items(asked)
        measure_probe(asked.run, options.resamples, options.seed)
        _tell_lacking(asked)

    return Inquiry(
        lambda _model: jobs,
        lambda every: [ProbingStep(every, encoders.values(), lambda model: known_layers(asked.spec(model)))],
        lambda _jobs: present_questions(asked.run, chosen.values()),
        derive=derive,
        shown=(
            PrintedTable(_FOLDER / "flattening_matrix.sql", {"dataset": names, "model": list(asked.models)}),
            PrintedTable(_FOLDER / "arms_beside.sql", {"dataset": names, "model": list(asked.models)}),
        ),
        reason=f"{', '.join(names)}: not all that was asked before is asked now",
    )


def _part_of(
    asked: AskedExperiment, options: ProbeOptions, one: QuestionSet
) -> tuple[dict[str, tuple[ProbedQuestion, Question]], dict[tuple[str, str], Lenders]]:
    """The questions of a set that are asked; and by its name and a language, those whose vectors may be lent.

    Raises `DataSetError` of a set that cannot be probed, and of what it does not have.
    """
    cultures = read_cultures(options.cultures or one.cultures)
    check_set(one)
    named = named_cultures(one, options.culture, cultures)
    tell_left_out(one, asked.warning)

    def is_about(question: Question) -> bool:
        return culture_of(question) in named if named else bool(culture_of(question))

    some = chosen_questions(one, options, asked.seed, asked.info, is_about)
    chosen = as_probed(some, cultures)
    if len(chosen) < len(some):
        asked.warning(f"{one.name}: {len(some) - len(chosen)} questions have the unit and the culture of another one, "
                      "and are not asked")  # fmt: skip
    rows = [row for row, _ in chosen.values()]
    check_number(one, rows)
    _tell_few(asked, rows)
    # All questions about the chosen cultures: whatever part is asked, the same vectors are lent.
    there = {row.culture for row in rows}
    able = [row for row, _ in as_probed(one.questions, cultures).values() if row.culture in there]
    return chosen, {
        (one.name, language): Lenders([row for row in able if row.language == language], options.seed)
        for language in {row.language for row in rows}
    }


def _rules(options: ProbeOptions, languages: Sequence[str]) -> ProbeRules:
    inspection = read_inspection(options.inspection or HOUSE, options.item_tokens)
    answering = Decoding(0.0, top_p=1.0, top_k=None, max_tokens=options.answer_tokens)
    taggers = choose_taggers(options.tagger, set(languages))
    return ProbeRules(inspection, answering, options.protocol, options.seed, taggers)


def _jobs(
    questions: Sequence[ProbedQuestion],
    arms: Sequence[Arm],
    rules: ProbeRules,
    lenders: Mapping[tuple[str, str], Lenders],
) -> list[ProbeJob]:
    """A job per set, language and culture."""
    place = attrgetter("dataset", "language", "culture")
    return [
        ProbeJob(Job("", language, f"{dataset}-{culture}"), list(some), arms, rules, lenders[dataset, language])
        for (dataset, language, culture), some in groupby(sorted(questions, key=place), key=place)
    ]


def _tell_few(asked: AskedExperiment, questions: Sequence[ProbedQuestion]) -> None:
    """A line for languages in which too few cultures are asked about for a score."""
    cultures: dict[str, set[str]] = {}
    for one in questions:
        cultures.setdefault(one.language, set()).add(one.culture)
    few = sorted(language for language, names in cultures.items() if len(names) < FEWEST)
    if few:
        asked.warning(f"{', '.join(few)}: asked about fewer than {FEWEST} cultures; items, and no flattening score")


def _tell_lacking(asked: AskedExperiment) -> None:
    """A line for each filter that keeps no item of a culture, and one for controls without which scores say little."""
    with open_store(asked.run, compose(CORE, PROBE)) as store:
        for line in unkept_lines(store):
            asked.warning(line)
        arms = [arm for (arm,) in store.execute("SELECT DISTINCT arm FROM probes").fetchall()]
    if arms and (missing := missing_controls(arms)):
        what = "no control was run" if len(missing) == len(CONTROLS) else f"not run: {', '.join(missing)}"
        asked.warning(
            f"probe controls: {what}. The items may be the model's own words, not what a layer holds (--control)"
        )
