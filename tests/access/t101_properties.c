/* TEST ranks=0 timeout=120 */
/* Random accesses of all constructors against their expanded models: cursors from any position,
 * queries, slices, clips, serialisation.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "access/reference.h"

static void check_bounds(const tutti_access *a, const model *m) {
    int64_t mlo = 0, mhi = 0, runs = 0;
    tutti_off lo, hi;
    for (int64_t i = 0; i < m->n; i++) {
        if (i == 0 || m->memory[i] < mlo) mlo = m->memory[i];
        if (i == 0 || m->memory[i] + 1 > mhi) mhi = m->memory[i] + 1;
        runs += i == 0 || m->file[i] != m->file[i - 1] + 1;
    }
    for (int64_t i = 0; i < model_lost(m); i++) {
        if (m->lost->memory[i] < mlo) mlo = m->lost->memory[i];
        if (m->lost->memory[i] + 1 > mhi) mhi = m->lost->memory[i] + 1;
    }
    tutti_access_bounds(a, &lo, &hi);
    CHECK_EQ(lo, m->n ? m->file[0] : 0);
    CHECK_EQ(hi, m->n ? m->file[m->n - 1] + 1 : 0);
    tutti_access_memory_bounds(a, &lo, &hi);
    CHECK_EQ(lo, mlo);
    CHECK_EQ(hi, mhi);
    CHECK_EQ(tutti_access_bytes(a), m->n);
    CHECK_EQ(tutti_access_runs_count(a), runs);
}

/* Check order, grain and size of one side with the offsets at[0..n). */
static void check_nature(tutti__side s, const int64_t *at, int64_t n) {
    int monotone = 1;
    const int64_t g = tutti__side_grain(s);
    CHECK_EQ(g > 0, n > 0);
    for (int64_t i = 0, start = 0; i < n && g > 0; i++) {
        if (i && at[i] <= at[i - 1]) monotone = 0;
        if (i + 1 < n && at[i + 1] == at[i] + 1) continue;
        CHECK(at[start] % g == 0 && (i + 1 - start) % g == 0, "grain %lld", (long long)g);
        start = i + 1;
    }
    CHECK_EQ(tutti__side_monotone(s), monotone);
    CHECK(tutti__side_size(s) >= sizeof s, " ");
    CHECK(!s.node || s.node->depth <= TUTTI__MAX_DEPTH, " ");
    CHECK(tutti__side_is_valid(s), "not valid");
}

static void check_walk(const tutti_access *a, const model *m, int64_t from) {
    tutti_access_iter *it = NULL;
    tutti_piece p;
    CHECK_OK(tutti_access_iter_start(a, from, &it));
    int64_t at = from;
    while (tutti_access_iter_next(it, &p)) {
        CHECK(p.bytes > 0 && at + p.bytes <= m->n, " ");
        if (p.bytes <= 0 || at + p.bytes > m->n) break;
        for (int64_t i = 0; i < p.bytes; i++)
            CHECK(m->file[at + i] == p.file + i && m->memory[at + i] == p.memory + i,
                  "stream position %lld", (long long)(at + i));
        at += p.bytes;
        if (at < m->n)
            CHECK(m->file[at] != p.file + p.bytes || m->memory[at] != p.memory + p.bytes,
                  "pieces not joined");
    }
    CHECK_EQ(at, from > m->n ? from : m->n);
    tutti_access_iter_free(&it);
    CHECK(it == NULL, " ");
}

/* Check a cursor that starts at a random stream position and skips random numbers of bytes. */
static void check_cursor(tutti__side s, const int64_t *at, int64_t n) {
    tutti__cursor c;
    tutti__burst b;
    int64_t p = rnd(n + 2) - 1;
    tutti__cursor_seek(&c, s, p);
    if (p < 0) p = 0;
    while (tutti__cursor_peek(&c, &b)) {
        CHECK(b.bytes > 0 && b.count > 0 && p + b.bytes * b.count <= n, " ");
        if (p + b.bytes * b.count > n) return;
        for (int64_t i = 0; i < b.count * b.bytes; i++)
            CHECK(at[p + i] == b.offset + i / b.bytes * b.stride + i % b.bytes,
                  "stream position %lld", (long long)(p + i));
        const int64_t step = rnd(2) ? b.count * b.bytes : 1 + rnd(b.count * b.bytes);
        tutti__cursor_skip(&c, step);
        p += step;
    }
    CHECK_EQ(p, n);
}

static void check_seek(const tutti_access *a, const model *m) {
    tutti_piece p;
    CHECK_ERR(tutti_access_seek(a, -1, &p), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_access_seek(a, m->n, &p), TUTTI_ERR_ARG);
    for (int i = 0; i < 10 && m->n; i++) {
        const int64_t at = rnd(m->n);
        CHECK_OK(tutti_access_seek(a, at, &p));
        CHECK_EQ(p.file, m->file[at]);
        CHECK_EQ(p.memory, m->memory[at]);
        CHECK(p.bytes > 0 && at + p.bytes <= m->n, " ");
        CHECK_EQ(p.file + p.bytes - 1, m->file[at + p.bytes - 1]);
        CHECK_EQ(p.memory + p.bytes - 1, m->memory[at + p.bytes - 1]);
    }
}

static int64_t bytes_before(const model *m, int64_t offset) {
    int64_t a = 0, b = m->n;
    while (a < b) {
        const int64_t mid = (a + b) / 2;
        if (m->file[mid] < offset)
            a = mid + 1;
        else
            b = mid;
    }
    return a;
}

static void check_tell(const tutti_access *a, const model *m) {
    const int64_t top = m->n ? m->file[m->n - 1] + 5 : 5;
    for (int i = 0; i < 60; i++) {
        const int64_t lo = rnd(top + 5) - 5, hi = rnd(top + 5) - 5, p = bytes_before(m, lo);
        const int64_t q = bytes_before(m, hi);
        CHECK_EQ(tutti__side_tell(a->file, lo), p);
        CHECK_EQ(tutti__side_next(a->file, lo), p < m->n ? m->file[p] : TUTTI__OFF_END);
        CHECK_EQ(tutti_access_bytes_in(a, lo, hi), lo < hi ? q - p : 0);
    }
    CHECK_EQ(tutti__side_tell(a->file, INT64_MAX), m->n);
    CHECK_EQ(tutti__side_tell(a->file, INT64_MIN), 0);
}

static void check_slices(const tutti_access *a, const model *m) {
    for (int i = 0; i < 6; i++) {
        const int64_t from = rnd(m->n + 1), to = from + rnd(m->n - from + 1);
        tutti__side s = {0, NULL};
        CHECK_OK(tutti__side_slice(a->file, from, to, &s));
        check_side(s, m->file + from, to - from);
        check_nature(s, m->file + from, to - from);
        tutti__side_free(&s);
        CHECK_OK(tutti__side_slice(a->memory, from, to, &s));
        check_side(s, m->memory + from, to - from);
        check_nature(s, m->memory + from, to - from);
        tutti__side_free(&s);
    }
}

static void check_clips(const tutti_access *a, const model *m) {
    const int64_t top = m->n ? m->file[m->n - 1] + 5 : 5;
    for (int i = 0; i < 6; i++) {
        const int64_t lo = rnd(top), hi = rnd(top), from = bytes_before(m, lo);
        int64_t to = bytes_before(m, hi);
        if (to < from) to = from;
        tutti_access *c = NULL;
        CHECK_OK(tutti_access_clip(a, lo, hi, &c));
        model part = {to - from, 0, m->file + from, m->memory + from, NULL};
        for (int64_t k = 0; k < model_lost(m); k++)
            if (m->lost->file[k] >= lo && m->lost->file[k] < hi)
                model_lose(&part, m->lost->file[k], m->lost->memory[k]);
        check_model(c, &part);
        check_bounds(c, &part);
        part.file = part.memory = NULL; /* both arrays are owned by `m` */
        model_free(&part);
        tutti_access_free(&c);

        const size_t size = tutti__side_serialise(a->file, lo, hi, NULL, 0);
        unsigned char *buf = malloc(size);
        tutti__side s = {0, NULL};
        size_t used = 0;
        CHECK_EQ(tutti__side_serialise(a->file, lo, hi, buf, size), size);
        CHECK_OK(tutti__side_parse(buf, size, 1, &used, &s));
        CHECK_EQ(used, size);
        check_side(s, m->file + from, to - from);
        tutti__side_free(&s);
        free(buf);
    }
}

static void check_serial(const tutti_access *a, const model *m) {
    const size_t size = tutti_access_serialise(a, NULL, 0);
    unsigned char *buf = malloc(size);
    tutti_access *b = NULL;
    memset(buf, 0x55, size);
    CHECK_EQ(tutti_access_serialise(a, buf, size - 1), size);
    for (size_t i = 0; i < size; i++) CHECK(buf[i] == 0x55, "written though it does not fit");
    CHECK_EQ(tutti_access_serialise(a, buf, size), size);
    CHECK_OK(tutti_access_parse(buf, size, &b));
    if (b) {
        check_model(b, m);
        CHECK(tutti_access_equal(a, b), "not equal after a round trip");
        CHECK(tutti_access_hash(a) == tutti_access_hash(b), " ");
    }
    tutti_access_free(&b);
    free(buf);
}

static void check_copy(const tutti_access *a) {
    tutti_access *b = NULL;
    char text[64];
    CHECK_OK(tutti_access_copy(a, &b));
    CHECK(tutti_access_equal(a, b) && tutti_access_hash(a) == tutti_access_hash(b), " ");
    tutti_access_free(&b);
    const int length = tutti_access_describe(a, NULL, 0);
    CHECK_EQ(tutti_access_describe(a, text, sizeof text), length);
    CHECK_EQ(strlen(text), length < 63 ? length : 63);
}

static void check_join(const tutti_access *a, const model *m) {
    const int64_t n = m->n;
    tutti_access *packed = NULL, *b = NULL;
    CHECK_OK(tutti_access_contiguous(7, n, &packed));
    CHECK_OK(tutti_access_join(packed, a, &b));
    model expect = {0, 0, NULL, NULL, NULL};
    for (int64_t i = 0; i < n; i++) model_add(&expect, 7 + i, m->file[i]);
    check_model(b, &expect);
    model_free(&expect);
    tutti_access_free(&b);
    tutti_access_free(&packed);
    CHECK_OK(tutti_access_contiguous(7, n + 1, &packed));
    CHECK_ERR(tutti_access_join(packed, a, &b), TUTTI_ERR_ARG);
    tutti_access_free(&packed);
}

int main(void) {
    const long live = tutti__memory_live();
    check_seed(20240601);
    for (int round = 0; round < 1500; round++) {
        model m = {0, 0, NULL, NULL, NULL};
        tutti_access *a = random_access((int)rnd(6), &m);
        if (!a) break;
        check_model(a, &m);
        check_bounds(a, &m);
        check_nature(a->file, m.file, m.n);
        check_nature(a->memory, m.memory, m.n);
        check_walk(a, &m, 0);
        for (int i = 0; i < 3; i++) check_walk(a, &m, rnd(m.n + 2));
        for (int i = 0; i < 6; i++) check_cursor(a->file, m.file, m.n);
        for (int i = 0; i < 6; i++) check_cursor(a->memory, m.memory, m.n);
        check_seek(a, &m);
        check_tell(a, &m);
        check_slices(a, &m);
        check_clips(a, &m);
        check_serial(a, &m);
        check_copy(a);
        check_join(a, &m);
        model_free(&m);
        tutti_access_free(&a);
        if (check_failures_ > 20) break;
    }
    CHECK_EQ(tutti__memory_live(), live);
    return check_done();
}
