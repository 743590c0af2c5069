"""MAKIEval (Zhao et al. 2025): F1 of its parts, rates of their counts, and numbers that are printed twice."""

from __future__ import annotations

from collections.abc import Iterator

from tests.published.identities import Identity, at, linear, ratio, same, slips, total


def identities_of_the_paper() -> Iterator[Identity]:
    eight, eleven, text = at("makieval", "8"), at("makieval", "11"), at("makieval", "text")
    for language in dict.fromkeys(row for row, _ in eight):
        precision, recall, f1 = (eight[language, f"{name} (%)"] for name in ("Precision", "Recall", "F1 Score"))
        yield ratio("2PR / (P + R)", f1, lambda p, r: 2 * p * r / (p + r), precision, recall)
    for topic in dict.fromkeys(row for row, _ in eleven):
        items, labels = eleven[topic, "Unique QIDs"], eleven[topic, "Unique Labels"]
        yield ratio("items by labels", eleven[topic, "Resolve Rate"], lambda n, of: n / of, items, labels)
    yield total(text["6", "entities"], [one for (_, column), one in eleven.items() if column == "Unique QIDs"])
    yield linear("prompts x 500 x 7 models", text["6", "texts"], [(500 * 7, text["6", "prompts"])])
    for row, column, model in (
        ("6.2", "diversity Llama3", "Llama3_8B"),
        ("6.2", "diversity DeepSeek", "DeepSeek"),
        ("E", "DeepSeek", "DeepSeek"),
    ):
        yield same(text[row, column], at("makieval", "12")[model, "Mean ± Var"])


def test_numbers_agree_but_for_the_papers_own_slips() -> None:
    assert slips(identities_of_the_paper()) == {
        *(f"8: {language}, F1 Score (%): 2PR / (P + R)" for language in ("Arabic", "Chinese", "English", "Hindi")),
        *(
            f"11: {topic}, Resolve Rate: items by labels"
            for topic in ("beverage", "book", "clothing", "food", "music", "transportation")
        ),
        "text: 6, texts: prompts x 500 x 7 models",
        "text: 6.2, diversity Llama3: as in Table 12",
        "text: 6.2, diversity DeepSeek: as in Table 12",
    }
