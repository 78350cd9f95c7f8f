/* store: the layout of a file as reported by the file system: block, stripe, alignment for
 * O_DIRECT, and whether clients have their own caches.
 *
 * The block is at least a page, since processes that write parts of one page wait for each
 * other.  Stripes are known for Lustre (from its extended attribute) and GPFS (its nodes lock
 * file system blocks).
 * SPDX-License-Identifier: BSD-3-Clause */
#include "store/fdfile.h"
#include "base/memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LUSTRE_MAGIC 0x0bd00bd0u
#define GPFS_MAGIC 0x47504653u
#define FUSE_MAGIC 0x65735546u
#define NFS_MAGIC 0x6969u
#define CEPH_MAGIC 0x00c36400u
#define SMB2_MAGIC 0xfe534d42u
#define CIFS_MAGIC 0xff534d42u
#define AFS_MAGIC 0x5346414fu
#define V9FS_MAGIC 0x01021997u
#define LARGEST_BLOCK ((tutti_off)1 << 30)

#ifndef STATX_DIOALIGN
#define STATX_DIOALIGN 0x2000u
#endif

/* The fields for O_DIRECT are newer than struct statx of many C libraries: their offsets are
 * fixed by the kernel's interface. */
#define DIO_MEM_ALIGN_AT 152
#define DIO_OFFSET_ALIGN_AT 156

static uint32_t u32_at(const void *bytes, size_t at) {
    uint32_t v;
    memcpy(&v, (const char *)bytes + at, sizeof v);
    return v;
}

static tutti_off direct_align(const struct statx *sx) {
    if (!(sx->stx_mask & STATX_DIOALIGN)) return 0;
    const tutti_off memory = u32_at(sx, DIO_MEM_ALIGN_AT), offset = u32_at(sx, DIO_OFFSET_ALIGN_AT);
    const tutti_off both = tutti__max(memory, offset);
    return memory > 0 && offset > 0 && (both > 0 && (both & (both - 1)) == 0) ? both : 0;
}

/* Return the stripe size.  For plain layouts (versions 1 and 3) the attribute has magic, pattern,
 * 16 bytes of identity, stripe size.  Composite layouts begin differently; for them 1 MiB, the
 * default of Lustre, is correct or a divisor of the stripe size. */
static tutti_off lustre_stripe(int fd) {
    char lov[4096];
    const tutti_off otherwise = 1 << 20;
    const ssize_t n = fgetxattr(fd, "lustre.lov", lov, sizeof lov);
    if (n < 28) return otherwise;
    const uint32_t magic = u32_at(lov, 0), stripe = u32_at(lov, 24);
    if (magic != 0x0bd10bd0u && magic != 0x0bd30bd0u) return otherwise;
    return stripe >= 4096 && stripe <= LARGEST_BLOCK ? (tutti_off)stripe : otherwise;
}

void tutti__layout_find(int fd, tutti_store_layout *layout) {
    struct statx sx;
    const tutti_off page = sysconf(_SC_PAGESIZE);
    *layout = (tutti_store_layout){.block = page};
    memset(&sx, 0, sizeof sx);
    if (statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_DIOALIGN, &sx) == 0) {
        if (sx.stx_blksize <= LARGEST_BLOCK)
            layout->block = tutti__align_up(tutti__max(sx.stx_blksize, page), page);
        layout->direct_align = direct_align(&sx);
    }
    struct statfs fs;
    if (fstatfs(fd, &fs) != 0) return;
    const uint32_t type = (uint32_t)fs.f_type;
    if (type == LUSTRE_MAGIC) layout->stripe = lustre_stripe(fd);
    if (type == GPFS_MAGIC) layout->stripe = layout->block;
    /* File systems whose client caches are not immediately coherent; those of Lustre and GPFS
     * are. */
    static const uint32_t cached[] = {FUSE_MAGIC, NFS_MAGIC, CEPH_MAGIC, SMB2_MAGIC,
                                      CIFS_MAGIC, AFS_MAGIC, V9FS_MAGIC};
    for (size_t i = 0; i < sizeof cached / sizeof *cached; i++)
        if (cached[i] == type) layout->client_cache = 1;
    layout->synchronous = (fs.f_flags & ST_SYNCHRONOUS) != 0;
}
