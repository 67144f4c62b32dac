"""Handwritten digits with TensorFlow: a Keras model and ``MultiWorkerMirroredStrategy``, whose
workers are the ranks.

    python examples/keras_digits.py

It needs tensorflow-cpu (or tensorflow), tf-keras, and scikit-learn, which ships the digits.
HEADWAY_EXAMPLE_KILL=1 kills a rank once (lose_a_rank.py).
"""

import numpy
from headway import train
from headway.train.tensorflow import TensorflowCheckpoint, TensorflowTrainer
from headway.train.tensorflow.keras import ReportCheckpointCallback
from lose_a_rank import lose_a_rank
from sklearn.datasets import load_digits

EPOCHS = 6
BATCH = 32  # Of each rank.


def load_data():
    """(Images, labels) for training, and for the test."""
    digits = load_digits()
    images = digits.images[..., None].astype("float32") / 16
    order = numpy.random.default_rng(0).permutation(len(images))
    return [(images[part], digits.target[part]) for part in (order[360:], order[:360])]


# --- The training function: it runs in every rank. ---


def classify(config):
    import tensorflow as tf

    tf.keras.utils.set_random_seed(0)
    epoch, checkpoint = 0, train.get_checkpoint()
    with tf.distribute.MultiWorkerMirroredStrategy().scope():
        if checkpoint:  # After a restart.
            model = TensorflowCheckpoint(checkpoint.path, checkpoint.filesystem).get_model()
            epoch = checkpoint.get_metadata()["epoch"]
        else:
            layers = tf.keras.layers
            model = tf.keras.Sequential(
                [
                    tf.keras.Input((8, 8, 1)),
                    layers.Conv2D(16, 3, padding="same", activation="relu"),
                    layers.Conv2D(32, 3, padding="same", activation="relu"),
                    layers.MaxPool2D(),
                    layers.Flatten(),
                    layers.Dense(10),
                ]
            )
            loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
            model.compile(tf.keras.optimizers.Adam(3e-3), loss, metrics=["accuracy"])
    training, test = load_data()
    batch_size = BATCH * train.get_context().get_world_size()  # TensorFlow's is that of all ranks.
    model.fit(
        *training,
        batch_size=batch_size,
        epochs=config["epochs"],
        initial_epoch=epoch,
        validation_data=test,
        validation_batch_size=180,
        callbacks=[
            ReportCheckpointCallback(),  # A report with a checkpoint after each epoch.
            tf.keras.callbacks.LambdaCallback(on_epoch_begin=lambda epoch, logs: lose_a_rank(now=epoch == 3)),
        ],
        verbose=0,
    )


# --- The driver: it runs once, here. ---


def main():
    result = TensorflowTrainer(
        classify,
        train_loop_config={"epochs": EPOCHS},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
    ).fit()
    model = TensorflowCheckpoint(result.checkpoint.path, result.checkpoint.filesystem).get_model()
    images, labels = load_data()[1]
    answers = model.predict(images[:10], verbose=0).argmax(axis=1)
    print(f"The model reads {answers.tolist()} in images of {labels[:10].tolist()}")
    print(f"Test accuracy: {result.metrics['val_accuracy']:.3f}")


if __name__ == "__main__":
    main()
