"""Samples of WebDataset: files of one name as values, and values as files, by their suffixes."""

from __future__ import annotations

import fnmatch
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._values.arguments import check_texts, refuse
from headway._values.packages import needed

_UNSAFE = "HEADWAY_DATA_WEBDATASET_ALLOW_UNSAFE_DESERIALIZATION"
_UNSAFE_IN_RAY = "RAY_DATA_WEBDATASET_ALLOW_UNSAFE_DESERIALIZATION"
_IMAGES = ("jpg", "png", "ppm", "pgm", "pbm", "pnm")
_PICKLES = ("pt", "pth", "pickle", "pkl")
_FUNCTIONS = 'True, False, None, "PIL", a function of samples, or a list of these'


def steps(argument: str, given: Any, *, formats: Sequence[str]) -> list[Any]:
    """What happens to a sample, one after the other: functions, True for the default, or a format.

    Raises:
        TypeError, ValueError: it is none of these.
    """
    allowed = _FUNCTIONS if "PIL" in formats else _FUNCTIONS.replace(' "PIL",', "")
    made = list(given) if isinstance(given, (list, tuple)) else [given]
    for each in made:
        if isinstance(each, str) and each not in formats:
            raise ValueError(f"{argument} is {each!r}; allowed: {allowed}")
        if not isinstance(each, (bool, str)) and not callable(each) and each is not None:
            refuse(argument, each, allowed)
    return [each for each in made if each is not None and each is not False]


def patterns(argument: str, given: Any) -> Callable[[str], bool] | list[str] | None:
    """A function that chooses names, or patterns with ``*`` and ``?``, or names."""
    if given is None or callable(given):
        return given
    return check_texts(argument, given, "None, a function, or a list of names or patterns such as '*.jpg'")


def are_names(chosen: Any) -> bool:
    """Whether all of them are plain names: the data engine reads no others then."""
    return chosen is None or (not callable(chosen) and not any(sign in each for each in chosen for sign in "*?["))


def is_chosen(name: str, chosen: Callable[[str], bool] | list[str] | None) -> bool:
    """Whether a name fits, with or without a dot before it."""
    if chosen is None:
        return True
    if callable(chosen):
        return bool(chosen(name))
    return any(name == each or f".{name}" == each or fnmatch.fnmatchcase(f".{name}", each) for each in chosen)


class Decode:
    """A function of rows: files of a sample as values.

    Args:
        decoders: As ``steps`` gives them.
        expand_json: Whether the names of the sample's JSON become columns.
    """

    def __init__(self, decoders: list[Any], expand_json: bool = False):
        self._decoders = decoders
        self._expand_json = expand_json
        self._unsafe = any(os.environ.get(name, "") in ("1", "true", "True") for name in (_UNSAFE, _UNSAFE_IN_RAY))
        self.__name__ = "read_webdataset"

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The sample's values. Files that it lacks are not shown to functions, and are None.

        Raises:
            ValueError: a file cannot be decoded; the sample and its archive are named.
        """
        sample = {name: value for name, value in row.items() if value is not None}
        by_user = False
        for decoder in self._decoders:
            if callable(decoder):
                by_user = True
                sample = dict(_a_sample(decoder(sample), "decoder"))
            else:
                sample = {name: self._value(name, value, decoder, sample) for name, value in sample.items()}
        sample = {name: _pixels(value) for name, value in sample.items()}
        if self._expand_json:
            sample.update(_expanded(sample))
        return sample if by_user else {**dict.fromkeys(row), **sample}

    def _value(self, name: str, value: Any, decoder: Any, sample: Mapping[str, Any]) -> Any:
        if name.startswith("__") or not isinstance(value, (bytes, str)):
            return value
        try:
            return self._decoded(name, value, decoder)
        except Exception as error:
            raise ValueError(
                f"{sample.get('__url__')}: the file .{name} of the sample {sample.get('__key__')} cannot be decoded: "
                f"{str(error) or type(error).__name__}"
            ) from error

    def _decoded(self, name: str, value: Any, decoder: Any) -> Any:
        extension = name.rpartition(".")[2]
        if extension == "json":
            return json.loads(value)
        if isinstance(value, str):  # The data engine has decoded it.
            return value
        if extension in ("txt", "text"):
            return value.decode()
        if extension in ("cls", "cls2"):
            return int(value)
        if extension in _IMAGES:
            import PIL.Image

            image = PIL.Image.open(io.BytesIO(value))
            return image if decoder == "PIL" else _pixels(image)
        if extension == "npy":
            import numpy as np

            return np.load(io.BytesIO(value))
        if extension == "mp":
            return needed("a file .mp of a WebDataset", "msgpack").unpackb(value, raw=False)
        return self._unpickled(extension, value) if extension in _PICKLES else value

    def _unpickled(self, extension: str, value: bytes) -> Any:
        if not self._unsafe:
            raise ValueError(
                "unpickling runs code of the file; for archives that are trusted give a function as decoder, or set "
                f"{_UNSAFE}=1"
            )
        if extension in ("pt", "pth"):
            torch = needed(f"a file .{extension} of a WebDataset", "torch")
            return _arrays(torch.load(io.BytesIO(value), map_location="cpu", weights_only=False))
        import pickle

        return pickle.loads(value)


def _pixels(value: Any) -> Any:
    """An image of Pillow's as an array; other values as they are."""
    import numpy as np

    return np.asarray(value) if type(value).__module__.partition(".")[0] == "PIL" else value


def _arrays(value: Any) -> Any:
    """A value of torch's with arrays in the place of tensors, as columns have them."""
    import torch

    if isinstance(value, torch.Tensor):
        return value.detach().numpy() if value.ndim else value.item()
    if isinstance(value, Mapping):
        return {name: _arrays(each) for name, each in value.items()}
    return [_arrays(each) for each in value] if isinstance(value, (list, tuple)) else value


def _expanded(sample: Mapping[str, Any]) -> dict[str, Any]:
    where = f"expand_json: the sample {sample.get('__key__')} of {sample.get('__url__')}"
    if sample.get("json") is None:
        raise ValueError(f"{where} has no file .json")
    found = sample["json"]
    value = json.loads(found) if isinstance(found, (bytes, str)) else found
    if not isinstance(value, Mapping):
        raise ValueError(f"{where} has no object in its file .json, but {value!r:.50}")
    if twice := sorted(value.keys() & sample.keys()):
        raise ValueError(f"{where} has {', '.join(twice)} in its file .json, and beside it")
    return dict(value)


def _a_sample(made: Any, argument: str) -> Mapping[str, Any]:
    if not isinstance(made, Mapping):
        raise TypeError(f"{argument} gave {made!r:.50} ({type(made).__name__}); a sample is a dictionary")
    return made


class Encode:
    """A function of rows: values as the files of a sample.

    Args:
        encoders: As ``steps`` gives them.
    """

    def __init__(self, encoders: list[Any]):
        self._encoders = encoders
        self.__name__ = "write_webdataset"

    def __call__(self, row: dict[str, Any]) -> dict[str, Any]:
        """The row with bytes and text; what has no encoder is as it was.

        Raises:
            TypeError: a value is nothing that its suffix has.
        """
        sample = row
        for encoder in self._encoders:
            if callable(encoder):
                sample = dict(_a_sample(encoder(dict(sample)), "encoder"))
            else:
                sample = {name: _encoded(name, value) for name, value in sample.items()}
        return sample


def _encoded(name: str, value: Any) -> Any:
    if name.startswith("__") or value is None or isinstance(value, bytes):
        return value
    extension = name.rpartition(".")[2]
    encode = _ENCODERS.get(extension)
    if encode is None:
        return value
    try:
        return encode(value, extension)
    except (TypeError, ValueError, OSError, AttributeError) as error:
        raise TypeError(f"column {name!r}: {value!r:.50} cannot be written as .{extension}: {error}") from error


def _image(value: Any, extension: str) -> bytes:
    import numpy as np
    import PIL.Image

    image = value if isinstance(value, PIL.Image.Image) else PIL.Image.fromarray(np.asarray(value))
    file = io.BytesIO()
    image.save(file, format={"jpg": "jpeg", "pnm": "ppm", "pgm": "ppm", "pbm": "ppm"}.get(extension, extension))
    return file.getvalue()


def _array(value: Any, _: str) -> bytes:
    import numpy as np

    file = io.BytesIO()
    np.save(file, value)
    return file.getvalue()


def _message(value: Any, _: str) -> bytes:
    return bytes(needed("a file .mp of a WebDataset", "msgpack").packb(value))


def _tensor(value: Any, extension: str) -> bytes:
    torch = needed(f"a file .{extension} of a WebDataset", "torch")
    import numpy as np

    file = io.BytesIO()
    torch.save(torch.tensor(value) if isinstance(value, np.ndarray) else value, file)
    return file.getvalue()


def _pickled(value: Any, _: str) -> bytes:
    import pickle

    return pickle.dumps(value)


_ENCODERS: dict[str, Callable[[Any, str], Any]] = {
    "txt": lambda value, _: value if isinstance(value, str) else str(value),
    "cls": lambda value, _: str(value),
    "cls2": lambda value, _: str(value),
    "json": lambda value, _: value if isinstance(value, str) else json.dumps(value),
    "npy": _array,
    "mp": _message,
    **dict.fromkeys(("jpeg", *_IMAGES), _image),
    **dict.fromkeys(("pt", "pth"), _tensor),
    **dict.fromkeys(("pickle", "pkl"), _pickled),
}
