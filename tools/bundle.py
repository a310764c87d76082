#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts what a user loads into one folder that runs where none of our packages is installed.

    tools/bundle.py [--build build] [--out build/bundle]

The folder holds the plugin, the module for GDB with its scripts, the command line, and the C libraries that they need beyond
glibc, each under a name of its own (libdw.so.1 becomes libaotidbg-dw.so.1), found beside whoever needs it ($ORIGIN). GDB has
libdw and libelf loaded itself, and may have other versions of them: under one name the loader would hand us theirs.
Copied files keep their licences in licences/. Needs patchelf.
"""
import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# glibc's own, which every Linux that can run us has; versions of symbols say which is the oldest that does.
SYSTEM = re.compile(r"^(ld-linux-x86-64|libc|libm|libdl|libpthread|librt|libresolv|libutil)\.so\.\d+$")
FILES = ["bin/aotidbg", "lib/aotidbg_lldb.so", "lib/_aotidbg.abi3.so", "lib/aotidbg.py", "lib/aotidbg_gdb.py"]


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def needed(path):
    return output("patchelf", "--print-needed", str(path)).split()


def own_name(soname):
    """libdw.so.1 -> libaotidbg-dw.so.1"""
    return "libaotidbg-" + soname.removeprefix("lib")


def resolved(path):
    """Where the loader of this machine finds what `path` needs, directly or through others: {soname: file}."""
    pairs = re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", str(path)), re.M)
    return {name: pathlib.Path(file) for name, file in pairs}


def licence_of(library):
    """Debian's record of the library's licences."""
    for name in (str(library), str(library.resolve())):
        for candidate in (name, name.removeprefix("/usr"), "/usr" + name):
            found = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
            if found.returncode == 0:
                package = found.stdout.split(":")[0]
                return package, pathlib.Path(f"/usr/share/doc/{package}/copyright")
    return None, None


def bundle(build, out):
    absent = [name for name in FILES if not (build / name).is_file()]
    if absent:
        raise SystemExit(f"{build} lacks {', '.join(absent)}: build it first (cmake --build --preset release)")
    libraries = {}
    binaries = []
    for name in FILES:
        copied = out / pathlib.Path(name).name
        shutil.copy2(build / name, copied)
        if copied.suffix != ".py":
            subprocess.run(["strip", "--strip-debug", str(copied)], check=True)
            binaries.append(copied)
            libraries |= {soname: file for soname, file in resolved(build / name).items() if not SYSTEM.match(soname)}
    (out / "licences").mkdir()
    shutil.copy2(ROOT / "LICENSE", out / "licences" / "aotidbg")
    for soname, file in libraries.items():
        copied = out / own_name(soname)
        shutil.copy2(file.resolve(), copied)
        copied.chmod(0o755)
        subprocess.run(["patchelf", "--set-soname", copied.name, str(copied)], check=True)
        binaries.append(copied)
        package, text = licence_of(file)
        if text is None or not text.is_file():
            raise SystemExit(f"no licence is known for {file}")
        shutil.copy2(text, out / "licences" / package)
    for binary in binaries:
        renames = [word for soname in needed(binary) if soname in libraries
                   for word in ("--replace-needed", soname, own_name(soname))]
        for change in (renames, ["--set-rpath", "$ORIGIN"]):  # patchelf 0.14 leaves out the one beside the other
            if change:
                subprocess.run(["patchelf", *change, str(binary)], check=True)
        strangers = [name for name in needed(binary) if not SYSTEM.match(name) and not (out / name).is_file()]
        if strangers:
            raise SystemExit(f"{binary.name} still needs {', '.join(strangers)}")
    return binaries


def oldest_glibc(binaries):
    versions = set()
    for binary in binaries:
        versions |= {tuple(map(int, found.split("."))) for found in
                     re.findall(r"GLIBC_(\d+(?:\.\d+)+)", output("readelf", "-VW", str(binary)))}
    return ".".join(map(str, max(versions)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="a build folder (default: %(default)s)")
    parser.add_argument("--out", type=pathlib.Path, help="the folder to make, which must not exist yet (default: BUILD/bundle)")
    options = parser.parse_args()
    out = (options.out or options.build / "bundle").resolve()
    if out.exists():
        raise SystemExit(f"{out} exists already: remove it, or name another with --out")
    if not shutil.which("patchelf"):
        raise SystemExit("patchelf is missing: apt-get install patchelf")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".bundle-") as fresh:
        folder = pathlib.Path(fresh) / out.name
        folder.mkdir(mode=0o755)
        binaries = bundle(options.build.resolve(), folder)
        glibc = oldest_glibc(binaries)
        size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        folder.rename(out)
    print(f"{out}: {len(binaries)} binaries, {size / 1e6:.1f} MB, for x86-64 Linux with glibc {glibc} or newer")
    return 0


if __name__ == "__main__":
    sys.exit(main())
