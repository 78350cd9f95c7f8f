/* collective: the file object: open, close, size, sync.
 *
 * Only rank 0 creates and truncates; the other ranks then open the existing file.  So a file is
 * created once, with one set of permissions, and TUTTI_EXCLUSIVE is exact.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/find.h"
#include "collective/request.h"
#include "comm/call.h"
#include "comm/collective_count.h"
#include "comm/vote.h"
#include "comm/wait.h"
#include "direct/direct.h"
#include "exchange/message.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/machine.h"
#include "base/options_impl.h"
#include "base/trace.h"
#include "comm/which_mpi.h"

enum {
    ALL_MODES =
        TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE | TUTTI_EXCLUSIVE | TUTTI_TRUNCATE | TUTTI_APPEND
};

#define CHECK_FILE(f) TUTTI_TRY(tutti__file_live(f))

/* ---- open */

static tutti_err check_file_arguments(const char *path, int mode, const tutti_options *opt) {
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_CHECK((mode & ~ALL_MODES) == 0, TUTTI_ERR_ARG, "mode is %d: has unknown bits %d", mode,
                mode & ~ALL_MODES);
    TUTTI_CHECK(mode & (TUTTI_READ | TUTTI_WRITE), TUTTI_ERR_ARG,
                "mode is %d: must have TUTTI_READ, TUTTI_WRITE or both", mode);
    TUTTI_CHECK(!(mode & TUTTI_EXCLUSIVE) || (mode & TUTTI_CREATE), TUTTI_ERR_ARG,
                "mode is %d: TUTTI_EXCLUSIVE requires TUTTI_CREATE", mode);
    TUTTI_CHECK(!(mode & (TUTTI_TRUNCATE | TUTTI_APPEND | TUTTI_CREATE)) || (mode & TUTTI_WRITE),
                TUTTI_ERR_ARG,
                "mode is %d: TUTTI_CREATE, TUTTI_TRUNCATE and TUTTI_APPEND require TUTTI_WRITE",
                mode);
    if (mode & TUTTI_WRITE) TUTTI_TRY(tutti__launch_check());
    return tutti__options_check(opt);
}

/* Check that MPI provides MPI_THREAD_MULTIPLE if a thread of the library communicates. */
static tutti_err threads_check(const tutti_options *opt) {
    int level = MPI_THREAD_SINGLE;
    if (opt->background != TUTTI_BACKGROUND_ALL) return TUTTI_OK;
    TUTTI_MPI(MPI_Query_thread(&level));
    TUTTI_CHECK(level == MPI_THREAD_MULTIPLE, TUTTI_ERR_UNSUPPORTED,
                "option background=all requires MPI_THREAD_MULTIPLE: call MPI_Init_thread");
    return TUTTI_OK;
}

/* Arguments of open; the arguments of all ranks are compared with those of rank 0. */
typedef struct {
    tutti_options opt;
    tutti_profile profile;
    int64_t path;   /* hash of the path */
    char name[224]; /* end of the path; two fit into an error message */
    int mode, permissions;
} open_arguments;

static tutti_err compare_arguments(const open_arguments *local, const open_arguments *first) {
    TUTTI_CHECK(local->path == first->path, TUTTI_ERR_MISMATCH,
                "ranks open different paths: '%s' here, '%s' on rank 0", local->name, first->name);
    TUTTI_CHECK(local->mode == first->mode, TUTTI_ERR_MISMATCH,
                "ranks open with different modes: %d here, %d on rank 0", local->mode, first->mode);
    TUTTI_CHECK(local->permissions == first->permissions, TUTTI_ERR_MISMATCH,
                "ranks open with different permissions: 0%o here, 0%o on rank 0",
                (unsigned)local->permissions, (unsigned)first->permissions);
    return TUTTI_OK;
}

static tutti_err open_own_store(tutti_file *f, int permissions, int creates) {
    int flags = tutti__file_flags(f);
    if (creates && (f->mode & TUTTI_CREATE)) flags |= TUTTI_STORE_CREATE;
    if (creates && (f->mode & TUTTI_EXCLUSIVE)) flags |= TUTTI_STORE_EXCL;
    tutti_options opt = f->opt;
    opt.store = tutti__file_store(&opt, 0);
    return tutti__store_open(f->path, flags, permissions, &opt, f->team->rank, &f->stats.other,
                             &f->store);
}

/* Complete the options with the layout of the file system, agreed on by all ranks.  Ranks that are
 * bound to cores use these alone; other ranks share the cores of the node. */
static tutti_err agree_on_layout(tutti_file *f, tutti_err local_err) {
    int64_t block = 0, direct_align = 0, origin = 0, striped = 0, client_cache = 0, synchronous = 0;
    cpu_set_t set;
    const int bound = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
    int64_t keepers = tutti__staging_keepers();
    int64_t spare_cores = bound > (bound < tutti__cores() ? 1 : f->team->nodes.size);
    const tutti__reduction all[] = {
        {TUTTI__MAX, &block},       {TUTTI__MAX, &direct_align}, {TUTTI__MAX, &origin},
        {TUTTI__MAX, &striped},     {TUTTI__MAX, &client_cache}, {TUTTI__MAX, &synchronous},
        {TUTTI__MIN, &spare_cores}, {TUTTI__MAX, &keepers},
    };
    const int appends = (f->mode & (TUTTI_APPEND | TUTTI_TRUNCATE)) == TUTTI_APPEND;
    if (local_err == TUTTI_OK && appends) local_err = tutti__store_size(f->store, &origin);
    if (local_err == TUTTI_OK) {
        const tutti_store_layout *layout = &f->store->layout;
        block = tutti__max(layout->block, layout->stripe);
        direct_align = layout->direct_align;
        striped = layout->stripe > 0;
        client_cache = layout->client_cache;
        synchronous = layout->synchronous;
    }
    TUTTI_TRY(tutti__team_reduce(f->team, local_err, sizeof all / sizeof *all, all));
    tutti__staging_decide(f->team, keepers);
    tutti_off align = f->opt.striping_unit > 0 ? f->opt.striping_unit : tutti__max(block, 1);
    align = tutti__min(align, TUTTI__MESSAGE_MAX);
    f->layout.striped = (int)striped;
    f->layout.incoherent = client_cache && f->team->nodes.n > 1;
    f->layout.remote = client_cache || (striped && f->opt.striping_unit == 0);
    f->layout.spare_cores = (int)spare_cores;
    f->layout.synchronous = (int)synchronous;
    if (f->opt.direct_io) align = tutti__align_up(align, tutti__max(direct_align, 1));
    f->opt.striping_unit = align;
    if (f->opt.direct_align == 0) f->opt.direct_align = direct_align;
    f->origin = origin;
    return TUTTI_OK;
}

/* Add the path to the error of this rank, which all ranks get. */
static tutti_err name_open_error(const tutti_file *f, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context("open", f->path, -1);
    return err;
}

static int modifies_file(int mode) {
    return (mode & (TUTTI_CREATE | TUTTI_TRUNCATE)) != 0;
}

/* Close a file at MPI_Finalize, without communication; handles of the caller stay allocated
 * (handles.c). */
static void finalize_file(tutti_file *f) {
    if (!tutti__requests_drop(f)) return;
    tutti__plan_cache_clear(f);
    if (tutti__file_stores_close(f) != TUTTI_OK) tutti__error_clear();
    tutti__team_give(&f->team);
    tutti__free(f->path);
    f->path = NULL;
    tutti__memory_lend(f);
}

/* An existing file is opened by all ranks at once, with one agreement on the outcome.  A file is
 * created or truncated only after all ranks have agreed. */
static tutti_err open_stores(tutti_file *f, int permissions) {
    const int creates = f->team->rank == 0 && (f->mode & TUTTI_CREATE);
    tutti_err err = TUTTI_OK;
    if (modifies_file(f->mode)) TUTTI_TRY(tutti__team_agree(f->team, TUTTI_OK));
    if (creates) err = name_open_error(f, open_own_store(f, permissions, 1));
    if (f->mode & TUTTI_CREATE) TUTTI_TRY(tutti__team_agree(f->team, err));
    if (!creates) err = name_open_error(f, open_own_store(f, permissions, 0));
    if (err == TUTTI_OK) tutti__trace_begin(f);
    if (err == TUTTI_OK) err = tutti__open_files_add(f, finalize_file);
    /* Truncate only after all ranks have opened the file, so that a failed open changes nothing. */
    if (f->mode & TUTTI_TRUNCATE) {
        TUTTI_TRY(tutti__team_agree(f->team, err));
        if (f->team->rank == 0) err = name_open_error(f, tutti__store_resize(f->store, 0));
    }
    return agree_on_layout(f, err);
}

static void free_file(tutti_file *f) {
    if (f->background_store && tutti__store_close(&f->background_store) != TUTTI_OK)
        f->background_store = NULL;
    if (f->store && tutti__store_close(&f->store) != TUTTI_OK) f->store = NULL;
    tutti__plan_cache_clear(f);
    if (f->team) tutti__staging_release(f->team);
    tutti__team_give(&f->team);
    pthread_mutex_destroy(&f->lock);
    pthread_mutex_destroy(&f->atomic.turn);
    pthread_mutex_destroy(&f->use);
    tutti__free(f->path);
    tutti__free(f);
}

static tutti_err make_file(const char *path, int mode, const open_arguments *first,
                           tutti_file **out) {
    tutti_file *f = tutti__calloc(1, sizeof *f);
    if (!f) return TUTTI_ERR_NOMEM;
    f->mode = mode;
    f->opt = first->opt;
    f->profile = first->profile;
    f->opt.store = tutti__choose_store(&f->opt, &f->profile);
    f->path = tutti__strdup(path);
    if (!f->path) {
        tutti__free(f);
        return TUTTI_ERR_NOMEM;
    }
    pthread_mutex_init(&f->lock, NULL);
    pthread_mutex_init(&f->atomic.turn, NULL);
    pthread_mutexattr_t kind;
    pthread_mutexattr_init(&kind);
    pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&f->use, &kind);
    pthread_mutexattr_destroy(&kind);
    *out = f;
    return TUTTI_OK;
}

static tutti_err open_or_free(tutti_file *f, int permissions) {
    const tutti_err err = open_stores(f, permissions);
    if (err == TUTTI_OK) return TUTTI_OK;
    TUTTI_KEEP_LAST_ERROR;
    tutti__open_files_remove(f);
    /* remove a file that this call has certainly created */
    const int is_created = f->store && f->team->rank == 0 && (f->mode & TUTTI_EXCLUSIVE);
    if (is_created && tutti__store_delete(f->path, &f->opt) != TUTTI_OK) tutti__error_clear();
    free_file(f);
    return err;
}

tutti_err tutti__comm_usable(MPI_Comm comm) {
    int between = 0;
    TUTTI_TRY(tutti__which_mpi());
    TUTTI_TRY(tutti__mpi_is_up());
    TUTTI_CHECK(comm != MPI_COMM_NULL, TUTTI_ERR_ARG, "argument comm is MPI_COMM_NULL");
    TUTTI_MPI(MPI_Comm_test_inter(comm, &between));
    TUTTI_CHECK(!between, TUTTI_ERR_ARG,
                "argument comm is an intercommunicator: must be an intracommunicator");
    return TUTTI_OK;
}

tutti_err tutti_file_open_with(MPI_Comm comm, const char *path, int mode, int permissions,
                               const tutti_options *opt, tutti_file **f_out) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__comm_usable(comm));
    int rank = 0;
    TUTTI_MPI(MPI_Comm_rank(comm, &rank));
    const int64_t path_hash =
        (int64_t)(tutti__hash(TUTTI__HASH_START, path, path ? strlen(path) : 0) >> 1);
    open_arguments local = {.path = path_hash, .mode = mode, .permissions = permissions};
    tutti_err err = TUTTI_OK;
    if (path) tutti__copy_path_end(local.name, sizeof local.name, path);
    err = opt ? tutti__options_take(opt, &local.opt) : tutti_options_init(&local.opt);
    if (err == TUTTI_OK) err = check_file_arguments(path, mode, &local.opt);
    if (err == TUTTI_OK && !f_out)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument f_out is NULL");
    if (err == TUTTI_OK && rank == 0) tutti__choose_profile(path, &local.opt, &local.profile);

    open_arguments first = local;
    MPI_Request broadcast;
    tutti__collective_add();
    TUTTI_MPI(MPI_Ibcast(&first, (int)sizeof first, MPI_BYTE, 0, comm, &broadcast));
    TUTTI_TRY(tutti__team_finish(1, &broadcast));
    first.opt.nodes[sizeof first.opt.nodes - 1] = '\0';
    if (err == TUTTI_OK) err = compare_arguments(&local, &first);
    if (err == TUTTI_OK) err = threads_check(&first.opt);
    const tutti_error_info first_error = *tutti_last_error();
    tutti__team *team = NULL;
    tutti_file *f = NULL;
    const tutti_err taken = tutti__team_take(comm, first.opt.nodes, &team);
    if (taken != TUTTI_OK) {
        tutti__error_context("open", NULL, -1);
        return taken;
    }
    if (err == TUTTI_OK) {
        err = tutti__staging_attach(team);
        if (err == TUTTI_OK) err = make_file(path, mode, &first, &f);
    } else {
        tutti__error_assign(&first_error);
    }
    if (f) {
        f->team = team;
        err = open_or_free(f, permissions);
    } else {
        /* this rank has failed: it takes part in the first agreement of the other ranks */
        err = modifies_file(first.mode) ? tutti__team_agree(team, err)
                                        : tutti__team_reduce(team, err, 0, NULL);
        tutti__team_give(&team);
    }
    if (err != TUTTI_OK) {
        tutti__error_context("open", NULL, -1);
        return err;
    }
    TUTTI_ASSERT(f && f_out);
    *f_out = f;
    return TUTTI_OK;
}

tutti_err tutti_file_open(MPI_Comm comm, const char *path, int mode, const tutti_options *opt,
                          tutti_file **f_out) {
    return tutti_file_open_with(comm, path, mode, 0666, opt, f_out);
}

/* ---- close */

tutti_err tutti_file_close(tutti_file **pf) {
    TUTTI_KEEP_ERRNO;
    TUTTI_CHECK(pf && *pf, TUTTI_ERR_ARG, "file handle is NULL");
    tutti_file *f = *pf;
    tutti_err err = tutti__file_live(f);
    if (err != TUTTI_OK) {
        tutti__file_forget(pf);
        return err;
    }
    { /* all ranks agree that no rank has plans or pending operations */
        const tutti__call call = {.object = "file", .name = "close"};
        TUTTI_USE(f);
        tutti__requests_settle(f);
        err = tutti__team_call(f->team, &call, tutti__requests_none(f));
    }
    if (err != TUTTI_OK) {
        tutti__error_context("close", f->path, -1);
        return err;
    }
    *pf = NULL;
    tutti__requests_end(f);
    tutti__open_files_remove(f);
    err = tutti__team_agree(f->team, tutti__file_stores_close(f));
    if (err == TUTTI_OK) tutti__trace_write(f);
    if (err != TUTTI_OK) tutti__error_context("close", f->path, -1);
    TUTTI_KEEP_LAST_ERROR_IF(err != TUTTI_OK);
    free_file(f);
    return err;
}

tutti_err tutti_file_delete(const char *path, const tutti_options *opt) {
    TUTTI_KEEP_ERRNO;
    tutti_options local;
    TUTTI_CHECK(path && path[0], TUTTI_ERR_ARG, "argument path is %s", path ? "empty" : "NULL");
    TUTTI_TRY(opt ? tutti__options_take(opt, &local) : tutti_options_init(&local));
    const tutti_err err = tutti__store_delete(path, &local);
    if (err != TUTTI_OK) tutti__error_context("delete", path, -1);
    return err;
}

/* ---- size and durability */

static tutti_err name_error(const tutti_file *f, const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, f->path, -1);
    return err;
}

tutti_err tutti_file_size(tutti_file *f, tutti_off *size_out) {
    TUTTI_KEEP_ERRNO;
    tutti_off size = 0;
    CHECK_FILE(f);
    TUTTI_USE(f);
    tutti__requests_settle(f);
    tutti_err err = TUTTI_OK;
    if (!size_out) err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument size_out is NULL");
    if (err == TUTTI_OK && f->team->rank == 0) err = tutti__store_size(f->store, &size);
    tutti__range known = {size, size}; /* only rank 0 has the size; 0 on the other ranks */
    const tutti__call call = {.object = "file", .name = "size", .ranges = 1, .range = &known};
    err = tutti__team_call(f->team, &call, err);
    TUTTI_ASSERT(err != TUTTI_OK || size_out);
    if (err == TUTTI_OK) *size_out = known.max;
    return name_error(f, "size", err);
}

typedef tutti_err change_fn(tutti_store *s, tutti_off size);

static tutti_err resize_store(tutti_file *f, tutti_off size, const char *name, change_fn *fn) {
    const tutti__call call = {
        .object = "file", .name = name, .hash = (uint64_t)size, .what = "the size", .is_number = 1};
    tutti_err err = TUTTI_OK;
    tutti__requests_settle(f);
    if (!(f->mode & TUTTI_WRITE))
        err = tutti__error_set(TUTTI_ERR_MODE, 0, -1, "the file was not opened for writing");
    else if (size < 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "size is %lld: must be >= 0", (long long)size);
    TUTTI_TRY(tutti__team_call(f->team, &call, err));
    if (f->team->rank == 0) err = fn(f->store, size);
    return tutti__team_agree(f->team, err);
}

tutti_err tutti_file_resize(tutti_file *f, tutti_off size) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    return name_error(f, "resize", resize_store(f, size, "resize", tutti__store_resize));
}

tutti_err tutti_file_preallocate(tutti_file *f, tutti_off size) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    return name_error(f, "preallocate",
                      resize_store(f, size, "preallocate", tutti__store_preallocate));
}

tutti_err tutti_file_sync(tutti_file *f) {
    TUTTI_KEEP_ERRNO;
    CHECK_FILE(f);
    TUTTI_USE(f);
    tutti__requests_settle(f);
    const tutti__call call = {.object = "file", .name = "sync"};
    const tutti_err all = tutti__team_call(f->team, &call, TUTTI_OK);
    if (all != TUTTI_OK || !(f->mode & TUTTI_WRITE)) return name_error(f, "sync", all);
    const double start = tutti__now();
    const tutti_err err = tutti__store_sync(f->store);
    f->stats.other.seconds_file += tutti__now() - start;
    tutti__trace_call("sync", f->trace.number, start, -1);
    return name_error(f, "sync", tutti__team_agree(f->team, err));
}

tutti_err tutti__sync_here(tutti_file *f) {
    tutti_stats stats;
    memset(&stats, 0, sizeof stats);
    tutti_stats *before = tutti__store_account(&stats);
    const double start = tutti__now();
    const tutti_err err = tutti__store_sync(f->store);
    (void)tutti__store_account(before);
    stats.seconds_file += tutti__now() - start;
    tutti__trace_call("sync", f->trace.number, start, -1);
    tutti__stats_settle(f, &stats, 0);
    return name_error(f, "sync", err);
}

tutti_err tutti__cut_here(tutti_file *f, tutti_off size) {
    tutti_stats stats;
    tutti_off is = 0;
    memset(&stats, 0, sizeof stats);
    tutti_stats *before = tutti__store_account(&stats);
    tutti_err err = tutti__store_size(f->store, &is);
    if (err == TUTTI_OK && is > size) err = tutti__store_resize(f->store, size);
    (void)tutti__store_account(before);
    tutti__stats_settle(f, &stats, 0);
    return name_error(f, "resize", err);
}

/* ---- atomic mode */

tutti_err tutti_file_atomic(tutti_file *f, int on) {
    TUTTI_KEEP_ERRNO;
    TUTTI_TRY(tutti__file_live(f));
    TUTTI_USE(f);
    tutti__requests_settle(f);
    const tutti__call call = {
        .object = "file", .name = "atomic", .hash = on != 0, .what = "the atomic mode"};
    const tutti_err err = tutti__team_call(f->team, &call, on ? tutti__locks_try(f) : TUTTI_OK);
    if (err != TUTTI_OK) {
        tutti__error_context("atomic", f->path, -1);
        return err;
    }
    f->atomic.on = on != 0;
    tutti__plan_cache_clear(f); /* cached plans were made for the other mode */
    return TUTTI_OK;
}

/* ---- queries */

tutti_err tutti_file_options_sized(const tutti_file *f, tutti_options *opt_out,
                                   size_t struct_size) {
    CHECK_FILE(f);
    return tutti__options_give(&f->opt, opt_out, struct_size);
}

/* Copy the fields that the caller's struct of `size` bytes has; set its further fields to 0. */
static void copy_stats(const tutti_stats *from, tutti_stats *out, size_t size) {
    if (!out) return;
    memset(out, 0, size);
    memcpy(out, from, size < sizeof *from ? size : sizeof *from);
}

void tutti_file_stats_sized(const tutti_file *f, tutti_stats *last_out, tutti_stats *all_out,
                            size_t struct_size) {
    tutti_stats last, all;
    if (!f || !tutti__handle_alive(&f->handle, &tutti__file_class)) return;
    pthread_mutex_t *lock = (pthread_mutex_t *)&f->lock;
    pthread_mutex_lock(lock);
    last = f->stats.last;
    all = f->stats.all;
    pthread_mutex_unlock(lock);
    tutti__stats_add(&all, &f->stats.other);
    copy_stats(&last, last_out, struct_size);
    copy_stats(&all, all_out, struct_size);
}

const char *tutti_file_explain(const tutti_file *f) {
    return f && tutti__handle_alive(&f->handle, &tutti__file_class) ? f->explain.text : "";
}

void tutti_file_on_progress(tutti_file *f, tutti_progress_fn *fn, void *context) {
    if (!f || !tutti__handle_alive(&f->handle, &tutti__file_class)) return;
    f->progress.report = fn;
    f->progress.context = context;
}
