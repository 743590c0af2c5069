"""What the commands on swapped entities do: the texts, who answers about them, and what is measured and shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from polyculture.cache.errors import DataSetError
from polyculture.instruments.contract import Asked, Shown, Study, Validity
from polyculture.instruments.datasets.opened import changed_reason, without_sentiment
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.presets import OURS, parts_of, read_preset, told
from polyculture.instruments.swaps.asking import TASKS, Asking, Questions
from polyculture.instruments.swaps.classifiers import CLASSIFIER, TAGGER, LabelledTexts, Labels, read_labels
from polyculture.instruments.swaps.instrument import COUNTS, RATES, EntityOptions, SentimentOptions, SwapOptions
from polyculture.instruments.swaps.measure import apart_lines, health_lines, measure_swaps
from polyculture.instruments.swaps.prompts import preset_prompts, worded
from polyculture.instruments.swaps.selection import DrawOptions, SwapJob, swap_jobs
from polyculture.instruments.swaps.step import ReadingStep, SwapStep, wanted_tables
from polyculture.metrics.measured import read_numbers
from polyculture.published.cells import NONE, PublishedCell, published


def size_lines(jobs: Sequence[SwapJob], options: SwapOptions) -> Iterator[str]:
    """A line per language: contexts x entities; where all of a protocol is asked, also what the paper prints."""
    of_one = [job for job in jobs if job.job.model == jobs[0].job.model]
    whole = _is_whole(options)
    for language in sorted({job.job.language for job in of_one}):
        contexts = [context for job in of_one if job.job.language == language for context, _ in job.asked]
        size = len(contexts) * options.entities
        told = f"{options.task} {language}: {len(contexts):,} contexts x {options.entities} = {size:,} texts a side"
        settings = sorted({context.setting for context in contexts})
        cells = _printed(options.preset, language, settings) if whole else []
        yield f"{told} in each draw{''.join(_beside(cell, size) for cell in cells)}"


def _is_whole(options: SwapOptions) -> bool:
    """Is all of a paper's protocol asked?"""
    if options.preset == OURS:
        return False
    choices, values = read_preset(options.preset).choices(options.task), options.said
    changed = any(values[name] != choices[name].value for name in ("data", "entities", "as_published"))
    return not changed and not set(parts_of(choices, values)) - {"language", "culture"}


def _printed(paper: str, language: str, settings: Sequence[str]) -> list[PublishedCell]:
    """What the paper prints of the texts in these settings."""
    condition = ", ".join(settings)
    cells = (cell for cell in published(paper) if cell.metric == "texts" and cell.language == language)
    return [cell for cell in cells if cell.condition == condition]


def _beside(cell: PublishedCell, size: int) -> str:
    gap = int(cell.value) - size
    if not gap:
        return f", as Table {cell.table} prints"
    note = "" if cell.note == NONE else f"; {cell.note}"
    return f"; Table {cell.table} prints {int(cell.value):,}, {abs(gap):,} {'more' if gap > 0 else 'fewer'}{note}"


def study(asked: Asked, options: SwapOptions) -> Study:
    """The task by prompts to the experiment's models, or by a classifier or tagger. Raises `DataSetError`."""
    dataset = options.opened(asked.say)
    if options.preset != OURS:
        asked.say(told(options.preset, options.task, options.said))
    lacking = without_sentiment(dataset) if options.task == "sentiment" else None
    if lacking:
        asked.say(lacking)
    own = options.own_model
    models = asked.models if own is None else [f"transformers:{own.name}"]
    setups = {model: asked.setup(model, "answer") for model in models}
    selection = replace(options.selection("causal"), entities=None)
    draws = DrawOptions(options.entities, options.draws, asked.seed, options.equal_sides)
    # Drawn once: all models are asked about the same texts, and what is left out is told once.
    drawn = swap_jobs(dataset, options.task, "", selection, draws, tell=asked.say)
    jobs = [
        replace(one, job=replace(one.job, model=model), setup=setup) for model, setup in setups.items() for one in drawn
    ]
    by_language: dict[str, Asking]
    if own is None:
        by_language = {language: _questions(language, asked, options) for language in _languages(jobs)}
    else:
        labels, method = read_labels(own.labels), TAGGER if options.task == "ner" else CLASSIFIER
        jobs = _with_labels(asked, jobs, labels) if method == TAGGER else jobs
        labelled = LabelledTexts(options.task, method, labels, asked.spec(models[0]), asked.seed)
        by_language = dict.fromkeys(_languages(jobs), labelled)
    if options.equal_sides:
        for line in size_lines(jobs, options):
            asked.say(line)

    def derive() -> None:
        measure_swaps(asked.run, options.task)
        for line in health_lines(read_numbers(asked.run, options.task), options.task, models):
            asked.say(line)
        for line in apart_lines(asked.run, options.task, models):
            asked.say(line)

    return Study(
        [
            SwapStep(options.task, jobs, by_language),
            ReadingStep(asked.run, options.task, dataset, by_language),
        ],
        Validity(
            {f"answer {model}": setup for model, setup in setups.items()},
            {_place(one, language): one.question.asked_id for language, one in by_language.items()},
            lambda: {**present_tables(asked.run, dataset), **wanted_tables(asked.run, options.task, jobs, by_language)},
            changed_reason(dataset),
            {_place(one, language): one.reader.reader_id for language, one in by_language.items()},
        ),
        derive,
        tuple(_shown(options, models)),
        view="swap_answers",
    )


def _place(asking: Asking, language: str) -> str:
    """What is asked: as in `answers.sql`."""
    return f"{asking.question.task} {asking.question.answer_method} {language}"


def _languages(jobs: Sequence[SwapJob]) -> list[str]:
    return sorted({job.job.language for job in jobs})


def _questions(language: str, asked: Asked, options: SwapOptions) -> Questions:
    """The questions about texts in a language."""
    found = worded(language, options.prompts, options.ask, preset_prompts(options.preset))
    return Questions(
        TASKS[options.task],
        found.prompts,
        found.own,
        options.temperature,
        asked.seed,
        top_p=options.top_p,
        top_k=options.top_k,
        limit=options.max_tokens,
        constrained=options.schema_ == "on",
        wording=found.wording,
        named=found.named,
    )


def _with_labels(asked: Asked, jobs: Sequence[SwapJob], labels: Labels) -> list[SwapJob]:
    """The jobs of types that a tagger has labels for; a line names the others."""
    types = {job.asked[0][0].entity_type for job in jobs}
    without = sorted(types - labels.names.keys())
    lacking = f"no label of a name means {', '.join(without)}"
    if not types - set(without):
        raise DataSetError(
            lacking, remedy="Name a file that has some (labels = 'FILE' under [ner]), or other types with --type."
        )
    if without:
        asked.say(f"{lacking}: left out; a file of labels may name some")
    return [job for job in jobs if job.asked[0][0].entity_type not in without]


def _shown(options: SwapOptions, models: Sequence[str]) -> Iterator[Shown]:
    """The rates of each model; of sentiment the raw counts."""
    pooled = isinstance(options, SentimentOptions) and options.pooled
    unreadable = options.unreadable if isinstance(options, EntityOptions) else "wrong"
    for model in models:
        yield Shown(RATES, {"task": options.task, "unreadable": unreadable, "pooled": pooled, "model": model})
        if options.task == "sentiment":
            yield Shown(COUNTS, {"pooled": pooled, "model": model})
