/* Random sequences of calls on a dataset, compared with a serial model: topologies and states; complete and
 * partial puts, blocking and nonblocking; several segments per commit; discarding and erasing segments; closing
 * and opening the dataset again; a concurrent reader.  Committed data always equals the model.
 *
 * With netCDF data files, topologies have variables a and c, and every state has all other variables; the type
 * of variable e changes sometimes.  Whenever no segment has begun, every file passes ncvalidator.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_SEQUENCES_H
#define TUTTI_TESTS_SEQUENCES_H

#include "dataset/datasets.h"

enum { VARIABLES = 8, MOST = 64, STEPS = 40 };

static char path[512];
static int netcdf;
static int validator; /* whether the data files are netCDF and ncvalidator is installed */

static const struct {
    const char *name;
    tutti_variable_spec spec;
} variables[VARIABLES] = {
    {"a", {.space = "grid", .type = TUTTI_FLOAT64}},
    {"b", {.space = "grid", .type = TUTTI_INT16, .order = TUTTI_BIG_ENDIAN, .fill = 5}},
    {"c",
     {.space = "nodes", .type = TUTTI_FLOAT32, .item = TUTTI_VECTOR, .components = 2, .fill = 77}},
    {"d", {.space = "nodes", .type = TUTTI_FLOAT64, .layout = TUTTI_RANKED, .fill = 3}},
    {"e", {.space = "nodes", .type = TUTTI_UINT8, .order = TUTTI_BIG_ENDIAN}},
    {"f", {.space = "grid", .type = TUTTI_INT64, .layout = TUTTI_RANKED, .fill = 9}},
    {"g", {.space = "nodes", .type = TUTTI_FLOAT32, .compress = 3, .order = TUTTI_BIG_ENDIAN}},
    {"h", {.space = "grid", .type = TUTTI_INT16, .compress = 1, .fill = 4}},
};

static int numbers_of(int i) {
    return variables[i].spec.item == TUTTI_VECTOR ? 2 : 1;
}

static tutti_variable_spec spec_of(int i) {
    tutti_variable_spec spec = variables[i].spec;
    if (netcdf) {
        spec.layout = TUTTI_GLOBAL;
        spec.compress = 0;
        spec.order = TUTTI_NATIVE_ENDIAN;
    }
    return spec;
}

/* Return whether segments of this kind can have variable `i`: in netCDF files, variables a and c are in
 * topologies and all others in states. */
static int fits(tutti_segment_kind kind, int i) {
    return !netcdf || (kind == TUTTI_TOPOLOGY) == (i < 3 && i != 1);
}

static int on_grid(int i) {
    return strcmp(variables[i].spec.space, "grid") == 0;
}

/* ---- the model: the same on all ranks */

typedef struct {
    tutti_segment_kind kind;
    int64_t index;
    tutti_count grid, nodes; /* number of entries of the spaces in this segment */
    int64_t ids;             /* argument `topology` of id_of(); -1: ids are positions */
    /* [entries * values per entry]; NULL: the segment does not have this variable */
    double *v[VARIABLES];
} segment;

typedef struct {
    segment s[MOST];
    int n;
} history;

static tutti_count entries_of(const segment *s, int i) {
    return on_grid(i) ? s->grid : s->nodes;
}

static void segment_free(segment *s) {
    for (int i = 0; i < VARIABLES; i++) free(s->v[i]);
    *s = (segment){0};
}

static void history_cut(history *h, int n) {
    while (h->n > n) segment_free(&h->s[--h->n]);
}

/* ---- a dataset with its model */

typedef struct {
    tutti_dataset *d, *reader;
    history committed; /* committed segments */
    history begun;     /* segments begun since the last commit; the last of them is being written */
    int seen;          /* number of segments that the reader has seen */
    tutti_dataset_options opt;
    int salt;
} run;

static const segment *latest(const run *r) {
    if (r->begun.n) return &r->begun.s[r->begun.n - 1];
    return r->committed.n ? &r->committed.s[r->committed.n - 1] : NULL;
}

static void open_dataset(run *r) {
    CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE,
                                  &r->opt, &r->d),
               TUTTI_OK);
    if (r->committed.n == 0)
        CHECK_SAME(tutti_dataset_grid(r->d, "grid", 2, (tutti_count[]){9, 11}), TUTTI_OK);
    CHECK_SAME(tutti_dataset_list(r->d, "nodes"), TUTTI_OK);
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_variable_spec spec = spec_of(i);
        CHECK_SAME(tutti_dataset_variable(r->d, variables[i].name, &spec), TUTTI_OK);
    }
    CHECK_EQ(tutti_dataset_container(r->d), r->opt.container);
}

/* Check all netCDF files with ncvalidator; no segment may have begun. */
static void check_files(void) {
    char command[1800];
    if (!netcdf || !validator) return;
    MPI_Barrier(MPI_COMM_WORLD);
    snprintf(command, sizeof command,
             "for f in '%s'/*.nc; do [ ! -e $f ] || ncvalidator $f >'%s.said' 2>&1 || "
             "{ cat '%s.said' >&2; exit 1; }; done",
             path, path, path);
    if (rank == 0) CHECK(system(command) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Begin a topology that sets new sizes, or a state; `also`: in the same commit as the previous segment. */
static void begin_segment(run *r, int also) {
    const segment *before = latest(r);
    segment s = {.kind = !before || rnd(4) == 0 ? TUTTI_TOPOLOGY : TUTTI_STATE,
                 .grid = before ? before->grid : 99,
                 .nodes = before ? before->nodes : 0,
                 .ids = before ? before->ids : -1};
    s.index = before ? before->index + 1 + rnd(3) : 0;
    if (before && before->kind == TUTTI_TOPOLOGY && s.kind == TUTTI_STATE && rnd(2))
        s.index = before->index;
    CHECK_SAME(also ? tutti_dataset_begin_also(r->d, s.kind, s.index, (double)s.index)
                    : tutti_dataset_begin(r->d, s.kind, s.index, (double)s.index),
               TUTTI_OK);
    if (s.kind == TUTTI_TOPOLOGY) {
        const int with_ids = (int)rnd(2);
        if (rnd(2)) {
            const tutti_count shape[2] = {1 + rnd(30), 1 + rnd(30)};
            s.grid = shape[0] * shape[1];
            CHECK_SAME(tutti_dataset_resize(r->d, "grid", 2, shape), TUTTI_OK);
        }
        s.nodes = 1 + rnd(900);
        s.ids = with_ids ? s.index : -1;
        if (with_ids) {
            const tutti_count lo = s.nodes * rank / ranks, hi = s.nodes * (rank + 1) / ranks;
            int64_t *ids = malloc((size_t)(hi - lo + 1) * sizeof *ids);
            for (tutti_count k = lo; k < hi; k++) ids[k - lo] = id_of(s.ids, k);
            CHECK_SAME(tutti_dataset_ids(r->d, "nodes", hi - lo, ids), TUTTI_OK);
            free(ids);
        } else {
            CHECK_SAME(tutti_dataset_resize(r->d, "nodes", 1, &s.nodes), TUTTI_OK);
        }
    }
    r->begun.s[r->begun.n++] = s;
}

/* ---- writing variables */

typedef struct {
    distribution how;
    local_entries l;
    void *buf;
    tutti_type type;
} one_put;

static tutti_type type_of(int salt) {
    static const tutti_type types[] = {TUTTI_FLOAT64, TUTTI_FLOAT32, TUTTI_INT32, TUTTI_UINT64};
    return types[salt % 4];
}

/* Write some variables in one call, or all that the segment does not have yet (`missing`).  Ranked variables
 * are written only once per segment, compressed variables whole. */
static void put_variables(run *r, int missing) {
    segment *s = &r->begun.s[r->begun.n - 1];
    one_put one[VARIABLES];
    tutti_put puts[VARIABLES];
    int which[VARIABLES], n = 0;
    const int started = rnd(3) == 0;
    for (int i = 0; i < VARIABLES; i++) {
        const tutti_variable_spec spec = spec_of(i);
        const int again = spec.layout != TUTTI_RANKED, waits = spec.compress > 0;
        if (!fits(s->kind, i) || (missing && s->v[i])) continue;
        if (!missing && (rnd(3) == 0 || (!again && s->v[i]) || (started && waits))) continue;
        which[n++] = i;
    }
    const int salt = ++r->salt;
    for (int k = 0; k < n; k++) {
        const int i = which[k], numbers = numbers_of(i);
        const tutti_count entries = entries_of(s, i);
        one_put *o = &one[k];
        o->how = (distribution){.kind = (tutti_decomposition_kind)(TUTTI_BY_INDEX + rnd(3)),
                                .seed = (uint64_t)rnd(1000),
                                .holes = spec_of(i).compress || rnd(2) ? 0 : (int)rnd(17),
                                .copies = (int)rnd(8)};
        o->type = type_of((int)rnd(4));
        o->l = distribute_entries(r->d, variables[i].spec.space, -1, &o->how, entries,
                                  on_grid(i) ? -1 : s->ids);
        o->buf = calloc((size_t)(o->l.n * numbers) + 1, 8);
        for (tutti_count e = 0; e < o->l.n; e++)
            for (int c = 0; c < numbers; c++)
                number_set(o->type, o->buf, e * numbers + c,
                           number_at(i, salt, o->l.position[e], c));
        if (!s->v[i]) {
            s->v[i] = malloc((size_t)(entries * numbers + 1) * sizeof *s->v[i]);
            for (tutti_count e = 0; e < entries * numbers; e++) s->v[i][e] = variables[i].spec.fill;
        }
        for (tutti_count p = 0; p < entries; p++)
            for (int c = 0; c < numbers && is_on_any_rank(&o->how, p, ranks); c++)
                s->v[i][p * numbers + c] = number_at(i, salt, p, c);
        puts[k] = (tutti_put){variables[i].name, o->l.p, o->type, o->buf};
    }
    if (started) {
        tutti_request *request = NULL;
        CHECK_SAME(tutti_dataset_put_start(r->d, n, puts, &request), TUTTI_OK);
        CHECK_SAME(tutti_request_wait(&request, NULL), TUTTI_OK);
    } else {
        CHECK_SAME(tutti_dataset_put(r->d, n, puts), TUTTI_OK);
    }
    for (int k = 0; k < n; k++) {
        local_entries_free(&one[k].l);
        free(one[k].buf);
    }
}

/* ---- checking */

static void check_variable(run *r, tutti_dataset *d, int at) {
    const segment *s = &r->committed.s[at];
    const int i = (int)rnd(VARIABLES), numbers = numbers_of(i);
    const distribution how = {.kind = (tutti_decomposition_kind)(TUTTI_BY_INDEX + rnd(3)),
                              .seed = (uint64_t)rnd(1000),
                              .holes = rnd(2) ? 0 : (int)rnd(17),
                              .copies = (int)rnd(8)};
    const tutti_type type = type_of((int)rnd(4));
    tutti_segment g;
    CHECK_OK(tutti_dataset_segment(d, at, &g));
    CHECK(g.kind == s->kind && g.index == s->index, "segment %d is another", at);
    if (entries_of(s, i) == 0) return;
    local_entries l = distribute_entries(d, variables[i].spec.space, at, &how, entries_of(s, i),
                                         on_grid(i) ? -1 : s->ids);
    void *buf = calloc((size_t)(l.n * numbers) + 1, 8);
    const tutti_get get = {variables[i].name, l.p, type, buf};
    CHECK_SAME(tutti_dataset_get(d, at, 1, &get), s->v[i] ? TUTTI_OK : TUTTI_ERR_NOT_FOUND);
    for (tutti_count e = 0; e < l.n && s->v[i]; e++)
        for (int c = 0; c < numbers; c++) {
            const double want = s->v[i][l.position[e] * numbers + c];
            CHECK(number_get(type, buf, e * numbers + c) == want,
                  "segment %d, %s at %lld: %g, not %g", at, variables[i].name,
                  (long long)l.position[e], number_get(type, buf, e * numbers + c), want);
        }
    free(buf);
    local_entries_free(&l);
}

static void check_dataset(run *r) {
    CHECK_EQ(tutti_dataset_segments(r->d), r->committed.n);
    for (int k = 0; k < 3 && r->committed.n; k++) check_variable(r, r->d, (int)rnd(r->committed.n));
    if (!r->reader && r->committed.n) {
        CHECK_SAME(tutti_dataset_open(MPI_COMM_WORLD, path, TUTTI_READ, &r->opt, &r->reader),
                   TUTTI_OK);
        r->seen = r->committed.n;
    } else if (r->reader && rnd(2)) {
        CHECK_SAME(tutti_dataset_refresh(r->reader, NULL), TUTTI_OK);
        r->seen = r->committed.n;
    }
    if (!r->reader) return;
    CHECK_EQ(tutti_dataset_segments(r->reader), r->seen);
    for (int k = 0; k < 2 && r->seen; k++) check_variable(r, r->reader, (int)rnd(r->seen));
}

/* ---- the operations that are allowed now */

/* Write the variables that a state of a netCDF file lacks: it must have all variables of the first
 * state. */
static void complete_state(run *r) {
    if (netcdf && r->begun.s[r->begun.n - 1].kind == TUTTI_STATE) put_variables(r, 1);
}

static void commit_segments(run *r) {
    complete_state(r);
    CHECK_SAME(tutti_dataset_commit(r->d), TUTTI_OK);
    for (int k = 0; k < r->begun.n; k++) r->committed.s[r->committed.n++] = r->begun.s[k];
    r->begun.n = 0;
}

static void erase_segments(run *r) {
    const int keep = (int)rnd(r->committed.n + 1);
    CHECK_SAME(tutti_dataset_erase_after(r->d, keep - 1), TUTTI_OK);
    history_cut(&r->committed, keep);
    if (!r->reader) return;
    CHECK_SAME(tutti_dataset_refresh(r->reader, NULL), TUTTI_OK);
    r->seen = r->committed.n;
}

static void make_step(run *r) {
    const int what = (int)rnd(20);
    if (r->begun.n && what < 9) {
        put_variables(r, 0);
    } else if (r->begun.n && what < 12 && r->committed.n + r->begun.n < MOST) {
        complete_state(r);
        begin_segment(r, 1);
    } else if (r->begun.n && what < 17) {
        commit_segments(r);
        check_dataset(r);
    } else if (r->begun.n && what < 18) {
        CHECK_SAME(tutti_dataset_discard(r->d), TUTTI_OK);
        history_cut(&r->begun, 0);
    } else if (!r->begun.n && what < 15 && r->committed.n < MOST) {
        const tutti_type e[] = {TUTTI_UINT8, TUTTI_INT32};
        if (netcdf && rnd(6) == 0)
            CHECK_SAME(tutti_dataset_put_type(r->d, "e", e[rnd(2)]), TUTTI_OK);
        begin_segment(r, 0);
    } else if (!r->begun.n && what < 17) {
        erase_segments(r);
    } else if (what == 19) {
        CHECK_SAME(tutti_dataset_close(&r->d), TUTTI_OK);
        history_cut(&r->begun, 0);
        open_dataset(r);
        check_dataset(r);
    } else {
        check_dataset(r);
    }
    if (!r->begun.n) check_files();
}

static void run_sequence(int indices_per_file) {
    run r = {.opt = visible()};
    r.opt.indices_per_file = indices_per_file;
    r.opt.container = netcdf ? TUTTI_CONTAINER_NETCDF : TUTTI_CONTAINER_NATIVE;
    r.opt.check_reads = (int)rnd(2);
    dataset_remove(path);
    open_dataset(&r);
    for (int k = 0; k < STEPS; k++) make_step(&r);
    CHECK_SAME(tutti_dataset_close(&r.d), TUTTI_OK);
    if (r.reader) CHECK_SAME(tutti_dataset_close(&r.reader), TUTTI_OK);
    history_cut(&r.begun, 0);
    open_dataset(&r);
    check_dataset(&r);
    CHECK_SAME(tutti_dataset_verify(r.d, NULL), TUTTI_OK);
    CHECK_SAME(tutti_dataset_close(&r.d), TUTTI_OK);
    if (r.reader) CHECK_SAME(tutti_dataset_close(&r.reader), TUTTI_OK);
    history_cut(&r.committed, 0);
}

/* Run the complete test; argument: number of sequences (default: 2, full tier: 40). */
static int sequences_run(int argc, char **argv, int number) {
    const char *tier = getenv("TUTTI_TEST_TIER");
    const int sequences = argc > 1 ? atoi(argv[1]) : tier && !strcmp(tier, "full") ? 40 : 2;
    harness_begin(&argc, &argv, number);
    snprintf(path, sizeof path, "%s/t%d.tutti", check_dir(), number);
    if (netcdf) validator = system("command -v ncvalidator >/dev/null") == 0;
    some_n = ranks;
    some_rank = rank;
    for (int k = 0; k < sequences; k++) {
        char where[64];
        snprintf(where, sizeof where, "sequence %d", k);
        check_where(where);
        run_sequence((int)rnd(3));
    }
    dataset_remove(path);
    return harness_end();
}

#endif
