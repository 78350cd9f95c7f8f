/* Prints all contents of an Exodus file as text, read by Debian's libexodusii.  Tests compare the output with the
 * expected contents.
 *
 *     exodus_reader FILE
 *
 * One line per item, in a fixed order; values with all digits (%.17g), texts in quotes.  Items that the file does not
 * have are omitted, except id maps and the order map, which are then 1, 2, 3, ...  Two files with the same output are
 * equal for every program that uses this library.  The program does not use MPI, because libexodusii is linked with
 * Open MPI and cannot be used with another MPI.  If a call of the library fails, it prints a message and exits with 1.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <exodusII.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind {
    ex_entity_type type;
    const char *name;
    int64_t count;   /* number of entities */
    int64_t members; /* number of values per map */
} kind;

static int file;
static int name_length; /* length of the longest name */

static void check_call(int status, const char *what) {
    if (status < 0) {
        const char *message = "", *function = "";
        int code = 0;
        ex_get_err(&message, &function, &code);
        fprintf(stderr, "exodus_reader: %s: code %d, netCDF's %d (%s: %s)\n", what, status, code,
                function ? function : "", message ? message : "");
        exit(1);
    }
}

static void *allocate_zeroed(int64_t n, size_t size) {
    void *p = calloc((size_t)(n > 0 ? n : 1), size);
    if (!p) {
        fprintf(stderr, "exodus_reader: no memory\n");
        exit(1);
    }
    return p;
}

static void print_integers(const int64_t *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) printf(" %" PRId64, v[i]);
    printf("\n");
}

static void print_ints(const int *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) printf(" %d", v[i]);
    printf("\n");
}

static void print_reals(const double *v, int64_t n) {
    for (int64_t i = 0; i < n; i++) printf(" %.17g", v[i]);
    printf("\n");
}

static char **allocate_texts(int n, int length) {
    char **v = allocate_zeroed(n, sizeof *v);
    for (int i = 0; i < n; i++) v[i] = allocate_zeroed(length + 1, 1);
    return v;
}

static void texts_free(char **v, int n) {
    for (int i = 0; i < n; i++) free(v[i]);
    free(v);
}

static void print_texts(char **v, int n) {
    for (int i = 0; i < n; i++) printf(" \"%s\"", v[i]);
    printf("\n");
}

/* Print title, sizes, QA records, info records, names of the coordinates and frames. */
static void print_file(const ex_init_params *p) {
    printf("title \"%s\"\n", p->title);
    printf("real_bytes %d\n", (int)ex_inquire_int(file, EX_INQ_DB_FLOAT_SIZE));
    printf("dims %" PRId64 "\nnodes %" PRId64 "\nedges %" PRId64 "\nfaces %" PRId64
           "\nelements %" PRId64 "\n",
           p->num_dim, p->num_nodes, p->num_edge, p->num_face, p->num_elem);
    int n = (int)ex_inquire_int(file, EX_INQ_QA);
    if (n > 0) {
        char *(*records)[4] = allocate_zeroed(n, sizeof *records);
        for (int i = 0; i < 4 * n; i++)
            records[i / 4][i % 4] = allocate_zeroed(MAX_STR_LENGTH + 1, 1);
        check_call(ex_get_qa(file, records), "ex_get_qa");
        for (int i = 0; i < n; i++) {
            printf("qa");
            print_texts(records[i], 4);
        }
        for (int i = 0; i < 4 * n; i++) free(records[i / 4][i % 4]);
        free(records);
    }
    n = (int)ex_inquire_int(file, EX_INQ_INFO);
    if (n > 0) {
        char **lines = allocate_texts(n, MAX_LINE_LENGTH);
        check_call(ex_get_info(file, lines), "ex_get_info");
        for (int i = 0; i < n; i++) printf("info \"%s\"\n", lines[i]);
        texts_free(lines, n);
    }
    char **names = allocate_texts((int)p->num_dim, name_length);
    check_call(ex_get_coord_names(file, names), "ex_get_coord_names");
    printf("coordinate_names");
    print_texts(names, (int)p->num_dim);
    texts_free(names, (int)p->num_dim);
}

static void print_frames(void) {
    int n = (int)ex_inquire_int(file, EX_INQ_COORD_FRAMES);
    if (n <= 0) return;
    int64_t *ids = allocate_zeroed(n, sizeof *ids);
    double *points = allocate_zeroed(9 * (int64_t)n, sizeof *points);
    char *tags = allocate_zeroed(n + 1, 1);
    check_call(ex_get_coordinate_frames(file, &n, ids, points, tags), "ex_get_coordinate_frames");
    for (int i = 0; i < n; i++) {
        printf("frame %" PRId64 " %c", ids[i], tags[i]);
        print_reals(points + 9 * i, 9);
    }
    free(ids);
    free(points);
    free(tags);
}

static void print_coordinates(const ex_init_params *p) {
    double *x[3];
    for (int c = 0; c < 3; c++) x[c] = allocate_zeroed(p->num_nodes, sizeof **x);
    if (p->num_nodes) check_call(ex_get_coord(file, x[0], x[1], x[2]), "ex_get_coord");
    for (int c = 0; c < p->num_dim; c++) {
        printf("coordinates %d", c);
        print_reals(x[c], p->num_nodes);
    }
    for (int c = 0; c < 3; c++) free(x[c]);
}

static void print_id_map(ex_entity_type type, const char *name, int64_t n) {
    if (!n) return;
    int64_t *ids = allocate_zeroed(n, sizeof *ids);
    check_call(ex_get_id_map(file, type, ids), "ex_get_id_map");
    printf("%s ids", name);
    print_integers(ids, n);
    free(ids);
}

static void print_order(int64_t n) {
    if (!n) return;
    int64_t *order = allocate_zeroed(n, sizeof *order);
    check_call(ex_get_map(file, order), "ex_get_map");
    printf("order");
    print_integers(order, n);
    free(order);
}

/* Print the attributes of an entity with `n` entries. */
static void print_attributes(const kind *k, int64_t id, int64_t n) {
    int count = 0;
    /* The call fails for kinds that cannot have attributes, and for empty entities. */
    if (ex_get_attr_param(file, k->type, id, &count) < 0 || !count) return;
    char **names = allocate_texts(count, name_length);
    check_call(ex_get_attr_names(file, k->type, id, names), "ex_get_attr_names");
    printf("%s %" PRId64 " attribute_names", k->name, id);
    print_texts(names, count);
    texts_free(names, count);
    double *values = allocate_zeroed(n * count, sizeof *values);
    check_call(ex_get_attr(file, k->type, id, values), "ex_get_attr");
    printf("%s %" PRId64 " attributes", k->name, id);
    print_reals(values, n * count);
    free(values);
}

static int64_t print_block(const kind *k, int64_t id) {
    ex_block b = {.id = id, .type = k->type};
    check_call(ex_get_block_param(file, &b), "ex_get_block_param");
    printf("%s %" PRId64 " topology \"%s\" entries %" PRId64 " nodes %" PRId64 " edges %" PRId64
           " faces %" PRId64 " attributes %" PRId64 "\n",
           k->name, id, b.topology, b.num_entry, b.num_nodes_per_entry, b.num_edges_per_entry,
           b.num_faces_per_entry, b.num_attribute);
    if (!b.num_entry) return 0;
    int sided = !strncasecmp(b.topology, "nsided", 6),
        faced = !strncasecmp(b.topology, "nfaced", 6);
    if (sided || faced) {
        int *counts = allocate_zeroed(b.num_entry, sizeof *counts);
        check_call(ex_get_entity_count_per_polyhedra(file, k->type, id, counts),
                   "ex_get_entity_count_per_polyhedra");
        printf("%s %" PRId64 " counts", k->name, id);
        print_ints(counts, b.num_entry);
        free(counts);
    }
    int64_t length[3] = {b.num_nodes_per_entry * (sided ? 1 : b.num_entry),
                         b.num_edges_per_entry * b.num_entry,
                         b.num_faces_per_entry * (faced ? 1 : b.num_entry)};
    const char *what[3] = {"connectivity", "edges", "faces"};
    for (int i = 0; i < 3; i++) {
        if (!length[i]) continue;
        int64_t *v = allocate_zeroed(length[i], sizeof *v);
        check_call(
            ex_get_conn(file, k->type, id, i == 0 ? v : NULL, i == 1 ? v : NULL, i == 2 ? v : NULL),
            "ex_get_conn");
        printf("%s %" PRId64 " %s", k->name, id, what[i]);
        print_integers(v, length[i]);
        free(v);
    }
    print_attributes(k, id, b.num_entry);
    return b.num_entry;
}

/* Print the nodes of all sides as the library determines them.  Uses int because the library crashes with int64_t.
 * The length that the library reports is the number of distribution factors, which may be wrong; a side has at most 9
 * nodes. */
static void print_side_nodes(const kind *k, int64_t id, int64_t n) {
    int length = 0;
    check_call(ex_set_int64_status(file, 0), "ex_set_int64_status");
    int *counts = allocate_zeroed(n, sizeof *counts),
        *nodes = allocate_zeroed(9 * n, sizeof *nodes);
    check_call(ex_get_side_set_node_list(file, id, counts, nodes), "ex_get_side_set_node_list");
    printf("%s %" PRId64 " side_counts", k->name, id);
    print_ints(counts, n);
    for (int64_t i = 0; i < n; i++) length += counts[i];
    printf("%s %" PRId64 " side_nodes", k->name, id);
    print_ints(nodes, length);
    free(counts);
    free(nodes);
    check_call(ex_set_int64_status(file, EX_ALL_INT64_API), "ex_set_int64_status");
}

static int64_t print_set(const kind *k, int64_t id) {
    int64_t n = 0, factors = 0;
    check_call(ex_get_set_param(file, k->type, id, &n, &factors), "ex_get_set_param");
    double *all = allocate_zeroed(n, sizeof *all);
    /* For these kinds the library reports 0 factors although it can read them. */
    if ((k->type == EX_ELEM_SET || k->type == EX_EDGE_SET || k->type == EX_FACE_SET) && n &&
        ex_get_set_dist_fact(file, k->type, id, all) == 0)
        factors = n;
    free(all);
    printf("%s %" PRId64 " entries %" PRId64 " factors %" PRId64 "\n", k->name, id, n, factors);
    if (!n) return 0;
    int64_t *members = allocate_zeroed(n, sizeof *members),
            *extra = allocate_zeroed(n, sizeof *extra);
    int extras = k->type == EX_SIDE_SET || k->type == EX_EDGE_SET || k->type == EX_FACE_SET;
    check_call(ex_get_set(file, k->type, id, members, extras ? extra : NULL), "ex_get_set");
    printf("%s %" PRId64 " members", k->name, id);
    print_integers(members, n);
    if (extras) {
        printf("%s %" PRId64 " sides", k->name, id);
        print_integers(extra, n);
    }
    if (factors) {
        double *f = allocate_zeroed(factors, sizeof *f);
        check_call(ex_get_set_dist_fact(file, k->type, id, f), "ex_get_set_dist_fact");
        printf("%s %" PRId64 " factors", k->name, id);
        print_reals(f, factors);
        free(f);
    }
    if (k->type == EX_SIDE_SET) print_side_nodes(k, id, n);
    free(members);
    free(extra);
    print_attributes(k, id, n);
    return n;
}

static int64_t print_map(const kind *k, int64_t id) {
    int64_t *v = allocate_zeroed(k->members, sizeof *v);
    check_call(ex_get_num_map(file, k->type, id, v), "ex_get_num_map");
    printf("%s %" PRId64, k->name, id);
    print_integers(v, k->members);
    free(v);
    return k->members;
}

static void print_properties(const kind *k) {
    int n = ex_get_num_props(file, k->type);
    if (n <= 0) return;
    char **names = allocate_texts(n, name_length);
    check_call(ex_get_prop_names(file, k->type, names), "ex_get_prop_names");
    int64_t *values = allocate_zeroed(k->count, sizeof *values);
    for (int i = 0; i < n; i++) {
        if (!strcmp(names[i], "ID")) continue;
        check_call(ex_get_prop_array(file, k->type, names[i], values), "ex_get_prop_array");
        printf("%s property \"%s\"", k->name, names[i]);
        print_integers(values, k->count);
    }
    free(values);
    texts_free(names, n);
}

static void print_step(const kind *k, int step, int variables, const int64_t *ids,
                       const int64_t *entries, const int *truth) {
    for (int64_t e = 0; e < k->count; e++) {
        double *v = allocate_zeroed(entries[e], sizeof *v);
        for (int i = 0; i < variables; i++) {
            if (!entries[e] || (truth && !truth[e * variables + i])) continue;
            check_call(ex_get_var(file, step, k->type, i + 1, ids[e], entries[e], v), "ex_get_var");
            printf("%s %" PRId64 " variable %d step %d", k->name, ids[e], i + 1, step);
            print_reals(v, entries[e]);
        }
        free(v);
    }
}

/* Print names, truth table and all values of the variables of a kind. */
static void print_variables(const kind *k, const int64_t *ids, const int64_t *entries) {
    int n = 0;
    check_call(ex_get_variable_param(file, k->type, &n), "ex_get_variable_param");
    if (n <= 0) return;
    char **names = allocate_texts(n, name_length);
    check_call(ex_get_variable_names(file, k->type, n, names), "ex_get_variable_names");
    printf("%s variables", k->name);
    print_texts(names, n);
    texts_free(names, n);
    int *truth = NULL;
    if (k->type != EX_GLOBAL && k->type != EX_NODAL && k->count) {
        truth = allocate_zeroed(k->count * n, sizeof *truth);
        check_call(ex_get_truth_table(file, k->type, (int)k->count, n, truth),
                   "ex_get_truth_table");
        printf("%s truth", k->name);
        print_ints(truth, k->count * n);
    }
    int steps = (int)ex_inquire_int(file, EX_INQ_TIME);
    for (int s = 1; s <= steps; s++) {
        if (k->type == EX_GLOBAL) {
            double *v = allocate_zeroed(n, sizeof *v);
            check_call(ex_get_glob_vars(file, s, n, v), "ex_get_glob_vars");
            printf("global step %d", s);
            print_reals(v, n);
            free(v);
        } else {
            print_step(k, s, k->type == EX_NODAL && !entries[0] ? 0 : n, ids, entries, truth);
        }
    }
    free(truth);
}

static void print_kind(const kind *k) {
    if (!k->count) return;
    int64_t *ids = allocate_zeroed(k->count, sizeof *ids),
            *entries = allocate_zeroed(k->count, sizeof *entries);
    check_call(ex_get_ids(file, k->type, ids), "ex_get_ids");
    printf("%s ids", k->name);
    print_integers(ids, k->count);
    char **names = allocate_texts((int)k->count, name_length);
    check_call(ex_get_names(file, k->type, names), "ex_get_names");
    printf("%s names", k->name);
    print_texts(names, (int)k->count);
    texts_free(names, (int)k->count);
    print_properties(k);
    int block = k->type == EX_ELEM_BLOCK || k->type == EX_EDGE_BLOCK || k->type == EX_FACE_BLOCK;
    int map = k->type == EX_NODE_MAP || k->type == EX_ELEM_MAP || k->type == EX_EDGE_MAP ||
              k->type == EX_FACE_MAP;
    for (int64_t e = 0; e < k->count; e++)
        entries[e] = map     ? print_map(k, ids[e])
                     : block ? print_block(k, ids[e])
                             : print_set(k, ids[e]);
    if (!map) print_variables(k, ids, entries);
    free(ids);
    free(entries);
}

/* Print the communication maps of a processor. */
static void print_maps_of(int p, int64_t node_maps, int64_t element_maps) {
    int64_t *ids = allocate_zeroed(node_maps, sizeof *ids),
            *counts = allocate_zeroed(node_maps, sizeof *counts);
    int64_t *eids = allocate_zeroed(element_maps, sizeof *ids),
            *ecounts = allocate_zeroed(element_maps, sizeof *counts);
    check_call(ex_get_cmap_params(file, node_maps ? ids : NULL, node_maps ? counts : NULL,
                                  element_maps ? eids : NULL, element_maps ? ecounts : NULL, p),
               "ex_get_cmap_params");
    for (int64_t m = 0; m < node_maps; m++) {
        int64_t *nodes = allocate_zeroed(counts[m], sizeof *nodes),
                *who = allocate_zeroed(counts[m], sizeof *who);
        check_call(ex_get_node_cmap(file, ids[m], nodes, who, p), "ex_get_node_cmap");
        printf("processor %d node_map %" PRId64 " nodes", p, ids[m]);
        print_integers(nodes, counts[m]);
        printf("processor %d node_map %" PRId64 " processors", p, ids[m]);
        print_integers(who, counts[m]);
        free(nodes);
        free(who);
    }
    for (int64_t m = 0; m < element_maps; m++) {
        int64_t n = ecounts[m];
        int64_t *v = allocate_zeroed(3 * n, sizeof *v);
        check_call(ex_get_elem_cmap(file, eids[m], v, v + n, v + 2 * n, p), "ex_get_elem_cmap");
        const char *what[3] = {"elements", "sides", "processors"};
        for (int i = 0; i < 3; i++) {
            printf("processor %d element_map %" PRId64 " %s", p, eids[m], what[i]);
            print_integers(v + i * n, n);
        }
        free(v);
    }
    free(ids);
    free(counts);
    free(eids);
    free(ecounts);
}

static void print_processor(int p) {
    int64_t in = 0, bn = 0, en = 0, ie = 0, be = 0, nm = 0, em = 0;
    check_call(ex_get_loadbal_param(file, &in, &bn, &en, &ie, &be, &nm, &em, p),
               "ex_get_loadbal_param");
    printf("processor %d internal_nodes %" PRId64 " border_nodes %" PRId64
           " external_nodes %" PRId64 " internal_elements %" PRId64 " border_elements %" PRId64
           " node_maps %" PRId64 " element_maps %" PRId64 "\n",
           p, in, bn, en, ie, be, nm, em);
    int64_t *v = allocate_zeroed(in + bn + en, sizeof *v);
    check_call(ex_get_processor_node_maps(file, v, v + in, v + in + bn, p),
               "ex_get_processor_node_maps");
    printf("processor %d nodes", p);
    print_integers(v, in + bn + en);
    free(v);
    v = allocate_zeroed(ie + be, sizeof *v);
    check_call(ex_get_processor_elem_maps(file, v, v + ie, p), "ex_get_processor_elem_maps");
    printf("processor %d elements", p);
    print_integers(v, ie + be);
    free(v);
    print_maps_of(p, nm, em);
}

/* Print ids, numbers of members and numbers of factors of all node sets or side sets of the whole mesh. */
static void print_global_sets(const char *name, int64_t n,
                              int (*get)(int, void_int *, void_int *, void_int *)) {
    if (!n) return;
    int64_t *v = allocate_zeroed(3 * n, sizeof *v);
    check_call(get(file, v, v + n, v + 2 * n), name);
    const char *what[3] = {"ids", "entries", "factors"};
    for (int i = 0; i < 3; i++) {
        printf("nemesis %s %s", name, what[i]);
        print_integers(v + i * n, n);
    }
    free(v);
}

static void print_nemesis(void) {
    int processors = 0, here = 0;
    char type[MAX_STR_LENGTH + 1] = "";
    /* the file has no Nemesis data */
    if (ex_get_init_info(file, &processors, &here, type) < 0) return;
    printf("nemesis processors %d here %d type %s\n", processors, here, type);
    int64_t nodes, elements, blocks, node_sets, side_sets;
    check_call(ex_get_init_global(file, &nodes, &elements, &blocks, &node_sets, &side_sets),
               "ex_get_init_global");
    printf("nemesis nodes %" PRId64 " elements %" PRId64 " blocks %" PRId64 " node_sets %" PRId64
           " side_sets %" PRId64 "\n",
           nodes, elements, blocks, node_sets, side_sets);
    if (blocks) {
        int64_t *v = allocate_zeroed(2 * blocks, sizeof *v);
        check_call(ex_get_eb_info_global(file, v, v + blocks), "ex_get_eb_info_global");
        printf("nemesis block ids");
        print_integers(v, blocks);
        printf("nemesis block entries");
        print_integers(v + blocks, blocks);
        free(v);
    }
    print_global_sets("node_set", node_sets, ex_get_ns_param_global);
    print_global_sets("side_set", side_sets, ex_get_ss_param_global);
    for (int p = 0; p < here; p++) print_processor(p);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: exodus_reader FILE\n");
        return 2;
    }
    int memory_bytes = 8, file_bytes = 0;
    float version = 0;
    ex_opts(0);
    file = ex_open(argv[1], EX_READ, &memory_bytes, &file_bytes, &version);
    check_call(file, argv[1]);
    check_call(ex_set_int64_status(file, EX_ALL_INT64_API), "ex_set_int64_status");
    name_length = (int)ex_inquire_int(file, EX_INQ_DB_MAX_ALLOWED_NAME_LENGTH);
    check_call(ex_set_max_name_length(file, name_length), "ex_set_max_name_length");
    ex_init_params p;
    check_call(ex_get_init_ext(file, &p), "ex_get_init_ext");
    print_file(&p);
    int steps = (int)ex_inquire_int(file, EX_INQ_TIME);
    double *times = allocate_zeroed(steps, sizeof *times);
    if (steps) check_call(ex_get_all_times(file, times), "ex_get_all_times");
    printf("times");
    print_reals(times, steps);
    free(times);
    print_frames();
    print_coordinates(&p);
    print_id_map(EX_NODE_MAP, "node", p.num_nodes);
    print_id_map(EX_EDGE_MAP, "edge", p.num_edge);
    print_id_map(EX_FACE_MAP, "face", p.num_face);
    print_id_map(EX_ELEM_MAP, "element", p.num_elem);
    print_order(p.num_elem);
    const kind nodal = {EX_NODAL, "nodal", 1, p.num_nodes};
    print_variables(&(kind){EX_GLOBAL, "global", 1, 0}, NULL, NULL);
    print_attributes(&nodal, 0, p.num_nodes);
    print_variables(&nodal, (int64_t[]){0}, &p.num_nodes);
    const kind kinds[] = {{EX_ELEM_BLOCK, "element_block", p.num_elem_blk, 0},
                          {EX_EDGE_BLOCK, "edge_block", p.num_edge_blk, 0},
                          {EX_FACE_BLOCK, "face_block", p.num_face_blk, 0},
                          {EX_NODE_SET, "node_set", p.num_node_sets, 0},
                          {EX_SIDE_SET, "side_set", p.num_side_sets, 0},
                          {EX_ELEM_SET, "element_set", p.num_elem_sets, 0},
                          {EX_EDGE_SET, "edge_set", p.num_edge_sets, 0},
                          {EX_FACE_SET, "face_set", p.num_face_sets, 0},
                          {EX_NODE_MAP, "node_map", p.num_node_maps, p.num_nodes},
                          {EX_ELEM_MAP, "element_map", p.num_elem_maps, p.num_elem},
                          {EX_EDGE_MAP, "edge_map", p.num_edge_maps, p.num_edge},
                          {EX_FACE_MAP, "face_map", p.num_face_maps, p.num_face}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) print_kind(&kinds[i]);
    print_nemesis();
    check_call(ex_close(file), "ex_close");
    return 0;
}
