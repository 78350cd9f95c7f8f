#!/usr/bin/env python3
"""Step 9.  Finite elements: a rod of hexahedra in one shared Exodus file, which ParaView opens.  Each rank passes its elements by global
ids and its values at every step.  The file is read with another distribution.

    step9_exodus.py [FILE]

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

LONG, ACROSS, STEPS = 24, 4, 3
SLAB = (ACROSS + 1) ** 2  # number of nodes of a cross section
CORNERS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()
path = sys.argv[1] if len(sys.argv) > 1 else "step9.e"

# Slabs of elements with all their nodes; nodes between two slabs are on both ranks.
first, last = LONG * comm.rank // comm.size, LONG * (comm.rank + 1) // comm.size
x, z, y = np.mgrid[first:last + (first < last), :ACROSS + 1, :ACROSS + 1].reshape(3, -1)
i, k, j = np.mgrid[:last - first, :ACROSS, :ACROSS].reshape(3, -1)
nodes = np.stack([(i + a) * SLAB + (k + c) * (ACROSS + 1) + j + b for a, b, c in CORNERS], 1)  # local node indices
end = np.flatnonzero(i + first == 0)

with tutti.Exodus.create(comm, path, overwrite=True) as e:
    e.init(title="a rod", dims=3)
    e.define([dict(kind="element block", id=1, topology="HEX8", name="rod"), dict(kind="side set", id=7, name="heated")])
    e.variables("nodal", ["temperature"])
    e.put_mesh(node_ids=1 + first * SLAB + np.arange(len(x)), coordinates=np.stack([x, y, z], 1).astype(float),
               blocks=[dict(ids=1 + first * ACROSS ** 2 + np.arange(len(nodes)), nodes=nodes)],
               side_sets=[dict(members=end, sides=np.full(len(end), 4))])  # the side at x = 0
    for step in range(STEPS):
        with e.step(step):  # committed atomically
            e.put(temperature=np.exp(-x / (1 + step)))

# Read the last step with a distribution along the Hilbert curve.
with tutti.Exodus.open(comm, path) as e:
    mesh = e.get_mesh(by="curve", halo=1)
    t = e.get(e.steps, "temperature")
    assert (t == np.exp(-mesh.coordinates[:, 0] / STEPS)).all()
    if comm.rank == 0:
        own = e.own_elements()
        print(f"{path} has {e.steps} steps of {e.parameters()['nodes']} nodes; {own} elements here, "
              f"{len(mesh.blocks[0]['ids']) - own} around them")
