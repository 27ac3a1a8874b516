"""`python -m warpzone`: the same as the command `warpzone`."""

import sys

from warpzone.cli import main

if __name__ == "__main__":
    sys.exit(main())
