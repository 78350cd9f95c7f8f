/* comm: gathering by a binomial tree: in round k a rank whose bit k is set sends the data of its
 * subtree to the rank with that bit cleared, and is done.  The ranks of a subtree are consecutive,
 * so data arrives in rank order.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/gather.h"

#include <string.h>

#include "comm/collective_count.h"
#include "comm/wait.h"

/* Header of the message with the bytes of a subtree. */
typedef struct {
    int64_t bytes;          /* bytes that follow; 0 if a rank of the subtree has failed */
    tutti_error_info error; /* error of the lowest rank that failed; code TUTTI_OK: none */
} gather_head;

typedef struct {
    gather_head head;
    char *data; /* [head.bytes] bytes of this rank's subtree received so far */
} gathered;

static void gather_fail(gathered *g, tutti_err err, int rank) {
    if (tutti_last_error()->code != err)
        (void)tutti__error_set(err, 0, -1, "%s", tutti_strerror(err));
    tutti__error_context(NULL, NULL, rank);
    g->head.error = *tutti_last_error();
    g->head.bytes = 0;
}

/* Maximum bytes of a message, since the count argument of MPI is an int. */
static int64_t piece_bytes = 1 << 30;

void tutti__gather_set_piece(int64_t bytes) {
    piece_bytes = bytes;
}

/* Receive `bytes` bytes in pieces; they are discarded if `data` is NULL. */
static tutti_err receive_pieces(tutti__team *t, int from, int tag, char *data, int64_t bytes) {
    for (int64_t at = 0; at < bytes; at += piece_bytes) {
        const int piece = (int)tutti__min(piece_bytes, bytes - at);
        MPI_Request r;
        if (!data) {
            (void)MPI_Recv(NULL, 0, MPI_BYTE, from, tag, t->comm, MPI_STATUS_IGNORE);
            continue;
        }
        TUTTI_MPI(MPI_Irecv(data + at, piece, MPI_BYTE, from, tag, t->comm, &r));
        TUTTI_TRY(tutti__team_finish(1, &r));
        tutti__received_add((size_t)piece);
    }
    return TUTTI_OK;
}

/* Send the bytes of this rank's subtree, in pieces. */
static tutti_err gather_send(tutti__team *t, int to, int tag, const gathered *g) {
    MPI_Request r;
    TUTTI_MPI(MPI_Isend(&g->head, (int)sizeof g->head, MPI_BYTE, to, tag, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    for (int64_t at = 0; at < g->head.bytes; at += piece_bytes) {
        const int piece = (int)tutti__min(piece_bytes, g->head.bytes - at);
        TUTTI_MPI(MPI_Isend(g->data + at, piece, MPI_BYTE, to, tag, t->comm, &r));
        TUTTI_TRY(tutti__team_finish(1, &r));
    }
    return TUTTI_OK;
}

/* Append the bytes of the subtree of rank `from`; if no memory is available, they are received and
 * discarded. */
static tutti_err gather_receive(tutti__team *t, int from, int tag, gathered *g) {
    MPI_Request r;
    gather_head in;
    TUTTI_MPI(MPI_Irecv(&in, (int)sizeof in, MPI_BYTE, from, tag, t->comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    const int is_failed = g->head.error.code != TUTTI_OK;
    if (!is_failed && in.error.code != TUTTI_OK) g->head = in;
    if (in.bytes == 0) return TUTTI_OK;
    const int64_t before = g->head.bytes;
    char *data = is_failed ? NULL : tutti__realloc(g->data, (size_t)(before + in.bytes));
    if (data) {
        g->data = data;
        g->head.bytes += in.bytes;
    } else if (!is_failed) {
        gather_fail(g, TUTTI_ERR_NOMEM, t->rank);
    }
    return receive_pieces(t, from, tag, data ? data + before : NULL, in.bytes);
}

tutti_err tutti__team_gather(tutti__team *t, tutti_err local_err, const void *data, int64_t bytes,
                             void **out, int64_t *bytes_out) {
    gathered g = {.head = {.bytes = bytes}};
    const int tag = tutti__team_tag(t);
    tutti_err err = TUTTI_OK;
    int bit = 1;
    tutti__collective_add();
    *out = NULL;
    *bytes_out = 0;
    if (local_err == TUTTI_OK && !(g.data = tutti__malloc((size_t)bytes + 1)))
        local_err = TUTTI_ERR_NOMEM;
    if (local_err != TUTTI_OK)
        gather_fail(&g, local_err, t->rank);
    else if (bytes > 0)
        memcpy(g.data, data, (size_t)bytes);
    for (; bit < t->size && !(t->rank & bit) && err == TUTTI_OK; bit *= 2)
        if (t->rank + bit < t->size) err = gather_receive(t, t->rank + bit, tag, &g);
    if (t->rank != 0 && err == TUTTI_OK) err = gather_send(t, t->rank - bit, tag, &g);
    if (err == TUTTI_OK && t->rank == 0 && g.head.error.code != TUTTI_OK) {
        tutti__error_assign(&g.head.error);
        err = g.head.error.code;
    }
    if (err != TUTTI_OK || t->rank != 0) {
        tutti__free(g.data);
        return err;
    }
    *out = g.data;
    *bytes_out = g.head.bytes;
    return TUTTI_OK;
}
