"""The picture of the first page: a line for each country that prompts name, a dot for each model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from polyculture.cache.store.manifest import Manifest
from polyculture.metrics.text_selections import TextSelections
from polyculture.reports.asked_about import CountryLine, PictureTitle
from polyculture.reports.figures.chart import Chart, Links, Margins, Mark
from polyculture.reports.figures.figure import Figure, Key, Panel, model_keys
from polyculture.reports.figures.kinds import axis_limits, points
from polyculture.reports.figures.style import INK, MUTED, PAPER, label_width, plain
from polyculture.reports.names import Names, ordered
from polyculture.reports.numbers import count, rests_on, share
from polyculture.reports.texts import texts

_ALL_TEXTS = TextSelections()
_WIDE = 240.0  # points, with the names of other countries: so that a telephone shows all of it, made smaller
_LETTERS, _NAME = 42, 18  # of a line's words, and of the other country's name
_SHOWN = 12  # countries of the picture; the others are found by a search
_TEXT, _APART = 11.0, 4.0  # points: a line of words, and from one model's dot to the next
_NUMBER, _NUMBERED = (
    10.0,
    3,
)  # points from one number of items (n) to the next, and of how many models there is room for


def asked_about(
    lines: Sequence[CountryLine],
    said: PictureTitle,
    manifest: Manifest,
    names: Names,
    selections: TextSelections = _ALL_TEXTS,
) -> Figure:
    """The figure; its title is the sentence. `selections` says what `CountryLine.answering` leaves out.

    Of more than `_SHOWN` countries it has those with the most linked items, and the one of the sentence. Each country
    has a panel of its own in a fold then; those of the others are shown there, and a search finds all.
    """
    told = texts().figures["asked_about"]
    models = ordered(manifest.models, {model for line in lines for model in line.models})
    unspoken = [
        f"{told.panels[reason].format(left_out=selections.joined('and'))}: "
        f"{', '.join(names.country(line.country) for line in lines if line.withheld == reason)}"
        for reason in dict.fromkeys(line.withheld for line in lines if line.withheld)
    ]
    absent = [names.country(code) for code in manifest.countries if code not in {line.country for line in lines}]
    unspoken += [f"{told.panels['absent']}: {', '.join(absent)}"] if absent else []
    left_out = f"{told.panels['withheld']} {'; '.join(unspoken)}." if unspoken else ""
    keys = [*model_keys(models, names), Key(told.keys[0], "◇")]
    if any(rests_on(found.items) for line in lines for found in line.models.values()):
        keys.append(Key(told.keys[1], "○"))
    shown, top = _shown(lines, said), _reach(lines, names)
    chart = _chart(shown, models, f"{said.says}. {said.rests}", names, top)
    panels = [
        Panel(
            name := names.country(line.country),
            _chart([line], models, name, names, top),
            drawn_above=line in shown,
        )
        for line in (lines if len(shown) < len(lines) else ())
    ]
    details = " ".join(
        filter(None, (told.caption, _cells(lines, manifest, names), *_snapshots(lines, names), left_out))
    )
    return Figure(
        said.says, said.rests, ((Panel("", chart),),), tuple(keys), None, tuple(panels),
        told.fold.format(shown=len(shown), countries=len(lines)), " ".join(details.split()), tuple(absent),
    )  # fmt: skip


def _shown(lines: Sequence[CountryLine], said: PictureTitle) -> list[CountryLine]:
    """The lines of the picture, in their order."""

    def rank(line: CountryLine) -> tuple[bool, int]:
        return line.country != said.country, -sum(one.items for one in line.models.values())

    first = {line.country for line in sorted(lines, key=rank)[:_SHOWN]}
    return [line for line in lines if line.country in first]


def _reach(lines: Sequence[CountryLine], names: Names) -> float:
    """The end of the axis, which all charts share."""
    rows = [_row(line, model, 0, names) for line in lines for model in line.models]
    ends = [*(row[name] for name in ("x", "high") for row in rows), *(_mean(line) for line in lines if line.other)]
    return min(1.0, axis_limits(pd.DataFrame({"x": ends}))[1])


def _cells(lines: Sequence[CountryLine], manifest: Manifest, names: Names) -> str:
    """A sentence on what the cells are of: their languages, and their topics where these are not all."""
    said = texts().figures["asked_about"].panels
    languages = ordered(manifest.languages, {code for line in lines for code in line.languages})
    topics = ordered(manifest.topics, {code for line in lines for code in line.topics})
    if not languages:
        return ""
    places = ", ".join(map(names.language, languages))
    if len(topics) < len(manifest.topics):
        places += f", about {', '.join(map(names.topic, topics))}"
    same = all((set(line.languages), set(line.topics)) == (set(languages), set(topics)) for line in lines)
    return said["cells"].format(places=places, some="" if same else said["some"])


def _snapshots(lines: Sequence[CountryLine], names: Names) -> Iterator[str]:
    """A sentence on each further snapshot that the run was linked with: what it changes of each country."""
    said = texts().figures["asked_about"].panels
    for snapshot in dict.fromkeys(name for line in lines for name in line.snapshots):
        parts = []
        for line in (one for one in lines if snapshot in one.snapshots):
            of = line.snapshots[snapshot]
            here, nowhere = (sum(values) / len(of) for values in zip(*of.values(), strict=True))
            before = sum(line.models[model].here.value for model in of) / len(of)
            shares = {"here": share(here, 1), "before": share(before, 1), "nowhere": share(nowhere, 1)}
            parts.append(said["of_snapshot"].format(country=names.country(line.country), **shares))
        yield said["snapshot"].format(snapshot=snapshot, countries="; ".join(parts))


def _nowhere(line: CountryLine) -> str:
    return texts().figures["asked_about"].panels["nowhere"].format(share=share(line.nowhere, 1))


def _chart(lines: Sequence[CountryLine], models: Sequence[str], alternative: str, names: Names, top: float) -> Chart:
    few = any(rests_on(found.items) for line in lines for found in line.models.values())
    apart = 1.5 if len(models) > _NUMBERED else _NUMBER if few else _APART
    step = _TEXT + max(9.0, apart * len(models) + 6)
    middle = (_TEXT / 2) / step  # of a line's dots, below the middle of its row
    frame = pd.DataFrame(
        [
            _row(line, model, row + middle + (number - (len(models) - 1) / 2) * apart / step, names)
            for row, line in enumerate(lines)
            for number, model in enumerate(models)
            if model in line.models
        ]
    ).astype({"low": float, "high": float})
    if len(models) > _NUMBERED:  # the dots are nearer than numbers are high: a dot's own words have its number
        frame["thin"] = frame["thin"].where(frame["thin"] == "", " ")
    others = [(row + middle, line, _mean(line)) for row, line in enumerate(lines) if line.other]
    beside = [plain(names.country(line.other), _NAME) for _, line, _ in others]
    room = label_width([*beside, *map(_nowhere, lines)])

    def paint(axes: Axes, links: Links) -> None:
        axes.set(xlim=(0, top), ylim=(len(lines) - 0.5, -0.5), xlabel=texts().figures["asked_about"].axis, yticks=[])
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.grid(axis="x")
        for row, line in enumerate(lines):
            up = row - 0.5 + 0.6 * _TEXT / step
            things = ", ".join(plain(thing, 20) for thing in line.things)
            said = f"{plain(names.country(line.country))}: {things}"
            words = said if len(said) <= _LETTERS else f"{said[: _LETTERS - 1]}…"  # the commonest things come first
            behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}  # no grid line runs through the words
            axes.text(0, up, words, va="center_baseline", color=INK, bbox=behind, zorder=1)
            axes.annotate(
                _nowhere(line), (top, up), (8, 0), textcoords="offset points", va="center_baseline", color=MUTED
            )
            if line.other:
                axes.annotate(
                    plain(names.country(line.other), _NAME), (top, row + middle), (8, 0),
                    textcoords="offset points", va="center", color=MUTED,
                )  # fmt: skip
        urls = links.urls(_other_mark(line, mean, names) for _, line, mean in others)
        axes.scatter(
            [mean for *_, mean in others], [at for at, *_ in others],
            s=12, marker="D", facecolor=PAPER, edgecolor=MUTED, linewidth=0.8, zorder=2.5, urls=urls,
        )  # fmt: skip
        points(axes, frame, models, links, axes.hlines, "y")
        axes.set(xlabel=texts().figures["asked_about"].axis, ylabel="")

    return Chart(alternative, frame, paint, _WIDE - room, Margins(8, 3, 12 + room, 28), height=step * len(lines))


def _row(line: CountryLine, model: str, at: float, names: Names) -> dict[str, object]:
    found = line.models[model]
    interval = line.interval(model)
    low, high = interval or (float("nan"), float("nan"))
    limits = f", {share(low, 1)} to {share(high, 1)}" if interval else ""
    value = f"{share(found.here.value, 1)}{limits}; n = {count(found.items)}"
    says = f"{names.model(model)}, {names.country(line.country)}: {value}"
    mark = Mark(says, {"model": model, "country": line.country, "condition": line.condition})
    return {
        "series": model, "x": found.here.value, "y": at, "low": low, "high": high, "mark": mark,
        "thin": rests_on(found.items) or "",
    }  # fmt: skip


def _mean(line: CountryLine) -> float:
    return sum(one.elsewhere.value for one in line.models.values()) / len(line.models)


def _other_mark(line: CountryLine, mean: float, names: Names) -> Mark:
    other = names.country(line.other)
    says = f"{names.country(line.country)}, from {other}: {share(mean, 1)}, the mean of the models"
    return Mark(says, {"country": line.country, "condition": line.condition, "origin": other})
