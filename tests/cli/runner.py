# SPDX-License-Identifier: BSD-3-Clause
"""Runs `aotidbg` once, and what the cases here share: the cost of a run, and files that are odd in one way."""
import dataclasses
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "e2e")]
import case_runner  # noqa: E402, F401
import programs  # noqa: E402, F401
import run as e2e  # noqa: E402

NOBODY = 65534
PHDR = struct.Struct("<IIQQQQQQ")  # Elf64_Phdr: type, flags, offset, vaddr, paddr, filesz, memsz, align


@dataclasses.dataclass
class Answer:
    status: int  # exit status; negative: the signal that ended it
    text: str
    said: str  # on standard error
    seconds: float  # of a processor
    megabytes: float  # at the peak

    @property
    def report(self):
        return json.loads(self.text)


def run_tool(program, *arguments, timeout=120, **more):
    """One run; TimeoutExpired when it hangs."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen([program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=out, stderr=err, **more)
        # wait4 has no time limit, and tells of this child alone.
        killer = subprocess.Popen(["sh", "-c", f"sleep {timeout}; kill -9 {child.pid}"], start_new_session=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        os.killpg(killer.pid, 9)
        killer.wait()
        out.seek(0)
        err.seek(0)
        return Answer(child.returncode, out.read().decode(), err.read().decode(errors="replace"),
                      usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def kept_core(examples, name):
    variant, = programs.catalog.variants([name])
    build = programs.catalog.Build(examples)
    return e2e.kept_core(build, variant, build.path / "cores")


def elf_header(type_=4, machine=62, class_=2, order=1, headers=1):
    """The first 64 bytes of an ELF file and one empty program header; a core of x86-64 unless said."""
    mark = "<" if order == 1 else ">"
    head = b"\x7fELF" + bytes([class_, order, 1]) + bytes(9)
    return head + struct.pack(mark + "HHIQQQIHHHHHH", type_, machine, 1, 0, 64, 0, 0, 64, 56, headers, 0, 0, 0) + bytes(56)


def segments(core):
    """The program headers of a core, as lists."""
    data = core.read_bytes()[:1 << 22] if core.stat().st_size < 1 << 22 else open(core, "rb").read(1 << 22)
    at, count = struct.unpack_from("<Q", data, 32)[0], struct.unpack_from("<H", data, 56)[0]
    return [list(PHDR.unpack_from(data, at + PHDR.size * i)) for i in range(count)]


def copy_sparse(source, target):
    subprocess.run(["cp", "--sparse=always", source, target], check=True)
    return target


def grow(core, out, size):
    """`core` with one more segment of `size` bytes, all of them a hole: what a process with a large heap leaves."""
    copy_sparse(core, out)
    table = segments(out)
    end = max(s[3] + s[6] for s in table if s[0] == 1 and s[3] < 1 << 47)
    place = (end + (1 << 40)) % (1 << 46) & ~0xfff  # far from everything else
    at = (out.stat().st_size + 0xfff) & ~0xfff
    data_at = (at + PHDR.size * (len(table) + 1) + 0xfff) & ~0xfff
    table.append([1, 6, data_at, place, 0, size, size, 4096])
    with open(out, "r+b") as file:
        file.seek(32)
        file.write(struct.pack("<Q", at))
        file.seek(56)
        file.write(struct.pack("<H", len(table)))
        file.seek(at)
        file.write(b"".join(PHDR.pack(*s) for s in table))
        file.truncate(data_at + size)
    return out


def in_kernel_order(core, out):
    """GDB's core as the kernel would write it: notes first, then memory."""
    table = segments(core)
    data_at = (64 + PHDR.size * len(table) + sum(s[5] for s in table if s[0] == 4) + 0xfff) & ~0xfff
    with open(core, "rb") as source, open(out, "wb") as target:
        header = bytearray(source.read(64))
        header[32:40] = struct.pack("<Q", 64)
        at = 64 + PHDR.size * len(table)
        for segment in sorted(table, key=lambda s: (s[0] != 4, s[3])):
            source.seek(segment[2])
            if segment[0] == 1:
                at = data_at
                data_at += (segment[5] + 0xfff) & ~0xfff
            target.seek(at)
            target.write(source.read(segment[5]))
            segment[2] = at
        target.truncate(data_at)
        target.seek(0)
        target.write(bytes(header) + b"".join(PHDR.pack(*s) for s in table))
    return out


def without_file_note(core, out):
    """`core` whose NT_FILE has another type: what writers leave that know of no files."""
    copy_sparse(core, out)
    note, = [s for s in segments(out) if s[0] == 4]
    with open(out, "r+b") as file:
        at = note[2]
        while at < note[2] + note[5]:
            file.seek(at)
            name, size, type_ = struct.unpack("<III", file.read(12))
            if type_ == 0x46494c45:  # NT_FILE
                file.seek(at + 8)
                file.write(struct.pack("<I", 0x46494c00))
            at += 12 + (name + 3 & ~3) + (size + 3 & ~3)
    return out


if __name__ == "__main__":
    in_kernel_order(*map(pathlib.Path, sys.argv[1:]))
