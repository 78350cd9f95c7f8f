/* exchange: the layout of slots and buffers in the staging memory of a group.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exchange/slot.h"

enum { PAGE = 4096 };

static size_t controls_bytes(int members, int slots) {
    return (size_t)tutti__align_up((tutti_off)sizeof(tutti__event) +
                                       (tutti_off)members * slots * (tutti_off)sizeof(tutti__slot),
                                   PAGE);
}

static size_t buffer_bytes(tutti_off window) {
    return (size_t)tutti__align_up(window, PAGE);
}

size_t tutti__stage_bytes(int members, int slots, tutti_off window) {
    return controls_bytes(members, slots) + (size_t)members * (size_t)slots * buffer_bytes(window);
}

tutti__slot *tutti__stage_slot(const tutti__stage *s, int member, int slot) {
    TUTTI_ASSERT(member >= 0 && member < s->members && slot >= 0 && slot < s->slots);
    tutti__slot *first = (tutti__slot *)(void *)(s->base + sizeof(tutti__event));
    return first + (size_t)member * (size_t)s->slots + (size_t)slot;
}

char *tutti__stage_buffer(const tutti__stage *s, int member, int slot) {
    TUTTI_ASSERT(member >= 0 && member < s->members && slot >= 0 && slot < s->slots);
    return s->base + controls_bytes(s->members, s->slots) +
           ((size_t)member * (size_t)s->slots + (size_t)slot) * buffer_bytes(s->window);
}

int tutti__stage_find(const tutti__stage *s, int member, int first, int n, int64_t key) {
    for (int i = first; i < first + n; i++)
        if (tutti__slot_is_open(tutti__stage_slot(s, member, i), key)) return i;
    return -1;
}

int tutti__stage_in_file(const tutti__stage *s, int member, int first, int n) {
    return tutti__stage_find(s, member, first, n, TUTTI__IN_FILE) >= 0;
}
