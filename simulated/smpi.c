/* simulated: MPI functions that replace those of SimGrid's SMPI by the profiling interface (MPI_X
 * defined here calls PMPI_X).
 *
 *   - Non-blocking collectives block, and MPI_Exscan is implemented here, since SMPI sends P
 *     messages per rank for them.  Blocking cannot deadlock, because Tutti starts collectives in
 *     the same order on all ranks, and they do not depend on later calls.
 *   - MPI_Test is in pending.c.
 *   - Attributes of communicators are in a table of this rank, since SMPI aborts when a key is not
 *     set.
 *   - Messages and collective operations are counted.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include "smpi_count.h"

static smpi_count counted;

smpi_count smpi_counted(void) {
    return counted;
}

/* Count a collective call with parts * n elements; MPI_DATATYPE_NULL: no bytes. */
static void count_collective(int n, MPI_Datatype type, int parts) {
    int size = 0;
    counted.collectives++;
    if (type != MPI_DATATYPE_NULL && n > 0) PMPI_Type_size(type, &size);
    counted.collective_bytes += (int64_t)n * size * parts;
}

static int ranks_of(MPI_Comm comm) {
    int size = 1;
    PMPI_Comm_size(comm, &size);
    return size;
}

static void count_message(int n, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    counted.messages++;
    counted.bytes += (int64_t)n * size;
}

/* ---- messages */

int MPI_Isend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    count_message(n, type);
    return PMPI_Isend(buf, n, type, to, tag, comm, request);
}

/* Sparse exchanges use synchronous sends to detect their end.  Here each rank knows the number of
 * its messages (sparse_counted.c), so MPI_Isend, which may complete before the message is received,
 * is sufficient. */
int MPI_Issend(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request) {
    return MPI_Isend(buf, n, type, to, tag, comm, request);
}

int MPI_Send(const void *buf, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
    count_message(n, type);
    return PMPI_Send(buf, n, type, to, tag, comm);
}

int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int n_in,
                 MPI_Datatype type_in, int from, int tag_in, MPI_Comm comm, MPI_Status *status) {
    count_message(n, type);
    return PMPI_Sendrecv(out, n, type, to, tag, in, n_in, type_in, from, tag_in, comm, status);
}

/* ---- blocking collectives */

int MPI_Allreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    count_collective(n, type, 2);
    return PMPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Allgather(const void *in, int n, MPI_Datatype type, void *out, int n_out,
                  MPI_Datatype type_out, MPI_Comm comm) {
    count_collective(n_out, type_out, ranks_of(comm));
    return PMPI_Allgather(in, n, type, out, n_out, type_out, comm);
}

int MPI_Bcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
    count_collective(n, type, 1);
    return PMPI_Bcast(data, n, type, root, comm);
}

int MPI_Barrier(MPI_Comm comm) {
    count_collective(0, MPI_DATATYPE_NULL, 0);
    return PMPI_Barrier(comm);
}

int MPI_Alltoall(const void *in, int n, MPI_Datatype type, void *out, int n_out,
                 MPI_Datatype type_out, MPI_Comm comm) {
    count_collective(n_out, type_out, 2 * ranks_of(comm));
    return PMPI_Alltoall(in, n, type, out, n_out, type_out, comm);
}

/* Compute the exclusive scan in log2 P rounds: before the round of distance d, a rank has the sum
 * of the d ranks up to itself; in this round it receives the sum of the d ranks before those. */
int MPI_Exscan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    enum { TAG = 32766, MOST = 64 };
    char sum[MOST], before[MOST];
    int rank, bytes, known = 0;
    count_collective(n, type, 2);
    PMPI_Comm_rank(comm, &rank);
    PMPI_Type_size(type, &bytes);
    if (n * bytes > MOST) return MPI_ERR_COUNT;
    memcpy(sum, in == MPI_IN_PLACE ? out : in, (size_t)(n * bytes));
    for (int d = 1; d < ranks_of(comm); d *= 2) {
        const int to = rank + d < ranks_of(comm) ? rank + d : MPI_PROC_NULL;
        const int from = rank >= d ? rank - d : MPI_PROC_NULL;
        PMPI_Sendrecv(sum, n, type, to, TAG, before, n, type, from, TAG, comm, MPI_STATUS_IGNORE);
        if (from == MPI_PROC_NULL) continue;
        PMPI_Reduce_local(before, sum, n, type, op);
        if (known) PMPI_Reduce_local(before, out, n, type, op);
        if (!known) memcpy(out, before, (size_t)(n * bytes));
        known = 1;
    }
    return MPI_SUCCESS;
}

int MPI_Reduce_scatter_block(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op,
                             MPI_Comm comm) {
    count_collective(n, type, 1);
    return PMPI_Reduce_scatter_block(in, out, n, type, op, comm);
}

int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm *out) {
    count_collective(1, MPI_2INT, ranks_of(comm));
    return PMPI_Comm_split(comm, color, key, out);
}

int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *out) {
    count_collective(0, MPI_DATATYPE_NULL, 0);
    return PMPI_Comm_create(comm, group, out);
}

/* ---- non-blocking collectives, implemented by blocking collectives */

int MPI_Iallreduce(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Allreduce(in, out, n, type, op, comm);
}

int MPI_Ibcast(void *data, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Bcast(data, n, type, root, comm);
}

int MPI_Iallgather(const void *in, int n, MPI_Datatype type, void *out, int n_out,
                   MPI_Datatype type_out, MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Allgather(in, n, type, out, n_out, type_out, comm);
}

int MPI_Iallgatherv(const void *in, int n, MPI_Datatype type, void *out, const int *counts,
                    const int *places, MPI_Datatype type_out, MPI_Comm comm, MPI_Request *request) {
    const int size = ranks_of(comm);
    int64_t sum = 0;
    *request = MPI_REQUEST_NULL;
    for (int r = 0; r < size; r++) sum += counts[r];
    count_collective((int)sum, type_out, 1);
    return PMPI_Allgatherv(in, n, type, out, counts, places, type_out, comm);
}

int MPI_Ialltoall(const void *in, int n, MPI_Datatype type, void *out, int n_out,
                  MPI_Datatype type_out, MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Alltoall(in, n, type, out, n_out, type_out, comm);
}

int MPI_Iexscan(const void *in, void *out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Exscan(in, out, n, type, op, comm);
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request) {
    *request = MPI_REQUEST_NULL;
    return MPI_Barrier(comm);
}

/* ---- attributes of communicators */

enum { KEYS = 64, VALUES = 256 };

typedef struct {
    MPI_Comm_delete_attr_function *delete_fn; /* NULL: no callback */
    void *extra;
} keyval;

typedef struct {
    MPI_Comm comm;
    int key;
    void *value;
} attribute;

static keyval keys[KEYS];
static attribute values[VALUES];
static int n_keys, n_values;

static int find_value(MPI_Comm comm, int key) {
    for (int i = 0; i < n_values; i++)
        if (values[i].comm == comm && values[i].key == key) return i;
    return -1;
}

static int delete_value(int i) {
    const attribute a = values[i];
    const keyval *k = &keys[a.key];
    memmove(&values[i], &values[i + 1], (size_t)(--n_values - i) * sizeof *values);
    return k->delete_fn ? k->delete_fn(a.comm, a.key, a.value, k->extra) : MPI_SUCCESS;
}

static void delete_values(MPI_Comm comm) {
    for (int i = n_values - 1; i >= 0; i = i < n_values ? i - 1 : n_values - 1)
        if (values[i].comm == comm) (void)delete_value(i);
}

int MPI_Comm_create_keyval(MPI_Comm_copy_attr_function *copy_fn,
                           MPI_Comm_delete_attr_function *delete_fn, int *key_out, void *extra) {
    (void)copy_fn; /* Tutti and its tests do not copy attributes */
    if (n_keys == KEYS) return MPI_ERR_NO_MEM;
    keys[n_keys] = (keyval){delete_fn, extra};
    *key_out = n_keys++;
    return MPI_SUCCESS;
}

/* Existing attributes still use the key, so it is never reused. */
int MPI_Comm_free_keyval(int *key) {
    *key = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

int PMPI_Comm_set_attr(MPI_Comm comm, int key, void *value) {
    const int old = find_value(comm, key);
    if (old >= 0) (void)delete_value(old);
    if (n_values == VALUES) return MPI_ERR_NO_MEM;
    values[n_values++] = (attribute){comm, key, value};
    return MPI_SUCCESS;
}

int MPI_Comm_get_attr(MPI_Comm comm, int key, void *value_out, int *found_out) {
    const int i = find_value(comm, key);
    *found_out = i >= 0;
    if (i >= 0) *(void **)value_out = values[i].value;
    return MPI_SUCCESS;
}

int MPI_Comm_delete_attr(MPI_Comm comm, int key) {
    const int i = find_value(comm, key);
    return i >= 0 ? delete_value(i) : MPI_ERR_ARG;
}

int MPI_Comm_free(MPI_Comm *comm) {
    delete_values(*comm);
    return PMPI_Comm_free(comm);
}

int MPI_Finalize(void) {
    delete_values(MPI_COMM_SELF);
    delete_values(MPI_COMM_WORLD);
    return PMPI_Finalize();
}
