/* exchange: slots of the exchange `shm`.  A slot is a staging buffer into which (write) or from
 * which (read) several ranks copy their own bytes at the same time, at their final positions.
 *
 * The owner opens a slot for one window.  All ranks with bytes in that window wait until the slot
 * is open, copy their bytes and add their number to `moved`.  The plan gives the owner the total;
 * when it is reached, the owner writes the buffer to the file and closes the slot.  There is no
 * barrier, message or lock: the flags are C11 atomics on separate cache lines, with release after a
 * copy and acquire before use.  The file does not use MPI, so that tests can use threads as ranks
 * under TSan.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_SLOT_H
#define TUTTI_SLOT_H

#include <stdatomic.h>
#include "base/event.h"
#include "base/memory.h"

#define TUTTI__CLOSED INT64_C(-1)
/* closed: its bytes are being written to or read from the file */
#define TUTTI__IN_FILE INT64_C(-2)

typedef struct tutti__slot {
    /* key of the window for which the slot is open, or one of the above */
    _Alignas(64) _Atomic int64_t key;
    _Alignas(64) _Atomic int64_t moved; /* bytes copied into or from the slot since it was opened */
    /* first slot of a group: 1 while a rank of the group writes */
    _Alignas(64) atomic_int turn;
} tutti__slot;

/* Number of bits of the cycle in a key; windows are large enough that cycle numbers fit. */
#define TUTTI__CYCLE_BITS 40
/* Return the key of window (aggregator, cycle). */
static inline int64_t tutti__slot_key(int aggregator, tutti_count cycle) {
    return ((int64_t)aggregator << TUTTI__CYCLE_BITS) | cycle;
}

static inline void tutti__slot_close(tutti__slot *s) {
    atomic_store_explicit(&s->key, TUTTI__CLOSED, memory_order_release);
}

/* Called by the owner: close the slot, and show waiting ranks that its bytes are transferred to or
 * from the file. */
static inline void tutti__slot_in_file(tutti__slot *s) {
    atomic_store_explicit(&s->key, TUTTI__IN_FILE, memory_order_release);
}

/* Initialise a slot; called by the owner before any other rank accesses the slot. */
static inline void tutti__slot_make(tutti__slot *s) {
    tutti__slot_close(s);
    atomic_store_explicit(&s->turn, 0, memory_order_release);
}

/* Called by any rank: return 1 if this rank may write to the file; it must call
 * tutti__slot_writer_leave after the write, without waiting for other ranks. */
static inline int tutti__slot_writer_enter(tutti__slot *s) {
    return !atomic_load_explicit(&s->turn, memory_order_relaxed) &&
           !atomic_exchange_explicit(&s->turn, 1, memory_order_acquire);
}

static inline void tutti__slot_writer_leave(tutti__slot *s) {
    atomic_store_explicit(&s->turn, 0, memory_order_release);
}

/* Called by the owner: open the slot for the window `key`.  Earlier stores of the owner are visible
 * to the ranks that find the slot open. */
static inline void tutti__slot_open(tutti__slot *s, int64_t key) {
    atomic_store_explicit(&s->moved, 0, memory_order_relaxed);
    atomic_store_explicit(&s->key, key, memory_order_release);
}

/* Called by other ranks: return whether the slot is open for the window `key`. */
static inline int tutti__slot_is_open(tutti__slot *s, int64_t key) {
    return atomic_load_explicit(&s->key, memory_order_acquire) == key;
}

/* Called by other ranks: add the number of bytes that this rank has copied. */
static inline void tutti__slot_moved(tutti__slot *s, tutti_off bytes) {
    atomic_fetch_add_explicit(&s->moved, bytes, memory_order_release);
}

/* Called by the owner: return whether all ranks have copied their bytes; if so, their stores are
 * visible. */
static inline int tutti__slot_is_done(tutti__slot *s, tutti_off expected) {
    return atomic_load_explicit(&s->moved, memory_order_acquire) == expected;
}

/* ---- staging memory of a group: for every member `slots` slots, each with a buffer of `window`
 * bytes.  The event is signalled when a slot is opened or bytes have been copied.
 *
 *   [ event ][ slots of member 0 | member 1 | ... ][ buffers of member 0 | member 1 | ... ] */
typedef struct tutti__stage {
    char *base;
    int members, slots; /* ranks of the group; slots per member */
    tutti_off window;   /* bytes per buffer */
} tutti__stage;

size_t tutti__stage_bytes(int members, int slots, tutti_off window);
static inline tutti__event *tutti__stage_event(const tutti__stage *s) {
    return (tutti__event *)(void *)s->base;
}
tutti__slot *tutti__stage_slot(const tutti__stage *s, int member, int slot);
char *tutti__stage_buffer(const tutti__stage *s, int member, int slot);
/* Find the slot of a member, among the n slots starting with `first`, that is open for the window
 * `key`; -1: none. */
int tutti__stage_find(const tutti__stage *s, int member, int first, int n, int64_t key);
/* Return whether one of the n slots of a member, starting with `first`, is being transferred to or
 * from the file. */
int tutti__stage_in_file(const tutti__stage *s, int member, int first, int n);

#endif
