"""The paper's scale from one world, in one go: verified records, frozen, and their targets (QCR, section 5.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from rebind.banks.build import build
from rebind.banks.files import silent
from rebind.banks.freeze import freeze
from rebind.banks.rollers import oracle_roller
from rebind.banks.shift import BuiltTargets, build_targets
from rebind.banks.store import Bank
from rebind.envs import world
from rebind.errors import TargetsError, UserError
from rebind.types import Progress


class Scale(NamedTuple):
    """Records and targets the paper has of an environment of that style."""

    records: int
    targets: int
    surplus: float = 1.0
    """More records than needed are made where near-duplicates go, or not every record gives a target at every level."""


SCALES = {"apps": Scale(194, 745, 1.1), "sites": Scale(228, 874), "desk": Scale(201, 772)}


@dataclass(frozen=True)
class PaperScale(BuiltTargets):
    """What was built: the targets in `path`, the bank in `path/bank`, its rollouts in `path/rollouts`."""

    bank: str
    near_duplicates_removed: int
    skills: int
    length_groups: dict[str, int]


def build_paper_scale(env: str, out: Path, *, workers: int = 2, progress: Progress = silent) -> PaperScale:
    """Rolls out every family of a world with the same number of seeds (oracle with detours), freezes the bank, and
    builds its targets. A stopped run goes on with the rollouts it has.

    Raises:
        TargetsError: fewer records or targets came out than the paper has. UserError: an environment that the paper
            has none like.
    """
    one = world(env)
    if env not in SCALES:
        raise UserError(f"the paper has no environment like {env!r}; it has the scales of {', '.join(SCALES)}")
    wanted = SCALES[env]
    each = math.ceil(wanted.records * wanted.surplus / len(one.families()))
    build(one, out / "rollouts", oracle_roller(one), seeds=range(each), workers=workers, progress=progress)
    bank_path = out / "bank"
    if not bank_path.exists():
        freeze([out / "rollouts"], bank_path, [one], workers=workers, progress=progress)
    counts = Bank.open(bank_path).manifest["counts"]
    made = build_targets(bank_path, out, workers=workers, progress=progress)
    if counts["records"] < wanted.records or made.targets < wanted.targets:
        raise TargetsError(
            f"{out} has {counts['records']} records and {made.targets} targets of the {wanted.records} and "
            f"{wanted.targets} wanted; rejected: {made.rejected}"
        )
    return PaperScale(
        path=out,
        digest=made.digest,
        records=counts["records"],
        targets=made.targets,
        by_level=made.by_level,
        rejected=made.rejected,
        bank=str(bank_path),
        near_duplicates_removed=counts["near_duplicates_removed"],
        skills=counts["skills"],
        length_groups=counts["length_groups"],
    )
