/* tutti array: sections and axes as text.
 *
 *   LO:HI:STRIDE,...   one part per dimension, from 0, HI excluded; LO, HI and STRIDE may be omitted, and
 *                      a single number is an index; --fortran: from 1, HI included
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *array_shape_text(int ndims, const tutti_count *shape, char *out, size_t size) {
    size_t n = (size_t)snprintf(out, size, "(");
    for (int d = 0; d < ndims && n < size; d++)
        n += (size_t)snprintf(out + n, size - n, "%s%lld", d ? ", " : "", (long long)shape[d]);
    if (n < size) snprintf(out + n, size - n, ndims == 1 ? ",)" : ")");
    return out;
}

/* Parse a number, if present; otherwise leave *out unchanged.  Return 0 on overflow. */
static int take_bound(const char **at, tutti_count *out) {
    char *end;
    if (!isdigit((unsigned char)**at)) return 1;
    errno = 0;
    *out = strtoll(*at, &end, 10);
    *at = end;
    return errno == 0;
}

typedef struct {
    tutti_count lo, hi, stride;
} part;

/* Parse the part of one dimension; first, last: default bounds.  Return 0 if it is invalid. */
static int take_part(const char **at, tutti_count first, tutti_count last, int fortran, part *out) {
    const char *start = *at;
    *out = (part){first, last, 1};
    if (!take_bound(at, &out->lo)) return 0;
    if (**at != ':') { /* a single index */
        if (*at == start) return 0;
        out->hi = fortran || out->lo == INT64_MAX ? out->lo : out->lo + 1;
        return 1;
    }
    ++*at;
    if (!take_bound(at, &out->hi)) return 0;
    if (**at != ':') return 1;
    ++*at;
    return take_bound(at, &out->stride);
}

int array_section_parse(const char *text, int fortran, const tutti_array_spec *spec,
                        tutti_slice *out) {
    const char *at = text;
    int d = 0;
    if (!text) {
        *out = tutti_slice_all(spec->ndims, spec->shape);
        return 0;
    }
    for (; d < spec->ndims; d++) {
        part p;
        if (d && *at++ != ',') break;
        if (!take_part(&at, fortran ? 1 : 0, spec->shape[d], fortran, &p) || (*at && *at != ','))
            return cli_error("section '%s': dimension %d must be LO:HI:STRIDE, LO:HI or INDEX",
                             text, d);
        const tutti_count first = fortran ? 1 : 0;
        if (p.stride < 1)
            return cli_error("section '%s', dimension %d: stride is %lld: must be >= 1", text, d,
                             (long long)p.stride);
        if (p.lo < first)
            return cli_error("section '%s', dimension %d: index is %lld: must be >= %lld%s", text,
                             d, (long long)p.lo, (long long)first,
                             fortran ? " with --fortran" : "");
        if (p.hi > spec->shape[d] || p.lo > spec->shape[d] + first)
            return cli_error("section '%s', dimension %d: indices exceed the extent %lld", text, d,
                             (long long)spec->shape[d]);
        out->lo[d] = fortran ? p.lo - 1 : p.lo;
        out->hi[d] = p.hi;
        out->stride[d] = p.stride;
    }
    if (d == spec->ndims && !*at) return 0;
    return cli_error("section '%s' does not match the array, which has %d dimension%s", text,
                     spec->ndims, spec->ndims == 1 ? "" : "s");
}

int array_axes_parse(const char *text, int ndims, int *axes_out) {
    int used = 0, n = 0;
    if (!text) {
        for (int d = 0; d < ndims; d++) axes_out[d] = ndims - 1 - d;
        return 0;
    }
    for (const char *at = text; n < ndims; at++) {
        tutti_count axis = -1;
        if (!isdigit((unsigned char)*at) || !take_bound(&at, &axis)) break;
        if (axis < 0 || axis >= ndims || used & 1 << axis) break;
        used |= 1 << axis;
        axes_out[n++] = (int)axis;
        if (*at != ',') {
            if (n == ndims && !*at) return 0;
            break;
        }
    }
    return cli_error("--axes '%s': must be a permutation of 0 to %d, for example 1,0", text,
                     ndims - 1);
}
