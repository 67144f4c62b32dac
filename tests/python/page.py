"""Runs the Python blocks of a page, each as a separate script, in one process: page.py PAGE FOLDER
[WORKERS...].

Each block has its own ``__main__``, working directory and storage path; the runtime is shared, as
in a notebook, except around a block that calls ``headway.init``. Every block is run; the last lines
name those that failed. With WORKERS the training loops of PyTorch are run again, once for each
number, with so many workers in place of two.
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


TWO = "num_workers=2)"


def loops(page, numbers):
    """The blocks that train with two workers, for each number of workers."""
    for number in numbers:
        for line, code in blocks(page):
            if "TorchTrainer(" in code and TWO in code:
                yield line, code.replace(TWO, f"num_workers={number})")


def main(page, folder, *numbers):
    import headway

    failed = []
    for run_number, (line, code) in enumerate([*blocks(page), *loops(page, numbers)]):
        place = folder / f"{run_number}_line_{line}"
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
    sys.exit(main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]), *sys.argv[3:]))
