#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the examples: compiles each model.py to packages, and each main.cpp to a program.

    examples/build.py --torch-python /venv/bin/python --out build/examples [GLOB...]

Results are kept under --cache by a hash of everything that goes in (sources, torch, compiler, CPU
flags), so a second call copies and compiles nothing. --jobs at a time, two unless told.
"""
import argparse
import concurrent.futures
import fnmatch
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import catalog

PROBE = """
import json, torch
print(json.dumps({"torch": torch.__version__, "git": torch.version.git_version,
                  "folder": torch.__path__[0], "cpu": torch.backends.cpu.get_cpu_capability()}))
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--torch-python", required=True, help="a Python that can import torch")
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--cache", type=pathlib.Path, help="default: OUT/cache")
    parser.add_argument("--cxx", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("globs", nargs="*", help="only these examples")
    options = parser.parse_args()

    out = options.out.resolve()
    cache = (options.cache or out / "cache").resolve()
    for folder in (out, cache):
        folder.mkdir(parents=True, exist_ok=True)
    torch = Torch(options.torch_python, options.cxx, cache)
    print(f"torch {torch.facts['torch']} ({torch.facts['cpu']}), {torch.compiler.splitlines()[0]}")

    (out / "build.json").write_text(json.dumps(
        {"python": torch.python, "torch": torch.facts["torch"], "cpu": torch.facts["cpu"]}, indent=1) + "\n")

    names = [n for n in catalog.examples()
             if not options.globs or any(fnmatch.fnmatchcase(n, g) for g in options.globs)]
    if not names:
        raise SystemExit(f"no example matches {' '.join(options.globs)}")
    work = []
    for name in names:
        source = catalog.SOURCE / name
        work.append((f"{name}: packages", torch.packages, source, out / name / "packages"))
        if (source / "main.cpp").exists():
            work.append((f"{name}: program", torch.program, source, out / name / "main"))
    # First what the others share: LibTorch's headers, and those that Inductor precompiles with the first package.
    work.insert(0, ("common: headers", torch.precompile, None, None))
    failures = run_all(work[:2], options.jobs, 0, len(work))
    failures += run_all(work[2:], options.jobs, 2, len(work))
    for title, message in failures:
        print(f"FAILED {title}\n{message}", file=sys.stderr)
    return 1 if failures else 0


def run_all(work, jobs, done, total):
    failures = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        running = {pool.submit(timed, step, source, target): title for title, step, source, target in work}
        for future in concurrent.futures.as_completed(running):
            done += 1
            title = running[future]
            try:
                how = future.result()
            except subprocess.CalledProcessError as error:
                how = "FAILED"
                failures.append((title, f"{' '.join(error.cmd)}\n{error.stdout}"))
            print(f"[{done}/{total}] {title}: {how}", flush=True)
    return failures


def timed(step, source, target):
    start = time.monotonic()
    return "cached" if step(source, target) else f"{time.monotonic() - start:.0f} s"


class Torch:
    """The torch that compiles packages and that programs link against."""

    def __init__(self, python, cxx, cache):
        self.python = os.path.abspath(python)
        self.cxx = cxx
        self.cache = cache
        self.facts = json.loads(output([self.python, "-c", PROBE]))
        self.compiler = output([cxx, "--version"])
        self.compile = [cxx, "-std=c++20", "-O2", "-g", "-Wall", f"-I{catalog.SOURCE}"]
        for include in ("include", "include/torch/csrc/api/include"):
            self.compile += ["-isystem", f"{self.facts['folder']}/{include}"]
        self.common = catalog.SOURCE / "common" / "example.h"
        self.header = "header-" + digest(self.common.read_bytes(), json.dumps(self.facts), self.compiler, *self.compile)

    def packages(self, source, target):
        """Runs model.py in a folder of its own; True if the cache had the answer."""
        script = source / "model.py"
        key = digest("packages", script.read_bytes(), json.dumps(self.facts), self.compiler, cpu_flags())
        return self.from_cache(f"packages-{key}", target, lambda folder: output(
            [self.python, str(script), str(folder)],
            {"TORCHINDUCTOR_CACHE_DIR": str(self.cache / "inductor"), "TORCHINDUCTOR_COMPILE_THREADS": "1",
             "OMP_NUM_THREADS": "2", "CXX": self.cxx}))

    def precompile(self, _source, _target):
        """LibTorch's headers are nearly all of a program's compile. True if the cache had them."""
        kept = self.cache / self.header
        if kept.is_dir():
            return True
        with tempfile.TemporaryDirectory(dir=self.cache, prefix="making-") as fresh:
            shutil.copy2(self.common, fresh)
            output([*self.compile, "-x", "c++-header", f"{fresh}/example.h"])
            os.chmod(fresh, 0o755)
            shutil.copytree(fresh, kept)
        return False

    def program(self, source, target):
        """Compiles main.cpp against LibTorch, linked by hand: find_package(Torch) needs CMake and more."""
        main, torch = source / "main.cpp", self.facts["folder"]
        command = [*self.compile, "-include", str(self.cache / self.header / "example.h"), str(main)]
        link = [f"-L{torch}/lib", f"-Wl,-rpath,{torch}/lib", "-Wl,--no-as-needed", "-ltorch", "-ltorch_cpu",
                "-lc10", "-pthread"]
        key = digest("program", main.read_bytes(), self.header, " ".join(command + link))
        return self.from_cache(f"program-{key}", target,
                               lambda folder: output([*command, "-o", f"{folder}/main", *link]), "main")

    def from_cache(self, name, target, make, member=None):
        """Makes the folder `name` in the cache unless it is there, then copies it (or one member).

        A target that is this copy already stays as it is, so that its age says when it changed. True
        if nothing had to be made.
        """
        kept, mark = self.cache / name, target.with_name(f".{target.name}.from")
        hit = kept.is_dir()
        if not hit:
            fresh = pathlib.Path(tempfile.mkdtemp(dir=self.cache, prefix="making-"))
            try:
                make(fresh)
                fresh.chmod(0o755)
                if not kept.is_dir():  # another example may have the same model.py
                    fresh.rename(kept)
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
        if target.exists() and mark.exists() and mark.read_text() == name:
            return hit
        target.parent.mkdir(parents=True, exist_ok=True)
        if member:
            target.unlink(missing_ok=True)
            shutil.copy2(kept / member, target)
        else:
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(kept, target)
        mark.write_text(name)
        return hit


def output(command, env=None):
    return subprocess.run(command, env={**os.environ, **(env or {})}, text=True, check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout


def digest(*parts):
    hashed = hashlib.sha256()
    for part in parts:
        data = part if isinstance(part, bytes) else part.encode()
        hashed.update(f"{len(data)}:".encode() + data)
    return hashed.hexdigest()[:16]


def cpu_flags():
    """Inductor compiles with -march=native."""
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return line
    return "unknown"


if __name__ == "__main__":
    sys.exit(main())
