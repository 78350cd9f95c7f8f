/* Fuzz target: headers of sections that are stored by ranks, names of data files, and shapes.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "fuzz.h"

#include "metadata/trailer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    int64_t words[4]; /* two words of the header, bytes of the section, bytes of an item */
    tutti__ranked_head head;
    tutti__size size = {0};
    char text[64];
    const size_t m = n < sizeof text ? n : sizeof text - 1;
    memcpy(text, data, m);
    text[m] = 0;
    if (tutti__file_name_right(text) &&
        (strchr(text, '/') || strncmp(text, "data-", 5) != 0 || strlen(text) < 12))
        abort();
    if (tutti__shape_parse(text, &size) && (size.ndims < 1 || size.ndims > TUTTI_MAX_DIMS)) abort();
    if (n < sizeof words) return 0;
    memcpy(words, data, sizeof words);
    const tutti__section s = {.bytes = words[2] < 0 ? 0 : words[2]};
    const tutti_off item = words[3] < 1 || words[3] > 1 << 28 ? 8 : words[3];
    if (tutti__ranked_head_take(words, &s, item, &head) != TUTTI_OK) return 0;
    /* an accepted header describes data inside the section */
    const tutti_off table = tutti__ranked_header((int)head.ranks);
    if (table > s.bytes || head.entries < 0 || head.entries > (s.bytes - table) / item) abort();
    return 0;
}
