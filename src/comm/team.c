/* comm: creating and pooling teams, and dividing them into groups.
 *
 * The pool is an attribute of the communicator of the caller.  All ranks must take the same free
 * team.  Threads may close files in different orders on different ranks; therefore the ranks
 * compare the ids of their first free teams, and create a new team if the ids differ.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "comm/team.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/hash.h"
#include "comm/collective_count.h"
#include "comm/vote.h"
#include "comm/wait.h"

typedef struct {
    tutti__team *first; /* list of all teams of the communicator, free or busy */
    int made;           /* teams created so far: the next id */
} pool;

static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static int pool_key = MPI_KEYVAL_INVALID;

/* ---- groups */

static void groups_free(tutti__groups *g) {
    tutti__free(g->of);
    tutti__free(g->start);
    tutti__free(g->member);
    memset(g, 0, sizeof *g);
}

/* Set all fields from `of`, which has the group numbers 0 ... n-1 of all ranks; no group is
 * empty. */
static tutti_err groups_finish(tutti__groups *g, int n, int ranks, int rank) {
    g->n = n;
    g->start = tutti__calloc((size_t)n + 1, sizeof *g->start);
    g->member = tutti__calloc((size_t)ranks, sizeof *g->member);
    int *fill = tutti__calloc((size_t)n, sizeof *fill);
    if (!g->start || !g->member || !fill) {
        tutti__free(fill);
        return TUTTI_ERR_NOMEM;
    }
    for (int r = 0; r < ranks; r++) g->start[g->of[r] + 1]++;
    for (int i = 0; i < n; i++) {
        if (g->start[i + 1] > g->largest) g->largest = g->start[i + 1];
        g->start[i + 1] += g->start[i];
        fill[i] = g->start[i];
    }
    for (int r = 0; r < ranks; r++) {
        if (r == rank) g->me = fill[g->of[r]] - g->start[g->of[r]];
        g->member[fill[g->of[r]]++] = r;
    }
    g->own = g->of[rank];
    g->size = g->start[g->own + 1] - g->start[g->own];
    tutti__free(fill);
    return TUTTI_OK;
}

const int *tutti__groups_members(const tutti__groups *g, int group, int *n_out) {
    *n_out = g->start[group + 1] - g->start[group];
    return g->member + g->start[group];
}

/* Return the simulated node of a rank according to the option `nodes`; -1: invalid option. */
static int simulated_node(const char *text, int rank, int size) {
    char *end;
    if (text[0] == '\0') return 0;
    if (strcmp(text, "single") == 0) return rank;
    if (strncmp(text, "rr:", 3) == 0) {
        const long n = strtol(text + 3, &end, 10);
        return n >= 1 && *end == '\0' ? (int)(rank % n) : -1;
    }
    long n = strtol(text, &end, 10);
    if (n < 1 || end == text) return -1;
    if (*end == '\0') return (int)((long long)rank * (n < size ? n : size) / size);
    long below = 0;
    int own = -1;
    for (int part = 0;; part++) {
        below += n < size ? n : size; /* clamped, since the sum of a long list could overflow */
        if (below > size) below = size;
        if (own < 0 && rank < below) own = part;
        /* ranks beyond the list form one more part */
        if (*end == '\0') return own >= 0 ? own : part + 1;
        if (*end != ',') return -1;
        const char *from = end + 1;
        n = strtol(from, &end, 10);
        if (n < 1 || end == from) return -1;
    }
}

/* The location of a rank. */
typedef struct {
    uint64_t machine; /* hash that is equal on ranks that can share memory */
    int64_t part;     /* simulated node */
    int64_t rank;
} location;

static int location_order(const void *a, const void *b) {
    const location *x = a, *y = b;
    if (x->machine != y->machine) return x->machine < y->machine ? -1 : 1;
    if (x->part != y->part) return x->part < y->part ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Divide the ranks into nodes, numbered 0, 1, ... in the order of their lowest ranks.
 * Collective. */
static tutti_err nodes_make(tutti__team *t, int part, location *all, int *leader) {
    /* Processes with the same boot id, host name and /dev/shm can share memory.
     * MPI_Comm_split_type gives the same result, but takes milliseconds in MPICH. */
    char boot[64];
    struct utsname name;
    struct stat shm;
    uint64_t hash = TUTTI__HASH_START;
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, boot, sizeof boot) : -1;
    if (fd >= 0) (void)close(fd);
    if (length > 0) hash = tutti__hash(hash, boot, (size_t)length);
    if (uname(&name) == 0) hash = tutti__hash(hash, name.nodename, strlen(name.nodename));
    if (stat("/dev/shm", &shm) == 0) {
        hash = tutti__hash(hash, &shm.st_dev, sizeof shm.st_dev);
        hash = tutti__hash(hash, &shm.st_ino, sizeof shm.st_ino);
    }
    const location own = {hash, part, t->rank};
    int n = 0;
    tutti__collective_add();
    TUTTI_MPI(
        MPI_Allgather(&own, (int)sizeof own, MPI_BYTE, all, (int)sizeof own, MPI_BYTE, t->comm));
    /* leader[r] is the lowest rank with the location of rank r. */
    int lowest = 0;
    qsort(all, (size_t)t->size, sizeof *all, location_order);
    for (int i = 0; i < t->size; i++) {
        if (i == 0 || all[i].machine != all[i - 1].machine || all[i].part != all[i - 1].part)
            lowest = (int)all[i].rank;
        leader[all[i].rank] = lowest;
    }
    t->nodes.of = tutti__calloc((size_t)t->size, sizeof(int));
    if (!t->nodes.of) return TUTTI_ERR_NOMEM;
    for (int r = 0; r < t->size; r++)
        t->nodes.of[r] = leader[r] == r ? n++ : t->nodes.of[leader[r]];
    return groups_finish(&t->nodes, n, t->size, t->rank);
}

static void team_free(tutti__team *t) {
    int ended = 0;
    MPI_Finalized(&ended); /* MPI_Finalize frees the communicators */
    if (t->staging && !ended) t->staging_drop(t->staging);
    if (t->comm != MPI_COMM_NULL && !ended) MPI_Comm_free(&t->comm);
    groups_free(&t->nodes);
    groups_free(&t->singles);
    tutti__free(t);
}

/* Create a communicator of the same ranks.  MPI_Comm_dup would copy the caller's attributes, whose
 * delete callbacks would be called when the new communicator is freed. */
static int create_same_comm(MPI_Comm comm, MPI_Comm *out) {
    MPI_Group all;
    int code = MPI_Comm_group(comm, &all);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_create(comm, all, out);
    MPI_Group_free(&all);
    return code;
}

/* Memory of a new team, allocated before the ranks agree to create one. */
typedef struct {
    tutti__team *team;
    location *every; /* [ranks] */
    int *leader;     /* [ranks] */
} team_memory;

static void team_memory_free(team_memory *m) {
    tutti__free(m->every);
    tutti__free(m->leader);
    m->every = NULL;
    m->leader = NULL;
}

/* Set the groups of a team whose communicator exists.  Collective. */
static tutti_err team_divide(tutti__team *t, const team_memory *m) {
    const int part = simulated_node(t->pretend, t->rank, t->size);
    TUTTI_TRY(nodes_make(t, part < 0 ? 0 : part, m->every, m->leader));
    TUTTI_CHECK(part >= 0, TUTTI_ERR_OPTION,
                "option nodes is '%s': must be single, rr:N, N, or a list N,N,...", t->pretend);
    t->singles.of = tutti__calloc((size_t)t->size, sizeof(int));
    if (!t->singles.of) return TUTTI_ERR_NOMEM;
    for (int r = 0; r < t->size; r++) t->singles.of[r] = r;
    return groups_finish(&t->singles, t->size, t->size, t->rank);
}

static tutti_err team_make(MPI_Comm comm, const char *pretend, tutti__team **out) {
    int size = 0, all = 0;
    TUTTI_MPI(MPI_Comm_size(comm, &size));
    team_memory m = {tutti__calloc(1, sizeof *m.team),
                     tutti__calloc((size_t)size + 1, sizeof *m.every),
                     tutti__calloc((size_t)size + 1, sizeof *m.leader)};
    tutti__team *const t = m.team;
    const int have = t && m.every && m.leader;
    tutti__collective_add();
    TUTTI_MPI(MPI_Allreduce(&have, &all, 1, MPI_INT, MPI_MIN, comm));
    if (!all) {
        team_memory_free(&m);
        tutti__free(t);
        return tutti__error_set(TUTTI_ERR_NOMEM, 0, -1,
                                "out of memory on a rank: cannot set up the communicator");
    }
    TUTTI_ASSERT(t);
    t->comm = MPI_COMM_NULL;
    snprintf(t->pretend, sizeof t->pretend, "%s", pretend);
    tutti__collective_add();
    const int code = create_same_comm(comm, &t->comm);
    if (code != MPI_SUCCESS) {
        team_memory_free(&m);
        tutti__free(t);
        return tutti__error_mpi(code, "MPI_Comm_create");
    }
    MPI_Comm_set_errhandler(t->comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(t->comm, &t->rank);
    t->size = size;
    tutti_err err = team_divide(t, &m);
    team_memory_free(&m);
    err = tutti__team_agree(t, err);
    if (err != TUTTI_OK) {
        team_free(t);
        return err;
    }
    *out = t;
    return TUTTI_OK;
}

/* ---- the pool */

static int pool_delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    pool *p = value;
    tutti__team *unused = NULL, **last = &unused;
    pthread_mutex_lock(&pool_lock); /* another thread may be closing a file */
    for (tutti__team *t = p->first, *next; t; t = next) {
        next = t->next;
        t->next = NULL;
        t->orphan = t->busy; /* the team of an open file is freed when the file is closed */
        if (t->busy) continue;
        *last = t;
        last = &t->next;
    }
    pthread_mutex_unlock(&pool_lock);
    for (tutti__team *t = unused, *next; t; t = next) {
        next = t->next;
        team_free(t);
    }
    tutti__free(p);
    return MPI_SUCCESS;
}

/* Free the pool of MPI_COMM_WORLD, which the program never frees.  This is a delete callback of
 * MPI_COMM_SELF, whose attributes MPI_Finalize deletes first. */
static int world_delete(MPI_Comm self, int key, void *value, void *extra) {
    (void)self, (void)key, (void)value, (void)extra;
    void *p = NULL;
    int found = 0;
    if (MPI_Comm_get_attr(MPI_COMM_WORLD, pool_key, &p, &found) == MPI_SUCCESS && found)
        MPI_Comm_delete_attr(MPI_COMM_WORLD, pool_key);
    return MPI_SUCCESS;
}

/* Create the keys.  Attributes are set by PMPI_Comm_set_attr because libtutti-mpiio.so, which may
 * be preloaded, replaces MPI_Comm_set_attr and would open a file in it while pool_lock is held. */
static tutti_err pool_keys(void) {
    int self_key = MPI_KEYVAL_INVALID;
    if (pool_key != MPI_KEYVAL_INVALID) return TUTTI_OK;
    TUTTI_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, pool_delete, &pool_key, NULL));
    TUTTI_MPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, world_delete, &self_key, NULL));
    TUTTI_MPI(PMPI_Comm_set_attr(MPI_COMM_SELF, self_key, NULL));
    TUTTI_MPI(MPI_Comm_free_keyval(&self_key));
    return TUTTI_OK;
}

static tutti_err pool_of(MPI_Comm comm, pool **out) {
    void *value = NULL;
    int found = 0;
    TUTTI_TRY(pool_keys());
    TUTTI_MPI(MPI_Comm_get_attr(comm, pool_key, &value, &found));
    if (!found) {
        value = tutti__calloc(1, sizeof(pool));
        if (!value) return TUTTI_ERR_NOMEM;
        const int code = PMPI_Comm_set_attr(comm, pool_key, value);
        if (code != MPI_SUCCESS) {
            tutti__free(value);
            return tutti__error_mpi(code, "MPI_Comm_set_attr");
        }
    }
    *out = value;
    return TUTTI_OK;
}

tutti_err tutti__team_take(MPI_Comm comm, const char *pretend, tutti__team **out) {
    pool *p = NULL;
    int range[2], both[2];

    pthread_mutex_lock(&pool_lock);
    const tutti_err err = pool_of(comm, &p);
    tutti__team *t = NULL; /* the free team with the lowest id */
    for (tutti__team *free = p ? p->first : NULL; free; free = free->next)
        if (!free->busy && strcmp(free->pretend, pretend) == 0 && (!t || free->id < t->id))
            t = free;
    if (t) t->busy = 1;
    pthread_mutex_unlock(&pool_lock);

    /* the ids are equal if max(-id) == -max(id); 1 << 30: this rank has no pool; 1, -1: no free
     * team */
    range[0] = err != TUTTI_OK ? 1 << 30 : t ? -t->id : 1;
    range[1] = err != TUTTI_OK ? 1 << 30 : t ? t->id : -1;
    MPI_Request r;
    tutti__collective_add();
    TUTTI_MPI(MPI_Iallreduce(range, both, 2, MPI_INT, MPI_MAX, comm, &r));
    TUTTI_TRY(tutti__team_finish(1, &r));
    if (both[1] < 1 << 30 && both[1] >= 0 && both[0] == -both[1]) {
        *out = t;
        return TUTTI_OK;
    }
    if (t) tutti__team_give(&t);
    if (both[1] == 1 << 30)
        return tutti__error_set(TUTTI_ERR_NOMEM, 0, -1,
                                "out of memory on a rank: cannot set up the communicator");

    TUTTI_ASSERT(p);
    TUTTI_TRY(team_make(comm, pretend, &t));
    pthread_mutex_lock(&pool_lock);
    t->id = p->made++;
    t->busy = 1;
    t->next = p->first;
    p->first = t;
    pthread_mutex_unlock(&pool_lock);
    *out = t;
    return TUTTI_OK;
}

void tutti__team_give(tutti__team **t) {
    if (!*t) return;
    pthread_mutex_lock(&pool_lock);
    (*t)->busy = 0;
    const int orphan = (*t)->orphan;
    pthread_mutex_unlock(&pool_lock);
    if (orphan) {
        TUTTI_KEEP_LAST_ERROR;
        team_free(*t);
    }
    *t = NULL;
}

/* MPI guarantees tags up to 32767: 1 ... 16383 are for messages of operations, 16384 ... 32765 for
 * their votes; node_messages.c and array_pair.c use the last two. */
int tutti__team_tag(tutti__team *t) {
    t->tag = t->tag % 16383 + 1;
    return t->tag;
}

int tutti__team_vote_tag(tutti__team *t) {
    t->apart = t->apart % 16382 + 1;
    return 16383 + t->apart;
}
