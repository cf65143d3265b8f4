"""`rebind export parquet`: the frames of `rebind.load_run` as Parquet files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rebind.banks.files import silent
from rebind.eval.export.about import provenance
from rebind.eval.export.files import export_folder, need
from rebind.eval.frames import load_run
from rebind.types import Progress

if TYPE_CHECKING:
    import pandas as pd

FRAMES = ("episodes", "attempts", "targets", "selections")


def export(run: Path, out: Path, progress: Progress = silent) -> dict[str, Any]:
    """Writes one file per frame into `out`; the run's provenance stands in each file's metadata under "rebind".

    Raises:
        UserError: the extra is missing, or `out` is something else. LedgerError: the run cannot be read.
    """
    need("pyarrow", "parquet")
    import pyarrow.parquet as pq

    loaded = load_run(run)
    about = provenance(run, loaded.plan)
    rows: dict[str, int] = {}
    with export_folder(out, "parquet", about) as folder:
        for done, name in enumerate(FRAMES):
            progress(name, done, len(FRAMES))
            table = _table(getattr(loaded, name))
            metadata = {**(table.schema.metadata or {}), b"rebind": json.dumps(about).encode()}
            pq.write_table(table.replace_schema_metadata(metadata), folder / f"{name}.parquet")
            rows[name] = table.num_rows
    progress("written", len(FRAMES), len(FRAMES))
    return {"out": str(out), "format": "parquet", **about, "rows": rows}


def _table(frame: pd.DataFrame) -> Any:
    """The frame as an Arrow table. A column without a single value is text: files of two runs then have one schema."""
    import pyarrow as pa

    schema = pa.Schema.from_pandas(frame, preserve_index=False)
    unknown = {pa.null(): pa.string(), pa.list_(pa.null()): pa.list_(pa.string())}
    fields = [field.with_type(unknown.get(field.type, field.type)) for field in schema]
    return pa.Table.from_pandas(frame, pa.schema(fields, metadata=schema.metadata), preserve_index=False)
