/* comm: sparse exchange without a table of all ranks: synchronous sends, and a mailbox that is
 * filled with all arriving messages (sparse_nbx.c; on a simulated machine
 * simulated/sparse_counted.c).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/sparse.h"

#include <stdlib.h>
#include <string.h>

#include "comm/mailbox.h"
#include "comm/wait.h"

static void put_own(tutti__mailbox *m, const tutti__sparse_message *l) {
    void *data = tutti__malloc(l->bytes + 1);
    if (!data) {
        m->err = TUTTI_ERR_NOMEM;
        return;
    }
    memcpy(data, l->data, l->bytes);
    tutti__mailbox_put(m, l->rank, l->bytes, data);
}

tutti_err tutti__sparse_exchange(tutti__team *t, int n, const tutti__sparse_message *out,
                                 int *n_in_out, tutti__sparse_message **in_out) {
    const int tag = tutti__team_tag(t);
    tutti__mailbox m = {NULL, 0, 0, TUTTI_OK};
    MPI_Request *sent = tutti__malloc((size_t)(n + 1) * sizeof *sent);
    int started = 0, i = 0;
    if (!sent) m.err = TUTTI_ERR_NOMEM; /* continue without sending, so that no rank hangs */
    for (; i < n && sent; i++) {
        int bytes = 0;
        if (out[i].rank == t->rank) {
            put_own(&m, &out[i]);
            continue;
        }
        const tutti_err fits = tutti__narrow_int((tutti_off)out[i].bytes, &bytes);
        if (fits != TUTTI_OK) {
            m.err = fits;
            break;
        }
        TUTTI_MPI(
            MPI_Issend(out[i].data, bytes, MPI_BYTE, out[i].rank, tag, t->comm, &sent[started++]));
    }
    const tutti_err err = tutti__mailbox_fill(&m, t, tag, &(tutti__sent){started, sent, i, out});
    tutti__free(sent);
    if (err == TUTTI_OK && m.err == TUTTI_OK) {
        /* Sort by source; messages of one source keep their order.  They are nearly sorted or
         * few. */
        for (int i = 1; i < m.n; i++) {
            const tutti__sparse_message l = m.v[i];
            int lo = 0, hi = i;
            while (lo < hi) {
                const int mid = (lo + hi) / 2;
                if (m.v[mid].rank <= l.rank)
                    lo = mid + 1;
                else
                    hi = mid;
            }
            memmove(m.v + lo + 1, m.v + lo, (size_t)(i - lo) * sizeof l);
            m.v[lo] = l;
        }
        *n_in_out = m.n;
        *in_out = m.v;
        return TUTTI_OK;
    }
    tutti__sparse_free(m.n, &m.v);
    return err != TUTTI_OK ? err : m.err;
}

void tutti__sparse_free(int n, tutti__sparse_message **messages) {
    for (int i = 0; *messages && i < n; i++) tutti__free((*messages)[i].data);
    tutti__free(*messages);
    *messages = NULL;
}
