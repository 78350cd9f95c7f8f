/* comm: the ranks that share a file.  A team has a communicator of its own (so that nothing we send
 * can meet what the caller sends) and knows which ranks share memory.
 *
 * Making one is expensive, so teams are pooled in an attribute of the caller's communicator: opening
 * a file takes a free one, closing gives it back; they are freed with that communicator.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TEAM_H
#define TUTTI_TEAM_H

#include <mpi.h>
#include "base/memory.h"

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

/* Shared memory for nods. */
typedef struct tutti__consensus_memory {
    char *base;   /* NULL: there is none */
    int tried;    /* to make one */
    int wishes;   /* how often it would have been used */
    int64_t nods; /* so far */
    int spins;    /* how long to look before giving the core away */
} tutti__consensus_memory;

typedef struct tutti__team {
    MPI_Comm comm;
    int rank, size;
    MPI_Comm node;         /* the ranks of `nodes.mine` */
    tutti__groups nodes;   /* ranks that share memory */
    tutti__groups singles; /* every rank on its own */
    tutti__consensus_memory consensus;
    struct tutti__staging *staging; /* what exchange keeps with the team, or NULL */
    void (*staging_drop)(struct tutti__staging *);
    int tag, apart; /* the last ones given out */
    int id;         /* the same on all ranks */
    int busy;
    int orphan;        /* the communicator it was made for is gone: free it when it is given back */
    char pretend[128]; /* the option `nodes` it was made for */
    struct tutti__team *next;
} tutti__team;

/* Take a team for `comm`.  Collective.  `pretend` (the option `nodes`) divides ranks of one machine
 * further: "" no, "N" N even parts, "3,1,2" parts of those sizes, "rr:N" round-robin, "single". */
tutti_err tutti__team_take(MPI_Comm comm, const char *pretend, tutti__team **out) TUTTI_MUST_USE;
/* Give it back to the pool.  Local, but collective if the communicator has been freed meanwhile. */
void tutti__team_give(tutti__team **t);
/* A tag for one operation, the same on all ranks if they count alike.  Local. */
int tutti__team_tag(tutti__team *t);
/* The same from another set, for tutti__team_agree_apart. */
int tutti__team_tag_apart(tutti__team *t);
const int *tutti__groups_members(const tutti__groups *g, int group, int *n_out);

/* ---- agreement.  A vote reduces a few numbers over all ranks together with "did anybody fail". */
#define TUTTI__VOTES 6
#define TUTTI__RANGES 32
typedef struct tutti__range {
    int64_t min, max;
} tutti__range;
enum { TUTTI__CALL_TELLS = 2 }; /* what a rank tells of its call: which, and what agrees */
typedef struct tutti__vote {
    int64_t fail; /* set by tutti__vote: the lowest rank that failed, or INT64_MAX */
    tutti__range call[TUTTI__CALL_TELLS]; /* where it opens a call: which, see below */
    int64_t yes;                          /* a bit per question; out, those to which all said yes */
    int64_t min[TUTTI__VOTES], max[TUTTI__VOTES], sum[TUTTI__VOTES];
    int64_t ranges; /* how many of the following there are, the same on all ranks in one call */
    tutti__range range[TUTTI__RANGES];
} tutti__vote;

/* Nobody has said anything. */
static inline tutti__range tutti__range_none(void) {
    return (tutti__range){INT64_MAX, INT64_MIN};
}
void tutti__vote_init(tutti__vote *v); /* min +inf, max -inf, sum 0, no ranges */
/* Collective.  If `mine` is an error on any rank, every rank returns the error of the lowest such rank
 * and has it as its last error; the numbers are reduced in any case. */
tutti_err tutti__team_vote(tutti__team *t, tutti_err mine, tutti__vote *io) TUTTI_MUST_USE;
/* The same without numbers. */
tutti_err tutti__team_agree(tutti__team *t, tutti_err mine) TUTTI_MUST_USE;
/* Votes follow one another by this tag; those of operations are larger. */
enum { TUTTI__VOTE_TAG = 0 };
/* The same among others that are under way at the same time, each with a tag of its own, in any order. */
tutti_err tutti__team_agree_apart(tutti__team *t, int tag, tutti_err mine) TUTTI_MUST_USE;
/* ---- nods: an agreement without messages, for ranks that share memory and have a board (nod.c).  Everybody
 * says yes or no to up to some questions, and gives some numbers. */
#define TUTTI__CONSENSUS_RANGES (TUTTI__RANGES + 4 + TUTTI__CALL_TELLS)
/* Can the team nod?  The same on all ranks. */
static inline int tutti__consensus_ready(const tutti__team *t) {
    return t->consensus.base != NULL || t->size == 1;
}
/* Bytes of a board for the team, 0: it cannot have one.  The memory, zeroed, is shared by all of its ranks. */
size_t tutti__consensus_bytes(const tutti__team *t);
void tutti__consensus_use(tutti__team *t, char *memory);
/* Room that belongs to the next nod: what a rank puts there before it nods, others see when all have. */
#define TUTTI__CONSENSUS_ROOM ((tutti_off)256 << 10)
char *tutti__consensus_room(const tutti__team *t);
char *tutti__consensus_room_now(const tutti__team *t); /* of the last nod */
/* After a nod one rank may do something for all: the first that asks, or only rank `who` (-1: any).  It tells
 * the others how it went, and they wait for that. */
int tutti__consensus_claim(tutti__team *t, int who);
void tutti__consensus_tell(tutti__team *t, int well);
int tutti__consensus_told(const tutti__team *t);
int tutti__consensus_has_told(const tutti__team *t); /* would that wait no more? */
/* `yes`: a bit per question; the result has those to which all said yes.   range[i]: in, one number, or
 * none; out, from the smallest to the largest of everybody's.   Collective; only if the team can. */
int64_t tutti__consensus(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* The same in two halves, for who does not wait: say what this rank has to say; has everybody?;
 * then hear it, with the same arguments.  No other nod of the team may come between. */
void tutti__consensus_say(tutti__team *t, int64_t yes, int n, const tutti__range *range);
int tutti__consensus_said(const tutti__team *t);
int64_t tutti__consensus_hear(tutti__team *t, int64_t yes, int n, tutti__range *range);
/* Who asks again and again whether others have come lets MPI move their messages on.  Local. */
void tutti__team_look(const tutti__team *t);

/* ---- calls: every collective call of a file opens by telling which it is (call.c).  Ranks that
 * are in different ones so find each other out: all return TUTTI_ERR_MISMATCH, and nothing has
 * been done. */
typedef enum tutti__call_kind {
    TUTTI__CALL_WRITE, /* at once, split or started */
    TUTTI__CALL_READ,
    TUTTI__CALL_PLAN_WRITE,
    TUTTI__CALL_PLAN_READ,
    TUTTI__CALL_RUN_WRITE, /* by a plan, at once or started */
    TUTTI__CALL_RUN_READ,
    TUTTI__CALL_WRITE_END,
    TUTTI__CALL_READ_END,
    TUTTI__CALL_SIZE,
    TUTTI__CALL_RESIZE,
    TUTTI__CALL_PREALLOCATE,
    TUTTI__CALL_SYNC,
    TUTTI__CALL_ATOMIC,
    TUTTI__CALL_CHANGE,
    TUTTI__CALL_CLOSE,
    TUTTI__CALL_ARRAY, /* whatever is not done by one of the others; `agrees` has its name too */
    TUTTI__CALLS
} tutti__call_kind;

typedef struct tutti__call {
    tutti__call_kind kind;
    int64_t agrees;   /* what must be the same on all ranks: a number or a hash */
    const char *what; /* that is, in the plural, for the message */
    int number;       /* it is a number that says something to people */
} tutti__call;

/* Open a call: all are in the same one, agree, and have nothing against it.  Otherwise all ranks
 * return the same: if calls differ TUTTI_ERR_MISMATCH, else the error of the lowest rank that has
 * one, else TUTTI_ERR_MISMATCH for what ought to agree.   range[i]: as for tutti__consensus.
 * Collective. */
tutti_err tutti__team_call(tutti__team *t, const tutti__call *c, tutti_err mine, int n,
                           tutti__range *range) TUTTI_MUST_USE;
/* The same by a vote, for a team that cannot nod or has nodded about this call already. */
tutti_err tutti__team_call_vote(tutti__team *t, const tutti__call *c, tutti_err mine,
                                tutti__vote *io) TUTTI_MUST_USE;
/* The parts, for an opening by tutti__consensus that asks more: what this rank says in its first
 * ranges; then are all in one call; then, if nobody refuses, what agrees. */
void tutti__call_tell(const tutti__team *t, const tutti__call *c, tutti_err mine,
                      tutti__range told[TUTTI__CALL_TELLS]);
int tutti__calls_differ(const tutti__range told[TUTTI__CALL_TELLS]); /* in either */
tutti_err tutti__call_compare(const tutti__range told[TUTTI__CALL_TELLS]) TUTTI_MUST_USE;
tutti_err tutti__call_agree(const tutti__call *c,
                            const tutti__range told[TUTTI__CALL_TELLS]) TUTTI_MUST_USE;

/* Sum of n numbers over all ranks, in place.  Collective. */
tutti_err tutti__team_sum(tutti__team *t, int64_t *v, int n) TUTTI_MUST_USE;
/* Rank 0's bytes for all.  Collective, bytes agrees. */
tutti_err tutti__team_tell(tutti__team *t, void *data, int bytes) TUTTI_MUST_USE;

/* Wait for requests of MPI, yielding. */
tutti_err tutti__team_finish(int n, MPI_Request *requests) TUTTI_MUST_USE;

/* Record a failed MPI call; and return what it is. */
void tutti__error_record_mpi(int mpi_code, const char *what);
static inline tutti_err tutti__error_mpi(int mpi_code, const char *what) {
    tutti__error_record_mpi(mpi_code, what);
    return TUTTI_ERR_MPI;
}
#define TUTTI_MPI(call)                                                \
    do {                                                               \
        const int mpi_ = (call);                                       \
        if (mpi_ != MPI_SUCCESS) return tutti__error_mpi(mpi_, #call); \
    } while (0)

/* ---- sparse exchange: every rank sends to whom it likes, nobody knows who will send */
typedef struct tutti__sparse_message {
    int rank; /* to send: destination; received: source */
    size_t bytes;
    void *data;
} tutti__sparse_message;

/* Collective.  Sends n letters (their data stay the caller's), receives all that were sent to this rank,
 * sorted by source; those sent by one rank in its order.  Letters to oneself are delivered too.
 * *in_out and each data are for tutti__sparse_free. */
tutti_err tutti__sparse_exchange(tutti__team *t, int n, const tutti__sparse_message *out,
                                 int *n_in_out, tutti__sparse_message **in_out) TUTTI_MUST_USE;
void tutti__sparse_free(int n, tutti__sparse_message **letters);

/* Give the core to somebody else: every wait of the library calls this and nothing else.  Inside a fiber
 * that means back to whoever resumed it; otherwise other operations of this thread get a turn first. */
void tutti__yield(void);
/* What this thread does when it has to wait; NULL: nothing. */
typedef void tutti__idle_fn(void);
void tutti__on_idle(tutti__idle_fn *fn);

#endif
