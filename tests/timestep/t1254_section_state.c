/* TEST ranks=0 timeout=60 */
/* The state of a section, compared with the rules evaluated over the complete history, for all sequences of
 * five events and for long random sequences with overlapping puts.  A second model of each entry shows that
 * a section that has not failed contains no entry with unknown bytes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include "timestep/section_state.h"

/* Decompositions are sets of four entries; 3 and 4 have the same set, 5 and 6 have all entries. */
enum { ENTRIES = 4, DECOMPOSITIONS = 7, ALL = (1 << ENTRIES) - 1, MOST = 64 };
static const int set_of[DECOMPOSITIONS] = {1, 6, 12, 3, 3, ALL, ALL};

typedef struct {
    int decomposition; /* decomposition of a put; -1: a failed sync */
    int ended;         /* number of events when the put ended, or 0: pending */
    int ok;            /* 1 if the put succeeded */
    int64_t ticket;
} event;

static event history[MOST];
static int history_n;
static tutti__section_state state;

/* Return whether a put of this decomposition, or of all entries, began after `from` events and succeeded. */
static int is_repaired(int from, int decomposition) {
    for (int k = from; k < history_n; k++) {
        const event *e = &history[k];
        if (e->decomposition < 0 || !e->ended || !e->ok) continue;
        if (e->decomposition == decomposition || set_of[e->decomposition] == ALL) return 1;
    }
    return 0;
}

static tutti__section_status status_by_rules(void) {
    int partial = 0, whole = 0;
    for (int i = 0; i < history_n; i++) {
        const event *e = &history[i];
        if (e->decomposition >= 0 && e->ended && !e->ok && !is_repaired(e->ended, e->decomposition))
            return TUTTI__SECTION_FAILED;
        for (int k = 0; k < i && e->decomposition < 0; k++)
            if (history[k].decomposition >= 0 && history[k].ended &&
                !is_repaired(i + 1, history[k].decomposition))
                return TUTTI__SECTION_FAILED;
        if (e->decomposition < 0 || !e->ended || !e->ok) continue;
        partial = 1;
        whole |= set_of[e->decomposition] == ALL;
    }
    return whole ? TUTTI__SECTION_WHOLE : partial ? TUTTI__SECTION_PARTIAL : TUTTI__SECTION_EMPTY;
}

/* Return the set of entries whose bytes are unknown after all events. */
static int unknown_entries(void) {
    int written = 0, unknown = 0;
    for (int i = 0; i < history_n; i++) {
        const event *e = &history[i];
        const int set = e->decomposition < 0 ? written : set_of[e->decomposition];
        written |= set;
        unknown = e->decomposition >= 0 && e->ok ? unknown & ~set : unknown | set;
    }
    return unknown;
}

static void put_start(int decomposition) {
    event *e = &history[history_n++];
    *e = (event){.decomposition = decomposition};
    CHECK_OK(tutti__section_put_start(&state, decomposition, &e->ticket));
}

static void put_end(event *e, int ok) {
    e->ended = history_n;
    e->ok = ok;
    if (ok)
        tutti__section_put_succeeded(&state, e->decomposition, e->ticket,
                                     set_of[e->decomposition] == ALL);
    else
        tutti__section_put_failed(&state, e->decomposition);
}

static void sync_fails(void) {
    history[history_n++] = (event){.decomposition = -1};
    tutti__section_sync_failed(&state);
}

static void compare_values(int sequential) {
    const tutti__section_status is = tutti__section_status_of(&state), want = status_by_rules();
    if (is != want) {
        char text[MOST * 8] = "";
        for (int i = 0, n = 0; i < history_n; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %d%s", history[i].decomposition,
                          !history[i].ended ? "?"
                          : history[i].ok   ? "+"
                                            : "-");
        CHECK(0, "status %d, not %d, after%s", (int)is, (int)want, text);
    }
    if (sequential && is != TUTTI__SECTION_FAILED) CHECK_EQ(unknown_entries(), 0);
}

static void start_again(void) {
    tutti__section_state_free(&state);
    history_n = 0;
}

static void all_sequences(void) {
    enum { LENGTH = 5, EVENTS = 2 * 5 + 1 };
    static const int used[5] = {0, 1, 3, 4, 5};
    long n = 1;
    for (int i = 0; i < LENGTH; i++) n *= EVENTS;
    for (long k = 0; k < n; k++) {
        start_again();
        for (long i = 0, code = k; i < LENGTH; i++, code /= EVENTS) {
            const int what = (int)(code % EVENTS);
            if (what == EVENTS - 1) {
                sync_fails();
            } else {
                put_start(used[what / 2]);
                put_end(&history[history_n - 1], what % 2);
            }
        }
        compare_values(1);
    }
}

static void random_sequences(void) {
    for (int round = 0; round < 20000; round++) {
        int open[MOST], open_n = 0;
        start_again();
        while (history_n < 20) {
            const int what = (int)rnd(8);
            if (what < 4) {
                open[open_n++] = history_n;
                put_start((int)rnd(DECOMPOSITIONS));
            } else if (what < 7 && open_n > 0) {
                const int which = (int)rnd(open_n);
                put_end(&history[open[which]], rnd(3) > 0);
                open[which] = open[--open_n];
            } else if (open_n == 0) {
                sync_fails();
            }
            compare_values(0);
        }
    }
}

static void no_memory(void) {
    int64_t ticket = 0;
    start_again();
    tutti__memory_fail_after(1);
    CHECK_ERR(tutti__section_put_start(&state, 1, &ticket), TUTTI_ERR_NOMEM);
    tutti__memory_fail_after(0);
    CHECK_EQ(tutti__section_status_of(&state), TUTTI__SECTION_EMPTY);
}

int main(void) {
    check_seed(1254);
    all_sequences();
    random_sequences();
    no_memory();
    start_again();
    CHECK_EQ(tutti__memory_live(), 0);
    return check_done();
}
