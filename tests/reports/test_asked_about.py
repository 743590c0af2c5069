"""The picture of the first page: its numbers are those of the store, and its sentence is borne by them or withheld."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.manifest import Manifest
from polyculture.cache.parquet import objects_to_table, write_parquet
from polyculture.cache.schema import WANTED_RESPONSES, WantedResponse
from polyculture.metrics import METRICS
from polyculture.metrics.inference.limits import Contrast, Estimate
from polyculture.reports.asked_about import CountryLine, ModelShare, _withheld, country_lines, sentence
from polyculture.reports.building import open_report
from polyculture.reports.figures.asked_about import asked_about
from polyculture.reports.names import Names
from polyculture.reports.opening import picture
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
    with open_report(kitchens(tmp_path_factory), None, METRICS, ()) as data:
        lines = country_lines(data.reading, data.manifest, data.names)
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
            assert one.contrast.value == pytest.approx(one.elsewhere.value - one.here.value)
    assert figure.title == sentence(lines, NAMES).says


def told(here: float, elsewhere: float, variance: float = 1e-4) -> ModelShare:
    a, b = (Estimate(value, variance, 200, 200, share=True) for value in (elsewhere, here))
    return ModelShare(b, a, Contrast(a, b, 2 * variance, 200), 300, 30, 150)


def line(country: str, other: str, *shares: tuple[float, float], withheld: str = "") -> CountryLine:
    models = {model: told(*share) for model, share in zip(MODELS, shares, strict=False)}
    return CountryLine(country, other, 5, models, models, ("sushi",), 12, withheld)


def test_the_sentence_names_the_other_country_where_every_model_is_told_apart() -> None:
    found = sentence([line("IT", "US", (0.1, 0.4), (0.12, 0.34)), line("JP", "US", (0.6, 0.1), (0.5, 0.1))], NAMES)
    assert found.told
    assert found.says.startswith("Asked about Italy, both models")
    assert found.says.endswith("34 to 40\u00a0% against 10 to 12\u00a0%")
    assert "600 linked items" in found.rests


def test_countries_are_told_apart_where_no_other_country_comes_up_more() -> None:
    found = sentence([line("IT", "US", (0.1, 0.1)), line("JP", "US", (0.6, 0.1))], NAMES)
    assert found.told
    assert (found.says.index("Japan") < found.says.index("Italy"), "60\u00a0%" in found.says) == (True, True)


@pytest.mark.parametrize(
    "lines",
    [
        [line("IT", "US", (0.1, 0.4), (0.4, 0.1))],  # models differ in which comes up more
        [line("IT", "US", (0.2, 0.22), (0.2, 0.22))],  # not told apart
        [line("IT", "US", (0.1, 0.4), (0.1, 0.4), withheld="unequal")],
        [replace(line("IT", "US", (0.2, 0.26)), others=10_000)],  # the most frequent of so many is no finding
        [replace(line("IT", "US", (0.1, 0.4)), answering={A: told(0.4, 0.1)})],  # not so without refusals
        [],
    ],
)  # fmt: skip
def test_no_sentence_is_written_that_the_numbers_do_not_bear(lines: list[CountryLine]) -> None:
    found = sentence(lines, NAMES)
    assert not found.told
    assert found.says.endswith("?")
    assert found.rests.startswith("No sentence")


COUNTS = {"places": 12, "places_asked": 12, "asked": 100, "answered": 100, "refused": 0, "repeating": 0}


@pytest.mark.parametrize(
    ("of_a", "of_b", "items", "reason"),
    [
        ({}, {}, 300, ""),
        ({}, {}, 9, "few"),
        ({"places": 5}, {"places": 5}, 300, "in_common"),
        ({}, {"answered": 94}, 300, "unequal"),
        ({"answered": 89}, {"answered": 89}, 300, "lost"),
        ({"refused": 11}, {}, 300, "lost"),
        ({}, {"repeating": 1}, 300, "repeated"),
    ],
)
def test_a_country_is_in_no_sentence_where_its_cells_are_few_unequal_or_refused(
    of_a: dict[str, int], of_b: dict[str, int], items: int, reason: str
) -> None:
    answers = [{**COUNTS, **of_a}, {**COUNTS, **of_b}]
    shares = {model: replace(told(0.1, 0.4), items=items) for model in MODELS}
    assert _withheld(answers, shares, shares, deterministic=False) == reason
    assert _withheld(answers, shares, shares, deterministic=True) == "deterministic"


def test_texts_that_repeat_one_another_give_no_interval_whatever_else_a_country_lacks() -> None:
    manifest = Manifest(
        experiment="x", polyculture="0", models=list(MODELS), countries=["JP"], languages=["en"], topics=["food"]
    )
    few = replace(line("JP", "US", (0.6, 0.1), (0.5, 0.1), withheld="few"), repeating=frozenset({A}))
    figure = asked_about([few], sentence([few], NAMES), manifest, NAMES)
    low = figure.rows[0][0].chart.frame.set_index("series")["low"]
    assert np.isnan(low[A])
    assert low[B] > 0, "a dot of a country in no sentence keeps its interval"


def test_no_difference_is_told_apart_in_few_of_many_worlds() -> None:
    """A simulation: 8 countries whose models name each of 6 countries at random. The sentence is then an error."""
    dice = np.random.default_rng(1)
    errors = 0
    for _ in range(60):
        lines = []
        for country in ("IT", "JP", "US", "ES", "FR", "DE", "KR", "IN"):
            models = {}
            counts = {model: dice.multinomial(120, [1 / 6] * 6) for model in MODELS}
            other = int(sum(counts.values())[1:].argmax()) + 1
            for model, own in counts.items():
                a, b = (
                    Estimate(own[at] / 120, (own[at] / 120) * (1 - own[at] / 120) / 119, 119, 120, share=True)
                    for at in (other, 0)
                )
                difference = a.value - b.value
                apart = (a.value + b.value - difference**2) / 119
                models[model] = ModelShare(b, a, Contrast(a, b, apart, 119), 120, 0, 120)
            lines.append(CountryLine(country, "MX", 5, models, models, (), 4, ""))
        errors += sentence(lines, NAMES).told
    assert errors <= 6


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
    with open_report(run, None, METRICS, ()) as data:
        [line] = country_lines(data.reading, data.manifest, data.names)
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
    with open_report(built.write(), None, METRICS, ()) as data:
        [line] = country_lines(data.reading, data.manifest, data.names)
    assert (line.other, line.others, line.models[A].here.value) == (None, 2, 0.5)


def test_the_reason_names_the_texts_that_are_too_few() -> None:
    """All texts are enough, those that answer are not: the count beside the dot is of all."""
    shares = {model: told(0.1, 0.4) for model in MODELS}
    answering = {A: shares[A], B: replace(shares[B], responses=9)}
    assert _withheld([COUNTS, COUNTS], shares, answering, deterministic=False) == "few_answering"


def test_a_model_that_wrote_what_another_wrote_is_no_further_model(tmp_path: Path) -> None:
    """Texts under two names were counted as evidence of "all models", as was a model that named nothing."""
    built = StoreBuilder(tmp_path / "run", models=["a:one", "a:twin", "b:two", "b:mute"], countries=("JP",), n=30)
    prompt = built.ask("en", "food", "JP")
    for model in built.models:
        for sample in range(30):
            text = f"{sample} {'one' if model == 'a:twin' else model.partition(':')[2]}"
            built.answer(prompt, [] if model == "b:mute" else ["taco"], model=model, sample=sample, text=text)
    built.link("taco", "Q1")
    built.entity("Q1", "taco", MX="P495")
    built.know()
    with open_report(built.write(), None, METRICS, ()) as data:
        figure = picture(data)
    assert figure.title.startswith("Asked about Japan, 2 of 4 models name more from Mexico")
    assert "60 linked items in 60 responses" in figure.caption
    assert figure.caption.endswith(
        "Not counted: twin (most of its texts are those of one, word for word), mute (no linked item)."
    )
