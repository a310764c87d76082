# SPDX-License-Identifier: BSD-3-Clause
"""Runs the model of examples/many_constants into its crash with marked weights and inputs, for snapshot_privacy.py.

    planted.py PACKAGE    (markers of eight characters in PLANTED_WEIGHT and PLANTED_INPUT)

Every weight and every element of the float input repeats a marker. The index input holds the index that the verdict
quotes, and in its other elements valid ones.
"""
import os
import sys

import torch


def marked(shape, marker):
    """float32 values whose bytes repeat the marker."""
    count = 1
    for size in shape:
        count *= size
    return torch.frombuffer(bytearray(marker.encode() * (count // 2)), dtype=torch.float32).reshape(shape)


package = sys.argv[1]
weight, value = os.environ["PLANTED_WEIGHT"], os.environ["PLANTED_INPUT"]
kept = dict(os.environ)  # the environment again, on the heap
model = torch._inductor.aoti_load_package(package)
names = model.get_constant_fqns()
shapes = {name: (1000, 64) if name == "emb.weight" else (64,) for name in names}
model.load_constants({name: marked(shape, weight) for name, shape in shapes.items()},
                     check_full_update=True, user_managed=False)
idx = torch.arange(8)
idx[5] = 1 << 33
model(marked((8, 64), value), idx)
sys.exit("no crash")
