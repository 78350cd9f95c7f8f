/* TEST ranks=0 timeout=60 */
/* Options from text: every form of key and value, round trips, and invalid ones change nothing.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <limits.h>
#include "base/options_impl.h"
#include "check.h"

static void good(const char *key, const char *value, const char *expected) {
    tutti_options opt;
    char text[128];
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, key, value));
    CHECK_OK(tutti_options_get(&opt, key, text, sizeof text));
    CHECK(strcmp(text, expected) == 0, "%s=%s became %s, not %s", key, value, text, expected);
    CHECK_OK(tutti__options_check(&opt));
}

static void bad(const char *key, const char *value, tutti_err code) {
    tutti_options opt, before;
    memset(&opt, 0x55, sizeof opt); /* refused texts must not change any byte */
    opt.struct_size = sizeof opt;
    before = opt;
    CHECK_ERR(tutti_options_set(&opt, key, value), code);
    CHECK(memcmp(&opt, &before, sizeof opt) == 0, "%s=%s", key, value);
    if (key && value && strlen(value) < 100) {
        const int tells = strstr(tutti_last_message(), key) != NULL;
        CHECK(tells, "%s is not in: %s", key, tutti_last_message());
    }
}

static void test_defaults(void) {
    tutti_options opt;
    tutti_options_defaults(&opt);
    CHECK_EQ(opt.method, TUTTI_METHOD_AUTO);
    CHECK_EQ(opt.cb_buffer_size, 16 << 20);
    CHECK_EQ(opt.sub_buffers, 2);
    CHECK_EQ(opt.queue_depth, 64);
    CHECK_EQ(opt.nodes[0], '\0');
    CHECK_OK(tutti__options_check(&opt));
    for (int i = 0; tutti_options_row(i); ++i) { /* the text of the default sets the default */
        tutti_options copy = opt;
        const tutti_option_info *row = tutti_options_row(i);
        CHECK_OK(tutti_options_set(&copy, row->name, row->def));
        CHECK(memcmp(&copy, &opt, sizeof opt) == 0, "%s", row->name);
        CHECK(*row->help != '\0', "%s", row->name);
        CHECK_EQ(strcmp(row->type, "CHOICE") == 0, *row->choices != '\0');
    }
    CHECK(tutti_options_row(-1) == NULL && tutti_options_row(1000) == NULL);
    for (int i = 0; tutti_options_row(i); i++) {
        const tutti_option_info *row = tutti_options_row(i);
        if (strcmp(row->name, "cb_buffer_size") != 0) continue;
        CHECK(strcmp(row->def, "16m") == 0, "%s", row->def);
    }
}

/* Return a valid value that differs from the default. */
static const char *other_value(const tutti_option_info *row) {
    static char choice[64];
    if (strcmp(row->type, "CHOICE") == 0) {
        snprintf(choice, sizeof choice, "%s", strrchr(row->choices, '|') + 1);
        return choice;
    }
    if (strcmp(row->type, "BOOL") == 0) return strcmp(row->def, "true") == 0 ? "false" : "true";
    if (strcmp(row->type, "INT") == 0) return "5";
    return strcmp(row->type, "SIZE") == 0 ? "1048576000" : "some text";
}

static void test_round_trips(void) {
    for (int i = 0; tutti_options_row(i); ++i) {
        const tutti_option_info *row = tutti_options_row(i);
        const char *value = strcmp(row->name, "direct_align") == 0 ? "8192" : other_value(row);
        char key[64], aliases[128], *rest = aliases;
        good(row->name, value, value);
        snprintf(key, sizeof key, "tutti_%s", row->name);
        good(key, value, value);
        for (char *c = key; *c; ++c) *c = *c == '_' ? '-' : *c;
        good(key, value, value);
        good(key + 6, value, value);
        for (char *c = key; *c; ++c) *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        good(key, value, value);
        snprintf(aliases, sizeof aliases, "%s", row->alias);
        for (char *alias; (alias = strsep(&rest, "|"));)
            if (*alias) good(alias, value, value);
    }
}

static void test_choices(void) {
    for (int i = 0; tutti_options_row(i); ++i) {
        char names[128], *rest = names;
        snprintf(names, sizeof names, "%s", tutti_options_row(i)->choices);
        for (char *name; (name = strsep(&rest, "|"));)
            if (*name) good(tutti_options_row(i)->name, name, name);
    }
    good("method", "Two_Phase", "two-phase");
    good("method", " sieve\t", "sieve");
    bad("method", "", TUTTI_ERR_OPTION);
    bad("method", "aut", TUTTI_ERR_OPTION);
    bad("method", "auto|list", TUTTI_ERR_OPTION);
    bad("method", "list sieve", TUTTI_ERR_OPTION);
    bad("store", "two-phase", TUTTI_ERR_OPTION);
    CHECK(strstr(tutti_last_message(), "auto|posix|uring"), "%s", tutti_last_message());
}

static void test_bools(void) {
    static const char *const yes[] = {"true", "1", "yes", "on", "enable", "TRUE", "On"};
    static const char *const no[] = {"false", "0", "no", "off", "disable", "No", "DISABLE"};
    for (int i = 0; i < 7; ++i) {
        good("check", yes[i], "true");
        good("romio_ds_write", yes[i], "true");
        good("explain", no[i], "false");
    }
    good("romio_ds_write", "automatic", "false");
    bad("check", "", TUTTI_ERR_OPTION);
    bad("check", "2", TUTTI_ERR_OPTION);
    bad("check", "maybe", TUTTI_ERR_OPTION);
}

static void test_sizes(void) {
    good("direct_run", "0", "0");
    good("direct_run", "512", "512");
    good("direct_run", "512B", "512");
    good("direct_run", "3k", "3072");
    good("direct_run", "3K", "3072");
    good("direct_run", "3kb", "3072");
    good("direct_run", "3KiB", "3072");
    good("direct_run", "5m", "5242880");
    good("direct_run", "5MiB", "5242880");
    good("direct_run", "2g", "2147483648");
    good("direct_run", "2GB", "2147483648");
    good("direct_run", "4T", "4398046511104");
    good("direct_run", " 64k ", "65536");
    good("direct_run", "9223372036854775807", "9223372036854775807");
    good("direct_run", "8388607t", "9223370937343148032");
    static const char *const wrong[] = {"",
                                        "k",
                                        "-1",
                                        "+1",
                                        "1.5m",
                                        "1 k",
                                        "1kk",
                                        "1ib",
                                        "1x",
                                        "0x10",
                                        "1kB.",
                                        "B",
                                        "8388608t",
                                        "9223372036854775808",
                                        "99999999999999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
        bad("direct_run", wrong[i], TUTTI_ERR_OPTION);
}

static void test_ranges(void) {
    good("sub_buffers", "1", "1");
    good("sub_buffers", "16", "16");
    bad("sub_buffers", "0", TUTTI_ERR_OPTION);
    bad("sub_buffers", "17", TUTTI_ERR_OPTION);
    CHECK(strstr(tutti_last_message(), "from 1 to 16"), "%s", tutti_last_message());
    bad("queue_depth", "0", TUTTI_ERR_OPTION);
    good("io_threads", "256", "256");
    bad("io_threads", "0", TUTTI_ERR_OPTION);
    bad("io_threads", "257", TUTTI_ERR_OPTION);
    good("cb_buffer_size", "64k", "65536");
    bad("cb_buffer_size", "65535", TUTTI_ERR_OPTION);
    bad("sieve_size", "0", TUTTI_ERR_OPTION);
    good("direct_align", "0", "0");
    good("direct_align", "4k", "4096");
    bad("direct_align", "3k", TUTTI_ERR_OPTION);
    good("cb_nodes", "2147483647", "2147483647");
    bad("cb_nodes", "2147483648", TUTTI_ERR_OPTION);
    bad("cb_nodes", "-1", TUTTI_ERR_OPTION);
    bad("cb_nodes", "4k", TUTTI_ERR_OPTION);
}

static void test_texts(void) {
    char text[129];
    memset(text, 'x', sizeof text);
    text[128] = '\0';
    bad("trace", text, TUTTI_ERR_OPTION);
    text[127] = '\0';
    good("trace", text, text);
    good("trace", " a b ", " a b ");
    good("fault", "", "");
}

static void test_romio_switches(void) {
    tutti_options opt;
    char text[32];
    tutti_options_defaults(&opt);
    CHECK_OK(tutti_options_set(&opt, "romio_cb_write", "enable"));
    CHECK_OK(tutti_options_set(&opt, "ROMIO_CB_READ", " Disable "));
    CHECK_EQ(opt.method, TUTTI_METHOD_TWO_PHASE);
    CHECK_EQ(opt.method_read, TUTTI_METHOD_INDEPENDENT);
    CHECK_OK(tutti_options_get(&opt, "romio_cb_write", text, sizeof text));
    CHECK(strcmp(text, "enable") == 0, "%s", text);
    CHECK_OK(tutti_options_get(&opt, "romio_cb_read", text, sizeof text));
    CHECK(strcmp(text, "disable") == 0, "%s", text);
    CHECK_OK(tutti_options_set(&opt, "romio_cb_write", "automatic"));
    CHECK_EQ(opt.method, TUTTI_METHOD_AUTO);
    CHECK_OK(tutti_options_get(&opt, "romio_cb_write", text, sizeof text));
    CHECK(strcmp(text, "automatic") == 0, "%s", text);
    bad("romio_cb_write", "true", TUTTI_ERR_OPTION);
    bad("romio_cb_write", "", TUTTI_ERR_OPTION);
}

static void test_bad_keys(void) {
    static const char *const wrong[] = {"",
                                        "tutti_",
                                        "tutti",
                                        "metho",
                                        "methods",
                                        "tutti_tutti_method",
                                        "method ",
                                        "|",
                                        "direct_write|direct_read",
                                        "tutti_romio_ds_write"};
    tutti_options opt;
    char text[16] = "junk";
    tutti_options_defaults(&opt);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        bad(wrong[i], "auto", TUTTI_ERR_OPTION);
        CHECK_ERR(tutti_options_get(&opt, wrong[i], text, sizeof text), TUTTI_ERR_OPTION);
        CHECK_EQ(text[0], '\0');
    }
    bad(NULL, "auto", TUTTI_ERR_ARG);
    bad("method", NULL, TUTTI_ERR_ARG);
    CHECK_ERR(tutti_options_set(NULL, "method", "auto"), TUTTI_ERR_ARG);
}

static void test_get_room(void) {
    tutti_options opt;
    char text[8] = "1234567";
    tutti_options_defaults(&opt);
    CHECK_ERR(tutti_options_get(&opt, "cb_buffer_size", text, sizeof text), TUTTI_ERR_ARG);
    CHECK(strcmp(text, "1677721") == 0, "%s", text);
    CHECK_OK(tutti_options_get(&opt, "method", text, 5));
    CHECK_ERR(tutti_options_get(&opt, "method", text, 4), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_options_get(&opt, "method", text, 0), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_options_get(&opt, "method", NULL, 5), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_options_get(NULL, "method", text, 5), TUTTI_ERR_ARG);
    CHECK_ERR(tutti_options_get(&opt, NULL, text, 5), TUTTI_ERR_ARG);
}

/* Invalid values that a program has stored directly in fields are refused. */
static void test_check(void) {
    tutti_options opt;
    char text[64];
    tutti_options_defaults(&opt);
    opt.method = 77;
    CHECK_ERR(tutti__options_check(&opt), TUTTI_ERR_OPTION);
    CHECK(strstr(tutti_last_message(), "method") && strstr(tutti_last_message(), "77"));
    CHECK_ERR(tutti_options_get(&opt, "method", text, sizeof text), TUTTI_ERR_OPTION);
    tutti_options_defaults(&opt);
    opt.sub_buffers = 0;
    CHECK_ERR(tutti__options_check(&opt), TUTTI_ERR_OPTION);
    tutti_options_defaults(&opt);
    memset(opt.nodes, 'x', sizeof opt.nodes);
    CHECK_ERR(tutti__options_check(&opt), TUTTI_ERR_OPTION);
    CHECK_ERR(tutti_options_get(&opt, "nodes", text, sizeof text), TUTTI_ERR_OPTION);
}

int main(void) {
    test_defaults();
    test_round_trips();
    test_choices();
    test_bools();
    test_sizes();
    test_ranges();
    test_texts();
    test_romio_switches();
    test_bad_keys();
    test_get_room();
    test_check();
    return check_done();
}
