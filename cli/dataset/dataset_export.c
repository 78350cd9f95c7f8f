/* tutti export: convert datasets for other programs.  --csv: one table per variable.  --xdmf: an XML file by
 * which ParaView reads the values in the data files; only grids of two and three dimensions.  --zarr:
 * references for Zarr (dataset_zarr.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "dataset/cmd_dataset.h"

#include <stdlib.h>
#include <string.h>

/* ---- CSV */

static int export_csv(const dataset_catalogue *c, const data_config *config) {
    size_t n = strlen(c->path);
    while (n > 1 && c->path[n - 1] == '/') n--;
    char *prefix = config->out ? cli_strdup(config->out) : cli_format("%.*s", (int)n, c->path);
    int files = 0, failed = 0;
    for (tutti_count v = 0; v < c->variables && !failed; v++) {
        const char *name = c->total[v].row.name;
        if (!data_wanted(config, name)) continue;
        char *file = cli_file_name(name), *path = cli_format("%s-%s.csv", prefix, file);
        data_config one = *config;
        one.as = DUMP_CSV;
        one.json = 0;
        one.segment = "all";
        one.out = path;
        one.variables = (cli_list){.n = 1, .item = (char **)(uintptr_t)&c->total[v].row.name};
        failed = dataset_dump(NULL, &one) != CLI_OK;
        if (!failed) cli_output_print(path, config->json, files++);
        free(path);
        free(file);
    }
    free(prefix);
    if (!failed && files == 0) failed = cli_error("'%s' has no variables", c->path);
    return failed;
}

/* ---- XDMF */

/* Return the name of a type in XDMF; NULL: ParaView does not support it, or reads it wrongly (uint64). */
static const char *xdmf_type(tutti_type type) {
    switch (type) {
    case TUTTI_INT8:
        return "Char";
    case TUTTI_INT16:
    case TUTTI_INT32:
    case TUTTI_INT64:
        return "Int";
    case TUTTI_UINT8:
        return "UChar";
    case TUTTI_UINT16:
    case TUTTI_UINT32:
        return "UInt";
    case TUTTI_FLOAT32:
    case TUTTI_FLOAT64:
        return "Float";
    default:
        return NULL;
    }
}

typedef struct {
    const dataset_catalogue *c;
    const data_config *config;
    FILE *f;
    const char *prefix; /* path of the data files, relative to the XML file */
    int written;
} xdmf;

/* Print dimensions.  A plane is written as a box of one layer, since the reader rotates two-dimensional
 * meshes. */
static void dimensions_write(FILE *f, int ndims, const tutti_count *shape) {
    if (ndims == 2) fputs("1 ", f);
    for (int d = 0; d < ndims; d++) fprintf(f, "%s%lld", d ? " " : "", (long long)shape[d]);
}

static int write_field_reference(xdmf *x, const tutti_variable_row *v, tutti_count g, int ndims,
                                 const tutti_count *shape) {
    tutti_section_row s;
    const int has = dataset_has(x->c, g, v->name, &s);
    if (has <= 0) return has < 0;
    const char *type = xdmf_type(s.type);
    const int little = v->spec.order == TUTTI_LITTLE_ENDIAN ||
                       (v->spec.order == TUTTI_NATIVE_ENDIAN && CLI_IS_LITTLE_ENDIAN);
    if (!type) return 0;
    fprintf(x->f, "        <Attribute Name=\"");
    cli_xml_text(x->f, v->name);
    fprintf(x->f, "\" Center=\"Node\" AttributeType=\"%s\">\n          <DataItem Dimensions=\"",
            v->values_per_item == 1                                   ? "Scalar"
            : v->spec.item == TUTTI_VECTOR && v->values_per_item == 3 ? "Vector"
            : v->spec.item == TUTTI_TENSOR && v->values_per_item == 9 ? "Tensor"
                                                                      : "Matrix");
    dimensions_write(x->f, ndims, shape);
    if (v->values_per_item > 1) fprintf(x->f, " %lld", (long long)v->values_per_item);
    fprintf(x->f,
            "\" NumberType=\"%s\" Precision=\"%lld\" Format=\"Binary\" Endian=\"%s\" "
            "Seek=\"%lld\">",
            type, (long long)tutti_type_size(s.type), little ? "Little" : "Big",
            (long long)s.start);
    cli_xml_text(x->f, x->prefix);
    cli_xml_text(x->f, s.file);
    fputs("</DataItem>\n        </Attribute>\n", x->f);
    x->written++;
    return 0;
}

static int write_grid_reference(xdmf *x, const tutti_space_row *space, tutti_count g) {
    static const char *const unit[] = {"0 0 0", "1 1 1"}; /* [0] origin, [1] spacing */
    tutti_segment segment;
    tutti_count shape[TUTTI_MAX_DIMS];
    int ndims = 0;
    if (tutti_dataset_segment(x->c->d, g, &segment) != TUTTI_OK ||
        tutti_dataset_shape(x->c->d, space->name, g, &ndims, shape) != TUTTI_OK)
        return cli_error_tutti();
    if (segment.kind != TUTTI_STATE) return 0;
    fprintf(x->f, "      <Grid Name=\"");
    cli_xml_text(x->f, space->name);
    fprintf(x->f,
            "\" GridType=\"Uniform\">\n        <Time Value=\"%.17g\"/>\n"
            "        <Topology TopologyType=\"3DCoRectMesh\" Dimensions=\"",
            segment.time);
    dimensions_write(x->f, ndims, shape);
    fputs("\"/>\n        <Geometry GeometryType=\"ORIGIN_DXDYDZ\">\n", x->f);
    for (int i = 0; i < 2; i++)
        fprintf(x->f,
                "          <DataItem Dimensions=\"3\" NumberType=\"Float\" Format=\"XML\">"
                "%s</DataItem>\n",
                unit[i]);
    fputs("        </Geometry>\n", x->f);
    for (tutti_count v = 0; v < x->c->variables; v++) {
        const tutti_variable_row *row = &x->c->total[v].row;
        /* Only uncompressed variables of layout global with a supported type can be exported. */
        if (strcmp(row->spec.space, space->name) == 0 &&
            (data_wanted(x->config, row->name) && row->spec.layout == TUTTI_GLOBAL &&
             row->spec.compress == 0 && xdmf_type(row->spec.type) != NULL) &&
            write_field_reference(x, row, g, ndims, shape))
            return 1;
    }
    fputs("      </Grid>\n", x->f);
    return 0;
}

static int xdmf_write(const dataset_catalogue *c, const data_config *config, FILE *f,
                      const char *prefix) {
    xdmf x = {.c = c, .config = config, .f = f, .prefix = prefix};
    for (tutti_count v = 0; v < c->variables; v++) {
        const tutti_variable_row *row = &c->total[v].row;
        if (data_wanted(config, row->name) && row->spec.compress)
            fprintf(stderr,
                    "tutti export: '%s' is omitted: it is compressed "
                    "(tutti cp --compress 0)\n",
                    cli_shown(row->name));
    }
    fputs("<?xml version=\"1.0\"?>\n<!DOCTYPE Xdmf SYSTEM \"Xdmf.dtd\" []>\n"
          "<Xdmf Version=\"2.0\">\n  <Domain>\n",
          f);
    for (tutti_count i = 0; i < tutti_dataset_spaces(x.c->d); i++) {
        tutti_space_row row;
        if (tutti_dataset_space_row(x.c->d, i, &row) != TUTTI_OK) return cli_error_tutti();
        if (row.is_list || row.ndims < 2 || row.ndims > 3) continue;
        fprintf(x.f, "    <Grid Name=\"");
        cli_xml_text(x.f, row.name);
        fprintf(x.f, "\" GridType=\"Collection\" CollectionType=\"Temporal\">\n");
        for (tutti_count g = 0; g < x.c->segments; g++)
            if (write_grid_reference(&x, &row, g)) return 1;
        fputs("    </Grid>\n", x.f);
    }
    fputs("  </Domain>\n</Xdmf>\n", f);
    if (x.written > 0) return 0;
    return cli_error(
        "'%s' has no variable that XDMF can represent: it must be on a grid of two or three "
        "dimensions, in layout global, uncompressed",
        c->path);
}

/* Write the file that names the data files. */
static int export_names(const dataset_catalogue *c, const data_config *config) {
    size_t n = strlen(c->path);
    while (n > 1 && c->path[n - 1] == '/') n--;
    char *path = config->out
                     ? cli_strdup(config->out)
                     : cli_format("%.*s.%s", (int)n, c->path, config->zarr ? "json" : "xmf");
    FILE *f = cli_output_open(path);
    int failed = !f;
    if (!failed) {
        char *dataset = cli_path_from(c->path, path), *prefix = cli_format("%s/", dataset);
        failed = (config->zarr ? dataset_export_zarr : xdmf_write)(c, config, f, prefix);
        failed = cli_output_close(f, path, failed);
        free(dataset);
        free(prefix);
    }
    if (!failed && strcmp(path, "-") != 0) cli_output_print(path, config->json, 0);
    free(path);
    return failed;
}

static int export_dataset(dataset_catalogue *c, const data_config *config) {
    for (int i = 0; i < config->variables.n; i++)
        if (!dataset_variable(c, config->variables.item[i])) return 1;
    if (config->json) printf("{\"files\": [");
    const int failed = (config->csv ? export_csv : export_names)(c, config);
    if (!failed && config->json) printf("]}\n");
    return failed;
}

int dataset_export(const cli_world *w, const data_config *config) {
    (void)w;
    return dataset_run(config, export_dataset);
}
