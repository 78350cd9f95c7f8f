/* replicas: the inspector object.
 *
 *   spec of this rank    is checked, and its numbers are sorted
 *   -> join              the rank of a range collects the mentions of its items
 *   -> coverage          check: all items of the file are listed, or positions are given
 *   -> chain             position and writer of every item, over all ranges
 *   -> answer            position and writer are sent to all holders, which make their accesses
 *
 * The ranks agree on their errors after each of these steps.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "replicas/replicas_impl.h"

#include <string.h>

/* ---- the spec of one rank */

/* The spec of this rank, sorted by number, as sent to the directory. */
typedef struct {
    tutti__mention *mentions; /* [n] records for the directory */
    tutti_off *positions;     /* [n]; NULL: no positions are given */
} sorted_spec;

static void free_sorted_spec(sorted_spec *l) {
    tutti__free(l->mentions);
    tutti__free(l->positions);
    *l = (sorted_spec){.mentions = NULL};
}

static tutti_count load_of(const tutti_replicas_spec *s, tutti_count i) {
    return s->loads ? s->loads[i] : s->load;
}

/* Set the offsets and sizes of items in memory; lists are needed only if items are not consecutive
 * or have different sizes. */
static tutti_err set_memory_layout(const tutti_replicas_spec *s, tutti_replicas *r) {
    const size_t n = (size_t)s->n;
    tutti_off at = 0;
    r->n = s->n;
    r->value_bytes = s->value_bytes;
    /* copy_spec has checked that the product does not overflow */
    r->item_bytes = s->n > 0 && !s->loads ? s->load * s->value_bytes : 0;
    if (s->loads) {
        r->sizes = tutti__malloc(n * sizeof *r->sizes);
        if (!r->sizes) return TUTTI_ERR_NOMEM;
        for (tutti_count i = 0; i < s->n; i++) r->sizes[i] = s->loads[i] * s->value_bytes;
    }
    if (!s->loads && !s->memory_offsets) {
        TUTTI_CHECK(s->n == 0 || tutti__mul_ok(s->n, r->item_bytes, &at), TUTTI_ERR_OVERFLOW,
                    "%lld items of %lld bytes exceed 2^62 bytes", (long long)s->n,
                    (long long)r->item_bytes);
        return TUTTI_OK;
    }
    r->memory = tutti__malloc(n * sizeof *r->memory);
    if (!r->memory) return TUTTI_ERR_NOMEM;
    for (tutti_count i = 0; i < s->n; i++) {
        r->memory[i] = s->memory_offsets ? s->memory_offsets[i] : at;
        if (!s->memory_offsets)
            TUTTI_CHECK(tutti__add_ok(at, r->sizes[i], &at), TUTTI_ERR_OVERFLOW,
                        "items 0 to %lld exceed 2^63 bytes", (long long)i);
    }
    return TUTTI_OK;
}

/* Sort the items by number; r->order stays NULL if the numbers are already ascending. */
static tutti_err order_items(const tutti_replicas_spec *s, tutti_replicas *r) {
    tutti__numbered *memory = NULL, *sorted = NULL;
    tutti_count duplicate = 0;
    int is_ascending = 1;
    tutti_err err = tutti__numbers_sort(s->n, s->numbers, &memory, &sorted, &duplicate);
    if (duplicate > 0)
        err = tutti__error_set(TUTTI_ERR_ARG, 0, -1, "duplicate number %lld (items %lld and %lld)",
                               (long long)sorted[duplicate].number,
                               (long long)sorted[duplicate - 1].index,
                               (long long)sorted[duplicate].index);
    for (tutti_count j = 0; j < s->n && err == TUTTI_OK; j++) is_ascending &= sorted[j].index == j;
    if (err == TUTTI_OK && !is_ascending) {
        r->order = tutti__malloc((size_t)s->n * sizeof *r->order);
        if (!r->order) err = TUTTI_ERR_NOMEM;
        for (tutti_count j = 0; j < s->n && r->order; j++) r->order[j] = sorted[j].index;
    }
    tutti__free(memory);
    return err;
}

/* Check the spec and copy all parts of it that are needed later. */
static tutti_err copy_spec(const tutti_replicas_spec *s, tutti_replicas *r, sorted_spec *l) {
    const size_t n = (size_t)s->n;
    const tutti_off most = (tutti_off)1 << 62;
    TUTTI_CHECK(s->n >= 0 && s->n <= PTRDIFF_MAX / 64, TUTTI_ERR_ARG,
                "n is %lld: number of items must be 0 to %lld", (long long)s->n,
                (long long)PTRDIFF_MAX / 64);
    TUTTI_CHECK(s->n == 0 || s->numbers, TUTTI_ERR_ARG, "field numbers is NULL");
    TUTTI_CHECK(s->value_bytes >= 1, TUTTI_ERR_ARG, "value_bytes is %lld: must be >= 1",
                (long long)s->value_bytes);
    TUTTI_CHECK(s->items >= 0, TUTTI_ERR_ARG, "items is %lld: must be >= 0", (long long)s->items);
    TUTTI_CHECK_RESERVED(s, "tutti_replicas_spec");
    TUTTI_TRY(tutti__choice_check(&s->choice, s->own != NULL || s->n == 0));
    for (tutti_count i = 0; i < s->n; i++) {
        const tutti_count load = load_of(s, i);
        TUTTI_CHECK(s->numbers[i] >= 0, TUTTI_ERR_ARG, "item %lld has number %lld: must be >= 0",
                    (long long)i, (long long)s->numbers[i]);
        TUTTI_CHECK(load >= 0, TUTTI_ERR_ARG, "item %lld has load %lld: must be >= 0",
                    (long long)s->numbers[i], (long long)load);
        TUTTI_CHECK(load <= most / s->value_bytes, TUTTI_ERR_OVERFLOW,
                    "item %lld has %lld values of %lld bytes: must be <= 2^62 bytes",
                    (long long)s->numbers[i], (long long)load, (long long)s->value_bytes);
        TUTTI_CHECK(!s->positions ||
                        (s->positions[i] >= 0 && s->positions[i] <= most - load * s->value_bytes),
                    TUTTI_ERR_ARG,
                    "item %lld has position %lld and %lld bytes: must be within [0, 2^62)",
                    (long long)s->numbers[i], (long long)s->positions[i],
                    (long long)(load * s->value_bytes));
    }
    TUTTI_TRY(set_memory_layout(s, r));
    r->position = tutti__malloc(n * sizeof *r->position);
    r->writer = tutti__malloc(n * sizeof *r->writer);
    r->copied = tutti__malloc(n);
    if (!r->position || !r->writer || !r->copied) return TUTTI_ERR_NOMEM;
    TUTTI_TRY(order_items(s, r));
    l->mentions = tutti__malloc(n * sizeof *l->mentions);
    if (s->positions) l->positions = tutti__malloc(n * sizeof *l->positions);
    if (!l->mentions || (s->positions && !l->positions)) return TUTTI_ERR_NOMEM;
    for (tutti_count j = 0; j < s->n; j++) {
        const tutti_count i = tutti__replicas_item(r, j);
        l->mentions[j] = (tutti__mention){s->numbers[i], load_of(s, i), s->own && s->own[i]};
        if (s->positions) l->positions[j] = s->positions[i];
    }
    return TUTTI_OK;
}

/* ---- agreement */

static uint64_t hash_choice(const tutti_replicas_spec *s) {
    const int64_t words[] = {s->value_bytes, s->choice.rule, (int64_t)s->choice.seed, s->items};
    const uint64_t h = tutti__hash(TUTTI__HASH_START, words, sizeof words);
    return tutti__hash(h, &s->choice.balance, sizeof s->choice.balance);
}

/* Optional fields of the spec, which must be NULL on all ranks that hold items or on none of these
 * ranks. */
enum { OWNERS, POSITIONS, OPTIONALS };

/* First agreement: on the errors of all ranks, on value_bytes, the choice and items, and on which
 * optional fields are given. */
static tutti_err agree_on_create(tutti__team *t, const tutti_replicas_spec *s, tutti_err local_err,
                                 int given_out[OPTIONALS]) {
    tutti__range given[OPTIONALS] = {tutti__range_none(), tutti__range_none()};
    const tutti__call call = {.object = tutti__replicas_class.name,
                              .name = "create",
                              .what = "value_bytes, items, or the choice",
                              .hash = local_err == TUTTI_OK ? hash_choice(s) : 0,
                              .ranges = OPTIONALS,
                              .range = given};
    if (local_err == TUTTI_OK && s->n > 0) {
        given[OWNERS] = (tutti__range){s->own != NULL, s->own != NULL};
        given[POSITIONS] = (tutti__range){s->positions != NULL, s->positions != NULL};
    }
    TUTTI_TRY(tutti__team_call(t, &call, local_err));
    TUTTI_CHECK(given[OWNERS].min >= given[OWNERS].max, TUTTI_ERR_MISMATCH,
                "field own is NULL on some ranks only");
    TUTTI_CHECK(given[POSITIONS].min >= given[POSITIONS].max, TUTTI_ERR_MISMATCH,
                "field positions is NULL on some ranks only");
    for (int k = 0; k < OPTIONALS; k++) given_out[k] = given[k].min == 1 && given[k].max == 1;
    return TUTTI_OK;
}

/* Determine position and writer of each item from the specs of all ranks. */
static tutti_err inspect_items(tutti_replicas *r, const tutti_replicas_spec *s,
                               const sorted_spec *l, const int given[OPTIONALS]) {
    tutti__team *t = r->team;
    tutti__join j = {.record = NULL};
    tutti__range_items g = {.m = 0};
    tutti__verdict *out = NULL, *in = NULL;
    tutti_off position = 0;
    TUTTI_TRY(tutti__join_make(t, TUTTI_OK, (int)sizeof *l->mentions, s->n, l->mentions, &j));
    tutti_err err = tutti__range_group(&j, "item", s->value_bytes, given[OWNERS], &g);
    if (err == TUTTI_OK) err = tutti__range_shared(&g, &r->shared);
    err = tutti__team_agree(t, err);
    if (err == TUTTI_OK && given[POSITIONS])
        err = tutti__coverage_positions(t, &j.directory, l->positions, s->value_bytes, &g);
    if (err == TUTTI_OK) err = tutti__coverage_check(t, &g, s->items, r);
    if (err == TUTTI_OK)
        err = tutti__chain_choose(t, &s->choice, &g, &r->stats, &r->shares, &position);
    if (err == TUTTI_OK && !given[POSITIONS]) r->end = r->stats.bytes;
    if (err == TUTTI_OK) {
        out = tutti__malloc((size_t)g.m * sizeof *out);
        if (out) tutti__range_verdicts(&g, position, out);
        err = tutti__join_answer(t, out ? TUTTI_OK : TUTTI_ERR_NOMEM, &j, (int)sizeof *out, out,
                                 (void **)&in);
    }
    for (tutti_count k = 0; k < s->n && err == TUTTI_OK; k++) {
        const tutti_count i = tutti__replicas_item(r, k);
        r->position[i] = in[k].position;
        r->writer[i] = in[k].writer;
        r->copied[i] = (unsigned char)in[k].copied;
    }
    tutti__free(out);
    tutti__free(in);
    tutti__range_free(&g);
    if (err == TUTTI_OK) {
        r->directory = j.directory;
        j.directory = (tutti__directory){.ranks = 0};
    }
    tutti__join_free(&j);
    return err;
}

/* ---- accesses */

/* Make the access of the items with this writer (-1: of all items), by ascending position;
 * consecutive items are merged.   v: memory, [3 n] */
static tutti_err make_access(const tutti_replicas *r, int writer, tutti_off *v,
                             tutti_access **out) {
    tutti_off *file = v, *memory = v + r->n, *lengths = memory + r->n;
    tutti_count n = 0;
    for (tutti_count j = 0; j < r->n; j++) {
        const tutti_count i = tutti__replicas_item(r, j);
        const tutti_off bytes = tutti__replicas_size(r, i), at = tutti__replicas_memory(r, i);
        if (bytes == 0 || (writer >= 0 && r->writer[i] != writer)) continue;
        if (n > 0 && tutti__follows(file[n - 1], lengths[n - 1], r->position[i]) &&
            tutti__follows(memory[n - 1], lengths[n - 1], at)) {
            lengths[n - 1] += bytes;
            continue;
        }
        file[n] = r->position[i];
        memory[n] = at;
        lengths[n++] = bytes;
    }
    return tutti_access_pieces(n, file, memory, lengths, out);
}

/* ---- the object */

const tutti__class tutti__replicas_class = {"replicas", "inspector", "freed"};

static void free_replicas(tutti_replicas *r) {
    TUTTI_KEEP_LAST_ERROR;
    void *const all[] = {r->sizes,        r->memory,        r->order,  r->position,
                         r->writer,       r->copied,        r->shares, r->shared.number,
                         r->shared.start, r->shared.mention};
    tutti__team_give(&r->team);
    tutti_access_free(&r->writes);
    tutti_access_free(&r->reads);
    tutti__directory_free(&r->directory);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) tutti__free(all[i]);
    tutti__free(r);
}

tutti_err tutti_replicas_create(MPI_Comm comm, const tutti_replicas_spec *spec,
                                tutti_replicas **r_out) {
    TUTTI_KEEP_ERRNO;
    tutti__team *team = NULL;
    tutti_replicas *r = NULL;
    sorted_spec l = {.mentions = NULL};
    int given[OPTIONALS] = {0};
    TUTTI_TRY(tutti__comm_usable(comm));
    TUTTI_TRY(tutti__team_take(comm, "", &team));
    tutti_err err = TUTTI_OK;
    if (!spec || !r_out)
        err =
            tutti__error_set(TUTTI_ERR_ARG, 0, -1, "argument %s is NULL", spec ? "r_out" : "spec");
    if (err == TUTTI_OK && !(r = tutti__calloc(1, sizeof *r))) err = TUTTI_ERR_NOMEM;
    if (err == TUTTI_OK) err = copy_spec(spec, r, &l);
    err = agree_on_create(team, spec, err, given);
    if (err == TUTTI_OK) {
        TUTTI_ASSERT(r && spec && r_out);
        r->team = team;
        team = NULL;
        err = inspect_items(r, spec, &l, given);
        free_sorted_spec(&l);
        if (err == TUTTI_OK) {
            tutti_off *v = tutti__malloc((size_t)r->n * 3 * sizeof *v);
            tutti_err local_err =
                v ? make_access(r, r->team->rank, v, &r->writes) : TUTTI_ERR_NOMEM;
            if (local_err == TUTTI_OK) local_err = make_access(r, -1, v, &r->reads);
            tutti__free(v);
            err = tutti__team_agree(r->team, local_err);
        }
    }
    free_sorted_spec(&l);
    if (err == TUTTI_OK) {
        /* inspectors of one communicator have different teams */
        const int64_t words[] = {r->team->id, r->stats.items, r->stats.copies, r->stats.bytes,
                                 r->stats.intervals};
        r->id = tutti__hash(hash_choice(spec), words, sizeof words);
        tutti__handle_add(&r->handle, &tutti__replicas_class);
        TUTTI_ASSERT(tutti__replicas_is_valid(r));
        *r_out = r;
        return TUTTI_OK;
    }
    tutti__error_context("replicas", NULL, -1);
    if (r) free_replicas(r);
    tutti__team_give(&team);
    return err;
}

int tutti__replicas_is_valid(const tutti_replicas *r) {
    tutti_off writes = 0, reads = 0;
    if (r->handle.class != &tutti__replicas_class || !r->team || !r->shares) return 0;
    if (r->n < 0 || r->value_bytes < 1 || r->item_bytes < 0 || r->missing < -1) return 0;
    if (r->sizes && (!r->memory || r->item_bytes > 0)) return 0;
    if (!r->position || !r->writer || !r->copied || !r->writes || !r->reads) return 0;
    if (r->stats.ranks != r->team->size || r->directory.ranks != r->team->size) return 0;
    if (r->directory.n != r->n || r->shared.n > r->directory.m) return 0;
    for (tutti_count j = 0; j < r->n; j++) {
        const tutti_count i = tutti__replicas_item(r, j);
        const tutti_off bytes = i >= 0 && i < r->n ? tutti__replicas_size(r, i) : -1;
        if (bytes < 0 || (bytes > 0 && (r->writer[i] < 0 || r->writer[i] >= r->team->size)))
            return 0;
        if (bytes > 0 && (r->position[i] < 0 || r->position[i] > r->end - bytes)) return 0;
        reads += bytes;
        if (r->writer[i] == r->team->rank) writes += bytes;
    }
    return tutti_access_bytes(r->reads) == reads && tutti_access_bytes(r->writes) == writes &&
           r->shares[r->team->rank].bytes == writes;
}

void tutti_replicas_free(tutti_replicas **r) {
    TUTTI_KEEP_ERRNO;
    if (!r || !*r) return;
    if (tutti__handle_alive(*r, &tutti__replicas_class)) {
        tutti__handle_remove(&(*r)->handle);
        free_replicas(*r);
    }
    *r = NULL;
}

tutti_err tutti__replicas_live(const tutti_replicas *r) {
    if (!r) TUTTI_TRY(tutti__error_refused());
    TUTTI_TRY(tutti__object_live(r, &tutti__replicas_class));
    TUTTI_ASSERT(tutti__replicas_is_valid(r));
    return TUTTI_OK;
}

/* ---- queries */

const tutti_access *tutti_replicas_write_access(const tutti_replicas *r) {
    return tutti__handle_alive(r, &tutti__replicas_class) ? r->writes : NULL;
}

const tutti_access *tutti_replicas_read_access(const tutti_replicas *r) {
    return tutti__handle_alive(r, &tutti__replicas_class) ? r->reads : NULL;
}

const tutti_off *tutti_replicas_positions(const tutti_replicas *r) {
    return tutti__handle_alive(r, &tutti__replicas_class) ? r->position : NULL;
}

const int *tutti_replicas_writers(const tutti_replicas *r) {
    return tutti__handle_alive(r, &tutti__replicas_class) ? r->writer : NULL;
}

tutti_off tutti_replicas_bytes(const tutti_replicas *r) {
    return tutti__handle_alive(r, &tutti__replicas_class) ? r->stats.bytes : 0;
}

tutti_err tutti_replicas_stats_sized(const tutti_replicas *r, tutti_replicas_stats *out,
                                     size_t struct_size) {
    TUTTI_TRY(tutti__replicas_live(r));
    return tutti__stats_give(&r->stats, out, struct_size);
}

tutti_err tutti_replicas_share_get(const tutti_replicas *r, int rank, tutti_replicas_share *out) {
    TUTTI_TRY(tutti__replicas_live(r));
    TUTTI_CHECK(rank >= 0 && rank < r->stats.ranks, TUTTI_ERR_ARG, "rank is %d: must be 0 to %d",
                rank, r->stats.ranks - 1);
    TUTTI_CHECK(out, TUTTI_ERR_ARG, "argument out is NULL");
    *out = r->shares[rank];
    return TUTTI_OK;
}
