#!/usr/bin/env python3
"""Step 8.  An unstructured mesh: renumbered along a Hilbert curve, partitioned, used for a computation with halo nodes; the value of each
node is written once, by one of the ranks that hold it.

    step8_mesh.py [FILE [MESH]]

SPDX-License-Identifier: BSD-3-Clause"""
import sys

import numpy as np
import tutti

N, SWEEPS = 24, 5
comm = tutti.mpi.world()
tutti.mpi.abort_on_exception()


def plate():
    """Create N x N squares of two triangles each, all on rank 0."""
    y, x = np.mgrid[:N + 1, :N + 1] / N
    a = (np.arange(N)[:, None] * (N + 1) + np.arange(N)).ravel()
    node = np.stack([a, a + 1, a + N + 2, a, a + N + 2, a + N + 1], 1).reshape(-1, 3)
    xyz = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1)
    if comm.rank:
        xyz, node = xyz[:0], node[:0]
    return tutti.Mesh.make(comm, xyz, np.full(len(node), tutti.MESH_TRIANGLE), np.arange(len(node) + 1) * 3, node.ravel())


mesh = tutti.Mesh.open(comm, sys.argv[2]) if len(sys.argv) > 2 else plate()
mesh.renumber("curve")
part = mesh.part(mesh.partition(comm.size))
mesh.free()

u = part.coordinates[:, 0].copy()
of = np.repeat(np.arange(part.elements), np.diff(part.start))  # the element of each entry of part.node
rim = ((part.coordinates[:, :2] == 0) | (part.coordinates[:, :2] == 1)).any(1)
change = np.flatnonzero(~rim[:part.own_nodes])
for sweep in range(SWEEPS):  # each owned node gets the mean of the nodes of its elements
    total, count = np.zeros(part.nodes), np.zeros(part.nodes)
    np.add.at(total, part.node, np.bincount(of, u[part.node], part.elements)[of])
    np.add.at(count, part.node, np.diff(part.start)[of])
    u[change] = total[change] / count[change]
    part.exchange(u)  # update halo nodes from their owners

with tutti.Replicas(comm, part.number, own=part.own) as r, \
        tutti.File(comm, sys.argv[1] if len(sys.argv) > 1 else "step8.dat", "w+") as f:
    r.write(f, 0, u, check=True)
    back = np.zeros_like(u)
    r.read(f, 0, back)
assert (back == u).all()
if comm.rank == 0:
    print(f"{part.all_nodes} nodes, {part.own_nodes} of them here with {part.nodes - part.own_nodes} copies")
