#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Unpacks other LLDB versions side by side, without installing them.

    tools/fetch_lldb.py [FOLDER] [VERSION ...]      default: build/lldb 13 14 15 16 22

FOLDER/VERSION/lldb is then a script that runs that LLDB: Debian's packages, unpacked with dpkg, with the library and
Python paths that they need. What the machine has installed already is used from there. tests/lldb/matrix.py runs every
version that it finds. A version that the configured package sources do not offer is named and left out.
"""
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSIONS = ["13", "14", "15", "16", "22"]

# The front end finds everything but its libraries by its own place; FIRST is the unpacked folder.
WRAPPER = """#!/bin/sh
FIRST=$(dirname "$(readlink -f "$0")")/root
LD_LIBRARY_PATH="$FIRST/usr/lib/llvm-{version}/lib:$FIRST/usr/lib/x86_64-linux-gnu${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
PYTHONPATH="$FIRST/usr/lib/llvm-{version}/lib/python3/dist-packages:\
$FIRST/usr/lib/llvm-{version}/lib/python3.11/site-packages:\
$FIRST/usr/lib/llvm-{version}/lib/python3.11/dist-packages:\
$FIRST/usr/lib/python3/dist-packages"
LLDB_DEBUGSERVER_PATH="$FIRST/usr/lib/llvm-{version}/bin/lldb-server"
export LD_LIBRARY_PATH PYTHONPATH LLDB_DEBUGSERVER_PATH
exec "$FIRST/usr/lib/llvm-{version}/bin/lldb" "$@"
"""


def output(*command):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    return done.stdout if done.returncode == 0 else ""


def installed(package):
    return output("dpkg-query", "-W", "-f", "${Status}", package).endswith("ok installed")


def missing_packages(first):
    """`first` and what it depends on, as far as this machine lacks it. LLVM's own development files are not needed."""
    wanted, queue = [], [first]
    while queue:
        package = queue.pop(0)
        if package in wanted or package.startswith(("llvm-", "<")) or installed(package):
            continue
        wanted.append(package)
        for line in output("apt-cache", "depends", package).splitlines():
            kind, _, name = line.strip().partition(": ")
            if kind == "Depends":
                queue.append(name)
    return wanted


def fetch(folder, version):
    place = folder / version
    if (place / "lldb").exists():
        return f"LLDB {version}: there already"
    if not output("apt-cache", "show", f"lldb-{version}"):
        return f"LLDB {version}: not offered by this machine's package sources"
    shutil.rmtree(place, ignore_errors=True)
    (place / "packages").mkdir(parents=True)
    packages = missing_packages(f"lldb-{version}")
    done = subprocess.run(["apt-get", "-q", "download", *packages], cwd=place / "packages", capture_output=True, text=True)
    if done.returncode != 0:
        return f"LLDB {version}: {done.stderr.strip().splitlines()[-1]}"
    for package in sorted((place / "packages").glob("*.deb")):
        subprocess.run(["dpkg", "-x", package, place / "root"], check=True)
    shutil.rmtree(place / "packages")
    script = place / "lldb.new"
    script.write_text(WRAPPER.format(version=version))
    script.chmod(0o755)
    done = subprocess.run([script, "--no-lldbinit", "--version"], capture_output=True, text=True)
    if done.returncode != 0:
        return f"LLDB {version}: unpacked but does not run: {done.stderr.strip()}"
    script.rename(place / "lldb")  # last: its presence says that the version is complete
    return f"LLDB {version}: {done.stdout.splitlines()[0]}"


def main(arguments):
    folder = pathlib.Path(arguments[0] if arguments else ROOT / "build/lldb").absolute()
    for version in arguments[1:] or VERSIONS:
        print(fetch(folder, version), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
