"""Images on their way to files."""

from __future__ import annotations

import io
from typing import Any

from headway._values.arguments import check_str
from headway._values.packages import check_installed

_ALLOWED = 'a format that Pillow writes, such as "png", "jpeg" or "webp"'


class EncodedImage:
    """A function of rows: an image as the bytes of a file.

    Args:
        column: The column of arrays.
        file_format: One that Pillow writes, or a file's extension.

    Attributes:
        extension: Of the files, without a dot.

    Raises:
        ModuleNotFoundError: Pillow is not installed.
        TypeError, ValueError: there is no such format.
    """

    def __init__(self, column: str, file_format: str):
        self._column = column
        self.extension = check_str("file_format", file_format, _ALLOWED).lower()
        self._kind = _kind_of(self.extension)
        self.__name__ = "write_images"

    def __call__(self, row: dict[str, Any]) -> dict[str, bytes]:
        """The row's file.

        Raises:
            TypeError: the value is no image that the format has.
        """
        import numpy as np
        from PIL import Image

        pixels = row[self._column]
        if not isinstance(pixels, np.ndarray):
            raise TypeError(f"column {self._column!r} has {pixels!r:.50}; an image is an array of height and width")
        if pixels.ndim == 3 and pixels.shape[2] == 1:
            pixels = pixels[:, :, 0]
        file = io.BytesIO()
        try:
            Image.fromarray(np.ascontiguousarray(pixels)).save(file, format=self._kind)
        except (TypeError, OSError, ValueError) as error:
            raise TypeError(
                f"column {self._column!r}: an array of {pixels.dtype} with the shape {pixels.shape} cannot be written "
                f"as {self.extension}: {error}"
            ) from None
        return {"bytes": file.getvalue()}


def _kind_of(extension: str) -> str:
    """Pillow's name of a format."""
    check_installed("write_images", "PIL", "pillow")
    from PIL import Image

    kind = Image.registered_extensions().get(f".{extension}", extension.upper())
    if kind not in Image.SAVE:
        raise ValueError(f"file_format is {extension!r}; allowed: {_ALLOWED}")
    return kind
