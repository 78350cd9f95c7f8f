! TEST ranks=4 timeout=60
! Step 7.  Ranks hold overlapping blocks of an array with ghost cells; copies of a cell have the same value.  The library chooses which
! rank writes each cell, so that each rank writes few long pieces, and checks that the copies are equal.
! SPDX-License-Identifier: BSD-3-Clause
program step7
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: rows = 90, columns = 120, ghosts = 3
  integer :: rank, ranks, grid(2), at(2), low(2), high(2), i, j, wrong
  integer(8), allocatable :: numbers(:, :)
  real(8), allocatable :: values(:, :), back(:, :)
  real(8) :: row(columns)
  type(tutti_replicas) :: r
  type(tutti_replicas_stats) :: s
  type(tutti_file) :: f
  type(tutti_array_spec) :: spec
  type(tutti_array) :: a
  type(tutti_slice) :: one_row
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Number the cells of this rank, including ghost cells: the global number of a cell is its index in the array.
  grid = 0
  call MPI_Dims_create(ranks, 2, grid)
  at = [mod(rank, grid(1)), rank / grid(1)]
  low = max([rows, columns] * at / grid + 1 - ghosts, 1)
  high = min([rows, columns] * (at + 1) / grid + ghosts, [rows, columns])
  allocate (numbers(low(1):high(1), low(2):high(2)), values(low(1):high(1), low(2):high(2)))
  do j = low(2), high(2)
    numbers(:, j) = [(int(i - 1, 8) + rows * (j - 1), i=low(1), high(1))]
    values(:, j) = [(i + j / 1000d0, i=low(1), high(1))]
  end do

  ! The inspector is created once and can be used for any number of writes.
  call tutti_replicas_create(MPI_COMM_WORLD, reshape(numbers, [size(numbers)]), 8_tutti_off, r)
  call tutti_file_open(MPI_COMM_WORLD, "step7.dat", ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f)
  call tutti_replicas_write(f, 0_tutti_off, r, values, check=1)

  ! Read back: every rank gets its block with ghost cells.
  allocate (back(size(values, 1), size(values, 2)), source=-1d0)
  call tutti_replicas_read(f, 0_tutti_off, r, back)
  wrong = count(back /= values)
  call tutti_file_close(f)

  ! The file is an array of doubles: read one row of it.
  spec%ndims = 2
  spec%shape(1:2) = [rows, columns]
  spec%type = TUTTI_FLOAT64
  call tutti_array_open_raw(MPI_COMM_WORLD, "step7.dat", TUTTI_READ, spec, a)
  call tutti_slice_fortran([40, 1], [40, columns], one_row)
  call tutti_array_read(a, one_row, row)
  call tutti_array_close(a)
  wrong = wrong + count(row /= [(40 + j / 1000d0, j=1, columns)])

  call tutti_replicas_stats_get(r, s)
  if (rank == 0) print "(i0, a, f0.0, a, i0, a)", s%items, " cells, ", s%replication, &
    " % of them on several ranks, written in ", s%intervals, " pieces"
  call tutti_replicas_free(r)
  call MPI_Finalize()
  if (wrong > 0) stop 1
end program step7
