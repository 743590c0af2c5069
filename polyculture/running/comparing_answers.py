"""Answers, or imported scores, of two runs or more as sides of one comparison: joined, as for a leaderboard."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from polyculture.cache.errors import StoreError, UntestableError
from polyculture.cache.files import scratch_folder
from polyculture.cache.log import Tell
from polyculture.cache.store.joined import JoinedRun, join_runs
from polyculture.cache.store.manifest import require_run
from polyculture.cache.store.run_folder import RunFolder
from polyculture.cache.store.store import open_store
from polyculture.instruments.questions.ranked import ANSWERED
from polyculture.metrics import KEPT
from polyculture.metrics.comparison.baseline import paired_models
from polyculture.metrics.comparison.columns import ComparedRun
from polyculture.metrics.comparison.question import ComparisonQuestion, OpenedRun
from polyculture.metrics.comparison.sides import Sides
from polyculture.metrics.means import MOST_UNKNOWN
from polyculture.metrics.model_health import shared_answers


def joined_answers(
    stack: ExitStack, candidate: RunFolder, baselines: Sequence[RunFolder], question: ComparisonQuestion, tell: Tell
) -> tuple[OpenedRun, list[Sides]]:
    """A run with the answers of a candidate and its baselines, and the models that are compared: a of the candidate.

    Models are paired by the questions, or items, that both answered; `tell` takes a line on how these differ. Raises
    `StoreError` where no models are to be paired, or where answers were asked for, read or scored otherwise, and
    `UntestableError` for a condition on a candidate that lacks more than a twentieth of the questions of its baseline.
    """
    runs = [candidate, *baselines]
    manifests = [require_run(run) for run in runs]
    stores = [
        stack.enter_context(open_store(run, ANSWERED.layout, KEPT, manifest=manifest))
        for run, manifest in zip(runs, manifests, strict=True)
    ]
    study, *others = (ANSWERED.study(manifest, store) for manifest, store in zip(manifests, stores, strict=True))
    labels = [run.root.name for run in runs]
    if len(set(labels)) < len(labels):
        labels = [str(run.root) for run in runs]
    names: list[dict[str, str]] = [{} for _ in runs]
    sides: list[Sides] = []
    for at, (other, manifest) in enumerate(zip(others, manifests[1:], strict=True), start=1):
        if contradicting := other.contradicting(study):
            what = f"the answers of {labels[0]} and {labels[at]} cannot be compared: {', '.join(contradicting)}"
            raise StoreError(what, remedy="Ask both in the same way. Import logs with the same range= and cluster=.")
        if differ := other.differing(study):
            both = f"{labels[0]} and {labels[at]}"
            tell(f"compared are the questions and metrics that both runs have; {both} differ in {', '.join(differ)}")
        if (question.fail_if or question.pass_if) and other.share_lacking(study) > MOST_UNKNOWN:
            what = f"{labels[0]} lacks more than a twentieth of the questions of {labels[at]}"
            raise UntestableError(f"{what}: ask or score it on the same questions")
        for model, baseline in paired_models(manifests[0], manifest, *question.names):
            a = names[0].setdefault(model, f"{model} ({labels[0]})")
            b = names[at].setdefault(baseline, f"{baseline} ({labels[at]})")
            sides.append(Sides("model", a, b))
    for one in shared_answers(stores, ANSWERED.soundness):
        (later, model), (earlier, first) = one.model, one.earlier
        if one.is_one_model and model in names[later] and first in names[earlier]:
            tell(f"{names[later][model]} has the answers of {names[earlier][first]}: it is the same evaluation")
    joined = [
        JoinedRun(store, manifest, own, str(number))
        for number, (store, manifest, own) in enumerate(zip(stores, manifests, names, strict=True), start=1)
    ]
    run = join_runs(joined, stack.enter_context(scratch_folder("comparison")), ANSWERED.tables)
    ANSWERED.compare(run, ())
    manifest = require_run(run)
    store = stack.enter_context(open_store(run, ANSWERED.layout, KEPT, manifest=manifest))
    for line in ANSWERED.doubts(store, manifest):
        tell(line)
    return OpenedRun(candidate.root, manifest, ComparedRun(store, manifest.deterministic)), sides
