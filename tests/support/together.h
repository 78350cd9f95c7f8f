/* The list of the tests of one program of tests/support/together.c, which cmake/TuttiTests.cmake writes.
 * SPDX-License-Identifier: BSD-3-Clause */
#ifndef TUTTI_TESTS_TOGETHER_H
#define TUTTI_TESTS_TOGETHER_H

typedef struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *args; /* arguments, separated by commas */
} together_test;

extern const together_test together_tests[]; /* terminated by the name NULL */

#endif
