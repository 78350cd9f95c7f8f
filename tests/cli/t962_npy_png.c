/* TEST ranks=1 timeout=60 own=1 */
/* Headers of NumPy files: headers of Tutti are read back, headers of other programs are accepted, and invalid
 * headers are refused.  PNG files: libpng reads the same pixels.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "array/npy.c"
#include "array/png.c"

/* ---- .npy */

static int parse_text(const char *dictionary, int version, npy_header *h) {
    unsigned char file[1024] = "\x93NUMPY";
    const size_t start = version == 1 ? 10 : 12, n = strlen(dictionary);
    file[6] = (unsigned char)version;
    file[8] = (unsigned char)n;
    file[9] = (unsigned char)(n >> 8);
    for (size_t i = 0; i < n; i++) file[start + i] = (unsigned char)dictionary[i];
    return npy_parse(file, start + n, 1 << 20, h);
}

static void check_written(void) {
    check_where("written");
    for (int i = 0; i < 2000; i++) {
        tutti_array_spec spec = {.ndims = 1 + (int)rnd(TUTTI_MAX_DIMS)};
        char text[NPY_ROOM];
        npy_header h = {.swapped = 0};
        spec.type = (tutti_type)rnd(TUTTI_FLOAT16 + 1);
        spec.element_size = spec.type == TUTTI_BYTES ? 1 + rnd(100) : tutti_type_size(spec.type);
        spec.order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR;
        for (int d = 0; d < spec.ndims; d++) spec.shape[d] = rnd(9);
        if (rnd(2)) spec.shape[0] = 0; /* no elements: any other extents are valid */
        if (spec.shape[0] == 0 && spec.ndims > 1) spec.shape[1] = (tutti_count)(rnd64() >> 2);
        const size_t n = npy_make(&spec, text);
        CHECK(n < NPY_ROOM && n % 64 == 0 && text[n - 1] == '\n', "%zu", n);
        CHECK_EQ(npy_parse((unsigned char *)text, n, INT64_MAX, &h), 0);
        CHECK_EQ(h.spec.offset, n);
        CHECK(h.spec.type == spec.type && h.spec.element_size == spec.element_size && !h.swapped);
        CHECK(h.spec.ndims == spec.ndims && h.spec.order == spec.order);
        CHECK(memcmp(h.spec.shape, spec.shape, (size_t)spec.ndims * sizeof *spec.shape) == 0);
    }
}

static void check_understood(void) {
    npy_header h;
    check_where("understood");
    CHECK_EQ(parse_text("{\"shape\":(3,4),'descr':'>c8','fortran_order':True}  \n", 1, &h), 0);
    CHECK(h.spec.type == TUTTI_COMPLEX64 && h.swapped && h.spec.order == TUTTI_COL_MAJOR);
    CHECK(h.spec.ndims == 2 && h.spec.shape[0] == 3 && h.spec.shape[1] == 4);
    unsigned char two[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9}, swapped[] = {4, 3, 2, 1, 8, 7, 6, 5, 0, 0};
    npy_swap(&h, two, 1);
    CHECK(memcmp(two, swapped, 8) == 0 && two[8] == 9);
    CHECK_EQ(parse_text("{'descr': '|b1', 'fortran_order': False, 'shape': (5L,), }", 2, &h), 0);
    CHECK(h.spec.type == TUTTI_UINT8 && h.spec.offset == 70, "%lld", (long long)h.spec.offset);
    CHECK_EQ(parse_text("{'descr': '|S7', 'fortran_order': False, 'shape': (), }", 3, &h), 0);
    CHECK(h.spec.type == TUTTI_BYTES && h.spec.element_size == 7 && h.spec.ndims == 1);
    CHECK_EQ(h.spec.shape[0], 1);
    CHECK_EQ(parse_text("{'descr': '=f8', 'fortran_order': False, 'shape': (2,), }", 1, &h), 0);
    CHECK(h.spec.type == TUTTI_FLOAT64 && !h.swapped);
    CHECK_EQ(parse_text("{'descr': '>f2', 'fortran_order': False, 'shape': (2,), }", 1, &h), 0);
    CHECK(h.spec.type == TUTTI_FLOAT16 && h.spec.element_size == 2 && h.swapped);
    unsigned char halves[] = {1, 2, 3, 4};
    npy_swap(&h, halves, 2);
    CHECK(memcmp(halves, "\x02\x01\x04\x03", 4) == 0);
}

#define WITH(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }"

static void check_refused(void) {
    static const char *const table[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f8'}",
        WITH("'<f8'", "False", "(3"),
        WITH("'<f8'", "False", "(-3,)"),
        WITH("'<f8'", "False", "(3.0,)"),
        WITH("'<f8'", "False", "(3 4)"),
        WITH("'<f8'", "False", "3"),
        WITH("'<f8'", "False", "(99999999999999999999,)"),
        WITH("'<f8'", "False", "(4611686018427387904, 4611686018427387904)"),
        WITH("'<f8'", "False", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"),
        WITH("'<f8'", "False", "(131073,)"), /* the array is longer than the file */
        WITH("'<f8'", "no", "(3,)"),
        WITH("'<f3'", "False", "(3,)"),
        WITH("'<i3'", "False", "(3,)"),
        WITH("'|O'", "False", "(3,)"),
        WITH("'<U4'", "False", "(3,)"),
        WITH("'|V0'", "False", "(3,)"),
        WITH("'|V99999999'", "False", "(3,)"),
        WITH("'<f-8'", "False", "(3,)"),
        WITH("'<f8 '", "False", "(3,)"),
        WITH("'f8'", "False", "(3,)"),
        WITH("''", "False", "(3,)"),
        WITH("'<f8", "False", "(3,)"),
        WITH("[('a', '<f8')]", "False", "(3,)"),
        WITH("'<f8\\n'", "False", "(3,)"),
        WITH("'<f8'", "False", "(3,)") " more",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1}",
        "{'descr': '<f8' 'fortran_order': False, 'shape': (3,)}",
    };
    npy_header h;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        check_where(table[i]);
        CHECK_EQ(parse_text(table[i], 1, &h), 1);
    }
    check_where("versions");
    CHECK_EQ(parse_text(WITH("'<f8'", "False", "(3,)"), 4, &h), 1);
    CHECK_EQ(parse_text(WITH("'<f8'", "False", "(3,)"), 0, &h), 1);
}

/* Headers with some bytes changed or truncated are refused or valid. */
static void check_damaged(void) {
    const tutti_array_spec spec = {
        .ndims = 3, .shape = {30, 4, 5}, .type = TUTTI_INT32, .element_size = 4};
    char right[NPY_ROOM];
    const size_t n = npy_make(&spec, right);
    check_where("damaged");
    for (int i = 0; i < 20000; i++) {
        const size_t bytes = rnd(4) ? n : (size_t)rnd((int64_t)n);
        /* the size is exact, so that ASan detects overruns */
        unsigned char *text = malloc(bytes + 1);
        npy_header h = {.swapped = 0};
        memcpy(text, right, bytes);
        for (int k = (int)rnd(4); k >= 0 && bytes > 0; k--)
            text[rnd((int64_t)bytes)] = (unsigned char)rnd64();
        if (npy_parse(text, bytes, (tutti_off)bytes + rnd(5000), &h) == 0) {
            CHECK(h.spec.ndims >= 1 && h.spec.ndims <= TUTTI_MAX_DIMS);
            CHECK(h.spec.offset <= (tutti_off)bytes && h.spec.element_size > 0);
            for (int d = 0; d < h.spec.ndims; d++) CHECK(h.spec.shape[d] >= 0);
        }
        free(text);
    }
}

/* ---- PNG */

#if TUTTI_HAVE_PNG
/* Check that libpng reads the pixels that were drawn. */
static void draw_once(unsigned width, unsigned height) {
    const size_t bytes = (size_t)width * height, capacity = 8192 + 2 * bytes + height;
    png_colour palette[PNG_COLOURS];
    png_image image = {.version = PNG_IMAGE_VERSION};
    unsigned char *pixels = calloc(1, bytes), *file = calloc(1, capacity);
    unsigned char *rows = calloc(3, bytes);
    for (size_t i = 0; i < bytes; i++) pixels[i] = (unsigned char)rnd64();
    for (int i = 0; i < PNG_COLOURS; i++)
        palette[i] =
            (png_colour){(unsigned char)i, (unsigned char)(255 - i), (unsigned char)(i / 2)};
    FILE *f = fmemopen(file, capacity, "w");
    png_file *p = png_begin(f, width, height, palette);
    for (unsigned y = 0; y < height; y++) png_row(p, pixels + (size_t)y * width);
    CHECK_EQ(png_end(&p), 0);
    const size_t size = (size_t)ftell(f);
    fclose(f);
    CHECK_EQ(png_image_begin_read_from_memory(&image, file, size), 1);
    CHECK(image.width == width && image.height == height);
    image.format = PNG_FORMAT_RGB;
    CHECK_EQ(png_image_finish_read(&image, NULL, rows, 0, NULL), 1);
    for (size_t i = 0; i < bytes; i++)
        CHECK(memcmp(rows + 3 * i, &palette[pixels[i]], 3) == 0, "pixel %zu", i);
    free(rows);
    free(file);
    free(pixels);
}

/* An error of a full device is returned by png_end. */
static void draw_badly(void) {
    static const png_colour palette[PNG_COLOURS];
    const unsigned char row[64] = {0};
    FILE *f = fopen("/dev/full", "w");
    png_file *p = png_begin(f, 64, 64, palette);
    for (int y = 0; y < 64; y++) png_row(p, row);
    fflush(f);
    CHECK_EQ(png_end(&p), 1);
    CHECK(p == NULL);
    fclose(f);
}
#else
static void draw_once(unsigned width, unsigned height) {
    static const png_colour palette[PNG_COLOURS];
    CHECK(png_begin(stdout, width, height, palette) == NULL);
    CHECK(strstr(cli_message(), "libpng-dev"), "%s", cli_message());
}
static void draw_badly(void) {}
#endif

static void check_pictures(void) {
    check_where("pictures");
    draw_once(1, 1);
    draw_once(300, 200);
    draw_once(65534, 1);
    draw_once(65535, 2);
    draw_once(65534, 4);
    draw_badly();
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_seed(7);
    check_written();
    check_understood();
    check_refused();
    check_damaged();
    check_pictures();
    MPI_Finalize();
    return check_done();
}
