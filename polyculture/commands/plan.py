"""`polyculture plan`: what an experiment would ask, before anything is spent."""

from __future__ import annotations

from polyculture.options import ExperimentFile, Runs

SHOWN_PROMPTS = 3


def plan(experiment: ExperimentFile, runs: Runs = None) -> None:
    """Check an experiment file, and print what it would ask.

    Prompts, jobs, samples and tokens, and what of them is left; nothing is spent.
    """
    from generate.stage import missing_samples
    from polyculture.extraction import Extraction
    from polyculture.linking import check_topics, plan_linking
    from polyculture.tables import print_table
    from polyculture.workspace import open_workspace

    workspace = open_workspace(experiment, runs)
    linking = plan_linking(workspace)
    check_topics(workspace, linking.source)
    extraction = Extraction(workspace)
    n, sampling = workspace.sampling.n, workspace.sampling
    rows = []
    for model in workspace.experiment.models:
        jobs = [job for job in workspace.jobs if job.model == model]
        left = sum(missing_samples(workspace.run, job, workspace.prompts_of(job), sampling) for job in jobs)
        asked = len(workspace.prompts) * n
        rows.append((model, len(jobs), len(workspace.prompts), asked, left, left * sampling.max_tokens))
    columns = ("model", "jobs", "prompts", "responses", "left to sample", "tokens at most")
    print_table(columns, rows, title=f"{workspace.experiment.name}: {len(workspace.prompts)} prompts, {n} samples each")
    examples = [(p.language, p.topic, p.condition, p.country, p.text) for p in workspace.prompts[:SHOWN_PROMPTS]]
    print_table(("language", "topic", "condition", "country", "prompt"), examples, title="For example")
    stages = [("extract", extraction.summary), ("link", linking.summary), ("folder", str(workspace.run.root))]
    print_table(("stage", "with"), stages)
