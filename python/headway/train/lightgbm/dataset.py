"""A data set as LightGBM's."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_bool, check_texts, refuse
from headway.train._boosting.columns import chosen, features_of, iterator_of, role_of
from headway.train._boosting.shares import table_of

if TYPE_CHECKING:
    import lightgbm

    from headway.data import DataIterator, Dataset

#: Arguments that name a column beside the label.
ROLES = ("weight", "init_score")

_categories: weakref.WeakKeyDictionary[Any, Mapping[str, Sequence[str]]] = weakref.WeakKeyDictionary()


def to_dataset(
    shard: DataIterator | Dataset,
    label: str | None = None,
    *,
    weight: str | None = None,
    init_score: str | None = None,
    features: Sequence[str] | None = None,
    categorical_feature: str | Sequence[str] = "auto",
    categories: Mapping[str, Sequence[str]] | None = None,
    external_memory: bool = False,
    reference: lightgbm.Dataset | None = None,
    params: Mapping[str, Any] | None = None,
) -> lightgbm.Dataset:
    """The rows of a rank's share of a data set, as ``lightgbm.train`` takes them.

    The share is read once, whatever epoch the shard is in, and its position does not move. Columns
    are numbers, arrays of one shape such as tensors (each place is a feature), or text.

    Args:
        shard: What ``get_dataset_shard`` returned, or a data set, all of whose rows it is then.
        label: The column of the labels.
        weight: The column of the weights of rows.
        init_score: The column of the predictions that training starts from.
        features: The columns that are trained on; None: all others.
        categorical_feature: The features that are categories; ``"auto"``: those of text.
        categories: The values of columns of text; None: those in all rows of the data set, sorted,
            or those of ``reference``.
        external_memory: Whether the rows lie on disk. What LightGBM makes of them, a byte or two
            for each value, is in memory always.
        reference: The data set that is trained on, for one that evaluates.
        params: Parameters of the data set.

    Raises:
        TypeError, ValueError: a bad argument, or a column that LightGBM cannot have.

    Example:
        >>> import headway.data
        >>> from headway.train.lightgbm import to_dataset
        >>> rows = headway.data.from_items([{"x": 1.0, "y": 0}, {"x": 2.0, "y": 1}])
        >>> to_dataset(rows, "y", params={"verbosity": -1}).construct().num_data()
        2
    """
    import lightgbm

    iterator = iterator_of(shard)
    if reference is not None and not isinstance(reference, lightgbm.Dataset):
        refuse("reference", reference, "None or a lightgbm.Dataset")
    if params is not None and not isinstance(params, Mapping):
        refuse("params", params, "None or a dict of LightGBM's parameters")
    if categories is None and reference is not None:
        categories = _categories.get(reference)
    roles = {"label": label, "weight": weight, "init_score": init_score}
    columns = chosen(iterator, roles, features, categories)
    categorical = _categorical(categorical_feature, columns.features, list(columns.categories))
    table = table_of(iterator, columns, on_disk=check_bool("external_memory", external_memory))
    made = lightgbm.Dataset(
        features_of(table),
        **{role: role_of(table, role) for role in ("label", *ROLES)},
        reference=reference,
        categorical_feature=categorical,
        params=dict(params or {}),
    )
    text = [name for name in columns.features if name in columns.categories]
    # So that the model takes categories of pandas, too.
    made.pandas_categorical = [list(columns.categories[name]) for name in text] or None
    _categories[made] = columns.categories
    return made


def _categorical(given: Any, features: Sequence[str], text: list[str]) -> list[str]:
    """The features that are categories: those of text are no numbers, whatever is asked for."""
    allowed = '"auto" or a list of features'
    if given == "auto":
        return [name for name in text if name in features]
    named = check_texts("categorical_feature", given, allowed)
    for name in named:
        if name not in features:
            raise ValueError(f"categorical_feature has {name!r}; allowed: features: {', '.join(features)}")
    return [name for name in features if name in named or name in text]
