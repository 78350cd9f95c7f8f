/* exchange: the core of `shm`.  A slot is a staging buffer that several ranks fill (write) or
 * empty (read) at the same time, each its own bytes, at their final position.
 *
 *   owner    open(key) ............................ full? -> file, close
 *   others            wait key, copy, moved += n
 *
 * The owner opens a slot for one window; all ranks with bytes in that window copy them and add
 * their number; the plan gives the owner the total.  There is no barrier, no message and no
 * lock.  The flags are C11 atomics on separate cache lines: release after a copy, acquire
 * before use.  The file does not use MPI, so that threads can act as ranks under TSan.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SLOT_H
#define TUTTI_SLOT_H

#include <stdatomic.h>
#include "base/event.h"
#include "base/memory.h"

#define TUTTI__CLOSED INT64_C(-1)
#define TUTTI__IN_FILE \
    INT64_C(-2) /* closed: its bytes are being written to or read from the file */

typedef struct tutti__slot {
    _Alignas(64) _Atomic int64_t key;   /* of the window it is open for, or one of the above */
    _Alignas(64) _Atomic int64_t moved; /* bytes copied into it or out of it since it was opened */
    _Alignas(64) atomic_int turn;       /* first slot of a group: set while a rank writes */
} tutti__slot;

/* A key for window (a, c).  Windows are made large enough that cycles fit. */
#define TUTTI__CYCLE_BITS 40
static inline int64_t tutti__slot_key(int aggregator, tutti_count cycle) {
    return ((int64_t)aggregator << TUTTI__CYCLE_BITS) | cycle;
}

static inline void tutti__slot_close(tutti__slot *s) {
    atomic_store_explicit(&s->key, TUTTI__CLOSED, memory_order_release);
}

/* Owner: close it; ranks that wait for it wait for the file. */
static inline void tutti__slot_in_file(tutti__slot *s) {
    atomic_store_explicit(&s->key, TUTTI__IN_FILE, memory_order_release);
}

/* Owner, before any other rank accesses it. */
static inline void tutti__slot_make(tutti__slot *s) {
    tutti__slot_close(s);
    atomic_store_explicit(&s->turn, 0, memory_order_release);
}

/* Any rank: returns 1 if this rank may write; it must release the turn soon, without waiting. */
static inline int tutti__slot_writer_enter(tutti__slot *s) {
    return !atomic_load_explicit(&s->turn, memory_order_relaxed) &&
           !atomic_exchange_explicit(&s->turn, 1, memory_order_acquire);
}

static inline void tutti__slot_writer_leave(tutti__slot *s) {
    atomic_store_explicit(&s->turn, 0, memory_order_release);
}

/* Owner: open it for others.  Earlier stores of the owner are visible to them. */
static inline void tutti__slot_open(tutti__slot *s, int64_t key) {
    atomic_store_explicit(&s->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&s->key, key, memory_order_release);
}

/* Others: test whether this rank may copy. */
static inline int tutti__slot_is_open(tutti__slot *s, int64_t key) {
    return atomic_load_explicit(&s->key, memory_order_acquire) == key;
}

/* Others: I have copied so much. */
static inline void tutti__slot_moved(tutti__slot *s, tutti_off bytes) {
    atomic_fetch_add_explicit(&s->moved, bytes, memory_order_release);
}

/* Owner: whether all ranks have copied.  If so, their stores are visible. */
static inline int tutti__slot_is_done(tutti__slot *s, tutti_off expected) {
    return atomic_load_explicit(&s->moved, memory_order_acquire) == expected;
}

/* ---- a group's staging memory: for every member `slots` slots with a buffer of `window` bytes
 * each.  The event is signalled when a slot is opened or bytes have been moved.
 *
 *   [ event ][ slots of member 0 | member 1 | ... ][ buffers of member 0 | member 1 | ... ]  */
typedef struct tutti__stage {
    char *base;
    int members, slots;
    tutti_off window;
} tutti__stage;

size_t tutti__stage_bytes(int members, int slots, tutti_off window);
static inline tutti__event *tutti__stage_event(const tutti__stage *s) {
    return (tutti__event *)(void *)s->base;
}
tutti__slot *tutti__stage_slot(const tutti__stage *s, int member, int slot);
char *tutti__stage_buffer(const tutti__stage *s, int member, int slot);
/* The slot of a member that is open for a window, or -1. */
int tutti__stage_find(const tutti__stage *s, int member, int first, int n, int64_t key);
/* Whether one of the slots is being transferred to or from the file. */
int tutti__stage_in_file(const tutti__stage *s, int member, int first, int n);

#endif
