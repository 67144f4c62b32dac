"""Tables of Lance, Delta Lake and Iceberg: written and read with these projects' own packages."""

import importlib
import importlib.util
import os

import pyarrow as pa
import pytest
from headway import data

ROWS = [{"id": number, "name": f"row {number}", "even": number % 2 == 0} for number in range(6)]
PARTS = [ROWS[:3], ROWS[3:]]


def table(rows):
    return pa.Table.from_pylist(rows)


def by_id(made):
    return sorted(made.take_all(), key=lambda row: row["id"])


@pytest.fixture
def installed(the_engine_ends):
    """Imports a package: those of requirements/tables.txt."""
    return importlib.import_module


@pytest.fixture
def lance(installed, tmp_path):
    """A Lance data set of two fragments, whose first version has the first only."""
    place = str(tmp_path / "rows.lance")
    for rows in PARTS:
        installed("lance").write_dataset(table(rows), place, mode="append" if os.path.exists(place) else "create")
    return place


@pytest.mark.heavy
def test_lance_is_read_by_fragments(lance):
    made = data.read_lance(lance)
    assert made.take_all() == ROWS
    assert (made.count(), made.columns()) == (6, ["id", "name", "even"])
    assert data.read_lance([lance, lance]).count() == 12
    assert len(list(made.iter_batches(batch_size=None))) == 2
    assert data.read_lance(lance, override_num_blocks=3).take_all() == ROWS


@pytest.mark.heavy
def test_lance_gives_an_older_version_some_columns_and_some_rows(lance):
    assert data.read_lance(lance, version=1).take_all() == PARTS[0]
    some = data.read_lance(lance, columns=["id"], filter="even")
    assert some.take_all() == [{"id": 0}, {"id": 2}, {"id": 4}]
    # One fragment has no such row.
    assert data.read_lance(lance, filter="id > 3", scanner_options={"batch_size": 1}).take_all() == ROWS[4:]
    assert data.read_lance(lance, filter="id > 9").take_all() == []


@pytest.mark.heavy
def test_options_of_lances_scanner_count_for_all_fragments_together(lance):
    assert data.read_lance(lance, scanner_options={"limit": 4}).take_all() == ROWS[:4]
    some = data.read_lance(lance, scanner_options={"columns": ["id"], "filter": "even", "limit": 2})
    assert some.take_all() == [{"id": 0}, {"id": 2}]
    assert data.read_lance(lance, columns=["id"], scanner_options={"columns": ["name"]}).columns() == ["id"]
    for name in ("offset", "nearest"):
        with pytest.raises(ValueError, match=f'scanner_options\\["{name}"\\] is 1; allowed'):
            data.read_lance(lance, scanner_options={name: 1})
    with pytest.raises((TypeError, ValueError), match="limit"):
        data.read_lance(lance, scanner_options={"limit": -1})


@pytest.mark.heavy
def test_lance_is_read_as_it_was_when_it_was_opened(installed, lance):
    made = data.read_lance(lance)
    installed("lance").write_dataset(table(ROWS), lance, mode="append")
    assert made.take_all() == ROWS


@pytest.mark.heavy
def test_lance_is_written(installed, tmp_path):
    place = str(tmp_path / "written.lance")
    rows = data.from_items(ROWS)
    rows.write_lance(place, max_rows_per_file=4)
    assert data.read_lance(place).take_all() == ROWS
    assert len(installed("lance").dataset(place).get_fragments()) == 2
    with pytest.raises(OSError, match="already exists"):
        rows.write_lance(place)
    rows.limit(1).write_lance(place, mode="append")
    assert data.read_lance(place).count() == 7
    rows.limit(2).write_lance(place, mode=data.SaveMode.OVERWRITE)
    assert data.read_lance(place).take_all() == ROWS[:2]


@pytest.mark.heavy
@pytest.mark.parametrize("package", ["lance", "deltalake"])
def test_a_fraction_far_behind_integers_is_written(installed, tmp_path, package):
    installed(package)
    rows = data.range(20 << 20, override_num_blocks=20).map_batches(
        lambda batch: {"x": batch["id"] + (0.5 if batch["id"][0] >= 19 << 20 else 0)}, batch_size=None
    )
    place = str(tmp_path / "rows")
    (rows.write_lance if package == "lance" else rows.write_delta)(place)
    made = data.read_lance(place) if package == "lance" else data.read_delta(place)
    assert [made.count(), made.max("x"), made.sum("x")] == [
        20 << 20,
        (20 << 20) - 0.5,
        (20 << 20) * ((20 << 20) - 1) / 2 + (1 << 19),
    ]


@pytest.fixture
def delta(installed, tmp_path):
    """A Delta table of two versions, in folders of a column."""
    place = str(tmp_path / "delta")
    for rows in PARTS:
        installed("deltalake").write_deltalake(place, table(rows), mode="append", partition_by=["even"])
    return place


@pytest.mark.heavy
def test_delta_is_read_by_files(delta):
    made = data.read_delta(delta)
    assert by_id(made) == ROWS
    assert made.take_all() == made.take_all()  # In the order of the files' names.
    assert (made.count(), made.columns()) == (6, ["id", "name", "even"])
    assert len(list(made.iter_batches(batch_size=None))) == 4
    assert by_id(data.read_delta(delta, override_num_blocks=2)) == ROWS


@pytest.mark.heavy
def test_delta_gives_an_older_version_and_some_columns(delta):
    assert by_id(data.read_delta(delta, 0)) == PARTS[0]
    assert by_id(data.read_delta(delta, columns=["even", "id"])) == [
        {"even": row["even"], "id": row["id"]} for row in ROWS
    ]


@pytest.mark.heavy
def test_delta_is_read_as_it_was_when_it_was_opened(installed, delta):
    made = data.read_delta(delta)
    installed("deltalake").write_deltalake(delta, table(ROWS), mode="overwrite")
    assert by_id(made) == ROWS


@pytest.mark.heavy
def test_delta_without_rows_has_its_columns(installed, tmp_path):
    place = str(tmp_path / "empty")
    installed("deltalake").write_deltalake(place, table(ROWS))
    installed("deltalake").DeltaTable(place).delete()
    with pytest.raises(ValueError, match="empty has no files, so nothing can be read"):
        data.read_delta(place)


@pytest.mark.heavy
def test_delta_is_written(installed, tmp_path):
    place = str(tmp_path / "written")
    rows = data.from_items(ROWS)
    rows.write_delta(place, partition_by=["even"], name="rows", description="of a test")
    assert by_id(data.read_delta(place)) == ROWS
    made = installed("deltalake").DeltaTable(place)
    assert (made.metadata().name, made.metadata().description) == ("rows", "of a test")
    assert made.metadata().partition_columns == ["even"]
    with pytest.raises(Exception, match="already exists"):
        rows.write_delta(place, mode="error")
    rows.write_delta(place, mode="ignore")
    assert data.read_delta(place).count() == 6
    rows.limit(1).with_column("more", data.expressions.lit(1)).write_delta(place, partition_by=["even"])
    assert {row["more"] for row in by_id(data.read_delta(place)) if row["id"] == 0} == {None, 1}
    rows.limit(2).drop_columns(["name"]).write_delta(place, mode="overwrite", schema_mode="overwrite")
    assert data.read_delta(place).columns() == ["id", "even"]


@pytest.fixture
def iceberg(installed, tmp_path):
    """An Iceberg table of two snapshots; gives its catalog's arguments and the table."""
    place = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db", "warehouse": f"file://{tmp_path}"}
    catalog = installed("pyiceberg.catalog").load_catalog("default", **place)
    catalog.create_namespace("tests")
    made = catalog.create_table("tests.rows", schema=table(ROWS).schema)
    for rows in PARTS:
        made.append(table(rows))
    return {"name": "default", **place}, made


@pytest.mark.heavy
def test_iceberg_is_read_by_files(iceberg):
    catalog, _ = iceberg
    made = data.read_iceberg(table_identifier="tests.rows", catalog_kwargs=catalog)
    assert by_id(made) == ROWS
    assert made.take_all() == made.take_all()
    assert (made.count(), made.columns()) == (6, ["id", "name", "even"])
    cut = data.read_iceberg(table_identifier="tests.rows", catalog_kwargs=catalog, parallelism=3)
    assert by_id(cut) == ROWS


@pytest.mark.heavy
def test_iceberg_gives_a_snapshot_some_columns_and_some_rows(installed, iceberg):
    catalog, made = iceberg
    given = {"table_identifier": "tests.rows", "catalog_kwargs": catalog}
    first = made.history()[0].snapshot_id
    assert by_id(data.read_iceberg(**given, snapshot_id=first)) == PARTS[0]
    condition = installed("pyiceberg.expressions").EqualTo("even", True)
    for row_filter in (condition, "even = true"):
        some = data.read_iceberg(**given, selected_fields=("id",), row_filter=row_filter)
        assert by_id(some) == [{"id": 0}, {"id": 2}, {"id": 4}]
    assert by_id(data.read_iceberg(**given, row_filter="id > 3")) == ROWS[4:]
    assert data.read_iceberg(**given, scan_kwargs={"limit": 4}).count() == 4


@pytest.mark.heavy
def test_iceberg_is_written(installed, iceberg):
    catalog, made = iceberg
    given = {"table_identifier": "tests.rows", "catalog_kwargs": catalog}

    def rows():
        return by_id(data.read_iceberg(**given))

    more = data.from_items([{"id": 6, "name": "row 6", "even": True, "more": 1.5}])
    more.write_iceberg(**given, snapshot_properties={"by": "a test"})
    assert rows() == [*({**row, "more": None} for row in ROWS), {"id": 6, "name": "row 6", "even": True, "more": 1.5}]
    assert made.refresh().current_snapshot().summary["by"] == "a test"
    names = [(6, "six"), (7, "seven")]
    changed = data.from_items([{"id": id, "name": name, "even": id == 6, "more": 2.5} for id, name in names])
    changed.write_iceberg(**given, mode=data.SaveMode.UPSERT, upsert_kwargs={"join_cols": ["id"]})
    assert [row["name"] for row in rows()] == [*(row["name"] for row in ROWS), "six", "seven"]
    condition = installed("pyiceberg.expressions").EqualTo("even", True)
    data.from_items(ROWS[:1]).write_iceberg(**given, mode="overwrite", overwrite_filter=condition)
    assert [row["id"] for row in rows()] == [0, 1, 3, 5, 7]
    data.from_items(ROWS[:2]).write_iceberg(**given, mode="overwrite", overwrite_filter="id > 4")
    assert [row["id"] for row in rows()] == [0, 0, 1, 1, 3]
    data.from_items(ROWS).write_iceberg(**given, mode="overwrite")
    assert [row["id"] for row in rows()] == [0, 1, 2, 3, 4, 5]


@pytest.mark.heavy
def test_iceberg_with_partitions_is_written_and_a_failure_leaves_no_version(iceberg):
    catalog, made = iceberg
    given = {"table_identifier": "tests.rows", "catalog_kwargs": catalog}
    with made.update_spec() as spec:
        spec.add_identity("even")
    data.from_items(ROWS, override_num_blocks=3).write_iceberg(**given, mode="overwrite")
    assert by_id(data.read_iceberg(**given)) == ROWS
    before = made.refresh().current_snapshot().snapshot_id

    def fails(row):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        data.from_items([{**row, "new": 1} for row in ROWS]).filter(fails).write_iceberg(**given)
    assert made.refresh().current_snapshot().snapshot_id == before
    assert data.read_iceberg(**given).columns() == ["id", "name", "even"]


@pytest.mark.heavy
def test_iceberg_without_rows_says_so(iceberg):
    catalog, _ = iceberg
    with pytest.raises(ValueError, match=r"tests\.rows has no such rows, so nothing can be read"):
        data.read_iceberg(table_identifier="tests.rows", catalog_kwargs=catalog, row_filter="id > 9")


@pytest.mark.parametrize(
    ("call", "module", "words"),
    [
        (
            lambda rows: data.read_lance("x"),
            "lance",
            "read_lance needs the package pylance, .* run: pip install pylance",
        ),
        (lambda rows: data.read_delta("x"), "deltalake", "pip install deltalake"),
        (lambda rows: data.read_iceberg(table_identifier="x"), "pyiceberg", "pip install pyiceberg"),
        (lambda rows: rows.write_lance("x"), "lance", "write_lance needs the package pylance"),
        (lambda rows: rows.write_delta("x"), "deltalake", "write_delta needs the package deltalake"),
        (lambda rows: rows.write_iceberg("x.y"), "pyiceberg", "write_iceberg needs the package pyiceberg"),
        (lambda rows: rows.iter_tf_batches(), "tensorflow", "pip install tensorflow"),
        (lambda rows: rows.to_tf("id", "id"), "tensorflow", "to_tf needs the package tensorflow"),
    ],
)
def test_a_package_that_is_missing_is_named(monkeypatch, call, module, words):
    def hidden(name, find=importlib.util.find_spec):
        return None if name == module else find(name)

    monkeypatch.setattr(importlib.util, "find_spec", hidden)
    with pytest.raises(ModuleNotFoundError, match=words) as caught:
        call(data.range(1))
    assert caught.value.name == module
