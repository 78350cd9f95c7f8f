/* archive: headers of tar archives.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "archive/tar.h"

#include <stdio.h>
#include <stddef.h>
#include <string.h>

/* Header of a POSIX.1-1988 ustar archive. */
typedef struct {
    char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
    char link[100], magic[6], version[2], user[32], group[32], major[8], minor[8], prefix[155];
    char zeros[12];
} header;

static unsigned compute_header_sum(const header *h) {
    unsigned sum = 0;
    const unsigned char *bytes = (const unsigned char *)h;
    for (size_t i = 0; i < sizeof *h; i++)
        sum += i >= offsetof(header, sum) && i < offsetof(header, sum) + 8 ? ' ' : bytes[i];
    return sum;
}

static void fill_header(header *h, const char *name, tutti_off bytes, char type) {
    memset(h, 0, sizeof *h);
    snprintf(h->name, sizeof h->name, "%s", name);
    memcpy(h->mode, "0000644", 8);
    memcpy(h->uid, "0000000", 8);
    memcpy(h->gid, "0000000", 8);
    snprintf(h->size, sizeof h->size, "%011llo", (unsigned long long)bytes & 077777777777ULL);
    memcpy(h->mtime, "00000000000", 12);
    memcpy(h->magic, "ustar", 6);
    memcpy(h->version, "00", 2);
    h->type = type;
    char sum[16];
    snprintf(sum, sizeof sum, "%06o", compute_header_sum(h) & 0777777U);
    memcpy(h->sum, sum, 7);
    h->sum[7] = ' ';
}

/* Sizes below this have at most eleven octal digits. */
static const tutti_off MOST = (tutti_off)1 << 33;

size_t tutti__tar_write(const char *name, tutti_off bytes,
                        char out[TUTTI__TAR_HEADERS * TUTTI__TAR_BLOCK]) {
    header h;
    size_t n = 0;
    if (bytes >= MOST) { /* a record has its own length in front: "27 size=8589934592" */
        char record[64];
        int length = snprintf(record, sizeof record, " size=%lld\n", (long long)bytes) + 2;
        snprintf(record, sizeof record, "%d size=%lld\n", length, (long long)bytes);
        fill_header(&h, "PaxHeaders/size", length, 'x');
        memcpy(out, &h, sizeof h);
        memset(out + sizeof h, 0, TUTTI__TAR_BLOCK);
        memcpy(out + sizeof h, record, (size_t)length);
        n = sizeof h + TUTTI__TAR_BLOCK;
    }
    fill_header(&h, name, bytes < MOST ? bytes : 0, '0');
    memcpy(out + n, &h, sizeof h);
    return n + sizeof h;
}

/* Parse octal digits or, if the first bit is set, a number in base 256; returns -1 if it is
 * neither. */
static tutti_off parse_number(const char *text, size_t n) {
    tutti_off v = 0;
    size_t i = 0;
    if ((unsigned char)text[0] == 0x80) {
        for (i = 1; i < n; i++) {
            if (v >> 50) return -1;
            v = v << 8 | (unsigned char)text[i];
        }
        return v;
    }
    while (i < n && text[i] == ' ') i++;
    const size_t first = i;
    for (; i < n && text[i] >= '0' && text[i] <= '7'; i++) v = v << 3 | (text[i] - '0');
    if (i == first) return -1;
    for (; i < n; i++)
        if (text[i] != ' ' && text[i] != '\0') return -1;
    return v;
}

tutti_err tutti__tar_read(const char block[TUTTI__TAR_BLOCK], tutti__tar_entry *out,
                          int *is_header_out) {
    header h;
    int zeros = 1;
    memcpy(&h, block, sizeof h);
    for (int i = 0; i < TUTTI__TAR_BLOCK && zeros; i++) zeros = block[i] == 0;
    *is_header_out = !zeros;
    if (zeros) return TUTTI_OK;
    *out = (tutti__tar_entry){.bytes = parse_number(h.size, sizeof h.size)};
    TUTTI_CHECK(parse_number(h.sum, sizeof h.sum) == (tutti_off)compute_header_sum(&h) &&
                    out->bytes >= 0,
                TUTTI_ERR_FORMAT, "the stream is not a tar archive, or is damaged");
    memcpy(out->name, h.name, sizeof h.name);
    /* the name is incomplete, so Tutti did not write this header: ignore the name */
    if (h.prefix[0] && memcmp(h.magic, "ustar", 5) == 0) out->name[0] = 0;
    out->is_file = h.type == '0' || h.type == '\0';
    out->is_pax = h.type == 'x';
    /* links, directories and devices have no data after their headers */
    if (h.type >= '1' && h.type <= '6') out->bytes = 0;
    return TUTTI_OK;
}

tutti_err tutti__tar_pax(const char *records, size_t n, tutti_off *bytes_io) {
    for (size_t at = 0; at < n && records[at];) {
        size_t digits = 0, length = 0;
        while (at + digits < n && digits < 7 && records[at + digits] >= '0' &&
               records[at + digits] <= '9')
            length = length * 10 + (size_t)(records[at + digits++] - '0');
        TUTTI_CHECK(digits > 0 && length > digits + 2 && length <= n - at &&
                        records[at + digits] == ' ' && records[at + length - 1] == '\n',
                    TUTTI_ERR_FORMAT, "the tar archive contains an invalid pax record");
        const char *key = records + at + digits + 1;
        const size_t left = length - digits - 2; /* without blank and newline */
        if (left > 5 && left < 5 + 18 && strncmp(key, "size=", 5) == 0) {
            tutti_off v = 0;
            for (size_t i = 5; i < left; i++) {
                TUTTI_CHECK(key[i] >= '0' && key[i] <= '9', TUTTI_ERR_FORMAT,
                            "the tar archive contains a pax record with the invalid size '%.*s'",
                            (int)(left - 5), key + 5);
                v = v * 10 + (key[i] - '0');
            }
            *bytes_io = v;
        }
        at += length;
    }
    return TUTTI_OK;
}
