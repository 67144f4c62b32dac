"""Writes the digits of examples/digits.py as plain numbers, for the C++ example: ``python
export_data.py FOLDER``.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from digits import load_data


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for part, data in zip(("training", "test"), load_data(), strict=True):
        images, labels = data.tensors
        images.numpy().astype("<f4").tofile(folder / f"{part}_images.f32")
        labels.numpy().astype("<i8").tofile(folder / f"{part}_labels.i64")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
