! TEST ranks=1,4 timeout=60
! Step 10.  A 3-D block with ghost cells is written to a dataset directly from the array that the program computes on, and read
! back into one without ghost cells.
! SPDX-License-Identifier: BSD-3-Clause
program step10
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: nx = 24, ny = 20, nz = 16, ghost = 2
  type(tutti_dataset) :: d
  type(tutti_decomposition) :: with_ghosts, inner
  type(tutti_slice) :: mine
  type(tutti_section) :: memory
  real(8), allocatable :: u(:, :, :), v(:, :, :)
  integer(tutti_count) :: last
  integer :: rank, ranks, lo, hi, i, j, k, wrong
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Divide the grid into slabs along the last dimension; the value of a cell is its position in the grid.
  lo = nz * rank / ranks + 1
  hi = nz * (rank + 1) / ranks
  allocate (u(1 - ghost:nx + ghost, 1 - ghost:ny + ghost, lo - ghost:hi + ghost), v(nx, ny, lo:hi))
  u = -1
  do concurrent(i=1:nx, j=1:ny, k=lo:hi)
    u(i, j, k) = position(i, j, k)
  end do

  call tutti_slice_fortran([1, 1, lo], [nx, ny, hi], mine)
  memory%shape(1:3) = shape(u)   ! extents of the array in memory
  memory%lo(1:3) = ghost         ! origin of the slice in it, from 0
  call tutti_dataset_open(MPI_COMM_WORLD, "step10_fortran.tutti", &
    ior(ior(TUTTI_READ, TUTTI_WRITE), ior(TUTTI_CREATE, TUTTI_TRUNCATE)), d)
  call tutti_dataset_grid(d, "grid", [nx, ny, nz])
  call tutti_dataset_variable(d, "u", "grid", TUTTI_FLOAT64)
  call tutti_decomposition_create(d, "grid", with_ghosts, slice=mine, slice_memory=memory)
  call tutti_decomposition_create(d, "grid", inner, slice=mine)
  call tutti_dataset_begin(d, TUTTI_STATE, 0_tutti_count, 0d0)
  call tutti_dataset_put(d, "u", with_ghosts, u)
  call tutti_dataset_commit(d)   ! committed atomically
  call tutti_dataset_latest(d, TUTTI_STATE, last)
  call tutti_dataset_get(d, last, "u", inner, v)
  wrong = count(v /= u(1:nx, 1:ny, lo:hi))
  call tutti_decomposition_free(with_ghosts)
  call tutti_decomposition_free(inner)
  call tutti_dataset_close(d)
  if (wrong > 0) error stop "wrong values"
  if (rank == 0) print "(3(i0, a), i0, a)", nx, " x ", ny, " x ", nz, " cells from ", ranks, " ranks"
  call MPI_Finalize()
contains
  pure real(8) function position(x, y, z)
    integer, intent(in) :: x, y, z
    position = (x - 1) + nx * ((y - 1) + ny * (z - 1d0))
  end function position
end program step10
