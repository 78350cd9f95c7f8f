/* mpitype: a cache of the sides of long lists of blocks.
 *
 * PnetCDF sets a view of the same several hundred thousand blocks for every wait, each time with a
 * new datatype.  Contents are compared, not handles, since MPI reuses the handles of freed
 * datatypes.  Equal lists share one side, so that later comparisons of accesses compare one
 * pointer.  The cache is emptied when no view exists.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "mpitype/mpitype_impl.h"

#include <pthread.h>
#include <string.h>

enum {
    ENTRIES = 4,
    MIN_NUMBERS = 4096,   /* building a shorter list is as fast as comparing it */
    MAX_NUMBERS = 4 << 20 /* 32 MiB per entry */
};

typedef struct {
    tutti__contents contents; /* `type` is unused; number NULL: the entry is free */
    tutti_off child_disp, child_bytes, child_extent;
    tutti__side side;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects all variables below */
static entry entries[ENTRIES];
static int next_entry; /* index of the oldest entry, which is replaced next */
static int64_t views;  /* number of existing views */

static void free_entry(entry *e) {
    tutti__free(e->contents.number);
    tutti__side_free(&e->side);
    *e = (entry){.side = {0, NULL}};
}

/* Return whether the contents are a long list of blocks of a contiguous child, whose layout depends
 * only on the displacement, the size and the extent of the child. */
static int is_long_list(const tutti__contents *c, const tutti__layout *child) {
    const int has_blocks =
        c->combiner == MPI_COMBINER_INDEXED || c->combiner == MPI_COMBINER_HINDEXED ||
        c->combiner == MPI_COMBINER_INDEXED_BLOCK || c->combiner == MPI_COMBINER_HINDEXED_BLOCK;
    return has_blocks && c->numbers >= MIN_NUMBERS && c->numbers <= MAX_NUMBERS &&
           child->side.node && child->side.node->kind == TUTTI__RUN;
}

int tutti__recent_find(const tutti__contents *c, const tutti__layout *child, tutti__side *out) {
    int found = 0;
    if (!is_long_list(c, child)) return 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < ENTRIES && !found; i++) {
        found = (entries[i].contents.number && entries[i].contents.combiner == c->combiner &&
                 entries[i].contents.numbers == c->numbers &&
                 entries[i].child_disp == child->side.disp &&
                 entries[i].child_bytes == child->side.node->bytes &&
                 entries[i].child_extent == child->extent &&
                 memcmp(entries[i].contents.number, c->number,
                        (size_t)c->numbers * sizeof *c->number) == 0);
        if (found) *out = tutti__side_share(entries[i].side);
    }
    pthread_mutex_unlock(&lock);
    return found;
}

void tutti__recent_add(tutti__contents *c, const tutti__layout *child, tutti__side side) {
    if (!is_long_list(c, child)) return;
    pthread_mutex_lock(&lock);
    if (views > 0) {
        entry *e = &entries[next_entry];
        free_entry(e);
        *e = (entry){
            .contents = {.combiner = c->combiner, .numbers = c->numbers, .number = c->number},
            .child_disp = child->side.disp,
            .child_bytes = child->side.node->bytes,
            .child_extent = child->extent,
            .side = tutti__side_share(side)};
        c->number = NULL;
        next_entry = (next_entry + 1) % ENTRIES;
    }
    pthread_mutex_unlock(&lock);
}

void tutti__recent_view(int change) {
    pthread_mutex_lock(&lock);
    views += change;
    for (int i = 0; i < ENTRIES && views == 0; i++) free_entry(&entries[i]);
    pthread_mutex_unlock(&lock);
}
