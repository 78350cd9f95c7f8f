/* array: local placement.  `path` is a descriptor: header, distribution, bounds.  `path`.r is the
 * Local Array File of rank r: an array with the shape of its part, opened by this rank on
 * MPI_COMM_SELF.  Descriptor and parts have the same id; the descriptor is written last.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/array_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

enum { ALL = TUTTI_READ | TUTTI_WRITE };

/* ---- this rank's part */

/* Set a->local and a->bytes for the part of this rank. */
static tutti_err set_part_spec(tutti_array *a) {
    tutti_array_spec s = a->spec;
    s.offset = TUTTI__HEADER_BYTES;
    (void)tutti_distribution_part(a->dist, tutti__file_team(a->head)->rank, s.shape);
    return tutti__spec_check(&s, &a->local, &a->bytes);
}

/* Adapt the options of rank 0 to the file of this rank's part: the options nodes and trace apply
 * only to the descriptor, and an injected fault to one rank of the descriptor.   Collective. */
static tutti_err derive_part_options(const tutti_array *a, const tutti_options *opt,
                                     tutti_options *out) {
    const tutti__team *t = tutti__file_team(a->head);
    /* the descriptor was opened with the same options */
    if (tutti__object_options(opt, out) != TUTTI_OK) (void)tutti_options_init(out);
    TUTTI_TRY(tutti__team_broadcast(tutti__file_team(a->head), out, (int)sizeof *out));
    out->nodes[0] = out->trace[0] = '\0';
    if (out->fault[0] == '*') return TUTTI_OK; /* the fault is for every rank */
    char *what = NULL;
    const long who = strtol(out->fault, &what, 10);
    if (*what && who == t->rank) { /* this rank is rank 0 of the file of its part */
        char text[sizeof out->fault];
        snprintf(text, sizeof text, "0%.*s", (int)sizeof text - 2, what);
        memcpy(out->fault, text, sizeof text);
    } else {
        out->fault[0] = '\0';
    }
    return TUTTI_OK;
}

static tutti_err open_part(tutti_array *a, const char *path, int mode, const tutti_options *opt) {
    const int rank = tutti__file_team(a->head)->rank;
    const size_t size = strlen(path) + 16;
    char *own = tutti__malloc(size);
    if (own) snprintf(own, size, "%s.%d", path, rank);
    if (!own) return TUTTI_ERR_NOMEM;
    const tutti_err err = tutti_file_open(MPI_COMM_SELF, own, mode, opt, &a->file);
    tutti__free(own);
    return err;
}

/* ---- create */

/* Return a random number that is not 0. */
static uint64_t random_id(void) {
    uint64_t id = 0;
    struct timespec t = {0, 0};
    if (getrandom(&id, sizeof id, GRND_NONBLOCK) == (ssize_t)sizeof id && id != 0) return id;
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000007u + (uint64_t)t.tv_nsec * 65537u + (uint64_t)getpid() + 1;
}

/* A new array in local placement, and the id of its files. */
typedef struct {
    const tutti_array *array;
    uint64_t id;
} new_array;

static tutti_err create_descriptor(void *context) {
    const new_array *b = context;
    const tutti_array *a = b->array;
    tutti__header h = {.version = 1,
                       .placement = TUTTI__DESCRIPTOR,
                       .spec = a->spec,
                       .bytes = 8 * a->dist->n_bounds,
                       .id = b->id,
                       .ranks = a->dist->ranks};
    memcpy(h.dim, a->dist->dim, sizeof h.dim);
    if (h.bytes > 0) {
        unsigned char *v = tutti__malloc((size_t)h.bytes);
        if (!v) return TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < a->dist->n_bounds; i++)
            tutti__store_le64(v + 8 * i, (uint64_t)a->dist->bounds[i]);
        const tutti_err err = tutti__write_here(a->head, TUTTI__HEADER_BYTES, v, (size_t)h.bytes);
        tutti__free(v);
        TUTTI_TRY(err);
    }
    return tutti__array_header_create(a->head, &h);
}

/* Create the files of a local placement.  Existing files are changed only after every rank has
 * opened its part; then no valid array exists until the descriptor is complete. */
static tutti_err create_local_files(tutti_array *a, MPI_Comm comm, const char *path,
                                    const tutti_options *opt) {
    tutti_options options;
    TUTTI_TRY(tutti_file_open(comm, path, ALL | TUTTI_CREATE, opt, &a->head));
    tutti__team *t = tutti__file_team(a->head);
    uint64_t id = t->rank == 0 ? random_id() : 0;
    TUTTI_TRY(tutti__team_broadcast(t, &id, (int)sizeof id));
    TUTTI_TRY(derive_part_options(a, opt, &options));
    tutti_err err = set_part_spec(a);
    if (err == TUTTI_OK) err = open_part(a, path, ALL | TUTTI_CREATE, &options);
    TUTTI_TRY(tutti__array_vote(a, err));
    TUTTI_TRY(tutti_file_resize(a->head, 0));
    const tutti__header h = {.version = 1,
                             .placement = TUTTI__PART,
                             .spec = a->local,
                             .bytes = a->bytes,
                             .id = id,
                             .ranks = a->dist->ranks,
                             .rank = t->rank};
    err = tutti__resize_here(a->file, 0); /* removes old contents */
    if (err == TUTTI_OK) err = tutti__array_header_create(a->file, &h);
    TUTTI_TRY(tutti__array_vote(a, tutti__array_error(a->file, "create", err)));
    new_array b = {a, id};
    return tutti__array_error(a->head, "create", tutti__on_root(t, create_descriptor, &b));
}

static tutti_err check_local_arguments(MPI_Comm comm, const char *path,
                                       const tutti_array_spec *spec, const tutti_distribution *d,
                                       tutti_array *a) {
    int size = 0;
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK(spec && d, TUTTI_ERR_ARG, "argument %s is NULL", spec ? "d" : "spec");
    TUTTI_MPI(MPI_Comm_size(comm, &size));
    tutti_array_spec in = *spec;
    tutti_off bytes;
    in.offset = TUTTI__HEADER_BYTES;
    TUTTI_TRY(tutti__spec_check(&in, &a->spec, &bytes));
    TUTTI_CHECK(d->ranks == size, TUTTI_ERR_ARG,
                "distribution is over %d ranks, but the communicator has %d", d->ranks, size);
    TUTTI_CHECK(d->ndims == in.ndims, TUTTI_ERR_ARG,
                "the distribution has %d dimensions, the array %d: must be equal", d->ndims,
                in.ndims);
    for (int i = 0; i < in.ndims; i++)
        TUTTI_CHECK(d->shape[i] == in.shape[i], TUTTI_ERR_ARG,
                    "dimension %d: distribution has %lld elements, but the array has %lld", i,
                    (long long)d->shape[i], (long long)in.shape[i]);
    return tutti__distribution_copy(d, &a->dist);
}

tutti_err tutti_array_create_local(MPI_Comm comm, const char *path, const tutti_array_spec *spec,
                                   const tutti_distribution *d, const tutti_options *opt,
                                   tutti_array **a_out) {
    TUTTI_KEEP_ERRNO;
    tutti_err err = TUTTI_ERR_NOMEM;
    uint64_t h = TUTTI__HASH_START;
    TUTTI_TRY(tutti__comm_usable(comm));
    tutti_array *a = tutti__calloc(1, sizeof *a);
    if (a) err = check_local_arguments(comm, path, spec, d, a);
    if (err == TUTTI_OK && !a_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument a_out is NULL");
    if (err == TUTTI_OK) {
        a->mode = ALL;
        h = tutti__hash(h, path, strlen(path));
        h = tutti__spec_hash(h, &a->spec);
        h = tutti__distribution_hash(h, d);
    }
    err = tutti__array_agree(comm, "create", path, err, h);
    TUTTI_ASSERT(err != TUTTI_OK || (a && a_out));
    const int agreed = err == TUTTI_OK;
    if (agreed) err = create_local_files(a, comm, path, opt);
    return tutti__array_publish(a, "create", agreed ? path : NULL, err, a_out);
}

/* ---- open */

/* Compute the number of bounds of the distribution, and check the length in the header. */
static tutti_err count_bounds(const tutti__header *h, tutti_count *n_out) {
    tutti_count n = 0;
    tutti_off ranks = 1;
    for (int d = 0; d < h->spec.ndims && ranks <= h->ranks; d++)
        ranks *= tutti__max(h->dim[d].procs, 1);
    TUTTI_CHECK(ranks == h->ranks, TUTTI_ERR_FORMAT,
                "header has %d ranks, but its distribution has %s", h->ranks,
                ranks > h->ranks ? "more" : "fewer");
    for (int d = 0; d < h->spec.ndims; d++)
        if (h->dim[d].kind == TUTTI_DIST_RAGGED) n += h->dim[d].procs + (tutti_count)1;
    TUTTI_CHECK(h->bytes == 8 * n, TUTTI_ERR_FORMAT,
                "header has %lld bytes of bounds: the distribution requires %lld",
                (long long)h->bytes, (long long)(8 * n));
    *n_out = n;
    return TUTTI_OK;
}

typedef struct {
    tutti_file *head;
    tutti_off at;
    void *to;
    size_t bytes;
} bounds_range;

static tutti_err read_bounds(void *context) {
    const bounds_range *b = context;
    return tutti__read_here(b->head, b->at, b->to, b->bytes);
}

static tutti_err restore_distribution(tutti_array *a, tutti__header *h, const unsigned char *v,
                                      tutti_count *bounds) {
    tutti_count at = 0;
    for (int d = 0; d < h->spec.ndims; d++) {
        if (h->dim[d].kind != TUTTI_DIST_RAGGED) continue;
        h->dim[d].bounds = bounds + at;
        for (int p = 0; p <= h->dim[d].procs; p++, at++)
            bounds[at] = (tutti_count)tutti__load_le64(v + 8 * at);
    }
    const tutti_err err = tutti_distribution_make(h->spec.ndims, h->spec.shape, h->dim, &a->dist);
    if (err != TUTTI_ERR_ARG) return err;
    TUTTI_FAIL(TUTTI_ERR_FORMAT, "the distribution in the header is invalid: %.300s",
               tutti_last_error()->text);
}

/* Read the distribution from the descriptor.   Collective. */
static tutti_err read_distribution(tutti_array *a, tutti__header *h) {
    tutti_count n = 0, *bounds = NULL;
    unsigned char *v = NULL;
    int bytes = 0;
    tutti_err err = count_bounds(h, &n); /* same result on all ranks */
    if (err == TUTTI_OK) err = tutti__narrow_int(8 * n, &bytes);
    if (err == TUTTI_OK) {
        v = tutti__malloc((size_t)bytes);
        bounds = tutti__malloc((size_t)bytes);
        if (!v || !bounds) err = TUTTI_ERR_NOMEM;
    }
    err = tutti__team_agree(tutti__file_team(a->head), err);
    TUTTI_ASSERT(err != TUTTI_OK || (v && bounds));
    bounds_range bounds_at = {a->head, h->spec.offset, v, (size_t)bytes};
    if (err == TUTTI_OK && n > 0)
        err = tutti__on_root_share(tutti__file_team(a->head), read_bounds, &bounds_at, v, bytes);
    if (err == TUTTI_OK)
        err = tutti__team_agree(tutti__file_team(a->head), restore_distribution(a, h, v, bounds));
    tutti__free(bounds);
    tutti__free(v);
    return err;
}

static tutti_err check_part_header(const tutti_array *a, uint64_t id) {
    tutti__header h;
    const int rank = tutti__file_team(a->head)->rank;
    TUTTI_TRY(tutti__array_header_read(a->file, &h));
    TUTTI_CHECK(h.placement == TUTTI__PART && h.id == id, TUTTI_ERR_FORMAT,
                "file is not a part of the array in the descriptor");
    TUTTI_CHECK(h.rank == rank && h.ranks == a->dist->ranks, TUTTI_ERR_FORMAT,
                "file is part %d of %d, expected part %d of %d", h.rank, h.ranks, rank,
                a->dist->ranks);
    if (tutti__spec_expect(&a->local, &h.spec) == TUTTI_OK) return TUTTI_OK;
    TUTTI_FAIL(TUTTI_ERR_FORMAT, "part and descriptor disagree: %.300s", tutti_last_error()->text);
}

tutti_err tutti__array_open_part(tutti_array *a, const char *path, const tutti__header *h,
                                 const tutti_options *opt) {
    tutti__header own = *h;
    tutti_options options;
    tutti__team *t = tutti__file_team(a->head);
    tutti_err err = TUTTI_OK;
    if (h->ranks != t->size)
        err = tutti__error_set(TUTTI_ERR_MISMATCH, 0, -1,
                               "array is stored in %d parts, but the communicator has %d ranks",
                               h->ranks, t->size);
    TUTTI_TRY(tutti__team_agree(t, err));
    TUTTI_TRY(read_distribution(a, &own));
    TUTTI_TRY(derive_part_options(a, opt, &options));
    err = set_part_spec(a);
    if (err == TUTTI_OK) err = open_part(a, path, a->mode | TUTTI_READ, &options);
    if (err == TUTTI_OK) err = tutti__array_error(a->file, "open", check_part_header(a, h->id));
    return tutti__array_vote(a, err);
}

/* ---- inspect */

tutti_err tutti_array_inspect(const char *path, const tutti_options *opt,
                              tutti_array_spec *spec_out, tutti_distribution **d_out) {
    TUTTI_KEEP_ERRNO;
    tutti_array a;
    tutti__header h;
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK(spec_out, TUTTI_ERR_ARG, "argument spec_out is NULL");
    memset(&a, 0, sizeof a);
    TUTTI_TRY(tutti_file_open(MPI_COMM_SELF, path, TUTTI_READ, opt, &a.head));
    tutti_err err = tutti__array_header_read(a.head, &h);
    if (err == TUTTI_OK && h.placement == TUTTI__DESCRIPTOR) err = read_distribution(&a, &h);
    err = tutti__array_error(a.head, "inspect", err);
    err = TUTTI_ALSO(err, tutti_file_close(&a.head));
    if (err == TUTTI_OK) {
        *spec_out = h.spec;
        if (d_out) {
            *d_out = a.dist;
            a.dist = NULL;
        }
    }
    tutti_distribution_free(&a.dist);
    return err;
}
