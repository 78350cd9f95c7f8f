/* The content of files: the 8 bytes at offset 8 i are a hash of i and the seed.  Bytes in a wrong position,
 * from an older run, or never written are detected with near certainty.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "bench/bench.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static inline uint64_t word_at(uint64_t seed, uint64_t index) {
    uint64_t z = (index + 1) * 0x9e3779b97f4a7c15u + seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline unsigned char byte_at(uint64_t seed, tutti_off offset) {
    const uint64_t w = word_at(seed, (uint64_t)offset / 8);
    return (unsigned char)(w >> (8 * (offset % 8)));
}

void content_fill(uint64_t seed, tutti_off offset, void *buf, tutti_off bytes) {
    unsigned char *b = buf;
    tutti_off i = 0;
    for (; i < bytes && (offset + i) % 8; i++) b[i] = byte_at(seed, offset + i);
    for (; i + 8 <= bytes; i += 8) {
        const uint64_t w = word_at(seed, (uint64_t)(offset + i) / 8);
        for (int k = 0; k < 8; k++) b[i + k] = (unsigned char)(w >> (8 * k));
    }
    for (; i < bytes; i++) b[i] = byte_at(seed, offset + i);
}

tutti_off content_check(uint64_t seed, tutti_off offset, const void *buf, tutti_off bytes) {
    unsigned char expected[4096];
    const unsigned char *b = buf;
    for (tutti_off done = 0; done < bytes;) {
        const tutti_off left = bytes - done;
        const tutti_off n = left < (tutti_off)sizeof expected ? left : (tutti_off)sizeof expected;
        content_fill(seed, offset + done, expected, n);
        if (memcmp(expected, b + done, (size_t)n) != 0)
            for (tutti_off i = 0;; i++)
                if (b[done + i] != expected[i]) return offset + done + i;
        done += n;
    }
    return -1;
}

void content_fill_pieces(uint64_t seed, const bench_pattern *p, void *user) {
    for (tutti_count i = 0; i < p->pieces; i++)
        content_fill(seed, p->piece[i].file, (char *)user + p->piece[i].memory, p->piece[i].bytes);
}

tutti_off content_check_pieces(uint64_t seed, const bench_pattern *p, const void *user) {
    for (tutti_count i = 0; i < p->pieces; i++) {
        const tutti_piece *q = &p->piece[i];
        const tutti_off bad =
            content_check(seed, q->file, (const char *)user + q->memory, q->bytes);
        if (bad >= 0) return bad;
    }
    return -1;
}

int content_check_file(uint64_t seed, const char *path, tutti_off lo, tutti_off hi) {
    char buf[65536];
    int failed = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return cli_error_errno("cannot open", path);
    while (lo < hi && !failed) {
        const size_t want =
            (size_t)(hi - lo < (tutti_off)sizeof buf ? hi - lo : (tutti_off)sizeof buf);
        const ssize_t got = pread(fd, buf, want, lo);
        const tutti_off bad = got > 0 ? content_check(seed, lo, buf, got) : -1;
        if (got < 0) failed = cli_error_errno("cannot read back", path);
        if (got == 0)
            failed =
                cli_error("short read of '%s': the file ends at offset %lld", path, (long long)lo);
        if (bad >= 0)
            failed = cli_error("'%s' has a wrong byte at offset %lld", path, (long long)bad);
        lo += got;
    }
    close(fd);
    return failed;
}
