"""A trainer whose framework is not installed in its ranks says which package to install."""

import importlib.util

import pytest
from headway import train
from headway.train.jax import JaxTrainer
from headway.train.tensorflow import TensorflowTrainer


@pytest.mark.parametrize(("trainer", "package"), [(TensorflowTrainer, "tensorflow"), (JaxTrainer, "jax")])
def test_the_package_is_named_and_how_to_install_it(trainer, package, tmp_path):
    if importlib.util.find_spec(package) is not None:
        pytest.skip(f"{package} is installed")
    run = train.RunConfig(storage_path=str(tmp_path), failure_config=train.FailureConfig(max_failures=2))
    with pytest.raises(train.TrainingFailedError, match=f"run: pip install {package}"):
        trainer(lambda: None, scaling_config=train.ScalingConfig(num_workers=1), run_config=run).fit()
