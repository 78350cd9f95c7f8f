/* Linked into the programs of sanitizer builds: plugins stay mapped to the end.
 * An MPI loads and unloads plugins; a leak in one that is gone has no module name any more, so that
 * no suppression can tell it from a leak of ours.  With dlclose() doing nothing, lsan.supp can.
 * SPDX-License-Identifier: BSD-3-Clause */
int dlclose(void *handle);

int dlclose(void *handle) {
    (void)handle;
    return 0;
}
