/* The header of .npy files: a magic number, a version, a length, and a dictionary as Python writes it:
 *
 *   {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
 *
 * Files are untrusted: the header must fit into the file, and each of the three keys must occur exactly once.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/npy.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Maximum bytes of a header; bytes of magic number, version and length together. */
enum { HEADER_MOST = 1 << 16, PREFIX = 12 };
static const char magic[] = "\x93NUMPY";

/* ---- the type of elements */

static const struct {
    char kind;
    int size;
    tutti_type type;
} type_table[] = {
    {'i', 1, TUTTI_INT8},    {'i', 2, TUTTI_INT16},     {'i', 4, TUTTI_INT32},
    {'i', 8, TUTTI_INT64},   {'u', 1, TUTTI_UINT8},     {'u', 2, TUTTI_UINT16},
    {'u', 4, TUTTI_UINT32},  {'u', 8, TUTTI_UINT64},    {'f', 4, TUTTI_FLOAT32},
    {'f', 8, TUTTI_FLOAT64}, {'c', 8, TUTTI_COMPLEX64}, {'c', 16, TUTTI_COMPLEX128},
    {'f', 2, TUTTI_FLOAT16}, {'b', 1, TUTTI_UINT8}, /* npy_make uses the first row */
};
enum { TYPES = sizeof type_table / sizeof *type_table };

/* Parse "<f8": byte order, kind, size.  Void and byte strings become elements of type bytes. */
static int parse_descr(const char *text, npy_header *h) {
    char *end;
    const char order = text[0], kind = order ? text[1] : '\0';
    const long size = kind && isdigit((unsigned char)text[2]) ? strtol(text + 2, &end, 10) : 0;
    if (size <= 0 || *end || !strchr("<>|=", order) || size > 1 << 20)
        return cli_error("unsupported element type '%.40s'", text);
    h->spec.element_size = size;
    h->swapped = size > 1 && order == (CLI_IS_LITTLE_ENDIAN ? '>' : '<');
    if (kind == 'V' || kind == 'S') {
        h->spec.type = TUTTI_BYTES;
        h->swapped = 0;
        return 0;
    }
    for (int i = 0; i < TYPES; i++)
        if (type_table[i].kind == kind && type_table[i].size == size) {
            h->spec.type = type_table[i].type;
            return 0;
        }
    return cli_error("unsupported element type '%.40s'", text);
}

/* ---- the dictionary */

typedef struct {
    const char *at, *end;
} scanner;

static int peek_character(scanner *s) {
    while (s->at < s->end && isspace((unsigned char)*s->at)) s->at++;
    return s->at < s->end ? (unsigned char)*s->at : -1;
}

static int take_character(scanner *s, int c) {
    if (peek_character(s) != c) return 0;
    s->at++;
    return 1;
}

static int take_word(scanner *s, const char *word) {
    const size_t n = strlen(word);
    (void)peek_character(s);
    if ((size_t)(s->end - s->at) < n || memcmp(s->at, word, n) != 0) return 0;
    s->at += n;
    return 1;
}

/* Parse 'text' or "text", without escapes. */
static int take_string(scanner *s, char *out, size_t size) {
    const int quote = peek_character(s);
    size_t n = 0;
    if (quote != '\'' && quote != '"') return 0;
    for (s->at++; s->at < s->end && *s->at != quote; s->at++) {
        if (n + 1 >= size || *s->at == '\\') return 0;
        out[n++] = *s->at;
    }
    out[n] = '\0';
    return take_character(s, quote);
}

static int take_extent(scanner *s, tutti_count *out) {
    tutti_count n = 0;
    if (!isdigit(peek_character(s))) return 0;
    for (; s->at < s->end && isdigit((unsigned char)*s->at); s->at++)
        if (__builtin_mul_overflow(n, (tutti_count)10, &n) ||
            __builtin_add_overflow(n, (tutti_count)(*s->at - '0'), &n))
            return 0;
    (void)(s->at < s->end && *s->at == 'L' && s->at++); /* suffix written by Python 2 */
    *out = n;
    return 1;
}

/* Parse (3, 4), (3,) or ().  A scalar, (), becomes an array of one element. */
static int take_shape(scanner *s, tutti_array_spec *spec) {
    spec->ndims = 0;
    if (!take_character(s, '(')) return 0;
    while (!take_character(s, ')')) {
        if (spec->ndims == TUTTI_MAX_DIMS || !take_extent(s, &spec->shape[spec->ndims])) return 0;
        spec->ndims++;
        if (!take_character(s, ',') && peek_character(s) != ')') return 0;
    }
    if (spec->ndims == 0) spec->shape[spec->ndims++] = 1;
    return 1;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* Parse one key and its value.  Returns the HAS_ constant of the key; 0: invalid. */
static int take_item(scanner *s, npy_header *h, char *descr, size_t size) {
    char key[24];
    if (!take_string(s, key, sizeof key) || !take_character(s, ':')) return 0;
    if (strcmp(key, "descr") == 0) return take_string(s, descr, size) ? HAS_DESCR : 0;
    if (strcmp(key, "fortran_order") == 0) {
        h->spec.order = take_word(s, "True") ? TUTTI_COL_MAJOR : TUTTI_ROW_MAJOR;
        return h->spec.order == TUTTI_COL_MAJOR || take_word(s, "False") ? HAS_ORDER : 0;
    }
    if (strcmp(key, "shape") == 0) return take_shape(s, &h->spec) ? HAS_SHAPE : 0;
    return 0;
}

/* ---- the complete header */

/* Check that the file contains all elements that its header declares. */
static int check_length(const tutti_array_spec *spec, tutti_off size) {
    tutti_off bytes = spec->element_size;
    int empty = 0, too_large = 0;
    for (int d = 0; d < spec->ndims; d++) {
        empty |= spec->shape[d] == 0;
        if (spec->shape[d] > 0) too_large |= __builtin_mul_overflow(bytes, spec->shape[d], &bytes);
    }
    if (empty) return 0;
    if (too_large || bytes > size - spec->offset)
        return cli_error("file has %lld bytes: fewer than its .npy header specifies",
                         (long long)size);
    return 0;
}

int npy_parse(const unsigned char *text, size_t bytes, tutti_off size, npy_header *out) {
    npy_header h = {.swapped = 0};
    if (bytes < PREFIX || memcmp(text, magic, 6) != 0)
        return cli_error("the file is not a .npy file: wrong magic string");
    if (text[6] < 1 || text[6] > 3)
        return cli_error(".npy files of version %d.%d are not supported", text[6], text[7]);
    const size_t start = text[6] == 1 ? 10 : 12;
    size_t length = text[8] | (size_t)text[9] << 8;
    if (text[6] >= 2) length |= (size_t)text[10] << 16 | (size_t)text[11] << 24;
    if (length > HEADER_MOST)
        return cli_error(".npy header has %zu bytes: at most %d are supported", length,
                         (int)HEADER_MOST);
    if (start + length > bytes)
        return cli_error("file ends inside its .npy header of %zu bytes", length);
    const char *dictionary = (const char *)text + start;
    h.spec.offset = (tutti_off)(start + length);
    {
        scanner s = (scanner){dictionary, dictionary + length};
        char descr[64] = "";
        int seen = 0;
        int sound = take_character(&s, '{');
        while (sound && !take_character(&s, '}')) {
            const int item = take_item(&s, &h, descr, sizeof descr);
            sound =
                item && !(seen & item) && (take_character(&s, ',') || peek_character(&s) == '}');
            seen |= item;
        }
        if (!sound || seen != HAS_ALL || peek_character(&s) != -1)
            return cli_error(
                "invalid or unsupported .npy header: must have descr, fortran_order and a "
                "shape of at most %d dimensions, and no records",
                TUTTI_MAX_DIMS);
        if (parse_descr(descr, &h)) return 1;
    }
    if (check_length(&h.spec, size)) return 1;
    *out = h;
    return 0;
}

static int read_npy_prefix(int fd, unsigned char *text, size_t *bytes_out, tutti_off *size_out) {
    struct stat st;
    size_t n = 0;
    if (fstat(fd, &st) != 0) return -1;
    while (n < HEADER_MOST + PREFIX) {
        const ssize_t got = pread(fd, text + n, HEADER_MOST + PREFIX - n, (off_t)n);
        if (got < 0 && errno != EINTR) return -1;
        if (got == 0) break;
        if (got > 0) n += (size_t)got;
    }
    *bytes_out = n;
    *size_out = st.st_size;
    return 0;
}

int npy_read(const char *path, npy_header *out) {
    size_t bytes = 0;
    tutti_off size = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return cli_error_errno("cannot open", path);
    unsigned char *text = cli_malloc(HEADER_MOST + PREFIX);
    int failed = read_npy_prefix(fd, text, &bytes, &size) && cli_error_errno("cannot read", path);
    if (!failed && npy_parse(text, bytes, size, out)) {
        char why[256];
        snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, cli_message());
        failed = cli_error("'%s': %s", path, why);
    }
    free(text);
    close(fd);
    return failed;
}

int npy_is_name(const char *path) {
    return cli_ends_in(path, ".npy");
}

int npy_read_for_all(const cli_world *w, const char *path, npy_header *out) {
    if (cli_agree(w, w->rank == 0 && npy_read(path, out))) return 1;
    MPI_Bcast(out, (int)sizeof *out, MPI_BYTE, 0, w->comm);
    return 0;
}

size_t npy_make(const tutti_array_spec *spec, char out[NPY_ROOM]) {
    char descr[40];
    const size_t start = 10;
    snprintf(descr, sizeof descr, "|V%lld", (long long)spec->element_size);
    /* Iterate backwards, so that the first row of the type is used. */
    for (int i = TYPES - 1; i >= 0; i--)
        if (type_table[i].type == spec->type)
            snprintf(descr, sizeof descr, "%c%c%d",
                     type_table[i].size == 1 ? '|'
                     : CLI_IS_LITTLE_ENDIAN  ? '<'
                                             : '>',
                     type_table[i].kind, type_table[i].size);
    size_t n = start;
    n += (size_t)snprintf(out + n, NPY_ROOM - n, "{'descr': '%s', 'fortran_order': %s, 'shape': (",
                          descr, spec->order == TUTTI_COL_MAJOR ? "True" : "False");
    for (int d = 0; d < spec->ndims; d++)
        n += (size_t)snprintf(out + n, NPY_ROOM - n, "%lld,%s", (long long)spec->shape[d],
                              d + 1 < spec->ndims ? " " : "");
    n += (size_t)snprintf(out + n, NPY_ROOM - n, "), }");
    while ((n + 1) % 64) out[n++] = ' ';
    out[n++] = '\n';
    memcpy(out, magic, 6);
    out[6] = 1;
    out[7] = 0;
    out[8] = (char)((n - start) & 0xff);
    out[9] = (char)((n - start) >> 8);
    return n;
}

int npy_create_for_all(const cli_world *w, const char *path, tutti_array_spec *spec) {
    char header[NPY_ROOM];
    spec->offset = (tutti_off)npy_make(spec, header);
    int failed = 0;
    if (w->rank == 0) {
        FILE *f = fopen(path, "w");
        failed = !f || fwrite(header, 1, (size_t)spec->offset, f) != (size_t)spec->offset;
        if (f) failed |= fclose(f) != 0;
        if (failed) cli_error_errno("cannot write", path);
    }
    return cli_agree(w, failed);
}

void npy_swap(const npy_header *h, void *elements, tutti_count n) {
    const int parts = h->spec.type == TUTTI_COMPLEX64 || h->spec.type == TUTTI_COMPLEX128 ? 2 : 1;
    const size_t size = (size_t)h->spec.element_size / (size_t)parts;
    unsigned char *p = elements;
    if (!h->swapped) return;
    for (tutti_count i = 0; i < n * parts; i++, p += size)
        for (size_t k = 0; k < size / 2; k++) {
            const unsigned char c = p[k];
            p[k] = p[size - 1 - k];
            p[size - 1 - k] = c;
        }
}
