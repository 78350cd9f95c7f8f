/* tutti export --xdmf of an Exodus file: write an XML file by which the "XDMF Reader" of ParaView reads
 * results in the Exodus file itself.  XDMF does not support the mesh layout of Exodus (separate coordinates,
 * node numbers from 1, another node order), so that the mesh is copied to a companion file, NAME.xmf.bin.
 * There is one grid per block and step.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/cmd_exodus.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 27 };

/* XDMF names of VTK cell types. */
static const struct {
    int cell;
    const char *name;
} topology_table[] = {
    {1, "Polyvertex"},     {3, "Polyline"},    {5, "Triangle"},         {9, "Quadrilateral"},
    {10, "Tetrahedron"},   {12, "Hexahedron"}, {13, "Wedge"},           {14, "Pyramid"},
    {21, "Edge_3"},        {22, "Triangle_6"}, {23, "Quadrilateral_8"}, {24, "Tetrahedron_10"},
    {25, "Hexahedron_20"}, {26, "Wedge_15"},   {27, "Pyramid_13"},      {28, "Quadrilateral_9"},
    {29, "Hexahedron_27"},
};

typedef struct {
    const char *name; /* name of the topology; NULL: the block cannot be shown */
    int nodes;
    tutti_off at; /* offset of the block's connectivity in the companion file */
} shown_block;

typedef struct {
    const data_config *config;
    tutti_exodus *x;
    exodus_outline o;
    const tutti_exodus_mesh *m;
    shown_block *block;
    FILE *f, *companion;
    char *companion_name; /* path relative to the XML file */
    char *data_name;
    tutti_off at; /* current size of the companion file */
} xdmf;

/* ---- the companion file */

static void append_bytes(xdmf *k, const void *bytes, size_t n) {
    fwrite(bytes, 1, n, k->companion);
    k->at += (tutti_off)n;
}

/* ---- the XML file */

static void item_write(const xdmf *k, const char *type, const char *shape, int own, tutti_off at,
                       int bytes) {
    fprintf(k->f,
            "<DataItem Dimensions=\"%s\" NumberType=\"%s\" Precision=\"%d\" Format=\"Binary\" "
            "Endian=\"%s\" Seek=\"%lld\">",
            shape, type, bytes, own && CLI_IS_LITTLE_ENDIAN ? "Little" : "Big", (long long)at);
    cli_xml_text(k->f, own ? k->companion_name : k->data_name);
    fputs("</DataItem>\n", k->f);
}

static void attribute_write(const xdmf *k, const char *name, const char *centre, tutti_count n,
                            tutti_off at, tutti_type type) {
    char shape[32];
    snprintf(shape, sizeof shape, "%lld", (long long)n);
    fprintf(k->f, "          <Attribute Name=\"");
    cli_xml_text(k->f, name);
    fprintf(k->f, "\" Center=\"%s\" AttributeType=\"Scalar\">\n            ", centre);
    item_write(k, type == TUTTI_FLOAT32 || type == TUTTI_FLOAT64 ? "Float" : "Int", shape, 0, at,
               (int)tutti_type_size(type));
    fputs("          </Attribute>\n", k->f);
}

/* Print references to the variables of nodes or of a block in a step. */
static void variables_write(const xdmf *k, tutti_exodus_kind kind, tutti_count number,
                            tutti_count step) {
    const exodus_table *t = &k->o.of[kind];
    const int nodal = kind == TUTTI_EXODUS_NODAL;
    for (int v = 0; v < t->variables && step > 0; v++) {
        const tutti_exodus_field f = {
            .kind = kind, .id = t->entity[number].id, .variable = t->variable[v]};
        tutti_off at = 0;
        tutti_type type = TUTTI_FLOAT64;
        if (data_wanted(k->config, t->variable[v]) && t->has[number * t->variables + v] &&
            tutti_exodus_field_offset(k->x, step, &f, &at, &type) == TUTTI_OK)
            attribute_write(k, t->variable[v], nodal ? "Node" : "Cell",
                            nodal ? k->o.p.nodes : t->entity[number].entries, at, type);
    }
}

static void write_xdmf_step(const xdmf *k, tutti_count step, double time) {
    fprintf(k->f,
            "      <Grid Name=\"step %lld\" GridType=\"Collection\" CollectionType=\"Spatial\">\n",
            (long long)step);
    if (step > 0) fprintf(k->f, "        <Time Value=\"%.17g\"/>\n", time);
    for (tutti_count b = 0; b < k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].n; b++) {
        const tutti_exodus_entity *e = &k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].entity[b];
        const shown_block *s = &k->block[b];
        char shape[64];
        if (!s->name || e->entries == 0) continue;
        fputs("        <Grid Name=\"", k->f);
        if (e->name[0])
            cli_xml_text(k->f, e->name);
        else
            fprintf(k->f, "block %lld", (long long)e->id);
        fprintf(k->f,
                "\" GridType=\"Uniform\">\n          <Topology TopologyType=\"%s\" "
                "NumberOfElements=\"%lld\"",
                s->name, (long long)e->entries);
        if (s->nodes <= 2) fprintf(k->f, " NodesPerElement=\"%d\"", s->nodes);
        fputs(">\n            ", k->f);
        snprintf(shape, sizeof shape, "%lld %d", (long long)e->entries, s->nodes);
        item_write(k, "Int", shape, 1, s->at, 8);
        fputs("          </Topology>\n          <Geometry GeometryType=\"XYZ\">\n            ",
              k->f);
        snprintf(shape, sizeof shape, "%lld 3", (long long)k->o.p.nodes);
        item_write(k, "Float", shape, 1, 0, 8);
        fputs("          </Geometry>\n", k->f);
        const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_IDS, .kind = TUTTI_EXODUS_NODAL};
        tutti_off at = 0;
        tutti_type type = TUTTI_INT32;
        if (k->o.p.has_node_ids && tutti_exodus_array_offset(k->x, &a, &at, &type) == TUTTI_OK)
            attribute_write(k, "GlobalNodeId", "Node", k->o.p.nodes, at, type);
        variables_write(k, TUTTI_EXODUS_NODAL, 0, step);
        variables_write(k, TUTTI_EXODUS_ELEMENT_BLOCK, b, step);
        fputs("        </Grid>\n", k->f);
    }
    fputs("      </Grid>\n", k->f);
}

static int steps_write(const xdmf *k) {
    tutti_count first = 1, last = 0;
    if (exodus_steps_chosen(k->config, tutti_exodus_steps(k->x), &first, &last)) return 1;
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
          "<Xdmf Version=\"2.0\">\n  <Domain>\n",
          k->f);
    if (last < first) write_xdmf_step(k, 0, 0);
    if (last >= first)
        fputs("    <Grid Name=\"steps\" GridType=\"Collection\" CollectionType=\"Temporal\">\n",
              k->f);
    for (tutti_count s = first; s <= last; s++) {
        double time = 0;
        if (tutti_exodus_times(k->x, s, 1, &time) != TUTTI_OK) return cli_error_tutti();
        write_xdmf_step(k, s, time);
    }
    if (last >= first) fputs("    </Grid>\n", k->f);
    fputs("  </Domain>\n</Xdmf>\n", k->f);
    return 0;
}

/* ---- export */

static int write_files(xdmf *k, const char *path) {
    char *companion = cli_format("%s.bin", path);
    k->companion_name = cli_strdup(cli_base_name(companion));
    k->data_name = cli_path_from(k->config->path[0], path);
    const tutti_count n = k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].n;
    k->block = cli_malloc((size_t)n * sizeof *k->block);
    memset(k->block, 0, (size_t)n * sizeof *k->block);
    k->companion = cli_output_open(companion);
    int failed = !k->companion;
    if (!failed) {
        for (tutti_count i = 0; i < k->m->nodes; i++) {
            double xyz[3] = {0, 0, 0};
            for (int d = 0; d < k->o.p.dims && d < 3; d++) xyz[d] = exodus_coordinate(k->m, d, i);
            append_bytes(k, xyz, sizeof xyz);
        }
        for (tutti_count b = 0; b < n; b++) {
            const tutti_exodus_entity *e = &k->o.of[TUTTI_EXODUS_ELEMENT_BLOCK].entity[b];
            shown_block *s = &k->block[b];
            int order[MOST], cell = exodus_vtk_cell(e->topology, e->nodes, &s->nodes, order);
            if (cell == 34) { /* XDMF has no triangle of 7 nodes: omit the last node */
                cell = 22;
                s->nodes = 6;
            }
            for (size_t i = 0; i < sizeof topology_table / sizeof *topology_table; i++)
                if (topology_table[i].cell == cell) s->name = topology_table[i].name;
            s->at = k->at;
            if (!s->name && e->entries > 0)
                fprintf(stderr, "tutti export: element block %lld is left out: XDMF has no %s\n",
                        (long long)e->id, cli_shown(e->topology));
            for (tutti_count i = 0; i < k->m->blocks[b].n && s->name; i++)
                for (int j = 0; j < s->nodes; j++) {
                    const int64_t node = k->m->blocks[b].nodes[i * e->nodes + order[j]];
                    append_bytes(k, &node, sizeof node);
                }
        }
        failed = cli_output_close(k->companion, companion, 0);
    }
    k->f = failed ? NULL : cli_output_open(path);
    if (!failed) failed = !k->f || steps_write(k);
    if (k->f) failed = cli_output_close(k->f, path, failed);
    if (!failed && k->config->json) {
        printf("{\"files\": [");
        cli_json_string(stdout, path);
        printf(", ");
        cli_json_string(stdout, companion);
        printf("]}\n");
    } else if (!failed) {
        printf("%s\n%s\n", path, companion);
    }
    free(companion);
    return failed;
}

int exodus_export_xdmf(const data_config *config) {
    xdmf k = {.config = config};
    const tutti_exodus_distribution deal = {.partitioner = TUTTI_EXODUS_BY_ORDER};
    if (tutti_exodus_open(MPI_COMM_SELF, config->path[0], TUTTI_READ, NULL, &k.x) != TUTTI_OK)
        return cli_error_open(config->path[0], "Exodus file");
    char *path = config->out ? cli_strdup(config->out) : cli_format("%s.xmf", config->path[0]);
    int failed = exodus_outline_read(k.x, &k.o) || exodus_variables_known(config, 1, &k.o);
    if (!failed && tutti_exodus_get_mesh(k.x, &deal, &k.m) != TUTTI_OK) failed = cli_error_tutti();
    if (!failed) failed = write_files(&k, path);
    free(path);
    free(k.block);
    free(k.companion_name);
    free(k.data_name);
    exodus_outline_free(&k.o);
    (void)tutti_exodus_close(&k.x);
    return failed;
}
