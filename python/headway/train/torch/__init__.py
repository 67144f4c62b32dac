"""PyTorch training: a trainer that makes the process group, and helpers for model, data and device.

Importing this module does not import torch: the driver needs none, and workers have it from their
factory.
"""

from headway._values.named_arguments import offer
from headway.train.torch.config import TorchConfig
from headway.train.torch.data_loader import prepare_data_loader
from headway.train.torch.devices import get_device, get_devices
from headway.train.torch.mixed_precision import accelerate, backward, prepare_optimizer
from headway.train.torch.model import prepare_model, unwrap_model
from headway.train.torch.reproducibility import enable_reproducibility
from headway.train.torch.torch_checkpoint import TorchCheckpoint
from headway.train.torch.torch_trainer import TorchTrainer
from headway.train.torch.training_checkpoint import load_checkpoint, save_checkpoint

__all__ = [
    "TorchCheckpoint",
    "TorchConfig",
    "TorchTrainer",
    "accelerate",
    "backward",
    "enable_reproducibility",
    "get_device",
    "get_devices",
    "load_checkpoint",
    "prepare_data_loader",
    "prepare_model",
    "prepare_optimizer",
    "save_checkpoint",
    "unwrap_model",
]

offer(globals(), __all__)
