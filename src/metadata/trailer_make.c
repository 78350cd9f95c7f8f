/* metadata: write trailers of segments from rows of the database.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "metadata/trailer.h"

#include <endian.h>
#include <string.h>
#include "base/sums.h"

static char *encode_trailer(const tutti__trailer_spec *spec, const tutti__segment_row *g,
                            const char *rows, size_t bytes) {
    const size_t size = (size_t)(g->end - g->trailer), sums = 8 * (size_t)spec->blocks;
    char *buf = tutti__calloc(1, size);
    if (!buf) return NULL;
    if (sums) memcpy(buf, spec->sums, sums);
    memcpy(buf + sums, rows, bytes);
    tutti__footer foot = {.version = htole64(TUTTI__FORMAT_VERSION),
                          .start = htole64((uint64_t)g->start),
                          .trailer = htole64((uint64_t)g->trailer),
                          .blocks = htole64((uint64_t)spec->blocks),
                          .rows = htole64((uint64_t)bytes),
                          .sum = htole64(tutti__sum_of(buf, sums + bytes)),
                          .joined = htole64((uint64_t)spec->joined)};
    memcpy(foot.magic, TUTTI__FOOTER_MAGIC, sizeof foot.magic);
    memcpy(buf + size - sizeof foot, &foot, sizeof foot);
    return buf;
}

tutti_err tutti__trailer_make(tutti__meta *m, const tutti__trailer_spec *spec,
                              tutti__segment_row *g, char **out) {
    char *rows = NULL;
    size_t bytes = 0;
    if (spec->is_new) TUTTI_TRY(tutti__meta_add_segment(m, g));
    /* the row of the segment has the end of the trailer, which depends on the length of the rows; numbers have
     * a fixed length */
    TUTTI_TRY(tutti__meta_rows(m, g->id, 1, &rows, &bytes));
    tutti__free(rows);
    rows = NULL;
    g->end = tutti__align_up(g->trailer + 8 * spec->blocks + (tutti_off)bytes +
                                 (tutti_off)sizeof(tutti__footer),
                             TUTTI__SEGMENT_ALIGN);
    TUTTI_TRY(tutti__meta_end_segment(m, g));
    TUTTI_TRY(tutti__meta_rows(m, g->id, 1, &rows, &bytes));
    *out = encode_trailer(spec, g, rows, bytes);
    tutti__free(rows);
    if (!*out) return TUTTI_ERR_NOMEM;
    return spec->joined ? TUTTI_OK : tutti__meta_infos_written(m, g->id);
}
