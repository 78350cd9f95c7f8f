/* dataset: open, close, refresh; segments, as a reader asks for them.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/which_mpi.h"
#include "compression/chunks.h"
#include "segments/dataset_impl.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- options */

static const tutti_dataset_options DEFAULTS = {.struct_size = sizeof(tutti_dataset_options),
                                               .level = TUTTI_DURABLE,
                                               .checksums = 1,
                                               .lock_timeout = 5};

void tutti_dataset_options_init_sized(tutti_dataset_options *opt, size_t struct_size) {
    if (!opt || struct_size < sizeof opt->struct_size) return;
    memset(opt, 0, struct_size);
    memcpy(opt, &DEFAULTS, struct_size < sizeof DEFAULTS ? struct_size : sizeof DEFAULTS);
    opt->struct_size = struct_size;
}

tutti_err tutti__dataset_options_take(const tutti_dataset_options *opt,
                                      tutti_dataset_options *out) {
    *out = DEFAULTS;
    if (opt) {
        TUTTI_CHECK(opt->struct_size >= sizeof opt->struct_size, TUTTI_ERR_ARG,
                    "the options are not initialised: begin with tutti_dataset_options_init");
        const size_t n = opt->struct_size;
        memcpy(out, opt, n < sizeof *out ? n : sizeof *out);
    }
    const tutti_dataset_options *o = out;
    TUTTI_CHECK(o->level == TUTTI_DURABLE || o->level == TUTTI_VISIBLE, TUTTI_ERR_OPTION,
                "level %d is neither TUTTI_DURABLE nor TUTTI_VISIBLE", o->level);
    TUTTI_CHECK(o->indices_per_file >= 0, TUTTI_ERR_OPTION, "%d time indices per file",
                o->indices_per_file);
    TUTTI_CHECK(o->container == TUTTI_CONTAINER_NATIVE || o->container == TUTTI_CONTAINER_NETCDF,
                TUTTI_ERR_OPTION, "container %d is none", o->container);
    TUTTI_CHECK(o->lock_timeout >= 0 && o->lock_timeout <= 86400, TUTTI_ERR_OPTION,
                "lock_timeout is %g seconds: must be 0 to 86400", o->lock_timeout);
    return TUTTI_OK;
}

static tutti_err options_take(const tutti_dataset_options *opt, tutti_dataset *d) {
    TUTTI_TRY(tutti__dataset_options_take(opt, &d->opt));
    return d->opt.io ? tutti__options_take(d->opt.io, &d->io) : tutti_options_init(&d->io);
}

/* ---- open */

static tutti_err open_check(const char *path, int mode, const void *d_out) {
    const int all = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_TRUNCATE | TUTTI_EXCLUSIVE;
    TUTTI_CHECK(d_out, TUTTI_ERR_ARG, "nowhere to put the dataset");
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "the path is empty");
    TUTTI_CHECK(strlen(path) < 3800, TUTTI_ERR_ARG, "the path is too long");
    TUTTI_CHECK((mode & ~all) == 0 && (mode & (TUTTI_READ | TUTTI_WRITE)), TUTTI_ERR_ARG,
                "mode %d: TUTTI_READ, TUTTI_WRITE or both, and no more than CREATE, TRUNCATE, "
                "EXCLUSIVE",
                mode);
    TUTTI_CHECK((mode & TUTTI_WRITE) || !(mode & ~TUTTI_READ), TUTTI_ERR_ARG,
                "mode %d: what is made or emptied is opened for writing", mode);
    return mode & TUTTI_WRITE ? tutti__launch_check() : TUTTI_OK;
}

static tutti_err object_make(const char *path, int mode, const tutti_dataset_options *opt,
                             tutti_dataset **out) {
    static atomic_llong number;
    tutti_dataset *d = tutti__calloc(1, sizeof *d);
    if (!d) return TUTTI_ERR_NOMEM;
    *out = d;
    d->handle.class = &tutti__dataset_class;
    d->mode = mode & (TUTTI_READ | TUTTI_WRITE);
    d->number = atomic_fetch_add(&number, 1) + 1;
    d->chunk_bytes = TUTTI__CHUNK_BYTES;
    d->path = tutti__strdup(path);
    if (!d->path) return TUTTI_ERR_NOMEM;
    return options_take(opt, d);
}

static void object_free(tutti_dataset *d) {
    if (!d) return;
    TUTTI_KEEP_LAST_ERROR;
    tutti__meta_close(&d->meta);
    tutti__writings_free(d);
    tutti__model_free(&d->model);
    tutti__ncfile_free(&d->nc);
    tutti__dataset_forget(d);
    tutti__free(d->places);
    tutti__free(d->listed);
    tutti__ranked_free(d);
    tutti__free(d->message);
    tutti__ncfile_free(&d->nc_next);
    tutti__free(d->files);
    if (d->aside) tutti__team_give(&d->aside);
    if (d->team) tutti__team_give(&d->team);
    tutti__handle_remove(&d->handle);
    tutti__free(d->path);
    tutti__free(d);
}

/* Rank 0: an empty dataset, whatever was there. */
static tutti_err empty(tutti_dataset *d) {
    tutti__model m;
    TUTTI_TRY(tutti__meta_load(d->meta, &m));
    tutti_err err = tutti__meta_clear(d->meta, m.generation + 1);
    tutti__model_free(&m);
    return err;
}

static tutti_err meta_open(tutti_dataset *d, int mode) {
    const tutti__meta_options opt = {.mode = mode,
                                     .durable = d->opt.level == TUTTI_DURABLE,
                                     .without_locks = d->opt.without_locks,
                                     .busy = d->opt.lock_timeout};
    TUTTI_TRY(tutti__meta_open(d->path, &opt, &d->meta));
    return mode & TUTTI_TRUNCATE ? empty(d) : TUTTI_OK;
}

/* Writers: what data files are is said when there is nothing yet.   Collective. */
static tutti_err container_take(tutti_dataset *d) {
    tutti__model *m = &d->model;
    if (d->opt.container == m->container || d->opt.container == TUTTI_CONTAINER_NATIVE)
        return TUTTI_OK;
    TUTTI_CHECK(m->spaces_n + m->files_n + m->segments_n == 0, TUTTI_ERR_EXISTS,
                "the dataset is there already, and its data files are not netCDF");
    const int root = d->team->rank == 0;
    TUTTI_TRY(tutti__dataset_agree(d, root ? tutti__meta_set(d->meta, "container", d->opt.container)
                                           : TUTTI_OK));
    m->container = d->opt.container;
    return TUTTI_OK;
}

static const tutti__container *const CONTAINERS[] = {
    [TUTTI_CONTAINER_NATIVE] = &tutti__container_native,
    [TUTTI_CONTAINER_NETCDF] = &tutti__container_netcdf,
};

/* Rank 0, writers: what a killed one has left. */
static tutti_err tidy(tutti_dataset *d) {
    tutti__meta_sweep(d->meta, &d->model);
    return tutti__dataset_reclaim(d);
}

/* A team for the first data file is in the pool from now on: making one blocks in MPI, which an operation that was started
 * must not do.   Collective. */
static tutti_err make_file_team(const tutti_dataset *d) {
    tutti__team *team = NULL;
    TUTTI_TRY(tutti__team_take(d->team->comm, d->io.nodes, &team));
    tutti__team_give(&team);
    return TUTTI_OK;
}

static tutti_err open_on(int mode, tutti_dataset *d) {
    const int root = d->team->rank == 0;
    TUTTI_TRY(make_file_team(d));
    TUTTI_TRY(tutti__dataset_agree(d, root ? meta_open(d, mode) : TUTTI_OK));
    TUTTI_TRY(tutti__dataset_load(d, &d->model));
    if (mode & TUTTI_WRITE) TUTTI_TRY(container_take(d));
    d->container = CONTAINERS[d->model.container];
    if (!(mode & TUTTI_WRITE)) return TUTTI_OK;
    TUTTI_TRY(tutti__dataset_recover(d));
    return tutti__dataset_agree(d, root ? tidy(d) : TUTTI_OK);
}

static uint64_t open_hash(int mode, const tutti_dataset *d) {
    const int64_t words[] = {
        mode,        d->opt.level,    d->opt.indices_per_file, d->opt.checksums, d->opt.check_reads,
        d->opt.ieee, d->opt.container};
    return tutti__hash(TUTTI__HASH_START, words, sizeof words);
}

tutti_err tutti_dataset_open(MPI_Comm comm, const char *path, int mode,
                             const tutti_dataset_options *opt, tutti_dataset **d_out) {
    TUTTI_KEEP_ERRNO;
    tutti_dataset *d = NULL;
    tutti__team *team = NULL;
    tutti_err err = open_check(path, mode, d_out);
    if (err == TUTTI_OK) err = object_make(path, mode, opt, &d);
    const tutti__call call = {.name = "open",
                              .what = "the dataset: its path, mode or options",
                              .hash = err == TUTTI_OK ? open_hash(mode, d) : 0};
    err = tutti__object_begin(comm, &tutti__dataset_class, &call, path, err, &team);
    if (err == TUTTI_OK) {
        d->team = team;
        err = tutti__dataset_named(d, "open", open_on(mode, d));
    }
    if (err != TUTTI_OK) {
        object_free(d);
        return err;
    }
    tutti__handle_add(&d->handle, &tutti__dataset_class);
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
    tutti_err err = tutti__dataset_give_up(d);
    const tutti_err closed = tutti__dataset_file_close(d, NULL);
    if (err == TUTTI_OK) err = closed;
    err = tutti__dataset_named(d, "close", err);
    *pd = NULL;
    object_free(d);
    return err;
}

/* The same dataset, from which nothing has been removed. */
static int same_dataset(const tutti__model *a, const tutti__model *b) {
    return a->generation == b->generation && memcmp(a->id, b->id, sizeof a->id) == 0;
}

static int models_equal(const tutti__model *a, const tutti__model *b) {
    return same_dataset(a, b) && a->segments_n == b->segments_n &&
           (a->segments_n == 0 ||
            a->segments[a->segments_n - 1].id == b->segments[b->segments_n - 1].id);
}

tutti_err tutti_dataset_refresh(tutti_dataset *d, int *changed_out) {
    TUTTI_KEEP_ERRNO;
    const tutti__call same = {.name = "refresh"};
    tutti__model new;
    TUTTI_TRY(tutti__dataset_enter(d));
    TUTTI_TRY(tutti__dataset_call(d, &same, tutti__start_queue_empty(&d->starts, NULL)));
    if (changed_out) *changed_out = 0;
    if (d->mode & TUTTI_WRITE) return TUTTI_OK; /* nobody else writes */
    tutti_err err = tutti__dataset_load(d, &new);
    if (err != TUTTI_OK) return tutti__dataset_named(d, "refresh", err);
    if (changed_out) *changed_out = !models_equal(&d->model, &new);
    if (!same_dataset(&d->model, &new)) { /* names of files may be others' now */
        err = tutti__dataset_file_close(d, NULL);
        for (int64_t i = 0; i < new.sizes_n; i++) new.sizes[i].stamp = ++d->stamps;
    }
    tutti__model_free(&d->model);
    d->model = new;
    d->container = CONTAINERS[new.container];
    tutti__dataset_forget(d);
    return tutti__dataset_named(d, "refresh", err);
}

int tutti_dataset_container(const tutti_dataset *d) {
    return tutti__dataset_live(d) == TUTTI_OK ? (int)d->model.container : TUTTI_CONTAINER_NATIVE;
}

/* ---- asking for segments */

tutti_count tutti_dataset_segments(const tutti_dataset *d) {
    return tutti__dataset_live(d) == TUTTI_OK ? d->model.segments_n : 0;
}

tutti_err tutti_dataset_segment_sized(const tutti_dataset *d, tutti_count number,
                                      tutti_segment *out, size_t struct_size) {
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "nowhere to put the segment");
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
    memset(out, 0, struct_size);
    memcpy(out, &s, struct_size < sizeof s ? struct_size : sizeof s);
    return TUTTI_OK;
}

/* The last segment of a kind that `fits`. */
typedef struct {
    int64_t index;
    double time;
    enum { ANY, INDEX, TIME } by;
} wanted;

static tutti_err find(const tutti_dataset *d, tutti_segment_kind kind, const wanted *w,
                      tutti_count *out) {
    TUTTI_TRY(tutti__dataset_live(d));
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "nowhere to put the segment's number");
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
        w->by == INDEX
            ? tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "there is no %s with time index %lld",
                               what, (long long)w->index)
            : tutti__error_set(TUTTI_ERR_NOT_FOUND, 0, -1, "there is no %s%s", what,
                               w->by == TIME ? " as early as that" : "");
    return tutti__dataset_named(d, "find", err);
}

tutti_err tutti_dataset_find_index(const tutti_dataset *d, tutti_segment_kind kind, int64_t index,
                                   tutti_count *out) {
    const wanted w = {.index = index, .by = INDEX};
    return find(d, kind, &w, out);
}

tutti_err tutti_dataset_find_time(const tutti_dataset *d, tutti_segment_kind kind, double time,
                                  tutti_count *out) {
    const wanted w = {.time = time, .by = TIME};
    return find(d, kind, &w, out);
}

tutti_err tutti_dataset_latest(const tutti_dataset *d, tutti_segment_kind kind, tutti_count *out) {
    const wanted w = {.by = ANY};
    return find(d, kind, &w, out);
}
