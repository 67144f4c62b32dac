"""Puts the lint checks on the path, as they find each other when they run as scripts."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts/lint"), str(ROOT / "scripts")]
