"""What the commands on swapped entities do: the texts, who answers about them, and what is measured and shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from polyculture.cache.errors import DataSetError
from polyculture.cache.manifest import setup_id
from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
from polyculture.instruments.contract import Asked, Shown, Study, Validity
from polyculture.instruments.datasets.opened import changed_reason, without_sentiment
from polyculture.instruments.datasets.present import present_tables
from polyculture.instruments.datasets.presets import OURS, told
from polyculture.instruments.swaps.asked_prompts import preset_prompts, worded
from polyculture.instruments.swaps.asking import PROMPT, TASKS, Asker, Questions
from polyculture.instruments.swaps.classifiers import (
    CLASSIFIER,
    TAGGER,
    ClassifierAsker,
    Labels,
    TaggerAsker,
    labels_id,
    read_labels,
)
from polyculture.instruments.swaps.measure import apart_lines, health_lines, measure_swaps
from polyculture.instruments.swaps.options import (
    COUNTS,
    RATES,
    WORDINGS,
    EntityOptions,
    QaOptions,
    SentimentOptions,
    SwapOptions,
)
from polyculture.instruments.swaps.prompts import STANDARD
from polyculture.instruments.swaps.reading_step import ReadingStep, verdicts
from polyculture.instruments.swaps.rows import SWAP_REPEATS
from polyculture.instruments.swaps.selection import DrawOptions, SwapJob, repeats_table, swap_jobs
from polyculture.instruments.swaps.sizes import size_lines
from polyculture.instruments.swaps.step import Answerers, SwapStep, prompted

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.layout import Table
    from polyculture.cache.worker import Step
    from polyculture.generate.engines.models import Models
    from polyculture.instruments.datasets.model import DataSet


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
    jobs = [job for model, setup in setups.items() for job in _jobs(asked, options, dataset, model, setup)]
    if own is None:
        method, answerers = PROMPT, _prompted(asked, options, jobs)
    else:
        labels, method = read_labels(own.labels), TAGGER if options.task == "ner" else CLASSIFIER
        jobs = _with_labels(asked, jobs, labels) if method == TAGGER else jobs
        answerers = _labelled(asked, jobs, models[0], labels, method)
    return _of_jobs(asked, options, dataset, jobs, method, answerers, setups)


def _jobs(
    asked: Asked, options: SwapOptions, dataset: DataSet, model: str, setup: Mapping[str, object]
) -> list[SwapJob]:
    selection = options.selection(options.setting, "causal", options.contexts, None)
    draws = DrawOptions(options.entities, options.draws, asked.seed, options.equal_sides)
    return swap_jobs(dataset, options.task, model, selection, draws, setup_id(setup), tell=asked.say)


def _prompted(asked: Asked, options: SwapOptions, jobs: Sequence[SwapJob]) -> Answerers:
    """The experiment's models answer prompts."""
    languages = sorted({job.job.language for job in jobs})
    return prompted({language: _questions(language, asked, options) for language in languages})


def _questions(language: str, asked: Asked, options: SwapOptions) -> Questions:
    """The questions about texts in a language."""
    wording = options.wording if isinstance(options, QaOptions) else STANDARD
    found = worded(language, options.prompts, options.ask, preset_prompts(options.preset), wording)
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
        raise DataSetError(lacking, remedy="Name labels in a file with --labels, or other types with --type.")
    if without:
        asked.say(f"{lacking}: left out; --labels may name some")
    return [job for job in jobs if job.asked[0][0].entity_type not in without]


def _labelled(asked: Asked, jobs: Sequence[SwapJob], model: str, labels: Labels, method: str) -> Answerers:
    """A classifier (sentiment) or tagger (ner) of transformers answers; opened once for all jobs."""

    @cache
    def opened() -> Asker:
        spec = asked.spec(model)
        if method == CLASSIFIER:
            return ClassifierAsker(open_classifier(spec), labels, model)
        return TaggerAsker(open_tagger(spec), labels)

    prompt_ids = {job.job.language: labels_id(method, labels) for job in jobs}
    return Answerers(prompt_ids, repeatable=True, open=lambda _swap, _models: opened())


def _of_jobs(
    asked: Asked,
    options: SwapOptions,
    dataset: DataSet,
    jobs: Sequence[SwapJob],
    method: str,
    answerers: Answerers,
    setups: Mapping[str, Mapping[str, object]],
) -> Study:
    task, reads = options.task, answerers.reads

    def derive() -> None:
        for line in (*health_lines(measure_swaps(asked.run), task), *apart_lines(asked.run, task)):
            asked.say(line)

    if options.equal_sides:
        for line in size_lines(jobs, options):
            asked.say(line)
    models = tuple(dict.fromkeys(job.job.model for job in jobs))
    steps: list[Step[Any, Models]] = [SwapStep(task, jobs, answerers)]
    if reads:  # first what is there, so that nothing of it counts as failed that can be read now
        asking = SwapStep(task, jobs, answerers, partial(verdicts, asked.run, reads))
        steps = [ReadingStep(asked.run, task, reads), asking]
    return Study(
        steps,
        Validity(
            {f"answer {model}": setup for model, setup in setups.items()},
            {f"{task} {method} {language}": prompt_id for language, prompt_id in answerers.prompt_ids.items()},
            partial(_tables, asked, dataset, jobs),
            changed_reason(dataset),
            {f"{task} {language}": one.reader_id for language, one in reads.items()},
        ),
        derive,
        tuple(_shown(options, models)),
        view="swap_answers",
    )


def _tables(asked: Asked, dataset: DataSet, jobs: Sequence[SwapJob]) -> dict[Table[Any], pa.Table]:
    """The data set as it is now, and what is drawn more than once of it."""
    repeats = repeats_table(asked.run, jobs)
    return {**present_tables(asked.run, dataset), **({} if repeats is None else {SWAP_REPEATS: repeats})}


def _shown(options: SwapOptions, models: Sequence[str]) -> Iterator[Shown]:
    """The rates of each model; of sentiment the raw counts, of extraction what became of each wording."""
    pooled = isinstance(options, SentimentOptions) and options.pooled
    unreadable = options.unreadable if isinstance(options, EntityOptions) else "wrong"
    for model in models:
        yield Shown(RATES, {"task": options.task, "unreadable": unreadable, "pooled": pooled, "model": model})
        if options.task == "sentiment":
            yield Shown(COUNTS, {"pooled": pooled, "model": model})
    if options.task == "qa":
        yield Shown(WORDINGS)
