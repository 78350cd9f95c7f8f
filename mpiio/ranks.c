/* mpiio: private communicators.
 *
 * Duplicating a communicator is expensive, so duplicates of a communicator of the program are
 * stored in an attribute of this communicator, and a file uses an unused duplicate.  Threads may
 * close files in different orders on different ranks, so the agreement of open also checks that all
 * ranks would use the same duplicate.  HDF5 and PnetCDF open every file with a new duplicate of the
 * communicator of the program; for duplicates of MPI_COMM_WORLD a few private communicators are
 * stored with MPI_COMM_WORLD, so that they can be reused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "request.h"

typedef struct {
    mpiio_ranks *first;
    int made;
} pool;

enum { KEEP = 4 };

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static int pool_key = MPI_KEYVAL_INVALID;

/* ---- the pool of a communicator */

static void ranks_free(mpiio_ranks *r) {
    mpiio_words_free(r);
    PMPI_Comm_free(&r->comm);
    free(r);
}

static int pool_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    pool *p = value;
    for (mpiio_ranks *r = p->first, *next; r; r = next) {
        next = r->next;
        r->orphan = r->busy; /* a file is still open: closing the file frees the communicator */
        if (!r->busy) ranks_free(r);
    }
    free(p);
    return MPI_SUCCESS;
}

/* Return the pool of a communicator; NULL if it has none and `make` is 0, or if memory is
 * exhausted.  The caller holds pool_lock. */
static pool *pool_of(MPI_Comm comm, int make) {
    void *value = NULL;
    int found = 0;
    if (pool_key == MPI_KEYVAL_INVALID &&
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, pool_delete, &pool_key, NULL) != MPI_SUCCESS)
        return NULL;
    if (PMPI_Comm_get_attr(comm, pool_key, &value, &found) != MPI_SUCCESS) return NULL;
    if (found || !make) return found ? value : NULL;
    pool *p = calloc(1, sizeof *p);
    if (!p || PMPI_Comm_set_attr(comm, pool_key, p) == MPI_SUCCESS) return p;
    free(p);
    return NULL;
}

static mpiio_ranks *pool_least(const pool *p, mpiio_ranks *least) {
    for (mpiio_ranks *r = p ? p->first : NULL; r; r = r->next)
        if (!r->busy && (!least || r->id < least->id)) least = r;
    return least;
}

/* Return whether comm has the same ranks as MPI_COMM_WORLD in the same order, but is another
 * communicator. */
static int is_like_world(MPI_Comm comm) {
    int n = 0, world = 0, result = MPI_UNEQUAL;
    if (PMPI_Comm_size(comm, &n) != MPI_SUCCESS) return 0;
    if (PMPI_Comm_size(MPI_COMM_WORLD, &world) != MPI_SUCCESS || n != world) return 0;
    return PMPI_Comm_compare(comm, MPI_COMM_WORLD, &result) == MPI_SUCCESS &&
           result == MPI_CONGRUENT;
}

mpiio_ranks *mpiio_ranks_offer(MPI_Comm comm) {
    pthread_mutex_lock(&pool_lock);
    mpiio_ranks *found = pool_least(pool_of(comm, 0), NULL);
    if (is_like_world(comm)) found = pool_least(pool_of(MPI_COMM_WORLD, 0), found);
    if (found) found->busy = 1;
    pthread_mutex_unlock(&pool_lock);
    return found;
}

void mpiio_ranks_give(mpiio_ranks **ranks) {
    mpiio_ranks *r = *ranks;
    *ranks = NULL;
    if (!r) return;
    pthread_mutex_lock(&pool_lock);
    r->busy = 0;
    const int orphan = r->orphan;
    pthread_mutex_unlock(&pool_lock);
    if (orphan) ranks_free(r);
}

/* Create a communicator with the same ranks.  MPI_Comm_dup would copy the attributes of the
 * program, whose delete callbacks would be called when the duplicate is freed. */
static int comm_alike(MPI_Comm comm, MPI_Comm *out) {
    MPI_Group all;
    int code = PMPI_Comm_group(comm, &all);
    if (code != MPI_SUCCESS) return code;
    code = PMPI_Comm_create(comm, all, out);
    PMPI_Group_free(&all);
    return code;
}

int mpiio_ranks_make(MPI_Comm comm, int64_t id, mpiio_ranks **out) {
    mpiio_ranks *r = calloc(1, sizeof *r);
    int64_t without = r == NULL;
    int code = mpiio_agree_on(comm, 1, &without);
    if (code == MPI_SUCCESS && without)
        code = mpiio_complain(MPI_ERR_NO_MEM, "a rank cannot allocate a communicator");
    if (code == MPI_SUCCESS && r) code = comm_alike(comm, &r->comm);
    if (code != MPI_SUCCESS || !r) {
        free(r);
        return code;
    }
    PMPI_Comm_set_errhandler(r->comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(r->comm, &r->rank);
    PMPI_Comm_size(r->comm, &r->size);
    r->busy = 1;
    r->id = id;
    mpiio_words_make(r);
    /* If the pool cannot be allocated, the communicator is freed with the file. */
    pthread_mutex_lock(&pool_lock);
    pool *p = is_like_world(comm) ? pool_of(MPI_COMM_WORLD, 1) : NULL;
    if (!p || p->made >= KEEP) p = pool_of(comm, 1);
    r->orphan = p == NULL;
    if (p) {
        p->made++;
        r->next = p->first;
        p->first = r;
    }
    pthread_mutex_unlock(&pool_lock);
    *out = r;
    return MPI_SUCCESS;
}

/* Free the communicators stored with MPI_COMM_WORLD, at MPI_Finalize. */
void mpiio_ranks_finalize(void) {
    void *value = NULL;
    int found = 0;
    if (pool_key == MPI_KEYVAL_INVALID) return;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, pool_key, &value, &found) == MPI_SUCCESS && found)
        PMPI_Comm_delete_attr(MPI_COMM_WORLD, pool_key);
}
