#!/usr/bin/env python3
"""Starts PageDesk, or its tests, from a source tree: `python3 packaging/launch.py [test] [arguments]`.

Standard library only. This file keeps to a syntax that every Python can read, to be able to say which one is needed.
"""

import os
import sys
import time

NEEDED = (3, 11)
TOO_OLD = (
    "PageDesk needs Python %d.%d or newer; this is %d.%d (%s). Install a newer Python and start this file with it."
)

if __name__ == "__main__":
    if sys.version_info < NEEDED:
        sys.exit(TOO_OLD % (NEEDED + sys.version_info[:2] + (sys.executable,)))
    os.environ["PAGEDESK_LAUNCHED_AT"] = repr(time.time())
    # The folder of this file is on the path, as of every script.
    from launcher.main import main

    sys.exit(main(sys.argv[1:]))
