/* metadata: write trailers of segments from rows of the database.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/trailer.h"

#include <endian.h>
#include <string.h>
#include "base/sums.h"

static char *encode_trailer(const tutti__trailer_spec *spec, const tutti__segment_row *g,
                            const char *rows, size_t bytes) {
    const size_t size = (size_t)(g->end - g->trailer), checksums = 8 * (size_t)spec->blocks;
    char *buf = tutti__calloc(1, size);
    if (!buf) return NULL;
    if (checksums) memcpy(buf, spec->checksums, checksums);
    memcpy(buf + checksums, rows, bytes);
    tutti__footer foot = {.version = htole64(TUTTI__FORMAT_VERSION),
                          .start = htole64((uint64_t)g->start),
                          .trailer = htole64((uint64_t)g->trailer),
                          .blocks = htole64((uint64_t)spec->blocks),
                          .rows = htole64((uint64_t)bytes),
                          .sum = htole64(tutti__checksum_of(buf, checksums + bytes)),
                          .joined = htole64((uint64_t)spec->joined)};
    memcpy(foot.magic, TUTTI__FOOTER_MAGIC, sizeof foot.magic);
    memcpy(buf + size - sizeof foot, &foot, sizeof foot);
    return buf;
}

tutti_err tutti__trailer_make(tutti__meta *m, const tutti__trailer_spec *spec,
                              tutti__segment_row *g, char **out) {
    char *rows = NULL, *row = NULL;
    size_t bytes = 0, row_bytes = 0;
    if (spec->is_new) TUTTI_TRY(tutti__meta_add_segment(m, g));
    TUTTI_TRY(tutti__meta_rows(m, g->id, TUTTI__ROW_TABLES, &rows, &bytes));
    /* The row of the segment comes first and contains the end of the trailer, which depends on the
     * length of all rows.  Since integers have a fixed length, only that row is replaced
     * afterwards. */
    g->end = tutti__align_up(g->trailer + 8 * spec->blocks + (tutti_off)bytes +
                                 (tutti_off)sizeof(tutti__footer),
                             TUTTI__SEGMENT_ALIGN);
    tutti_err err = tutti__meta_end_segment(m, g);
    if (err == TUTTI_OK) err = tutti__meta_rows(m, g->id, TUTTI__ROW_SEGMENT + 1, &row, &row_bytes);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(row_bytes <= bytes);
        memcpy(rows, row, row_bytes);
        *out = encode_trailer(spec, g, rows, bytes);
        if (!*out) err = TUTTI_ERR_NOMEM;
    }
    tutti__free(row);
    tutti__free(rows);
    if (err != TUTTI_OK) return err;
    return spec->joined ? TUTTI_OK : tutti__meta_infos_written(m, g->id);
}
