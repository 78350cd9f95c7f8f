/* store: selecting and opening stores, and deleting files.  All other functions are in store.c.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/store.h"
#include "store/fault.h"
#include "store/fdfile.h"
#include "store/mem.h"
#include "base/memory.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#ifdef TUTTI_HAVE_URING
#define URING_TABLE &tutti__store_uring
#else
#define URING_TABLE NULL
#endif

tutti_err tutti__store_find(int choice, const tutti_store_ops **ops_out) {
    static const tutti_store_ops *const tables[] = {
        [TUTTI_STORE_AUTO] = &tutti__store_posix, [TUTTI_STORE_POSIX] = &tutti__store_posix,
        [TUTTI_STORE_URING] = URING_TABLE,        [TUTTI_STORE_THREADS] = &tutti__store_threads,
        [TUTTI_STORE_AIO] = &tutti__store_aio,    [TUTTI_STORE_MEM] = &tutti__store_mem,
        [TUTTI_STORE_NULL] = &tutti__store_null,
    };
    TUTTI_CHECK(choice >= 0 && choice < (int)(sizeof tables / sizeof *tables), TUTTI_ERR_OPTION,
                "unknown store %d", choice);
    TUTTI_CHECK(tables[choice], TUTTI_ERR_UNSUPPORTED,
                "store uring is not built in: it needs liburing (package liburing-dev)");
    *ops_out = tables[choice];
    return TUTTI_OK;
}

/* A write through the page cache is a copy in the calling thread, so only another thread makes it
 * asynchronous.  With direct_io the device transfers the data. */
int tutti__store_asynchronous(const tutti_options *opt) {
    const tutti_store_ops *const uring = URING_TABLE;
    return opt->direct_io && uring ? TUTTI_STORE_URING : TUTTI_STORE_THREADS;
}

/* Open the store without fault wrapper; a store that is not reentrant gets a mutex. */
static tutti_err open_inside(const char *path, int flags, int permissions, const tutti_options *opt,
                             tutti_stats *stats, tutti_store **store_out) {
    const tutti_store_ops *ops = &tutti__store_posix;
    TUTTI_TRY(tutti__store_find(opt->store, &ops));
    pthread_mutex_t *guard = ops->reentrant ? NULL : tutti__malloc(sizeof *guard);
    if (!guard && !ops->reentrant) return TUTTI_ERR_NOMEM;
    const tutti_err err = ops->open(path, flags, permissions, opt, stats, store_out);
    if (err != TUTTI_OK) {
        tutti__free(guard);
        return err;
    }
    if (guard) pthread_mutex_init(guard, NULL);
    (*store_out)->guard = guard;
    return TUTTI_OK;
}

/* Wrap an open store if the fault is one that the wrapper injects. */
static tutti_err add_fault(const tutti__fault *fault, tutti_store **s) {
    if (fault->what == TUTTI__FAULT_NONE || fault->what == TUTTI__FAULT_SHORT) return TUTTI_OK;
    tutti_store *inner = *s;
    const tutti_err err = tutti__fault_wrap(inner, fault, s);
    if (err == TUTTI_OK) return TUTTI_OK;
    TUTTI_KEEP_LAST_ERROR;
    if (tutti__store_close(&inner) != TUTTI_OK) inner = NULL;
    return err;
}

tutti_err tutti__store_open_file(const tutti__store_file *file, const tutti_options *opt,
                                 tutti_stats *stats, tutti_store **store_out) {
    tutti__fault fault;
    tutti_store *s = NULL;
    TUTTI_TRY(tutti__fault_parse(opt->fault, file->rank, &fault));
    /* The inner store injects only short transfers.  Its text names rank `*`, since it is parsed as
     * rank 0. */
    tutti_options inside = *opt;
    inside.fault[0] = '\0';
    if (fault.what == TUTTI__FAULT_SHORT)
        snprintf(inside.fault, sizeof inside.fault, "*:short:%lld", (long long)fault.n);
    tutti_err err = TUTTI_OK;
    if (fault.what == TUTTI__FAULT_OPEN && fault.n == 1)
        err = tutti__fdfile_cannot_open(fault.sys_errno);
    if (err == TUTTI_OK)
        err = open_inside(file->path, file->flags, file->permissions, &inside, stats, &s);
    if (err == TUTTI_OK) err = add_fault(&fault, &s);
    if (err != TUTTI_OK) {
        tutti__error_context("open", file->path, file->rank);
        return err;
    }
    *store_out = s;
    return TUTTI_OK;
}

tutti_err tutti__store_delete(const char *path, const tutti_options *opt) {
    tutti_err err = TUTTI_OK;
    char *where = NULL;
    if (opt->store == TUTTI_STORE_MEM) err = tutti__mem_path(path, &where);
    if (err == TUTTI_OK && opt->store != TUTTI_STORE_NULL)
        err =
            unlink((where ? where : path)) == 0 ? TUTTI_OK : tutti__error_sys(errno, -1, "delete");
    tutti__free(where);
    if (err != TUTTI_OK) tutti__error_context("delete", path, -1);
    return err;
}
