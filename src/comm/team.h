/* comm: the ranks that share a file.  A team has a communicator of its own, so that its messages
 * do not match the caller's, and knows which ranks share memory.
 *
 * Creation is expensive, so teams are pooled in an attribute of the caller's communicator: opening
 * a file takes a free one, closing returns it; they are freed with that communicator.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TEAM_H
#define TUTTI_TEAM_H

#include "base/memory.h"
#include "comm/mpi_error.h"

/* A division of the ranks into groups that share staging memory. */
typedef struct tutti__groups {
    int n;       /* groups */
    int mine;    /* my group */
    int me;      /* my position in it */
    int size;    /* its size */
    int largest; /* size of the largest group */
    int *of;     /* [ranks] group of a rank */
    int *start;  /* [n + 1] where a group's members start in `member` */
    int *member; /* [ranks] ranks by group, ascending inside one */
} tutti__groups;

/* The state of comm/consensus.h. */
typedef struct tutti__consensus_memory {
    char *base;    /* shared by the ranks of this node; NULL: there is none */
    int in_use;    /* the nodes of several ranks have it; the same on all ranks of the team */
    int tried;     /* to make it */
    int requests;  /* calls that would have used it */
    int64_t round; /* the last one */
    int spins;     /* every rank has a core of its own */
} tutti__consensus_memory;

typedef struct tutti__team {
    MPI_Comm comm;
    int rank, size;
    tutti__groups nodes;   /* ranks that share memory */
    tutti__groups singles; /* every rank on its own */
    tutti__consensus_memory consensus;
    struct tutti__staging *staging; /* what exchange keeps with the team, or NULL */
    void (*staging_drop)(struct tutti__staging *);
    int tag, apart;   /* the last ones given out */
    int64_t differed; /* how often ranks were found in different calls: the same on all of them */
    int id;           /* the same on all ranks */
    int busy;
    int orphan;        /* the communicator has been freed: free the team when it is returned */
    char pretend[128]; /* the option `nodes` it was made for */
    struct tutti__team *next;
} tutti__team;

/* Take a team for `comm`.  Collective.  `pretend` (the option `nodes`) divides ranks of one machine
 * further: "" no, "N" N even parts, "3,1,2" parts of those sizes, "rr:N" round-robin, "single". */
tutti_err tutti__team_take(MPI_Comm comm, const char *pretend, tutti__team **out) TUTTI_MUST_USE;
/* Give it back to the pool.  Local, but collective if the communicator has been freed meanwhile; also
 * after MPI_Finalize. */
void tutti__team_give(tutti__team **t);
/* A tag for one operation, the same on all ranks if they count alike.  Not collective. */
int tutti__team_tag(tutti__team *t);
/* The same from another set, for tutti__team_agree_tagged. */
int tutti__team_vote_tag(tutti__team *t);
/* The ranks of a group, ascending.  Not collective. */
const int *tutti__groups_members(const tutti__groups *g, int group, int *n_out);

#endif
