/* VTK files.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/vtk.h"

#include <stdlib.h>
#include <string.h>

void *vtk_add(vtk_grid *g, const char *section, const char *name, const char *type, int components,
              tutti_count n) {
    const char last = type[strlen(type) - 1]; /* last digit of Float64, Int32, UInt8 */
    const size_t size = last == '8' ? 1 : last == '2' ? 4 : 8;
    g->array = cli_realloc(g->array, ((size_t)g->arrays + 1) * sizeof *g->array);
    vtk_array *a = &g->array[g->arrays++];
    *a = (vtk_array){.section = section,
                     .name = cli_strdup(name),
                     .type = type,
                     .components = components,
                     .bytes = (size_t)(n * components) * size,
                     .variable = -1};
    a->data = cli_malloc(a->bytes);
    memset(a->data, 0, a->bytes);
    return a->data;
}

void vtk_free(vtk_grid *g) {
    for (int a = 0; a < g->arrays; a++) {
        free(g->array[a].name);
        free(g->array[a].data);
    }
    free(g->array);
    *g = (vtk_grid){.arrays = 0};
}

void vtk_number(vtk_numbers *l, int64_t v) {
    if (l->n == l->capacity) {
        l->capacity = 2 * l->capacity + 1024;
        l->v = cli_realloc(l->v, l->capacity * sizeof *l->v);
    }
    l->v[l->n++] = v;
}

void vtk_add_numbers(vtk_grid *g, const char *name, vtk_numbers *l) {
    int64_t *v = vtk_add(g, "Cells", name, "Int64", 1, (tutti_count)l->n);
    if (l->n > 0) memcpy(v, l->v, l->n * sizeof *v);
    free(l->v);
    *l = (vtk_numbers){.n = 0};
}

void vtk_points(const exodus_outline *o, const tutti_exodus_mesh *m, vtk_grid *g) {
    double *xyz = vtk_add(g, "Points", "Points", "Float64", 3, m->nodes);
    g->points = m->nodes;
    for (int d = 0; d < o->p.dims && d < 3; d++)
        for (tutti_count i = 0; i < m->nodes; i++) xyz[3 * i + d] = exodus_coordinate(m, d, i);
}

/* ---- files */

void vtk_head(FILE *f, const char *type) {
    fprintf(f,
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"%s\" version=\"1.0\" byte_order=\"%s\" "
            "header_type=\"UInt64\">\n",
            type, CLI_IS_LITTLE_ENDIAN ? "LittleEndian" : "BigEndian");
}

/* Write the arrays of a section; offsets are relative to the start of the appended data. */
static void section_write(const vtk_grid *g, FILE *f, const char *section, int of_pieces) {
    uint64_t offset = 0;
    fprintf(f, "      <%s%s>\n", of_pieces ? "P" : "", section);
    for (int a = 0; a < g->arrays; a++) {
        const vtk_array *x = &g->array[a];
        if (strcmp(x->section, section) == 0) {
            fprintf(f, "        <%sDataArray type=\"%s\" Name=\"", of_pieces ? "P" : "", x->type);
            cli_xml_text(f, x->name);
            putc('"', f);
            if (x->components > 1) fprintf(f, " NumberOfComponents=\"%d\"", x->components);
            if (!of_pieces)
                fprintf(f, " format=\"appended\" offset=\"%llu\"", (unsigned long long)offset);
            fputs("/>\n", f);
        }
        offset += x->bytes + sizeof(uint64_t);
    }
    fprintf(f, "      </%s%s>\n", of_pieces ? "P" : "", section);
}

int vtk_write(const vtk_grid *g, const char *path) {
    static const char *const sections[] = {"PointData", "CellData", "Points", "Cells"};
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    vtk_head(f, "UnstructuredGrid");
    fprintf(f, "  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"%lld\" NumberOfCells=\"%lld\">\n",
            (long long)g->points, (long long)g->cells);
    for (int s = 0; s < 4; s++) section_write(g, f, sections[s], 0);
    fputs("    </Piece>\n  </UnstructuredGrid>\n  <AppendedData encoding=\"raw\">\n_", f);
    for (int a = 0; a < g->arrays; a++) {
        const uint64_t bytes = g->array[a].bytes;
        fwrite(&bytes, sizeof bytes, 1, f);
        fwrite(g->array[a].data, 1, g->array[a].bytes, f);
    }
    fputs("\n  </AppendedData>\n</VTKFile>\n", f);
    return cli_output_close(f, path, 0);
}

int vtk_write_pieces(const vtk_grid *g, const char *path, const char *stem, int ranks) {
    FILE *f = cli_output_open(path);
    if (!f) return 1;
    vtk_head(f, "PUnstructuredGrid");
    fputs("  <PUnstructuredGrid GhostLevel=\"0\">\n", f);
    section_write(g, f, "PointData", 1);
    section_write(g, f, "CellData", 1);
    section_write(g, f, "Points", 1);
    for (int r = 0; r < ranks; r++) {
        fputs("    <Piece Source=\"", f);
        cli_xml_text(f, cli_base_name(stem));
        fprintf(f, "-p%d.vtu\"/>\n", r);
    }
    fputs("  </PUnstructuredGrid>\n</VTKFile>\n", f);
    return cli_output_close(f, path, 0);
}
