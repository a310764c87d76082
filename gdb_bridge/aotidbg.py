# SPDX-License-Identifier: BSD-3-Clause
"""For GDB and cuda-gdb: `source aotidbg.py`, then `aoti inspect` at a crash or on a core."""
# GDB runs what it sources in the user's own namespace, so the rest is in modules that lie beside this file.
import os
import sys

# GDB itself may have loaded other versions of the C libraries that the module uses: it gets those that it was linked with.
flags = sys.getdlopenflags()
sys.setdlopenflags(flags | os.RTLD_DEEPBIND)
sys.path.insert(0, os.path.dirname(os.path.realpath(os.path.expanduser(__file__))))
try:
    import aotidbg_gdb
    aotidbg_gdb.add()
except ImportError as problem:  # a C library that is not installed, or a file that was not copied along
    sys.stderr.write(f"aotidbg cannot be loaded: {problem}\n")
finally:
    sys.path.pop(0)
    sys.setdlopenflags(flags)
