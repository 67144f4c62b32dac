"""The packages that drivers have sent, as a node keeps them: bounded, whole, and in use or not."""

import fcntl
import hashlib
import os
import signal
import tarfile

import pytest
from headway._runtime import package_cache, packages
from headway._runtime.package_cache import unpacked
from headway._runtime.packages import _entries, _packed


def archive_of(path, excludes=()):
    """The bytes of a package."""
    return _packed(list(_entries(path, excludes, False)))


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "packages"


@pytest.fixture
def sent(tmp_path):
    """``sent(name, bytes)``: a package of a directory with such a file; its hash, and where it came
    to.
    """

    def make(name, size):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "data").write_bytes(os.urandom(size))
        archive = archive_of(str(folder))
        arrived = tmp_path / f"{name}.arrived"
        arrived.write_bytes(archive)
        return hashlib.sha256(archive).hexdigest(), str(arrived)

    return make


def is_in_use(lock):
    with open(lock) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def in_a_process(hash_of, arrived):
    """Unpacked by a process that has ended: nobody uses it."""
    pid = os.fork()
    if pid == 0:
        try:
            package_cache._in_use.clear()  # The parent's.
            unpacked(hash_of, arrived)
            os._exit(0)
        finally:
            os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def test_the_same_content_is_the_same_package(tmp_path):
    for name, order in (("one", ("a", "b")), ("two", ("b", "a"))):
        (tmp_path / name / "__pycache__").mkdir(parents=True)
        (tmp_path / name / "__pycache__" / name).touch()
        for file in order:
            (tmp_path / name / file).write_text(file)
    os.utime(tmp_path / "two" / "a", (1, 1))
    assert archive_of(str(tmp_path / "one")) == archive_of(str(tmp_path / "two"))
    os.chmod(tmp_path / "two" / "a", 0o755)
    assert archive_of(str(tmp_path / "one")) != archive_of(str(tmp_path / "two"))


def test_links_are_followed_and_end(tmp_path):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "module.py").write_text("value = 1\n")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "project" / "itself").symlink_to(tmp_path / "project")
    (tmp_path / "project" / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "plain" / "linked").mkdir(parents=True)
    (tmp_path / "plain" / "linked" / "module.py").write_text("value = 1\n")
    assert archive_of(str(tmp_path / "project")) == archive_of(str(tmp_path / "plain"))


def test_the_oldest_that_nobody_uses_makes_way(cache, sent, monkeypatch):
    monkeypatch.setenv("HEADWAY_CACHE_BYTES_MAX", "2500")
    old, used, new = sent("old", 1000), sent("used", 1000), sent("new", 1000)
    path = unpacked(*used)
    in_a_process(*old)
    os.utime(cache / used[0], (1, 1))
    in_a_process(*new)
    assert sorted(each.name for each in cache.iterdir() if each.is_dir()) == sorted([used[0], new[0]])
    assert os.path.getsize(os.path.join(path, "data")) == 1000
    assert is_in_use(cache / f"{used[0]}.lock")
    assert not (cache / f"{old[0]}.lock").exists()


def test_what_a_killed_process_has_left_goes(cache, sent):
    left = cache / ("0" * 64 + ".part")
    left.mkdir(parents=True)
    left.with_suffix(".lock").touch()
    in_a_process(*sent("whole", 10))
    assert not left.exists()
    assert not left.with_suffix(".lock").exists()


def test_a_process_that_is_killed_over_it_leaves_nothing_that_is_taken_for_whole(cache, sent):
    hash_of, arrived = sent("large", 1000)
    reached, says = os.pipe()
    pid = os.fork()
    if pid == 0:
        extract = tarfile.TarFile.extractall

        def extract_and_stand_still(*arguments):
            extract(*arguments)
            os.write(says, b"x")
            signal.pause()

        tarfile.TarFile.extractall = extract_and_stand_still
        unpacked(hash_of, arrived)
    assert os.read(reached, 1) == b"x"
    assert [each.suffix for each in cache.iterdir() if each.is_dir()] == [".part"]
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    with pytest.raises(FileNotFoundError):  # It has to come again.
        unpacked(hash_of, None)
    place = unpacked(hash_of, arrived)
    assert os.path.getsize(os.path.join(place, "data")) == 1000
    assert [each.name for each in cache.iterdir() if each.is_dir()] == [hash_of]


def test_the_driver_keeps_packages_up_to_a_number_of_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "_kept", {})
    monkeypatch.setattr(packages, "_KEPT_BYTES_MAX", 5000)
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "data").write_bytes(os.urandom(2000))
    first = packages.package_of("runtime_env", str(tmp_path / "a"))
    assert packages.package_of("runtime_env", str(tmp_path / "a")) is first
    packages.package_of("runtime_env", str(tmp_path / "b"))
    packages.package_of("runtime_env", str(tmp_path / "a"))
    packages.package_of("runtime_env", str(tmp_path / "c"))
    assert [os.path.basename(path) for path, *_ in packages._kept] == ["a", "c"]
    # The one in use stays, however large it is.
    (tmp_path / "b" / "more").write_bytes(os.urandom(6000))
    packages.package_of("runtime_env", str(tmp_path / "b"))
    assert [os.path.basename(path) for path, *_ in packages._kept] == ["b"]


def test_what_is_not_what_was_sent_is_refused_and_leaves_nothing(cache, sent):
    hash_of, arrived = sent("broken", 1000)
    with open(arrived, "r+b") as file:
        file.truncate(500)
    with pytest.raises(OSError, match="is something else"):
        unpacked(hash_of, arrived)
    with pytest.raises(FileNotFoundError, match="removed meanwhile"):
        unpacked(hash_of, None)
    assert [each.name for each in cache.iterdir() if each.suffix != ".lock"] == []


def test_users_of_a_package_do_not_wait_for_each_other(cache, sent):
    package = sent("shared", 10)
    path = unpacked(*package)
    in_a_process(*package)
    assert unpacked(*package) == path


def test_patterns_leave_files_out(tmp_path):
    for name in ("a.bin", "a.py", "data/b.py", "kept/data.py", "kept/c.bin"):
        (tmp_path / "project" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "project" / name).write_text(name)
        if name in ("a.py", "kept/data.py"):
            (tmp_path / "plain" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "plain" / name).write_text(name)
    assert archive_of(str(tmp_path / "project"), ["*.bin", "/data/"]) == archive_of(str(tmp_path / "plain"))
