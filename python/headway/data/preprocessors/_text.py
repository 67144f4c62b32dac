"""Preprocessors of text, and of images."""

from __future__ import annotations

import collections
import contextlib
import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headway._values.arguments import check_above_0, check_bool, check_str, refuse
from headway.data._dataset import Dataset
from headway.data.preprocessors import _statistics
from headway.data.preprocessors._base import Preprocessor, column_of

TokenizationFn = Callable[[str], Iterable[str]]


def _words(text: str) -> list[str]:
    return text.split(" ")


def _checked(argument: str, function: Any) -> TokenizationFn:
    if function is not None and not callable(function):
        refuse(argument, function, "None or a function of a text that returns its words")
    return function or _words


def _all_texts(name: str, texts: Any) -> list[Any]:
    """Raises ValueError where one is None, of which there are no words to count."""
    listed: list[Any] = texts.tolist()
    if None in listed:
        raise ValueError(f"column {name!r} has None, which has no words; fill it (col({name!r}).fill_null(''))")
    return listed


def _place(text: str, places: int) -> int:
    """One of so many places, the same for a text in each process."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little") % places


class Tokenizer(Preprocessor):
    """Cuts texts into words. None stays None.

    Args:
        columns: Columns of text.
        tokenization_fn: Cuts one text; default: at blanks.
        output_columns: Where the lists go; default: the same columns.

    Example:
        >>> from headway.data.preprocessors import Tokenizer
        >>> Tokenizer(columns=["text"]).transform_batch({"text": ["a cat", "sat"]})["text"].tolist()
        [['a', 'cat'], ['sat']]
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str],
        tokenization_fn: TokenizationFn | None = None,
        *,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.tokenization_fn = _checked("Tokenizer.tokenization_fn", tokenization_fn)

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            texts = column_of(batch, name, "Tokenizer").tolist()
            made: Any = np.empty(len(texts), dtype=object)
            for index, text in enumerate(texts):
                made[index] = None if text is None else list(self.tokenization_fn(text))
            batch[output] = made
        return batch


class HashingVectorizer(Preprocessor):
    """Counts the words of each text, at places that a hash gives them.

    Args:
        columns: Columns of text.
        num_features: Length of the vectors.
        tokenization_fn: Cuts one text into words; default: at blanks.
        output_columns: Where the vectors go; default: the same columns.

    Example:
        >>> from headway.data.preprocessors import HashingVectorizer
        >>> vectors = HashingVectorizer(columns=["text"], num_features=4).transform_batch({"text": ["a b a"]})
        >>> int(vectors["text"].sum())
        3
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str],
        num_features: int,
        tokenization_fn: TokenizationFn | None = None,
        *,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.num_features = check_above_0("HashingVectorizer.num_features", num_features)
        self.tokenization_fn = _checked("HashingVectorizer.tokenization_fn", tokenization_fn)

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            texts = _all_texts(name, column_of(batch, name, "HashingVectorizer"))
            vectors: Any = np.zeros((len(texts), self.num_features), np.int64)
            for row, text in enumerate(texts):
                for word in self.tokenization_fn(text):
                    vectors[row, _place(word, self.num_features)] += 1
            batch[output] = vectors
        return batch


class FeatureHasher(Preprocessor):
    """Adds up columns of a row at places that a hash of their names gives them.

    Args:
        columns: Columns of numbers, such as the counts of words.
        num_features: Length of the vectors.
        output_column: Where the vectors go. The columns themselves are dropped.

    Example:
        >>> from headway.data.preprocessors import FeatureHasher
        >>> hasher = FeatureHasher(columns=["cat", "dog"], num_features=3, output_column="animals")
        >>> int(hasher.transform_batch({"cat": [1], "dog": [2]})["animals"].sum())
        3
    """

    _is_fittable = False

    def __init__(self, columns: Sequence[str], num_features: int, output_column: str):
        super().__init__(columns)
        self.num_features = check_above_0("FeatureHasher.num_features", num_features)
        self.output_column = check_str("FeatureHasher.output_column", output_column, "a column's name")
        self.output_columns = [output_column]

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        columns = {name: np.asarray(column_of(batch, name, "FeatureHasher")) for name in self.columns}
        first = next(iter(columns.values()))
        vectors = np.zeros((len(first), self.num_features), np.result_type(*columns.values()))
        for name, values in columns.items():
            vectors[:, _place(name, self.num_features)] += values
            del batch[name]
        return {**batch, self.output_column: vectors}


class CountVectorizer(Preprocessor):
    """Counts the words of each text, of those that were there at ``fit``.

    Args:
        columns: Columns of text.
        tokenization_fn: Cuts one text into words; default: at blanks.
        max_features: Only so many words, the most frequent ones.
        output_columns: Where the vectors go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import CountVectorizer
        >>> rows = headway.data.from_items([{"text": "a b"}, {"text": "b b"}])
        >>> CountVectorizer(columns=["text"]).fit_transform(rows).take_batch()["text"].tolist()
        [[1, 1], [2, 0]]
    """

    def __init__(
        self,
        columns: Sequence[str],
        tokenization_fn: TokenizationFn | None = None,
        max_features: int | None = None,
        *,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.tokenization_fn = _checked("CountVectorizer.tokenization_fn", tokenization_fn)
        self.max_features = None
        if max_features is not None:
            self.max_features = check_above_0("CountVectorizer.max_features", max_features)

    def _fit(self, ds: Dataset) -> None:
        counts: dict[str, collections.Counter[str]] = {name: collections.Counter() for name in self.columns}
        for batch in _statistics._batches(ds, self.columns):
            for name, texts in batch.items():
                for text in _all_texts(name, texts):
                    counts[name].update(self.tokenization_fn(text))
        #: By column: words, the most frequent one first.
        self.stats_ = {name: _statistics.most_frequent(dict(each), self.max_features) for name, each in counts.items()}

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            places = {word: place for place, word in enumerate(self.stats_[name])}
            texts = _all_texts(name, column_of(batch, name, "CountVectorizer"))
            vectors: Any = np.zeros((len(texts), len(places)), np.int64)
            for row, text in enumerate(texts):
                for word in self.tokenization_fn(text):
                    if word in places:
                        vectors[row, places[word]] += 1
            batch[output] = vectors
        return batch


class TorchVisionPreprocessor(Preprocessor):
    """Applies a transform of torchvision to images.

    Args:
        columns: Columns of images: arrays of height, width and colours.
        transform: Gets a tensor of an image, or an array where it raises ``TypeError`` for
            tensors, as ``ToTensor()`` does; returns a tensor or an array.
        output_columns: Where the results go; default: the same columns.
        batched: Whether the transform gets all images of a batch at once.

    Example:
        >>> import numpy
        >>> from headway.data.preprocessors import TorchVisionPreprocessor
        >>> halved = TorchVisionPreprocessor(columns=["image"], transform=lambda image: image[::2, ::2])
        >>> halved.transform_batch({"image": numpy.zeros((1, 4, 4, 3))})["image"].shape
        (1, 2, 2, 3)
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str],
        transform: Callable[[Any], Any],
        output_columns: Sequence[str] | None = None,
        batched: bool = False,
    ):
        super().__init__(columns, output_columns)
        if not callable(transform):
            refuse("TorchVisionPreprocessor.transform", transform, "a function of an image")
        self.torchvision_transform = transform
        self.batched = check_bool("TorchVisionPreprocessor.batched", batched)

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        for name, output in self._pairs():
            images = column_of(batch, name, "TorchVisionPreprocessor")
            if self.batched:
                batch[output] = self._of(images)
                continue
            batch[output] = _stacked([self._of(image) for image in images])
        return batch

    def _of(self, array: Any) -> Any:
        """What the transform makes of a tensor, or of an array where it takes no tensor, as
        ``ToTensor()`` does not.
        """
        tensor = _tensor(array)
        if tensor is not None:
            with contextlib.suppress(TypeError):
                return _array(self.torchvision_transform(tensor))
        return _array(self.torchvision_transform(array))


def _tensor(array: Any) -> Any:
    """None where there is no torch, or no tensor of such values."""
    try:
        import torch

        return torch.from_numpy(array if array.flags.writeable else array.copy())
    except (ImportError, TypeError):
        return None


def _array(value: Any) -> Any:
    import numpy as np

    return value.detach().cpu().numpy() if hasattr(value, "detach") else np.asarray(value)


def _stacked(arrays: list[Any]) -> Any:
    import numpy as np

    if len({each.shape for each in arrays}) <= 1:
        return np.stack(arrays) if arrays else np.empty(0)
    made: Any = np.empty(len(arrays), dtype=object)
    for index, each in enumerate(arrays):
        made[index] = each
    return made
