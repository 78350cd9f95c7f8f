/* file: the list of open files.  In MPI_Finalize, each rank closes its files that are still open,
 * as far as that is possible without communication.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "file/file.h"

#include <sys/stat.h>

const tutti__class tutti__file_class = {"file", "file", "closed"};

static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static tutti_file *files;
static tutti__finalize_fn *finalize; /* NULL: files_finalize is not yet registered */

static int files_finalize(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    while (files) {
        tutti_file *f = files;
        files = f->next_open;
        f->ended = TUTTI__ENDED;
        finalize(f);
    }
    return MPI_SUCCESS;
}

static tutti_err files_watch(tutti__finalize_fn *fn) {
    int key = MPI_KEYVAL_INVALID;
    TUTTI_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, files_finalize, &key, NULL));
    TUTTI_MPI(PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL)); /* PMPI: see comm/team.c */
    TUTTI_MPI(MPI_Comm_free_keyval(&key));
    finalize = fn;
    return TUTTI_OK;
}

tutti_err tutti__open_files_add(tutti_file *f, tutti__finalize_fn *fn) {
    pthread_mutex_lock(&files_lock);
    const tutti_err err = finalize ? TUTTI_OK : files_watch(fn);
    f->next_open = files;
    files = f;
    tutti__handle_add(&f->handle, &tutti__file_class);
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
    tutti__handle_remove(&f->handle);
    pthread_mutex_unlock(&files_lock);
}

int tutti__open_files_have(uint64_t device, uint64_t inode) {
    struct stat st;
    int found = 0;
    pthread_mutex_lock(&files_lock);
    for (const tutti_file *f = files; f && !found; f = f->next_open) {
        const int fd = f->store ? tutti__store_descriptor(f->store) : -1;
        found = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == device && st.st_ino == inode;
    }
    pthread_mutex_unlock(&files_lock);
    return found;
}
