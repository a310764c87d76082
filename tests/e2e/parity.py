#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One core, three hosts, one answer: LLDB, GDB and `aotidbg` must print the same text and the same JSON.

    tests/e2e/parity.py --lldb-plugin build/lib/aotidbg_lldb.so --gdb-script build/lib/aotidbg.py --cli build/bin/aotidbg
                        --examples build/examples [--one EXAMPLE/VARIANT] [GLOB...]

Only `tool.host` in JSON may differ, and what a command is called where there is no debugger (`aotidbg models CORE`, not
`aoti models`). Exit status 0 when all are the same, 1 when not, 77 when nothing could run.
"""
import argparse
import difflib
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import run as e2e

COMMANDS = ("inspect", "inspect --all-threads", "models", "constants --all --inactive --values", "inputs", "kernels", "fault",
            "tensor $rdi", "doctor")
MAY_FAIL = {"tensor $rdi"}  # then in each host


def main():
    options = parse()
    if options.list:
        print("\n".join(v.full_name for v in e2e.catalog.variants(options.globs)))
        return 0
    for path in (options.lldb, options.gdb, options.lldb_plugin, options.gdb_script, options.cli, options.examples / "build.json"):
        if not shutil.which(path) and not pathlib.Path(path).exists():
            print(f"skipped: there is no {path}")
            return e2e.SKIPPED
    build = e2e.catalog.Build(options.examples)
    failed = 0
    for variant in e2e.catalog.variants([options.one] if options.one else options.globs):
        try:
            note = e2e.kept_core(build, variant, options.cores or build.path / "cores")
        except e2e.crash.NoCore as error:
            problems = [f"no core: {error}"]
        else:
            problems = compare(note, options)
        failed += bool(problems)
        print(f"{'FAIL' if problems else 'ok':4} {variant.full_name}", flush=True)
        print("".join(f"  {line}\n" for line in problems), end="", flush=True)
    return 1 if failed else 0


def parse():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--lldb", default="lldb-19")
    parser.add_argument("--gdb", default="gdb")
    parser.add_argument("--lldb-plugin", default="build/lib/aotidbg_lldb.so", type=pathlib.Path)
    parser.add_argument("--gdb-script", default="build/lib/aotidbg.py", type=pathlib.Path)
    parser.add_argument("--cli", default="build/bin/aotidbg", type=pathlib.Path)
    parser.add_argument("--examples", default="build/examples", type=pathlib.Path)
    parser.add_argument("--cores", type=pathlib.Path, help="where cores are kept; default: EXAMPLES/cores")
    parser.add_argument("--one", metavar="NAME", help="one EXAMPLE or EXAMPLE/VARIANT")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one run of a host")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("globs", nargs="*")
    return parser.parse_args()


def compare(note, options):
    """What differs between the hosts on this core, in a few lines."""
    problems = []
    answers = {host: ask(note, options) for host, ask in (("lldb", ask_lldb), ("gdb", ask_gdb), ("aotidbg", ask_cli))}
    reference = answers.pop("gdb")
    for which, wanted in reference.items():
        if wanted is None and which.partition(" as ")[0] not in MAY_FAIL:
            problems.append(f"gdb: no answer to {which}")
        for host, given in answers.items():
            if given[which] != wanted:
                problems += [f"{which}: gdb and {host} differ", *difference(wanted, given[which])]
    return problems


def difference(left, right):
    lines = difflib.unified_diff((left or "no answer").splitlines(), (right or "no answer").splitlines(), lineterm="", n=0)
    return [f"  {line[:160]}" for line in list(lines)[2:22]]


def asked(command, folder, number, form):
    """The words of one command, and the file that it writes."""
    path = pathlib.Path(folder) / f"{number}.{form}"
    return f"{command} --columns 100 --output {path}" + (" --json" if form == "json" else ""), path


def questions(folder):
    for number, command in enumerate(COMMANDS):
        for form in ("text", "json"):
            words, path = asked(command, folder, number, form)
            yield f"{command} as {form}", words, path


def ask_debugger(command_line, timeout):
    """`command_line` makes the program's words from commands of aoti."""
    with tempfile.TemporaryDirectory(prefix="aotidbg-parity-") as folder:
        listed = list(questions(folder))
        subprocess.run(command_line([f"aoti {words}" for _, words, _ in listed]), stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout, cwd=folder)
        return {which: plain(path) for which, _, path in listed}


def ask_lldb(note, options):
    # A command that fails would end a batch of -o: each runs from a script, which goes on.
    def command_line(commands):
        run = [part for command in commands for part in ("-o", f"script lldb.debugger.HandleCommand('{command}')")]
        return [options.lldb, "--batch", "--no-lldbinit", "-o", f'plugin load "{options.lldb_plugin.resolve()}"', *run,
                "-c", note["core"], note["executable"]]
    return ask_debugger(command_line, options.timeout)


def ask_gdb(note, options):
    def command_line(commands):
        run = [part for command in commands for part in ("-ex", command)]
        return [options.gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"source {options.gdb_script.resolve()}",
                *run, note["executable"], note["core"]]
    return ask_debugger(command_line, options.timeout)


def ask_cli(note, options):
    with tempfile.TemporaryDirectory(prefix="aotidbg-parity-") as folder:
        answers = {}
        for which, words, path in questions(folder):
            name, *rest = words.split()
            subprocess.run([options.cli.resolve(), name, note["core"], "--exe", note["executable"], *rest], stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=options.timeout)
            answers[which] = plain(path)
        return answers


def plain(path):
    """What was written, without the host's name; None when nothing was."""
    if not path.exists():
        return None
    text = path.read_text()
    if path.suffix == ".json":
        report = json.loads(text)
        report["tool"]["host"] = "HOST"
        return json.dumps(report, indent=1)
    return re.sub(r"\baotidbg (?=[a-z]+\b)", "aoti ", text)


if __name__ == "__main__":
    sys.exit(main())
