"""Checks a targets folder again, file by file and target by target, in the real environment."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rebind.banks.files import first_difference, silent
from rebind.banks.judges import Judge, judged
from rebind.banks.store import Bank
from rebind.banks.targets import TargetSet
from rebind.errors import TargetsError
from rebind.types import Progress, Target


@dataclass(frozen=True)
class Verification:
    """What the check found. Where a file `differs`, the targets were not judged and all count as invalid."""

    targets: int
    invalid: int
    reasons: dict[str, int] = field(default_factory=dict)
    differs: str | None = None


def verify_targets(
    path: Path, *, bank_path: Path | None = None, workers: int = 1, progress: Progress = silent
) -> Verification:
    """Checks every file against the manifest, then every target as it was checked when it was made: its task is its
    seal's, the initial state builds, the oracle passes, the record's actions fail above `none`, and no changed source
    value stands in the goal. `bank_path`: where the bank lies now, if not where it lay.

    Raises:
        TargetsError: the folder holds no targets, or the bank is another one. BankError: the bank was edited.
    """
    found = TargetSet.open(path)
    total = int(found.manifest["targets"])
    differs = first_difference(path, found.manifest)
    if differs:
        return Verification(total, total, {"file-differs": total}, differs)
    bank = Bank.open(bank_path or found.bank)
    if bank.digest != found.manifest["bank"]["digest"]:
        raise TargetsError(f"targets {path} were made from another bank than {bank.path}")
    reasons: Counter[str] = Counter()
    with closing(judged(bank.path, list(found.targets()), _problem, workers)) as problems:
        for done, problem in enumerate(problems, 1):
            progress("targets", done, total)
            if problem:
                reasons[problem] += 1
    return Verification(total, sum(reasons.values()), dict(sorted(reasons.items())))


def _problem(judge: Judge, target: Target) -> str | None:
    if target.seal.task_key != target.task.key:
        return "another-task"
    source = target.seal.source
    if source is None or source not in judge.seals:
        return "no-source"
    return judge.problem(source, target)
