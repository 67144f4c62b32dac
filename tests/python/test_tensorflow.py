"""TensorFlow in a training function: the same numbers as by itself, checkpoints, recovery."""

import functools
import json
import os
import signal
import subprocess
import sys

import bad_calls
import golden
import headway
import pytest
from conftest import PACKAGES
from headway import train
from headway.train.tensorflow import TensorflowCheckpoint, TensorflowConfig, TensorflowTrainer, prepare_dataset_shard
from headway.train.tensorflow.keras import ReportCheckpointCallback

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module", autouse=True)
def program():
    """tensorflow_program.py; imported here, since only `make test-all` installs TensorFlow."""
    headway.shutdown()
    import tensorflow_program

    yield tensorflow_program
    os.environ.pop("TF_USE_LEGACY_KERAS", None)
    headway.shutdown()


@pytest.fixture
def fit_tensorflow(fit):
    return functools.partial(fit, trainer=TensorflowTrainer)


def losses(result):
    return result.metrics_dataframe["loss"].tolist()


def test_the_losses_are_those_of_tensorflow_alone(program, fit_tensorflow, tmp_path):
    path = tmp_path / "losses.json"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    command = [sys.executable, program.__file__, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    alone = json.loads(path.read_text())

    result = fit_tensorflow(program.loop, config={})
    assert losses(result) == alone
    assert alone == golden.losses("tensorflow"), "as they were when this was written"
    assert result.return_value == (2, program.EPOCHS * program.STEPS_PER_EPOCH, 2)
    metadata = result.checkpoint.get_metadata()
    assert (metadata["epoch"], metadata["step"]) == (program.EPOCHS, 32)


def test_a_rank_that_is_killed_within_an_epoch_costs_that_epoch_alone(program, fit_tensorflow):
    result = fit_tensorflow(program.loop, config={"kill": 20}, max_failures=1)
    assert losses(result) == golden.losses("tensorflow")
    assert len(losses(result)) == program.EPOCHS
    assert result.return_value == (2, 32, 2)


@pytest.mark.parametrize("rank", [0, 1])
def test_the_error_is_that_of_the_rank_that_was_killed(program, fit_tensorflow, rank):
    """Not TensorFlow's in the other rank, which has lost its peer."""

    def loop():
        strategy = program.tf.distribute.MultiWorkerMirroredStrategy()
        with strategy.scope():
            model = program.model_of()
        kill = program.killer(3, rank)
        model.fit(program.data(), epochs=100, callbacks=[kill], verbose=0)

    with pytest.raises(train.WorkerGroupError) as caught:
        fit_tensorflow(loop)
    assert list(caught.value.worker_failures) == [rank]
    assert caught.value.worker_failures[rank].signal == signal.SIGKILL


def test_an_exception_in_one_rank_ends_all(program, fit_tensorflow):
    def loop():
        with program.tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = program.model_of()
        if train.get_context().get_world_rank() == 1:
            raise ValueError("no rows")
        model.fit(program.data(), epochs=100, verbose=0)

    with pytest.raises(train.WorkerGroupError, match="no rows"):
        fit_tensorflow(loop)


def test_a_checkpoint_is_resumed_with_other_numbers_of_ranks(program, fit_tensorflow):
    first = fit_tensorflow(program.loop, config={"epochs": 1})
    for workers in (0, 1, 3):
        result = fit_tensorflow(program.loop, workers, config={"epochs": 2}, resume_from_checkpoint=first.checkpoint)
        ranks = max(1, workers)
        assert result.return_value == (ranks, 16, ranks)
        assert losses(result)[0] < losses(first)[0] / 3
    assert "TF_CONFIG" not in os.environ, "the run in this process leaves nothing behind"


def test_the_callback_reports_what_is_asked_for(program, fit_tensorflow):
    callback = {
        "checkpoint_on": "train_end",
        "report_metrics_on": ["epoch_end", "train_batch_end"],
        "metrics": {"mean": "loss"},
    }

    def loop():
        with program.tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = program.model_of()
        model.fit(program.data(), epochs=2, callbacks=[ReportCheckpointCallback(**callback)], verbose=0)
        with pytest.raises(ValueError, match="metrics has 'rmse'; what is evaluated: loss, mae"):
            model.fit(program.data(), callbacks=[ReportCheckpointCallback(metrics="rmse")], verbose=0)
        alone = program.model_of()
        with pytest.raises(RuntimeError, match="each of the run's 2 ranks trains this model alone; allowed: a model"):
            alone.fit(program.data(), callbacks=[ReportCheckpointCallback()], verbose=0)

    result = fit_tensorflow(loop)
    frame = result.metrics_dataframe
    assert len(frame) == 2 * (8 + 1) + 1
    assert "mean" in frame
    assert "mae" not in frame
    assert len(result.best_checkpoints) == 1
    assert result.checkpoint.get_metadata()["epoch"] == 2


def test_a_share_is_not_split_again(program, fit_tensorflow):
    """Each rank has rows that the other does not have, and all of them count."""

    def loop():
        tf, rank = program.tf, train.get_context().get_world_rank()
        with tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1, use_bias=False)])
            model.compile(tf.keras.optimizers.SGD(0.0), "mse")
        model.layers[-1].set_weights([program.numpy.zeros((1, 1))])
        targets = tf.fill((8, 1), float(rank + 1))
        shard = prepare_dataset_shard(tf.data.Dataset.from_tensor_slices((targets, targets)).batch(8))
        history = model.fit(shard, callbacks=[ReportCheckpointCallback()], verbose=0)
        # The mean of 1 and 4: the squares of both ranks' targets.
        assert history.history["loss"] == [2.5]

    fit_tensorflow(loop)


def test_keras_3_with_several_ranks_is_answered_with_what_works(program, fit_tensorflow):
    def loop():
        import keras

        with program.tf.distribute.MultiWorkerMirroredStrategy().scope():
            model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
            model.compile("sgd", "mse")
        model.fit(program.data(), verbose=0)

    with pytest.raises(train.WorkerGroupError, match=r"Keras 3 cannot train with MultiWorkerMirroredStrategy; allowed"):
        fit_tensorflow(loop)


@pytest.mark.fork_only
def test_the_factory_imports_tensorflow_with_the_keras_of_ranks(fit_tensorflow):
    def loop():
        there = [name in sys.modules for name in ("tensorflow", "tf_keras", "keras")]
        import tensorflow as tf

        return there, tf.keras.Model.__module__.partition(".")[0]

    there, keras = fit_tensorflow(loop).return_value
    assert there[:2] == [True, True]
    assert keras == "tf_keras"


def test_models_of_other_kinds_of_files(program, tmp_path):
    model = program.model_of()
    rows = program.numpy.ones((3, 4), "float32")
    model.save(tmp_path / "net.h5")
    model.save(tmp_path / "saved", save_format="tf")
    made = [
        TensorflowCheckpoint.from_model(model, preprocessor={"mean": 1.5}),
        TensorflowCheckpoint.from_h5(tmp_path / "net.h5"),
        TensorflowCheckpoint.from_saved_model(tmp_path / "saved"),
    ]
    for checkpoint in made:
        assert checkpoint.get_model().predict(rows, verbose=0).tolist() == model.predict(rows, verbose=0).tolist()
    assert [checkpoint.get_preprocessor() for checkpoint in made] == [{"mean": 1.5}, None, None]
    empty = TensorflowCheckpoint(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"has no file model\.keras; allowed: one of TensorflowCheckpoint's"):
        empty.get_model()
    with pytest.raises(FileNotFoundError, match=r"file_path is '/nowhere\.h5', which is no file"):
        TensorflowCheckpoint.from_h5("/nowhere.h5")
    with pytest.raises(FileNotFoundError, match="dir_path is '/nowhere', which is no directory"):
        TensorflowCheckpoint.from_saved_model("/nowhere")


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), bad_calls.of_tensorflow())
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    for words in (argument, given, allowed):
        assert words in str(caught.value)


def test_a_run_is_restored_with_its_cluster(program, storage):
    def make(**arguments):
        return TensorflowTrainer(program.loop, train_loop_config={"epochs": 1}, **arguments)

    run = train.RunConfig(name="there", storage_path=storage)
    make(tensorflow_backend=TensorflowConfig(), run_config=run).fit()
    restored = TensorflowTrainer.restore(f"{storage}/there", tensorflow_backend=TensorflowConfig())
    assert restored.fit().return_value == (1, 8, 1)


def test_a_script_for_ray(script):
    code, output = script.run(
        """
        import headway
        headway.as_ray()
        from ray.air.integrations.keras import ReportCheckpointCallback as OlderCallback
        from ray.train import ScalingConfig
        from ray.train.tensorflow import TensorflowConfig, TensorflowTrainer
        from ray.train.tensorflow.keras import ReportCheckpointCallback

        def loop():
            import json, os
            import numpy as np
            import tensorflow as tf

            workers = len(json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"])
            with tf.distribute.MultiWorkerMirroredStrategy().scope():
                model = tf.keras.Sequential([tf.keras.layers.Dense(1, activation="linear", input_shape=(4,))])
                model.compile(optimizer="Adam", loss="mean_squared_error", metrics=["mse"])
            features = np.ones((32 * workers, 4), "float32")
            model.fit(features, features[:, :1], batch_size=8 * workers, epochs=2, verbose=0,
                      callbacks=[ReportCheckpointCallback()])
            return workers

        assert OlderCallback is ReportCheckpointCallback
        trainer = TensorflowTrainer(
            loop, tensorflow_backend=TensorflowConfig(), scaling_config=ScalingConfig(num_workers=2)
        )
        result = trainer.fit()
        print("GOT", result.return_value, sorted(result.metrics)[:2], result.checkpoint is not None)
        """,
        limit_s=110,
    )
    assert code == 0, output
    assert "GOT 2 ['loss', 'mse'] True" in output
