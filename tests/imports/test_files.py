"""What a file is, its content says: kinds, encodings, and sizes that would take the process down."""

from __future__ import annotations

import csv
import io
import json
import re
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from polyculture.cache.errors import UserError
from polyculture.cache.spreadsheet import NO_VALUE, open_workbook
from polyculture.cache.store.run_folder import RunFolder
from polyculture.imports.shapes import find_source
from polyculture.sources.encoding import misread
from polyculture.sources.files import kind_of, read_file
from polyculture.sources.record import MOST_COLUMNS, BadRow, Record
from tests.imports.conftest import ALL, read, take, write_lines

ROWS = [("text", "language"), ("Zum Frühstück Käse, Brötchen und Weißwurst.", "de"), ("À midi, du pâté de cœur.", "fr"),
        ("España: jamón, piñones y «churros»…", "es"), ("Only ASCII here.", "en")]  # fmt: skip
CSV = "".join(f'"{text}";{language}\r\n' for text, language in ROWS)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("name", ["a.csv", "a.txt", "a.jsonl", "a.json"])
def test_encodings_are_decoded(encoding: str, name: str, tmp_path: Path) -> None:
    lines = [json.dumps(dict(zip(ROWS[0], row, strict=True)), ensure_ascii=False) for row in ROWS[1:]]
    content = {"a.jsonl": "\n".join(lines), "a.json": f"[{','.join(lines)}]"}.get(name, CSV)
    (tmp_path / name).write_bytes(content.encode(encoding))
    rows = list(read_file(tmp_path / name))
    assert [(row.get("text"), row.get("language")) for row in rows if isinstance(row, Record)] == ROWS[1:]
    names = [] if encoding.startswith("utf-8") else [encoding[:6].upper()]
    assert find_source(tmp_path / name, None, None, {}).encodings == names


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("Zum Frühstück Käse, Brötchen und Weißwurst.", "cp1252"),
        ("Śniadanie: żurek, pączki i źródło.", "cp1250"),
        ("На завтрак едят кашу и блины.", "koi8-r"),
        ("朝食に寿司を食べます。", "shift-jis"),
        ("早餐吃包子和豆浆。", "gb18030"),
    ],
)
def test_a_file_in_another_encoding_is_refused_whole(text: str, encoding: str, tmp_path: Path) -> None:
    """By its accents a file would lose rows: of Spanish ones most, of English ones none."""
    (tmp_path / "a.csv").write_bytes(f"text\nplain\n{text}\n".encode(encoding))
    with pytest.raises(UserError, match="encoding: row 3") as fault:
        list(read_file(tmp_path / "a.csv"))
    assert "iconv" in str(fault.value.remedy)


def test_broken_utf_8_is_refused_row_by_row_and_never_read_as_windows(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("text\nKäse.\nBrötchen.\n".encode()[:-4] + b"\xff.\nBier.\n")
    found, texts, bad = read(tmp_path / "a.csv", ALL)
    assert ([text.text for text in texts], [row.row for row in bad]) == (["Käse.", "Bier."], ["3"])
    assert found.lost == {"the text is not UTF-8": 1}


def workbook(
    file: Path, sheets: dict[str, list[list[str]]], extra: dict[str, bytes] | None = None, merged: str = ""
) -> Path:
    """A workbook as small as one can be: texts stand in their cells."""
    names = list(sheets)
    overrides = "".join(
        f'<Override PartName="/xl/worksheets/s{n}.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
        for n in range(len(names))
    )
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    links = "".join(
        f'<Relationship Id="r{n}" Type="{relation}/worksheet" Target="worksheets/s{n}.xml"/>' for n in range(len(names))
    )
    listed = "".join(f'<sheet name="{name}" sheetId="{n + 1}" r:id="r{n}"/>' for n, name in enumerate(names))
    package = "http://schemas.openxmlformats.org/package/2006"
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        'ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
        f"{overrides}</Types>",
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r" '
        f'Type="{relation}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relation}"><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">{links}</Relationships>',
    }
    merges = merged and f'<mergeCells count="1"><mergeCell ref="{merged}"/></mergeCells>'
    for number, rows in enumerate(sheets.values()):
        cells = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
        members[f"xl/worksheets/s{number}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{cells}</sheetData>{merges}</worksheet>'
        )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**members, **(extra or {})}.items():
            archive.writestr(name, content)
    return file


def _cell(cell: str) -> str:
    if cell.startswith("#"):
        return f"<c t='e'><v>{cell}</v></c>"
    place, at, text = cell.rpartition("@")
    return f"<c{f' r={chr(34)}{place}{chr(34)}' if at else ''} t='inlineStr'><is><t>{text}</t></is></c>"


def test_sheets_of_notes_come_before_a_table_and_columns_in_any_order(tmp_path: Path) -> None:
    notes, table, turned = (
        [["Answers of models"], ["of 2025"]],
        [["text", "model"], ["Pizza.", "m"]],
        [["model", "text"], ["m", "Soup."]],
    )
    rows = list(read_file(workbook(tmp_path / "a.xlsx", {"Readme": notes, "A": table, "B": turned})))
    assert [row.get("text") for row in rows if isinstance(row, Record)] == ["Pizza.", "Soup."]
    assert [row.lost for row in rows if isinstance(row, BadRow)] == [False]
    alone = workbook(tmp_path / "b.xlsx", {"A": [["text"], ["Pizza."]], "B": [["text"], ["Soup."]]})
    assert [row.get("text") for row in read_file(alone) if isinstance(row, Record)] == ["Pizza.", "Soup."]


def test_a_workbook_is_read_and_sheets_with_other_columns_are_told(tmp_path: Path) -> None:
    table = [["text", "country"], ["Pizza und Käse.", "IT"], ["Sushi.", "JP"]]
    file = workbook(tmp_path / "a.xlsx", {"Notes": [], "Texts": table, "More": table, "Legend": [["what", "why"]]})
    _, texts, bad = read(file, ALL)
    assert [(text.text, text.country) for text in texts] == [("Pizza und Käse.", "IT"), ("Sushi.", "JP")] * 2
    assert [(row.row, row.lost) for row in bad] == [("Legend!1", True)]


@pytest.mark.parametrize(
    ("cell", "told"),
    [("XFD1048576", "row 1048576 and column 16384"), ("ZZZZZ99999999999", "row 99999999999 and column 12356630")],
)
def test_a_cell_far_out_is_one_line_and_no_abort(tmp_path: Path, cell: str, told: str) -> None:
    file = workbook(tmp_path / "a.xlsx", {"S": [["A1@text"], [f"{cell}@Pizza."]]})
    assert file.stat().st_size < 2_000
    program = (
        "from pathlib import Path\nfrom polyculture.cache.errors import UserError\n"
        "from polyculture.sources.files import read_file\n"
        f"try:\n    list(read_file(Path({str(file)!r})))\nexcept UserError as fault:\n    print(fault)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told in done.stdout


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv", "semicolons.csv"])
def test_a_title_above_the_header_is_left_and_told(name: str, tmp_path: Path) -> None:
    table = [["text", "lang", "topic"], ["Pizza, they say.", "en", "food"], ["Tacos.", "es", "food"]]
    if name == "a.xlsx":
        workbook(tmp_path / name, {"S": [["Answers of 2026"], *table]})
    else:
        mark = ";" if name[0] == "s" else ","
        rows = [["Answers of 2026", *[""] * (2 if mark == ";" else 0)], [], *table]
        text = "\n".join(mark.join(f'"{cell}"' if "," in cell else cell for cell in row) for row in rows)
        (tmp_path / name).write_text(text, encoding="utf-8")
    title, *rows = read_file(tmp_path / name)
    assert isinstance(title, BadRow)
    assert (title.value or "").startswith("Answers of 2026")
    assert not title.lost
    assert [row.get("text") for row in rows if isinstance(row, Record)] == ["Pizza, they say.", "Tacos."]


TITLED: list[list[str]] = [["Answers", "2026", ""], ["by", "us", ""]]
USUAL = [["language", "response", "topic"], ["en", "Pizza, they say.", "food"], ["es", "Tacos.", "food"]]
OURS = [["Sprachraum", "Wortlaut", "Feld"], *USUAL[1:]]


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
@pytest.mark.parametrize(("table", "told"), [(USUAL, frozenset()), (OURS, frozenset({"Wortlaut", "Feld"}))])
def test_a_header_is_known_by_its_names_below_titles_of_several_cells(
    name: str, table: list[list[str]], told: frozenset[str], tmp_path: Path
) -> None:
    """By usual names, and by those that the user gives: titles of two cells were taken for the header."""
    rows = [*TITLED, *table]
    if name == "a.xlsx":
        workbook(tmp_path / name, {"S": rows})
    else:
        with (tmp_path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(rows)
    *titles, first, second = read_file(tmp_path / name, told=told)
    assert [isinstance(title, BadRow) and not title.lost for title in titles] == [True, True]
    assert [isinstance(row, Record) and row.values[table[0][1]] for row in (first, second)] == [
        "Pizza, they say.",
        "Tacos.",
    ]


@pytest.mark.parametrize(
    "rows",
    [
        [["kind", "form", "body"], ["question", "text", "What is eaten?"], ["answer", "speech", "Rice is eaten."]],
        [["body", "n"], ["Rice is eaten.", "1"], ["text", "model"], ["Soup is eaten.", "2"]],
        [["body", "kind"], ["Rice is eaten.", "text"], ["Soup is eaten.", "answer"]],
    ],
)
def test_a_row_with_words_that_name_columns_elsewhere_is_no_header(rows: list[list[str]], tmp_path: Path) -> None:
    with (tmp_path / "a.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    found = [row for row in read_file(tmp_path / "a.csv") if isinstance(row, Record)]
    assert [list(row.values.values()) for row in found] == rows[1:]


@pytest.mark.parametrize("name", ["a.xlsx", "a.csv"])
def test_an_error_of_a_spreadsheet_is_no_text(tmp_path: Path, name: str) -> None:
    """A text that begins with "=" or "-" becomes one: as an empty text it would be an answer that names nothing."""
    errors = ["#NAME?", "#¿NOMBRE?", "#ZAHL!", "#DIV/0!", "#N/A", "#NV"]
    table = [["text"], ["She eats pizza."], *([one] for one in errors)]
    if name == "a.csv":
        (tmp_path / name).write_text("\n".join(row[0] for row in [*table, ["#yum! #Pizza!"]]), encoding="utf-8")
    else:
        workbook(tmp_path / name, {"S": table})
    _, taken, lost = read(tmp_path / name, ALL)
    assert [row.value for row in lost] == errors
    assert [text.text for text in taken][:1] == ["She eats pizza."]
    assert len(taken) == (2 if name == "a.csv" else 1)


UNCOMPUTED = [
    "<c t='inlineStr'><is><t>Rice.</t></is></c><c><f>A1</f><v/></c>",
    "<c r='A3'><f>A1&amp;B1</f><v></v></c>",
    "<c r='A4' t='str'><f>A1</f></c>",
    "<c r='A5' t='n'><f t='shared' si='0'/><v></v></c>",
]
COMPUTED = [
    "<c r='A6' t='str'><f>A1</f><v>Pizza.</v></c>",
    "<c r='A7' t='str'><f>&quot;&quot;</f><v></v></c><c t='inlineStr'><is><t>What?</t></is></c>",
]


def test_a_formula_that_nobody_computed_is_no_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs write formulas without values: such texts were empty answers, which name nothing."""
    rows = "".join(f"<row>{row}</row>" for row in UNCOMPUTED + COMPUTED)
    head = '<row><c t="inlineStr"><is><t>text</t></is></c><c t="inlineStr"><is><t>prompt</t></is></c></row>'
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    sheet = f'<worksheet xmlns="{space}"><sheetData>{head}{rows}</sheetData></worksheet>'
    prefixed = re.sub(r"<(/?)(?=\w)", r"<\1x:", sheet).replace("xmlns=", "xmlns:x=")
    for number, (xml, chunk) in enumerate([(sheet, 2**20), (prefixed, 2**20), (sheet, 150)]):
        monkeypatch.setattr("polyculture.cache.spreadsheet._CHUNK", chunk)
        file = workbook(tmp_path / f"{number}.xlsx", {"S": []}, {"xl/worksheets/s0.xml": xml.encode()})
        _, taken, lost = read(file, ALL)
        assert [row.value for row in lost] == [NO_VALUE] * 4
        assert ["prompt" in row.reason for row in lost] == [True, False, False, False]
        assert [(text.text, text.prompt) for text in taken] == [("Pizza.", None), ("", "What?")]


def test_blanks_behind_a_formula_take_no_time(tmp_path: Path) -> None:
    blanks = (
        "<row><c t='inlineStr'><is><t>text</t></is></c></row><row><c><f>A1</f>" + " " * 1_000_000 + "<v>7</v></c></row>"
    )
    sheet = f"<worksheet xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'><sheetData>{blanks}"
    extra = {"xl/worksheets/s0.xml": f"{sheet}</sheetData></worksheet>".encode()}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    (row,) = read_file(workbook(tmp_path / "a.xlsx", {"S": []}, extra))
    assert isinstance(row, Record)
    assert row.get("text") == "7"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 10


def test_one_column_of_texts_has_no_title(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("text\nRice, beans\nFish, bread\n", encoding="utf-8")
    assert [row.get("text") for row in read_file(tmp_path / "a.csv") if isinstance(row, Record)] == [
        "Rice, beans", "Fish, bread"
    ]  # fmt: skip


def test_a_workbook_that_unpacks_to_gigabytes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("polyculture.cache.spreadsheet.LARGEST", 10 * 2**20)
    bomb = {"xl/sharedStrings.xml": b"<sst>" + b" " * (20 * 2**20) + b"</sst>"}
    file = workbook(tmp_path / "a.xlsx", {"S": [["text"], ["Pizza."]]}, bomb)
    with pytest.raises(UserError, match=r"10 MiB.*unpacked"):
        open_workbook(file)
    (tmp_path / "b.xlsx").write_bytes(file.read_bytes()[:-40])
    with pytest.raises(UserError):
        list(read_file(tmp_path / "b.xlsx"))


def test_a_workbook_that_takes_all_memory_ends_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 114 KB took 12.9 GB and the process with it: many cells share one long text, and each gets a copy."""
    monkeypatch.setattr("polyculture.cache.workbook.MOST", 400 * 2**20)
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    long = f"<sst xmlns='{space}'><si><t>{'x' * 2**20}</t></si></sst>".encode()
    cells = "".join(f"<row><c r='A{n}' t='s'><v>0</v></c></row>" for n in range(1, 13_000))
    sheet = f"<worksheet xmlns='{space}'><sheetData>{cells}</sheetData></worksheet>".encode()
    file = workbook(tmp_path / "a.xlsx", {"S": []}, {"xl/worksheets/s0.xml": sheet, "xl/sharedStrings.xml": long})
    with zipfile.ZipFile(file, "a") as archive:
        relations = archive.read("xl/_rels/workbook.xml.rels").decode()
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings"
    shared = f'<Relationship Id="rs" Type="{kind}" Target="sharedStrings.xml"/></Relationships>'
    rewritten(file, "xl/_rels/workbook.xml.rels", relations.replace("</Relationships>", shared).encode())
    assert file.stat().st_size < 200_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(UserError, match="memory to read") as fault:
        open_workbook(file)
    assert "CSV" in str(fault.value)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 700 << 10


def rewritten(file: Path, name: str, content: bytes) -> None:
    """The same archive with another member of this name."""
    with zipfile.ZipFile(file) as archive:
        members = {one: archive.read(one) for one in archive.namelist()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in {**members, name: content}.items():
            archive.writestr(one, data)


def test_one_cell_of_many_megabytes_is_read_in_one_pass(tmp_path: Path) -> None:
    """Of one cell of 40 MB each piece was looked through again with each that came: 30 s."""
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    cell = f"<row><c t='inlineStr'><is><t>{'x' * (16 * 2**20)}</t></is></c></row>"
    sheet = f"<worksheet xmlns='{space}'><sheetData>{cell}</sheetData></worksheet>".encode()
    file = workbook(tmp_path / "a.xlsx", {"S": []}, {"xl/worksheets/s0.xml": sheet})
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    (found,) = open_workbook(file)
    assert len(found.rows[0][0]) == 16 * 2**20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 4


def test_a_merged_cell_of_a_table_that_begins_further_in_is_said_in_its_rows(tmp_path: Path) -> None:
    space = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

    def row(number: int, *cells: tuple[str, str]) -> str:
        texts = (f"<c r='{at}{number}' t='inlineStr'><is><t>{text}</t></is></c>" for at, text in cells)
        return f"<row r='{number}'>{''.join(texts)}</row>"

    rows = row(3, ("C", "who"), ("D", "text")) + row(4, ("C", "gpt"), ("D", "Pizza.")) + row(5, ("D", "Sushi."))
    merged = "<mergeCells count='1'><mergeCell ref='C4:C5'/></mergeCells>"
    sheet = f"<worksheet xmlns='{space}'><sheetData>{rows}</sheetData>{merged}</worksheet>".encode()
    file = workbook(tmp_path / "a.xlsx", {"S": []}, {"xl/worksheets/s0.xml": sheet})
    found = [(row.row, row.get("who"), row.get("text")) for row in read_file(file) if isinstance(row, Record)]
    assert found == [("S!4", "gpt", "Pizza."), ("S!5", "gpt", "Sushi.")]


@pytest.mark.parametrize("columns", [MOST_COLUMNS, 100_000])
def test_many_columns_are_read_or_refused_at_once(columns: int, tmp_path: Path) -> None:
    header = ["text", *(f"c{n}" for n in range(columns - 1))]
    (tmp_path / "a.csv").write_text(",".join(header) + "\n" + ",".join(["x"] * columns) + "\n", encoding="utf-8")
    write_lines(tmp_path / "a.jsonl", dict.fromkeys(header, "x"))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    for name in ("a.csv", "a.jsonl"):
        if columns > MOST_COLUMNS:
            with pytest.raises(UserError, match="100000 columns"):
                read(tmp_path / name, ALL)
        else:
            assert len(read(tmp_path / name, ALL)[1]) == 1
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_utime - before < 60
    )  # it was minutes, with a square of the columns


def test_what_is_no_file_of_texts_is_one_line(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.jsonl", "{}")
    for name, content in {"a.zip": buffer.getvalue(), "a.gz": b"\x1f\x8b\x08rest", "a.xls": b"\xd0\xcf\x11\xe0rest",
                          "a.json": b'[{"text": "Piz', "a.parquet": b"PAR1 is not enough"}.items():  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UserError) as fault:
            list(read_file(tmp_path / name))
        assert fault.value.remedy


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    (tmp_path / "lines.json").write_text('{"text": "a"}\n{"text": "b"}\nnonsense\n', encoding="utf-8")
    rows = list(read_file(tmp_path / "lines.json"))
    assert [isinstance(row, BadRow) for row in rows] == [False, False, True]
    (tmp_path / "pretty.jsonl").write_text(json.dumps({"text": "a", "more": [1, 2]}, indent=1), encoding="utf-8")
    assert [row.get("text") for row in read_file(tmp_path / "pretty.jsonl") if isinstance(row, Record)] == ["a"]
    (tmp_path / "table").write_text("text\tmodel\na\tm\n", encoding="utf-8")
    assert kind_of(tmp_path / "table") == "csv"
    assert len(list(read_file(tmp_path))) == 4


MISREAD = [
    "José come jamón en Cádiz.",
    "中国人喜欢吃米饭。",
    "Привет, борщ!",
    "He said “it’s café” – twice.",
    "şeker ve çay",
]


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "mac-roman", "cp1251"])
@pytest.mark.parametrize("text", MISREAD)
def test_utf_8_that_was_read_as_another_encoding_is_told_and_kept(text: str, encoding: str, tmp_path: Path) -> None:
    wrong = "".join(bytes([one]).decode(encoding, "ignore") or chr(one) for one in text.encode())
    rows = [{"text": wrong, "model": "m"}, {"text": "Only ASCII here.", "model": "m"}]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows), {"topic": "=food", "language": "=en"})
    assert [one.text for one in texts] == [wrong, "Only ASCII here."]
    (note,) = [note for note in found.columns.notes if "UTF-8" in note]
    assert note.startswith("UTF-8 that another tool read as")
    assert text[:20] in note


@pytest.mark.parametrize(
    "text",
    [
        "José está en Perú.", "«CAFÉ» con leche", "LE CAFÉ» est bon", "«PERÚ» y PANAMÁ»", "«Été» à Paris", "Ý Ã Õ",
        "Україна: «їжа і ґудзик»", "Größe – „Öl“", "Çay içmek İstanbul’da", "SÃO’S", "Phở bò, bánh mì",
    ],
)  # fmt: skip
def test_what_languages_write_is_not_taken_for_misread(text: str) -> None:
    assert misread(text) is None


def test_endings_that_nobody_knows_are_told(tmp_path: Path) -> None:
    rows = [{"text": "Pizza.", "model": "m", "finish_reason": word} for word in ("stop", "zing", "zing", None)]
    found, texts, _ = read(write_lines(tmp_path / "a.jsonl", *rows), {"topic": "=food", "language": "=en"})
    assert len(texts) == 4
    assert [note for note in found.columns.notes if "zing 2" in note and "not known" in note]
    assert not [note for note in found.columns.notes if "stop" in note]


CELLS = [{"text": f"Text {n} of some words.", "model": "m"} for n in range(3)]
WHOLE = {
    "a list": CELLS,
    "columns of lists": {name: [row[name] for row in CELLS] for name in ("text", "model")},
    "columns under row numbers": {
        name: {str(n): row[name] for n, row in enumerate(CELLS)} for name in ("text", "model")
    },
    "records under keys": {f"a{n}": row for n, row in enumerate(CELLS)},
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("layout", WHOLE)
def test_one_value_is_a_table_however_it_is_laid_out(layout: str, indent: int | None, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(WHOLE[layout], indent=indent))
    rows = [row for row in read_file(tmp_path / "a.json", tables=True) if isinstance(row, Record)]
    assert [{name: row.get(name) for name in ("text", "model")} for row in rows] == CELLS


def test_a_line_may_be_a_list_of_records(tmp_path: Path) -> None:
    rows = list(read_file(write_lines(tmp_path / "a.jsonl", CELLS[:2], CELLS[2:], [7])))
    assert [row.row for row in rows] == ["1/1", "1/2", "2/1", "3/1"]
    assert [isinstance(row, Record) for row in rows] == [True, True, True, False]


def test_one_conversation_is_no_table(tmp_path: Path) -> None:
    value = {"messages": [{"role": "user", "content": "Food?"}], "tools": [{"name": "x"}]}
    (row,) = read_file(write_lines(tmp_path / "a.json", value), tables=True)
    assert isinstance(row, Record)
    assert row.values == value


def test_a_file_without_any_record_says_why(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('["Pizza.", "Pasta."]', encoding="utf-8")
    with pytest.raises(UserError, match="no text can be taken: of 2 rows, 2 because is no JSON object"):
        take(RunFolder(tmp_path / "run"), tmp_path / "a.json")


@pytest.mark.parametrize("content", [b"\x00\x01garbage", b'"abc', b"\xff\xfea\x00\x00"])
def test_what_is_no_text_is_one_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(content)
    with pytest.raises(UserError, match=r"is no (text|CSV): ") as fault:
        list(read_file(tmp_path / "a.bin"))
    assert fault.value.remedy
