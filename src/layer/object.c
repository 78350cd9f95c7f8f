/* layer: objects on a communicator.  comm/call.c implements the protocol of collective calls; this
 * file adds names, paths and teams.
 * SPDX-License-Identifier: BSD-3-Clause */
#include "layer/object.h"

tutti_err tutti__object_live(const void *object, const tutti__class *class) {
    TUTTI_TRY(tutti__handle_check(object, class));
    return tutti__mpi_is_up();
}

tutti_err tutti__object_error(const tutti__object *o, const char *operation, tutti_err err) {
    if (err != TUTTI_OK) tutti__error_context(operation, o->path, -1);
    return err;
}

tutti_err tutti__object_call(const tutti__object *o, const tutti__call *c, tutti_err local_err) {
    tutti__call call = *c;
    if (!call.object) call.object = o->handle.class->name;
    return tutti__object_error(o, c->name, tutti__team_call(o->team, &call, local_err));
}

tutti_err tutti__object_begin(MPI_Comm comm, const tutti__class *class, const tutti__call *c,
                              const char *path, tutti_err local_err, tutti__team **team_out) {
    const tutti_error_info local = *tutti_last_error();
    tutti__object o = {.handle.class = class};
    tutti__range paths = tutti__range_of((int64_t)tutti__hash_text(TUTTI__HASH_START, path));
    tutti__call call = *c;
    call.hash = tutti__hash_text(c->hash, path);
    call.ranges = 1;
    call.range = &paths;
    TUTTI_TRY(tutti__comm_usable(comm));
    TUTTI_TRY(tutti__team_take(comm, "", &o.team));
    if (local_err != TUTTI_OK) {
        tutti__error_assign(&local);
        tutti__error_context(c->name, path, -1);
    }
    const tutti_err err = tutti__object_call(&o, &call, local_err);
    if (err == TUTTI_OK) {
        *team_out = o.team;
        return TUTTI_OK;
    }
    if (paths.min == paths.max) tutti__error_context(NULL, path, -1);
    tutti__team_give(&o.team);
    return err;
}

tutti_err tutti__object_options(const tutti_options *opt, tutti_options *out) {
    return opt ? tutti__options_take(opt, out) : tutti_options_init(out);
}

tutti_err tutti__on_root(tutti__team *t, tutti__root_fn *fn, void *context) {
    return tutti__team_agree(t, t->rank == 0 ? fn(context) : TUTTI_OK);
}

tutti_err tutti__on_root_share(tutti__team *t, tutti__root_fn *fn, void *context, void *data,
                               int bytes) {
    TUTTI_TRY(tutti__on_root(t, fn, context));
    return tutti__team_broadcast(t, data, bytes);
}
