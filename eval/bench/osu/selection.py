"""LLM-mediated evidence selection: what is left of a difference in retrieval when a model reads it (section 6.6)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rebind.agents.endpoint import Endpoint
from rebind.agents.llm import LLM, SIMULATED
from rebind.agents.simulated import Script, SimulatedModel
from rebind.eval.bench.osu import published
from rebind.eval.bench.osu.cells import CELLS
from rebind.eval.bench.osu.methods import FLAT, OSU
from rebind.eval.bench.osu.scoring import PRIMARY, Progress, Row, Table, effect
from rebind.eval.bench.osu.tau_data import Encode, TauEpisode, TauQuery, concatenate, load, noisy_mean
from rebind.eval.models import cache_folder
from rebind.eval.stats import holm
from rebind.memory.encoders import encoder
from rebind.memory.osu.flat import Flat
from rebind.memory.osu.retrieve import OsuMem
from rebind.memory.osu.trajectory import Steps
from rebind.prompts import render as prompt
from rebind.types import Decoding, Message, Model, Request

HARD = 0.5
"""Cosine above which a listed event counts as an evidence step (the paper's threshold)."""
EVENTS = 3
NONE = "None"
_NOTHING = "(nothing)"
_CANNED = "The user asked for help.\nThe agent looked up an order.\nThe agent changed a reservation."


class Recalls(NamedTuple):
    """Soft recall: mean over evidence of the best cosine with a listed event. Hard: share of evidence above `HARD`."""

    soft: float
    hard: float


def run_selection(
    data: Path,
    model: Model,
    model_name: str,
    progress: Progress | None = None,
    encode: Encode | None = None,
    limit: int | None = None,
    seeds: Sequence[int] = (0,),
) -> dict[str, Any]:
    """Soft and hard recall of OSU-Mem, Flat and no memory at B = 256, by cell, with paired tests over episodes.

    Args:
        data: the folder of the τ-bench data.
        model: answers at temperature 0; three requests a query and seed.
        model_name: what the requests name.
        progress: told of each query.
        encode: texts to vectors; all-MiniLM-L6-v2 where not given.
        limit: only so many queries, evenly spaced over all.
        seeds: sent with the requests; a query's recalls are averaged over them before anything is tested.

    Raises:
        DataError: the data are not there. ProviderError: the model does not answer.
    """
    encode = encode or encoder("all-minilm-l6-v2").encode
    asked = [(e, q) for e in concatenate(load(data, encode)) for q in e.queries]
    if limit is not None and limit < len(asked):
        asked = [asked[i] for i in np.linspace(0, len(asked) - 1, limit).astype(int)]
    found: list[dict[str, Recalls]] = []
    for done, (episode, query) in enumerate(asked):
        found.append(_averaged([_recalls(episode, query, model, model_name, encode, seed) for seed in seeds]))
        if progress is not None:
            progress(done + 1, len(asked))
    cells = [query.cell for _, query in asked]
    clusters = [episode.name for episode, _ in asked]
    return {
        "model": model_name,
        "simulated": model_name.startswith(SIMULATED),
        "budget": PRIMARY,
        "seeds": list(seeds),
        "threshold": HARD,
        "queries": len(asked),
        "rows": _adjusted([_row(name, found, cells, clusters) for name in (*CELLS, "all")]),
        "pairs": [
            {"episode": e.name, "query": q.number, "cell": q.cell, **_flat(r)}
            for (e, q), r in zip(asked, found, strict=True)
        ],
    }


def _averaged(of_seeds: Sequence[Mapping[str, Recalls]]) -> dict[str, Recalls]:
    return {
        method: Recalls(*(float(np.mean(values)) for values in zip(*(one[method] for one in of_seeds), strict=True)))
        for method in of_seeds[0]
    }


def _recalls(
    episode: TauEpisode, query: TauQuery, model: Model, name: str, encode: Encode, seed: int
) -> dict[str, Recalls]:
    vector = noisy_mean(episode, query)
    empty: Steps = np.empty(0, dtype=np.int64)
    picks = {
        OSU: OsuMem.of(episode.history).retrieve(vector, PRIMARY),
        FLAT: Flat(episode.history).retrieve(vector, PRIMARY),
        NONE: empty,
    }
    evidence = episode.vectors[query.evidence]
    return {
        method: recalls(evidence, listed(model, name, query.text, [episode.texts[i] for i in steps], seed), encode)
        for method, steps in picks.items()
    }


@contextmanager
def reader(name: str, api_base: str | None = None) -> Iterator[Model]:
    """The model that reads, through the one door to models; answers are kept for replay.

    `name`: as litellm writes it, `local/<name>`, or `simulated/<anything>`: a server that always names the same three
    events, to try the harness with. `api_base`: a server that speaks OpenAI's wire format.
    """
    if name.startswith(SIMULATED):
        with SimulatedModel(name, Script(otherwise=(("", _CANNED),))) as simulated:
            yield LLM({name: simulated.endpoint})
    else:
        yield LLM({name: Endpoint(model=name, api_base=api_base)} if api_base else None, cache_folder=cache_folder())


def listed(model: Model, name: str, instruction: str, context: Sequence[str], seed: int = 0) -> list[str]:
    """The events a model names as most relevant to the instruction: at most three lines of its answer."""
    text = prompt("select_evidence", instruction=instruction, history="\n".join(context) or _NOTHING, count=EVENTS)
    request = Request(
        model=name,
        purpose="summary",
        messages=(Message(role="user", content=text),),
        decoding=Decoding(temperature=0.0, top_p=1.0, max_tokens=256, seed=seed),
    )
    lines = (line.strip().lstrip("-*0123456789.) ").strip() for line in model.complete(request).text.splitlines())
    return [line for line in lines if line][:EVENTS]


def recalls(evidence: NDArray[np.float32], events: Sequence[str], encode: Encode) -> Recalls:
    """Recalls of evidence vectors (n, d) by the listed events; 0 where none is listed."""
    if not events:
        return Recalls(0.0, 0.0)
    best = (evidence @ encode(events).T).max(axis=1)
    return Recalls(float(best.mean()), float((best > HARD).mean()))


def _row(name: str, found: Sequence[Mapping[str, Recalls]], cells: Sequence[str], clusters: Sequence[str]) -> Row:
    part = [i for i, cell in enumerate(cells) if name in (cell, "all")]
    row: Row = {"cell": name, "n": len(part)}
    for metric in Recalls._fields:
        by_method = {m: np.array([getattr(found[i][m], metric) for i in part]) for m in (OSU, FLAT, NONE)}
        for label, method in (("osu", OSU), ("flat", FLAT), ("none", NONE)):
            row[f"{metric}_{label}"] = float(by_method[method].mean()) if part else None
        if part:
            gap = effect(by_method[OSU] - by_method[FLAT], [clusters[i] for i in part])
            row |= {f"{metric}_gap": gap.difference, f"{metric}_p": gap.p, f"{metric}_p_query": gap.p_query}
            row |= {f"{metric}_low": gap.low, f"{metric}_high": gap.high}
    return row


def _adjusted(rows: list[Row]) -> list[Row]:
    """The rows with their p-values by cell adjusted over the cells (Holm); the last row, of all queries, is apart."""
    for metric in Recalls._fields:
        p_values = [row.get(f"{metric}_p") for row in rows[:-1]]
        for row, p in zip(rows, holm([None if p is None else float(p) for p in p_values]), strict=False):
            row[f"{metric}_holm"] = p
    return rows


def _flat(found: Mapping[str, Recalls]) -> dict[str, float]:
    return {f"{metric} {method}": value for method, r in found.items() for metric, value in r._asdict().items()}


def tables(result: Mapping[str, Any]) -> list[Table]:
    """For the terminal: Table 7, the paper's difference beside ours."""
    rows = [
        [
            r["cell"],
            str(r["n"]),
            *("" if r[f"hard_{m}"] is None else f"{r[f'hard_{m}']:.3f}" for m in ("osu", "flat", "none")),
            *(text for metric in Recalls._fields for text in _gap_cells(r, metric)),
        ]
        for r in result["rows"]
    ]
    columns = ["cell", "n", "hard OSU", "hard Flat", "hard none"]
    for metric in Recalls._fields:
        columns += [f"Δ {metric} (paper)", "95 %", "p (episode)", "p (query)"]
    simulated = " — SIMULATED, no model's work" if result["simulated"] else ""
    title = f"Table 7: evidence selection by {result['model']}, B = {result['budget']}{simulated}"
    return [(title, columns, rows)]


def _gap_cells(row: Mapping[str, Any], metric: str) -> list[str]:
    if f"{metric}_gap" not in row:
        return ["", "", "", ""]
    bounds = [row[f"{metric}_{end}"] for end in ("low", "high")]
    return [
        f"{row[f'{metric}_gap']:+.3f} ({published.TABLE_7[row['cell']][metric]:+.3f})",
        "" if None in bounds else "[{:+.3f}, {:+.3f}]".format(*bounds),
        *("" if row[f"{metric}_{key}"] is None else f"{row[f'{metric}_{key}']:.3f}" for key in ("p", "p_query")),
    ]
