"""Camellia (Naous et al. 2025): totals, averages over languages, differences of accuracy, sizes of sets."""

from __future__ import annotations

from collections.abc import Iterator

from polyculture.metrics.claims.claim import PAPERS, read_claims
from tests.published.identities import Identity, absolute, at, linear, mean, same, slips, total

LANGUAGES = ("zh", "ja", "ko", "vi", "ur", "hi", "ml", "mr", "gu")
NATIVE = {"Chinese": "zh", "Japanese": "ja", "Korean": "ko", "Vietnamese": "vi", "Pakistani": "ur"}
NATIVE |= {f"Indian ({language})": language for language in ("hi", "ml", "mr", "gu")}
DRAWN = 50  # entities a context and side, sections 4.2 and 4.3


def identities_of_the_paper() -> Iterator[Identity]:
    two, three, text = at("camellia", "2"), at("camellia", "3"), at("camellia", "text")
    for table in (two, three):
        for column in dict.fromkeys(column for _, column in table):
            addends = [one for key, one in table.items() if key[1] == column and key[0] != "Total"]
            yield total(table["Total", column], addends)
    yield total(text["abstract", "entities"], [one for (row, _), one in two.items() if row == "Total"])
    yield total(text["abstract", "contexts"], [one for (row, _), one in three.items() if row == "Total"])
    for language in LANGUAGES:
        row = "hi/ml/mr/gu" if language in ("hi", "ml", "mr", "gu") else language
        short = [three[row, f"Camellia-{setting}"] for setting in ("Grounded", "Neutral")]
        for table, contexts in (("10", short), ("11", [three[row, "Camellia-QA"]])):
            cell = at("camellia", table)[language, "Test Set Size"]
            yield linear("50 a context", cell, [(DRAWN, one) for one in contexts])
    answers = {**at("camellia", "12"), **at("camellia", "13")}
    for (culture, column), cell in answers.items():
        if column.endswith("ΔAcc"):
            place = column.removesuffix("ΔAcc")
            sides = [(1, answers[culture, f"{place}Asian"]), (-1, answers[culture, f"{place}Western"])]
            yield linear("difference", cell, sides)
    for (culture, column), cell in at("camellia", "1").items():
        model, _, asked = column.replace("Qwen2.5-70b", "Qwen2.5-72b").partition(" ")
        yield same(cell, answers[culture, f"{model} {'Respective Asian' if asked == 'Asian' else asked} ΔAcc"])
    models = {one.model: one.column.split()[0] for one in answers.values()}
    for culture, language in NATIVE.items():
        for (_, column), cell in at("camellia", "17").items():
            if column == language:
                yield absolute(cell, answers[culture, f"{models[cell.model]} Respective Asian ΔAcc"])
    for (_, column), cell in at("camellia", "21").items():
        culture = {"Urdu": "Pakistani", "Indian": "Indian (hi)"}.get(column, column)
        if cell.model in models and column != "Avg":
            yield absolute(cell, answers[culture, f"{models[cell.model]} English ΔAcc"])
    for number in range(14, 22):
        table = at("camellia", str(number))
        for row in dict.fromkeys(row for row, _ in table):
            yield mean(table[row, "Avg"], [one for key, one in table.items() if key[0] == row and key[1] != "Avg"])


def test_numbers_agree_but_for_the_papers_own_slips() -> None:
    assert slips(identities_of_the_paper()) == {
        f"10: {language}, Test Set Size: 50 a context" for language in ("zh", "ko", "vi", "ur", "hi", "ml", "mr", "gu")
    }


def test_the_claim_of_thirty_per_cent_says_how_far_the_paper_has_it() -> None:
    [claim, *_] = read_claims(PAPERS["camellia"])
    found = [(column, cell.value > 30) for (_, column), cell in at("camellia", "14").items()]
    every = [over for column, over in found if "Avg" not in column]
    averages = [over for column, over in found if "Avg" in column]
    told = f"{sum(every)} of {len(every)} cells and {sum(averages)} of {len(averages)} averages of Table 14"
    assert str(claim.source).endswith(told)


def test_the_claim_of_pronouns_says_how_many_models_have_it() -> None:
    claim = next(one for one in read_claims(PAPERS["camel"]) if one.name == "pronouns-as-in-english")
    found = [cell.value > 0 for (_, column), cell in at("camel", "11").items() if column == "Δ"]
    assert str(claim.source).endswith(f"{sum(found)} of {len(found)} models of Table 11")
