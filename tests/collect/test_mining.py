"""Mining entity lists: n-grams in slots, counts, and annotators' sheets."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import os
import random
import re
import shlex
import signal
import time
import unicodedata
from collections.abc import Mapping, Sequence
from math import isclose, sqrt
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from polyculture.cache.errors import CatalogError
from polyculture.cache.text.folding import fold_with_offsets
from polyculture.collect.mining.annotators import AnnotatedSheet, cohens_kappa, compare
from polyculture.collect.mining.corpus import open_corpus
from polyculture.collect.mining.count import counted
from polyculture.collect.mining.patterns import Filters, PatternSet, read_patterns
from polyculture.collect.mining.scan import Sieve
from polyculture.collect.mining.slot_extraction import SlotFinder
from polyculture.collect.mining.sweep import SweepReport, sweep
from tests.polyculture.test_command_line import one_line, polyculture, start_polyculture
from tests.servers import Reply, StubServer, completion

PATTERNS = """
[filters]
min_count = 2
min_documents = 2
[en]
patterns = ["recipe of ___", "the recipe of ___", "___ is a traditional dish", "how to cook ___ at home"]
[ar]
patterns = ["طريقة عمل ___", "___ طبق تقليدي", "وصفة ال___"]
[ja]
patterns = ["___の作り方", "___のレシピ", "名物「___」"]
[zh]
patterns = ["___的做法"]
[ko]
patterns = ["___를 만드는", "___ 레시피"]
[th]
patterns = ["วิธีทำ___"]
[hi]
patterns = ["___ की रेसिपी"]
[tr]
patterns = ["___ tarifi"]
[tr-suffix]
patterns = ["___'nın tarifi"]
"""


def patterns_of(language: str, text: str = PATTERNS, folder: Path | None = None) -> tuple[PatternSet, Filters]:
    file = (folder or Path(os.environ.get("TMPDIR", "/tmp"))) / f"patterns-{os.getpid()}.toml"
    file.write_text(text, encoding="utf-8")
    return read_patterns(file, language)


def mine(*files: Path | str, language: str = "en", output: Path | str = "counts.csv") -> tuple[Path | str, ...]:
    """The words of the command that mines the files, in this process."""
    fixed = ["corpus", "mine", "--processes", "1", "--patterns", "patterns.toml", "--corpus"]
    return (*fixed, *files, "--language", language, "-o", output)


def in_slots(language: str, line: str, text: str = PATTERNS) -> list[tuple[str, ...]]:
    """The written forms of each hit in a line."""
    chosen, _ = patterns_of(language, text)
    return [hit.forms for hit in SlotFinder(chosen).find(line)]


@pytest.mark.parametrize(
    ("language", "line", "held"),
    [
        ("en", "a Recipe of chicken soup.", ["chicken", "chicken soup"]),
        ("en", "recipe  of “Chicken Tikka” with", ["Chicken", "Chicken Tikka"]),
        ("en", "recipe of soup with rice", ["soup", "soup with rice"]),
        ("en", "fish & chips is a traditional dish", ["chips", "fish & chips"]),
        ("en", "how to cook fish & chips at home", ["fish & chips"]),
        ("en", "how to cook fish & chips at work", None),
        ("en", "recipe of General Tso’s chicken, fried", ["General", "General Tso’s", "General Tso’s chicken"]),
        ("en", "recipe of the", []),
        ("en", "recipe of 5", []),
        ("en", "recipe often soup", None),
        ("en", "prerecipe of soup", None),
        ("en", "recipe of, soup", None),
        ("en", "recipe of \u00adsoup", ["soup"]),
        ("en", "recipe of\u200b soup", ["soup"]),
        ("en", "recipe of\u200bsoup", None),
        ("en", "how to cook soup \u2060at home", ["soup"]),
        ("ar", "وطريقة عمَل الكبسة السعودية، ثم", ["الكبسة", "الكبسة السعودية"]),
        ("ar", "المنسف طبق تقليدي", ["المنسف"]),
        ("ar", "وصفة الكبسة", ["كبسة"]),
        ("ar", "وصفة ال\u200fكبسة", ["كبسة"]),
        ("ar", "طريقة عمل \u202bالكبسة\u202c", ["الكبسة"]),
        ("ar", "المنسف \u2067طبق تقليدي", ["المنسف"]),
        ("ja", "今日は肉じゃがの作り方を紹介します", ["肉じゃが"]),
        ("ja", "フィレ・ミニョンのレシピ", ["フィレ・ミニョン"]),
        ("ja", "Big Mac の作り方", ["Mac", "Big Mac"]),
        ("ja", "名物「ひつまぶし」です", ["ひつまぶし"]),
        ("zh", "介绍麻婆豆腐的做法", ["麻婆豆腐", "介绍麻婆豆腐"]),
        ("ko", "김치찌개를 만드는 법", ["김치찌개"]),
        ("ko", "순두부 찌개 레시피는", ["찌개", "순두부 찌개"]),
        ("th", "มาดูวิธีทำต้มยำกุ้งแบบง่าย", ["ต้มยำ", "ต้มยำกุ้ง"]),
        ("hi", "पनीर बटर मसाला की रेसिपी", ["मसाला", "बटर मसाला", "पनीर बटर मसाला"]),
        ("tr", "İmam bayıldı TARİFİ", ["bayıldı", "İmam bayıldı"]),
        ("tr-suffix", "mantı'nın tarifi", ["mantı"]),
    ],
)
def test_what_stands_in_a_slot(language: str, line: str, held: list[str] | None) -> None:
    found = in_slots(language, line)
    assert found == ([] if held is None else [tuple(held)])


def test_a_place_is_counted_for_the_longest_pattern_only() -> None:
    chosen, _ = patterns_of("en")
    (hit,) = SlotFinder(chosen).find("The recipe of trifle.")
    assert chosen.patterns[hit.pattern].text == "the recipe of ___"


@pytest.mark.parametrize(
    "anchor", ["recipe of", "große suppe", "طريقة عمل", "김치 레시피", "bánh mì là", "วิธีทำ", "作り方", "ガパオ"]
)
def test_the_sieve_lets_all_through_that_holds_a_pattern(anchor: str) -> None:
    """Anchors in all letters that fold to theirs, composed or not, with dropped ones between."""
    chosen, _ = patterns_of("x", f"[x]\npatterns = ['{anchor} ___', '___ {anchor}']")
    sieve, randomness, kept = Sieve(chosen.patterns), random.Random(anchor), 0
    dropped = [chr(code) for code in np.flatnonzero(sieve.table == 0) if fold_with_offsets(chr(code)).text == ""]
    sources = {letter: [chr(code) for code in np.flatnonzero(sieve.table == ord(letter))] for letter in set(anchor)}
    sources |= {"s": [*sources.get("s", []), "ß", "ﬆ"], " ": [" ", "\t", "\u3000", "  "]}
    for _ in range(500):
        said = "".join(
            randomness.choice([letter, *sources[letter]]) + randomness.choice(["", *dropped]) for letter in anchor
        )
        text = f"a {unicodedata.normalize(randomness.choice(['NFC', 'NFD']), said)} b"
        if chosen.patterns[0].before in fold_with_offsets(text).text:
            kept += 1
            assert sieve.lets_through(text), text
    assert kept > 100
    assert not sieve.lets_through("nothing to see here… 北海道")


# Counting.


def documents(*parts: tuple[int, str]) -> list[str]:
    """So many different documents of each text."""
    return [f"Page {place} {number}: {text}" for place, (count, text) in enumerate(parts) for number in range(count)]


def mined(texts: Sequence[str], folder: Path, language: str = "en", text: str = PATTERNS) -> dict[str, dict[str, Any]]:
    """The mined rows of some texts, by entity."""
    folder.mkdir(exist_ok=True)
    file = folder / "corpus.jsonl"
    file.write_text("".join(json.dumps({"text": one}) + "\n" for one in texts), encoding="utf-8")
    chosen, filters = patterns_of(language, text, folder)
    swept = sweep(open_corpus([file], "text"), chosen, folder / "work")
    return {row["entity"]: row for row in rows_of(swept, chosen, filters, folder / "work")}


def rows_of(swept: SweepReport, chosen: PatternSet, filters: Filters, folder: Path) -> list[dict[str, Any]]:
    with counted(swept, chosen, filters, folder) as found:
        return found.rows.to_arrow_table().to_pylist()


def test_a_place_counts_for_each_n_gram_there_and_a_whole_stands_before_its_parts(tmp_path: Path) -> None:
    rows = mined(
        documents(
            (30, "recipe of chicken soup, hot"),
            (20, "recipe of chicken, fried"),
            (40, "recipe of General Tso's chicken, fried"),
            (1, "recipe of General knowledge"),
        ),
        tmp_path,
    )
    assert {name: row["count"] for name, row in rows.items()} == {
        "chicken": 50, "General": 41, "General Tso's chicken": 40, "General Tso's": 40, "chicken soup": 30,
    }  # fmt: skip
    assert list(rows) == ["chicken", "General", "General Tso's chicken", "General Tso's", "chicken soup"]


def test_spellings_are_counted_together_and_the_most_frequent_is_shown(tmp_path: Path) -> None:
    texts = documents((3, "طريقة عمل الكبسة"), (2, "طريقة عمل الكَبسه"), (1, "طريقة عمـل الكبسه"))
    (row,) = mined(texts, tmp_path, "ar").values()
    assert (row["entity"], row["count"], row["folded"]) == ("الكبسة", 6, "الکبسه")


def test_documents_that_are_equal_count_once(tmp_path: Path) -> None:
    copies = ["Today: recipe of ramen. And again, recipe of ramen"] * 5
    assert mined(copies, tmp_path / "copies") == {}
    (row,) = mined([*copies, "recipe of ramen"], tmp_path / "two").values()
    assert (row["count"], row["documents"]) == (3, 2)


def test_contexts_are_of_different_documents_and_patterns_are_counted(tmp_path: Path) -> None:
    texts = documents(
        (5, "recipe of ramen!"), (4, "ramen is a traditional dish"), (2, "so ramen is a traditional dish")
    )
    row = mined(texts, tmp_path)["ramen"]
    assert len(set(row["contexts"])) == 3
    assert row["patterns"] == [
        {"pattern": "___ is a traditional dish", "count": 6},
        {"pattern": "recipe of ___", "count": 5},
    ]


def test_lengths_are_in_characters_where_words_have_no_spaces(tmp_path: Path) -> None:
    texts = documents((4, "肉じゃがの作り方"), (3, "チキンカレーの作り方"))
    rows = mined(
        texts, tmp_path, "ja", '[ja]\nmax_characters = 5\npatterns = ["___の作り方"]\n[filters]\nmin_count = 2'
    )
    assert set(rows) == {"肉じゃが"}


# Corpora.


def in_every_form(folder: Path, texts: Sequence[str]) -> dict[str, Path]:
    """The same documents in every supported format."""
    raw = "".join(json.dumps({"text": text}, ensure_ascii=False) + "\n" for text in texts).encode()
    escaped = "".join(json.dumps({"text": text}) + "\r\n" for text in texts).encode()
    plain = "\n\n".join(texts).encode()
    files = {
        "raw.jsonl": raw,
        "escaped.json": escaped,
        "mark.jsonl": b"\xef\xbb\xbf" + raw,
        "plain.txt": plain,
        "raw.jsonl.gz": gzip.compress(raw[:700]) + gzip.compress(raw[700:]),
        "escaped.jsonl.bz2": bz2.compress(escaped),
        "plain.zst": pa.compress(plain, "zstd", asbytes=True),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    pq.write_table(pa.table({"text": list(texts)}), folder / "column.parquet", row_group_size=7)
    return {name: folder / name for name in [*files, "column.parquet"]}


def test_every_form_of_a_corpus_gives_the_same_rows(tmp_path: Path) -> None:
    parts = ((5, 'طريقة عمل الكبسة، "نعم"'), (6, "المنسف طبق تقليدي"), (30, "شيء آخر"))
    chosen, filters = patterns_of("ar")
    found = {}
    for name, file in in_every_form(tmp_path, documents(*parts)).items():
        folder = tmp_path / f"work-{name}"
        swept = sweep(open_corpus([file], "text", block=500), chosen, folder)
        assert (swept.documents, swept.broken) == (41, 0), name
        found[name] = rows_of(swept, chosen, filters, folder)
    assert {row["entity"] for row in found["raw.jsonl"]} == {"الكبسة", "المنسف"}
    assert all(rows == found["raw.jsonl"] for rows in found.values())


def test_blocks_of_any_size_hold_every_line_once(tmp_path: Path) -> None:
    chosen, _ = patterns_of("en")
    texts = [f"{'x' * (3 * number % 40)} recipe of dish{number}" for number in range(15)]
    file = tmp_path / "corpus.txt"
    file.write_text("\n".join(texts), encoding="utf-8")
    for block in (1, 7, 40, 64, 1000, 10**6):
        swept = sweep(open_corpus([file], "text", block), chosen, tmp_path / f"work{block}")
        assert (swept.lines, swept.documents, swept.hits) == (15, 15, 15), block


WINDOWS = """
[filters]
min_count = 1
min_documents = 1
[ja]
patterns = ["名物の___", "___のレシピ", "名物「___」です"]
unit = "window"
max_characters = 10
[en]
patterns = ["recipe of ___"]
unit = "window"
"""
TEXTS = [
    "札幌名物の味噌ラーメンとは、北海道の料理",
    "名物の味噌ラーメンを作ってみた",
    "名物のうまい店",
    "名物のうどん",
    "名物の何かはここ",
]


def test_a_window_is_the_characters_beside_the_slot_as_they_stand() -> None:
    assert in_slots("ja", TEXTS[0], WINDOWS) == [("味噌ラーメンとは、北",)]
    assert in_slots("ja", "今日は北海道の味噌ラーメンのレシピ", WINDOWS) == [("北海道の味噌ラーメン",)]
    assert in_slots("ja", TEXTS[3], WINDOWS) == [("うどん",)]  # up to the end of the line
    assert in_slots("ja", "名物「きつねうどん」です", WINDOWS) == [("きつねうどん",)]  # enclosed: no window
    with pytest.raises(CatalogError, match=r"windows.*languages"):
        patterns_of("en", WINDOWS)


def reads(body: Mapping[str, Any], before: int) -> Reply:
    """A model that finds miso ramen, and a dish that no window holds."""
    named = "味噌ラーメン" if "味噌ラーメン" in body["messages"][-1]["content"] else "そば"
    answer = json.loads(completion({"model": "m"}, "", 1))
    answer["choices"][0]["message"]["content"] = json.dumps({"mentions": [{"text": named, "kind": "dish"}]})
    return Reply(body=json.dumps(answer).encode())


def test_a_model_reads_windows_as_the_texts_of_an_import(tmp_path: Path) -> None:
    (tmp_path / "patterns.toml").write_text(WINDOWS, encoding="utf-8")
    (tmp_path / "corpus.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    page = (Path(__file__).parents[2] / "docs/collecting.md").read_text(encoding="utf-8")
    read, run, query = re.findall(r"(?m)^    polyculture ((?:import|run|sql) .*read\.toml.*)", page)
    with StubServer(behaviour=reads) as server:
        for words in (list(mine("corpus.txt", language="ja", output="windows.csv")), shlex.split(read)):
            done = polyculture(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
        file = tmp_path / "read.toml"
        text = re.sub('(?m)^with = "gazetteer".*', 'with = "openai:m"', file.read_text("utf-8"))
        file.write_text(f'{text}\n[options.openai]\nbase_url = "{server.url}"\n', "utf-8")
        for words in (shlex.split(run), shlex.split(query)):
            done = polyculture(*words, cwd=tmp_path)
            assert done.returncode == 0, done.stderr
    exported = polyculture(
        *["corpus", "mine", "export", "counts.csv", "-o", "sheet.csv", "--annotators", "ana"], cwd=tmp_path
    )
    assert exported.returncode == 0, exported.stderr
    with (tmp_path / "sheet-ana.csv").open(encoding="utf-8-sig", newline="") as sheet:
        assert [(row["entity"], row["count"]) for row in csv.DictReader(sheet)] == [("味噌ラーメン", "2")]


def test_broken_lines_are_counted_and_named(tmp_path: Path) -> None:
    chosen, _ = patterns_of("en")
    lines = [json.dumps({"text": f"page {number}, recipe of ramen"}) for number in range(50)]
    lines[7], lines[20], lines[33] = lines[7][:20], "", '{"body": "recipe of ramen"}'
    file = tmp_path / "corpus.jsonl"
    file.write_bytes("\n".join(lines).encode() + b'\n{"text": "recipe of \xff"}\n[1]\n')
    for block in (200, 10**6):
        files = open_corpus([file], "text", block)
        swept = sweep(files, chosen, tmp_path / f"work{block}")
        assert [line for _, line, _ in swept.broken_lines] == [8, 34, 51, 52]
        reasons = [reason.split(":")[0] for _, _, reason in swept.broken_lines]
        assert reasons == ["not JSON", "has no text in 'text'", "not JSON", "has no text in 'text'"]
        assert (swept.broken, swept.lines, swept.documents, swept.hits) == (4, 52, 47, 47)


def write_big_corpus(folder: Path, size: int) -> list[Path]:
    """Files of several formats with `size` documents, and hits spread over them."""
    randomness = random.Random(4)
    dishes = ["ramen", "chicken soup", "chicken", "fish & chips", "trifle"]
    filler = "nothing to see here, move along please. " * 60
    lines = [
        f"{number} {filler}{'recipe of ' + randomness.choice(dishes) + ', so' if number % 9 == 0 else ''}"
        for number in range(size)
    ]
    texts = [json.dumps({"text": line}).encode() for line in lines]
    files = [folder / name for name in ("a.jsonl", "b.jsonl.gz", "c.txt")]
    files[0].write_bytes(b"\n".join(texts[: size // 2]))
    files[1].write_bytes(gzip.compress(b"\n".join(texts[size // 2 : size - 2000]), 1))
    files[2].write_text("\n".join(lines[size - 2000 :]), encoding="utf-8")
    return files


@pytest.mark.usefixtures("all_threads")
def test_the_result_does_not_depend_on_processes_or_the_order_of_files(tmp_path: Path) -> None:
    files = write_big_corpus(tmp_path, 5_000)
    (tmp_path / "patterns.toml").write_text(PATTERNS, encoding="utf-8")
    outputs = []
    for processes, order in (("1", files), ("2", files[::-1])):
        output = tmp_path / f"counts-{processes}.csv"
        command = mine(*order, output=output)
        done = polyculture(*command, "--processes", processes, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        outputs.append(output.read_bytes())
    assert outputs[0] == outputs[1]
    rows = list(csv.DictReader(outputs[0].decode().splitlines()))
    counts = {row["entity"]: int(row["count"]) for row in rows}
    assert counts.keys() == {"ramen", "chicken soup", "chicken", "fish & chips", "fish", "trifle"}
    assert sum(counts[name] for name in ("ramen", "chicken", "fish", "trifle")) == len(range(0, 5_000, 9))
    told = json.loads((tmp_path / "counts-1.csv.provenance.json").read_text(encoding="utf-8"))
    assert told["intake"]["documents"] == 5_000
    assert not list(tmp_path.glob(".*"))


def test_stopped_by_ctrl_c_it_leaves_no_output_and_goes_on_later(tmp_path: Path) -> None:
    files = write_big_corpus(tmp_path, 14_000)
    (tmp_path / "patterns.toml").write_text(PATTERNS, encoding="utf-8")
    command = mine(*files)
    work = tmp_path / ".counts.csv.mining"
    codes: list[int] = []
    while len(codes) < 8 and 130 not in codes:  # the scan may be faster than the signal
        (tmp_path / "counts.csv").unlink(missing_ok=True)
        process = start_polyculture(*command, cwd=tmp_path)
        deadline = time.monotonic() + 60
        while not list(work.rglob("*-*.parquet")) and time.monotonic() < deadline:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        codes.append(process.wait(timeout=30))
    assert codes[-1] == 130
    assert not (tmp_path / "counts.csv").exists()
    assert list(work.rglob("*-*.parquet"))
    assert polyculture(*command, cwd=tmp_path).returncode == 0
    calm = polyculture(*command[:-1], "calm.csv", cwd=tmp_path)
    assert calm.returncode == 0
    assert (tmp_path / "counts.csv").read_bytes() == (tmp_path / "calm.csv").read_bytes()


def test_a_sweep_goes_on_where_it_was_killed_and_takes_added_files(tmp_path: Path) -> None:
    chosen, filters = patterns_of("en")
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text("\n".join(documents((40, "recipe of ramen"))), encoding="utf-8")
    two.write_text("\n".join(documents((3, "recipe of trifle, says two"))), encoding="utf-8")

    def run(*files: Path) -> tuple[SweepReport, list[dict[str, Any]], int]:
        read: list[int] = []
        corpus = open_corpus(files, "text", block=200)
        swept = sweep(corpus, chosen, tmp_path / "work", progress=read.append)
        return swept, rows_of(swept, chosen, filters, tmp_path / "work"), len(read)

    whole, rows, blocks = run(one)
    assert blocks > 3
    assert run(one)[2] == 0, "nothing is scanned twice"
    for part in sorted((tmp_path / "work").rglob("*-*.parquet"))[1:3]:
        part.unlink()
    again, same, scanned = run(one)
    assert (scanned, same, again.documents) == (2, rows, whole.documents)
    more, added, _ = run(one, two)
    assert more.documents == 43
    assert {row["entity"] for row in added} == {"ramen", "trifle"}
    one.write_text("\n".join(documents((5, "recipe of sushi"))), encoding="utf-8")
    assert {row["entity"] for row in run(one)[1]} == {"sushi"}, "a file that was changed is another file"


def test_a_file_that_ends_too_early_is_named_and_the_rest_is_counted(tmp_path: Path) -> None:
    randomness = random.Random(1)
    texts = ["recipe of ramen, " + "".join(randomness.choices("abcdefgh ", k=2_000)) for _ in range(300)]
    whole = gzip.compress("\n".join(json.dumps({"text": text}) for text in texts).encode())
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[: len(whole) - 50_000])
    (tmp_path / "other.txt").write_text("\n".join(documents((9, "recipe of trifle"))), encoding="utf-8")
    (tmp_path / "patterns.toml").write_text(PATTERNS, encoding="utf-8")
    command = mine("cut.jsonl.gz", "other.txt")
    done = polyculture(*command, cwd=tmp_path)
    assert done.returncode == 4, done.stderr
    assert "cut.jsonl.gz: " in done.stderr
    assert "1 of 2 files" in done.stderr.splitlines()[-1]
    entities = {row["entity"] for row in csv.DictReader((tmp_path / "counts.csv").read_text("utf-8").splitlines())}
    assert {"ramen", "trifle"} <= entities
    (tmp_path / "cut.jsonl.gz").write_bytes(whole)
    done = polyculture(*command, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "309 documents" in done.stderr
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd"])
def test_a_cut_archive_is_read_nearly_up_to_the_cut(tmp_path: Path, codec: Any) -> None:
    """Regression: a small truncated archive ended the command, without a report on other files."""
    randomness, file = random.Random(2), tmp_path / "web.txt.packed"
    lines = ["recipe of ramen " + "".join(randomness.choices("abcdefgh ", k=4_000)) for _ in range(500)]
    with pa.CompressedOutputStream(str(file), codec) as stream:
        stream.write("\n".join(lines).encode())
    file.write_bytes(file.read_bytes()[: file.stat().st_size * 4 // 5])
    (tmp_path / "patterns.toml").write_text(PATTERNS, encoding="utf-8")
    chosen, _ = read_patterns(tmp_path / "patterns.toml", "en")
    swept = sweep(open_corpus([file], "text"), chosen, tmp_path / "work")
    assert list(swept.failures) == [str(file)]
    assert swept.documents > 100
    assert swept.text > len("\n".join(lines)) * {"gzip": 0.75, "bz2": 0.3, "zstd": 0.7}[codec]


@pytest.mark.parametrize(
    ("patterns", "told"),
    [
        ('[en]\npatterns = ["recipe of"]', "en.patterns.1: 'recipe of' has not exactly one slot ___"),
        ('[en]\npatterns = ["a ___ b ___"]', "en.patterns.1: 'a ___ b ___' has not exactly one slot"),
        ('[en]\npatterns = ["x ___", "____"]', "en.patterns.2: '____' has not exactly one slot"),
        ('[en]\npatterns = ["... ___"]', "'... ___' has no word beside its slot"),
        ('[en]\npatterns = ["Recipe of ___", "recipe  of ___"]', "'recipe  of ___' is the same as 'Recipe of ___'"),
        ("[en]\npatterns = []", "en: patterns: "),
        ('[en]\npatterns = ["recipe ___"]\nmax_word = 3', "en: unknown key 'max_word'. Did you mean 'max_words'?"),
        ('[en]\npatterns = ["recipe ___"]\nmax_words = 0', "en: max_words: "),
        ('[en]\npatterns = ["recipe ___"]\n[filters]\nmin_count = "5"', "filters: min_count: "),
        ('[en]\npatterns = ["recipe ___"]\n[de]\npatterns = ["Rezept ___"]', "Name one with --language: de, en."),
        ("patterns = [", "not valid TOML"),
        ("", "holds no patterns"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_patterns_is_told(tmp_path: Path, patterns: str, told: str) -> None:
    (tmp_path / "patterns.toml").write_text(patterns, encoding="utf-8")
    with pytest.raises(CatalogError) as fault:
        read_patterns(tmp_path / "patterns.toml", None)
    assert told in str(fault.value)
    assert "patterns.toml" in str(fault.value)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--corpus", "none.txt"], "none.txt: there is no such file"),
        (["--corpus", "corpus.jsonl", "--text-field", "body"], "has no field 'body'. Name the one that holds the text"),
        (
            ["--corpus", "t.parquet"],
            "t.parquet: has no column 'text'. Name the one that holds the text with --text-field",
        ),
        (["--corpus", "t.parquet", "--text-field", "n"], "column 'n' holds int64, not text"),
        (["--corpus", "binary"], "binary: is not text"),
        (["--corpus", "empty"], "empty: holds no file"),
        (["--corpus", "corpus.jsonl", "--language", "eng"], "holds no patterns in 'eng'. Did you mean 'en'?"),
        (["--corpus", "corpus.jsonl", "-f", "parquet"], "Parquet is not for the terminal"),
        (["--corpus", "array.json"], "not one line of the corpus could be read"),
    ],
)
def test_a_mistake_in_the_corpus_is_one_line(tmp_path: Path, words: list[str], told: str) -> None:
    (tmp_path / "patterns.toml").write_text('[en]\npatterns = ["recipe of ___"]', encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text('{"text": "recipe of ramen"}\n', encoding="utf-8")
    (tmp_path / "array.json").write_text('[\n  {\n    "text": "recipe of ramen"\n  }\n]\n', encoding="utf-8")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 10)
    (tmp_path / "empty").mkdir()
    pq.write_table(pa.table({"n": [1], "body": ["x"]}), tmp_path / "t.parquet")
    done = polyculture("corpus", "mine", "--processes", "1", "--patterns", "patterns.toml", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert told in done.stderr.splitlines()[-1]


# Annotators.


@pytest.mark.parametrize(
    "table",
    [
        [[20, 5], [10, 15]],
        [[88, 14, 18], [10, 40, 10], [2, 6, 12]],
        [[1, 7, 0, 2], [3, 30, 4, 0], [0, 2, 9, 1], [5, 0, 0, 3]],
        [[50, 0], [3, 0]],
    ],
)
def test_the_interval_is_that_of_the_delta_method(table: list[list[int]]) -> None:
    """The published variance against the delta method: gradient of kappa, covariance of a multinomial."""
    size, n = len(table), sum(map(sum, table))
    shares = [count / n for row in table for count in row]

    def kappa(shares: Sequence[float]) -> float:
        rows = [sum(shares[size * i : size * (i + 1)]) for i in range(size)]
        columns = [sum(shares[j::size]) for j in range(size)]
        expected = sum(a * b for a, b in zip(rows, columns, strict=True))
        return (sum(shares[:: size + 1]) - expected) / (1 - expected)

    step = 1e-6
    moved = [[share + step * (place == at) for place, share in enumerate(shares)] for at in range(len(shares))]
    gradient = [(kappa(there) - kappa(shares)) / step for there in moved]
    mean = sum(g * share for g, share in zip(gradient, shares, strict=True))
    variance = sum(share * (g - mean) ** 2 for g, share in zip(gradient, shares, strict=True)) / n
    pairs = [(f"l{i}", f"l{j}") for i in range(size) for j in range(size) for _ in range(table[i][j])]
    found = cohens_kappa(pairs)
    assert found.kappa is not None
    assert found.high is not None
    assert isclose(found.kappa, kappa(shares), abs_tol=1e-12)
    assert isclose(found.high, min(1.0, kappa(shares) + 1.959964 * sqrt(variance)), abs_tol=1e-4)


def test_kappa_of_a_published_table() -> None:
    """Cohen (1968), doi:10.1037/h0026256: 200 cases in three categories, kappa .492."""
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    pairs = [(str(i), str(j)) for i in range(3) for j in range(3) for _ in range(table[i][j])]
    found = cohens_kappa(pairs)
    assert found.kappa is not None
    assert isclose(found.kappa, 0.492, abs_tol=5e-4)


@pytest.mark.parametrize("pairs", [[], [("yes", "yes")] * 9])
def test_kappa_has_no_value_where_chance_alone_agrees(pairs: list[tuple[str, str]]) -> None:
    assert cohens_kappa(pairs).kappa is None


def sheet(annotator: str, **judgements: str) -> AnnotatedSheet:
    rows = {key: {"entity": key, "context_1": f"about {key}"} for key in judgements}
    return AnnotatedSheet(annotator, rows, {key: value for key, value in judgements.items() if value})


def test_agreed_rows_are_kept_and_the_others_reported() -> None:
    ana = sheet("ana", a="yes", b="yes", c="no", d="yes", e="")
    ben = sheet("ben", a="yes", b="no", c="no", d="yes", e="yes")
    eva = sheet("eva", a="yes", b="yes", c="no", d="no", e="yes", f="yes")
    found = compare([ana, ben, eva])
    assert [row[:3] for row in found.agreed] == [("a", "a", "yes")]
    assert [row[:5] for row in found.disputed] == [("b", "b", "yes", "no", "yes"), ("d", "d", "yes", "yes", "no")]
    assert (found.rejected, found.unjudged) == (1, 2)
    assert [(pair.annotators, pair.kappa.n) for pair in found.pairs] == [
        (("ana", "ben"), 4), (("ana", "eva"), 4), (("ben", "eva"), 5),
    ]  # fmt: skip
    assert [row[:3] for row in compare([ana, ben], ["yes"]).agreed] == [("c", "c", "no")]


def judge(path: Path, judgements: Sequence[str], delimiter: str = ",") -> None:
    """Fills in a sheet as a spreadsheet saves it: other order, other delimiter, no byte order mark."""
    rows = list(csv.reader(path.read_text(encoding="utf-8-sig").splitlines()))
    for row, judgement in zip(rows[1:], judgements, strict=True):
        row[rows[0].index("judgement")] = judgement
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([rows[0], *reversed(rows[1:])])


def test_sheets_go_out_and_come_back(tmp_path: Path) -> None:
    texts = documents((9, "=SUM(A1), recipe of ramen"), (5, "recipe of trifle"), (4, "recipe of nothing, really"))
    (tmp_path / "corpus.txt").write_text("\n".join(texts), encoding="utf-8")
    (tmp_path / "patterns.toml").write_text(PATTERNS, encoding="utf-8")
    assert polyculture(*mine("corpus.txt"), cwd=tmp_path).returncode == 0
    export = ("corpus", "mine", "export", "counts.csv", "-o", "sheet.csv", "--annotators", "ana", "ben")
    assert polyculture(*export, cwd=tmp_path).returncode == 0
    ana, ben = (tmp_path / f"sheet-{name}.csv" for name in ("ana", "ben"))
    assert ana.read_bytes() == ben.read_bytes()
    assert ana.read_bytes().startswith(b"\xef\xbb\xbf")
    header, *rows = csv.reader(ana.read_text(encoding="utf-8-sig").splitlines())
    assert header[:4] == ["id", "entity", "judgement", "note"]
    assert [row[1] for row in rows] == ["ramen", "trifle", "nothing"]
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in rows for cell in row)
    assert "sheet-ana.csv: is there already" in one_line(polyculture(*export, cwd=tmp_path))
    judge(ana, ["Yes", "yes ", "no"])
    judge(ben, ["yes", "no", "No"], ";")
    agree = [
        "corpus",
        "mine",
        "agree",
        "sheet-ana.csv",
        "sheet-ben.csv",
        "-o",
        "entities.csv",
        "--disagreements",
        "open.csv",
    ]
    assert "named twice" in one_line(
        polyculture("corpus", "mine", "agree", "sheet-ana.csv", "./sheet-ana.csv", "-o", "entities.csv", cwd=tmp_path)
    )
    done = polyculture(*agree, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 rejected, 1 disputed" in done.stderr
    assert "0.667" in done.stdout
    assert "trifle" in done.stdout
    agreed = list(csv.DictReader((tmp_path / "entities.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["entity"], row["judgement"], row["count"]) for row in agreed] == [("ramen", "yes", "9")]
    assert "trifle" in (tmp_path / "open.csv").read_text(encoding="utf-8-sig")


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"id,entity\nm1,ramen\n", "one.csv: has no column 'judgement'"),
        (
            "id,entity,judgement\nm1,crème,yes\n".encode("latin-1"),
            "one.csv: is not UTF-8. Save it from the spreadsheet",
        ),
        (b"id,entity,judgement\nm1,ramen,yes\nm1,ramen,no\n", "one.csv: has the row m1 (ramen) twice"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_one_line(tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "one.csv").write_bytes(content)
    (tmp_path / "two.csv").write_bytes(b"id,entity,judgement\nm1,ramen,yes\n")
    assert told in one_line(polyculture("corpus", "mine", "agree", "one.csv", "two.csv", "-o", "out.csv", cwd=tmp_path))
    assert "two annotators" in one_line(
        polyculture("corpus", "mine", "agree", "two.csv", "-o", "out.csv", cwd=tmp_path)
    )
