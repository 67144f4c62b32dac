"""JPEG images a second and core, decoded and not resized, by a script that does nothing with them.

data_decode.py headway one|all, alone one|all

With ``one`` the program and its processes have one core. Alone, libjpeg-turbo (in simplejpeg)
decodes the same files on one core, whatever the cores.
"""

from __future__ import annotations

import os
import sys
import time

import program
from reference_images import STORED, write_images

IMAGES = 9600
BATCH = 32
EPOCHS = 2  # The second is the one whose rate counts.


def take_one_core():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def decoded_alone(folder):
    import simplejpeg

    return ([simplejpeg.decode_jpeg(file.read_bytes(), "RGB")] for file in sorted(folder.iterdir()))


def decoded_by_headway(folder):
    import headway.data

    images = headway.data.read_images(str(folder), mode="RGB").iterator()
    return (batch["image"] for batch in images.iter_batches(batch_size=BATCH))


def main(library, kind):
    count = max(2 * BATCH, round(IMAGES * program.size()))
    folder = write_images(count)
    if library == "alone" or kind == "one":
        take_one_core()
    decoded = decoded_alone if library == "alone" else decoded_by_headway
    for _ in range(EPOCHS):
        rows, started = 0, time.perf_counter()
        for images in decoded(folder):
            assert images[0].shape == (STORED[1], STORED[0], 3)
            rows += len(images)
        seconds = time.perf_counter() - started
    assert rows == count, f"{rows} of {count} images were decoded"
    program.finish(images_per_s_and_core=rows / seconds / len(os.sched_getaffinity(0)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
