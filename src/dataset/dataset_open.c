/* dataset: open, close and refresh a dataset; find segments.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "compression/chunks.h"
#include "segments/dataset_impl.h"

#include <math.h>
#include <string.h>

/* ---- options */

static const tutti_dataset_options DEFAULTS = {.struct_size = sizeof(tutti_dataset_options),
                                               .level = TUTTI_DURABLE,
                                               .checksums = 1,
                                               .lock_timeout = 5};

void tutti_dataset_options_init_sized(tutti_dataset_options *opt, size_t struct_size) {
    if (!opt || struct_size < sizeof opt->struct_size) return;
    tutti__struct_copy(opt, struct_size, &DEFAULTS, sizeof DEFAULTS);
    opt->struct_size = struct_size;
}

tutti_err tutti__dataset_options_take(const tutti_dataset_options *opt,
                                      tutti_dataset_options *out) {
    const tutti_dataset_options *o = out;
    *out = DEFAULTS;
    TUTTI_TRY(tutti__step_object_take_options(opt, "tutti_dataset_options_init", out, sizeof *out));
    TUTTI_TRY(tutti__step_object_check_options(o->level, o->lock_timeout));
    TUTTI_CHECK(o->indices_per_file >= 0, TUTTI_ERR_OPTION, "indices_per_file is %d: must be >= 0",
                o->indices_per_file);
    TUTTI_CHECK(o->container == TUTTI_CONTAINER_NATIVE || o->container == TUTTI_CONTAINER_NETCDF,
                TUTTI_ERR_OPTION, "unknown container %d", o->container);
    return TUTTI_OK;
}

/* ---- open */

static tutti_err check_open_arguments(const char *path, int mode, const void *d_out) {
    const int all = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE | TUTTI_EXCLUSIVE;
    TUTTI_CHECK((mode & ~all) == 0, TUTTI_ERR_ARG, "mode is %d: has unknown bits %d", mode,
                mode & ~all);
    TUTTI_CHECK(mode & (TUTTI_READ | TUTTI_WRITE), TUTTI_ERR_ARG,
                "mode is %d: must have TUTTI_READ, TUTTI_WRITE or both", mode);
    TUTTI_CHECK((mode & TUTTI_WRITE) || !(mode & ~TUTTI_READ), TUTTI_ERR_ARG,
                "mode is %d: TUTTI_CREATE, TUTTI_TRUNCATE and TUTTI_EXCLUSIVE require TUTTI_WRITE",
                mode);
    return tutti__step_object_check_open(path, mode, d_out, "d_out");
}

static tutti_err create_dataset(const char *path, int mode, const tutti_dataset_options *opt,
                                tutti_dataset **out) {
    tutti_dataset *d = tutti__calloc(1, sizeof *d);
    if (!d) return TUTTI_ERR_NOMEM;
    *out = d;
    d->chunk_bytes = TUTTI__CHUNK_BYTES;
    TUTTI_TRY(tutti__dataset_options_take(opt, &d->opt));
    return tutti__step_object_init(&d->base, &tutti__dataset_kind, path,
                                   mode & (TUTTI_READ | TUTTI_WRITE), d->opt.io);
}

static void free_dataset(tutti_dataset *d) {
    if (!d) return;
    TUTTI_KEEP_LAST_ERROR;
    tutti__meta_close(&d->meta);
    tutti__writings_free(d);
    tutti__model_free(&d->model);
    tutti__ncfile_free(&d->nc);
    tutti__dataset_clear_caches(d);
    tutti__free(d->places);
    tutti__free(d->listed);
    tutti__ranked_free(d);
    tutti__free(d->message);
    tutti__ncfile_free(&d->nc_next);
    tutti__free(d->files);
    tutti__step_object_release(&d->base);
    tutti__free(d);
}

/* On rank 0, open the database; TUTTI_TRUNCATE removes its contents. */
static tutti_err open_metadata(tutti_dataset *d, int mode) {
    tutti__model m;
    const tutti__meta_options opt = {.mode = mode,
                                     .durable = d->opt.level == TUTTI_DURABLE,
                                     .without_locks = d->opt.without_locks,
                                     .busy = d->opt.lock_timeout};
    TUTTI_TRY(tutti__meta_open(d->path, &opt, &d->meta));
    if (!(mode & TUTTI_TRUNCATE)) return TUTTI_OK;
    TUTTI_TRY(tutti__meta_load(d->meta, &m));
    const tutti_err err = tutti__meta_clear(d->meta, m.generation + 1);
    tutti__model_free(&m);
    return err;
}

/* Set the container of an empty dataset from the options of its first writer.   Collective. */
static tutti_err set_container(tutti_dataset *d) {
    tutti__model *m = &d->model;
    if (d->opt.container == m->container || d->opt.container == TUTTI_CONTAINER_NATIVE)
        return TUTTI_OK;
    TUTTI_CHECK(m->spaces_n + m->files_n + m->segments_n == 0, TUTTI_ERR_EXISTS,
                "the dataset already exists, and its data files are not netCDF");
    const int root = d->team->rank == 0;
    TUTTI_TRY(tutti__team_agree(
        d->team, root ? tutti__meta_set(d->meta, "container", d->opt.container) : TUTTI_OK));
    m->container = d->opt.container;
    return TUTTI_OK;
}

static const tutti__container *const CONTAINERS[] = {
    [TUTTI_CONTAINER_NATIVE] = &tutti__container_native,
    [TUTTI_CONTAINER_NETCDF] = &tutti__container_netcdf,
};

static tutti_err open_on_team(int mode, tutti_dataset *d) {
    const int root = d->team->rank == 0;
    tutti__team *team = NULL;
    /* Add a team for the first data file to the pool, since its creation blocks in MPI, which is
     * not allowed in a started operation. */
    TUTTI_TRY(tutti__team_take(d->team->comm, d->io.nodes, &team));
    tutti__team_give(&team);
    TUTTI_TRY(tutti__team_agree(d->team, root ? open_metadata(d, mode) : TUTTI_OK));
    TUTTI_TRY(tutti__dataset_load(d, &d->model));
    if (mode & TUTTI_WRITE) TUTTI_TRY(set_container(d));
    d->container = CONTAINERS[d->model.container];
    if (!(mode & TUTTI_WRITE)) return TUTTI_OK;
    TUTTI_TRY(tutti__dataset_recover(d));
    /* remove data files of a writer that was killed */
    if (root) tutti__meta_sweep(d->meta, &d->model);
    return tutti__team_agree(d->team, root ? tutti__dataset_reclaim(d) : TUTTI_OK);
}

tutti_err tutti_dataset_open(MPI_Comm comm, const char *path, int mode,
                             const tutti_dataset_options *opt, tutti_dataset **d_out) {
    TUTTI_KEEP_ERRNO;
    tutti_dataset *d = NULL;
    tutti__team *team = NULL;
    tutti_err err = check_open_arguments(path, mode, d_out);
    if (err == TUTTI_OK) err = create_dataset(path, mode, opt, &d);
    tutti__call call = {.name = "open", .what = "the dataset: its path, mode or options"};
    if (err == TUTTI_OK) {
        const tutti_dataset_options *o = &d->opt;
        const int64_t words[] = {mode,           o->level, o->indices_per_file, o->checksums,
                                 o->check_reads, o->ieee,  o->container};
        call.hash = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    }
    err = tutti__object_begin(comm, &tutti__dataset_class, &call, path, err, &team);
    if (err == TUTTI_OK) {
        d->team = team;
        err = tutti__object_error(&d->object, "open", open_on_team(mode, d));
    }
    if (err != TUTTI_OK) {
        free_dataset(d);
        return err;
    }
    tutti__handle_add(&d->handle, d->kind->class);
    TUTTI_ASSERT(tutti__dataset_is_valid(d));
    *d_out = d;
    return TUTTI_OK;
}

/* ---- close, refresh */

tutti_err tutti_dataset_close(tutti_dataset **pd) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(pd && *pd, TUTTI_ERR_ARG, "dataset handle is NULL");
    tutti_dataset *d = *pd;
    const tutti__call same = {.name = "close"};
    const tutti_err live = tutti__dataset_enter(d);
    if (live != TUTTI_OK) {
        *pd = NULL;
        return live;
    }
    TUTTI_TRY(tutti__dataset_call(d, &same, tutti__start_queue_empty(&d->starts, NULL)));
    tutti_err err = tutti__dataset_discard_begun(d);
    const tutti_err closed = tutti__dataset_file_close(d, NULL);
    if (err == TUTTI_OK) err = closed;
    err = tutti__object_error(&d->object, "close", err);
    *pd = NULL;
    free_dataset(d);
    return err;
}

tutti_err tutti_dataset_refresh(tutti_dataset *d, int *changed_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "refresh"};
    tutti__model new;
    TUTTI_TRY(tutti__dataset_enter(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, tutti__start_queue_empty(&d->starts, NULL)));
    if (changed_out) *changed_out = 0;
    if (d->mode & TUTTI_WRITE) return TUTTI_OK; /* there is no other writer */
    tutti_err err = tutti__dataset_load(d, &new);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "refresh", err);
    const tutti__model *old = &d->model;
    const int64_t n = old->segments_n;
    const int is_same =
        memcmp(old->id, new.id, sizeof old->id) == 0 && old->generation == new.generation;
    if (changed_out)
        *changed_out = !is_same || n != new.segments_n ||
                       (n > 0 && old->segments[n - 1].id != new.segments[n - 1].id);
    if (!is_same) { /* file names may refer to different files now */
        err = tutti__dataset_file_close(d, NULL);
        for (int64_t i = 0; i < new.sizes_n; i++) new.sizes[i].stamp = ++d->stamps;
    }
    tutti__model_free(&d->model);
    d->model = new;
    d->container = CONTAINERS[new.container];
    tutti__dataset_clear_caches(d);
    return tutti__dataset_named(d, "refresh", err);
}

int tutti_dataset_container(const tutti_dataset *d) {
    return tutti__dataset_live(d) == TUTTI_OK ? (int)d->model.container : TUTTI_CONTAINER_NATIVE;
}

/* ---- find segments */

tutti_count tutti_dataset_segments(const tutti_dataset *d) {
    return tutti__dataset_live(d) == TUTTI_OK ? d->model.segments_n : 0;
}

tutti_err tutti_dataset_segment_sized(const tutti_dataset *d, tutti_count number,
                                      tutti_segment *out, size_t struct_size) {
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    TUTTI_TRY(tutti__dataset_named(d, "segment", tutti__dataset_segment_check(d, number)));
    const tutti__segment_row *g = &d->model.segments[number];
    tutti_segment s = {.number = number,
                       .kind = (tutti_segment_kind)g->kind,
                       .index = g->index,
                       .time = g->time,
                       .topology = number,
                       .sections = g->sections,
                       .bytes = g->end - g->start};
    const tutti__archived *a = tutti__model_archived(&d->model, g->id);
    s.archived = a ? a->place : NULL;
    while (s.topology >= 0 && d->model.segments[s.topology].kind != TUTTI_TOPOLOGY) s.topology--;
    tutti__struct_copy(out, struct_size, &s, sizeof s);
    return TUTTI_OK;
}

/* Criterion of a search for the last segment of a kind. */
typedef struct {
    int64_t index;
    double time;
    enum { ANY, INDEX, TIME } by;
} segment_criterion;

static tutti_err find_segment(const tutti_dataset *d, tutti_segment_kind kind,
                              const segment_criterion *w, tutti_count *out) {
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    for (int64_t i = d->model.segments_n - 1; i >= 0; i--) {
        const tutti__segment_row *g = &d->model.segments[i];
        if (g->kind != (int)kind) continue;
        if (w->by == ANY || (w->by == INDEX ? g->index == w->index : g->time <= w->time)) {
            *out = i;
            return TUTTI_OK;
        }
    }
    const char *what = kind == TUTTI_STATE ? "state" : "topology";
    const tutti_err err =
        w->by == INDEX ? tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "no %s has time index %lld",
                                          what, (long long)w->index)
        : w->by == TIME
            ? tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "no %s has a time <= %g", what, w->time)
            : tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "the dataset has no %s", what);
    return tutti__dataset_named(d, "find", err);
}

tutti_err tutti_dataset_find_index(const tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                   tutti_count *out) {
    const segment_criterion w = {.index = index, .by = INDEX};
    return find_segment(d, kind, &w, out);
}

tutti_err tutti_dataset_find_time(const tutti_dataset *d, tutti_segment_kind kind, double time,
                                  tutti_count *out) {
    const segment_criterion w = {.time = time, .by = TIME};
    return find_segment(d, kind, &w, out);
}

tutti_err tutti_dataset_latest(const tutti_dataset *d, tutti_segment_kind kind, tutti_count *out) {
    const segment_criterion w = {.by = ANY};
    return find_segment(d, kind, &w, out);
}
