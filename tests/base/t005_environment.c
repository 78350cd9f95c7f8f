/* TEST ranks=0 timeout=60 */
/* Options from the environment: every variable, invalid values, variables of other programs.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "base/options_impl.h"
#include "check.h"

static void variable_of(const char *name, char out[64]) {
    snprintf(out, 64, "TUTTI_%s", name);
    for (char *c = out; *c; ++c) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
}

static void clear_all(void) {
    char variable[64];
    for (int i = 0; tutti_options_row(i); ++i) {
        variable_of(tutti_options_row(i)->name, variable);
        unsetenv(variable);
    }
}

static void test_each_variable(void) {
    for (int i = 0; tutti_options_row(i); ++i) {
        const tutti_option_info *row = tutti_options_row(i);
        const char *value = strcmp(row->type, "CHOICE") == 0 ? strrchr(row->choices, '|') + 1
                            : strcmp(row->type, "BOOL") == 0 ? "true"
                                                             : "128";
        tutti_options opt, expected;
        char variable[64];
        if (strcmp(row->name, "sub_buffers") == 0 || strcmp(row->name, "step") == 0) value = "3";
        if (strcmp(row->name, "cb_buffer_size") == 0) value = "128k";
        variable_of(row->name, variable);
        setenv(variable, value, 1);
        CHECK_OK(tutti_options_init(&opt));
        unsetenv(variable);
        tutti_options_defaults(&expected);
        CHECK(memcmp(&opt, &expected, sizeof opt) != 0, "%s", variable);
        CHECK_OK(tutti_options_set(&expected, row->name, value));
        CHECK(memcmp(&opt, &expected, sizeof opt) == 0, "%s", variable);
    }
}

static void test_bad_values(void) {
    tutti_options opt;
    setenv("TUTTI_METHOD", "fastest", 1);
    setenv("TUTTI_CB_NODES", "4", 1);
    setenv("TUTTI_SUB_BUFFERS", "0", 1);
    CHECK_ERR(tutti_options_init(&opt), TUTTI_ERR_OPTION);
    CHECK(strstr(tutti_last_message(), "TUTTI_METHOD") && strstr(tutti_last_message(), "fastest"),
          "%s", tutti_last_message());
    CHECK_EQ(opt.method, TUTTI_METHOD_AUTO);
    CHECK_EQ(opt.cb_nodes, 4);
    CHECK_EQ(opt.sub_buffers, 2);
    CHECK_OK(tutti__options_check(&opt));
    clear_all();
}

static void test_ignored(void) {
    tutti_options opt, defaults;
    setenv("TUTTI_TEST_SOMETHING", "1", 1);
    setenv("TUTTI_", "1", 1);
    setenv("TUTTI_STORE", "", 1);
    setenv("METHOD", "list", 1);
    CHECK_OK(tutti_options_init(&opt));
    tutti_options_defaults(&defaults);
    CHECK(memcmp(&opt, &defaults, sizeof opt) == 0);
    setenv("TUTTI_METHOD", "list", 1);
    tutti_options_defaults(&opt);
    CHECK_EQ(opt.method, TUTTI_METHOD_AUTO);
    clear_all();
}

int main(void) {
    clear_all();
    test_each_variable();
    test_bad_values();
    test_ignored();
    CHECK_ERR(tutti_options_init(NULL), TUTTI_ERR_ARG);
    return check_done();
}
