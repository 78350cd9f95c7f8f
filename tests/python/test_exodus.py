"""Exodus files are written by ids from all ranks, read with several distributions, and compared with the complete mesh.

SPDX-License-Identifier: BSD-3-Clause"""
import numpy as np

import tutti
from tutti import Dataset, Error, Exodus, ExodusMesh, exodus
from test_wrong import raises, refused, waits_later

NX, NY = 5, 3
NODES, ELEMENTS, LEFT = (NX + 1) * (NY + 1), NX * NY, 6  # LEFT: number of elements of the first block


def plate():
    """Return the complete mesh of NX x NY squares: coordinates, nodes of elements."""
    y, x = np.mgrid[:NY + 1, :NX + 1].astype(float)
    a = (np.arange(NY)[:, None] * (NX + 1) + np.arange(NX)).ravel()
    return np.stack([x.ravel(), y.ravel()], 1), np.stack([a, a + 1, a + NX + 2, a + NX + 1], 1)


XY, QUADS = plate()
NODE_IDS, ELEMENT_IDS = 10 * np.arange(NODES) + 7, 3 * np.arange(ELEMENTS) + 100
BOTTOM, CORNERS = np.arange(NX), np.array([0, NX, NODES - 1])  # members of the side set (side 1) and of the node set


def my_part(comm, rng):
    """Return the elements of this rank, some of them shared, in a rank-dependent order."""
    of = rng.integers(comm.size, size=ELEMENTS)
    also = rng.integers(comm.size, size=ELEMENTS)
    mine = np.flatnonzero((of == comm.rank) | (also == comm.rank))
    return np.random.default_rng(comm.rank).permutation(mine)


def mesh_of(mine):
    """Return an ExodusMesh of these elements, its nodes, and its elements in the order of the blocks."""
    nodes = np.unique(QUADS[mine])[::-1]
    place = np.full(NODES, -1)
    place[nodes] = np.arange(len(nodes))
    halves = [mine[mine < LEFT], mine[mine >= LEFT]]
    order = np.concatenate(halves)
    low = np.flatnonzero(np.isin(order, BOTTOM))
    corners = place[CORNERS][place[CORNERS] >= 0]
    mesh = ExodusMesh(
        node_ids=NODE_IDS[nodes], coordinates=XY[nodes], node_attributes=1.5 * nodes,
        blocks=[dict(ids=ELEMENT_IDS[h], nodes=place[QUADS[h]], attributes=np.stack([h, -h], 1)) for h in halves],
        node_sets={5: dict(members=corners, factors=nodes[corners] / 4)},
        side_sets=[dict(members=low, sides=np.ones(len(low), int), factors=np.stack([order[low], order[low] + .5], 1))],
        element_sets=[dict(members=low, attributes=order[low] * 1.0)])
    return mesh, nodes, order


def define(x):
    x.init(title="a plate", dims=2, coordinate_names=["east", "north"], node_attributes=1)
    x.define([dict(kind="element block", id=1, topology="QUAD4", name="left", attributes=2),
              dict(kind="element_block", id=9, topology="quad", nodes=4, name="right", attributes=2),
              dict(kind=tutti.EXODUS_NODE_SET, id=5, name="corners")])
    x.define(kind="side set", id=6, name="below")
    x.define(kind="element set", id=7, attributes=1)
    x.variables("nodal", ["temperature"])
    x.variables("element block", ["stress", "damage"])
    x.variables("global", ["energy", "work"])
    x.variables("side set", ["flux"])


def write(comm, rng, path, steps=3, **options):
    mine = my_part(comm, rng)
    with Exodus.create(comm, path, level="visible", **options) as x:
        define(x)
        x.truth("element block", [[1, 1], [1, 0]])
        x.attribute_names("element block", 1, ["size", "minus"])
        x.attribute_names("nodal", 0, ["weight"])
        x.property("element block", "material", [3, -4])
        x.put_qa([("test", "1", "today", "now")])
        x.put_info(["first line", "second"])
        mesh, nodes, order = mesh_of(mine)
        x.put_mesh(mesh)
        h0, h1 = order[order < LEFT], order[order >= LEFT]
        low = order[np.isin(order, BOTTOM)]
        for step in range(steps):
            with x.step(step / 4):
                x.put({("element block", 1, "stress"): h0 * 2.0 + step, ("element block", 9, "stress"): h1 * 2 + step,
                       ("global", None): [step + .25, step + .5]}, temperature=(nodes * 10 + step).astype(np.float32))
                x.put_start({("side set", 6, "flux"): low + 100.0 * step}).wait()
        assert x.steps == (steps if not options.get("steps_per_file") else x.steps) and x.path.startswith(path)
    return mine


def where(ids, all_ids):
    at = np.searchsorted(all_ids, ids)
    np.testing.assert_array_equal(all_ids[at], ids)
    return at


def check_mesh(x, mesh, halo=False):
    """Check the part of the plate on this rank; returns its nodes and the elements of each block."""
    nodes = where(mesh.node_ids, NODE_IDS)
    np.testing.assert_array_equal(mesh.coordinates, XY[nodes])
    np.testing.assert_array_equal(mesh.node_attributes[:, 0], 1.5 * nodes)
    elements = []
    for number, block in enumerate(mesh.blocks):
        e = where(block["ids"], ELEMENT_IDS)
        np.testing.assert_array_equal(nodes[block["nodes"]], QUADS[e])
        np.testing.assert_array_equal(block["attributes"], np.stack([e, -e], 1))
        own = x.own_elements("element block", number)
        assert own <= len(e) and (halo or own == len(e))
        elements.append(e)
    order = np.concatenate(elements)
    sides = mesh.side_sets[0]
    low = order[sides["members"]]
    assert sorted(low) == sorted(set(order) & set(BOTTOM)) and (sides["sides"] == 1).all()
    np.testing.assert_array_equal(sides["factors"].reshape(-1, 2), np.stack([low, low + .5], 1))
    corners = nodes[mesh.node_sets[0]["members"]]
    assert sorted(corners) == sorted(set(CORNERS) & set(nodes))
    np.testing.assert_array_equal(mesh.node_sets[0]["factors"], corners / 4)
    np.testing.assert_array_equal(mesh.element_sets[0]["attributes"][:, 0], order[mesh.element_sets[0]["members"]])
    return nodes, elements, low


def test_written_and_read(comm, rng, path):
    write(comm, rng, path)
    with Exodus.open(comm, path) as x:
        rank = rng.integers(comm.size, size=ELEMENTS)
        lo, hi = ELEMENTS * comm.rank // comm.size, ELEMENTS * (comm.rank + 1) // comm.size
        for how in (dict(), dict(by="curve"), dict(by="metis", halo=1), dict(by="root"),
                    dict(by="list", first=lo, rank=rank[lo:hi])):
            mesh = x.get_mesh(**how)
            nodes, elements, low = check_mesh(x, mesh, "halo" in how)
            own = sum(comm.allgather(x.own_elements(number=0) + x.own_elements("element block", 1)))
            assert own == ELEMENTS
            if how.get("by") == "root":
                assert comm.rank == 0 or not len(nodes)
            if how.get("by") == "list":
                assert set(np.concatenate(elements)) == set(np.flatnonzero(rank == comm.rank))
            for step in range(1, 4):
                np.testing.assert_array_equal(x.get(step, "temperature"), nodes * 10.0 + step - 1)
            both = x.get(2, ("element block", 1, "stress"), ("element block", 9, "stress"), ("side set", 6, "flux"))
            np.testing.assert_array_equal(both["element block", 1, "stress"], elements[0] * 2 + 1)
            np.testing.assert_array_equal(both["element block", 9, "stress"], elements[1] * 2 + 1)
            np.testing.assert_array_equal(both["side set", 6, "flux"], low + 100)
        out = np.zeros(len(nodes), np.float32)
        x.get_start(3, {"temperature": out}).wait()
        np.testing.assert_array_equal(out, nodes * 10 + 2)
        filled = x.get(1, "temperature", out={"temperature": out})
        assert filled["temperature"] is out and (out == nodes * 10).all()
        np.testing.assert_array_equal(x.follow(1, 3, "temperature"), nodes * 10 + np.arange(3)[:, None])
        np.testing.assert_array_equal(x.get(3, ("global", None)), [2.25, 2.5])
        assert x.get(2, ("global", "work")) == [1.5]
        np.testing.assert_array_equal(x.times(), [0, .25, .5])
        np.testing.assert_array_equal(x.times(2, 1), [.25])
        with x.decomposition(ids=NODE_IDS[[3, 1]]) as two, x.decomposition("element block", 9, index=[0]) as one:
            np.testing.assert_array_equal(x.follow(1, 3, "temperature", entries=two), [[30, 10], [31, 11], [32, 12]])
            assert x.get(1, ("element block", 9, "stress"), entries=one) == [2 * LEFT] and one.entries == 1
            xs, = x.get_arrays([dict(array_kind="coordinates", component=0, entries=two)])
            np.testing.assert_array_equal(xs, XY[[3, 1], 0])
        assert x.verify() > 0
        # Write the mesh that was read to another file.
        mesh = x.get_mesh()
        with Exodus.create(comm, path + ".again") as again:
            p = x.parameters()
            again.init(title=p["title"], dims=2, coordinate_names=p["coordinate_names"], node_attributes=1)
            again.define(e for k in ("element block", "node set", "side set", "element set") for e in x.entities(k))
            again.put_mesh(mesh)
        with Exodus.open(comm, path + ".again") as again:
            check_mesh(again, again.get_mesh("curve"))


def test_looking(comm, rng, path):
    write(comm, rng, path)
    with Exodus.open(comm, path) as x:
        p = x.parameters()
        assert (p["title"], p["dims"], p["nodes"], p["elements"]) == ("a plate", 2, NODES, ELEMENTS)
        assert p["coordinate_names"] == ["east", "north"]
        left, right = x.entities("element block")
        assert (left.id, left.name, left.topology, left.entries, left.nodes) == (1, "left", "QUAD4", LEFT, 4)
        assert x.count("node set") == 1 and x.entity("element_block", 1) == right and x.find("element block", 9) == 1
        assert x.variable_names("element block") == ["stress", "damage"] and x.variable_count("nodal") == 1
        assert x.has("element block", 1, "damage") and not x.has("element block", 9, "damage")
        assert not x.has("element block", 1, "nothing")
        assert x.attributes("element block", 1) == ["size", "minus"] and x.attributes("nodal") == ["weight"]
        assert {k: list(v) for k, v in x.properties("element block").items()} == {"material": [3, -4]}
        assert x.qa() == [("test", "1", "today", "now")] and x.info() == ["first line", "second"]
        assert x.array_size("connectivity", "element block", 1) == (LEFT, 4, np.int32)
        ids, connectivity = x.get_arrays([dict(array_kind="ids"), dict(array_kind="connectivity", kind="element block", id=9, first=1, n=2)])
        np.testing.assert_array_equal(ids, NODE_IDS)
        np.testing.assert_array_equal(connectivity, QUADS[LEFT + 1:LEFT + 3] + 1)
        raises(lambda: x.find("element block", 77))
        raises(lambda: x.array_size("map", "node map", 1))
        at, kind = x.array_offset("coordinates", component=1)
        np.testing.assert_array_equal(np.fromfile(path, kind, NODES, offset=at), XY[:, 1])
        at, kind = x.field_offset(2, "temperature")
        np.testing.assert_array_equal(np.fromfile(path, kind, NODES, offset=at), np.arange(NODES) * 10 + 1)
        assert x.warning == "" and x.mesh_warning == "" and not x.refresh() and repr(x).endswith("open>")
        raises(lambda: x.get(1, "temperature"))  # no mesh was read
    raises(lambda: x.steps)
    assert exodus.kind_name(6) == "side set" and exodus.topology_nodes("HEX8") == 8 and exodus.topology_sides("hex8", dims=3) == 6
    assert exodus.side_nodes("QUAD4", 1, dims=2) == (0, 1) and exodus.side_nodes("tri", 1, 3, dims=2) == (0, 1)


def test_goes_on(comm, rng, path):
    write(comm, rng, path)
    with Exodus.open(comm, path, "r+", level="visible") as x, Exodus.open(comm, path) as reader:
        x.notes["run"] = 7
        x.notes["who"] = "somebody"
        x.notes["numbers"] = [1.5, 2.5]
        assert sorted(x.notes) == ["numbers", "run", "who"] and len(x.notes) == 3 and x.notes["who"] == "somebody"
        del x.notes["who"]
        assert x.notes.get("who") is None and x.notes["run"] == 7 and list(x.notes["numbers"]) == [1.5, 2.5]
        x.get_mesh()
        x.erase_after(1)
        assert x.steps == 1 and reader.refresh() and reader.steps == 1
        with x.decomposition(n=NODES if comm.rank == 0 else 0) as all_nodes, x.step(5):
            x.put(temperature=np.arange(NODES if comm.rank == 0 else 0), entries=all_nodes)
        np.testing.assert_array_equal(x.times(), [0, 5])
        x.begin(6)
        x.discard()
        x.begin(6)
        x.commit()
        try:
            with x.step(7):
                if comm.rank == comm.size - 1:
                    raise KeyError("here")
                x.put(("no",))
        except (KeyError, Error):
            pass
        assert x.steps == 3 and reader.refresh() and reader.steps == 3
        np.testing.assert_array_equal(x.get(3, "temperature"), 0)


def test_started(comm, rng, path):
    """Test nonblocking commits, statistics and progress callbacks."""
    write(comm, rng, path, steps=1)
    seen = []
    with Exodus.open(comm, path, "r+", level="visible") as x:
        x.get_mesh()
        before = x.stats()
        x.on_progress(lambda done, total, phase: seen.append(phase))
        x.begin(5)
        with x.decomposition(n=NODES if comm.rank == 0 else 0) as all_nodes:
            x.put(temperature=np.arange(NODES if comm.rank == 0 else 0), entries=all_nodes)
        x.on_progress(None)
        request = x.commit_start()
        raises(lambda: x.begin(6), Error)
        request.wait()
        assert x.steps == 2 and seen and x.stats().operations > before.operations

        def fail(*_):
            raise KeyError("here")
        x.on_progress(fail)
        raises(lambda: x.get(2, "temperature"), KeyError)
        x.on_progress(None)
        x.get(2, "temperature")


def test_files(comm, rng, path):
    write(comm, rng, path, steps_per_file=2, nemesis=True)
    with Exodus.open(comm, path) as x:
        assert x.steps == 2
        check_mesh(x, x.get_mesh())
        mine = x.nemesis(comm.rank)
        assert mine.processors == comm.size and x.nemesis(-1) is None
        assert len(mine.nodes) == mine.internal_nodes + mine.border_nodes + mine.external_nodes
        assert sum(comm.allgather(len(mine.elements))) == ELEMENTS
        assert len(mine.node_map_nodes) == len(mine.node_map_processors) == mine.node_map_start[-1]
        assert x.next_file() and x.path != path and x.steps == 1
        nodes, *_ = check_mesh(x, x.get_mesh("curve"))
        np.testing.assert_array_equal(x.get(1, "temperature"), nodes * 10 + 2)
        assert not x.next_file()


def test_arrays_and_topologies(comm, path):
    """Test meshes written array by array, polygons, and a second mesh."""
    with Exodus.create(comm, path, real_bytes=4, overwrite=True) as x:
        x.init(dims=2, nodes=NODES, elements=ELEMENTS, has_element_ids=1)
        x.define(kind="element block", id=1, topology="QUAD4", entries=ELEMENTS)
        x.define(kind="node map", id=4)
        x.variables("nodal", ["u"])
        x.end_definitions()
        lo, hi = ELEMENTS * comm.rank // comm.size, ELEMENTS * (comm.rank + 1) // comm.size
        x.put_arrays([dict(array_kind="connectivity", kind="element block", id=1, first=lo, values=QUADS[lo:hi] + 1),
                      dict(array_kind="ids", kind="element block", first=lo, values=ELEMENT_IDS[lo:hi])])
        share = NODES if comm.rank == 0 else 0
        x.put_arrays([dict(array_kind="coordinates", component=k, values=XY[:share, k].copy()) for k in range(2)])
        with x.decomposition(n=share) as entries, x.step(0):
            x.put(u=np.arange(share), entries=entries)
        x.new_topology()
        x.init(dims=2)
        x.define(kind="element block", id=2, topology="nsided")
        share = comm.rank == 0
        x.put_mesh(node_ids=np.arange(5 * share) + 1, coordinates=[np.arange(5. * share), np.zeros(5 * share)],
                   blocks={2: dict(ids=[1, 2], nodes=[0, 1, 2, 2, 3, 4, 0], start=[0, 3, 7])} if share else None)
        with x.step(1):
            x.put(u=np.arange(5 * share) + .5)
    with Exodus.open(comm, path) as x:
        mesh = x.get_mesh()
        np.testing.assert_array_equal(mesh.coordinates, XY[mesh.node_ids - 1])
        np.testing.assert_array_equal(x.get(1, "u"), mesh.node_ids - 1)
        assert x.next_file()
        mesh = x.get_mesh(by="root")
        if comm.rank == 0:
            block = mesh.blocks[0]
            assert list(block["start"]) == [0, 3, 7] and list(mesh.node_ids[block["nodes"]]) == [1, 2, 3, 3, 4, 5, 1]
            np.testing.assert_array_equal(x.get(1, "u"), np.arange(5) + .5)
        else:
            assert not len(x.get(1, "u"))


HEXES = 5  # number of hexahedra in the column
HEX_EDGES = ((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7))
HEX_FACES = ((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7))


def column():
    """Return a complete column of hexahedra: coordinates; nodes, edges and faces of elements; nodes of edges and of
    faces."""
    xyz = np.array([(x, y, z) for z in range(HEXES + 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)
    hexes = 4 * np.arange(HEXES)[:, None] + np.arange(8)
    out = [xyz, hexes]
    for table in (HEX_EDGES, HEX_FACES):
        known, nodes = {}, []
        places = np.zeros((HEXES, len(table)), int)
        for (e, s), _ in np.ndenumerate(places):
            one = hexes[e][list(table[s])]
            places[e, s] = known.setdefault(tuple(sorted(one)), len(nodes))
            if places[e, s] == len(nodes):
                nodes.append(one)
        out += [places, np.array(nodes)]
    return out


def local(wanted, total):
    """Return the selected entries in descending order, and the local index of each of all entries (-1: not selected)."""
    some = np.unique(wanted)[::-1]
    place = np.full(total, -1)
    place[some] = np.arange(len(some))
    return some, place


def test_edges_and_faces(comm, rng, path):
    """Test blocks of edges and faces with ids, results and sets, and elements that refer to them."""
    xyz, hexes, edges, edge_nodes, faces, face_nodes = column()
    mine = np.flatnonzero((rng.integers(comm.size, size=HEXES) == comm.rank) | (rng.integers(comm.size, size=HEXES) == comm.rank))
    nodes, node_at = local(hexes[mine], len(xyz))
    my_edges, edge_at = local(edges[mine], len(edge_nodes))
    my_faces, face_at = local(faces[mine], len(face_nodes))
    long = np.flatnonzero(my_edges % 3 == 0)
    with Exodus.create(comm, path, level="visible") as x:
        x.init(dims=3)
        x.define([dict(kind="element block", id=1, topology="HEX8", edges=12, faces=6),
                  dict(kind="edge block", id=2, topology="EDGE2", name="edges", attributes=1),
                  dict(kind="face block", id=3, topology="QUAD4", name="faces"), dict(kind="edge set", id=4), dict(kind="face set", id=5)])
        x.variables("edge block", ["current"])
        x.variables("face block", ["flux"])
        x.variables("edge set", ["charge"])
        x.put_mesh(node_ids=nodes + 1, coordinates=xyz[nodes],
                   blocks=[dict(ids=mine + 1, nodes=node_at[hexes[mine]], edges=edge_at[edges[mine]], faces=face_at[faces[mine]])],
                   edge_blocks={2: dict(ids=my_edges + 100, nodes=node_at[edge_nodes[my_edges]], attributes=my_edges / 2)},
                   face_blocks=[dict(ids=my_faces + 200, nodes=node_at[face_nodes[my_faces]])],
                   edge_sets=[dict(members=long, sides=np.where(my_edges[long] % 2, -1, 1), factors=my_edges[long] / 8)],
                   face_sets=[dict(members=np.arange(len(my_faces)), sides=np.ones(len(my_faces), int))])
        with x.step(0):
            x.put({("edge block", 2, "current"): my_edges * 2.0, ("face block", 3, "flux"): (my_faces * 3).astype(np.float32),
                   ("edge set", 4, "charge"): my_edges[long] * 5.0})
    with Exodus.open(comm, path) as x:
        assert (x.parameters()["edges"], x.parameters()["faces"]) == (len(edge_nodes), len(face_nodes))
        assert x.entity("edge block", 0)[:6] == ("edge block", 2, "edges", "EDGE2", len(edge_nodes), 2)
        for how in (dict(), dict(by="curve", halo=1), dict(by="root")):
            mesh = x.get_mesh(**how)
            at, e, f, block = mesh.node_ids - 1, mesh.edge_blocks[0], mesh.face_blocks[0], mesh.blocks[0]
            which, edge_ids, face_ids = block["ids"] - 1, e["ids"] - 100, f["ids"] - 200
            np.testing.assert_array_equal(at[block["nodes"]], hexes[which])
            np.testing.assert_array_equal(edge_ids[block["edges"]], edges[which])
            np.testing.assert_array_equal(face_ids[block["faces"]], faces[which])
            np.testing.assert_array_equal(np.sort(at[e["nodes"]], 1), np.sort(edge_nodes[edge_ids], 1))
            np.testing.assert_array_equal(at[f["nodes"]], face_nodes[face_ids])
            np.testing.assert_array_equal(e["attributes"][:, 0], edge_ids / 2)
            in_set = edge_ids[mesh.edge_sets[0]["members"]]
            assert sorted(in_set) == sorted(i for i in edge_ids if i % 3 == 0)
            np.testing.assert_array_equal(mesh.edge_sets[0]["sides"], np.where(in_set % 2, -1, 1))
            np.testing.assert_array_equal(mesh.edge_sets[0]["factors"], in_set / 8)
            assert sorted(face_ids[mesh.face_sets[0]["members"]]) == sorted(face_ids)
            got = x.get(1, ("edge block", 2, "current"), ("face block", 3, "flux"), ("edge set", 4, "charge"))
            np.testing.assert_array_equal(got["edge block", 2, "current"], edge_ids * 2)
            np.testing.assert_array_equal(got["face block", 3, "flux"], face_ids * 3)
            np.testing.assert_array_equal(got["edge set", 4, "charge"], in_set * 5)
        with x.decomposition("face block", 3, ids=[201, 200]) as two:
            np.testing.assert_array_equal(x.get(1, ("face block", 3, "flux"), entries=two), [3, 0])
        rows, = x.get_arrays([dict(array_kind="faces", kind="element block", id=1)])
        order = x.get_arrays([dict(array_kind="ids", kind="face block")])[0] - 200
        np.testing.assert_array_equal(order[rows - 1], faces)


def test_polyhedra(comm, path):
    """Test the same column as polyhedra: faces with their numbers of nodes, elements with their faces."""
    xyz, _, _, _, faces, face_nodes = column()
    share = comm.rank == comm.size - 1
    with Exodus.create(comm, path) as x:
        x.init(dims=3)
        x.define([dict(kind="element block", id=1, topology="nfaced"), dict(kind="face block", id=3, topology="nsided")])
        if share:
            x.put_mesh(node_ids=np.arange(len(xyz)) + 1, coordinates=xyz,
                       blocks=[dict(ids=np.arange(HEXES) + 1, nodes=faces, start=6 * np.arange(HEXES + 1))],
                       face_blocks=[dict(ids=np.arange(len(face_nodes)) + 1, nodes=face_nodes,
                                         start=4 * np.arange(len(face_nodes) + 1))])
        else:
            x.put_mesh()
    with Exodus.open(comm, path) as x:
        mesh = x.get_mesh()
        block, f = mesh.blocks[0], mesh.face_blocks[0]
        assert sum(comm.allgather(x.own_elements())) == HEXES
        for i, name in enumerate(block["ids"] - 1):
            mine = block["nodes"][block["start"][i]:block["start"][i + 1]]
            np.testing.assert_array_equal(f["ids"][mine] - 1, faces[name])
            for face in mine:
                np.testing.assert_array_equal(mesh.node_ids[f["nodes"][f["start"][face]:f["start"][face + 1]]] - 1,
                                              face_nodes[f["ids"][face] - 1])


def test_wrong(comm, rng, path):
    culprit = int(rng.integers(comm.size))
    raises(lambda: Exodus(), TypeError)
    raises(lambda: exodus.exodus_options(level="high"), ValueError)
    refused(comm, culprit, lambda: Exodus.create(comm, path, level="high"), lambda: Exodus.create(comm, path), ValueError)
    refused(comm, culprit, lambda: Exodus.open(comm, path, "rubbish"), lambda: Exodus.open(comm, path), ValueError)
    with Exodus.create(comm, path, level="visible") as x:
        def all_refuse(bad, good, *kinds):
            refused(comm, culprit, bad, good, *kinds)

        all_refuse(lambda: x.init(dims="two"), lambda: x.init(dims=2), TypeError)
        all_refuse(lambda: x.init(dims=2, rubbish=1), lambda: x.init(dims=2), TypeError)
        define(x)
        one = dict(kind="node set", id=50)
        all_refuse(lambda: x.define([dict(one, kind="heap")]), lambda: x.define([one]), ValueError)
        all_refuse(lambda: x.define([dict(one, nodes=1 << 40)]), lambda: x.define([one]), OverflowError)
        all_refuse(lambda: x.variables("node set", "text"), lambda: x.variables("node set", ["text"]), TypeError)
        all_refuse(lambda: x.truth("element block", [[1]]), lambda: x.truth("element block", np.ones((2, 2))), ValueError)
        all_refuse(lambda: x.attribute_names("element block", 1, [1, 2]),
                   lambda: x.attribute_names("element block", 1, ["a", "b"]), TypeError)
        all_refuse(lambda: x.property("element block", "p", [1]), lambda: x.property("element block", "p", [1, 2]), ValueError)
        all_refuse(lambda: x.put_qa([("a", "b")]), lambda: x.put_qa([("a", "b", "c", "d")]), ValueError)
        all_refuse(lambda: x.put_info([7]), lambda: x.put_info(["7"]), TypeError)
        good, nodes, order = mesh_of(my_part(comm, rng))
        for wrong in (dict(node_ids=[1] * (len(nodes) + 1)), dict(coordinates=np.zeros((len(nodes), 3))), dict(blocks=[{}]),
                      dict(blocks=[dict(nodes=[1]), {}]), dict(blocks=[dict(rubbish=1), {}]), dict(blocks={3: {}}),
                      dict(node_sets=[dict(members=[.5])]), dict(side_sets=[dict(members=[0], sides=[1, 2])]),
                      dict(side_sets=[dict(members=[0], sides=[1], factors=[1, 2, 3])]), dict(rubbish=1)):
            all_refuse(lambda: x.put_mesh(**{**vars(good), **wrong}), lambda: x.put_mesh(good), ValueError, TypeError)
        all_refuse(lambda: x.put_mesh(7), lambda: x.put_mesh(good), TypeError)
        x.put_mesh(good)
        all_refuse(lambda: x.begin("now"), lambda: x.begin(0), ValueError)
        t = np.zeros(len(nodes))
        with x.step(0):
            for wrong in ({"temperature": np.zeros(len(nodes) + 1)}, {"temperature": "text"}, {("node set", "x"): t},
                          {("heap", 1, "x"): t}, {("element block", 77, "stress"): t}, {7: t}):
                all_refuse(lambda: x.put(wrong), lambda: x.put(temperature=t), ValueError, TypeError, Error)
                all_refuse(lambda: x.put_start(wrong).wait(), lambda: x.put_start(temperature=t).wait(), ValueError, TypeError,
                           Error)
            all_refuse(lambda: waits_later(comm, x.put_start, {"temperature": np.zeros(len(nodes) + 1)}),
                       lambda: waits_later(comm, x.put_start, {"temperature": t}), ValueError)
            all_refuse(lambda: x.put(temperature=t, entries=7), lambda: x.put(temperature=t), TypeError)
            x.put(temperature=t + 1)
        refused(comm, culprit, lambda: leave(x), lambda: put_in(x, t), KeyError, block=True)
        assert x.steps == 1
        all_refuse(lambda: x.get_mesh("rubbish"), x.get_mesh, ValueError)
        x.get_mesh()
        all_refuse(lambda: x.get(1, 7), lambda: x.get(1, "temperature"), TypeError)
        all_refuse(lambda: x.get(1, "temperature", out={"temperature": np.zeros(1000)}), lambda: x.get(1, "temperature"),
                   ValueError)
        all_refuse(*[lambda: x.get_start(1, {"temperature": None}).wait()] * 2, TypeError)
        all_refuse(lambda: x.follow(1, 1, 7), lambda: x.follow(1, 1, "temperature"), TypeError)
        all_refuse(lambda: x.times(1, "x"), lambda: x.times(1, 1), TypeError)
        all_refuse(lambda: x.decomposition(), lambda: x.decomposition(n=0), TypeError)
        all_refuse(lambda: x.decomposition("heap", n=0), lambda: x.decomposition(n=0), ValueError)
        piece = dict(array_kind="ids")
        all_refuse(lambda: x.get_arrays([dict(array_kind="heap")]), lambda: x.get_arrays([piece]), ValueError)
        all_refuse(lambda: x.get_arrays([dict(piece, rubbish=1)]), lambda: x.get_arrays([piece]), TypeError)
        all_refuse(lambda: x.get_arrays([dict(piece, values=np.zeros(3), n=4)]), lambda: x.get_arrays([piece]), ValueError)
        all_refuse(lambda: x.put_arrays([piece]), lambda: x.put_arrays([dict(piece, values=NODE_IDS)]), TypeError)
        all_refuse(lambda: x.erase_after("x"), lambda: x.erase_after(1), TypeError)
        all_refuse(lambda: x.nemesis("x"), lambda: x.nemesis(-1), TypeError)
        all_refuse(lambda: x.notes.__setitem__(7, 7), lambda: x.notes.__setitem__("7", 7), TypeError)
        np.testing.assert_array_equal(x.get(1, "temperature"), 1)


def leave(x):
    with x.step(9):
        raise KeyError("left") from Error(tutti.ERR_MISMATCH, "left")


def put_in(x, t):
    with x.step(9):
        x.put(temperature=t)


def test_container(comm, path):
    for container in ("native", "netcdf"):
        with Dataset(comm, path + container, "x+", level="visible", container=container) as d:
            d.grid("g", (4,))
            d.variable("v", "g", ">f8")
            with d.decomposition("g", n=4 if comm.rank == 0 else 0) as mine, d.state(0, 0):
                d.put(mine, v=np.arange(mine.entries, dtype=float))
            assert d.container == container
        with Dataset(comm, path + container) as d:
            assert d.container == container
    refused(comm, 0, lambda: Dataset(comm, path, "x+", container="bag"), lambda: Dataset(comm, path, "x+"), ValueError)
