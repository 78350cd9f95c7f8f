/* collective: files that are open.  Those still open at MPI_Finalize are closed there by each rank on
 * its own, as far as that goes without the others.  The trace file is written whenever a file is
 * closed: rank 0 gathers all ranks' events and writes the file anew.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "collective/collective_impl.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/trace.h"
#include "exchange/segment.h"

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static tutti_file *files;
static int files_watched;

static int files_finalize(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    tutti__segments_unlink();
    while (files) {
        tutti_file *f = files;
        files = f->next_open;
        if (!tutti__requests_drop(f)) continue;
        tutti__remember_end(f);
        if (tutti__store_close(&f->away) != TUTTI_OK) f->away = NULL;
        if (tutti__store_close(&f->store) != TUTTI_OK) f->store = NULL;
        tutti__team_give(&f->team);
        tutti__free(f->path);
        if (f->plans == 0) tutti__free(f); /* otherwise with its last plan */
    }
    return MPI_SUCCESS;
}

static tutti_err files_watch(void) {
    int key = MPI_KEYVAL_INVALID;
    TUTTI_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, files_finalize, &key, NULL));
    TUTTI_MPI(PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)); /* PMPI: see comm/team.c */
    TUTTI_MPI(MPI_Comm_free_keyval(&key));
    files_watched = 1;
    return TUTTI_OK;
}

tutti_err tutti__open_files_add(tutti_file *f) {
    pthread_mutex_lock(&files_lock);
    const tutti_err err = files_watched ? TUTTI_OK : files_watch();
    f->next_open = files;
    files = f;
    pthread_mutex_unlock(&files_lock);
    return err;
}

void tutti__open_files_remove(tutti_file *f) {
    pthread_mutex_lock(&files_lock);
    for (tutti_file **at = &files; *at; at = &(*at)->next_open)
        if (*at == f) {
            *at = f->next_open;
            break;
        }
    pthread_mutex_unlock(&files_lock);
}

/* ---- trace */
