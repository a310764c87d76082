# SPDX-License-Identifier: BSD-3-Clause
"""Gives GDB the command `aoti`. All that explains a crash is in the extension module _aotidbg."""
import json
import re

import gdb

import _aotidbg


class Aoti(gdb.Command):
    """Explain the crash of an AOTInductor model: start with `aoti inspect`.

Nothing is run in the process, and nothing in it is changed."""

    def __init__(self):
        super().__init__("aoti", gdb.COMMAND_STATUS, prefix=True)

    def invoke(self, text, from_tty):  # alone, or with a word that is no command of ours
        answer(gdb.string_to_argv(text))


class AotiCommand(gdb.Command):
    def __init__(self, name, summary):
        self.name = name
        self.__doc__ = documentation(name, summary)
        super().__init__(f"aoti {name}", gdb.COMMAND_STATUS)

    def invoke(self, text, from_tty):
        answer([self.name, *gdb.string_to_argv(text)])

    def complete(self, text, word):
        if word is None:  # GDB asks twice: first where the word begins
            return gdb.COMPLETE_NONE
        begun = re.search(r"\S*$", text)[0]
        before = gdb.string_to_argv(text[:len(text) - len(begun)])
        if before[-1:] == ["--thread"]:
            whole = [str(thread.ptid[1]) for thread in gdb.selected_inferior().threads()]
        else:
            whole = _aotidbg.complete([self.name, *before, begun])
        # To GDB a word may begin behind a "-".
        return [candidate[len(begun) - len(word):] for candidate in whole if candidate.startswith(begun)]


def answer(words):
    gdb.write(_aotidbg.run(words))


def documentation(name, summary):
    """The first line stands in the list of `help aoti`; then the command's own help, which has that line second."""
    usage, _, rest = _aotidbg.run(["help", name]).partition("\n\n")
    about = rest.partition("\n\n")[2].strip()
    return f"{summary[0].upper()}{summary[1:]}.\n{usage[0].upper()}{usage[1:]}\n\n{about}"


class AotiConstant(gdb.Function):
    """$aoti_constant (NAME [, MODEL]): where the data of a model's constant begins, as a void *.

NAME is the user's name or the generated code's, MODEL a number as `aoti models` shows it."""

    def __init__(self):
        super().__init__("aoti_constant")

    def invoke(self, name, model=None):
        name = name.string()
        chosen = [] if model is None else ["--model", str(int(model))]
        # As a pattern that only this name fits.
        pattern = re.sub(r"([*?[])", r"[\1]", name)
        constants = [constant for each in json.loads(_aotidbg.run(["constants", "--json", *chosen, pattern]))["models"]
                     for constant in each["constants"]]
        if not constants:
            raise gdb.GdbError(f"no model was found, so there is no constant {name}")
        data = constants[0]["data"]
        if data is None:
            raise gdb.GdbError(f"constant {name} has no data: it is {constants[0]['state']}")
        return gdb.Value(int(data, 16)).cast(gdb.lookup_type("void").pointer())


class TensorPrinters:
    """Prints at::Tensor, c10::TensorImpl and AtenTensorHandle; of their types GDB needs to know no more than the name."""
    name = "aotidbg"
    enabled = True
    objects = {"at::Tensor", "at::TensorBase", "c10::TensorImpl"}
    pointers = {"AtenTensorOpaque", "c10::TensorImpl"}

    def __call__(self, value):
        kind = value.type.strip_typedefs()
        if kind.code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            value = value.referenced_value()
            kind = value.type.strip_typedefs()
        if kind.code == gdb.TYPE_CODE_PTR:
            if kind.target().strip_typedefs().unqualified().name in self.pointers:
                return TensorPrinter(int(value), pointer=True) if int(value) else None
        elif kind.unqualified().name in self.objects and value.address is not None:
            return TensorPrinter(int(value.address))
        return None


class TensorPrinter:
    def __init__(self, address, pointer=False):
        self.address = address
        self.pointer = pointer

    def to_string(self):
        summary = _aotidbg.tensor_summary(self.address)
        return f"{self.address:#x} {summary}" if self.pointer else summary


def on_event(name, action):
    registry = getattr(gdb.events, name, None)  # some came later than others
    if registry is not None:
        registry.connect(action)


def add():
    """Once in a GDB, however often it is asked."""
    if Aoti.__name__ in added:
        gdb.write(f"aotidbg {_aotidbg.version} is loaded already; `aoti` stays as it is\n")
        return
    added.add(Aoti.__name__)
    Aoti()
    for name, summary in _aotidbg.summaries().items():
        AotiCommand(name, summary)
    AotiConstant()
    gdb.pretty_printers.append(TensorPrinters())
    on_event("stop", lambda event: _aotidbg.note_stop())
    for name in ("cont", "exited", "inferior_call", "inferior_deleted", "memory_changed", "register_changed", "new_objfile"):
        on_event(name, lambda event: _aotidbg.forget())


added = set()
