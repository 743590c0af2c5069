"""The picture of the first page: its numbers are those of the store, and its sentence is borne by them or withheld."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.store.linked import SNAPSHOT_LINKS, SnapshotLink
from polyculture.cache.store.manifest import Manifest
from polyculture.cache.store.parquet import objects_to_table, write_parquet
from polyculture.cache.store.schema import WANTED_RESPONSES, WantedResponse
from polyculture.metrics import METRICS_LAYOUT
from polyculture.metrics.inference.limits import Estimate
from polyculture.reports.asked_about import CountryLine, ModelShare, _withheld, country_lines, sentence
from polyculture.reports.building import open_report
from polyculture.reports.figures.asked_about import asked_about
from polyculture.reports.names import Names
from polyculture.reports.opening import picture
from polyculture.reports.reading import Reading, Sql
from polyculture.reports.sections import ASKED_ABOUT
from tests.report_run import MODELS, kitchens
from tests.store_builder import StoreBuilder, request_of

NAMES = Names(read_catalog(), MODELS)
A, B = MODELS

# Share of the country, by cell, from the tables themselves: what is linked in a response, once.
ORACLE = """
SELECT r.model, r.country, r.language, r.topic, r.wording, count(DISTINCT (r.response_id, r.prompt_id, l.qid)) AS items,
    count(DISTINCT (r.response_id, r.prompt_id, l.qid)) FILTER (c.qid IS NOT NULL) AS here
FROM (SELECT r.*, p.wording FROM responses AS r JOIN prompts AS p USING (prompt_id)) AS r
JOIN mentions AS m ON m.response_id = r.response_id AND m.prompt_id = r.prompt_id AND m.counted AND NOT m.hallucinated
JOIN links AS l ON m.query = l.query AND l.status = 'linked'
LEFT JOIN (SELECT DISTINCT qid, country FROM entity_countries) AS c ON c.qid = l.qid AND c.country = r.country
WHERE r.condition = 'explicit'
GROUP BY ALL
"""


def test_a_dot_is_the_mean_share_over_the_cells_that_all_models_have(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    with open_report(kitchens(tmp_path_factory), None, METRICS_LAYOUT, ()) as data:
        lines = country_lines(data)
        cells = data.reading.frame(ORACLE)
        figure = picture(data)
    cells["share"] = cells["here"] / cells["items"]
    table = cells.pivot_table(index=["country", "language", "topic", "wording"], columns="model", values="share")
    means = table.dropna().groupby("country").mean()
    assert len(lines) == len(means) > 3
    for line in lines:
        assert line.cells == len(table.dropna().loc[line.country])
        assert {model: one.here.value for model, one in line.models.items()} == pytest.approx(
            dict(means.loc[line.country]), abs=1e-6
        )
        for one in line.models.values():
            low, high = one.here.interval()
            assert low < one.here.value < high
    assert figure.title == sentence(lines, NAMES).says


def told(
    here: float, elsewhere: float = 0.1, variance: float = 1e-4, items: int = 300, nowhere: int = 30
) -> ModelShare:
    a, b = (Estimate(value, variance, 200, 200, share=True) for value in (elsewhere, here))
    return ModelShare(b, a, items, nowhere, 150)


def line(country: str, *shares: float, withheld: str = "", **more: Any) -> CountryLine:
    models = {model: told(share) for model, share in zip(MODELS, shares, strict=False)}
    return CountryLine(country, "US", models, models, ("sushi",), 12, withheld, **more)


def test_the_sentence_is_about_two_models_within_the_country_where_they_differ_most() -> None:
    found = sentence([line("IT", 0.3, 0.4), line("JP", 0.6, 0.45), line("MX", 0.1, 0.1)], NAMES)
    assert found.told
    assert found.says == (
        "Asked about Japan, Qwen2.5-7B-Instruct names things from there more often than smollm2: "
        "60\u00a0% against 45\u00a0% of the linked items"
    )
    assert "600 linked items" in found.rests
    assert "10\u00a0% of these items have no known country" in found.rests


@pytest.mark.parametrize("coverage", [(0.14, 0.66), (0.68, 0.12)])
def test_no_sentence_compares_countries_whatever_a_snapshot_knows_of_them(coverage: tuple[float, float]) -> None:
    """True shares of .6: with the starter it was "asked about Egypt", with a larger snapshot "asked about India"."""
    found = sentence(
        [line(country, share, share) for country, share in zip(("EG", "IN"), coverage, strict=True)], NAMES
    )
    assert (found.told, found.says[-1]) == (False, "?")
    alone = sentence([line("EG", coverage[0]), line("IN", coverage[1])], NAMES)
    assert (alone.told, "only one model" in alone.rests) == (False, True), "one model has no other"


def test_a_sentence_that_a_further_snapshot_turns_is_not_written() -> None:
    turned, kept = ({"new": {A: (here, 0.1), B: (0.4, 0.1)}} for here in (0.35, 0.5))
    assert not sentence([line("IT", 0.6, 0.4, snapshots=turned)], NAMES).told
    found = sentence([line("IT", 0.6, 0.4, snapshots=kept)], NAMES)
    assert found.told
    assert "With the links of new it is 50\u00a0% against 40\u00a0%" in found.rests


@pytest.mark.parametrize(
    "lines",
    [
        [line("IT", 0.4, 0.42)],  # not told apart
        [line("IT", 0.1, 0.4, withheld="unequal")],
        [replace(line("IT", 0.1, 0.4), answering={A: told(0.4), B: told(0.1)})],  # not so without refusals
        [],
    ],
)  # fmt: skip
def test_no_sentence_is_written_that_the_numbers_do_not_bear(lines: list[CountryLine]) -> None:
    found = sentence(lines, NAMES)
    assert not found.told
    assert found.says.endswith("?")
    assert found.rests.startswith("No sentence")


COUNTS = {"places": 12, "places_asked": 12, "asked": 100, "answered": 100, "refused": 0}


@pytest.mark.parametrize(
    ("of_a", "of_b", "items", "reason"),
    [
        ({}, {}, 300, ""),
        ({}, {}, 9, "few"),
        ({"places": 5}, {"places": 5}, 300, "in_common"),
        ({}, {"answered": 94}, 300, "unequal"),
        ({"answered": 89}, {"answered": 89}, 300, "lost"),
        ({"refused": 11}, {}, 300, "lost"),
    ],
)
def test_a_country_is_in_no_sentence_where_its_cells_are_few_unequal_or_refused(
    of_a: dict[str, int], of_b: dict[str, int], items: int, reason: str
) -> None:
    answers = [{**COUNTS, **of_a}, {**COUNTS, **of_b}]
    shares = {model: replace(told(0.4), items=items) for model in MODELS}
    assert _withheld(answers, shares, shares, deterministic=False, scarce=False) == reason
    assert _withheld(answers, shares, shares, deterministic=True, scarce=False) == "deterministic"


def test_a_country_in_no_sentence_keeps_its_intervals() -> None:
    manifest = Manifest(
        experiment="x", polyculture="0", models=list(MODELS), countries=["JP"], languages=["en"], topics=["food"]
    )
    few = line("JP", 0.6, 0.5, withheld="few")
    figure = asked_about([few], sentence([few], NAMES), manifest, NAMES)
    low = figure.rows[0][0].chart.frame.set_index("series")["low"]
    assert (low > 0).all()


def test_of_many_countries_the_picture_has_twelve_and_a_search_the_others() -> None:
    codes = [*read_catalog().countries][:15]
    lines = [
        replace(one, models={model: replace(share, items=100 + number) for model, share in one.models.items()})
        for number, one in enumerate(line(code, 0.3, 0.4) for code in codes)
    ]
    manifest = Manifest(experiment="e", polyculture="0", models=list(MODELS), countries=codes)
    said = replace(sentence([], NAMES), country=codes[0])  # it has the fewest items, and the sentence
    figure = asked_about(lines, said, manifest, NAMES)
    [[panel]] = figure.rows
    shown = {mark.place["country"] for mark in panel.chart.frame["mark"]}
    assert shown == {codes[0], *codes[4:]}
    assert [one.title for one in figure.folded] == [NAMES.country(code) for code in codes]
    assert [one.title for one in figure.folded if not one.drawn_above] == [NAMES.country(code) for code in codes[1:4]]
    assert "12 countries of 15" in figure.fold
    assert not asked_about(lines[:12], said, manifest, NAMES).folded


def test_models_that_do_not_differ_are_told_apart_in_few_of_many_worlds() -> None:
    """A simulation: 8 countries of which a snapshot knows 5 to 60 %, two models alike in each: a sentence is wrong."""
    dice = np.random.default_rng(1)
    errors, found_differences = 0, 0
    for _ in range(100):
        lines = {0.0: [], 0.17: []}
        for country, share in zip(
            ("IT", "JP", "US", "ES", "FR", "DE", "KR", "IN"), np.linspace(0.05, 0.6, 8), strict=True
        ):
            for shift, own in lines.items():
                shares = {}
                for model, extra in zip(MODELS, (0.0, shift if country == "US" else 0.0), strict=True):
                    value = dice.binomial(240, share + extra) / 240
                    one = Estimate(value, value * (1 - value) / 239, 239, 240, share=True)
                    shares[model] = ModelShare(one, one, 240, 0, 120)
                own.append(CountryLine(country, "MX", shares, shares, (), 4, ""))
        errors += sentence(lines[0.0], NAMES).told
        found_differences += sentence(lines[0.17], NAMES).says.startswith(f"Asked about {NAMES.country('US')}, smollm2")
    assert errors <= 10
    assert found_differences >= 70


def test_a_model_with_languages_of_its_own_takes_no_cell_from_the_others(tmp_path: Path) -> None:
    """A country that one model was asked about in one of three languages lacked two cells in three."""
    built = StoreBuilder(tmp_path / "run", models=list(MODELS), countries=("JP",), n=12)
    wanted = []
    for language in ("en", "ja", "th"):
        prompt = built.ask(language, "food", "JP")
        for model in MODELS if language == "en" else MODELS[:1]:
            wanted.append(WantedResponse(request_of(model, prompt.prompt_id), 12, model, prompt.prompt_id))
            for sample in range(12):
                built.answer(prompt, ["sushi"], model=model, sample=sample, text=f"{sample} sushi")
    built.link("sushi", "Q46383")
    built.entity("Q46383", "sushi", JP="P495")
    built.know()
    run = built.write()
    write_parquet(objects_to_table(WANTED_RESPONSES, wanted), run.table("wanted_responses"))
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        [line] = country_lines(data)
        figure = picture(data)
    assert (line.country, line.cells, set(line.models), line.withheld) == ("JP", 1, set(MODELS), "")
    assert "in English." in figure.details, "the languages of cells in common are not said"


def test_of_two_other_countries_that_come_up_equally_often_none_is_named(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "run", models=[A], countries=("JP",), n=12)
    prompt = built.ask("en", "food", "JP")
    for sample in range(12):
        built.answer(prompt, ["sushi", "ramen"], model=A, sample=sample, text=f"{sample} sushi and ramen")
    for name, qid, codes in (("sushi", "Q46383", {"JP": "P495"}), ("ramen", "Q1", {"KR": "P495", "CN": "P495"})):
        built.link(name, qid)
        built.entity(qid, name, **codes)
    built.know()
    with open_report(built.write(), None, METRICS_LAYOUT, ()) as data:
        [line] = country_lines(data)
    assert (line.other, line.models[A].here.value) == (None, 0.5)


def test_the_reason_names_the_texts_that_are_too_few() -> None:
    """All texts are enough, those that answer are not: the count beside the dot is of all."""
    shares = {model: told(0.4) for model in MODELS}
    answering = {A: shares[A], B: replace(shares[B], responses=9)}
    assert _withheld([COUNTS, COUNTS], shares, answering, deterministic=False, scarce=False) == "few_answering"
    assert _withheld([COUNTS, COUNTS], shares, answering, deterministic=False, scarce=True) == "scarce"


def test_a_model_that_wrote_what_another_wrote_is_no_further_model(tmp_path: Path) -> None:
    """Texts under two names were counted as evidence of "all models", as was a model that named nothing."""
    built = StoreBuilder(tmp_path / "run", models=["a:one", "a:twin", "b:two", "b:mute"], countries=("JP",), n=30)
    prompt = built.ask("en", "food", "JP")
    for model in built.models:
        for sample in range(30):
            text = f"{sample} {'one' if model == 'a:twin' else model.partition(':')[2]}"
            named = [] if model == "b:mute" else ["sushi"] if model == "b:two" or sample % 3 == 0 else ["taco"]
            built.answer(prompt, named, model=model, sample=sample, text=text)
    for name, qid, code in (("taco", "Q1", "MX"), ("sushi", "Q2", "JP")):
        built.link(name, qid)
        built.entity(qid, name, **{code: "P495"})
    built.know()
    with open_report(built.write(), None, METRICS_LAYOUT, ()) as data:
        figure = picture(data)
    assert figure.title.startswith("Asked about Japan, two names things from there more often than one: 100\u00a0%")
    assert "60 linked items of both models in 60 responses" in figure.caption
    assert figure.caption.endswith(
        "Not counted: twin (most of its texts are those of one, word for word), mute (no linked item)."
    )


def test_beside_a_country_stands_what_is_of_no_country_and_what_a_further_snapshot_changes(tmp_path: Path) -> None:
    built = StoreBuilder(tmp_path / "run", models=[A], countries=("JP",), n=12)
    prompt = built.ask("en", "food", "JP")
    for sample in range(12):
        built.answer(prompt, ["sushi", "stew"], model=A, sample=sample, text=f"{sample} sushi and stew")
    for name, qid, codes in (("sushi", "Q1", {"JP": "P495"}), ("stew", "Q2", {})):
        built.link(name, qid)
        built.entity(qid, name, **codes)
    built.know()
    run = built.write()
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        links = data.reading.rows("SELECT * EXCLUDE (qid), qid FROM links")
        [line] = country_lines(data)
        page = picture(data)
    assert (line.models[A].here.value, line.nowhere) == (0.5, 0.5)
    assert "With the links of" not in page.details
    known = {name: row[name] for row in links[:1] for name in ("language", "topic")}
    more = [
        SnapshotLink("newer", "abc", None, row["query"], **known, kind="dish", surface=row["surface"], status="linked",
                     qid=row["qid"], countries=["JP"], merged=[])
        for row in links
    ]  # fmt: skip
    write_parquet(objects_to_table(SNAPSHOT_LINKS, more), run.table(SNAPSHOT_LINKS.name))
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        [line] = country_lines(data)
        page = picture(data)
    assert line.snapshots == {"newer": {A: (1.0, 0.0)}}
    assert "With the links of newer" in page.details
    assert "Japan 100 % (before: 50 %), without a country 0 %" in page.details


def test_the_picture_and_its_table_are_computed_once_and_agree(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, queries, rows = kitchens(tmp_path_factory), list[str](), Reading.rows

    def counted(self: Reading, sql: Sql, **values: Any) -> list[dict[str, Any]]:
        queries.append(str(sql))
        return rows(self, sql, **values)

    monkeypatch.setattr(Reading, "rows", counted)
    with open_report(run, None, METRICS_LAYOUT, ()) as data:
        figure, table = picture(data), data.frame(ASKED_ABOUT)
        lines = data.once(country_lines)
    assert figure is not None
    assert sum(query.startswith("-- responses: a row is so many") for query in queries) == 1
    found = {(row["country"], row["model"]): row for row in table.to_dict("records")}
    assert found.keys() == {(line.country, model) for line in lines for model in line.models}
    for line in lines:
        for model, one in line.models.items():
            row = found[line.country, model]
            assert (row["share"], row["items"], row["cells"]) == (one.here.value, one.items, line.cells)
            assert (row["low"], row["high"]) == line.interval(model)


def test_a_run_that_names_no_country_has_an_empty_table(tmp_path: Path) -> None:
    builder = StoreBuilder(tmp_path / "runs" / "one", models=MODELS, n=1)
    prompt = builder.ask("en", "food", None)
    for model in MODELS:
        builder.answer(prompt, ["ramen"], model=model, sample=0)
    builder.link("ramen", "Q234646")
    builder.entity("Q234646", JP="P495")
    with open_report(builder.write(), None, METRICS_LAYOUT, ()) as data:
        table = data.frame(ASKED_ABOUT)
        assert picture(data) is None
        assert ASKED_ABOUT.declared.filtered(data.reading.store.from_df(table), {"country": "JP"}).fetchall() == []
    assert len(table) == 0
    assert set(table.columns) == {"country", "model", *ASKED_ABOUT.declared.header.columns}
