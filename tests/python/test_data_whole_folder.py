"""The folders of sorts and their like: one that was lost goes, one that is in use stays."""

import os

from headway._worker.functions import whole_folder


def test_folders_of_operations_that_were_lost_go_with_the_next_one(tmp_path):
    """Also one whose removal was cut short, so that it has no lock."""
    for name in ("whole-0-1", "whole-0-2"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "duckdb_temp_storage.tmp").write_bytes(b"rows")
    (tmp_path / "whole-0-2" / "lock").touch()
    with whole_folder.locked(str(tmp_path / "whole-0-3")):
        assert os.listdir(tmp_path) == ["whole-0-3"]


def test_a_folder_of_an_operation_that_is_in_use_stays(tmp_path):
    with whole_folder.locked(str(tmp_path / "whole-0-1")), whole_folder.locked(str(tmp_path / "whole-0-2")):
        assert sorted(os.listdir(tmp_path)) == ["whole-0-1", "whole-0-2"]
