"""The page of the C++ API is what the headers say, and shows all that is there to be used."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "cpp_api.md"


def test_the_page_is_what_the_headers_say():
    done = subprocess.run([sys.executable, ROOT / "scripts/cpp_api.py", "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_public_class_and_macro_is_on_it():
    page = PAGE.read_text()
    headers = (ROOT / "include").rglob("*.hpp")
    declared = set()
    for header in headers:
        spaces = re.split(r"^(?=namespace )", header.read_text(), flags=re.MULTILINE)
        text = "".join(space for space in spaces if not re.match(r"namespace \S*\bdetail \{", space))
        declared |= set(re.findall(r"^(?:class|struct|enum class) (?:HEADWAY_API )?(\w+) [:{]", text, re.MULTILINE))
        declared |= set(re.findall(r"^using (\w+) =", text, re.MULTILINE))
    assert {"Trainer", "Checkpoint", "Json", "UploadMode", "DistributedModel"} <= declared
    missing = [name for name in sorted(declared) if not re.search(rf"\b{name}\b", page)]
    assert not missing
    assert "#define HEADWAY_TRAIN_LOOP(loop)" in page


def test_function_bodies_and_private_parts_are_not_on_it():
    page = PAGE.read_text()
    assert "private:" not in page
    assert "std::move(" not in page
    assert "verify_params_across_processes" not in page
