! TEST ranks=4 timeout=60
! Step 5.  An array in a file: every rank writes its part of a distribution, all ranks read the same slice, and the sum of the array is
! computed piece by piece in less memory than the array needs.
! SPDX-License-Identifier: BSD-3-Clause
program step5
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: rows = 500, columns = 300
  integer :: rank, ranks
  real(8) :: corner, total
  type(tutti_array_spec) :: spec
  type(tutti_array) :: a
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  spec%ndims = 2
  spec%shape(1:2) = [rows, columns]
  spec%type = TUTTI_FLOAT64

  call tutti_array_create(MPI_COMM_WORLD, "step5.tta", spec, a)
  call store()
  call tutti_array_close(a)
  call tutti_array_open(MPI_COMM_WORLD, "step5.tta", TUTTI_READ, a, expect=spec)
  call look(corner)
  call add_up(total)
  call tutti_array_close(a)
  if (rank == 0) print "(a, f0.0, a, f0.0)", "(99, 20) is ", corner, ", the sum is ", total
  call MPI_Finalize()
  if (corner /= 98 * columns + 19 .or. total /= 0.5d0 * rows * columns * (rows * columns - 1d0)) stop 1
contains

  ! Write the array.  Columns are distributed block-cyclically in blocks of 8; each rank writes its part in one call.
  subroutine store()
    type(tutti_distribution) :: d
    integer(tutti_count) :: part(2), global(2), elements
    real(8), allocatable :: v(:, :)
    integer :: i, j
    call tutti_distribution_make([rows, columns], [tutti_dist_dim(TUTTI_DIST_NONE, procs=1), &
                                 tutti_dist_dim(TUTTI_DIST_BLOCK_CYCLIC, procs=ranks, block=8)], d)
    elements = tutti_distribution_part(d, rank, part)
    allocate (v(part(1), part(2)))
    if (size(v) /= elements) stop 2
    do j = 1, int(part(2))
      do i = 1, int(part(1))
        call tutti_distribution_global(d, rank, [i - 1, j - 1], global)   ! indices from 0
        v(i, j) = real(global(1) * columns + global(2), 8)
      end do
    end do
    call tutti_array_write_part(a, d, v)
    call tutti_distribution_free(d)
  end subroutine store

  ! Read (1:99:2, 11:20) into an array that has one more element on each side.  All ranks request the same slice: it
  ! is read from the file once.
  subroutine look(corner)
    real(8), intent(out) :: corner
    type(tutti_slice) :: s
    real(8) :: v(0:51, 0:11)
    call tutti_slice_fortran([1, 11], [99, 20], s, stride=[2, 1])
    call tutti_array_read(a, s, v(1:50, 1:10))
    corner = v(50, 10)
  end subroutine look

  ! Add up the array in pieces.  All ranks share each piece; the next one is prefetched.
  subroutine add_up(total)
    real(8), intent(out) :: total
    integer(tutti_off), parameter :: budget = 64 * 1024
    integer(tutti_count) :: n, k, shape(2), elements
    type(tutti_slice) :: s, next
    real(8), allocatable :: v(:, :)
    real(8) :: mine
    mine = 0
    n = tutti_array_partitions(a, ranks, budget)
    next = piece(n, 0_tutti_count)
    call tutti_array_prefetch(a, next)
    do k = 0, n - 1
      s = next
      elements = tutti_slice_count(2, s, shape)
      allocate (v(shape(1), shape(2)))
      call tutti_array_read(a, s, v)
      if (k + 1 < n) then
        next = piece(n, k + 1)
        call tutti_array_prefetch(a, next)
      end if
      if (elements > 0) mine = mine + sum(v)
      deallocate (v)
    end do
    call MPI_Allreduce(mine, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
  end subroutine add_up

  ! Return the part of this rank in piece k of n: some of its rows, in some columns (the slowest dimension).
  type(tutti_slice) function piece(n, k)
    integer(tutti_count), intent(in) :: n, k
    piece = tutti_array_partition(a, n, k)
    piece%lo(1) = rows * rank / ranks
    piece%hi(1) = rows * (rank + 1) / ranks
  end function piece
end program step5
