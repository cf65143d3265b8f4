"""The frames of a run come back from Parquet as they were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rebind import load_run
from rebind.eval.export.parquet import FRAMES, export

pytest.importorskip("pyarrow", reason="needs the extra: pip install 'rebind[parquet]'")
pytestmark = pytest.mark.xdist_group("mixed_run")


@pytest.fixture(scope="module")
def written(mixed_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("parquet") / "out"
    export(mixed_run, out)
    return out


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_is_read_back_equal_with_its_types(mixed_run: Path, written: Path, name: str) -> None:
    import pandas as pd

    frame = getattr(load_run(mixed_run), name)
    again = pd.read_parquet(written / f"{name}.parquet")
    for column in frame.columns[frame.map(lambda v: isinstance(v, tuple)).any()]:
        again[column] = again[column].map(tuple)
    pd.testing.assert_frame_equal(again, frame)


def test_every_column_has_a_type_of_its_own_and_the_file_names_its_run(written: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in FRAMES:
        schema = pq.read_schema(written / f"{name}.parquet")
        assert not [f.name for f in schema if pa.types.is_null(f.type)]
        about = json.loads(schema.metadata[b"rebind"])
        assert about["merkle_root"]
        assert about["simulated"] is True
    episodes = pq.read_schema(written / "episodes.parquet")
    assert (episodes.field("success").type, episodes.field("online").type) == (pa.bool_(), pa.int64())


def test_an_infrastructure_failure_has_no_success_rather_than_a_false_one(written: Path) -> None:
    import pyarrow.parquet as pq

    rows = pq.read_table(written / "episodes.parquet").to_pylist()
    assert [r["success"] for r in rows if r["outcome"] == "invalid-infra"] == [None]
