"""``python -m headway``: the same as the command ``headway``."""

import sys

from headway._command.main import main

if __name__ == "__main__":
    sys.exit(main())
