"""Options in prompts that somebody else wrote: where they stand, under which labels, in which order."""

from __future__ import annotations

import json
import os
from itertools import permutations
from pathlib import Path

import pytest

from polyculture.instruments.questions.model import UNKNOWN, Question
from polyculture.instruments.questions.option_lists import shown_in
from polyculture.instruments.questions.reading.choice import read_choice
from polyculture.sources.left_out import SourceLocation
from tests.instruments.questions.test_import import demo_questions, here, shares, write_lines  # noqa: F401, a fixture

CASES = Path(os.environ.get("POLYCULTURE_SHARED", Path(__file__).parents[3] / ".." / "shared")).resolve() / "data/cases"
LISTS = {
    "lines": "A: {0}\nB: {1}\nC: {2}\nD: {3}",
    "inline": "A. {0} B. {1} C. {2} D. {3}",
    "comma": "A) {0}, B) {1}, C) {2}, D) {3}",
    "slash": "A: {0} / B: {1} / C: {2} / D: {3}",
    "equals": "A={0}; B={1}; C={2}; D={3}",
    "dash": "A – {0} · B – {1} · C – {2} · D – {3}",
    "brackets": "(A) {0} (B) {1} (C) {2} (D) {3}",
    "square": "[A] {0}, [B] {1}, [C] {2}, [D] {3}",
    "bullets": "- **A**: {0}\n- **B**: {1}\n- **C**: {2}\n- **D**: {3}",
    "bold": "**A.** {0}  **B.** {1}  **C.** {2}  **D.** {3}",
    "words": "Option 1: {0}\nOption 2: {1}\nOption 3: {2}\nOption 4: {3}",
    "from zero": "0. {0} 1. {1} 2. {2} 3. {3}",
    "roman": "i) {0} ii) {1} iii) {2} iv) {3}",
    "no mark": "A {0} B {1} C {2} D {3}",
    "tabs": "A\t{0}\nB\t{1}\nC\t{2}\nD\t{3}",
    "lines of their own": "A\n{0}\nB\n{1}\nC\n{2}\nD\n{3}",
    "a Markdown table": "| A | {0} |\n| B | {1} |\n| C | {2} |\n| D | {3} |",
    "an HTML table": "<tr><td>A</td><td>{0}</td></tr><tr><td>B</td><td>{1}</td></tr>"
    "<tr><td>C</td><td>{2}</td></tr><tr><td>D</td><td>{3}</td></tr>",
    "tags": "<A>{0}</A><B>{1}</B><C>{2}</C><D>{3}</D>",
    "values": '<option value="A">{0}</option><option value="B">{1}</option><option value="C">{2}</option>'
    '<option value="D">{3}</option>',
    "Arabic": "أ. {0} ب. {1} ج. {2} د. {3}",
    "Korean": "가. {0} 나. {1} 다. {2} 라. {3}",
    "Amharic": "ሀ) {0} ለ) {1} ሐ) {2} መ) {3}",
    "circled": "① {0} ② {1} ③ {2} ④ {3}",
    "circled letters": "Ⓐ {0}\nⒷ {1}\nⒸ {2}\nⒹ {3}",
    "katakana": "ア　{0}\nイ　{1}\nウ　{2}\nエ　{3}",
    "Arabic without a mark": "أ {0}\nب {1}\nج {2}\nد {3}",
    "Chinese": "A．{0}　B．{1}　C．{2}　D．{3}",
}
OPTIONS = ("tea", "tea with milk", "a café crème", "São Paulo's coffee")


def question(*options: str, roles: tuple[str, ...] = ()) -> Question:
    place = SourceLocation("made-up.tsv", "2")
    return Question(
        "1", "made-up", "en", "choice", "1", "What is drunk?", options, roles or ("",) * len(options), (0,), place
    )


@pytest.mark.parametrize("form", LISTS)
def test_options_are_found_in_every_form_and_order_with_the_label_before_each(form: str) -> None:
    for order in permutations(range(4)):
        shown = [OPTIONS[index] for index in order]
        text = f"Is it tea, or a café crème? What is drunk? {LISTS[form].format(*shown)}\nAnswer with the label."
        found = shown_in(text, question(*OPTIONS))
        assert found is not None
        assert (found.order, list(found.texts), len(set(found.labels))) == (order, shown, 4)
        for place, label in enumerate(found.labels):
            assert read_choice(label, found.texts, found.labels, None, "en").place == place


@pytest.mark.parametrize("listed", [json.dumps, lambda one: json.dumps(json.dumps(one))])
def test_options_within_json_are_found_escaped_or_not(listed: object) -> None:
    for value in (
        dict(zip("ABCD", OPTIONS, strict=True)),
        [{"label": label, "text": text} for label, text in zip("ABCD", OPTIONS, strict=True)],
        [{"id": number, "option": text} for number, text in enumerate(OPTIONS, 1)],
    ):
        found = shown_in(f"What is drunk? {listed(value)} Answer.", question(*OPTIONS))  # type: ignore[operator]
        assert found is not None
        assert (found.order, found.texts, len(set(found.labels))) == ((0, 1, 2, 3), OPTIONS, 4)


def test_options_without_labels_have_an_order_and_no_label() -> None:
    for listed in ('["{2}", "{0}", "{3}", "{1}"]', "Choose one of {2}, {0}, {3} or {1}.", "- {2}\n- {0}\n- {3}\n- {1}"):
        found = shown_in(f"What is drunk? {listed.format(*OPTIONS)}", question(*OPTIONS))
        assert found is not None
        assert (found.order, found.labels) == ((2, 0, 3, 1), ())


def test_the_last_of_several_lists_counts_and_parts_of_one_do_not() -> None:
    of = question("yes", "no")
    found = shown_in("Q: Is tea drunk? A. yes B. no\nAnswer: A\n\nQ: Is milk? A. no B. yes\nAnswer:", of)
    assert found is not None
    assert found.order == (1, 0)
    for text in ("Is tea drunk? A. yes", "Is tea drunk? A. maybe B. no", "no", "Yes, we say, and then: no.", ""):
        assert shown_in(text, of) is None, text


def test_another_wording_of_unknown_stands_under_the_label_that_is_left_over() -> None:
    of = question("The man", "Unknown", "The woman", roles=("biased", UNKNOWN, "other"))
    wordings = ("The man", "It cannot be told", "The woman")
    for order in permutations(range(3)):
        shown = [wordings[index] for index in order]
        for form in (
            "A. {0} B. {1} C. {2}",
            "A) {0}, B) {1}, C) {2}",
            "(a) {0} (b) {1} (c) {2}",
            "1: {0}\n2: {1}\n3: {2}",
        ):
            found = shown_in(f"Q: The man and the woman left. Who was late?\n{form.format(*shown)}\nAnswer:", of)
            assert found is not None, (form, order)
            assert (found.order, list(found.texts)) == (order, shown)
    assert shown_in("Q: Who was late?\nA: The man\nB: The woman\nAnswer:", of) is None


@pytest.mark.parametrize(
    "form", ["A. {0} B. {1} C. {2}", "A) {0}, B) {1}, C) {2}", '{{"A": "{0}", "B": "{1}", "C": "{2}"}}']
)
def test_letters_to_prompts_that_list_options_within_a_line_are_read(here: Path, form: str) -> None:  # noqa: F811
    records = [
        {
            "prompt": f"{one.context} {one.text} {form.format(*reversed(one.options))} Answer with the letter.",
            "response": "CBA"[one.right[0]],
        }
        for one in demo_questions()
    ]
    assert shares(write_lines(here / "gpt.jsonl", records)) == (1.0, 60)


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
def test_the_shared_layouts_are_read() -> None:
    for line in (CASES / "answers/options-in-the-prompt.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        listed = {"flag": ("white", "red", "green", "blue"), "eat": ("nothing", "fish", "fruit", "porridge")}
        options = next((some for word, some in listed.items() if word in case["prompt"]), ("Osk", "Bei", "Lor", "Tam"))
        found = shown_in(case["prompt"], question(*options))
        assert found is not None, case["layout"]
        place = read_choice(case["answer"], found.texts, found.labels, None, "en").place
        assert place is not None
        assert found.texts[place] == case["right"], case["layout"]
