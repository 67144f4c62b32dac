"""Trainers of frameworks under a tuner: each trial is a group of ranks of its framework."""

import importlib.util
import json

import pytest

pytestmark = pytest.mark.heavy

LOOPS = {
    "tensorflow": """
from headway.train.tensorflow import TensorflowTrainer as Trainer

def loop(config):
    import tensorflow
    from headway.train.tensorflow.keras import ReportCheckpointCallback
    strategy = tensorflow.distribute.MultiWorkerMirroredStrategy()
    with strategy.scope():
        model = tensorflow.keras.Sequential([tensorflow.keras.Input(shape=(1,)), tensorflow.keras.layers.Dense(1)])
        model.compile(optimizer=tensorflow.keras.optimizers.SGD(learning_rate=config["rate"]), loss="mse")
    rows = tensorflow.data.Dataset.from_tensor_slices(([[1.0]] * 8, [[3.0]] * 8)).batch(8)
    options = tensorflow.data.Options()
    options.experimental_distribute.auto_shard_policy = tensorflow.data.experimental.AutoShardPolicy.OFF
    model.fit(rows.with_options(options), epochs=3, verbose=0, callbacks=[ReportCheckpointCallback()])
""",
    "jax": """
from headway.train.jax import JaxTrainer as Trainer

def loop(config):
    import jax
    import numpy
    weight = numpy.zeros(1, "float32")
    step = jax.jit(jax.value_and_grad(lambda weight: ((weight - 3.0) ** 2).sum()))
    for _ in range(3):
        loss, gradient = step(weight)
        weight = weight - config["rate"] * numpy.asarray(gradient)
        assert jax.process_count() == 2
        train.report({"loss": float(loss)})
""",
}
TUNED = """
import json
from headway import train, tune
%s
trainer = Trainer(loop, scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 0.5}))
grid = tune.Tuner(
    trainer,
    param_space={"train_loop_config": {"rate": tune.grid_search([0.001, 0.3])}},
    tune_config=tune.TuneConfig(metric="loss", mode="min", max_concurrent_trials=1),
    run_config=train.RunConfig(name="sweep", verbose=0),
).fit()
assert not grid.errors, grid.errors
best = grid.get_best_result()
print(json.dumps([best.config, best.metrics["training_iteration"], len(grid)]))
"""


@pytest.mark.parametrize("framework", LOOPS)
def test_a_trainer_of_a_framework_is_tuned(script, framework):
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"{framework} is not installed")
    code, output = script.run(TUNED % LOOPS[framework])
    assert code == 0, output
    assert json.loads(output.splitlines()[-1]) == [{"train_loop_config": {"rate": 0.3}}, 3, 2]
