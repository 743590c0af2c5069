"""What is shown of question sets: the tables, the words beside them, and the main numbers."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent
SCORES, COVERAGE, SETTINGS, TEXTS = (
    _FOLDER / "question_scores.sql", _FOLDER / "question_coverage.sql", _FOLDER / "question_settings.sql",
    _FOLDER / "section.toml",
)  # fmt: skip
ATTENTION_TESTS = _FOLDER / "attention" / "attention_tests.sql"
# What is shown when answers have come; `section.toml` has what the report shows.
MAIN = (
    "accuracy", "chance", "acc_a", "diff_bias_a", "acc_d", "diff_bias_d", "s_amb", "s_dis", "biased", "others",
    "out_of_choice", "first_preferred", "ranked_first", "golds_found", "exact_match", "soft_match", "weighted_match",
    "f1", "all_right", "overlap", "refused", "empty", "alike_samples", "alike_questions",
    "out_of_choice_ratio",  # the one number of a model none of whose answers can be read
)  # fmt: skip
