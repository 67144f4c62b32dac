"""What Ray Train's guides show of Transformers, as scripts that are run as they are: models are
made from configurations and read from directories, data sets from files.
"""

import for_ray
import pytest

pytestmark = pytest.mark.heavy

# A model, a tokenizer and two files of reviews as if they had been downloaded.
FILES = """
    import json
    import random

    import tokenizers
    import transformers

    WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "soup", "bread", "was", "hot", "fresh", "cold", "stale", "the"]
    SIZES = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}


    def make_files():
        words = tokenizers.Tokenizer(
            tokenizers.models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]")
        )
        words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        transformers.PreTrainedTokenizerFast(
            tokenizer_object=words, pad_token="[PAD]", unk_token="[UNK]", model_max_length=6
        ).save_pretrained("tiny-bert")
        config = transformers.BertConfig(vocab_size=len(WORDS), max_position_embeddings=8, num_labels=5, **SIZES)
        transformers.BertForSequenceClassification(config).save_pretrained("tiny-bert")
        draw = random.Random(0)
        for name in ("train", "test"):
            with open(f"{name}.jsonl", "w") as file:
                for _ in range(48):
                    words = draw.sample(["hot", "fresh", "cold", "stale"], 2)
                    label = 2 + sum(1 if word in ("hot", "fresh") else -1 for word in words)
                    text = f"the {draw.choice(['soup', 'bread'])} was {' '.join(words)}"
                    file.write(json.dumps({"text": text, "label": label}) + "\\n")
"""

# The quick start, with the callback of Ray's; then it again with a callback of one's own.
QUICK_START = """
    import os
    import shutil
    from tempfile import TemporaryDirectory

    import numpy as np
    import ray
    import transformers.trainer
    from datasets import load_dataset
    from transformers import AutoModelForSequenceClassification, AutoTokenizer, Trainer, TrainingArguments
    from transformers.trainer_callback import TrainerCallback

    import ray.train.huggingface.transformers
    from ray.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
    from ray.train.huggingface.transformers import RayTrainReportCallback, prepare_trainer
    from ray.train.torch import TorchTrainer

    HERE = os.getcwd()


    class MyTrainReportCallback(TrainerCallback):
        def __init__(self):
            super().__init__()
            self.metrics = {}

        def on_log(self, args, state, control, model=None, logs=None, **kwargs):
            self.metrics.update(logs)

        def on_save(self, args, state, control, **kwargs):
            with TemporaryDirectory() as tmpdir:
                source_ckpt_path = transformers.trainer.get_last_checkpoint(args.output_dir)
                target_ckpt_path = os.path.join(tmpdir, "checkpoint")
                shutil.copytree(source_ckpt_path, target_ckpt_path)
                checkpoint = Checkpoint.from_directory(tmpdir)
                ray.train.report(metrics=self.metrics, checkpoint=checkpoint)
                self.metrics = {}


    def compute_metrics(eval_pred):
        logits, labels = eval_pred
        return {"accuracy": float(np.mean(np.argmax(logits, axis=-1) == labels))}


    def made_trainer(**arguments):
        dataset = load_dataset("json", data_files={name: f"{HERE}/{name}.jsonl" for name in ("train", "test")})
        tokenizer = AutoTokenizer.from_pretrained(f"{HERE}/tiny-bert")

        def tokenize_function(examples):
            return tokenizer(examples["text"], padding="max_length", truncation=True)

        small_train_dataset = dataset["train"].select(range(40)).map(tokenize_function, batched=True)
        small_eval_dataset = dataset["test"].select(range(40)).map(tokenize_function, batched=True)
        model = AutoModelForSequenceClassification.from_pretrained(f"{HERE}/tiny-bert", num_labels=5)
        return Trainer(
            model=model,
            args=TrainingArguments(report_to="none", disable_tqdm=True, **arguments),
            train_dataset=small_train_dataset,
            eval_dataset=small_eval_dataset,
            compute_metrics=compute_metrics,
        )


    def train_func():
        trainer = made_trainer(output_dir="test_trainer", eval_strategy="epoch", save_strategy="epoch")
        callback = ray.train.huggingface.transformers.RayTrainReportCallback()
        trainer.add_callback(callback)
        trainer = ray.train.huggingface.transformers.prepare_trainer(trainer)
        trainer.train()


    def train_func_with_steps(config):
        trainer = made_trainer(
            output_dir="test_trainer", eval_strategy="steps", save_strategy="steps", eval_steps=2, save_steps=4,
            logging_strategy="steps", logging_steps=2, max_steps=20, save_total_limit=None,
        )
        trainer.add_callback(config["callback"]())
        trainer = prepare_trainer(trainer)
        trainer.train()


    if __name__ == "__main__":
        make_files()
        ray_trainer = TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2))
        result: ray.train.Result = ray_trainer.fit()
        assert {"eval_accuracy", "eval_loss", "epoch"} <= set(result.metrics), result.metrics
        assert result.metrics["epoch"] == 3
        with result.checkpoint.as_directory() as checkpoint_dir:
            checkpoint_path = os.path.join(
                checkpoint_dir, ray.train.huggingface.transformers.RayTrainReportCallback.CHECKPOINT_NAME
            )
            model = AutoModelForSequenceClassification.from_pretrained(checkpoint_path)
        assert model.config.num_labels == 5

        for callback in (RayTrainReportCallback, MyTrainReportCallback):
            ray_trainer = TorchTrainer(
                train_func_with_steps,
                train_loop_config={"callback": callback},
                run_config=RunConfig(
                    checkpoint_config=CheckpointConfig(
                        num_to_keep=3, checkpoint_score_attribute="eval_loss", checkpoint_score_order="min"
                    )
                ),
            )
            result = ray_trainer.fit()
            assert len(result.metrics_dataframe) == 5
            losses = sorted(result.metrics_dataframe["eval_loss"])
            kept = sorted(metrics["eval_loss"] for _, metrics in result.best_checkpoints)
            assert kept[:2] == losses[:2] and len(kept) in (3, 4), (kept, losses)
            with result.checkpoint.as_directory() as directory:
                AutoModelForSequenceClassification.from_pretrained(os.path.join(directory, "checkpoint"))
        print("done")
"""

# A language model over rows of data sets, of which each rank has its share; and what the older
# trainer's name answers.
DATA_SETS = """
    import torch
    import transformers
    from datasets import load_dataset
    from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

    import ray
    import ray.data
    import ray.train
    from ray.train import ScalingConfig
    from ray.train.huggingface.transformers import RayTrainReportCallback, prepare_trainer
    from ray.train.torch import TorchTrainer


    def train_func():
        model_config = AutoConfig.for_model("gpt2", vocab_size=16, n_positions=8, n_embd=16, n_layer=1, n_head=2)
        model = AutoModelForCausalLM.from_config(model_config)
        train_dataset = ray.train.get_dataset_shard("train")
        eval_dataset = ray.train.get_dataset_shard("evaluation")
        train_iterable_ds = train_dataset.iter_torch_batches(batch_size=8)
        eval_iterable_ds = eval_dataset.iter_torch_batches(batch_size=8)
        args = transformers.TrainingArguments(
            output_dir="tiny-gpt",
            eval_strategy="epoch",
            save_strategy="epoch",
            logging_strategy="epoch",
            learning_rate=2e-2,
            weight_decay=0.01,
            max_steps=9,
            report_to="none",
            disable_tqdm=True,
        )
        trainer = transformers.Trainer(
            model=model, args=args, train_dataset=train_iterable_ds, eval_dataset=eval_iterable_ds
        )
        trainer.add_callback(RayTrainReportCallback())
        trainer = prepare_trainer(trainer)
        trainer.train()
        return trainer.state.num_input_tokens_seen, trainer.state.global_step


    if __name__ == "__main__":
        make_files()
        tokenizer = AutoTokenizer.from_pretrained("tiny-bert")

        def preprocess(examples):
            encoded = tokenizer(examples["text"], padding="max_length", truncation=True)
            return {"input_ids": encoded["input_ids"], "labels": encoded["input_ids"]}

        hf_datasets = load_dataset("json", data_files={"train": "train.jsonl", "evaluation": "test.jsonl"})
        processed_ds = hf_datasets.map(preprocess, batched=True, remove_columns=["text", "label"])
        ray_train_ds = ray.data.from_huggingface(processed_ds["train"])
        ray_eval_ds = ray.data.from_huggingface(processed_ds["evaluation"])
        ray_trainer = TorchTrainer(
            train_func,
            scaling_config=ScalingConfig(num_workers=2),
            datasets={"train": ray_train_ds, "evaluation": ray_eval_ds},
        )
        result = ray_trainer.fit()
        assert result.return_value[1] == 9
        # Three steps of 8 rows are a rank's share of 48 rows.
        assert list(result.metrics_dataframe["step"]) == [3, 6, 9], result.metrics_dataframe
        losses = list(result.metrics_dataframe["eval_loss"])
        assert losses[-1] < losses[0]
        with result.checkpoint.as_directory() as directory:
            AutoModelForCausalLM.from_pretrained(f"{directory}/{RayTrainReportCallback.CHECKPOINT_NAME}")

        try:
            from ray.train.huggingface import TransformersTrainer
        except ImportError as error:
            assert "use transformers.Trainer with ReportCallback" in str(error)
        else:
            raise AssertionError(TransformersTrainer)
        print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


@pytest.mark.parametrize("code", [pytest.param(QUICK_START, id="quick start"), pytest.param(DATA_SETS, id="data sets")])
def test_what_the_guides_show_of_transformers_runs_as_it_is(tmp_path, code):
    for_ray.run(tmp_path, FILES + code, HF_HUB_OFFLINE="1", HF_HOME=str(tmp_path / "hub"))
