"""Freezes verified rollouts into a bank: a read-only folder named by the digest of everything in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np
from pydantic import JsonValue

from rebind.banks.build import kept_rollouts
from rebind.banks.duplicates import COSINE, near_duplicates
from rebind.banks.files import MANIFEST, make_read_only, new_folder, silent, write_lines, write_manifest
from rebind.banks.lanes import in_lanes
from rebind.banks.rollout import Rollout
from rebind.banks.skills import verified_skills
from rebind.banks.steadily import steadily
from rebind.banks.summaries import SUMMARY_DECODING, Writer, summarise
from rebind.errors import BankError
from rebind.memory.encoders import Encoder, Vectors, encoder
from rebind.memory.index import flat_index, index_text
from rebind.memory.skill.identity import identity
from rebind.types import LENGTH_GROUPS, Environment, Progress, Record, Seal, Skill, World, length_group

RECORDS, SEALS, SUMMARIES, SKILLS = "records.jsonl", "seals.jsonl", "summaries.jsonl", "skills.jsonl"
EMBEDDINGS, INDEX = "embeddings.npy", "index.faiss"
FORMAT = 1
_PACKAGES = ("rebind", "numpy", "faiss-cpu", "sentence-transformers", "torch")


@dataclass(frozen=True)
class FrozenBank:
    """A bank that was just written."""

    path: Path
    digest: str
    counts: dict[str, JsonValue]


def freeze(
    builds: Sequence[Path],
    out: Path,
    worlds: Iterable[World],
    *,
    encoder_name: str = "all-minilm-l6-v2",
    writer: Writer | None = None,
    workers: int = 1,
    progress: Progress = silent,
) -> FrozenBank:
    """Freezes the accepted rollouts of build folders, pooled, into the bank `out`.

    Summaries need a `writer`; without one the bank has none, and the manifest says so. Skills are verified in the
    environments of `worlds`, `workers` at a time.

    Raises:
        BankError: `out` exists, or nothing was accepted. EncoderError: the encoder's model cannot be had.
    """
    if out.exists():
        what = "is a frozen bank, which never changes" if (out / MANIFEST).exists() else "exists"
        raise BankError(f"{out} {what}; freeze into a new folder")
    rollouts = _unique(r for build in builds for r in kept_rollouts(build))
    chosen = encoder(encoder_name)
    progress("embeddings", 0, 1)
    embeddings = chosen.encode([index_text(record) for record, _ in rollouts])
    removed = near_duplicates([record for record, _ in rollouts], embeddings)
    kept = [n for n, (record, _) in enumerate(rollouts) if record.id not in removed]
    records = [rollouts[n] for n in kept]
    skills = _skills(records, {w.env_id: w for w in worlds}, workers, progress)
    summaries = _summaries([record for record, _ in records], writer, progress)
    counts = _counts([record for record, _ in records], skills, summaries, len(removed))
    with new_folder(out) as folder:
        _write(folder, records, skills, summaries, embeddings[kept])
        files = (RECORDS, SEALS, SUMMARIES, SKILLS, EMBEDDINGS, INDEX)
        digest = write_manifest(folder, _manifest(chosen, writer, counts), files)
        make_read_only(folder)
    return FrozenBank(out, digest, counts)


def _unique(rollouts: Iterable[Rollout]) -> list[tuple[Record, Seal]]:
    """Records with their seals in order of id; of equal records the first."""
    found: dict[str, tuple[Record, Seal]] = {}
    for rollout in rollouts:
        if rollout.record is not None:
            found.setdefault(rollout.record.id, (rollout.record, rollout.seal))
    return [found[i] for i in sorted(found)]


def _skills(
    records: Sequence[tuple[Record, Seal]], worlds: Mapping[str, World], workers: int, progress: Progress
) -> dict[str, tuple[Skill, ...]]:
    """Verified skills by record id, in the records' order."""
    found: dict[str, tuple[Skill, ...]] = {}
    for env_id in dict.fromkeys(seal.env for _, seal in records):
        own = [(record, seal) for record, seal in records if seal.env == env_id]
        if env_id not in worlds:
            raise BankError(f"record {own[0][0].id} is of {env_id}; freeze was not given that environment")
        with closing(in_lanes(worlds[env_id], own, _verified, workers)) as verified:
            for (record, _), skills in zip(own, verified, strict=True):
                found[record.id] = skills
                progress("skills", len(found), len(records))
    return _numbered({record.id: found[record.id] for record, _ in records})


@steadily
def _verified(environment: Environment, sealed: tuple[Record, Seal]) -> tuple[Skill, ...]:
    return verified_skills(*sealed, environment)


def _numbered(found: Mapping[str, tuple[Skill, ...]]) -> dict[str, tuple[Skill, ...]]:
    """Each procedure's versions counted, in order of the records."""
    counts: Counter[str] = Counter()
    numbered: dict[str, tuple[Skill, ...]] = {}
    for record_id, skills in found.items():
        counts.update(identity(skill) for skill in skills)
        numbered[record_id] = tuple(s.model_copy(update={"version": counts[identity(s)]}) for s in skills)
    return numbered


def _summaries(records: Sequence[Record], writer: Writer | None, progress: Progress) -> list[dict[str, JsonValue]]:
    lines: list[dict[str, JsonValue]] = []
    for done, record in enumerate(records if writer else ()):
        progress("summaries", done, len(records))
        if writer:
            lines.append(summarise(record, writer))
    return lines


def _write(
    folder: Path,
    records: Sequence[tuple[Record, Seal]],
    skills: Mapping[str, tuple[Skill, ...]],
    summaries: Sequence[dict[str, JsonValue]],
    embeddings: Vectors,
) -> None:
    import faiss

    write_lines(folder / RECORDS, (record.model_dump(mode="json") for record, _ in records))
    write_lines(folder / SEALS, ({"id": r.id, "seal": s.model_dump(mode="json")} for r, s in records))
    write_lines(folder / SKILLS, (skill.model_dump(mode="json") for r, _ in records for skill in skills[r.id]))
    write_lines(folder / SUMMARIES, summaries)
    np.save(folder / EMBEDDINGS, embeddings, allow_pickle=False)
    faiss.write_index(flat_index(embeddings), str(folder / INDEX))


def _counts(
    records: Sequence[Record],
    skills: Mapping[str, tuple[Skill, ...]],
    summaries: Sequence[dict[str, JsonValue]],
    removed: int,
) -> dict[str, JsonValue]:
    groups = Counter(length_group(r.effective_actions) for r in records)
    return {
        "records": len(records),
        "near_duplicates_removed": removed,
        "skills": sum(map(len, skills.values())),
        "summaries": len(summaries),
        "length_groups": {group: groups[group] for group in LENGTH_GROUPS},
    }


def _manifest(chosen: Encoder, writer: Writer | None, counts: dict[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        "kind": "bank",
        "format": FORMAT,
        "counts": counts,
        "encoder": chosen.parameters,
        "index": {"type": "flat", "metric": "inner product", "text": "instruction and descriptor"},
        "near_duplicates": {"cosine": COSINE, "same_tool_sequence": True},
        "summaries": {"model": writer.name, "decoding": SUMMARY_DECODING.model_dump(mode="json")} if writer else None,
        "versions": {name: _version(name) for name in _PACKAGES},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
