"""`rebind bench`: measurements that back the claims in the documentation."""

from __future__ import annotations

from pathlib import Path

import typer

from rebind.cli import bench_shardmemo, bench_skills
from rebind.cli.output import JSON_OPTION, emit, facts, progress, show, table

app = typer.Typer(help="Measure what Rebind claims about itself.", no_args_is_help=True)
osu = typer.Typer(help="Overlapping semantic units against every baseline (OSU-Mem).", no_args_is_help=True)
app.add_typer(osu, name="osu")
app.add_typer(bench_shardmemo.app, name="shardmemo")
app.add_typer(bench_skills.app, name="skills")
DATA = typer.Option(..., "--data", help="Folder of the real data.")


@app.command()
def crash(
    kills: int = typer.Option(20, "--kills", min=1, help="How often the run is killed, at random moments."),
    seed: int = typer.Option(0, "--seed", help="Of the random moments."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Kill a run (kill -9) at random moments and resume it; compare with a run nobody killed."""
    from rebind.eval.bench.crash import run

    with progress("crash") as bar:
        result = run(kills=kills, seed=seed, progress=bar)
    emit(result) if as_json else facts("Crash", result)


@app.command()
def faults(
    seed: int = typer.Option(0, "--seed", help="Of the storm of random faults."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Inject every fault of a provider and every misbehaviour of a model; check what the ledger makes of each."""
    from rebind.eval.bench.faults import run

    with progress("faults") as bar:
        result = run(seed=seed, progress=bar)
    if as_json:
        emit(result)
        return
    columns = ("fault", "how", "doing", "injected", "recovered", "infra", "agent", "misattributed", "hung", "endings")
    rows = [[", ".join(v) if isinstance(v, dict) else v for v in map(row.get, columns)] for row in result["rows"]]
    table("Faults, and what became of them", columns, rows)
    facts("All", {name: result[name] for name in columns[3:9]})


@app.command()
def calibration(
    studies: int = typer.Option(2000, "--studies", min=20, help="Simulated studies; a quarter of it per small size."),
    seed: int = typer.Option(0, "--seed", help="Of the simulated actor."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Simulate studies with planted effects: do intervals cover them, and do tests hold their level?"""
    from rebind.eval.bench.calibration import run
    from rebind.eval.bench.calibration_tables import tables

    with progress("calibration") as bar:
        result = run(studies, seed, bar)
    show(result, tables(result), as_json)


@app.command()
def tamper(
    edits: int = typer.Option(1000, "--edits", min=1, help="How many edits to try, each on a fresh copy."),
    seed: int = typer.Option(0, "--seed", help="Of the random edits."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Edit a finished ledger in every way and count what verification finds."""
    from rebind.eval.bench.tamper import run

    with progress("tamper") as bar:
        result = run(edits=edits, seed=seed, progress=bar)
    emit(result) if as_json else facts("Tamper", result)


@app.command()
def ledger(
    episodes: int = typer.Option(10_000, "--episodes", min=40, help="Of the made ledger, 25 steps each."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Time appending and committing, and `rebind report` on a big made ledger (simulated)."""
    from rebind.eval.bench.ledger import run

    with progress("ledger") as bar:
        result = run(bar, episodes)
    emit(result) if as_json else facts("Ledger", result)


@app.command()
def tokens(
    episodes: int = typer.Option(1000, "--episodes", min=1, help="Episodes against each wire format."),
    seed: int = typer.Option(0, "--seed", help="Of what the provider does."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run episodes against OpenAI's and Anthropic's wire formats; hold the ledger against the provider's invoice."""
    from rebind.eval.bench.tokens import run

    with progress("tokens") as bar:
        result = run(episodes=episodes, seed=seed, progress=bar)
    if as_json:
        emit(result)
        return
    forms = list(result["formats"])
    rows = [[kind, *(str(result["formats"][form].get(kind, 0)) for form in forms)] for kind in result["kinds"]]
    table("Responses, calls and counts that are null", ["what", *forms], rows)
    facts("Tokens", {name: result[name] for name in ("violations", "episodes", "details")})


@app.command()
def overhead(
    episodes: int = typer.Option(40, "--episodes", min=4, help="Episodes of each side in each turn."),
    repeats: int = typer.Option(4, "--repeats", min=1, help="Turns of each side."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Time what Rebind and inspect-ai add to a step, beside the same scripted model and tool."""
    from rebind.eval.bench.overhead import run

    with progress("overhead") as bar:
        result = run(episodes=episodes, repeats=repeats, progress=bar)
    emit(result) if as_json else facts("Overhead", result)


@app.command()
def scale(
    concurrent: list[int] = typer.Option(
        [1, 2, 8, 32, 128], "--concurrent", min=1, max=512, help="Episodes at once; may be repeated, ascending."
    ),
    rounds: int = typer.Option(4, "--rounds", min=1, help="Episodes for each of them."),
    latency: float = typer.Option(50.0, "--latency", min=1.0, help="Of the scripted model, in ms."),
    plan_episodes: int = typer.Option(36_000, "--plan-episodes", min=240, help="Of the plan; half of them are run."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run episodes beside a scripted model, more and more at once; resume a big plan; lose one of two Ray nodes."""
    from rebind.eval.bench.scale import run

    with progress("scale") as bar:
        result = run(concurrent, latency / 1000, rounds, plan_episodes, bar)
    if as_json:
        emit(result)
        return
    columns = list(result["rows"][0])
    table("Episodes at once", columns, [list(row.values()) for row in result["rows"]])
    facts("A big plan, and a lost node", {name: value for name, value in result.items() if name != "rows"})


@app.command("profile")
def profile_time(
    run_folder: Path | None = typer.Argument(None, metavar="[RUN]", help="Folder of a run; one is made where omitted."),
    study: Path | None = typer.Option(None, "--study", help="A study file to run and profile."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Show where a study's time went: model, environment, harness, waiting; for each condition."""
    from rebind.eval.bench.profile import run

    with progress("profile") as bar:
        result = run(run_folder, study, bar)
    if as_json:
        emit(result)
        return
    columns = list(result["rows"][0])
    table("Where the time went", columns, [list(row.values()) for row in result["rows"]])
    facts("The run", {name: value for name, value in result.items() if name != "rows"})


@app.command()
def browser(
    rows: list[int] = typer.Option([20, 200, 1000], "--rows", min=1, help="Table rows of the page; may be repeated."),
    repeats: int = typer.Option(3, "--repeats", min=1, help="Turns of each side on each page, three actions each."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Time our browser environment's step and reset beside BrowserGym's, on the same page."""
    from rebind.eval.bench.browser import run

    with progress("browser") as bar:
        result = run(rows=rows, repeats=repeats, progress=bar)
    if as_json:
        emit(result)
        return
    columns = list(result["rows"][0])
    table("A step and a reset, in ms", columns, [list(row.values()) for row in result["rows"]])
    facts("With", {name: result[name] for name in ("chromium", "browsergym")})


@app.command("browser-faults")
def browser_faults(
    episodes: int = typer.Option(200, "--episodes", min=1, help="Episodes with a fault; one without follows each."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Kill sites and browsers, and have pages misbehave, in real episodes; check what each episode is called."""
    from rebind.eval.bench.browser_faults import run

    with progress("browser faults") as bar:
        result = run(episodes=episodes, progress=bar)
    if as_json:
        emit(result)
        return
    columns = (
        "kind",
        "how",
        "must_be",
        "episodes",
        "misattributed",
        "hung",
        "next_clean",
        "seconds",
        "endings",
        "named",
    )
    rows = [[", ".join(v) if isinstance(v, dict) else v for v in map(row.get, columns)] for row in result["rows"]]
    table("Faults in the browser, and what became of them", columns, rows)
    facts("All", {name: value for name, value in result.items() if name not in ("rows", "kinds")})


@app.command()
def stores(
    items: int = typer.Option(20_000, "--items", min=200, help="How many items."),
    shards: int = typer.Option(200, "--shards", min=20, help="How many shards."),
    queries: int = typer.Option(400, "--queries", min=4, help="How many requests, evenly over four selectivities."),
    postgres: str | None = typer.Option(
        None, "--postgres", help="URL of a PostgreSQL with pgvector; one is started and stopped if not given."
    ),
    as_json: bool = JSON_OPTION,
) -> None:
    """Ask the embedded store, PostgreSQL with pgvector, and LanceDB the same: recall, times, inadmissible items."""
    from rebind.eval.bench.shardmemo.stores import run_stores, tables

    with progress("stores") as bar:
        result = run_stores(items, shards, queries, postgres, progress=bar)
    show(result, tables(result), as_json)


@app.command("tau-replay")
def tau_replay(
    data: Path = typer.Option(..., "--data", help="Folder of τ-bench."), as_json: bool = JSON_OPTION
) -> None:
    """Replay τ-bench's recorded runs against the matching databases; hold verdicts and observations side by side."""
    from rebind.eval.bench.tau_replay import run_tau_replay, tables

    with progress("tau-replay") as bar:
        result = run_tau_replay(data, bar)
    show(result, tables(result), as_json)


@osu.command()
def synthetic(
    seeds: int = typer.Option(10, "--seeds", min=1, help="Seeds 0 to N-1, 200 episodes each."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Run the synthetic benchmark: evidence that shares an entity by construction."""
    from rebind.eval.bench.osu.synthetic import run_synthetic
    from rebind.eval.bench.osu.synthetic_tables import tables

    with progress("synthetic") as bar:
        result = run_synthetic(range(seeds), lambda done, total: bar("seeds", done, total))
    show(result, tables(result), as_json)


@osu.command()
def tau(data: Path = DATA, as_json: bool = JSON_OPTION) -> None:
    """Run the benchmark on recorded tau-bench runs: cells, budgets, augmented cache, router."""
    from rebind.eval.bench.osu.tau import run_tau
    from rebind.eval.bench.osu.tau_tables import tables

    with progress("tau") as bar:
        result = run_tau(data, lambda done, total: bar("stages", done, total))
    show(result, tables(result), as_json)


@osu.command()
def toolbench(data: Path = DATA, as_json: bool = JSON_OPTION) -> None:
    """Run the planted retrieval on ToolBench trajectories."""
    from rebind.eval.bench.osu.toolbench import run_toolbench
    from rebind.eval.bench.osu.toolbench_tables import tables

    with progress("toolbench") as bar:
        result = run_toolbench(data, lambda done, total: bar("seeds", done, total))
    show(result, tables(result), as_json)


@osu.command()
def select(
    data: Path = DATA,
    model: str = typer.Option(..., "--model", help="Who reads: a litellm name, local/NAME, or simulated/NAME."),
    api_base: str | None = typer.Option(None, "--api-base", help="A server that speaks OpenAI's wire format."),
    limit: int | None = typer.Option(None, "--limit", min=1, help="Only so many queries, evenly spaced over all."),
    seeds: int = typer.Option(1, "--seeds", min=1, help="Seeds 0 to N-1, averaged by query."),
    as_json: bool = JSON_OPTION,
) -> None:
    """Let a model name the evidence among retrieved steps of tau-bench runs: soft and hard recall."""
    from rebind.eval.bench.osu.selection import reader, run_selection, tables

    with progress("select") as bar, reader(model, api_base) as llm:
        result = run_selection(
            data, llm, model, lambda done, total: bar("queries", done, total), limit=limit, seeds=range(seeds)
        )
    show(result, tables(result), as_json)


@osu.command()
def speed(as_json: bool = JSON_OPTION) -> None:
    """Time retrieval, building and appending beside flat and MMR retrieval, in one run."""
    from rebind.eval.bench.osu.speed import run_speed, tables

    with progress("speed") as bar:
        result = run_speed(lambda done, total: bar("parts", done, total))
    show(result, tables(result), as_json)
