"""The command line: one function per command, each in its own file in this folder."""

from __future__ import annotations

from typing import Annotated

import typer

from polyculture import __version__
from polyculture.cli import (
    audit,
    claims,
    collect,
    compare,
    data,
    demo,
    export,
    extract,
    fine_tune,
    generate,
    import_texts,
    init,
    jobs,
    leaderboard,
    link,
    measure,
    mine,
    plan,
    prompts,
    report,
    run,
    sql,
    status,
    table,
    texts,
    view,
    wikidata,
)
from polyculture.cli.command_group import CommandGroup
from polyculture.cli.options import RetryCommand

app = typer.Typer(
    cls=CommandGroup,
    help="What does a language model know and say about the world's cultures, in every language?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: it starts in a fraction of the time
    epilog="Begin with: polyculture demo. Then: polyculture init, polyculture plan exp.toml, polyculture run exp.toml",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"polyculture {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """What does a language model know and say about the world's cultures, in every language?"""


app.command(epilog="polyculture demo --folder demo")(demo.demo)
app.command(epilog="polyculture init exp.toml")(init.init)
app.command(cls=RetryCommand, epilog="polyculture plan exp.toml --calibrate")(plan.plan)
app.add_typer(prompts.app, name="prompts")
app.command(cls=run.RunCommand, epilog="polyculture run exp.toml --job 3/16; polyculture run exp.toml --ray")(run.run)
app.command(cls=RetryCommand, epilog="polyculture generate exp.toml --language ja")(generate.generate)
app.add_typer(extract.app, name="extract")
app.add_typer(link.app, name="link")
app.command(epilog="polyculture measure exp.toml; polyculture measure exp.toml --selection right_language")(
    measure.measure
)
app.command(
    epilog="polyculture compare exp.toml openai:gpt-4o openai:gpt-4o-mini --by language; "
    "polyculture compare exp.toml explicit neutral --selection right_language"
)(compare.compare)
app.command(epilog="polyculture claims exp.toml --claims mine.toml --format csv")(claims.claims)
app.command(
    epilog="polyculture fine-tune sentiment hard.tsv --base aubmindlab/bert-base-arabertv02 -o models/hard --rows 30000"
)(fine_tune.fine_tune)
app.add_typer(audit.app, name="audit")
app.command(epilog="polyculture report exp.toml --format latex --figures figures")(report.report)
app.command(epilog="polyculture view exp.toml --port 8765")(view.view)
app.command(
    "import", epilog="polyculture import answers.jsonl --as exp.toml --text answer --language lang --topic =food"
)(import_texts.import_)
app.command(epilog="polyculture jobs exp.toml --left | parallel --jobs 4")(jobs.jobs)
app.command(epilog="polyculture status exp.toml --live")(status.status)
app.command(cls=sql.SqlCommand, epilog='polyculture sql exp.toml "select * from granularity" --format csv')(sql.sql)
wikidata.app.command(epilog="polyculture wikidata collect --class Q746549 --country JP --language ja -o dishes.csv")(
    collect.collect
)
app.add_typer(wikidata.app, name="wikidata")
app.add_typer(mine.app, name="mine")
app.add_typer(data.app, name="data")
app.command(epilog="polyculture texts exp.toml; polyculture texts exp.toml --format csv -o texts.csv")(texts.texts)
app.command(
    epilog="polyculture export exp.toml --to food-in-13-languages; polyculture export exp.toml --to run.duckdb"
)(export.export)
app.command(epilog="polyculture leaderboard exp.toml --language ja")(leaderboard.leaderboard)
app.command(
    epilog="polyculture table headline exp.toml; polyculture table bias exp.toml language=ja --format csv -o bias.csv"
)(table.table)
