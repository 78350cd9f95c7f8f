/* comm: the ranks that share a file.  A team has its own communicator, so that its messages
 * do not match those of the caller, and a list of the ranks that share memory.
 *
 * Creation is expensive, so teams are pooled in an attribute of the caller's communicator: opening
 * a file takes a free team from the pool, closing returns the team, and the teams are freed with
 * that communicator.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TEAM_H
#define TUTTI_TEAM_H

#include "base/memory.h"
#include "comm/mpi_error.h"

/* A division of the ranks of a team into groups that share memory. */
typedef struct tutti__groups {
    int n;       /* number of groups */
    int own;     /* group of this rank */
    int me;      /* position of this rank in its group */
    int size;    /* number of ranks in the group of this rank */
    int largest; /* number of ranks in the largest group */
    int *of;     /* [ranks] group of each rank */
    int *start;  /* [n + 1] index in `member` of each group's first rank */
    int *member; /* [ranks] ranks sorted by group, ascending within a group */
} tutti__groups;

/* The state of the consensus (consensus.h) of a team. */
typedef struct tutti__consensus_memory {
    char *base; /* memory shared by the ranks of this node; NULL: none */
    int in_use; /* whether all nodes with several ranks have shared memory; the same on all ranks */
    int tried;  /* whether creating the memory has been tried */
    int requests;  /* number of calls that could have used the memory */
    int64_t round; /* number of the last round; the first is 1 */
    int spins;     /* whether every rank has its own core */
} tutti__consensus_memory;

typedef struct tutti__team {
    MPI_Comm comm;
    int rank, size;
    tutti__groups nodes;   /* groups of ranks that share memory */
    tutti__groups singles; /* one group per rank */
    tutti__consensus_memory consensus;
    struct tutti__staging *staging; /* staging memory of the module exchange; NULL: none */
    void (*staging_drop)(struct tutti__staging *); /* frees `staging` */
    int tag, apart; /* last results of tutti__team_tag and, minus 16383, of tutti__team_vote_tag */
    int64_t differed; /* number of detected mismatches of calls, the same on all ranks */
    int id;           /* number of the team in its pool, the same on all ranks */
    int busy;         /* whether an open file uses the team */
    int orphan; /* whether the caller's communicator has been freed; then return frees the team */
    char pretend[128];        /* option `nodes` for which the team was created */
    struct tutti__team *next; /* next team of the pool */
} tutti__team;

/* Take a team for `comm`.  Collective.  `pretend` (the option `nodes`) divides the ranks of each
 * machine into simulated nodes: "" one, "N" N equal parts of the ranks, "3,1,2" parts of these
 * sizes, "rr:N" rank modulo N, "single" one per rank. */
tutti_err tutti__team_take(MPI_Comm comm, const char *pretend, tutti__team **out) TUTTI_MUST_USE;
/* Return the team to its pool and set *t to NULL.  Collective if the caller's communicator has been
 * freed, otherwise not collective; may be called after MPI_Finalize. */
void tutti__team_give(tutti__team **t);
/* Return a tag for one operation; the same on all ranks if they make the same calls.  Not
 * collective. */
int tutti__team_tag(tutti__team *t);
/* Return a tag for tutti__team_agree_tagged, which differs from all tags of tutti__team_tag. */
int tutti__team_vote_tag(tutti__team *t);
/* Return the *n_out ranks of a group, ascending.  Not collective. */
const int *tutti__groups_members(const tutti__groups *g, int group, int *n_out);

#endif
