#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What a plugin shows to, and wants from, the debugger that loads it. Usage: exports.py MODULE ENTRY_POINT [--undefined PREFIX]

Reads the dynamic symbols (readelf). The module must
- define and export ENTRY_POINT (mangled) and nothing else;
- need no C++ runtime: no libstdc++ or libgcc_s among the needed libraries, no undefined symbol of theirs, no version of theirs;
- leave undefined, apart from C symbols with a version (libc, libdw, ...) and those with the given PREFIX (the debugger's own
  API), nothing at all.
"""
import argparse
import re
import subprocess
import sys

CXX_RUNTIME = re.compile(r"^(_ZSt|_ZNSt|_ZNKSt|_ZNVSt|_ZT[VIS]N?K?St|_ZTVN10__cxxabiv|_ZTIN10__cxxabiv|__cxa_(?!finalize$|atexit$|thread_atexit)"
                         r"|__gxx_|_Unwind_|_Zn[wa]|_Zd[la]|__dynamic_cast|__once_proxy)")
CXX_VERSION = re.compile(r"^(GLIBCXX|CXXABI|GCC)_")
# In every shared object of this compiler: weak references to libc's own, to a profiler, and to libitm, which static libstdc++
# asks for its transactional twins of operator new and delete. None is bound unless a program uses those libraries.
WEAK_ALWAYS = re.compile(r"^(__gmon_start__|_ITM_\w+|_ZGTt\w+|__cxa_finalize)$")


def readelf(*arguments):
    return subprocess.run(["readelf", "-W", *arguments], capture_output=True, text=True, check=True,
                          env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"}).stdout


def dynamic_symbols(module):
    """(name, version, binding, defined) for each named entry of .dynsym."""
    for line in readelf("--dyn-syms", module).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[0].rstrip(":").isdigit() and fields[0].endswith(":"):
            name, _, version = fields[7].partition("@")
            yield name, version.lstrip("@"), fields[4], fields[6] != "UND"


def problems(module, entry, prefix):
    symbols = list(dynamic_symbols(module))
    exported = sorted(name for name, _, _, defined in symbols if defined)
    if exported != [entry]:
        for name in exported:
            if name != entry:
                yield f"exports {name}, and may export {entry} alone"
        if entry not in exported:
            yield f"does not export {entry}"
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d", module))
    for library in needed:
        if re.match(r"libstdc\+\+|libgcc_s|libfmt|liblldb|libc\+\+", library):
            yield f"needs {library}"
    for name, version, binding, defined in symbols:
        if defined or (binding == "WEAK" and WEAK_ALWAYS.match(name)):
            continue
        if CXX_RUNTIME.match(name) or CXX_VERSION.match(version):
            yield f"wants {name}{'@' + version if version else ''} from a C++ runtime that is not its own"
        elif name.startswith("_Z") and not (prefix and name.startswith(tuple(prefix))):
            yield f"wants the C++ symbol {name}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module")
    parser.add_argument("entry")
    parser.add_argument("--undefined", action="append", default=[], metavar="PREFIX",
                        help="mangled prefix of symbols that the debugger brings")
    arguments = parser.parse_args()
    found = sorted(set(problems(arguments.module, arguments.entry, arguments.undefined)))
    print("\n".join(f"{arguments.module}: {problem}" for problem in found)
          if found else f"{arguments.module} exports its entry point alone and brings its own C++ runtime")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
