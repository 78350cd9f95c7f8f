/* tutti array write: write a section from a NumPy file, on all ranks together, or from text, through rank 0.
 *
 * Text is read twice.  The first pass checks that every word is an element and that their number is correct,
 * so that an invalid file changes nothing.  Standard input is therefore copied to a temporary file.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "array/cmd_array.h"
#include "array/npy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- words of a text: separated by spaces and commas; '#' begins a comment */

/* Maximum characters of a word.  Written out, the smallest double has more than a thousand digits. */
enum { LONGEST = 4096 };

typedef struct {
    FILE *file;
    const char *name;
    char *word;
    size_t capacity;
    long line;
} reader;

static int is_between(int c) {
    return c == ',' || c == ';' || isspace(c);
}

/* Read the next word into r->word.  Return 0 at the end of the file. */
static int next_word(reader *r) {
    size_t n = 0;
    int c = getc(r->file), remark = 0;
    while (c != EOF && (remark || c == '#' || is_between(c))) {
        if (c == '\n') r->line++;
        remark = c == '#' || (remark && c != '\n');
        c = getc(r->file);
    }
    if (c == EOF) return 0;
    for (; c != EOF && c != '#' && !is_between(c); c = getc(r->file))
        if (n + 1 < r->capacity) r->word[n++] = c ? (char)c : '?';
    if (c != EOF) ungetc(c, r->file);
    if (n + 1 == r->capacity) r->word[n - 1] = '?'; /* longer than any element: invalid */
    r->word[n] = '\0';
    return 1;
}

/* Read n elements to out, out + step, ...  Returns 0, or 1 and a message. */
static int read_elements(reader *r, const tutti_array_spec *spec, tutti_count n, char *out,
                         tutti_off step) {
    for (tutti_count i = 0; i < n; i++, out += step) {
        if (!next_word(r))
            return cli_error("'%s' has only %lld of %lld elements", r->name, (long long)i,
                             (long long)n);
        if (array_element_parse(spec, r->word, out)) {
            char why[128];
            snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, cli_message());
            return cli_error("'%s', line %ld: %s", r->name, r->line, why);
        }
    }
    return 0;
}

/* Copy standard input to a temporary file.  Returns NULL if reading or writing fails. */
static FILE *copy_of_input(void) {
    char piece[1 << 16];
    size_t n;
    FILE *f = tmpfile();
    while (f && (n = fread(piece, 1, sizeof piece, stdin)) > 0)
        if (fwrite(piece, 1, n, f) != n) break;
    if (f && !ferror(stdin) && feof(stdin) && fflush(f) == 0 && !ferror(f)) {
        rewind(f);
        return f;
    }
    if (f) fclose(f);
    return NULL;
}

static int reader_open(reader *r, const array_config *c, const array_side *s) {
    const int is_input = strcmp(c->from, "-") == 0;
    *r = (reader){.name = is_input ? "standard input" : c->from, .line = 1};
    r->capacity = LONGEST + 2 * (size_t)s->spec.element_size;
    r->word = cli_malloc(r->capacity);
    r->file = is_input ? copy_of_input() : fopen(c->from, "r");
    if (!r->file) return cli_error_errno("cannot read", r->name);
    /* Check the whole text; then rewind the file. */
    const tutti_array_spec *spec = &s->spec;
    char *scratch = cli_malloc((size_t)spec->element_size);
    int failed = read_elements(r, spec, s->count, scratch, 0);
    free(scratch);
    if (!failed && next_word(r))
        failed = cli_error("'%s', line %ld: input has more than the %lld elements of the section",
                           r->name, r->line, (long long)s->count);
    if (ferror(r->file)) failed = cli_error_errno("cannot read", r->name);
    rewind(r->file);
    r->line = 1;
    return failed;
}

/* ---- from text */

static int write_text(const cli_world *w, const array_config *c, reader *r, const array_side *s) {
    char *buffer = NULL;
    array_walk walk;
    const tutti_count most = c->budget / s->spec.element_size;
    array_walk_start(&walk, s, TUTTI_ROW_MAJOR, most > 0 ? most : 1);
    tutti_count n = 1;
    for (int d = 0; d < s->spec.ndims; d++) n *= walk.tile[d];
    if (w->rank == 0) buffer = cli_malloc((size_t)(n * s->spec.element_size));
    cli_progress progress;
    array_box box;
    tutti_count done = 0;
    int failed = 0;
    progress_start(&progress, w, 0);
    while (!failed && array_walk_next(&walk, &box)) {
        const tutti_section memory = array_box_memory(s, &box, TUTTI_ROW_MAJOR);
        const int writes = w->rank == 0;
        const tutti_slice slice =
            writes ? array_box_slice(s, &box) : array_slice_none(s->spec.ndims);
        const tutti_count elements = array_box_shape(s->spec.ndims, &box, NULL);
        failed = cli_agree(
            w, writes && read_elements(r, &s->spec, elements, buffer, s->spec.element_size));
        if (!failed &&
            tutti_array_write(s->array, &slice, writes ? &memory : NULL, buffer) != TUTTI_OK)
            failed = cli_error_tutti();
        done += elements;
        progress_work(&progress, "writing", done, s->count);
    }
    progress_end(&progress);
    free(buffer);
    return failed;
}

/* ---- from a NumPy file */

static void swap_elements(const void *header, void *elements, tutti_count n) {
    npy_swap(header, elements, n);
}

static int write_npy(const cli_world *w, const array_config *c, const npy_header *h,
                     const array_side *s) {
    array_side from = {.array = NULL};
    if (s->count == 0) return 0;
    if (array_side_open_raw(w, c, c->from, TUTTI_READ, &h->spec, &from)) return 1;
    array_move move = {.from = &from, .to = s, .budget = c->budget, .what = "converting"};
    if (h->swapped) {
        move.convert = swap_elements;
        move.context = h;
    }
    for (int d = 0; d < s->spec.ndims; d++) move.axes[d] = d;
    return array_side_close(&from, array_move_run(w, &move));
}

/* ---- the command */

/* The new elements: a NumPy file, or text if `npy` is NULL. */
typedef struct {
    const npy_header *npy;
    npy_header header;
    reader text; /* used on rank 0 only */
} source;

/* Check that the source matches the section.  Collective. */
static int source_check(const cli_world *w, const array_config *c, source *from,
                        const array_side *s) {
    if (from->npy) {
        const npy_header *h = from->npy;
        char has[ARRAY_TEXT], needs[ARRAY_TEXT];
        int same = h->spec.ndims == s->spec.ndims;
        for (int d = 0; same && d < s->spec.ndims; d++) same = h->spec.shape[d] == s->shape[d];
        if (!same)
            return cli_error("'%s' has shape %s, but the section has shape %s", c->from,
                             array_shape_text(h->spec.ndims, h->spec.shape, has, sizeof has),
                             array_shape_text(s->spec.ndims, s->shape, needs, sizeof needs));
        if (h->spec.type == s->spec.type && h->spec.element_size == s->spec.element_size) return 0;
        return cli_error(
            "'%s' has elements of type %s (%lld bytes), but the array has %s (%lld bytes)", c->from,
            tutti_type_name(h->spec.type), (long long)h->spec.element_size,
            tutti_type_name(s->spec.type), (long long)s->spec.element_size);
    }
    return cli_agree(w, w->rank == 0 && reader_open(&from->text, c, s));
}

/* Open the existing array and select the section. */
static int open_there(const cli_world *w, const array_config *c, source *from, array_side *out) {
    if (array_side_open(w, c, TUTTI_READ | TUTTI_WRITE, out)) return 1;
    return !array_side_is_global(out, c->path) || array_side_select(out, c) ||
           source_check(w, c, from, out);
}

/* Check the source, then create the array. */
static int open_new(const cli_world *w, const array_config *c, source *from, array_side *out) {
    const int mode = TUTTI_READ | TUTTI_WRITE | TUTTI_CREATE;
    tutti_array_spec spec;
    array_side planned;
    spec = from->npy ? from->npy->spec : c->spec;
    if (c->has_shape) {
        spec.ndims = c->spec.ndims;
        memcpy(spec.shape, c->spec.shape, sizeof spec.shape);
    }
    if (c->has_type) {
        spec.type = c->spec.type;
        spec.element_size = c->spec.element_size;
    }
    if (c->has_order) spec.order = c->spec.order;
    spec.offset = c->spec.offset;
    if (!from->npy && !(c->has_shape && c->has_type))
        return cli_error("--create from text needs --shape and --type");
    if (array_may_replace(w, c, c->path) || array_may_write(w, c->from, c->path)) return 1;
    array_side_plan(&planned, &spec);
    if (source_check(w, c, from, &planned)) return 1;
    if (!c->raw) return array_side_create(w, c, c->path, &spec, out);
    if (array_remove(w, c, c->path)) return 1;
    return array_side_open_raw(w, c, c->path, mode, &spec, out);
}

int array_write(const cli_world *w, const void *config) {
    const array_config *c = config;
    source from = {.npy = NULL};
    if (npy_is_name(c->from)) from.npy = &from.header;
    if (from.npy && npy_read_for_all(w, c->from, &from.header)) return 1;
    array_side s = {.array = NULL};
    int failed = (c->create ? open_new : open_there)(w, c, &from, &s);
    const int made = c->create && s.array;
    if (!failed)
        failed = from.npy ? write_npy(w, c, from.npy, &s) : write_text(w, c, &from.text, &s);
    failed = array_side_close(&s, failed);
    if (failed && made) array_discard(w, c, c->path);
    reader *r = &from.text;
    if (r->file) fclose(r->file);
    free(r->word);
    return failed;
}
