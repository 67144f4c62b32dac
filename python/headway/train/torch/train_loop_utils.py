"""The functions for a torch training function, where older code imports them from."""

from headway.train.torch.data_loader import prepare_data_loader
from headway.train.torch.devices import get_device, get_devices
from headway.train.torch.mixed_precision import accelerate, backward, prepare_optimizer
from headway.train.torch.model import prepare_model
from headway.train.torch.reproducibility import enable_reproducibility

__all__ = [
    "accelerate",
    "backward",
    "enable_reproducibility",
    "get_device",
    "get_devices",
    "prepare_data_loader",
    "prepare_model",
    "prepare_optimizer",
]
