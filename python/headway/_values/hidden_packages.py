"""A script with the name of a package runs again wherever the package is imported."""

from __future__ import annotations

import os
import sys

#: Packages that Headway imports in the script's process or in its workers.
_IMPORTED = {
    "accelerate",
    "cloudpickle",
    "deepspeed",
    "duckdb",
    "horovod",
    "jax",
    "keras",
    "lightgbm",
    "lightning",
    "numpy",
    "pandas",
    "pyarrow",
    "tensorflow",
    "torch",
    "transformers",
    "xgboost",
}


def hidden_by_script() -> str | None:
    """What is wrong with the running script if it hides a package: each worker that imports the
    package would run the script. None: it hides none of those that are imported.

    Example:
        A script ``numpy.py``, whose folder is the first of ``sys.path``, is what ``import numpy``
        finds.
    """
    main = sys.modules.get("__main__")
    path = getattr(main, "__file__", None)
    if path is None or getattr(main, "__spec__", None) is not None:  # None, or it runs as a module.
        return None
    folder, file = os.path.split(os.path.abspath(path))
    name = file.removesuffix(".py")
    if name not in _IMPORTED or all(os.path.abspath(each) != folder for each in sys.path):
        return None
    return (
        f"{path} hides the package {name}: what imports {name}, such as a worker, would run this script in its place; "
        "rename the script"
    )
