/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Files as written by other programs (corpus.h): open, get_mesh and all gets return the contents
 * of the file on any number of ranks; unsupported files are refused by open with the reason.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "harness.h"
#include "exodus/corpus.h"

static char dir[600];

/* Local index of each node and of each element of the file, by position in the file; -1: not on this rank. */
static tutti_count node_at[200], element_at[100];

static void check_entities(tutti_exodus *x, const corpus_file *f) {
    tutti_exodus_parameters p;
    tutti_exodus_entity e;
    double times[CORPUS_STEPS];
    CHECK_OK(tutti_exodus_parameters_get(x, &p));
    CHECK(strcmp(p.title, f->file) == 0, "title \"%s\"", p.title);
    CHECK_EQ(p.dims, f->dims);
    CHECK_EQ(p.nodes, corpus_nodes(f));
    CHECK_EQ(p.elements, corpus_elements(f));
    CHECK_EQ(tutti_exodus_entities(x, TUTTI_EXODUS_ELEMENT_BLOCK), corpus_block_count(f));
    for (int b = 0; b < corpus_block_count(f); b++) {
        const corpus_block *want = &f->blocks[b];
        CHECK_OK(tutti_exodus_entity_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, b, &e));
        CHECK_EQ(e.id, want->id);
        CHECK_EQ(e.entries, want->n);
        CHECK_EQ(e.attributes, want->attributes);
        CHECK(strcmp(e.topology, want->topology) == 0, "topology %s", e.topology);
        CHECK(strcmp(e.name, want->name ? want->name : "") == 0, "name '%s'", e.name);
    }
    for (int side = 0; side < 2; side++) {
        const tutti_exodus_kind kind = side ? TUTTI_EXODUS_SIDE_SET : TUTTI_EXODUS_NODE_SET;
        CHECK_EQ(tutti_exodus_entities(x, kind), corpus_set_count(f, side));
        for (int k = 0; k < corpus_set_count(f, side); k++) {
            const corpus_set want = corpus_set_at(f, side, k);
            tutti_count number = -1;
            CHECK_OK(tutti_exodus_entity_get(x, kind, k, &e));
            CHECK_EQ(e.id, want.id);
            CHECK_EQ(e.entries, want.n);
            CHECK(strcmp(e.name, want.name ? want.name : "") == 0, "name '%s'", e.name);
            CHECK_OK(tutti_exodus_find(x, kind, want.id, &number));
            CHECK_EQ(number, k);
        }
    }
    CHECK_EQ(tutti_exodus_steps(x), f->steps);
    CHECK_SAME(tutti_exodus_times(x, 1, f->steps, times), TUTTI_OK);
    for (int s = 0; s < f->steps; s++) CHECK(times[s] == f->times[s], "step %d: %g", s, times[s]);
}

static tutti_count position_of(const corpus_file *f, int64_t id) {
    return f->has_maps ? (id - 5) / 3 : id - 1;
}

static void check_nodes(const corpus_file *f, const tutti_exodus_mesh *m) {
    memset(node_at, -1, sizeof node_at);
    for (tutti_count i = 0; i < m->nodes; i++) {
        const tutti_count p = position_of(f, m->node_ids[i]);
        CHECK_EQ(m->node_ids[i], corpus_id(f, p));
        node_at[p] = i;
        for (int c = 0; c < f->dims; c++) {
            const double x = ((const double *)m->coordinates[c])[i];
            CHECK(x == corpus_coordinate(f, c, p), "node %lld: %g", (long long)p, x);
        }
    }
}

static void check_blocks(tutti_exodus *x, const corpus_file *f, const tutti_exodus_mesh *m) {
    tutti_count before = 0, place = 0;
    memset(element_at, -1, sizeof element_at);
    for (int b = 0; b < corpus_block_count(f); before += f->blocks[b].n, b++) {
        const tutti_exodus_elements *e = &m->blocks[b];
        const corpus_block *want = &f->blocks[b];
        long long own = tutti_exodus_own_elements(x, TUTTI_EXODUS_ELEMENT_BLOCK, b), all = 0;
        MPI_Allreduce(&own, &all, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
        CHECK_EQ(all, want->n);
        for (tutti_count i = 0; i < e->n; i++, place++) {
            const tutti_count p = position_of(f, e->ids[i]);
            CHECK(p >= before && p < before + want->n, "element %lld in block %d", (long long)p, b);
            element_at[p] = place;
            for (int q = 0; q < want->per; q++)
                CHECK_EQ(m->node_ids[e->nodes[i * want->per + q]],
                         corpus_id(f, corpus_connectivity(f, p, q) - 1));
            for (int a = 0; a < want->attributes; a++)
                CHECK(e->attributes[i * want->attributes + a] ==
                          corpus_attribute(b, (p - before) * want->attributes + a),
                      "block %d, attribute %d", b, a);
        }
    }
}

/* Check that the members on this rank are all members of the file whose node or element this rank has, in the order of
 * the file. */
static void check_set(const corpus_file *f, int is_side, int k, const tutti_exodus_members *s) {
    const corpus_set want = corpus_set_at(f, is_side, k);
    const tutti_count *at = is_side ? element_at : node_at;
    const int fits = want.factors <= 0 || !is_side;
    const tutti_count per = is_side ? f->dims == 3 ? 4 : 2 : 1;
    tutti_count i = 0;
    for (tutti_count j = 0; j < want.n; j++) {
        const tutti_count p = corpus_member(f, is_side, k, j) - 1;
        if (at[p] < 0) continue;
        CHECK(i < s->n, "set %d: %lld members", k, (long long)s->n);
        if (i == s->n) return;
        CHECK_EQ(s->members[i], at[p]);
        if (is_side) CHECK_EQ(s->sides[i], corpus_side(f, k, j));
        if (want.factors != 0 && fits) CHECK(s->factors, "set %d has no factors", k);
        for (tutti_count q = 0; q < per && s->factors; q++)
            CHECK(s->factors[i * per + q] == corpus_factor(k, j * per + q), "set %d: factor %g", k,
                  s->factors[i * per + q]);
        i++;
    }
    CHECK_EQ(i, s->n);
    CHECK(fits || !s->factors, "set %d: factors that do not fit", k);
}

static void check_mesh(tutti_exodus *x, const corpus_file *f, tutti_exodus_partitioner by) {
    const tutti_exodus_mesh *m = NULL;
    CHECK_SAME(tutti_exodus_get_mesh(x, &(tutti_exodus_distribution){.partitioner = by}, &m),
               TUTTI_OK);
    if (!m) return;
    const char *warning = tutti_exodus_mesh_warning(x);
    CHECK((warning[0] != 0) == f->unfit, "warning \"%s\"", warning);
    CHECK(!f->unfit || strstr(warning, "side set 2 has 3 distribution factors"), "%s", warning);
    check_nodes(f, m);
    check_blocks(x, f, m);
    for (int k = 0; k < corpus_set_count(f, 0); k++) check_set(f, 0, k, &m->node_sets[k]);
    for (int k = 0; k < corpus_set_count(f, 1); k++) check_set(f, 1, k, &m->side_sets[k]);
}

/* Check a variable of the nodes (block -1) or of a block in all steps: read step by step, and with one call of
 * tutti_exodus_follow. */
static void check_variable(tutti_exodus *x, const corpus_file *f, int block, int v) {
    double values[200], *all = calloc(200 * CORPUS_STEPS, sizeof *all);
    const tutti_exodus_kind kind = block < 0 ? TUTTI_EXODUS_NODAL : TUTTI_EXODUS_ELEMENT_BLOCK;
    tutti_count before = 0, first = 0, n = tutti_exodus_entries(x, kind, 0);
    tutti_exodus_field field = {
        .kind = kind, .variable = corpus_variable(f, block, v), .type = TUTTI_FLOAT64};
    if (block >= 0) {
        field.id = f->blocks[block].id;
        n = tutti_exodus_entries(x, kind, field.id);
        for (int b = 0; b < block; b++) {
            before += f->blocks[b].n;
            first += tutti_exodus_entries(x, kind, f->blocks[b].id);
        }
    }
    const tutti_count entries = block < 0 ? corpus_nodes(f) : f->blocks[block].n;
    const tutti_count *at = block < 0 ? node_at : element_at;
    field.buf = all;
    CHECK_SAME(tutti_exodus_follow(x, 1, f->steps, &field), TUTTI_OK);
    for (int s = 1; s <= f->steps; s++) {
        field.buf = values;
        CHECK_SAME(tutti_exodus_get(x, s, 1, &field), TUTTI_OK);
        for (tutti_count p = 0; p < entries; p++) {
            const tutti_count i = at[before + p] - first;
            if (at[before + p] < 0) continue;
            CHECK(values[i] == corpus_result(s, block, v, p), "step %d, block %d, %lld: %g", s,
                  block, (long long)p, values[i]);
            CHECK(all[(s - 1) * n + i] == values[i], "follow, step %d: %g", s,
                  all[(s - 1) * n + i]);
        }
    }
    free(all);
}

static void check_results(tutti_exodus *x, const corpus_file *f) {
    if (f->steps == 0) return;
    CHECK_EQ(tutti_exodus_variable_count(x, TUTTI_EXODUS_NODAL), f->nodals);
    CHECK_EQ(tutti_exodus_variable_count(x, TUTTI_EXODUS_ELEMENT_BLOCK), f->elementals);
    for (int s = 1; s <= f->steps && f->globals > 0; s++) {
        double totals[3] = {0};
        CHECK_SAME(tutti_exodus_get(x, s, 1,
                                    &(tutti_exodus_field){.kind = TUTTI_EXODUS_GLOBAL,
                                                          .type = TUTTI_FLOAT64,
                                                          .buf = totals}),
                   TUTTI_OK);
        for (int v = 0; v < f->globals; v++)
            CHECK(totals[v] == corpus_result(s, -2, v, 0), "step %d: %g", s, totals[v]);
    }
    for (int v = 0; v < f->nodals; v++) check_variable(x, f, -1, v);
    for (int v = 0; v < f->elementals; v++)
        for (int b = 0; b < corpus_block_count(f); b++) {
            CHECK_EQ(tutti_exodus_has(x, TUTTI_EXODUS_ELEMENT_BLOCK, b, v), corpus_has(f, b, v));
            if (corpus_has(f, b, v)) check_variable(x, f, b, v);
        }
}

/* Define the entities and variables of one file in another file. */
static tutti_err define_as(tutti_exodus *from, tutti_exodus *to) {
    tutti_exodus_parameters p;
    TUTTI_TRY(tutti_exodus_parameters_get(from, &p));
    p.nodes = p.elements = p.edges = p.faces = 0;
    p.has_node_ids = p.has_element_ids = p.has_order = 0;
    TUTTI_TRY(tutti_exodus_init(to, &p));
    for (int kind = 0; kind < TUTTI_EXODUS_NODE_MAP; kind++) {
        const char *names[4];
        const int n = tutti_exodus_variable_count(from, (tutti_exodus_kind)kind);
        for (tutti_count i = 0; i < tutti_exodus_entities(from, (tutti_exodus_kind)kind); i++) {
            tutti_exodus_entity e;
            TUTTI_TRY(tutti_exodus_entity_get(from, (tutti_exodus_kind)kind, i, &e));
            e.entries = e.factors = 0;
            TUTTI_TRY(tutti_exodus_define(to, 1, &e));
        }
        for (int i = 0; i < n; i++)
            names[i] = tutti_exodus_variable_name(from, (tutti_exodus_kind)kind, i);
        if (n > 0) TUTTI_TRY(tutti_exodus_variables(to, (tutti_exodus_kind)kind, n, names));
    }
    return TUTTI_OK;
}

/* Copy the mesh of a file with all ids to another file, and check that both meshes are equal. */
static void check_copy(tutti_exodus *x, const corpus_file *f) {
    tutti_exodus_options opt;
    tutti_exodus *y = NULL;
    const tutti_exodus_mesh *m = NULL;
    char path[1300];
    snprintf(path, sizeof path, "%s/copy.e", dir);
    tutti_exodus_options_init(&opt);
    opt.overwrite = 1;
    opt.level = TUTTI_VISIBLE;
    opt.name_length = f->name_length > 32 ? f->name_length : 32;
    CHECK_SAME(tutti_exodus_get_mesh(
                   x, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_ORDER}, &m),
               TUTTI_OK);
    CHECK_SAME(tutti_exodus_create(MPI_COMM_WORLD, path, &opt, &y), TUTTI_OK);
    if (!y) return;
    CHECK_SAME(define_as(x, y), TUTTI_OK);
    CHECK_SAME(tutti_exodus_put_mesh(y, m), TUTTI_OK);
    for (int b = 0; b < corpus_block_count(f) && f->steps > 0 && f->elementals > 0; b++) {
        const tutti_exodus_field field = {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                          .id = f->blocks[b].id,
                                          .variable = corpus_variable(f, b, 0),
                                          .type = TUTTI_FLOAT64,
                                          .buf = (double[100]){0}};
        if (!corpus_has(f, b, 0)) continue;
        CHECK_SAME(tutti_exodus_get(x, 1, 1, &field), TUTTI_OK);
        CHECK_SAME(tutti_exodus_begin(y, b), TUTTI_OK);
        CHECK_SAME(tutti_exodus_put(y, 1, &field), TUTTI_OK);
        CHECK_SAME(tutti_exodus_commit(y), TUTTI_OK);
    }
    CHECK_SAME(tutti_exodus_close(&y), TUTTI_OK);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &y), TUTTI_OK);
    if (!y) return;
    corpus_file copy = *f;
    copy.steps = (int)tutti_exodus_steps(y);
    for (int s = 0; s < copy.steps; s++) copy.times[s] = s;
    check_entities(y, &copy);
    CHECK_SAME(tutti_exodus_get_mesh(
                   y, &(tutti_exodus_distribution){.partitioner = TUTTI_EXODUS_BY_CURVE}, &m),
               TUTTI_OK);
    check_nodes(&copy, m);
    check_blocks(y, &copy, m);
    for (int b = 0; b < copy.steps; b++) {
        double values[100];
        const tutti_exodus_field field = {.kind = TUTTI_EXODUS_ELEMENT_BLOCK,
                                          .id = f->blocks[b].id,
                                          .variable = corpus_variable(f, b, 0),
                                          .type = TUTTI_FLOAT64,
                                          .buf = values};
        tutti_count before = b > 0 ? f->blocks[0].n : 0;
        const tutti_exodus_elements *e = &m->blocks[b];
        CHECK_SAME(tutti_exodus_get(y, b + 1, 1, &field), TUTTI_OK);
        for (tutti_count i = 0; i < e->n; i++)
            CHECK(values[i] == corpus_result(1, b, 0, position_of(f, e->ids[i]) - before),
                  "block %d: %g", b, values[i]);
    }
    CHECK_SAME(tutti_exodus_close(&y), TUTTI_OK);
}

/* Return whether check_copy() is called for a file: files with ids of 0 or with the longest names. */
static int is_copied(const corpus_file *f) {
    return f->blocks[0].topology && !f->refused && (f->blocks[0].id == 0 || f->name_length == 255);
}

/* Distribution factors whose number does not fit the sides can still be read as an array. */
static void check_unfit_factors(tutti_exodus *x) {
    double factors[3] = {0};
    const tutti_exodus_array a = {.array_kind = TUTTI_EXODUS_FACTORS,
                                  .kind = TUTTI_EXODUS_SIDE_SET,
                                  .id = 2,
                                  .n = 3,
                                  .type = TUTTI_FLOAT64,
                                  .buf = factors};
    CHECK_SAME(tutti_exodus_get_arrays(x, 1, &a), TUTTI_OK);
    for (int i = 0; i < 3; i++) CHECK(factors[i] == corpus_factor(1, i), "factor %g", factors[i]);
}

static void check_file(const corpus_file *f) {
    static const tutti_exodus_partitioner BY[] = {TUTTI_EXODUS_BY_ORDER, TUTTI_EXODUS_BY_CURVE,
                                                  TUTTI_EXODUS_ON_ROOT};
    char path[1300];
    tutti_exodus *x = NULL;
    check_where(f->file);
    snprintf(path, sizeof path, "%s/%s", dir, f->file);
    if (f->refused) {
        CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_ERR_FORMAT);
        CHECK(strstr(tutti_last_message(), f->refused), "%s", tutti_last_message());
        return;
    }
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ, NULL, &x), TUTTI_OK);
    if (!x) return;
    check_entities(x, f);
    for (int i = 0; i < 3; i++) {
        check_mesh(x, f, BY[i]);
        if (i == 0) check_results(x, f);
    }
    if (f->unfit) check_unfit_factors(x);
    if (is_copied(f)) check_copy(x, f);
    CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
}

/* Steps cannot be appended to a file with a fixed time dimension; the file is unchanged. */
static void append_to_fixed(void) {
    char path[1300];
    int64_t n = 0;
    tutti_exodus *x = NULL;
    check_where("append to a fixed time dimension");
    snprintf(path, sizeof path, "%s/fixed_time.e", dir);
    unsigned char *before = file_get(path, &n);
    CHECK_SAME(tutti_exodus_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE, NULL, &x),
               TUTTI_OK);
    if (x) {
        CHECK_SAME(tutti_exodus_begin(x, 100), TUTTI_ERR_UNSUPPORTED);
        CHECK(strstr(tutti_last_message(), "time dimension"), "%s", tutti_last_message());
        CHECK_SAME(tutti_exodus_erase_after(x, 2), TUTTI_ERR_UNSUPPORTED);
        CHECK_SAME(tutti_exodus_erase_after(x, 4), TUTTI_OK);
        CHECK_SAME(tutti_exodus_refresh(x, NULL), TUTTI_OK);
        CHECK_EQ(tutti_exodus_steps(x), 4);
        CHECK_SAME(tutti_exodus_close(&x), TUTTI_OK);
    }
    file_is(path, before, n, "after an append that was refused");
    free(before);
}

int main(int argc, char **argv) {
    harness_begin(&argc, &argv, 1319);
    snprintf(dir, sizeof dir, "%s", check_dir());
    if (rank == 0) corpus_write(dir);
    MPI_Barrier(MPI_COMM_WORLD);
    account start = account_now();
    for (int i = 0; i < CORPUS_FILES; i++) {
        check_file(&corpus_files[i]);
        if (i == 0) start = account_now(); /* after the first file, because teams are cached */
    }
    append_to_fixed();
    account_check(start);
    return harness_end();
}
