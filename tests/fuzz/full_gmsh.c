/* Fuzz target: reads a Gmsh file as a mesh, and imports it with tutti import.
 * SPDX-License-Identifier: BSD-3-Clause */
#include <tutti/mesh.h>
#include "commands.h"
#include "singleton.h"

const char *const fuzz_statements[] = {"$MeshFormat\n2.2 0 8\n$EndMeshFormat",
                                       "$MeshFormat\n4.1 0 8\n$EndMeshFormat",
                                       "$Nodes",
                                       "$EndNodes",
                                       "$Elements",
                                       "$EndElements",
                                       "$PhysicalNames\n1\n3 1 \"a\"\n$EndPhysicalNames",
                                       "$Entities\n1 1 1 1",
                                       "$EndEntities",
                                       "$PartitionedEntities",
                                       "$EndPartitionedEntities",
                                       "$Periodic\n1",
                                       "$EndPeriodic",
                                       "1 0 0 0 0",
                                       "2 1 2 0 1 1 2",
                                       "3 2 2 1 1 1 2 3",
                                       "4 4 2 1 1 1 2 3 4",
                                       "5 5 2 1 1 1 2 3 4 5 6 7 8",
                                       "6 15 2 1 1 1",
                                       "1 8 1 8",
                                       "3 1 0 8",
                                       NULL};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    tutti_mesh *m = NULL;
    tutti_mesh_info info;
    fuzz_write("in.msh", data, n);
    if (tutti_mesh_open(MPI_COMM_SELF, "in.msh", NULL, &m) == TUTTI_OK) {
        if (tutti_mesh_describe(m, &info) != TUTTI_OK) abort();
        tutti_mesh_free(&m);
    }
    FUZZ_RUN(cli_dispatch, "import", "in.msh", "out.e");
    FUZZ_RUN(cli_dispatch, "import", "in.msh", "out.tutti");
    fuzz_clean();
    return 0;
}
