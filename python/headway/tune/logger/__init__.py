"""Logger callbacks: a base class, and those of the files that every run writes by itself."""

from headway.tune.logger.csv import CSVLoggerCallback
from headway.tune.logger.json import JsonLoggerCallback
from headway.tune.logger.logger import LoggerCallback
from headway.tune.logger.tensorboardx import TBXLoggerCallback

__all__ = ["CSVLoggerCallback", "JsonLoggerCallback", "LoggerCallback", "TBXLoggerCallback"]
