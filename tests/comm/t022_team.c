/* TEST ranks=1,2,3,5,8 timeout=60 */
/* Teams: the pool, the division into nodes, and invalid divisions, which are refused.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "comm/node_messages.h"
#include "comm/vote.h"

static int rank, ranks;

static int same_everywhere(int v) {
    int range[2] = {-v, v}, out[2];
    MPI_Allreduce(range, out, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return out[0] == -out[1];
}

static tutti__team *take_team(MPI_Comm comm, const char *nodes) {
    tutti__team *t = NULL;
    CHECK_OK(tutti__team_take(comm, nodes, &t));
    if (!t) abort();
    CHECK(same_everywhere(t->id), "id %d is not everybody's", t->id);
    CHECK(t->rank == rank && t->size == ranks && t->busy, "rank or size");
    return t;
}

/* ---- divisions into nodes */

/* Return the node of rank r by the definition of the option `nodes`. */
static int expected(const char *nodes, int r) {
    if (strcmp(nodes, "2") == 0) return ranks < 2 ? 0 : 2 * r / ranks;
    if (strcmp(nodes, "100") == 0 || strcmp(nodes, "single") == 0) return r;
    if (strcmp(nodes, "1,2") == 0) return r < 1 ? 0 : r < 3 ? 1 : 2;
    if (strcmp(nodes, "3,1,2") == 0) return r < 3 ? 0 : r < 4 ? 1 : r < 6 ? 2 : 3;
    if (strcmp(nodes, "rr:2") == 0) return r % 2;
    if (strcmp(nodes, "rr:3") == 0) return r % 3;
    return 0;
}

static void groups_check(const tutti__groups *g, const char *nodes, int singles) {
    int n = 0, largest = 0, local;
    for (int r = 0; r < ranks; r++) {
        const int node = singles ? r : expected(nodes, r);
        CHECK(g->of[r] == node, "nodes=%s: rank %d in %d, not %d", nodes, r, g->of[r], node);
        if (node + 1 > n) n = node + 1;
    }
    CHECK_EQ(g->n, n);
    for (int i = 0; i < g->n; i++) {
        int size, at = 0;
        const int *member = tutti__groups_members(g, i, &size);
        for (int r = 0; r < ranks; r++)
            if (g->of[r] == i) CHECK(at < size && member[at++] == r, "members of %d", i);
        CHECK_EQ(at, size);
        if (size > largest) largest = size;
    }
    CHECK_EQ(g->largest, largest);
    CHECK_EQ(g->own, g->of[rank]);
    CHECK(tutti__groups_members(g, g->own, &local)[g->me] == rank && local == g->size, "my place");
}

/* A broadcast of a node's first rank reaches only its node; the conjunction of a node ignores other nodes. */
static void node_messages(const tutti__team *t, const char *nodes) {
    const int first = t->nodes.member[t->nodes.start[t->nodes.own]];
    for (int who = -1; who < t->size; who++) {
        int data[3] = {t->rank, who, -1}, all = -1;
        CHECK_OK(tutti__node_broadcast(t, data, (int)sizeof data));
        CHECK(data[0] == first && data[1] == who, "nodes=%s: data of rank %d", nodes, data[0]);
        CHECK_OK(tutti__node_all(t, t->rank != who, &all));
        CHECK(all == (who < 0 || t->nodes.of[who] != t->nodes.own), "nodes=%s: rank %d refuses",
              nodes, who);
    }
}

static void divisions(MPI_Comm comm) {
    static const char *const nodes[] = {"",      "1",    "2",    "100",  "1,2",
                                        "3,1,2", "rr:1", "rr:2", "rr:3", "single"};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        tutti__team *t = take_team(comm, nodes[i]);
        groups_check(&t->nodes, nodes[i], 0);
        groups_check(&t->singles, nodes[i], 1);
        node_messages(t, nodes[i]);
        tutti__team_give(&t);
        CHECK(t == NULL, "not nulled");
    }
}

/* Invalid values of `nodes` are refused for any number of ranks, even if no rank would need the value. */
static void check_refused(MPI_Comm comm) {
    static const char *const nodes[] = {"x",
                                        "0",
                                        "-1",
                                        "2x",
                                        "rr:",
                                        "rr:0",
                                        "rr:-2",
                                        "rr:2x",
                                        "1,",
                                        "1,x",
                                        "1,,2",
                                        "1,0",
                                        "1,2;",
                                        ",",
                                        "1,-2",
                                        "single,",
                                        "2 2",
                                        "100,x",
                                        "1,9223372036854775807,2x"};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        const long live = tutti__memory_live();
        tutti__team *t = NULL;
        const tutti_err err = tutti__team_take(comm, nodes[i], &t);
        CHECK(err == TUTTI_ERR_OPTION && !t, "nodes=%s: %s", nodes[i], tutti_error_name(err));
        CHECK(same_everywhere((int)err), "nodes=%s: not the same everywhere", nodes[i]);
        if (err != TUTTI_OK)
            CHECK(strstr(tutti_last_message(), nodes[i]), "%s", tutti_last_message());
        CHECK_EQ(tutti__memory_live(), live);
        tutti__team_give(&t);
    }
}

/* ---- the pool */

static void pooling(MPI_Comm comm) {
    tutti__team *a = take_team(comm, ""), *b = take_team(comm, ""), *c = take_team(comm, "rr:2");
    tutti__team *const first = a, *const second = b, *const third = c;
    int relation;
    CHECK(a != b && a->id != b->id, "two files, one team");
    MPI_Comm_compare(a->comm, b->comm, &relation);
    CHECK_EQ(relation, MPI_CONGRUENT);
    MPI_Comm_compare(a->comm, comm, &relation);
    CHECK_EQ(relation, MPI_CONGRUENT);
    if (rank % 2) tutti__team_give(&b); /* ranks return the teams in different orders */
    tutti__team_give(&a);
    tutti__team_give(&b);
    const long live = tutti__memory_live();
    a = take_team(comm, "");
    b = take_team(comm, "");
    CHECK((a == first && b == second) || (a == second && b == first), "not from the pool");
    CHECK_EQ(tutti__memory_live(), live);
    tutti__team_give(&c);
    tutti__team_give(&b);
    c = take_team(comm, "rr:2");
    CHECK(c == third, "another division's team, or a new one");
    tutti__team_give(&c);
    tutti__team_give(&a);
    a = NULL;
    tutti__team_give(&a);
}

/* If one rank releases its team late, all ranks take another team; later they share the same team. */
static void out_of_step(MPI_Comm comm) {
    for (int late = 0; late < ranks; late++) {
        tutti__team *a = take_team(comm, "2"), *const first = a;
        if (rank != late) tutti__team_give(&a);
        tutti__team *b = take_team(comm, "2");
        CHECK(b != first, "taken twice");
        CHECK_OK(tutti__team_agree(b, TUTTI_OK));
        tutti__team_give(&a);
        tutti__team_give(&b);
        a = take_team(comm, "2");
        CHECK_OK(tutti__team_agree(a, TUTTI_OK));
        tutti__team_give(&a);
    }
}

static void tags(MPI_Comm comm) {
    tutti__team *t = take_team(comm, "");
    void *bound = NULL;
    int flag, before = tutti__team_tag(t);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    for (int i = 0; i < 40000; i++) {
        const int tag = tutti__team_tag(t);
        CHECK(tag > 0 && tag != before && (!flag || tag <= *(int *)bound), "tag %d after %d", tag,
              before);
        before = tag;
    }
    CHECK(same_everywhere(before), "tag");
    tutti__team_give(&t);
}

/* If an allocation fails while a team is created, all ranks return the same error. */
static void without_memory(MPI_Comm comm) {
    for (int k = 1; k <= 9; k++) {
        char nodes[16];
        tutti__team *t = NULL;
        snprintf(nodes, sizeof nodes, "%d", 50 + k); /* a division that the pool does not have */
        if (rank == k % ranks) tutti__memory_fail_after(k);
        const tutti_err err = tutti__team_take(comm, nodes, &t);
        tutti__memory_fail_after(0);
        CHECK(err == TUTTI_ERR_NOMEM || err == TUTTI_OK, "%d: %s", k, tutti_error_name(err));
        CHECK(same_everywhere((int)err) && (t != NULL) == (err == TUTTI_OK), "%d: not the same", k);
        tutti__team_give(&t);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check_seed(0);
    MPI_Comm comm;
    const long live = tutti__memory_live();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    divisions(comm);
    check_refused(comm);
    pooling(comm);
    out_of_step(comm);
    tags(comm);
    without_memory(comm);
    MPI_Comm_free(&comm); /* also frees its teams */
    CHECK_EQ(tutti__memory_live(), live);
    tutti__team *t = take_team(MPI_COMM_WORLD, ""); /* this team is freed in MPI_Finalize */
    tutti__team_give(&t);
    int bad = 0;
    MPI_Allreduce(&check_failures_, &bad, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    CHECK_EQ(tutti__memory_live(), live);
    return check_done() || bad;
}
