"""TensorFlow's data sets that hold a rank's own share already."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import refuse
from headway.train.tensorflow._package import tensorflow


def prepare_dataset_shard(tf_dataset_shard: Any) -> Any:
    """Has TensorFlow leave a data set alone that is a rank's share: it would split the data over
    the ranks once more. Batches are fetched ahead.

    Args:
        tf_dataset_shard: A ``tf.data.Dataset`` with this rank's rows, in batches. A batch of
            ``model.fit`` is that of all ranks: its size is the rank's batch times the ranks.

    Returns:
        The ``tf.data.Dataset`` to train with.

    Raises:
        ImportError: tensorflow is not installed.
        TypeError: it is no ``tf.data.Dataset``.

    Example:
        >>> from headway.train.tensorflow import prepare_dataset_shard
        >>> def loop():
        ...     import tensorflow as tf
        ...     data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(32)
        ...     model.fit(prepare_dataset_shard(data))
    """
    tf = tensorflow("prepare_dataset_shard()")
    if not isinstance(tf_dataset_shard, tf.data.Dataset):
        refuse("tf_dataset_shard", tf_dataset_shard, "a tf.data.Dataset")
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return tf_dataset_shard.with_options(options).prefetch(tf.data.AUTOTUNE)
