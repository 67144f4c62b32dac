"""What Ray Train's guides show of Accelerate and DeepSpeed, as scripts that are run as they are."""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

# A tiny BERT, and pairs of sentences that say the same or do not.
PAIRS = """
    import os
    import random
    import tempfile

    import ray
    import ray.data
    import ray.train
    import torch
    import transformers
    from ray import train
    from ray.train import Checkpoint, DataConfig, ScalingConfig
    from ray.train.torch import TorchTrainer
    from torch.utils.data import DataLoader


    def pairs(count, seed):
        # Numbers of words: 2 parts the sentences, and 1 ends both.
        draw = random.Random(seed)
        for number in range(count):
            first = [draw.randrange(3, 12) for _ in range(3)]
            second = first if number % 2 else [draw.randrange(3, 12) for _ in range(3)]
            yield {"input_ids": [*first, 2, *second, 1], "label": int(first == second), "idx": number}


    def collate_fn(rows):
        if isinstance(rows, dict):  # A batch of a data set.
            ids, labels = torch.as_tensor(rows["input_ids"]), torch.as_tensor(rows["label"])
        else:
            ids, labels = (torch.tensor([row[name] for row in rows]) for name in ("input_ids", "label"))
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": labels}


    def made_model():
        transformers.set_seed(0)
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
        config = transformers.BertConfig(vocab_size=12, max_position_embeddings=8, **sizes)
        return transformers.AutoModelForSequenceClassification.from_config(config)
"""

# The guide's five things that are prepared, with loaders and with data sets; the metrics are those
# of all ranks. Then the plugin for FSDP.
ACCELERATE = """
    from accelerate import Accelerator, FullyShardedDataParallelPlugin
    from torch.distributed.fsdp.fully_sharded_data_parallel import FullOptimStateDictConfig, FullStateDictConfig
    from torchmetrics.classification import BinaryAccuracy
    from transformers import get_linear_schedule_with_warmup


    def train_func(config):
        accelerator = Accelerator()
        set_size = config["rows"]
        model = made_model()
        optimizer = torch.optim.AdamW(params=model.parameters(), lr=config["lr"])
        lr_scheduler = get_linear_schedule_with_warmup(
            optimizer=optimizer, num_warmup_steps=2, num_training_steps=8 * config["num_epochs"]
        )
        if config["loaders"]:
            train_dataloader = DataLoader(
                list(pairs(set_size, 0)), batch_size=8, shuffle=True, collate_fn=collate_fn, drop_last=True
            )
            eval_dataloader = DataLoader(list(pairs(36, 1)), batch_size=8, collate_fn=collate_fn)
            model, optimizer, train_dataloader, eval_dataloader, lr_scheduler = accelerator.prepare(
                model, optimizer, train_dataloader, eval_dataloader, lr_scheduler
            )
            assert len(train_dataloader) == set_size // 16
        else:
            train_ds, eval_ds = train.get_dataset_shard("train"), train.get_dataset_shard("validation")
            model, optimizer, lr_scheduler = accelerator.prepare(model, optimizer, lr_scheduler)
            train_dataloader = train_ds.iter_torch_batches(batch_size=8, collate_fn=collate_fn)
            eval_dataloader = eval_ds.iter_torch_batches(batch_size=8, collate_fn=collate_fn)

        metric = BinaryAccuracy().to(accelerator.device)
        for epoch in range(config["num_epochs"]):
            model.train()
            for batch in train_dataloader:
                batch = {k: v.to(accelerator.device) for k, v in batch.items()}
                outputs = model(**batch)
                accelerator.backward(outputs.loss)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            model.eval()
            seen = 0
            for batch in eval_dataloader:
                with torch.no_grad():
                    predictions = model(**batch).logits.argmax(dim=-1)
                predictions, references = accelerator.gather_for_metrics((predictions, batch["labels"]))
                seen += len(references)
                metric.update(predictions, references)
            accuracy = metric.compute().item()
            metric.reset()
            metrics = {"epoch": epoch, "accuracy": accuracy, "seen": seen, "loss": outputs.loss.item()}
            with tempfile.TemporaryDirectory() as tmpdir:
                state = accelerator.unwrap_model(model).state_dict()
                accelerator.save(state, f"{tmpdir}/ckpt_{epoch}.bin")
                mine = Checkpoint.from_directory(tmpdir) if accelerator.is_main_process else None
                train.report(metrics=metrics, checkpoint=mine)


    def train_with_shards():
        from torch.distributed.fsdp import FullyShardedDataParallel

        fsdp_plugin = FullyShardedDataParallelPlugin(
            state_dict_config=FullStateDictConfig(offload_to_cpu=False, rank0_only=False),
            optim_state_dict_config=FullOptimStateDictConfig(offload_to_cpu=False, rank0_only=False),
        )
        accelerator = Accelerator(fsdp_plugin=fsdp_plugin)
        model = made_model()
        whole = sum(parameter.numel() for parameter in model.parameters())
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        loader = DataLoader(list(pairs(64, 0)), batch_size=8, collate_fn=collate_fn)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        assert isinstance(model, FullyShardedDataParallel), type(model)
        mine = sum(parameter.numel() for parameter in model.parameters())
        assert mine < 0.6 * whole, (mine, whole)
        for batch in loader:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        state = accelerator.get_state_dict(model)
        with tempfile.TemporaryDirectory() as tmpdir:
            accelerator.save_model(model, tmpdir)
            mine = Checkpoint.from_directory(tmpdir) if accelerator.is_main_process else None
            train.report({"loss": loss.item()}, checkpoint=mine)
        return sum(tensor.numel() for tensor in state.values()) == whole, str(accelerator.distributed_type)


    if __name__ == "__main__":
        config = {"lr": 2e-2, "num_epochs": 2, "rows": 64}
        result = TorchTrainer(
            train_func,
            train_loop_config={**config, "loaders": True},
            scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
        ).fit()
        assert result.metrics["seen"] == 36, "no row twice, though 36 are not divisible by 16"
        with result.checkpoint.as_directory() as directory:
            made_model().load_state_dict(torch.load(f"{directory}/ckpt_1.bin"))

        result = TorchTrainer(
            train_func,
            train_loop_config={**config, "loaders": False},
            datasets={"train": ray.data.from_items(list(pairs(64, 0))),
                      "validation": ray.data.from_items(list(pairs(36, 1)))},
            dataset_config=DataConfig(datasets_to_split=["train", "validation"]),
            scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
        ).fit()
        assert result.metrics["seen"] == 36 and len(result.metrics_dataframe) == 2

        result = TorchTrainer(train_with_shards, scaling_config=ScalingConfig(num_workers=2)).fit()
        assert result.return_value == (True, "DistributedType.FSDP"), result.return_value
        assert os.listdir(result.checkpoint.path).count("model.safetensors") == 1

        try:
            import ray.train.huggingface.accelerate
        except ImportError as error:
            assert "use Accelerator() in the training function of a TorchTrainer" in str(error)
        else:
            raise AssertionError("ray.train.huggingface.accelerate was imported")
        print("done")
"""

# The guide's engine, which makes the loader itself; then the example with data sets, whose shards
# all ranks save; then Accelerate's plugin with the guide's settings, but for half precision.
DEEPSPEED = """
    import deepspeed
    from accelerate import Accelerator, DeepSpeedPlugin
    from deepspeed.accelerator import get_accelerator
    from torchmetrics.classification import BinaryAccuracy, BinaryF1Score

    deepspeed_config = {
        "optimizer": {"type": "AdamW", "params": {"lr": 2e-2, "torch_adam": True}},
        "scheduler": {"type": "WarmupLR", "params": {"warmup_num_steps": 2}},
        "fp16": {"enabled": False},
        "bf16": {"enabled": False},
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "none"}, "offload_param": {"device": "none"}},
        "gradient_accumulation_steps": 1,
        "gradient_clipping": True,
        "steps_per_print": 10,
        "train_micro_batch_size_per_gpu": 8,
        "wall_clock_breakdown": False,
    }
    PLUGIN_CONFIG = {
        "fp16": {"enabled": False},
        "zero_optimization": {
            "stage": 3,
            "offload_optimizer": {"device": "cpu", "pin_memory": False},
            "overlap_comm": True,
            "contiguous_gradients": True,
            "reduce_bucket_size": "auto",
            "stage3_prefetch_bucket_size": "auto",
            "stage3_param_persistence_threshold": "auto",
            "gather_16bit_weights_on_model_save": True,
            "round_robin_gradients": True,
        },
        "zero_force_ds_cpu_optimizer": False,
        "gradient_accumulation_steps": "auto",
        "gradient_clipping": "auto",
        "steps_per_print": 10,
        "train_batch_size": "auto",
        "train_micro_batch_size_per_gpu": "auto",
        "wall_clock_breakdown": False,
    }


    def train_func():
        model = made_model()
        tokenized_datasets = {"train": list(pairs(64, 0))}
        model, optimizer, train_dataloader, lr_scheduler = deepspeed.initialize(
            model=model,
            model_parameters=model.parameters(),
            training_data=tokenized_datasets["train"],
            collate_fn=collate_fn,
            config=deepspeed_config,
        )
        device = get_accelerator().device_name(model.local_rank)
        for batch in train_dataloader:
            batch = {k: v.to(device) for k, v in batch.items()}
            loss = model(**batch).loss
            model.backward(loss)
            model.step()
        train.report({"loss": loss.item(), "steps": len(train_dataloader), "lr": lr_scheduler.get_last_lr()[0]})


    def train_on_shards(config):
        train_ds, eval_ds = train.get_dataset_shard("train"), train.get_dataset_shard("validation")
        model = made_model()
        model, optimizer, _, lr_scheduler = deepspeed.initialize(
            model=model, model_parameters=model.parameters(), config=deepspeed_config
        )
        device = get_accelerator().device_name(model.local_rank)
        f1, accuracy = BinaryF1Score().to(device), BinaryAccuracy().to(device)
        for epoch in range(config["num_epochs"]):
            model.train()
            for batch in train_ds.iter_torch_batches(batch_size=8, collate_fn=collate_fn):
                outputs = model(**{k: v.to(device) for k, v in batch.items()})
                model.backward(outputs.loss)
                optimizer.step()
                lr_scheduler.step()
                optimizer.zero_grad()
            model.eval()
            for batch in eval_ds.iter_torch_batches(batch_size=8, collate_fn=collate_fn):
                with torch.no_grad():
                    predictions = model(**batch).logits.argmax(dim=-1)
                f1.update(predictions, batch["labels"])
                accuracy.update(predictions, batch["labels"])
            metrics = {"f1": f1.compute().item(), "accuracy": accuracy.compute().item()}
            f1.reset(), accuracy.reset()
            with tempfile.TemporaryDirectory() as tmpdir:
                model.save_checkpoint(tmpdir)
                torch.distributed.barrier()
                train.report(
                    metrics={"loss": outputs.loss.item(), **metrics}, checkpoint=Checkpoint.from_directory(tmpdir)
                )


    def train_with_plugin():
        ds_plugin = DeepSpeedPlugin(hf_ds_config=PLUGIN_CONFIG)
        accelerator = Accelerator(deepspeed_plugin=ds_plugin)
        model = made_model()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        loader = DataLoader(list(pairs(64, 0)), batch_size=8, collate_fn=collate_fn)
        model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
        for batch in loader:
            loss = model(**batch).loss
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
        ray.train.report({"loss": loss.item()})
        return str(accelerator.distributed_type), model.zero_optimization_stage(), len(loader)


    if __name__ == "__main__":
        two = ScalingConfig(num_workers=2, use_gpu=False)
        result = TorchTrainer(train_func, scaling_config=two).fit()
        assert result.metrics["steps"] == 4

        trainer = TorchTrainer(
            train_on_shards,
            train_loop_config={"num_epochs": 2},
            scaling_config=two,
            datasets={"train": ray.data.from_items(list(pairs(64, 0))),
                      "validation": ray.data.from_items(list(pairs(32, 1)))},
            run_config=ray.train.RunConfig(name="zero"),
        )
        result = trainer.fit()
        assert {"loss", "f1", "accuracy"} <= set(result.metrics)
        with result.checkpoint.as_directory() as directory:
            (folder,) = [name for name in os.listdir(directory) if name.startswith("global_step")]
            shards = sorted(name for name in os.listdir(f"{directory}/{folder}") if "optim_states" in name)
            assert len(shards) == 2, shards
            state = deepspeed.utils.zero_to_fp32.get_fp32_state_dict_from_zero_checkpoint(directory)
        made_model().load_state_dict(state, strict=False)

        trainer = TorchTrainer(
            train_with_plugin, scaling_config=two, run_config=ray.train.RunConfig(storage_path=os.path.abspath("other"))
        )
        assert trainer.fit().return_value == ("DistributedType.DEEPSPEED", 3, 4)
        print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


@pytest.mark.parametrize("code", [pytest.param(ACCELERATE, id="accelerate"), pytest.param(DEEPSPEED, id="deepspeed")])
def test_what_the_guides_show_of_accelerate_and_deepspeed_runs_as_it_is(tmp_path, code):
    for_ray.run(tmp_path, PAIRS + code)
