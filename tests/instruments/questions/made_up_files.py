"""Ten made-up rows for every shipped set, in the form of its publisher's files: none of a row is a publisher's."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = range(10)
Rows = Iterable[Mapping[str, Any]]


def _json_lines(file: Path, rows: Rows) -> None:
    file.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")


def _json(file: Path, rows: Any) -> None:
    file.write_text(json.dumps(rows, ensure_ascii=False, indent=2), encoding="utf-8")


def _table(file: Path, rows: Rows) -> None:
    rows = list(rows)
    with file.open("w", encoding="utf-8-sig", newline="") as opened:
        writer = csv.DictWriter(opened, list(rows[0]), delimiter="\t" if file.suffix == ".tsv" else ",")
        writer.writeheader()
        writer.writerows(rows)


def _parquet(file: Path, rows: Rows) -> None:
    pq.write_table(pa.Table.from_pylist(list(rows)), file)


def _written(folder: Path, path: str, rows: Any) -> None:
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    write: Mapping[str, Callable[[Path, Any], None]] = {
        ".jsonl": _json_lines, ".json": _json, ".csv": _table, ".tsv": _table, ".parquet": _parquet,
    }  # fmt: skip
    write[file.suffix](file, rows)


def _bias(number: int, **more: Any) -> dict[str, Any]:
    """A row of BBQ's form: by turns ambiguous and not, asked for the bad and for the good."""
    ambiguous, negative = number % 2 == 0, number % 4 < 2
    return {
        "example_id": number, "question_index": str(number // 4 + 1),
        "question_polarity": "neg" if negative else "nonneg", "context_condition": "ambig" if ambiguous else "disambig",
        "category": "Gender_identity", "context": f"A woman and a man sold {number} lamps.",
        "question": "Who counted badly?" if negative else "Who counted well?",
        "ans0": "The man", "ans1": "Unknown", "ans2": "The woman", "label": 1 if ambiguous else 2,
        "answer_info": {"ans0": ["man", "M"], "ans1": ["Unknown", "unknown"], "ans2": ["woman", "F"]},
        "additional_metadata": {"subcategory": "None", "stereotyped_groups": ["F"], "version": "a", "source": ""},
        **more,
    }  # fmt: skip


def _of_bsc(number: int) -> dict[str, Any]:
    """A row of EsBBQ and CaBBQ: the third option is the English word, the group's name the last of `answer_info`."""
    row = _bias(number)
    groups = row.pop("additional_metadata")["stereotyped_groups"]
    told = {"ans0": ["home", "M"], "ans1": ["dona", "F"], "ans2": ["unknown", "unknown"]}
    return row | {
        "instance_id": number, "template_id": 1, "stereotyped_groups": groups, "answer_info": told, "ans1": "Ella",
        "ans2": "unknown", "label": 2 if row["label"] == 1 else 1, "question_type": "ambig",
    }  # fmt: skip


def _of_cbbq(number: int, condition: str) -> dict[str, Any]:
    row = _bias(2 * number + (condition == "disambiguous"))
    polarity = "neg" if row["question_polarity"] == "neg" else "non_neg"
    keys = ("question_index", "category", "context", "question", "ans0")
    return {key: row[key] for key in keys} | {
        "example_id": number, "question_polarity": polarity, "context_condition": condition, "subcategory": "",
        "category": "gender", "ans1": "女生", "ans2": "不确定", "label": 2 if condition == "ambiguous" else 1,
    }  # fmt: skip


def _of_kobbq(number: int) -> dict[str, Any]:
    kind, what = ("amb", "dis")[number % 2], ("bsd", "cnt")[number // 2 % 2]
    return {
        "sample_id": f"age-001a-{number:03}-{kind}-{what}", "label_annotation": "NC", "context": f"{number}명이 왔다.",
        "question": "누가 늦었습니까?", "choices": "['손자', '할머니', '알 수 없음']",
        "biased_answer": "할머니" if what == "bsd" else "손자", "answer": "알 수 없음" if kind == "amb" else "손자",
    }  # fmt: skip


def write(name: str, folder: Path) -> None:
    """The made-up files of a shipped set."""
    plain = [{"question": f"Which soup is number {n}?", "n": n} for n in ROWS]
    match name:
        case "bbq":
            _written(folder, "data/Gender_identity.jsonl", map(_bias, ROWS))
        case "mbbq":
            for language in ("en", "es", "nl", "tr"):
                _written(folder, f"data/Gender_identity_{language}.jsonl", map(_bias, ROWS))
                named = (_bias(n, context=f"Lu and Jo sold {n} lamps.") for n in ROWS)
                _written(folder, f"data/Gender_identity_control_{language}.jsonl", named)
        case "basqbbq":
            rows = [_bias(n, category="Genero_identitate") for n in ROWS]
            _written(folder, "data/BasqBBQ/Genero_identitate.jsonl", rows)
            _written(folder, "data/BasqBBQ/Genero_identitate_ambig.jsonl", rows[::2])
        case "pakbbq":
            for edition in ("ENG", "UR"):
                _written(folder, f"PakBBQ/PakBBQ_{edition}/Gender_identity.jsonl", map(_bias, ROWS))
        case "cbbq":
            for kind in ("ambiguous", "disambiguous"):
                _written(folder, f"data/gender/{kind}/{kind}.csv", [_of_cbbq(n, kind) for n in ROWS])
                _written(folder, f"data/gender/{kind}/templates_generate_neg.csv", [{"context": "{{NAME1}}"}])
        case "esbbq":
            _written(folder, "data_es/Gender.full.jsonl", [_of_bsc(n) for n in ROWS])
        case "cabbq":
            _written(folder, "Gender/test-00000-of-00001.parquet", [_of_bsc(n) for n in ROWS])
        case "kobbq":
            _written(folder, "data/KoBBQ_test_samples.tsv", map(_of_kobbq, ROWS))
            prompt = "고르시오.\\n\\n{context}\\n{question}\\n(A) {a}\\n(B) {b}\\n(C) {c}\\n답:"
            _written(
                folder, "evaluation/0_evaluation_prompts.tsv", [{"prompt_id": 1, "prompt": prompt, "unknown": "모름"}]
            )
        case "crows-pairs":
            rows = [{"": n, "sent_more": f"They ate {n} soups.", "sent_less": f"We ate {n} soups.",
                     "stereo_antistereo": ("stereo", "antistereo")[n % 2], "bias_type": "x"} for n in ROWS]  # fmt: skip
            _written(folder, "data/crows_pairs_anonymized.csv", rows)
        case "indibias":
            rows = [{"": n, "index": 700 + n, "modified_eng_sent_more": f"They ate {n}.", "modified_eng_sent_less":
                     f"We ate {n}.", "sent_more_hindi": f"वे {n} खाते हैं।", "sent_less_hindi": f"हम {n} खाते हैं।",
                     "bias_type": "Age", "stereo_antistereo": "stereo"} for n in ROWS]  # fmt: skip
            _written(folder, "IndiBias_v1_sample.csv", rows)
        case "geomlama":
            for language in ("en", "sw"):
                rows = ["Prompt\tCorresponding Questions\tAns\tCandidate Ans\tContext\tGPT-3 Pred"]
                for n in ROWS:
                    rows += ["\t\t\t\t\t"] if n == 5 else []
                    rows += [f'Soup {n} is <mask> here.\tWhich?\tred, blue\tblue, red, green\tsoup\t"red" one']
                (folder / f"gd_prompt_{language}.tsv").write_text("\n".join(rows), encoding="utf-8")
                (folder / f"gd_prompt_{language}_aug.tsv").write_text("Soup is red.\n", encoding="utf-8")
        case "eloquent":
            for language in ("en", "ua"):
                asked = [(n, k) for n in (1, 2) for k in range(1, 37)]
                whole = [{"id": f"{n}-{k}", "prompt": f"Breakfast {n} in country {k}?"} for n, k in asked]
                data = "task-cultural-robustness/data"
                _written(folder, f"{data}/{language}_specific.jsonl", whole)
                _written(
                    folder, f"{data}/{language}_unspecific.jsonl",
                    [{"id": str(n), "prompt": f"Breakfast {n}?"} for n in ROWS],
                )  # fmt: skip
        case "click":
            rows = [{"id": f"K_{n}", "paragraph": "", "question": f"국은 무엇인가?\n{n}", "answer": "다",
                     "choices": ["가", "나", "다", "라"]} for n in ROWS]  # fmt: skip
            _written(folder, "Dataset/Culture/Korean Food/Food_KIIP.json", rows)
        case "copal-id":
            rows = [{"premise": f"Dia makan {n} kali.", "choice1": "Ia lapar.", "choice2": "Ia tidur.", "question":
                     ("cause", "effect")[n % 2], "idx": n, "label": n % 2, "Terminology": 0, "Culture": 1,
                     "Language": 0} for n in ROWS]  # fmt: skip
            _written(folder, "data/v1/test_copal.csv", rows)
        case "include":
            rows = [{"language": "Albanian", "country": "Albania", "domain": "Arts", "subject": "Food", "level": "B1",
                     "regional_feature": "culture", "question": one["question"], "option_a": "1", "option_b": "2",
                     "option_c": "3", "option_d": "4", "answer": 3} for one in plain]  # fmt: skip
            _written(folder, "Albanian/test-00000-of-00001.parquet", rows)
        case "culturalbench":
            rows = [{"data_idx": n, "question_idx": n, "prompt_question": one["question"], "prompt_option_a": "1",
                     "prompt_option_b": "2", "prompt_option_c": "3", "prompt_option_d": "4", "answer": "C",
                     "country": "Peru"} for n, one in enumerate(plain)]  # fmt: skip
            _written(folder, "CulturalBench-Easy.csv", rows)
        case "blend-choice":
            rows = [{"MCQID": f"a-{n}", "ID": "a", "country": "UK", "prompt": f"Drink {n}? Without any explanation, "
                     "choose only one.\n\nA. tea\nB. milk\n\nAnswer:", "choices": '{"A": "tea", "B": "milk"}',
                     "choice_countries": "{}", "answer_idx": "B"} for n in ROWS]  # fmt: skip
            _written(folder, "evaluation/mc_data/mc_questions_file.csv", rows)
        case "blend-short" | "blend":
            said = [{"answers": ["차", "녹차"], "en_answers": ["tea"], "count": 3}]
            known = {"idk": 0, "no-answer": 0, "not-applicable": 0}
            asked = {
                f"a-{n}": {"question": f"음료 {n}?", "en_question": f"Drink {n}?", "annotations": said, "idks": known}
                for n in ROWS
            }
            _written(folder, "data/annotations/South_Korea_data.json", asked)
            rows = [{"": n, "ID": f"a-{n}", "Topic": "Food", "Source": "", "Question": f"음료 {n}?",
                     "Translation": f"Drink {n}?"} for n in ROWS]  # fmt: skip
            _written(folder, "data/questions/South_Korea_questions.csv", rows)
        case "culturescope":
            rows = [{"ID": f"a-{n}", "target_country": "Iran", "target_region": "high", "prompt": f"What is drunk {n}?",
                     "region_choices_list": "['tea', 'milk', 'beer', 'ayran']",
                     "region_choice_countries_list": "['Iran', 'UK', 'Greece', 'Azerbaijan']",
                     "region_choice_region_list": "['high', 'high', 'mid', 'low']", "region_answer": 0}
                    for n in ROWS]  # fmt: skip
            _written(folder, "resource/en.csv", rows)
        case _:
            raise AssertionError(f"no made-up files of {name!r}: write ten rows in its publisher's form")
