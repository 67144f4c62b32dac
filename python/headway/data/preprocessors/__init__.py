"""Preprocessors: they learn from a data set, and apply what they have learned to others and to
single batches.
"""

from headway._values.named_arguments import offer
from headway.data.preprocessors._base import FitStatus, Preprocessor, PreprocessorNotFittedException
from headway.data.preprocessors._encoders import (
    Categorizer,
    LabelEncoder,
    MultiHotEncoder,
    OneHotEncoder,
    OrdinalEncoder,
)
from headway.data.preprocessors._others import (
    BatchMapper,
    Chain,
    CustomKBinsDiscretizer,
    SimpleImputer,
    UniformKBinsDiscretizer,
)
from headway.data.preprocessors._scalers import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from headway.data.preprocessors._text import (
    CountVectorizer,
    FeatureHasher,
    HashingVectorizer,
    Tokenizer,
    TorchVisionPreprocessor,
)
from headway.data.preprocessors._vectors import Concatenator, Normalizer, PowerTransformer

__all__ = [
    "BatchMapper",
    "Categorizer",
    "Chain",
    "Concatenator",
    "CountVectorizer",
    "CustomKBinsDiscretizer",
    "FeatureHasher",
    "FitStatus",
    "HashingVectorizer",
    "LabelEncoder",
    "MaxAbsScaler",
    "MinMaxScaler",
    "MultiHotEncoder",
    "Normalizer",
    "OneHotEncoder",
    "OrdinalEncoder",
    "PowerTransformer",
    "Preprocessor",
    "PreprocessorNotFittedException",
    "RobustScaler",
    "SimpleImputer",
    "StandardScaler",
    "Tokenizer",
    "TorchVisionPreprocessor",
    "UniformKBinsDiscretizer",
]

offer(globals(), __all__)
