"""What the commands on swapped entities do: the texts, who answers about them, and what is measured and shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from polyculture.cache.errors import DataSetError
from polyculture.cache.store.run_folder import Job
from polyculture.cache.written_paths import name_in
from polyculture.instruments.contract import AskedExperiment, PrintedTable
from polyculture.instruments.datasets.english import ENGLISH
from polyculture.instruments.datasets.opened import changed_reason, without_sentiment
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.presets import OURS, told
from polyculture.instruments.declared import Inquiry
from polyculture.instruments.swaps.asking import SwapJob, SwapProtocol, SwapQuestions
from polyculture.instruments.swaps.classifiers import CLASSIFIER, TAGGER, LabelledTexts, Labels, read_labels
from polyculture.instruments.swaps.layout import COUNTS, RATES
from polyculture.instruments.swaps.measure import apart_lines, health_lines, measure_swaps
from polyculture.instruments.swaps.options import EntityOptions, SentimentOptions, SwapOptions
from polyculture.instruments.swaps.prompts import preset_prompts, worded
from polyculture.instruments.swaps.selection import DrawOptions, SwapTexts, swap_texts
from polyculture.instruments.swaps.step import SwapReadingStep, SwapStep, wanted_tables
from polyculture.instruments.swaps.tasks import TASKS
from polyculture.metrics.measured import read_numbers


def size_lines(texts: Sequence[SwapTexts], task: str, entities: int) -> Iterator[str]:
    """A line per language: contexts x entities, the size of a side in a draw."""
    sizes: Counter[str] = Counter()
    for one in texts:
        sizes[one.language] += len(one.drawn)
    for language, contexts in sorted(sizes.items()):
        side = f"{contexts:,} contexts x {entities} = {contexts * entities:,} texts a side"
        yield f"{task} {language}: {side} in each draw"


def inquiry(asked: AskedExperiment, options: SwapOptions) -> Inquiry[SwapJob]:
    """The task by prompts to the experiment's models, or by a classifier or tagger. Raises `DataSetError`."""
    dataset = options.opened(asked.warning)
    if options.preset != OURS:
        asked.info(told(options.preset, options.task, options.model_dump()))
    lacking = without_sentiment(dataset) if options.task == "sentiment" else None
    if lacking:
        asked.warning(lacking)
    own = options.own_model
    models = asked.models
    if own is not None:
        folder = asked.spec(f"transformers:{own.name}").folder
        models = (f"transformers:{name_in(own.name, folder)}",)
    selection = replace(options.selection("causal"), entities=None)
    draws = DrawOptions(options.entities, options.draws, asked.seed, options.equal_sides)
    # Drawn once: all models are asked about the same texts, and a line says once what is left out.
    texts = swap_texts(dataset, options.task, selection, draws, tell=asked.warning)
    by_language: dict[str, SwapProtocol]
    if own is None:
        by_language = {language: _questions(language, asked, options) for language in _languages(texts)}
        others = ", ".join(language for language in by_language if language != ENGLISH)
        if others and options.prompts is None:
            line = f"prompts in English ask about texts in {others}; `prompts` under [{options.task}] names your own"
            asked.info(line)
    else:
        labels, method = read_labels(own.labels), TAGGER if options.task == "ner" else CLASSIFIER
        texts = _with_labels(asked, texts, labels) if method == TAGGER else texts
        labelled = LabelledTexts(options.task, method, labels, asked.spec(models[0]), asked.seed)
        by_language = dict.fromkeys(_languages(texts), labelled)
    jobs = [SwapJob(Job("", one.language, one.topic), one, by_language[one.language]) for one in texts]
    for line in size_lines(texts, options.task, options.entities) if options.equal_sides else ():
        asked.info(line)

    def derive() -> None:
        measure_swaps(asked.run, options.task)
        for line in health_lines(read_numbers(asked.run, options.task), options.task, models):
            asked.warning(line)
        for line in apart_lines(asked.run, options.task, models):
            asked.warning(line)

    reading = SwapReadingStep(asked.run, options.task, dataset, by_language)
    setup = None if own is None else asked.setup(models[0], "answer")
    return Inquiry(
        (lambda _model: jobs) if setup is None else [job.of_model(models[0], setup) for job in jobs],
        lambda jobs: [SwapStep(options.task, jobs), reading],
        data=lambda _jobs: present_tables(asked.run, dataset),
        requests=partial(wanted_tables, asked.run, options.task),
        derive=derive,
        shown=tuple(_shown(options, models)),
        reason=changed_reason(dataset),
    )


def _languages(texts: Sequence[SwapTexts]) -> list[str]:
    return sorted({one.language for one in texts})


def _questions(language: str, asked: AskedExperiment, options: SwapOptions) -> SwapQuestions:
    """The questions about texts in a language."""
    found = worded(language, options.task, options.prompts, preset_prompts(options.preset))
    return SwapQuestions(
        TASKS[options.task],
        language,
        found.prompts,
        found.words,
        options.temperature,
        asked.seed,
        top_p=options.top_p,
        top_k=options.top_k,
        limit=options.max_tokens,
        constrained=options.json_schema,
        wording=found.wording,
        shared=found.shared,
    )


def _with_labels(asked: AskedExperiment, texts: Sequence[SwapTexts], labels: Labels) -> list[SwapTexts]:
    """The texts of types that a tagger has labels for; a line names the others."""
    types = {one.entity_type for one in texts}
    without = sorted(types - labels.names.keys())
    lacking = f"no label of a name means {', '.join(without)}"
    if not types - set(without):
        raise DataSetError(
            lacking, remedy="Name a file that has some (labels = 'FILE' under [ner]), or other types with --type."
        )
    if without:
        asked.warning(f"{lacking}: left out; a file of labels may name some")
    return [one for one in texts if one.entity_type not in without]


def _shown(options: SwapOptions, models: Sequence[str]) -> Iterator[PrintedTable]:
    """The rates of each model; of sentiment the raw counts."""
    pooled = isinstance(options, SentimentOptions) and options.pooled
    unreadable = options.unreadable if isinstance(options, EntityOptions) else None
    for model in models:
        yield PrintedTable(RATES, {"task": options.task, "unreadable": unreadable, "pooled": pooled, "model": model})
        if options.task == "sentiment":
            yield PrintedTable(COUNTS, {"pooled": pooled, "model": model})
