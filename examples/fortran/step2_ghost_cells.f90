! TEST ranks=4 timeout=60
! Step 2.  Blocks of a 3-D array with ghost cells in memory: the argument is the inner section of the Fortran array.  The array is
! written in slabs of one dimension, read in slabs of another, and compared.
! SPDX-License-Identifier: BSD-3-Clause
program step2
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: nx = 40, ny = 36, nz = 32, ghost = 2
  integer :: rank, ranks, wrong, i, j, k, first, last
  integer(tutti_off) :: count
  real(4), allocatable :: a(:, :, :), b(:, :, :)
  type(tutti_access) :: out, in
  type(tutti_file) :: f
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Without the argument ierr, an error ends the program with a message.
  call slab(1, out)
  call slab(3, in)
  first = nx * rank / ranks + 1
  last = nx * (rank + 1) / ranks
  allocate (a(first - ghost:last + ghost, 1 - ghost:ny + ghost, 1 - ghost:nz + ghost), source=-1.)
  do k = 1, nz
    do j = 1, ny
      a(first:last, j, k) = [(place(i, j, k), i=first, last)]
    end do
  end do
  call tutti_file_open(MPI_COMM_WORLD, "step2.dat", ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f)
  call tutti_file_write(f, out, a(first:last, 1:ny, 1:nz))

  first = nz * rank / ranks + 1
  last = nz * (rank + 1) / ranks
  allocate (b(nx, ny, first:last))
  call tutti_file_read(f, in, b, count=count)
  wrong = merge(0, 1, count == tutti_access_bytes(in))
  do k = first, last
    do j = 1, ny
      wrong = wrong + merge(0, 1, all(b(:, j, k) == [(place(i, j, k), i=1, nx)]))
    end do
  end do
  call tutti_file_close(f)
  call tutti_access_free(out)
  call tutti_access_free(in)
  call MPI_Finalize()
  if (wrong > 0) stop 1
contains

  ! Return the value of an element: its index in the file.
  pure real function place(i, j, k)
    integer, intent(in) :: i, j, k
    place = real(i + nx * (j - 1 + ny * (k - 1)))
  end function place

  ! Describe this rank's slab of the global array along dimension `cut`.
  subroutine slab(cut, access)
    integer, intent(in) :: cut
    type(tutti_access), intent(out) :: access
    type(tutti_section) :: s
    s%ndims = 3
    s%element_size = 4
    s%shape(1:3) = [nx, ny, nz]
    s%hi(1:3) = s%shape(1:3)
    s%lo(cut) = s%shape(cut) * rank / ranks
    s%hi(cut) = s%shape(cut) * (rank + 1) / ranks
    call tutti_access_section(s, access)
  end subroutine slab
end program step2
