/* Describe a datatype as text, for messages: its constructors with their arguments, from the outermost to the
 * innermost.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_DESCRIBE_H
#define TUTTI_TESTS_DESCRIBE_H

#include <mpi.h>
#include <stdio.h>

enum { DESCRIBE_MAX = 64 };

static inline const char *combiner_name(int c) {
    static const struct {
        int value;
        const char *name;
    } table[] = {
        {MPI_COMBINER_DUP, "dup"},
        {MPI_COMBINER_CONTIGUOUS, "contiguous"},
        {MPI_COMBINER_VECTOR, "vector"},
        {MPI_COMBINER_HVECTOR, "hvector"},
        {MPI_COMBINER_INDEXED, "indexed"},
        {MPI_COMBINER_HINDEXED, "hindexed"},
        {MPI_COMBINER_INDEXED_BLOCK, "indexed_block"},
        {MPI_COMBINER_HINDEXED_BLOCK, "hindexed_block"},
        {MPI_COMBINER_STRUCT, "struct"},
        {MPI_COMBINER_SUBARRAY, "subarray"},
        {MPI_COMBINER_DARRAY, "darray"},
        {MPI_COMBINER_RESIZED, "resized"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].value == c) return table[i].name;
    return "other";
}

static inline void describe_type(FILE *out, MPI_Datatype t) {
    int n[3], combiner, ints[DESCRIBE_MAX], length;
    MPI_Aint places[DESCRIBE_MAX];
    MPI_Datatype types[DESCRIBE_MAX];
    char name[MPI_MAX_OBJECT_NAME];
    if (MPI_Type_get_envelope(t, &n[0], &n[1], &n[2], &combiner) != MPI_SUCCESS) {
        fprintf(out, "large");
        return;
    }
    if (combiner == MPI_COMBINER_NAMED) {
        MPI_Type_get_name(t, name, &length);
        fprintf(out, "%s", name);
        return;
    }
    fprintf(out, "%s", combiner_name(combiner));
    for (int i = 0; i < 3; i++)
        if (n[i] > DESCRIBE_MAX) return;
    if (n[2] == 0) return;
    MPI_Type_get_contents(t, n[0], n[1], n[2], ints, places, types);
    fprintf(out, "(");
    for (int i = 0; i < n[0]; i++) fprintf(out, "%d ", ints[i]);
    for (int i = 0; i < n[1]; i++) fprintf(out, "%lldB ", (long long)places[i]);
    for (int i = 0; i < n[2]; i++) {
        describe_type(out, types[i]);
        if (i + 1 < n[2]) fprintf(out, ", ");
        MPI_Type_get_envelope(types[i], &ints[0], &ints[1], &ints[2], &combiner);
        if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&types[i]);
    }
    fprintf(out, ")");
}

#endif
