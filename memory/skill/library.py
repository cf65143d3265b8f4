"""The skill memory: versions of procedures, never overwritten, and how each of them fared (ShardMemo, section 3.5).

One file, a hash-chained log (see `shard.log`): `version` events add a version, `outcome` events count what came of
using one. What was acknowledged is on the disk, so that both outlive the process. Readers take in what is new before
each read; writers take turns under a file lock.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock

from rebind.memory.shard.log import Log, StoreError, create_file
from rebind.memory.shard.scope import ItemMeta, Scope
from rebind.memory.skill.forms import common_forms
from rebind.memory.skill.identity import generalised, identity
from rebind.memory.skill.request import Request, request_of
from rebind.memory.skill.scoping import admits
from rebind.types import Frozen, Skill

LOG = "skills.log"


class Version(Frozen):
    """One version of a procedure. A later version carries the requests of the earlier ones beside its own."""

    identity: str
    skill: Skill
    requests: tuple[Request, ...]
    metas: tuple[ItemMeta, ...]
    """Who may use it: one for each namespace that it calls into."""

    @property
    def number(self) -> int:
        return self.skill.version

    @property
    def key(self) -> str:
        """Names it in a ledger."""
        return f"{self.identity}@{self.number}"


@dataclass(frozen=True)
class Source:
    """What one trace left in a library: the versions made of it, by key, and what its request counted for. Of requests
    with the very same words it cannot be told which counted, so all of them go with it."""

    request: str
    keys: frozenset[str] = frozenset()


class Library:
    """A folder of skills. Many processes may read it while one at a time writes."""

    def __init__(self, folder: Path) -> None:
        """Opens a library, an empty one where the folder has none.

        Raises:
            StoreError: its log was edited.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = FileLock(folder / f"{LOG}.lock")
        if not (folder / LOG).exists():
            with self._lock:
                if not (folder / LOG).exists():
                    create_file(folder / LOG)
        self._log = Log(folder / LOG)
        self._versions: dict[str, list[Version]] = {}
        self._outcomes: defaultdict[str, list[tuple[bool, str]]] = defaultdict(list)
        self._served: defaultdict[str, dict[str, None]] = defaultdict(dict)
        self.refresh()

    def refresh(self) -> None:
        """Takes in what others wrote."""
        for event in self._log.news():
            self._take(event)

    def next_version(self, skill: Skill, request: str, metas: Sequence[ItemMeta]) -> Version:
        """The version a skill would become, not stored: numbered after those of its procedure, with constants that
        differ from the last one's made slots, and with their requests. Its validation is the caller's to run."""
        self.refresh()
        known = self._versions.get(identity(skill), [])
        if not known:
            return Version(
                identity=identity(skill),
                skill=skill.model_copy(update={"version": 1}),
                requests=(request_of(request, skill),),
                metas=tuple(metas),
            )
        last = known[-1]
        expects = common_forms(last.skill.expects, skill.expects)
        made = generalised(last.skill, skill).model_copy(update={"version": last.number + 1, "expects": expects})
        return Version(
            identity=last.identity,
            skill=made,
            requests=(*last.requests, request_of(request, made)),
            metas=tuple(metas),
        )

    def append(self, version: Version) -> None:
        """Stores a version that passed its validation; returns once it is on the disk.

        Raises:
            StoreError: somebody else stored a version of that procedure in between; ask for the next one again.
        """
        with self._writing():
            expected = len(self._versions.get(version.identity, ())) + 1
            if version.number != expected:
                raise StoreError(f"version {version.key} comes too late or too early: the next one is {expected}")
            self._write({"kind": "version", "version": version.model_dump(mode="json")})

    def record(self, version: Version, *, ok: bool, request: str, why: str = "") -> None:
        """Counts a use of a version: whether its result held, and why not. A request that it held for is one by which
        the procedure is found from then on."""
        event = {"kind": "outcome", "key": version.key, "ok": ok, "request": request, "why": why, "at": time.time()}
        with self._writing():
            self._write(event)

    def reliability(self, version: Version, without: Source | None = None) -> float:
        """ρ = (successes + 2 ρ') / (successes + failures + 2), where ρ' is that of the version before, and 1/2 for the
        first: the design's formula, with what is known of the procedure in place of knowing nothing (ours)."""
        earlier = self._versions.get(version.identity, ())[: version.number]
        found = 0.5
        for one in earlier:
            good, bad = self.uses(one, without)
            found = (good + 2 * found) / (good + bad + 2)
        return found

    def requests(self, version: Version, without: Source | None = None) -> tuple[str, ...]:
        """What the procedure was made from or held for, in any version."""
        made = [r.text for r in version.requests]
        served = list(self._served[version.identity])
        if without is not None:
            keys = [v.key for v in self._versions[version.identity]]
            made = [text for text, key in zip(made, keys, strict=False) if key not in without.keys]
            served = [text for text in served if text != without.request]
        return tuple(dict.fromkeys([*made, *served]))

    def uses(self, version: Version, without: Source | None = None) -> tuple[int, int]:
        """How often a version's use succeeded and failed."""
        left_out = None if without is None else without.request
        held = [ok for ok, request in self._outcomes.get(version.key, ()) if request != left_out]
        return sum(held), len(held) - sum(held)

    def record_of(self, one: str, without: Source | None = None) -> tuple[int, int]:
        """How often uses of a procedure succeeded and failed, in any version."""
        found = [self.uses(version, without) for version in self._versions.get(one, ())]
        return sum(good for good, _ in found), sum(bad for _, bad in found)

    def versions(self, one: str) -> tuple[Version, ...]:
        """All versions of a procedure, oldest first."""
        return tuple(self._versions.get(one, ()))

    def all(self) -> tuple[Version, ...]:
        """All versions of all procedures, in no telling order."""
        return tuple(version for known in self._versions.values() for version in known)

    def current(
        self, scope: Scope, held: Mapping[str, frozenset[str]] | None = None, without: Source | None = None
    ) -> list[Version]:
        """Of each procedure the newest version that the scope admits (W_t^cur): an older one where the newer ones are
        out of scope, or left out."""
        self.refresh()
        left_out = without.keys if without is not None else frozenset[str]()
        found: list[Version] = []
        for known in self._versions.values():
            newest = next(
                (v for v in reversed(known) if v.key not in left_out and admits(scope, v.metas, held or {})), None
            )
            if newest is not None:
                found.append(newest)
        return found

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._lock:
            self.refresh()
            yield

    def _write(self, event: dict[str, Any]) -> None:
        self._log.append(event)
        self._take(event)

    def _take(self, event: Mapping[str, Any]) -> None:
        if event["kind"] == "version":
            version = Version.model_validate(event["version"])
            self._versions.setdefault(version.identity, []).append(version)
        else:
            self._outcomes[event["key"]].append((event["ok"], event["request"]))
            if event["ok"]:
                self._served[event["key"].partition("@")[0]][event["request"]] = None
