"""Exports as people have them: taken without an option, by names in any language and at any depth, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from polyculture.cache.catalog import read_catalog
from polyculture.cache.errors import UserError
from polyculture.imports.mapping import Columns
from polyculture.imports.text import TextReader
from tests.imports.conftest import read
from tests.imports.test_files import workbook

EAT, DRINK = "For breakfast people often eat porridge with butter.", "In the evening families share a plate of rice."
ASKED = "What do people in Spain eat?"


def _cell(text: str, role: str) -> str:
    return json.dumps({"role": role, "content": text}).replace('"', '""')


def _langfuse(text: str) -> str:
    return f'm,"[{_cell(ASKED, "user")}]","{_cell(text, "assistant")}"\n'


def _chat(text: str) -> str:
    return f"<|im_start|>user\n{ASKED}<|im_end|>\n<|im_start|>assistant\n{text}<|im_end|>\n"


M = {"model": "=m"}
BOTH = (EAT, DRINK)
INNER = {"model": "m", "language": "en"}
ARGILLA = [{"fields": {"prompt": ASKED, "response": one}, "metadata": INNER} for one in BOTH]
LABELS = [{"data": {"text": one, "prompt": ASKED, **INNER}, "annotations": [{"id": 1}]} for one in BOTH]
FOO = [
    {"prompt": {"raw": ASKED}, "provider": {"id": "m"}, "response": {"output": one, "finishReason": "stop"}}
    for one in BOTH
]
EVAL = [{"input": ASKED, "actualOutput": one, "metricsData": []} for one in BOTH]
COMPASS = {
    str(n): {"origin_prompt": [{"role": "HUMAN", "prompt": ASKED}], "prediction": one} for n, one in enumerate(BOTH)
}
EXPORTS: dict[str, tuple[object, dict[str, str]]] = {
    "argilla.json": (ARGILLA, {}),
    "label_studio.json": (LABELS, {}),
    "promptfoo.json": ({"results": {"prompts": [{"raw": "?"}], "results": FOO}}, {"model": "provider.id"}),
    "deepeval.json": ({"testCases": EVAL, "metricsScores": [{"metric": "a"}]}, M),
    "opencompass.json": (COMPASS, M),
    "langfuse.csv": ("model,input,output\n" + "".join(map(_langfuse, BOTH)), {}),
    "evals.csv": ("item.country,sample.output_text,sample.model\n" + "".join(f"ES,{one},m\n" for one in BOTH), {}),
    "hindi.csv": ("मॉडल,भाषा,देश,उत्तर\n" + "".join(f"m,अंग्रेज़ी,स्पेन,{one}\n" for one in BOTH), {}),
    "arabic.csv": ("النموذج,اللغة,البلد,الإجابة\n" + "".join(f"m,en,🇪🇸,{one}\n" for one in BOTH), {}),
    "notes.csv": ("# a b\n# c d\nmodel,language,country,text\n" + "".join(f"m,en,ES,{one}\n" for one in BOTH), {}),
    "chat.txt": ("".join(map(_chat, BOTH)), {**M, "country": "=ES"}),
    "wide.csv": (f"country,m,n\nES,{EAT},{DRINK}\n", {"text": "m,n"}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXPORTS)
def test_exports_say_text_language_country_and_model(name: str, tmp_path: Path) -> None:
    content, told = EXPORTS[name]
    file = tmp_path / name
    file.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    _, texts, bad = read(file, {"topic": "=food", **told})
    models = ["n" if name == "wide.csv" and one == DRINK else "m" for one in BOTH]
    found = [(one.answer.text, one.language, one.country, one.model) for one in texts]
    assert found == [(one, "en", "ES", f"imported:{model}") for one, model in zip(BOTH, models, strict=True)]
    assert not any(row.lost for row in bad)


def test_a_column_per_language_is_a_text_of_each(tmp_path: Path) -> None:
    german = "Zum Frühstück gibt es oft Brötchen mit Käse und Wurst."
    (tmp_path / "a.csv").write_text(f"id,topic,model,answer_en,answer_de\n1,food,m,{EAT},{german}\n2,food,m,{DRINK},\n")
    _, texts, bad = read(tmp_path / "a.csv", {})
    assert [(one.text, one.language) for one in texts] == [(EAT, "en"), (german, "de"), (DRINK, "en")]
    assert [(row.row, row.lost) for row in bad] == [("3/answer_de", False)]


def test_a_files_name_says_what_its_rows_do_not(tmp_path: Path) -> None:
    for model in ("gpt-4o", "llama_3"):
        (tmp_path / "runs" / model).mkdir(parents=True)
        (tmp_path / "runs" / model / "en.csv").write_text(f"response\n{EAT}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"--parts '@file="):
        read(tmp_path / "runs")
    _, texts, _ = read(tmp_path / "runs", parts="@file={model}/{language}")
    assert [(one.model, one.language) for one in texts] == [("imported:gpt-4o", "en"), ("imported:llama_3", "en")]


def test_heads_over_columns_and_cells_merged_down(tmp_path: Path) -> None:
    head, names = ["A1@Who", "C1@Answer"], ["A2@model", "B2@language", "C2@response"]
    rows = [["A3@m", "B3@en", f"C3@{EAT}"], ["B4@en", f"C4@{DRINK}"]]
    file = workbook(tmp_path / "a.xlsx", {"S": [head, names, *rows]}, merged="A3:A4")
    _, texts, bad = read(file)
    assert [(one.text, one.model) for one in texts] == [(EAT, "imported:m"), (DRINK, "imported:m")]
    assert [(row.row, row.lost) for row in bad] == [("S!1", False)]


@pytest.mark.parametrize(
    ("written", "code"),
    [("South_Korea", "KR"), ("saudi-arabia", "SA"), ("The Philippines", "PH"), ("U.S.A.", "US"), ("🇯🇵", "JP"),
     ("Cote d'Ivoire", "CI"), ("Guinea-Bissau", "GW"), ("ZZ", None)],
)  # fmt: skip
def test_countries_in_the_writings_of_files(written: str, code: str | None) -> None:
    reader = TextReader(read_catalog(), Columns({}))
    if code is None:
        with pytest.raises(ValueError, match="not in the catalogue"):
            reader.country(written)
    else:
        assert reader.country(written) == code
