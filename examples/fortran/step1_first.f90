! TEST ranks=4 timeout=60
! Step 1.  Four ranks write the quarters of a 512 x 512 array of doubles to one file.
! SPDX-License-Identifier: BSD-3-Clause
program step1
  use mpi_f08
  use tutti
  implicit none
  integer :: rank, ranks, side, n, row, column, i, ierr, closed
  real(8), allocatable :: mine(:, :)
  type(tutti_section) :: block
  type(tutti_access) :: access
  type(tutti_file) :: file
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  side = merge(2, 1, ranks >= 4)
  n = 512 / side
  row = mod(rank, side)
  column = rank / side
  mine = reshape([(rank + i * 1d-6, i=1, n * n)], [n, n])

  block%ndims = 2
  block%element_size = 8
  block%shape(1:2) = 512
  if (column < side) then   ! ranks beyond the fourth write nothing
    block%lo(1:2) = n * [row, column]
    block%hi(1:2) = n * [row + 1, column + 1]
  end if
  call tutti_file_open(MPI_COMM_WORLD, file_name("step1.dat"), ior(TUTTI_WRITE, TUTTI_CREATE), file, ierr=ierr)
  ! A rank that fails locally still makes the collective call, which then fails on all ranks.
  call tutti_access_section(block, access, ierr=closed)
  if (ierr == TUTTI_OK) then
    call tutti_file_write(file, access, mine, ierr=ierr)
    if (ierr /= TUTTI_OK) print "(a)", tutti_last_message()
    call tutti_file_close(file, closed)
    if (ierr == TUTTI_OK) ierr = closed
  end if
  call tutti_access_free(access)
  call MPI_Finalize()
  if (ierr /= TUTTI_OK) stop 1
contains
  function file_name(usual)
    character(*), intent(in) :: usual
    character(:), allocatable :: file_name
    character(1000) :: given
    call get_command_argument(1, given)
    file_name = trim(given)
    if (file_name == "") file_name = usual
  end function file_name
end program step1
