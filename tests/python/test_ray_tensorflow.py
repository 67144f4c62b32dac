"""What Ray Train's guides show of TensorFlow, as scripts that are run as they are."""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

# The quick start on made-up images; the guide's checkpoints, saved and loaded by Keras; and a new
# run that starts from one.
GUIDE = """
    import os

    os.environ["TF_USE_LEGACY_KERAS"] = "1"

    import json
    import tempfile

    import numpy as np
    import tensorflow as tf

    from ray import train
    from ray.air.integrations.keras import ReportCheckpointCallback
    from ray.train import Checkpoint, Result, RunConfig, ScalingConfig
    from ray.train.tensorflow import TensorflowConfig, TensorflowTrainer


    def bars(batch_size):
        # Images with a bright row; the label is its number.
        labels = np.arange(256, dtype="int64") % 8
        images = np.random.default_rng(0).integers(0, 80, (256, 8, 8))
        images[np.arange(256), labels] += 150
        images = images / np.float32(255)
        return tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(256, seed=0).repeat().batch(batch_size)


    def build_cnn_model():
        return tf.keras.Sequential([
            tf.keras.Input(shape=(8, 8)),
            tf.keras.layers.Reshape(target_shape=(8, 8, 1)),
            tf.keras.layers.Conv2D(4, (1, 8)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(8),
        ])


    def train_func(config: dict):
        per_worker_batch_size = config.get("batch_size", 64)
        tf_config = json.loads(os.environ["TF_CONFIG"])
        num_workers = len(tf_config["cluster"]["worker"])
        assert num_workers == train.get_context().get_world_size()
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        multi_worker_dataset = bars(per_worker_batch_size * num_workers)
        with strategy.scope():
            multi_worker_model = build_cnn_model()
            multi_worker_model.compile(
                loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                optimizer=tf.keras.optimizers.SGD(learning_rate=config.get("lr", 0.001)),
                metrics=["accuracy"],
            )
        history = multi_worker_model.fit(
            multi_worker_dataset,
            epochs=config["epochs"],
            steps_per_epoch=8,
            callbacks=[ReportCheckpointCallback()],
        )
        return history.history


    def train_and_save(config):
        import tensorflow as tf

        n = 80
        # All rows are equal: an epoch's loss does not depend on which rows a rank has drawn.
        X = np.ones((n, 4))
        Y = X.sum(axis=1, keepdims=True)
        strategy = tf.distribute.experimental.MultiWorkerMirroredStrategy()
        with strategy.scope():
            checkpoint = train.get_checkpoint()
            if checkpoint:
                with checkpoint.as_directory() as checkpoint_dir:
                    model = tf.keras.models.load_model(os.path.join(checkpoint_dir, "model.keras"))
            else:
                model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="linear", input_shape=(4,))])
            model.compile(optimizer="Adam", loss="mean_squared_error", metrics=["mse"])

        for epoch in range(config["num_epochs"]):
            history = model.fit(X, Y, batch_size=20)
            with tempfile.TemporaryDirectory() as temp_checkpoint_dir:
                model.save(os.path.join(temp_checkpoint_dir, "model.keras"))
                extra_json = os.path.join(temp_checkpoint_dir, "checkpoint.json")
                with open(extra_json, "w") as f:
                    json.dump({"epoch": epoch}, f)
                checkpoint = Checkpoint.from_directory(temp_checkpoint_dir)
                train.report({"loss": history.history["loss"][0]}, checkpoint=checkpoint)


    if __name__ == "__main__":
        trainer = TensorflowTrainer(
            train_loop_per_worker=train_func,
            train_loop_config={"lr": 0.05, "batch_size": 16, "epochs": 3},
            tensorflow_backend=TensorflowConfig(),
            scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
            run_config=RunConfig(storage_path=None),
        )
        result: Result = trainer.fit()
        losses = list(result.metrics_dataframe["loss"])
        assert len(losses) == 3 and losses[-1] < losses[0], losses
        assert result.return_value["accuracy"][-1] == result.metrics["accuracy"]

        two = ScalingConfig(num_workers=2)
        result = TensorflowTrainer(train_and_save, train_loop_config={"num_epochs": 2}, scaling_config=two).fit()
        with result.checkpoint.as_directory() as directory:
            assert {"model.keras", "checkpoint.json"} <= set(os.listdir(directory))
            with open(os.path.join(directory, "checkpoint.json")) as file:
                assert json.load(file) == {"epoch": 1}
        again = TensorflowTrainer(
            train_and_save,
            train_loop_config={"num_epochs": 1},
            scaling_config=two,
            resume_from_checkpoint=result.checkpoint,
        ).fit()
        assert again.metrics["loss"] < result.metrics["loss"]
        print("done")
"""

# Rows of data sets: as pairs that are made by hand, and by to_tf. Each rank has its own share,
# which TensorFlow does not divide again.
DATA_SETS = """
    import os

    os.environ["TF_USE_LEGACY_KERAS"] = "1"

    import numpy as np
    import tensorflow as tf

    import ray
    from ray import train
    from ray.data.preprocessors import Concatenator
    from ray.train import ScalingConfig
    from ray.train.tensorflow import TensorflowTrainer, prepare_dataset_shard
    from ray.train.tensorflow.keras import ReportCheckpointCallback


    def train_autoencoder(config: dict):
        dataset_shard = train.get_context().get_dataset_shard("train")
        with tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = tf.keras.Sequential([
                tf.keras.Input(shape=(16,)),
                tf.keras.layers.Dense(4, activation="relu"),
                tf.keras.layers.Dense(16, activation="sigmoid"),
            ])
            model.compile(
                loss=tf.keras.losses.BinaryCrossentropy(),
                optimizer=tf.keras.optimizers.Adam(learning_rate=0.01),
                metrics=["binary_crossentropy"],
            )

        def to_tf_dataset(dataset, batch_size):
            def to_tensor_iterator():
                for batch in dataset.iter_tf_batches(batch_size=batch_size, dtypes=tf.float32):
                    yield batch["image"], batch["label"]

            output_signature = (
                tf.TensorSpec(shape=(None, 16), dtype=tf.float32),
                tf.TensorSpec(shape=(None, 16), dtype=tf.float32),
            )
            tf_dataset = tf.data.Dataset.from_generator(to_tensor_iterator, output_signature=output_signature)
            return prepare_dataset_shard(tf_dataset)

        results = []
        for epoch in range(config["epochs"]):
            tf_dataset = to_tf_dataset(dataset=dataset_shard, batch_size=8)
            history = model.fit(tf_dataset, callbacks=[ReportCheckpointCallback()])
            results.append(history.history)
        return results, int(model.optimizer.iterations.numpy())


    def train_regression(config: dict):
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            multi_worker_model = tf.keras.Sequential([
                tf.keras.layers.InputLayer(input_shape=(3,)),
                tf.keras.layers.Dense(4),
                tf.keras.layers.Dense(1),
            ])
            multi_worker_model.compile(
                optimizer=tf.keras.optimizers.SGD(learning_rate=config.get("lr", 1e-3)),
                loss=tf.keras.losses.mean_absolute_error,
                metrics=[tf.keras.metrics.mean_squared_error],
            )
        dataset = train.get_dataset_shard("train")
        for _ in range(config["epochs"]):
            tf_dataset = dataset.to_tf(feature_columns="x", label_columns="y", batch_size=config["batch_size"])
            multi_worker_model.fit(tf_dataset, callbacks=[ReportCheckpointCallback()])
        return int(multi_worker_model.optimizer.iterations.numpy())


    if __name__ == "__main__":
        ray.init(num_cpus=4, num_gpus=0)
        two = ScalingConfig(num_workers=2, use_gpu=False)
        draw = np.random.default_rng(0)
        images = draw.random((96, 16)).astype("float32")
        trainer = TensorflowTrainer(
            train_loop_per_worker=train_autoencoder,
            train_loop_config={"epochs": 2},
            datasets={"train": ray.data.from_items([{"image": image, "label": image} for image in images])},
            scaling_config=two,
        )
        results, steps = trainer.fit().return_value
        # A rank has 48 rows; of each batch of 8 Keras makes one for each of two ranks. One more step
        # of an epoch finds the end of the rows.
        assert steps in (2 * 12, 2 * 13), steps
        assert len(results) == 2

        with open("regression.csv", "w") as file:
            file.write("x000,x001,x002,y\\n")
            for row in draw.random((96, 3)):
                file.write(",".join(map(str, [*row, row.sum()])) + "\\n")
        dataset = ray.data.read_csv("regression.csv")
        preprocessor = Concatenator(columns=[f"x{i:03}" for i in range(3)], output_column_name="x")
        dataset = preprocessor.fit_transform(dataset)
        trainer = TensorflowTrainer(
            train_loop_per_worker=train_regression,
            train_loop_config={"lr": 1e-2, "batch_size": 16, "epochs": 2},
            scaling_config=two,
            datasets={"train": dataset},
        )
        result = trainer.fit()
        assert {"loss", "mean_squared_error"} <= set(result.metrics)
        # In the same way 48 rows in batches of 16: none of them is left to another rank.
        assert result.return_value in (2 * 6, 2 * 7), result.return_value
        print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


@pytest.mark.parametrize("code", [pytest.param(GUIDE, id="guide"), pytest.param(DATA_SETS, id="data sets")])
def test_what_the_guides_show_of_tensorflow_runs_as_it_is(tmp_path, code):
    for_ray.run(tmp_path, code)
