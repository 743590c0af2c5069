"""Its section of the report."""

from pathlib import Path

from polyculture.reports.section import ReportTable
from polyculture.reports.table_section import Column, counted, number, table_section

LETTERS = Path(__file__).with_name("letters.sql")
COLUMNS = (Column("Letters", number("decimal", "letters")), Column("Answers", counted("answers")))
SECTIONS = (table_section("toy", ReportTable(LETTERS), Path(__file__).with_name("section.toml"), COLUMNS),)
