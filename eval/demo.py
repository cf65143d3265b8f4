"""The study that `rebind demo` runs: shipped bank, shipped targets, the embedded model."""

from __future__ import annotations

from pathlib import Path

from rebind.errors import StudyError
from rebind.eval.study import Study, load_study

DEMO_STUDY = Path(__file__).resolve().parent.parent / "banks" / "shipped_data" / "demo" / "study.toml"


def demo_study(model: str | None = None) -> Study:
    """The demo's study, with another actor where one is named."""
    study = load_study(DEMO_STUDY)
    if model is None:
        return study
    return study.model_copy(update={"model": study.model.model_copy(update={"actor": model})})


def write_study(path: Path) -> None:
    """Copies the demo's study file, for a user to change.

    Raises:
        StudyError: there is a file already, or it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as handle:
            handle.write(DEMO_STUDY.read_text(encoding="utf-8"))
    except FileExistsError:
        raise StudyError(f"{path} exists; name another file") from None
    except OSError as error:
        raise StudyError(f"{path} cannot be written: {error.strerror}") from None
