/* TEST ranks=1 timeout=60 own=1 */
/* Parts of tutti array that need no file: arguments, sections, axes, conversions between elements and text,
 * and division of sections into boxes within a budget.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"
#include "common/cli_memory.c"
#include "common/cli_error.c"
#include "common/cli_text.c"
#include "common/command_parse.c"
#include "common/progress.c"
#include "array/cmd_array_args.c"
#undef AT
#include "array/cmd_array_section.c"
#include "array/cmd_array_element.c"
#include "array/cmd_array_walk.c"

/* ---- arguments */

/* Replacements of the commands, which the table of commands refers to but this test does not call. */
#define STUB(name)                                     \
    int name(const cli_world *w, const void *config) { \
        return (void)w, (void)config, CLI_OK;          \
    }
STUB(array_create)
STUB(array_info)
STUB(array_read)
STUB(array_write)
STUB(array_transpose)
STUB(array_stat)
void cli_color_set(int when_asked) {
    (void)when_asked;
}

static void check_message(const char *line, const char *wanted) {
    CHECK(strstr(cli_message(), wanted) != NULL, "%s: '%s', without '%s'", line, cli_message(),
          wanted);
}

/* The command line is split at spaces; the first word is the command. */
static cli_parsed parse_line(const char *line, array_config *c) {
    static char copy[1024];
    char *argv[40] = {NULL}, *rest = NULL;
    int argc = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *s = strtok_r(copy, " ", &rest); s; s = strtok_r(NULL, " ", &rest)) argv[argc++] = s;
    for (int i = 0; i < array_group.commands; i++)
        if (strcmp(array_group.command[i].name, argv[0]) == 0)
            return cli_parse(&array_group, &array_group.command[i], argc - 1, argv + 1, c);
    CHECK(0, "unknown command in '%s'", line);
    return CLI_WRONG;
}

static void check_wrong(void) {
    static const char *const table[][2] = {
        {"info", "missing operand FILE"},
        {"transpose a", "missing operand NEW"},
        {"read a : more", "extra operand 'more'"},
        {"info a more", "extra operand 'more'"},
        {"create a", "missing --shape"},
        {"create a --shape 3", "missing --type"},
        {"create a --type int8", "missing --shape"},
        {"read a --raw --shape 3", "a --raw file has no header"},
        {"create a --type int8 --shape 1,2,", "1 to 16 extents"},
        {"create a --type int8 --shape 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1", "1 to 16 extents"},
        {"create a --type int8 --shape 99999999999999999999", "1 to 16 extents"},
        {"create a --type int8 --shape -3", "1 to 16 extents"},
        {"create a --type int8 --shape 3;4", "separated by commas"},
        {"create a --shape 3 --type double", "float64"},
        {"create a --shape 3 --type bytes", "bytes:N"},
        {"create a --shape 3 --type bytes:0", "bytes:N"},
        {"create a --shape 3 --type bytes:3x", "bytes:N"},
        {"create a --shape 3 --type int8 --order diagonal", "row or column"},
        {"transpose a b --to-order diagonal", "row or column"},
        {"info a --offset 8", "requires --raw"},
        {"info a --offset x", "must be a size"},
        {"stat a --budget 3", "4 KiB to 1 TiB"},
        {"stat a --budget 2t", "4 KiB to 1 TiB"},
        {"stat a --budget", "needs a value"},
        {"info a --json=yes", "takes no value"},
        {"info a --csv", "does not apply to 'tutti array info'"},
        {"create a --from b", "does not apply to 'tutti array create'"},
        {"info a --no-such 3", "no-such"},
        {"read a --method fast", "method"},
        {"write a", "missing --from"},
        {"write a --from=", "must not be empty"},
        {"write a --from x.npy --force", "requires --create"},
        {"write a 0:3 --from x.npy --create", "is not allowed"},
        {"read a --zoom 2", "require --png"},
        {"read a --csv --digits 3", "exclude each other"},
        {"read a --digits 18", "from 1 to 17"},
        {"read a --png x --zoom 0", "from 1 to 64"},
        {"read a --png x --pixels 0", "from 1 to 32768"},
        {"read a --png x --range 3", "two numbers"},
        {"read a --png x --range 3,2", "two numbers"},
        {"read a --png x --range 0,nan", "two numbers"},
        {"read a --png x --range -inf,2", "two numbers"},
    };
    check_where("wrong arguments");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        array_config c;
        CHECK_EQ(parse_line(table[i][0], &c), CLI_WRONG);
        check_message(table[i][0], table[i][1]);
        cli_config_free(&c);
    }
}

static void check_right(void) {
    array_config c;
    check_where("right arguments");
    CHECK_EQ(parse_line("create a --shape 3x4,5 --type complex64 --order=F --fill 1j", &c),
             CLI_PARSED);
    CHECK(c.spec.ndims == 3 && c.spec.shape[1] == 4 && c.spec.shape[2] == 5);
    CHECK(c.spec.type == TUTTI_COMPLEX64 && c.spec.element_size == 8);
    CHECK(c.spec.order == TUTTI_COL_MAJOR && strcmp(c.fill, "1j") == 0);
    cli_config_free(&c);
    CHECK_EQ(parse_line("read a 0:3 --png p --range -1,2.5 --cb_nodes 3 --budget 1m", &c),
             CLI_PARSED);
    CHECK(strcmp(c.section, "0:3") == 0 && c.range[0] == -1 && c.range[1] == 2.5);
    CHECK(c.options.cb_nodes == 3 && c.budget == 1 << 20);
    cli_config_free(&c);
    CHECK_EQ(parse_line("read -o- --csv a -- --raw", &c), CLI_PARSED);
    CHECK(strcmp(c.out, "-") == 0 && c.csv && strcmp(c.section, "--raw") == 0 && !c.raw);
    cli_config_free(&c);
    CHECK_EQ(parse_line("read a --nosuch -h", &c), CLI_WRONG);
    cli_config_free(&c);
    CHECK_EQ(parse_line("read a -h", &c), CLI_HELP);
    cli_config_free(&c);
}

/* ---- sections and axes */

static const tutti_array_spec field = {.ndims = 2, .shape = {400, 600}};

static void check_sections(void) {
    static const struct {
        const char *text;
        int fortran;
        tutti_count lo[2], hi[2], stride[2];
    } right[] = {
        {"0:400:1,0:600:1", 0, {0, 0}, {400, 600}, {1, 1}},
        {":,:", 0, {0, 0}, {400, 600}, {1, 1}},
        {"3,5:", 0, {3, 5}, {4, 600}, {1, 1}},
        {":7:2,::100", 0, {0, 0}, {7, 600}, {2, 100}},
        {"400:400,9:3", 0, {400, 9}, {400, 3}, {1, 1}}, /* empty section */
        {"1:100:1,200:300:2", 1, {0, 199}, {100, 300}, {1, 2}},
        {"1,:", 1, {0, 0}, {1, 600}, {1, 1}},
        {"400,600", 1, {399, 599}, {400, 600}, {1, 1}},
    };
    static const struct {
        const char *text, *wanted;
        int fortran;
    } wrong[] = {
        {"0,0:601", "dimension 1: indices exceed the extent 600", 0},
        {"400,0", "dimension 0: indices exceed the extent 400", 0},
        {"401:,0", "dimension 0: indices exceed the extent 400", 0},
        {"401,1", "dimension 0: indices exceed the extent 400", 1},
        {"0:3:0,0", "stride is 0: must be >= 1", 0},
        {"0:3,1", "index is 0: must be >= 1 with --fortran", 1},
        {"0", "has 2 dimensions", 0},
        {"0,0,0", "has 2 dimensions", 0},
        {"0,", "dimension 1 must be LO:HI:STRIDE", 0},
        {"0,-1", "dimension 1 must be LO:HI:STRIDE", 0},
        {"1:2:3:4,0", "dimension 0 must be LO:HI:STRIDE", 0},
        {"x,0", "dimension 0 must be LO:HI:STRIDE", 0},
        {"", "dimension 0 must be LO:HI:STRIDE", 0},
        {"99999999999999999999,0", "dimension 0 must be LO:HI:STRIDE", 0},
        {"0:99999999999999999999,0", "dimension 0 must be LO:HI:STRIDE", 0},
    };
    tutti_slice s = {.lo = {0}};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        check_where(right[i].text);
        CHECK_EQ(array_section_parse(right[i].text, right[i].fortran, &field, &s), 0);
        for (int d = 0; d < 2; d++) {
            CHECK_EQ(s.lo[d], right[i].lo[d]);
            CHECK_EQ(s.hi[d], right[i].hi[d]);
            CHECK_EQ(s.stride[d], right[i].stride[d]);
        }
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CHECK_EQ(array_section_parse(wrong[i].text, wrong[i].fortran, &field, &s), 1);
        check_message(wrong[i].text, wrong[i].wanted);
    }
}

static void check_axes(void) {
    static const char *const wrong[] = {"0,0,1",
                                        "0,1",
                                        "0,1,2,3",
                                        "0,1,3",
                                        "",
                                        "0,1,2,",
                                        "x",
                                        "0,1,-2",
                                        "2 1 0",
                                        "0,1,2,x",
                                        "99999999999999999999,0,1"};
    int axes[TUTTI_MAX_DIMS];
    check_where("axes");
    CHECK_EQ(array_axes_parse(NULL, 3, axes), 0);
    CHECK(axes[0] == 2 && axes[1] == 1 && axes[2] == 0);
    CHECK_EQ(array_axes_parse("1,2,0", 3, axes), 0);
    CHECK(axes[0] == 1 && axes[1] == 2 && axes[2] == 0);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        check_where(wrong[i]);
        CHECK_EQ(array_axes_parse(wrong[i], 3, axes), 1);
    }
}

/* ---- elements */

static tutti_array_spec spec_of(tutti_type type) {
    return (tutti_array_spec){.type = type, .element_size = tutti_type_size(type)};
}

static void check_text(tutti_type type, const char *word, const char *wanted) {
    const tutti_array_spec spec = spec_of(type);
    unsigned char element[16];
    char text[256] = "";
    check_where(word);
    const int wrong = array_element_parse(&spec, word, element);
    CHECK_EQ(wrong, wanted == NULL);
    if (wrong || !wanted) return;
    FILE *f = fmemopen(text, sizeof text, "w");
    array_element_print(f, &spec, 0, 0, element);
    fclose(f);
    CHECK(strcmp(text, wanted) == 0, "'%s', not '%s'", text, wanted);
    CHECK_EQ(array_element_width(&spec, 0, element), (int)strlen(text));
}

static void check_elements(void) {
    static const struct {
        tutti_type type;
        const char *word, *text; /* input, expected output; NULL: the input is invalid */
    } table[] = {
        {TUTTI_INT8, "-128", "-128"},
        {TUTTI_INT8, "128", NULL},
        {TUTTI_INT16, "32767", "32767"},
        {TUTTI_INT16, "-32769", NULL},
        {TUTTI_INT32, "-2147483648", "-2147483648"},
        {TUTTI_INT64, "-9223372036854775808", "-9223372036854775808"},
        {TUTTI_INT64, "9223372036854775808", NULL},
        {TUTTI_INT64, "1.5", NULL},
        {TUTTI_INT64, "", NULL},
        {TUTTI_UINT8, "255", "255"},
        {TUTTI_UINT8, "256", NULL},
        {TUTTI_UINT8, "-1", NULL},
        {TUTTI_UINT64, "18446744073709551615", "18446744073709551615"},
        {TUTTI_UINT64, "18446744073709551616", NULL},
        {TUTTI_FLOAT16, "0.1", "0.1"},
        {TUTTI_FLOAT16, "2049", "2048"}, /* rounded to even */
        {TUTTI_FLOAT16, "2051", "2052"},
        {TUTTI_FLOAT16, "-65519", "-6.55e+04"},
        {TUTTI_FLOAT16, "65520", NULL},
        {TUTTI_FLOAT16, "1e-7", "1.19e-07"},
        {TUTTI_FLOAT16, "2e-8", "0"},
        {TUTTI_FLOAT16, "-inf", "-inf"},
        {TUTTI_FLOAT16, "1e400", NULL},
        {TUTTI_FLOAT16, "nan", "nan"},
        {TUTTI_FLOAT32, "0.1", "0.1"},
        {TUTTI_FLOAT32, "16777217", "16777216"},
        {TUTTI_FLOAT32, "1e39", NULL},
        {TUTTI_FLOAT32, "1e-50", "0"},
        {TUTTI_FLOAT64, "0.1", "0.1"},
        {TUTTI_FLOAT64, "0.30000000000000004", "0.30000000000000004"},
        {TUTTI_FLOAT64, "-0", "-0"},
        {TUTTI_FLOAT64, "1e309", NULL},
        {TUTTI_FLOAT64, "-inf", "-inf"},
        {TUTTI_FLOAT64, "NaN", "nan"},
        {TUTTI_FLOAT64, "1.5x", NULL},
        {TUTTI_FLOAT64, "1j", NULL},
        {TUTTI_COMPLEX64, "1.5", "1.5+0j"},
        {TUTTI_COMPLEX64, "2j", "0+2j"},
        {TUTTI_COMPLEX128, "1.5-2e-3J", "1.5-0.002j"},
        {TUTTI_COMPLEX128, "-inf+nanj", "-inf+nanj"},
        {TUTTI_COMPLEX128, "1+2", NULL},
        {TUTTI_COMPLEX128, "1+2j3", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        check_text(table[i].type, table[i].word, table[i].text);
    const tutti_array_spec bytes = {.type = TUTTI_BYTES, .element_size = 3};
    unsigned char element[3];
    check_where("bytes");
    CHECK_EQ(array_element_parse(&bytes, "00fFa5", element), 0);
    CHECK(memcmp(element, "\x00\xff\xa5", 3) == 0);
    CHECK_EQ(array_element_parse(&bytes, "00ff", element), 1);
    CHECK_EQ(array_element_parse(&bytes, "00ffg5", element), 1);
}

/* The text of every float16 is read back as the same number. */
static void check_halves(void) {
    const tutti_array_spec spec = spec_of(TUTTI_FLOAT16);
    for (int bits = 0; bits < 65536; bits++) {
        const uint16_t in = (uint16_t)bits;
        uint16_t out = 0;
        char text[64] = "";
        FILE *f = fmemopen(text, sizeof text, "w");
        array_element_print(f, &spec, 0, 0, &in);
        fclose(f);
        CHECK_EQ(array_element_parse(&spec, text, &out), 0);
        const int is_nan = (in & 0x7fff) > 0x7c00;
        CHECK(is_nan ? (out & 0x7fff) > 0x7c00 : in == out, "%s is %x, not %x", text, out, in);
    }
}

/* The text of any double is read back as the same number. */
static void check_round_trip(void) {
    const tutti_array_spec spec = spec_of(TUTTI_FLOAT64);
    check_where("round trip");
    for (int i = 0; i < 20000; i++) {
        const uint64_t bits = rnd64();
        char text[64] = "";
        uint64_t back = 0;
        double in, out = 0;
        memcpy(&in, &bits, 8);
        FILE *f = fmemopen(text, sizeof text, "w");
        array_element_print(f, &spec, 0, 0, &in);
        fclose(f);
        CHECK_EQ(array_element_parse(&spec, text, &out), 0);
        memcpy(&back, &out, 8);
        CHECK(bits == back || (isnan(in) && isnan(out)), "%s", text);
    }
}

/* ---- division into boxes, which are disjoint, cover all elements, and keep the limit per rank */

static void walk_once(int ndims, int ranks, tutti_count most) {
    array_side s = {.spec = {.ndims = ndims, .order = rnd(2) ? TUTTI_ROW_MAJOR : TUTTI_COL_MAJOR}};
    array_walk k;
    array_box box;
    s.count = 1;
    for (int d = 0; d < ndims; d++) s.count *= s.shape[d] = rnd(8) ? 1 + rnd(12) : 0;
    unsigned char *seen = calloc(1, (size_t)s.count + 1);
    const tutti_count largest = array_walk_share(&k, &s, (int)rnd(ndims), ranks, most);
    CHECK(largest <= most, "%lld > %lld", (long long)largest, (long long)most);
    while (array_walk_next(&k, &box))
        for (int r = 0; r < ranks; r++) {
            const array_box part = array_box_part(&k, &box, r, ranks);
            const tutti_count n = array_box_shape(ndims, &part, NULL);
            CHECK(n <= largest, "%lld > %lld", (long long)n, (long long)largest);
            for (tutti_count i = 0; i < n; i++) {
                tutti_count rest = i, at = 0;
                for (int d = 0; d < ndims; d++) {
                    const tutti_count extent = part.hi[d] - part.lo[d];
                    at = at * s.shape[d] + part.lo[d] + rest % extent;
                    rest /= extent;
                }
                seen[at]++;
            }
        }
    for (tutti_count i = 0; i < s.count; i++) CHECK_EQ(seen[i], 1);
    free(seen);
}

static void check_walks(void) {
    check_where("walks");
    for (int i = 0; i < 3000; i++) walk_once(1 + (int)rnd(4), 1 + (int)rnd(6), 1 + rnd(60));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    check_seed(3);
    check_wrong();
    check_right();
    check_sections();
    check_axes();
    check_elements();
    check_halves();
    check_round_trip();
    check_walks();
    MPI_Finalize();
    return check_done();
}
