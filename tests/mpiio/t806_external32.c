/* TEST ranks=3 timeout=60 preload=mpiio */
/* The data representation external32: big-endian values of fixed sizes, with any view and any datatype in memory.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "mpi_check.h"

static void set_view(MPI_File fh, MPI_Offset where, MPI_Datatype etype, MPI_Datatype filetype,
                     const char *name) {
    CHECK_MPI(MPI_File_set_view(fh, where, etype, filetype, name, MPI_INFO_NULL));
}

/* Check the bytes of the file. */
static void bytes_are(MPI_File fh, MPI_Offset where, const unsigned char *expected, int n) {
    unsigned char found[64];
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native");
    CHECK_MPI(MPI_File_read_at(fh, where, found, n, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < n; i++) CHECK(found[i] == expected[i], "byte %d is %02x", i, found[i]);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_numbers(MPI_File fh) {
    const int out[2] = {0x01020304, -2};
    const double x = 1.0;
    const unsigned char ints[] = {1, 2, 3, 4, 0xff, 0xff, 0xff, 0xfe};
    const unsigned char one[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0};
    MPI_Status status;
    int in[2] = {0, 0};
    set_view(fh, 0, MPI_INT, MPI_INT, "external32");
    CHECK_MPI(MPI_File_write_at_all(fh, 2 * rank, out, 2, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK_MPI(MPI_File_read_at_all(fh, 2 * rank, in, 2, MPI_INT, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 2);
    CHECK(in[0] == out[0] && in[1] == out[1], "%x %x", in[0], in[1]);
    bytes_are(fh, 8 * rank, ints, 8);
    set_view(fh, 1000, MPI_DOUBLE, MPI_DOUBLE, "external32");
    CHECK_MPI(MPI_File_write_at(fh, rank, &x, 1, MPI_DOUBLE, &status));
    bytes_are(fh, 1000 + 8 * rank, one, 8);
}

/* A long has four bytes in the file: views and extents use this size, and statuses count longs in memory. */
static void check_longs(MPI_File fh) {
    const long out[] = {1, 2, 3, 4, 5, 6};
    const unsigned char two[] = {0, 0, 0, 2};
    long in[7] = {0};
    MPI_Aint extent = -1;
    MPI_Offset at = -1;
    MPI_Datatype every_other;
    MPI_Status status;
    /* the type selects every second element in the file */
    MPI_Type_create_resized(MPI_LONG, 0, 8, &every_other);
    MPI_Type_commit(&every_other);
    set_view(fh, 2000 + 4096 * rank, MPI_LONG, every_other, "external32");
    CHECK_MPI(MPI_File_get_type_extent(fh, MPI_LONG, &extent));
    CHECK_EQ(extent, 4);
    CHECK_MPI(MPI_File_get_byte_offset(fh, 3, &at));
    CHECK_EQ(at, 2000 + 4096 * rank + 24);
    CHECK_MPI(MPI_File_write_all(fh, out, 6, MPI_LONG, &status));
    CHECK_EQ(count_of(&status, MPI_LONG), 6);
    CHECK_EQ(position_of(fh), 6);
    CHECK_MPI(MPI_File_sync(fh));
    CHECK_MPI(MPI_File_read_at(fh, 1, in, 4, MPI_LONG, &status));
    for (int i = 0; i < 4; i++) CHECK_EQ(in[i], out[i + 1]);
    bytes_are(fh, 2000 + 4096 * rank + 8, two, 4);
    MPI_Type_free(&every_other);
}

/* Test memory with gaps, nonblocking and split calls, and the end of the file within a request. */
static void check_calls(MPI_File fh) {
    int out[12], in[12];
    MPI_Datatype comb;
    MPI_Status status;
    MPI_Request r;
    for (int i = 0; i < 12; i++) out[i] = 100 * rank + i;
    MPI_Type_vector(4, 1, 3, MPI_INT, &comb);
    MPI_Type_commit(&comb);
    set_view(fh, 0, MPI_INT, MPI_INT, "external32");
    CHECK_MPI(MPI_File_set_size(fh, 0));
    CHECK_MPI(MPI_File_iwrite_at_all(fh, 4 * rank, out, 1, comb, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, comb), 1);
    CHECK_EQ(size_of(fh), 16 * size);
    memset(in, 0, sizeof in);
    CHECK_MPI(MPI_File_read_at_all_begin(fh, 4 * rank, in, 1, comb));
    CHECK_MPI(MPI_File_read_at_all_end(fh, in, &status));
    for (int i = 0; i < 12; i++) CHECK_EQ(in[i], i % 3 == 0 ? out[i] : 0);
    memset(in, 0, sizeof in);
    CHECK_MPI(MPI_File_iread_at(fh, 4 * size - 3, in, 12, MPI_INT, &r));
    CHECK_MPI(MPI_Wait(&r, &status));
    CHECK_EQ(count_of(&status, MPI_INT), 3);
    CHECK_EQ(in[2], 100 * (size - 1) + 9);
    MPI_Type_free(&comb);
}

/* Test several kinds and sizes of elements in one datatype; types that cannot be converted are
 * refused. */
static void check_mixed_types(MPI_File fh) {
    typedef struct {
        int i;
        long l[2];
        char c;
    } record;
    const unsigned char one[] = {0, 0, 0, 7, 0, 0, 0, 8, 0xff, 0xff, 0xff, 0xfe, 'x'};
    const int lengths[] = {1, 2, 1};
    const MPI_Aint places[] = {offsetof(record, i), offsetof(record, l), offsetof(record, c)};
    const MPI_Datatype kinds[] = {MPI_INT, MPI_LONG, MPI_CHAR};
    record out[3], in[3];
    MPI_Datatype type, sized;
    MPI_Status status;
    MPI_Type_create_struct(3, lengths, places, kinds, &type);
    MPI_Type_create_resized(type, 0, sizeof(record), &sized);
    MPI_Type_commit(&sized);
    for (int k = 0; k < 3; k++) out[k] = (record){7, {8, -2}, 'x'};
    memset(in, 0, sizeof in);
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32");
    CHECK_MPI(MPI_File_write_at_all(fh, 39 * rank, out, 3, sized, &status));
    CHECK_EQ(count_of(&status, sized), 3);
    CHECK_MPI(MPI_File_read_at_all(fh, 39 * rank, in, 3, sized, &status));
    CHECK_EQ(count_of(&status, sized), 3);
    for (int k = 0; k < 3; k++)
        CHECK(in[k].i == 7 && in[k].l[0] == 8 && in[k].l[1] == -2 && in[k].c == 'x', "record %d",
              k);
    for (int k = 0; k < 3; k++) bytes_are(fh, 39 * rank + 13 * k, one, 13);
    MPI_Type_free(&type);
    MPI_Type_free(&sized);
#ifdef MPICH_VERSION
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_WCHAR, MPI_WCHAR, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_set_view(fh, 0, MPI_2INT, MPI_2INT, "external32", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_OPERATION);
#endif
}

/* Test a structure with an empty member at its end, after a gap: MPI_Pack of Open MPI 4.1 treats it
 * as contiguous. */
static void check_empty_member(MPI_File fh) {
    const int lengths[] = {1, 1}, out[8] = {1, 2, 3, 99, 4, 5, 6, 99};
    const MPI_Aint places[] = {0, 13};
    const unsigned char expected[] = {0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3,
                                      0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6};
    int in[8] = {0};
    MPI_Datatype parts[2], type;
    MPI_Type_contiguous(3, MPI_INT, &parts[0]);
    MPI_Type_vector(0, 1, 2, MPI_INT, &parts[1]);
    MPI_Type_create_struct(2, lengths, places, parts, &type);
    MPI_Type_commit(&type);
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32");
    CHECK_MPI(MPI_File_write_at_all(fh, 24 * rank, out, 2, type, MPI_STATUS_IGNORE));
    CHECK_MPI(MPI_File_read_at_all(fh, 24 * rank, in, 2, type, MPI_STATUS_IGNORE));
    for (int i = 0; i < 8; i++) CHECK_EQ(in[i], i % 4 == 3 ? 0 : out[i]);
    bytes_are(fh, 24 * rank, expected, 24);
    MPI_Type_free(&parts[0]);
    MPI_Type_free(&parts[1]);
    MPI_Type_free(&type);
}

/* ---- random datatypes, compared with lists of their elements */

enum { NUMBERS = 256, KINDS = 6, COPIES = 3 };

static const struct {
    MPI_Datatype *type;
    int native, external;
} * kinds;

/* A datatype, and the offsets and kinds of its elements in the order of its type map. */
typedef struct {
    MPI_Datatype type;
    int n, at[NUMBERS], kind[NUMBERS];
} tree;

static int extent_of(const tree *t) {
    MPI_Aint lb = 0, extent = 0;
    MPI_Type_get_extent(t->type, &lb, &extent);
    return (int)extent;
}

static void tree_put(tree *to, const tree *from, int at) {
    for (int i = 0; i < from->n; i++, to->n++)
        to->at[to->n] = at + from->at[i], to->kind[to->n] = from->kind[i];
}

static void tree_free(tree *t, int depth) {
    if (depth > 0) MPI_Type_free(&t->type);
}

static tree tree_make(int depth);

static tree tree_struct(int depth) {
    tree t = {.n = 0}, part[3];
    int lengths[3], end = 0, n = 2 + (int)rnd(2);
    MPI_Aint places[3];
    MPI_Datatype types[3];
    for (int k = 0; k < n; k++) {
        part[k] = tree_make(depth - 1);
        types[k] = part[k].type;
        lengths[k] = 1 + (int)rnd(2);
        const int e = extent_of(&part[k]);
        places[k] = end + (k > 0 ? 8 * (int)rnd(2) : 0);
        end = (int)places[k] + (lengths[k] * e + 7) / 8 * 8;
        for (int i = 0; i < lengths[k]; i++) tree_put(&t, &part[k], (int)places[k] + i * e);
    }
    MPI_Type_create_struct(n, lengths, places, types, &t.type);
    for (int k = 0; k < n; k++) tree_free(&part[k], depth - 1);
    return t;
}

static tree tree_vector(int depth) {
    tree t = {.n = 0}, of = tree_make(depth - 1);
    const int count = 1 + (int)rnd(2), length = 1 + (int)rnd(2), stride = length + (int)rnd(2);
    const int e = extent_of(&of);
    MPI_Type_vector(count, length, stride, of.type, &t.type);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < length; k++) tree_put(&t, &of, (i * stride + k) * e);
    tree_free(&of, depth - 1);
    return t;
}

static tree tree_make(int depth) {
    if (depth > 0) return depth % 2 == 0 || rnd(3) == 0 ? tree_struct(depth) : tree_vector(depth);
    tree t = {.n = 1};
    t.kind[0] = (int)rnd(KINDS);
    t.type = *kinds[t.kind[0]].type;
    return t;
}

/* Store element `i`; the value fits into every kind of element. */
static void value_put(char *to, int kind, int i) {
    const int v = i % 120 + 1;
    const double x = v;
    const long long whole = v; /* the machine must be little-endian */
    memcpy(to, kind == 4 ? (const void *)&x : (const void *)&whole, (size_t)kinds[kind].native);
}

static int external_bytes(const tree *t, int n) {
    int bytes = 0;
    for (int i = 0; i < n; i++) bytes += kinds[t->kind[i % t->n]].external;
    return bytes;
}

/* Read a file that ends within a value: all complete values are read, and no other bytes change. */
static void tree_cut(MPI_File fh, const tree *t, const char *out, int span) {
    const int total = t->n * COPIES, numbers = (int)rnd((uint64_t)total), e = extent_of(t);
    const int part = kinds[t->kind[numbers % t->n]].external > 1;
    const int bytes = external_bytes(t, numbers);
    char *in = malloc((size_t)span), *expected = malloc((size_t)span);
    int found = -1, native = 0;
    MPI_Status status;
    memset(in, 0x55, (size_t)span);
    memset(expected, 0x55, (size_t)span);
    for (int i = 0; i < numbers; i++) {
        const int at = i / t->n * e + t->at[i % t->n], n = kinds[t->kind[i % t->n]].native;
        memcpy(expected + at, out + at, (size_t)n);
        native += n;
    }
    CHECK_MPI(MPI_File_set_size(fh, bytes + part));
    CHECK_MPI(MPI_File_seek(fh, 0, MPI_SEEK_SET));
    CHECK_MPI(MPI_File_read_all(fh, in, COPIES, t->type, &status));
#ifdef OPEN_MPI /* MPICH 4.0 divides by zero for nested types */
    MPI_Get_elements(&status, t->type, &found);
    CHECK_EQ(found, numbers);
#else
    (void)found;
#endif
    CHECK_EQ(count_of(&status, MPI_BYTE), native);
    CHECK_EQ(position_of(fh), bytes + part);
    CHECK(memcmp(in, expected, (size_t)span) == 0, "%d numbers, %d bytes: other memory", numbers,
          bytes);
    free(in);
    free(expected);
}

static void tree_check(MPI_File fh, const tree *t) {
    const int e = extent_of(t), span = e * COPIES, bytes = external_bytes(t, t->n * COPIES);
    char *out = calloc(1, (size_t)span), *in = calloc(1, (size_t)span),
         *file = malloc((size_t)bytes);
    int wrong = 0, at = 0;
    for (int i = 0; i < t->n * COPIES; i++)
        value_put(out + i / t->n * e + t->at[i % t->n], t->kind[i % t->n], i);
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32");
    CHECK_MPI(MPI_File_set_size(fh, 0));
    CHECK_MPI(MPI_File_write_at(fh, 0, out, rank == 0 ? COPIES : 0, t->type, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_MPI(MPI_File_read_at_all(fh, 0, in, COPIES, t->type, MPI_STATUS_IGNORE));
    CHECK(memcmp(in, out, (size_t)span) == 0, "not what was written");
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native");
    CHECK_EQ(size_of(fh), bytes);
    CHECK_MPI(MPI_File_read_at_all(fh, 0, file, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    for (int i = 0; i < t->n * COPIES; i++) {
        const int kind = t->kind[i % t->n], n = kinds[kind].external;
        char number[8];
        value_put(number, kind, i);
        for (int b = 0; b < n; b++) wrong += file[at + b] != number[n - 1 - b];
        at += n;
    }
    CHECK_EQ(wrong, 0);
    set_view(fh, 0, MPI_BYTE, MPI_BYTE, "external32");
    tree_cut(fh, t, out, span);
    free(out);
    free(in);
    free(file);
}

static void check_random_types(MPI_File fh) {
    static MPI_Datatype types[KINDS];
    const __typeof__(*kinds) all[KINDS] = {{&types[0], 1, 1}, {&types[1], 2, 2}, {&types[2], 4, 4},
                                           {&types[3], 8, 4}, {&types[4], 8, 8}, {&types[5], 8, 8}};
    const MPI_Datatype of[KINDS] = {MPI_CHAR, MPI_SHORT,  MPI_INT,
                                    MPI_LONG, MPI_DOUBLE, MPI_INT64_T};
    static char where[40];
    memcpy(types, of, sizeof of);
    kinds = all;
    for (int i = 0; i < 30; i++) {
        tree t = tree_make(2);
        snprintf(where, sizeof where, "tree %d", i);
        check_where(where);
        MPI_Type_commit(&t.type);
        tree_check(fh, &t);
        tree_free(&t, 1);
    }
    kinds = NULL;
}

int main(int argc, char **argv) {
    test_begin(&argc, &argv);
    MPI_File fh = test_open("external32", MPI_MODE_CREATE | MPI_MODE_RDWR);
    check_numbers(fh);
    check_longs(fh);
    check_calls(fh);
    check_mixed_types(fh);
    check_empty_member(fh);
    check_seed(806);
    check_random_types(fh);
    CHECK_MPI(MPI_File_close(&fh));
    return test_end();
}
