/* Writes Exodus files as written by other programs (corpus.h) into a directory, which must exist.
 *
 *     corpus_writer DIR      writes DIR/libmesh.e, DIR/libmesh.e-s002, DIR/moose.e ... and prints their names
 *     corpus_writer --list   prints the names, followed by ` refused` if open must refuse the file
 *
 * SPDX-License-Identifier: BSD-3-Clause */
#include "exodus/corpus.h"

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: corpus_writer DIR | --list\n");
        return 2;
    }
    if (strcmp(argv[1], "--list") != 0) corpus_write(argv[1]);
    for (int i = 0; i < CORPUS_FILES; i++)
        printf("%s%s\n", corpus_files[i].file, corpus_files[i].refused ? " refused" : "");
    return 0;
}
