"""The page's opening: what was found, each model at a glance, a sentence, what it rests on, and the warnings."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.schema import tables_of_setups
from polyculture.cache.text.quantity import quantity
from polyculture.metrics.audit.names import ENGLISH_NAMES, error_sources, name_shares
from polyculture.metrics.audit.scores import audit_scores
from polyculture.metrics.limits import Limit, by_construction, limits
from polyculture.metrics.text_doubts import models_alike
from polyculture.metrics.text_selections import text_selections
from polyculture.reports.asked_about import country_lines, sentence
from polyculture.reports.dots import Dots, dots
from polyculture.reports.figures.asked_about import asked_about
from polyculture.reports.figures.figure import Figure
from polyculture.reports.findings import Findings, findings, target_lines
from polyculture.reports.headline import model_lines, totals
from polyculture.reports.health import Notice, notices, scarce_countries
from polyculture.reports.limits import ExtractionError, effects, extraction_error
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import Rows, count, share
from polyculture.reports.reading import RUN_FACTS, SQL
from polyculture.reports.section import ReportData
from polyculture.reports.sections import COMPARISONS, THIN
from polyculture.reports.texts import texts
from polyculture.reports.trust import Fact, trust

_ASKED = "SELECT DISTINCT language FROM {view}"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many texts, mentions and entities there are, as printed."""

    asked: str
    answered: str
    answered_share: str | None
    mentions: str
    linked_share: str | None
    entities: str
    models: int  # that wrote any


@dataclass(frozen=True, slots=True)
class Opening:
    """The context of the opening."""

    manifest: Manifest
    names: Names
    about_texts: bool
    totals: dict[str, int]
    counts: Counts
    picture: Figure | None  # where prompts name countries, and any item is linked
    picture_leads: bool  # it stands above the findings: it has a sentence of its own, or they have none
    findings: Findings
    targets: tuple[str, ...]  # what each target can tell
    dots: Dots
    trust: tuple[Fact, ...]
    notices: tuple[Notice, ...]
    limits: tuple[tuple[Limit, tuple[tuple[str, str], ...]], ...]  # with what each does to metrics, by name
    linked_by_construction: bool
    error: ExtractionError | None  # where nobody judged the run
    wordings: str | None  # '3 wordings, 2 names each'
    implied: tuple[str, ...]  # countries that only persons stand for
    languages: tuple[str, ...]  # that were asked: those of the texts, then those of the instruments
    asked: tuple[str, ...]  # how many of each: '7 models', '13 languages'
    judged: tuple[str, ...]  # precision and recall, as the run's judges found them
    named: str  # how many of the extractor's English names are right, as its audit found; empty without one
    name_errors: tuple[str, ...]  # with which error each language is corrected then
    scarce: str  # countries of which the snapshot has too few items of a topic; empty for none
    unnamed: str | None  # the share of links that rest on English names which nobody has judged; None: none do

    @property
    def title(self) -> str:
        """The page's title in a browser."""
        return f"{self.manifest.experiment} – Polyculture report"


def opening(data: ReportData) -> Opening:
    """The opening from what the store holds."""
    health = data.reading.rows(SQL / "health.sql")
    facts = totals(health)
    frame = data.frame(COMPARISONS)
    thin = data.frame(THIN).to_dict("records")
    judged = _judged(data) if facts.get("mentions") else ()
    numbers = data.reading.rows(SQL / "headline.sql")
    shown = picture(data) if facts.get("linked") else None
    says = shown is not None and shown.title != texts().figures["asked_about"].title
    found = findings(frame, data.names, text_selections(data.reading.store), within=says)
    [asked] = data.reading.rows(RUN_FACTS["asked"])
    entities: int = data.reading.rows(RUN_FACTS["entities"])[0]["entities"]
    return Opening(
        data.manifest,
        data.names,
        data.about_texts,
        facts,
        _counts(facts, entities, len({row["model"] for row in health if row["answered"]})),
        shown,
        not found.shown or says,
        found,
        target_lines(data.reading.rows(SQL / "targets.sql")),
        dots(
            numbers,
            data.reading.rows(SQL / "ranks.sql"),
            model_lines(numbers, health, data.manifest),
            data.manifest,
            data.names,
        ),
        trust(health, data.reading.rows(SQL / "items_without_country.sql"), thin, data.manifest, data.names),
        notices(health, data.names) if data.about_texts else (),
        tuple((limit, effects(limit)) for limit in limits(data.manifest)) if data.about_texts else (),
        by_construction(data.manifest),
        extraction_error(data.manifest) if data.manifest.extractor and not judged else None,
        wordings_and_names(asked["wordings"], asked["names"], asked["shared"]),
        implied_countries(data.reading.rows(RUN_FACTS["implied_countries"]), data.names),
        languages := asked_languages(data),
        _asked(data, languages),
        judged,
        named := _named(data),
        tuple(error_sources(data.reading.store).sentences(data.names.language)) if named else (),
        scarce_countries(data) if facts.get("linked") else "",
        None if judged or named else _by_english(data),
    )


def picture(data: ReportData) -> Figure | None:
    """Asked about a country, answered from where; None where no prompt names one, or origins are not known."""
    lines = data.once(country_lines)
    selections = text_selections(data.reading.store)
    said = sentence(lines, data.names, models_alike(data.reading.store), selections)
    return asked_about(lines, said, data.manifest, data.names, selections) if lines else None


def asked_languages(data: ReportData) -> tuple[str, ...]:
    """The languages that the page is about: those of the texts, where it is about texts, and those of the instruments.

    An instrument may ask in others than the experiment: those of its data set.
    """
    own = data.manifest.languages if data.about_texts else []
    tables = [table for table in tables_of_setups(data.layout) if "language" in table.columns]
    asked = (data.reading.store.sql(_ASKED.format(view=table.name)).fetchall() for table in tables)
    found = {language for rows in asked for (language,) in rows}
    return tuple(ordered(data.manifest.languages, {*own, *found})) or tuple(data.manifest.languages)


def _asked(data: ReportData, languages: tuple[str, ...]) -> tuple[str, ...]:
    """How many of each was asked, in words."""
    manifest = data.manifest
    sizes = [(manifest.models, "model", "models"), (languages, "language", "languages")]
    if data.about_texts:
        sizes += [(manifest.topics, "topic", "topics"), (manifest.countries, "country", "countries")]
        sizes += [(manifest.conditions, "kind of prompt", "kinds of prompts")]
    said = [quantity(len(found), one, many) for found, one, many in sizes if found]
    samples = f"{count(manifest.n)} {'sample' if manifest.n == 1 else 'samples'} of each prompt"
    told = "imported texts" if manifest.imported else samples
    return (*said, *([told] if data.about_texts else []))


def _judged(data: ReportData) -> tuple[str, ...]:
    """Precision and recall of the whole run from its judgements, as printed; empty where nobody judged."""
    shares = audit_scores(data.reading.store)
    whole = [one for one in shares if one.language is None and one.topic is None and one.of]
    return tuple(f"{one.what} {one.value:.2f} [{one.low:.2f}, {one.high:.2f}]" for one in whole)


def _named(data: ReportData) -> str:
    """The share of English names that are right on gold texts, as printed."""
    shares = name_shares(data.reading.store)
    found = [one for one in shares if one.language is None and one.what == ENGLISH_NAMES]
    return "".join(f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}] of {count(int(one.of))}" for one in found)


def _by_english(data: ReportData) -> str | None:
    [row] = data.reading.rows(RUN_FACTS["by_english"])
    return share(row["by_english"], row["linked"]) if row["by_english"] else None


def _counts(facts: dict[str, int], entities: int, models: int) -> Counts:
    asked, answered, mentions, linked = (facts.get(name, 0) for name in ("asked", "answered", "mentions", "linked"))
    return Counts(
        count(asked), count(answered), share(answered, asked), count(mentions), share(linked, mentions),
        count(entities), models,
    )  # fmt: skip


def wordings_and_names(wordings: int, names: int, shared: bool) -> str | None:
    """'3 wordings, 2 names each'; `shared` names are said to be so. None where nothing was asked.

    `names` is the number of persons of a country and sex in one wording; 0 says nothing of them.
    """
    if not wordings:
        return None
    said = quantity(wordings, "wording")
    if names:
        said += f", {quantity(names, 'name')} each"
    return f"{said} (wordings share names)" if shared else said


def implied_countries(rows: Rows, names: Names) -> tuple[str, ...]:
    """Each country of `sql/implied_countries.sql` with the languages whose prompts name persons of it."""
    found = []
    for country, group in groupby(rows, key=lambda row: str(row["country"])):
        languages = ", ".join(names.language(str(row["language"])) for row in group)
        found.append(f"{names.country(country)} (only by names of persons, in {languages})")
    return tuple(found)
