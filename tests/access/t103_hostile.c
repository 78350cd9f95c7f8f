/* TEST ranks=0 timeout=120 */
/* Parsing malformed messages: truncated, mutated and random bytes.  The parser must not crash (run this under the
 * sanitizers) or allocate memory out of proportion to the message, and an accepted message must be consistent.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

enum { MARK0 = 0xa7, MARK1 = 1, VERSION = 1 }; /* 0xa7 as LEB128, and the version */

static int accepted;

/* Check that a side of at most `most` bytes is consistent with the bytes that its cursor returns. */
static void check_sound(tutti__side s, int64_t most) {
    tutti__cursor c;
    tutti__burst b;
    int64_t p = 0, lo = INT64_MAX, hi = INT64_MIN, last = INT64_MIN;
    int monotone = 1, unjoined = 0;
    if (!s.node || s.node->bytes > most) return;
    tutti__cursor_seek(&c, s, 0);
    while (tutti__cursor_peek(&c, &b)) {
        CHECK(b.bytes > 0 && b.count > 0, " ");
        if (b.offset < last) monotone = 0;
        unjoined += (int)b.count;
        lo = tutti__min(lo, tutti__min(b.offset, b.offset + (b.count - 1) * b.stride));
        hi = tutti__max(hi, tutti__max(b.offset, b.offset + (b.count - 1) * b.stride) + b.bytes);
        if (b.count > 1 && b.stride < b.bytes) monotone = 0;
        last = b.offset + (b.count - 1) * b.stride + b.bytes;
        tutti__cursor_skip(&c, b.bytes * b.count);
        p += b.bytes * b.count;
    }
    CHECK_EQ(p, s.node->bytes);
    CHECK_EQ(lo, tutti__side_lo(s));
    CHECK_EQ(hi, tutti__side_hi(s));
    CHECK_EQ(monotone, tutti__side_monotone(s));
    CHECK(s.node->runs >= 1 && s.node->runs <= unjoined, " ");
    if (monotone) {
        CHECK_EQ(tutti__side_tell(s, hi), p);
        CHECK_EQ(tutti__side_next(s, lo), lo);
        CHECK_EQ(tutti__side_tell(s, (lo + hi) / 2) + tutti__side_bytes_in(s, (lo + hi) / 2, hi),
                 p);
    }
}

/* Call the query functions of an accepted access of any size. */
static void use_object(const tutti_access *a) {
    tutti_off lo, hi;
    tutti_access *c = NULL;
    accepted++;
    tutti_access_bounds(a, &lo, &hi);
    CHECK(lo >= 0 && hi <= TUTTI__OFF_LIMIT && lo <= hi, " ");
    CHECK(tutti__side_monotone(a->file), " ");
    CHECK_EQ(tutti__side_bytes(a->file), tutti__side_bytes(a->memory));
    check_sound(a->file, 1 << 16);
    check_sound(a->memory, 1 << 16);
    if (tutti_access_clip(a, lo + (hi - lo) / 3, lo + (hi - lo) / 2, &c) == TUTTI_OK) {
        CHECK_EQ(tutti_access_bytes(c),
                 tutti_access_bytes_in(a, lo + (hi - lo) / 3, lo + (hi - lo) / 2));
        tutti_access_free(&c);
    }
    const size_t size = tutti_access_serialise(a, NULL, 0);
    unsigned char *buf = malloc(size);
    tutti_access *b = NULL;
    (void)tutti_access_serialise(a, buf, size);
    CHECK_OK(tutti_access_parse(buf, size, &b));
    if (b) CHECK(tutti__side_bytes(b->file) == tutti__side_bytes(a->file), " ");
    tutti_access_free(&b);
    free(buf);
}

/* Parse a copy in a block of exactly its size, so that the sanitizer sees a read beyond it. */
static void parse_copy(const unsigned char *bytes, size_t size) {
    unsigned char *buf = malloc(size);
    if (size) memcpy(buf, bytes, size);
    tutti_access *a = NULL;
    const tutti_err err = tutti_access_parse(buf, size, &a);
    CHECK(err == TUTTI_OK || err == TUTTI_ERR_FORMAT, "%s", tutti_last_message());
    CHECK((err == TUTTI_OK) == (a != NULL), " ");
    if (a) use_object(a);
    tutti_access_free(&a);
    free(buf);
}

static void mutate_text(unsigned char *buf, size_t *size, size_t capacity) {
    for (int k = 1 + (int)rnd(4); k > 0 && *size; k--) {
        const size_t at = (size_t)rnd((int64_t)*size);
        switch (rnd(6)) {
        case 0:
            buf[at] ^= (unsigned char)(1 << rnd(8));
            break;
        case 1:
            buf[at] = (unsigned char)rnd(256);
            break;
        case 2:
            buf[at] = rnd(2) ? 0xff : 0x80;
            break;
        case 3:
            buf[at] = (unsigned char)rnd(5);
            break;
        case 4:
            memmove(buf + at, buf + at + 1, *size - at - 1);
            --*size;
            break;
        default:
            if (*size + 1 > capacity) break;
            memmove(buf + at + 1, buf + at, *size - at);
            buf[at] = (unsigned char)rnd(256);
            ++*size;
        }
    }
}

static void parse_mutations(const tutti_access *a) {
    const size_t size = tutti_access_serialise(a, NULL, 0), capacity = size + 16;
    unsigned char *good = malloc(capacity), *bad = malloc(capacity);
    (void)tutti_access_serialise(a, good, size);
    for (size_t cut = 0; cut<size; cut += size> 200 ? 1 + (size_t)rnd(20) : 1) {
        tutti_access *b = NULL;
        CHECK_ERR(tutti_access_parse(good, cut, &b), TUTTI_ERR_FORMAT);
    }
    for (int i = 0; i < 30; i++) {
        size_t n = size;
        memcpy(bad, good, size);
        mutate_text(bad, &n, capacity);
        parse_copy(bad, n);
    }
    good[size] = 0;
    tutti_access *b = NULL;
    CHECK_ERR(tutti_access_parse(good, size + 1, &b), TUTTI_ERR_FORMAT);
    free(good);
    free(bad);
}

/* Parse random bytes after a valid mark and version. */
static void test_noise(void) {
    unsigned char buf[80];
    const size_t n = (size_t)rnd((int64_t)sizeof buf);
    for (size_t i = 0; i < n; i++) buf[i] = (unsigned char)(rnd(3) ? rnd(6) : rnd(256));
    if (n > 3 && rnd(8)) {
        buf[0] = MARK0;
        buf[1] = MARK1;
        buf[2] = VERSION;
    }
    parse_copy(buf, n);
}

/* Parse `levels` nested loops of two copies each around one byte. */
static void parse_nested(int levels, tutti_err expect) {
    unsigned char buf[1024] = {MARK0, MARK1, VERSION};
    size_t n = 3;
    for (int i = 0; i < levels; i++) {
        buf[n++] = 2; /* the node is a loop (VEC) */
        buf[n++] = 0;
        buf[n++] = 2; /* two copies */
        n += tutti__leb_put(buf + n, tutti__zigzag((tutti_off)3 << (levels - i)));
    }
    memcpy(buf + n, "\001\000\001", 3); /* the node is a run of one byte */
    tutti__side s = {0, NULL};
    CHECK_ERR(tutti__side_parse(buf, n + 3, 1, NULL, &s), expect);
    CHECK_EQ(tutti__side_bytes(s), expect == TUTTI_OK ? (int64_t)1 << levels : 0);
    tutti__side_free(&s);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240603);
    for (int round = 0; round < 400 && check_failures_ < 20; round++) {
        model m = {0, 0, NULL, NULL, NULL};
        tutti_access *a = random_access((int)rnd(5), &m);
        parse_mutations(a);
        tutti_access_free(&a);
        model_free(&m);
    }
    for (int i = 0; i < 60000 && check_failures_ < 20; i++) test_noise();
    parse_nested(20, TUTTI_OK);
    parse_nested(40, TUTTI_ERR_FORMAT);
    CHECK(accepted > 100, "only %d mutants were accepted", accepted);
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
