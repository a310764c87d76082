# SPDX-License-Identifier: BSD-3-Clause
"""Small programs that crash or wait, and cores: of them, and of the examples."""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "examples"))

import catalog  # noqa: E402
import crash  # noqa: E402

FINE = "int main(void) { return 3; }\n"
NULL_READ = "int main(void) { volatile int *at = 0; return *at; }\n"
FORKS = """
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
  if (fork() == 0) { volatile int *at = 0; return *at; }
  int status; wait(&status); return 0;
}
"""
TWO_THREADS = """
#include <pthread.h>
#include <unistd.h>
static void *waits(void *unused) { for (;;) pause(); }
int main(void) {
  pthread_t other; pthread_create(&other, 0, waits, 0); usleep(200000);
  volatile int *at = (int *)0x1234; return *at;
}
"""


def compile_c(source, folder, name, *flags):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O1", "-w", "-o", folder / name, folder / f"{name}.c", *flags], check=True)
    return folder / name


def core_of(program, folder):
    """The core of a plain program that crashes, written by GDB: small, and the same whatever core_pattern is."""
    core = folder / f"{program.name}.core"
    subprocess.run(["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", "run",
                    "-ex", f"generate-core-file {core}", program],
                   check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return core


def example_core(examples, name, out):
    """core.json of one variant of an example that examples/build.py has built; its core is made in `out`, once."""
    note = out / name / "core.json"
    if not note.exists():
        variant, = catalog.variants([name])
        crash.crash(catalog.Build(examples), variant, out)
    return json.loads(note.read_text())
