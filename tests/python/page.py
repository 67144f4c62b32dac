"""Runs the Python blocks of a page, each as a script of its own, in one process: page.py PAGE
FOLDER.

A block has a ``__main__``, a working directory and a storage path of its own; the runtime is
shared, as in a notebook, except around a block that calls ``headway.init``. Every block is run; the
last lines name those that failed.
"""

import os
import re
import sys
import traceback
import types
from pathlib import Path

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page):
    """(line of its first statement, code) of each block."""
    text = page.read_text()
    for found in BLOCK.finditer(text):
        yield text.count("\n", 0, found.start(1)) + 1, found[1]


def run(code, name, line):
    """Runs one block; tracebacks show the page's own lines."""
    main = types.ModuleType("__main__")
    main.__file__ = name
    sys.modules["__main__"] = main
    exec(compile("\n" * (line - 1) + code, name, "exec"), main.__dict__)


def main(page, folder):
    import headway

    failed = []
    for line, code in blocks(page):
        place = folder / f"line_{line}"
        place.mkdir()
        os.chdir(place)
        os.environ["HEADWAY_STORAGE"] = str(place / "results")
        if "headway.init(" in code:
            headway.shutdown()
        print(f"--- {page.name}:{line}", flush=True)
        try:
            run(code, str(page), line)
        except BaseException:
            traceback.print_exc()
            failed.append(f"{page.name}:{line} failed")
        if "headway.init(" in code:
            headway.shutdown()
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
