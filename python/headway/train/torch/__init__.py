"""PyTorch training: a trainer that makes the process group, and helpers for model, data and device.

Importing this module does not import torch: the driver needs none, and workers have it from their factory.
"""

from headway.train.torch.config import TorchConfig
from headway.train.torch.torch_trainer import TorchTrainer
from headway.train.torch.train_loop_utils import get_device, prepare_data_loader, prepare_model

__all__ = ["TorchConfig", "TorchTrainer", "get_device", "prepare_data_loader", "prepare_model"]

for _name in __all__:
    globals()[_name].__module__ = __name__
