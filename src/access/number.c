/* access: sizes and names of element types.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/element_types.h>

#include <string.h>
#include "base/error_impl.h"

static const struct {
    const char *name;
    tutti_off size;
} types[] = {
#define TYPE_ROW(name, size, text) {text, size},
    TUTTI_TYPE_TABLE(TYPE_ROW)
#undef TYPE_ROW
};
enum { TYPES = sizeof types / sizeof types[0] };

static int is_known_type(tutti_type type) {
    return (int)type >= 0 && (int)type < TYPES;
}

tutti_off tutti_type_size(tutti_type type) {
    return is_known_type(type) ? types[type].size : 0;
}

const char *tutti_type_name(tutti_type type) {
    return is_known_type(type) ? types[type].name : "";
}

tutti_err tutti_type_parse(const char *name, tutti_type *out) {
    TUTTI_CHECK(name, TUTTI_ERR_ARG, "argument name is NULL");
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    for (int i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, name) != 0) continue;
        *out = (tutti_type)i;
        return TUTTI_OK;
    }
    TUTTI_FAIL(TUTTI_ERR_ARG, "unknown type '%.40s'", name);
}
