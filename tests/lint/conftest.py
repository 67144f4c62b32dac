"""Puts the lint checks on the path, as they find each other when they run as scripts."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts/lint"))
