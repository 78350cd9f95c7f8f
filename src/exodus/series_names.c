/* exodus: names of the files of a series, by naming convention.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/exodus_impl.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *mark;
    int digits;
} NAMINGS[TUTTI__SERIES_NAMINGS] = {
    [TUTTI__SERIES_IOSS] = {"-s", 4},
    [TUTTI__SERIES_LIBMESH] = {"-s", 3},
    [TUTTI__SERIES_DOTTED] = {"-s.", 4},
};

char *tutti__series_path(const char *first, int number, tutti__series_naming naming) {
    if (number == 1) return tutti__strdup(first);
    const size_t capacity = strlen(first) + 24;
    char *path = tutti__malloc(capacity);
    if (path)
        snprintf(path, capacity, "%s%s%0*d", first, NAMINGS[naming].mark, NAMINGS[naming].digits,
                 number);
    return path;
}
