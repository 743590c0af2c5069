"""CAMeL (Naous et al. 2024): totals, averages, differences, and numbers that are printed twice."""

from __future__ import annotations

from collections.abc import Iterator

from tests.published.identities import Identity, at, linear, mean, same, slips, total


def identities_of_the_paper() -> Iterator[Identity]:
    two, five, six = at("camel", "2"), at("camel", "5"), at("camel", "6")
    text = at("camel", "text")
    for aspect, _ in (key for key in two if key[1] == "#Targets"):
        yield total(two[aspect, "#Targets"], [two[aspect, "Arab"], two[aspect, "Western"]])
        yield same(six[aspect, "Total"], two[aspect, "#Targets"])
        for side in ("Arab", "Western"):
            yield same(two[aspect, side], six[aspect, f"Total {side}"])
        parts = [part for part in ("Wikidata", "OSCAR", "Total") if (aspect, part) in six]
        for part in parts:
            yield total(six[aspect, part], [six[aspect, f"{part} Arab"], six[aspect, f"{part} Western"]])
        for side in ("", " Arab", " Western"):
            yield total(
                six[aspect, f"Total{side}"], [six[aspect, part + side] for part in parts[:-1]], "sum of sources"
            )
    yield total(text["3.1", "targets"], [cell for (_, column), cell in two.items() if column == "#Targets"])
    yield same(text["3.1", "Arab dishes of Wikidata"], six["Food", "Wikidata Arab"])
    names = {aspect.casefold(): aspect for aspect, _ in five}
    for (aspect, column), cell in at("camel", "1").items():
        yield same(cell, five[names[aspect.casefold()], f"CAMEL-Co {column}"])
    for column in dict.fromkeys(column for _, column in five):
        yield total(five["Total", column], [one for key, one in five.items() if key[1] == column and key[0] != "Total"])
    for (aspect, column), cell in five.items():
        if column.endswith("#Prompts") and aspect not in ("Religion", "Total"):  # prompts of religion have no label
            version = column.partition(" ")[0]
            yield total(cell, [five[aspect, f"{version} {label}"] for label in ("pos", "neg", "neut")])
    for label, short in (("prompts", "#Prompts"), ("positive", "pos"), ("negative", "neg"), ("neutral", "neut")):
        yield same(text["3.2", label], five["Total", f"CAMEL-Co {short}"])
    scores = ("Nam (F)", "Nam (M)", "Food", "Clo (M)", "Clo (F)", "Loc", "Lit", "Bev", "Rel", "Spo")
    nine = at("camel", "9")
    for table in (at("camel", "3"), nine):
        for model in dict.fromkeys(row for row, _ in table):
            yield mean(table[model, "Avg"], [table[model, column] for column in scores])
    eleven = at("camel", "11")
    for model in dict.fromkeys(row for row, _ in eleven):
        full, dropped = eleven[model, "English-like"], eleven[model, "Pronoun Drop"]
        yield linear("difference", eleven[model, "Δ"], [(1, full), (-1, dropped)])
        own = model.replace("XML", "XLM")
        yield mean(
            full, [nine[own, column] for column in scores if column != "Lit"], "mean of Table 9 without literature"
        )


def test_numbers_agree_but_for_the_papers_own_slips() -> None:
    assert slips(identities_of_the_paper()) == {
        "3: AraBERT_B, Avg: mean",
        "5: Total, CAMEL-Ag pos: sum",
        "6: Religion, Wikidata: sum",
        "6: Religion, Total: sum of sources",
        "11: AraGPT2_B, English-like: mean of Table 9 without literature",
        "11: AraGPT2_L, English-like: mean of Table 9 without literature",
        "11: BLOOM, English-like: mean of Table 9 without literature",
        "11: GPT-3.5, English-like: mean of Table 9 without literature",
    }
