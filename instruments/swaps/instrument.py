"""Swapped entities as an instrument: `polyculture sentiment`, `qa` and `ner`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from polyculture.instruments.contract import Asked, Command, Demo, Idle, Shown, Study, Validity
from polyculture.instruments.datasets.opened import DatasetOptions, Names, changed_reason

if TYPE_CHECKING:
    import pyarrow as pa

    from polyculture.cache.layout import Table
    from polyculture.cache.worker import Step
    from polyculture.generate.engines import Capability
    from polyculture.generate.engines.models import Models
    from polyculture.instruments.datasets.model import DataSet
    from polyculture.instruments.swaps.asking import Asker, Questions
    from polyculture.instruments.swaps.classifiers import Labels
    from polyculture.instruments.swaps.selection import SwapJob
    from polyculture.instruments.swaps.step import Answerers
    from polyculture.reports.section import Section

_OWN = Path(__file__).parent
_RATES, _COUNTS, _WORDINGS = (_OWN / f"swap_{name}.sql" for name in ("rates", "counts", "wordings"))
AtLeastOne = Annotated[int, Field(ge=1)]
PRESET = "A paper's choices for all options that you do not give: docs/swaps.md."
IN_FILE: dict[str, Any] = {"in_file": True}
_FIELDS = {"schema": "schema_"}  # what files call an option -> its field: pydantic has a `schema` of its own
_NAMES = {field: name for name, field in _FIELDS.items()}
LabelFile = Annotated[Path | None, Field(description="What the model's labels mean: a TOML file of yours.")]


class SwapOptions(DatasetOptions):
    """The task that a command runs on texts with native and with Western entities."""

    task: ClassVar[str]

    preset: str
    model: Annotated[str | None, Field(description="Only this model of the experiment.")] = None
    setting: Annotated[Names, Field(description="Only these settings of the contexts.")] = ()
    contexts: Annotated[AtLeastOne | None, Field(description="At most so many of each type and setting.")] = None
    entities: Annotated[
        AtLeastOne, Field(description="Drawn for each context and culture; fewer where there are fewer.")
    ] = 50
    equal_sides: Annotated[
        bool, Field(description="Draw a side's entities again until it has as many texts.", json_schema_extra=IN_FILE)
    ] = False
    draws: Annotated[AtLeastOne, Field(description="How often they are drawn: the papers' runs.")] = 3
    temperature: Annotated[
        float, Field(ge=0, allow_inf_nan=False, description="0: the likeliest answer, asked once for all draws.")
    ] = 0.0
    top_p: Annotated[
        float, Field(gt=0, le=1, description="Sample from this share of the probability.", json_schema_extra=IN_FILE)
    ] = 1.0
    top_k: Annotated[
        AtLeastOne | None, Field(description="Sample from this many tokens.", json_schema_extra=IN_FILE)
    ] = None
    max_tokens: Annotated[
        AtLeastOne | None,
        Field(
            description="The limit of an answer. Default: 48 (sentiment), 64 (qa), 256 (ner).",
            json_schema_extra=IN_FILE,
        ),
    ] = None
    schema_: Annotated[
        Literal["on", "off"],
        Field(description="off: no JSON schema constrains the answer.", json_schema_extra=IN_FILE),
    ] = "on"
    ask: Annotated[str | None, Field(description="Ask in this language. Default: text, that of the text.")] = None
    prompts: Annotated[
        Path | None,
        Field(description="Prompts of your own: a folder with ja.toml, ..., or one file for texts of all languages."),
    ] = None

    @model_validator(mode="before")
    @classmethod
    def _behind(cls, values: Any) -> Any:
        """The values of the preset behind those that were said."""
        from polyculture.instruments.datasets.presets import with_preset

        if not isinstance(values, Mapping):
            return values
        said = {_NAMES.get(str(name), str(name)): value for name, value in values.items()}
        return {_FIELDS.get(name, name): value for name, value in with_preset(said, cls.task).items()}

    @property
    def said(self) -> dict[str, Any]:
        """The options as files call them."""
        return {_NAMES.get(name, name): value for name, value in self.model_dump().items()}


class EntityOptions(SwapOptions):
    """The tasks whose right answer is the entity."""

    unreadable: Annotated[
        Literal["wrong", "left-out"],
        Field(description="What an answer that cannot be read counts as in the table. Both are kept."),
    ] = "wrong"


class SentimentOptions(SwapOptions):
    """Label texts as positive, negative or neutral, with native and with Western entities in them.

    Which labels are wrong, and how much more often with entities of one culture. What is answered already stays.
    """

    task: ClassVar[str] = "sentiment"

    preset: Annotated[Literal["ours", "camel", "camellia"], Field(description=PRESET)] = "ours"
    pooled: Annotated[
        bool,
        Field(description="Print grounded and neutral contexts together. Both are kept.", json_schema_extra=IN_FILE),
    ] = False
    classifier: Annotated[str | None, Field(description="Ask this text classifier of transformers instead.")] = None
    labels: LabelFile = None


class QaOptions(EntityOptions):
    """Ask which entity a text names, with native and with Western entities in it.

    The answer counts if it is the entity, after normalisation. What is answered already stays.
    """

    task: ClassVar[str] = "qa"

    preset: Annotated[Literal["ours", "camellia"], Field(description=PRESET)] = "ours"
    wording: Annotated[
        str, Field(description="The wording of the question: standard, called, copy, or one of your prompts.")
    ] = "standard"


class NerOptions(EntityOptions):
    """Find the names in texts, with native and with Western entities in them.

    Precision, recall and F1 of the entity's exact span. What is answered already stays.
    """

    task: ClassVar[str] = "ner"

    preset: Annotated[Literal["ours", "camel"], Field(description=PRESET)] = "ours"
    tagger: Annotated[str | None, Field(description="Ask this token classifier of transformers instead.")] = None
    labels: LabelFile = None


def sentiment(asked: Asked, options: SentimentOptions) -> Study:
    """Labels texts by prompts, or with a classifier."""
    if options.classifier is None:
        return _prompted("sentiment", asked, options)
    return _labelled("sentiment", asked, options, options.classifier, options.labels)


def qa(asked: Asked, options: QaOptions) -> Study:
    """Asks for the entities of texts."""
    return _prompted("qa", asked, options)


def ner(asked: Asked, options: NerOptions) -> Study:
    """Finds names by prompts, or with a tagger."""
    if options.tagger is None:
        return _prompted("ner", asked, options)
    return _labelled("ner", asked, options, options.tagger, options.labels)


def _prompted(task: str, asked: Asked, options: SwapOptions) -> Study:
    """The experiment's models answer prompts."""
    from polyculture.instruments.swaps.asking import PROMPT
    from polyculture.instruments.swaps.step import prompted

    dataset = _open(task, asked, options)
    setups = {f"answer {model}": asked.setup(model, "answer") for model in asked.models}
    jobs = [job for model in asked.models for job in _jobs(task, asked, options, dataset, model, setups)]
    languages = {job.job.language for job in jobs}
    questions = {language: _questions(language, task, asked, options) for language in sorted(languages)}
    return _study(task, asked, dataset, PROMPT, jobs, prompted(questions), setups, options)


def _labelled(task: str, asked: Asked, options: SwapOptions, name: str, labels_file: Path | None) -> Study:
    """A classifier (sentiment) or tagger (ner) of transformers answers."""
    from polyculture.instruments.swaps.classifiers import CLASSIFIER, TAGGER, labels_id, read_labels
    from polyculture.instruments.swaps.step import Answerers

    labels, model = read_labels(labels_file), f"transformers:{name}"
    dataset, setups = _open(task, asked, options), {f"answer {model}": asked.setup(model, "answer")}
    jobs = _jobs(task, asked, options, dataset, model, setups)
    if task == "ner":
        jobs = _with_labels(asked, jobs, labels)
    method = TAGGER if task == "ner" else CLASSIFIER
    prompt_ids = {job.job.language: labels_id(method, labels) for job in jobs}
    opened = lru_cache(maxsize=1)(partial(_open_labeller, asked, model, labels, method))
    answerers = Answerers(prompt_ids, repeatable=True, open=lambda _swap, _models: opened())
    return _study(task, asked, dataset, method, jobs, answerers, setups, options)


def _study(
    task: str,
    asked: Asked,
    dataset: DataSet,
    method: str,
    jobs: Sequence[SwapJob],
    answerers: Answerers,
    setups: Mapping[str, Mapping[str, object]],
    options: SwapOptions,
) -> Study:
    """What the command does."""
    from polyculture.instruments.swaps.reading_step import ReadingStep, verdicts
    from polyculture.instruments.swaps.sizes import size_lines
    from polyculture.instruments.swaps.step import SwapStep

    def derive() -> None:
        from polyculture.instruments.swaps.measure import apart_lines, health_lines, measure_swaps

        for line in (*health_lines(measure_swaps(asked.run), task), *apart_lines(asked.run, task)):
            asked.say(line)

    if options.equal_sides:
        for line in size_lines(jobs, options):
            asked.say(line)
    models = tuple(dict.fromkeys(job.job.model for job in jobs))
    reads = answerers.reads
    steps: list[Step[Any, Models]] = [SwapStep(task, jobs, answerers)]
    if reads:  # first what is there, so that nothing of it counts as failed that can be read now
        asking = SwapStep(task, jobs, answerers, partial(verdicts, asked.run, reads))
        steps = [ReadingStep(asked.run, task, reads), asking]
    return Study(
        steps,
        Validity(
            setups,
            {f"{task} {method} {language}": prompt_id for language, prompt_id in answerers.prompt_ids.items()},
            partial(_tables, asked, dataset, jobs),
            changed_reason(dataset),
            {f"{task} {language}": one.reader_id for language, one in reads.items()},
        ),
        derive,
        tuple(_shown(task, options, models)),
        view="swap_answers",
    )


def _tables(asked: Asked, dataset: DataSet, jobs: Sequence[SwapJob]) -> dict[Table[Any], pa.Table]:
    """The data set as it is now, and what is drawn more than once of it."""
    from polyculture.instruments.datasets.present import present_tables
    from polyculture.instruments.swaps.rows import SWAP_REPEATS
    from polyculture.instruments.swaps.selection import repeats_table

    repeats = repeats_table(asked.run, jobs)
    return {**present_tables(asked.run, dataset), **({} if repeats is None else {SWAP_REPEATS: repeats})}


def _shown(task: str, options: SwapOptions, models: Sequence[str]) -> Iterator[Shown]:
    """The rates of each model; of sentiment the raw counts, of extraction what became of each wording."""
    pooled = isinstance(options, SentimentOptions) and options.pooled
    unreadable = options.unreadable if isinstance(options, EntityOptions) else "wrong"
    for model in models:
        yield Shown(_RATES, {"task": task, "unreadable": unreadable, "pooled": pooled, "model": model})
        if task == "sentiment":
            yield Shown(_COUNTS, {"pooled": pooled, "model": model})
    if task == "qa":
        yield Shown(_WORDINGS)


def _jobs(
    task: str,
    asked: Asked,
    options: SwapOptions,
    dataset: DataSet,
    model: str,
    setups: Mapping[str, Mapping[str, object]],
) -> list[SwapJob]:
    from polyculture.cache.manifest import setup_id
    from polyculture.instruments.swaps.selection import DrawOptions, swap_jobs

    selection = options.selection(options.setting, "causal", options.contexts, None)
    draws = DrawOptions(options.entities, options.draws, asked.seed, options.equal_sides)
    return swap_jobs(dataset, task, model, selection, draws, setup_id(setups[f"answer {model}"]), tell=asked.say)


def _open(task: str, asked: Asked, options: SwapOptions) -> DataSet:
    from polyculture.instruments.datasets.opened import without_sentiment
    from polyculture.instruments.datasets.presets import OURS, told

    dataset = options.opened(asked.say)
    if options.preset != OURS:
        asked.say(told(options.preset, task, options.said))
    lacking = without_sentiment(dataset) if task == "sentiment" else None
    if lacking:
        asked.say(lacking)
    return dataset


def _with_labels(asked: Asked, jobs: Sequence[SwapJob], labels: Labels) -> list[SwapJob]:
    """The jobs of types that a tagger has labels for; a line names the others."""
    from polyculture.cache.errors import DataSetError

    types = {job.asked[0][0].entity_type for job in jobs}
    without = sorted(types - labels.names.keys())
    told = f"no label of a name means {', '.join(without)}"
    if not types - set(without):
        raise DataSetError(told, remedy="Name labels in a file with --labels, or other types with --type.")
    if without:
        asked.say(f"{told}: left out; --labels may name some")
    return [job for job in jobs if job.asked[0][0].entity_type not in without]


def _open_labeller(asked: Asked, model: str, labels: Labels, method: str) -> Asker:
    from polyculture.generate.engines.transformers.labelling import open_classifier, open_tagger
    from polyculture.instruments.swaps.classifiers import CLASSIFIER, ClassifierAsker, TaggerAsker

    spec = asked.spec(model)
    if method == CLASSIFIER:
        return ClassifierAsker(open_classifier(spec), labels, model)
    return TaggerAsker(open_tagger(spec), labels)


def _questions(language: str, task: str, asked: Asked, options: SwapOptions) -> Questions:
    """The questions about texts in a language."""
    from polyculture.instruments.swaps.asked_prompts import preset_prompts, worded
    from polyculture.instruments.swaps.asking import TASKS, Questions
    from polyculture.instruments.swaps.prompts import STANDARD

    wording = options.wording if isinstance(options, QaOptions) else STANDARD
    found = worded(language, options.prompts, options.ask, preset_prompts(options.preset), wording)
    return Questions(
        TASKS[task],
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


def _demo(**sizes: int) -> Demo:
    """Minutes on two cores. English only: the demo's model was made for it, and is slow in other languages."""
    own = {"data": "own", "folder": _OWN / "demo", "language": ("en",), "entities": 3, "draws": 2, **sizes}
    help_ = "The embedded model, texts of our own; in swaps-demo/."
    return Demo(_OWN / "demo" / "swaps_demo.toml", "swaps-demo", help_, own, ("data", "folder", "english"))


_OF_PROMPTS = ("model", "temperature", "top_p", "top_k", "max_tokens", "schema", "schema_", "ask", "prompts")


def _idle(own: str) -> tuple[Idle, ...]:
    """What is idle beside a model of one's own, --classifier or --tagger, and without it."""
    return (
        Idle(
            _OF_PROMPTS, lambda o: getattr(o, own) is not None, f"is of models that are asked by prompts: not --{own}"
        ),
        Idle(("labels",), lambda o: getattr(o, own) is None, f"is of a --{own}"),
    )


def _needs(options: SwapOptions) -> tuple[Capability[Any], ...]:
    """Texts of the experiment's models; nothing of them where a classifier or tagger answers."""
    from polyculture.generate.engines import SAMPLING

    return () if getattr(options, "classifier", None) or getattr(options, "tagger", None) else (SAMPLING,)


class Swaps:
    """Models' answers about texts when the entity is swapped for one of another culture."""

    name = "swaps"
    commands: Mapping[str, Command] = {
        "sentiment": Command(
            SentimentOptions,
            sentiment,
            "polyculture sentiment exp.toml --data camellia --language ja --contexts 5 --entities 10",
            _demo(),
            tables=(_RATES, _COUNTS),
            needs=_needs,
            idle=_idle("classifier"),
        ),
        "qa": Command(
            QaOptions,
            qa,
            "polyculture qa exp.toml --data camellia --language ko --contexts 5 --entities 10",
            _demo(),
            tables=(_WORDINGS,),
            needs=_needs,
        ),
        "ner": Command(
            NerOptions,
            ner,
            "polyculture ner exp.toml --data camellia --type names --tagger Davlan/xlm-roberta-base-ner-hrl",
            _demo(contexts=2),
            needs=_needs,
            idle=_idle("tagger"),
        ),
    }

    def sections(self) -> Sequence[Section]:
        from polyculture.instruments.swaps.section import SECTIONS

        return SECTIONS


INSTRUMENT = Swaps()
