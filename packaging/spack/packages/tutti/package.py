# Copyright The Tutti authors
# SPDX-License-Identifier: BSD-3-Clause

from spack.package import *


class Tutti(CMakePackage):
    """Tutti lets all processes of an MPI program read and write shared files together: two-phase collective I/O, arrays
    larger than memory, meshes, datasets and finite-element results, and an MPI-IO drop-in."""

    # From a clone: spack repo add packaging/spack; spack install tutti
    # The folder of this recipe is used as it is: `spack dev-build tutti@main` in a clone.
    has_code = True
    license("BSD-3-Clause")

    version("main")

    variant("uring", default=True, description="asynchronous file access by liburing")
    variant("metis", default=True, description="partitions of meshes by METIS")

    depends_on("c", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.8:", type="build") # Python generates sources and manual pages
    depends_on("mpi@3:")
    depends_on("sqlite@3.31:")
    depends_on("xxhash@0.8:")
    depends_on("zstd")
    depends_on("libpng")
    depends_on("liburing", when="+uring")
    depends_on("metis@5:", when="+metis")

    conflicts("platform=darwin", msg="Tutti needs Linux")
    conflicts("platform=windows", msg="Tutti needs Linux")

    def cmake_args(self):
        mpich = any(self.spec.satisfies(f"^{name}") for name in ("mpich", "mvapich2", "intel-oneapi-mpi", "cray-mpich"))
        return [
            self.define("TUTTI_MPI", "mpich" if mpich else "openmpi"),
            self.define("TUTTI_MPICC", self.spec["mpi"].mpicc),
            self.define_from_variant("TUTTI_URING", "uring"),
            self.define_from_variant("TUTTI_METIS", "metis"),
        ]
