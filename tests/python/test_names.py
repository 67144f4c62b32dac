"""Older and newer places of the same names, and what is named but not there yet."""

import importlib

import headway
import headway.tune
import pytest
from headway import train
from headway.train import session
from headway.train.error import SessionMisuseError

CONFIGURATIONS = ("CheckpointConfig", "FailureConfig", "RunConfig", "ScalingConfig")
PLACES = {
    "headway.air": (*CONFIGURATIONS, "Checkpoint", "Result"),
    "headway.air.config": CONFIGURATIONS,
    "headway.air.checkpoint": ("Checkpoint",),
    "headway.air.result": ("Result",),
    "headway.air.session": ("get_checkpoint", "get_dataset_shard", "report"),
    "headway.train.backend": ("Backend", "BackendConfig"),
    "headway.train.base_trainer": ("TrainingFailedError",),
    "headway.air.constants": (),
    "headway.train.constants": ("TRAIN_DATASET_KEY",),
    "headway.train.context": ("TrainContext", "get_context"),
    "headway.train.data_parallel_trainer": ("DataParallelTrainer",),
    "headway.train.session": ("get_checkpoint", "get_dataset_shard", "report"),
    "headway.train.trainer": ("TrainingFailedError",),
    "headway.train.v2.api.config": CONFIGURATIONS,
    "headway.train.v2.api.context": ("TrainContext",),
    "headway.train.v2.api.data_parallel_trainer": ("DataParallelTrainer",),
    "headway.train.v2.api.exceptions": ("ControllerError", "NCCLHangError", "TrainingFailedError", "WorkerGroupError"),
    "headway.train.v2.api.report_config": ("CheckpointUploadMode",),
    "headway.train.v2.api.result": ("Result",),
    "headway.train.v2.api.train_fn_utils": ("get_checkpoint", "get_context", "get_dataset_shard", "report"),
}
TORCH_PLACES = {
    "headway.train.torch.config": ("TorchConfig",),
    "headway.train.torch.torch_checkpoint": ("TorchCheckpoint",),
    "headway.train.torch.torch_trainer": ("TorchTrainer",),
    "headway.train.v2.torch.torch_trainer": ("TorchTrainer",),
    "headway.train.torch.train_loop_utils": (
        "accelerate", "backward", "enable_reproducibility", "get_device", "get_devices", "prepare_data_loader",
        "prepare_model", "prepare_optimizer",
    ),
    "headway.train.v2.torch.train_loop_utils": ("get_device", "prepare_data_loader", "prepare_model"),
}  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
def test_a_name_is_the_same_object_wherever_it_is_imported_from(place):
    module = importlib.import_module(place)
    for name in PLACES[place]:
        assert getattr(module, name) is getattr(train, name), name


@pytest.mark.parametrize("place", TORCH_PLACES)
def test_a_name_for_torch_is_the_same_object_wherever_it_is_imported_from(place):
    import headway.train.torch

    module = importlib.import_module(place)
    for name in TORCH_PLACES[place]:
        assert getattr(module, name) is getattr(headway.train.torch, name), name


def test_the_session_of_older_code_says_what_the_context_says(fit):
    from headway import air

    assert air.session.get_world_rank is session.get_world_rank

    def loop():
        context = train.get_context()
        names = ("world_size", "world_rank", "local_rank", "local_world_size", "node_rank", "experiment_name",
                 "trial_name", "trial_id", "trial_dir")  # fmt: skip
        session.report({"rank": session.get_world_rank()})
        assert session.get_checkpoint() is None
        return [(getattr(session, f"get_{name}")(), getattr(context, f"get_{name}")()) for name in names]

    pairs = fit(loop, name="seen-by-both").return_value
    assert len(pairs) == 9
    assert all(old == new for old, new in pairs)
    assert pairs[0][0] == 2
    assert pairs[5][0] == "seen-by-both"
    with pytest.raises(SessionMisuseError, match="outside of a training function"):
        session.get_world_rank()


def test_modules_that_are_used_without_an_import_of_their_own(script):
    code, output = script.run("""
        from headway import train

        assert callable(train.collective.barrier)
        print(train.torch.TorchTrainer.__name__, train.torch.TorchConfig(backend="gloo").to_dict()["backend"])
        """)
    assert (code, output) == (0, "TorchTrainer gloo\n")
    with pytest.raises(AttributeError, match=r"module 'headway.train' has no attribute 'no_such'"):
        train.no_such  # noqa: B018


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("from headway.tune import TrialResults", "headway.tune.TrialResults: this of Ray Tune is not part"),
        ("import headway.tune.execution.trial_runner", "execution.trial_runner: this of Ray Tune is not part of"),
        ("from headway.tune.execution import TrialRunner", "execution.TrialRunner: this of Ray Tune is not part of"),
        ("from headway.tune.logger import CSVLogger", "newer versions of Ray either; use CSVLoggerCallback, one of"),
        ("from headway.tune.trainable import wrap_function", "wrap_function: a function is a trainable as it is"),
        ("import headway.tune.automl", "it is not in newer versions of Ray either; use Tuner with a search_alg"),
        ("from headway.tune.examples import pbt_function", "headway.tune.examples: Ray's examples are part of Ray's"),
        ("from headway.tune.cli import commands", "headway.tune.cli: the commands are `headway tune ls`"),
        ("from headway.train.xgboost import XGBoostCheckpoint", "ReportCallback.get_model(checkpoint) gives the model"),
        ("from headway.train.mosaic import MosaicTrainer", "it is not in newer versions of Ray either; use a loop of"),
        ("from headway.train.sklearn import SklearnTrainer", "either; use fit() of the estimator in the training"),
        ("from headway.train.batch_predictor import BatchPredictor", "either; use the model of a checkpoint"),
        ("from headway.train.torch import TorchPredictor", "either; use the model of a checkpoint"),
        ("from headway.train.lightning import LightningCheckpoint", "use Checkpoint, which ReportCallback reports"),
        ("from headway.train.lightning import LightningTrainer", "it is not in newer versions of Ray either; use"),
        ("from headway.train.lightning import LightningConfigBuilder", "newer versions of Ray either; use"),
        ("from headway.train.huggingface import TransformersTrainer", "use transformers.Trainer with ReportCallback"),
        ("from headway.train.huggingface.transformers import TransformersTrainer", "use transformers.Trainer with"),
        ("from headway.train.huggingface.accelerate import AccelerateTrainer", "either; use Accelerator() in the"),
        ("from headway.data import from_arrow_refs", "headway.data.from_arrow_refs: Headway has no object store; from"),
        ("from headway.data import read_hudi", "read it with its own client, as a pyarrow.Table or anything that"),
    ],
)
def test_a_name_that_is_not_there_yet_says_so_in_each_form_of_import(code, words):
    with pytest.raises(ModuleNotFoundError) as caught:
        exec(code, {})
    assert words in str(caught.value)


def test_whether_a_missing_name_is_there_may_be_asked():
    assert not hasattr(headway.tune, "TrialResults")
    assert not hasattr(train, "mosaic")
    with pytest.raises(AttributeError, match=r"headway\.train\.mosaic: it is not in newer versions of Ray either"):
        train.mosaic  # noqa: B018


def test_frameworks_names_are_there_without_the_frameworks(script):
    """Only workers need them."""
    code, output = script.run("""
        import sys
        from headway import train

        assert train.lightning.RayDDPStrategy is train.lightning.DDPStrategy
        assert train.huggingface.transformers.RayTrainReportCallback.CHECKPOINT_NAME == "checkpoint"
        assert not {"torch", "lightning", "transformers"} & set(sys.modules)
        sys.modules.update(dict.fromkeys(["lightning", "pytorch_lightning", "transformers"]))  # None: not there
        for kind in (train.lightning.DDPStrategy, train.huggingface.transformers.ReportCallback):
            try:
                kind()
            except ImportError as error:
                print(error)
        """)
    assert (code, output.splitlines()) == (
        0,
        [
            "headway.train.lightning needs Lightning, which is not installed: pip install lightning",
            "headway.train.huggingface.transformers needs transformers, which is not installed: "
            "pip install transformers accelerate",
        ],
    )


def test_every_trainer_is_a_base_trainer_which_itself_is_none():
    from headway.train.torch import TorchTrainer
    from headway.train.trainer import BaseTrainer

    assert issubclass(TorchTrainer, BaseTrainer)
    with pytest.raises(TypeError, match="abstract"):
        BaseTrainer()
    trainer = train.DataParallelTrainer(print)
    assert trainer.as_trainable() is trainer


def test_whether_a_run_can_be_restored_may_be_asked_of_the_base_class(fit, storage):
    from headway.train.trainer import BaseTrainer

    fit(lambda: None, name="there")
    assert BaseTrainer.can_restore(f"{storage}/there")
    assert not BaseTrainer.can_restore(f"{storage}/gone")
    with pytest.raises(NotImplementedError, match=r"call restore\(\) of the trainer that the run had"):
        BaseTrainer.restore(f"{storage}/there")


def test_a_rank_s_share_is_there_in_a_training_function_only():
    with pytest.raises(train.SessionMisuseError, match=r"get_dataset_shard\(\) was called outside of a training func"):
        train.get_dataset_shard()


def test_the_nodes_are_this_machine():
    (node,) = headway.nodes()
    assert node["Alive"]
    assert node["Resources"] == headway.cluster_resources()
    assert node["Labels"] == {}
