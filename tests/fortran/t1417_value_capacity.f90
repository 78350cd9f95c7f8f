! TEST ranks=1,3 timeout=60 builds=openmpi,mpich,asan
! The array for the value of an info or a note: if the array of one rank is too small, of another type or not
! contiguous, the call fails with TUTTI_ERR_ARG on all ranks, with the reason, and no array is changed.
! SPDX-License-Identifier: BSD-3-Clause
program value_capacity
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int32, real32
  implicit none
  type(tutti_dataset) :: d
  type(tutti_exodus) :: x
  integer :: ierr, way

  call begin()
  call tutti_dataset_open(MPI_COMM_WORLD, path("values.tutti"), ior(TUTTI_READ, ior(TUTTI_WRITE, TUTTI_CREATE)), d, ierr)
  call fine(ierr, "open")
  call tutti_dataset_info_set(d, "list", [1, 2, 3], ierr)
  call fine(ierr, "info_set")
  call tutti_dataset_info_set(d, "text", "abcdef", ierr)
  call fine(ierr, "info_set of text")
  call tutti_exodus_create(MPI_COMM_WORLD, path("values.exo"), x, ierr)
  call fine(ierr, "create")
  call tutti_exodus_init(x, tutti_exodus_parameters(title="none", dims=3), ierr)
  call fine(ierr, "init")
  call tutti_exodus_put_mesh(x, tutti_exodus_mesh(), ierr)
  call fine(ierr, "put_mesh")
  call tutti_exodus_note_set(x, "list", [1, 2, 3], ierr)
  call fine(ierr, "note_set")
  call tutti_exodus_note_set(x, "text", "abcdef", ierr)
  call fine(ierr, "note_set of text")
  do way = 1, 2
    call lists()
    call texts()
  end do
  call tutti_exodus_close(x, ierr)
  call fine(ierr, "exodus close")
  call tutti_dataset_close(d, ierr)
  call fine(ierr, "close")
  call finish()
contains

  ! Get the value of an info (way 1) or of a note.
  subroutine get(name, value)
    character(*), intent(in) :: name
    type(*), intent(inout) :: value(..)
    if (way == 1) then
      call tutti_dataset_info_get(d, name, value, ierr)
    else
      call tutti_exodus_note_get(x, name, value, ierr)
    end if
  end subroutine get

  subroutine refused(reason)
    character(*), intent(in) :: reason
    call code_is(ierr, TUTTI_ERR_ARG, reason)
    call check(index(tutti_last_message(), reason) > 0, "message: " // tutti_last_message())
  end subroutine refused

  subroutine lists()
    integer(int32) :: good(3), more(5), spread(6)
    real(real32) :: reals(3)
    logical :: odd
    odd = rank == ranks - 1
    good = -1; more = -1; spread = -1; reals = -1
    if (odd) call get("list", good(1:2))
    if (.not. odd) call get("list", good)
    call refused("too small")
    if (odd) call get("list", reals)
    if (.not. odd) call get("list", good)
    call refused("another type")
    if (odd) call get("list", spread(1:5:2))
    if (.not. odd) call get("list", good)
    call refused("not contiguous")
    call check(all(good == -1) .and. all(spread == -1) .and. all(reals == -1), "an array was changed")
    if (odd) call get("list", more)
    if (.not. odd) call get("list", good)
    call fine(ierr, "a larger array")
    call check(merge(all(more == [1, 2, 3, -1, -1]), all(good == [1, 2, 3]), odd), "the value")
  end subroutine lists

  subroutine texts()
    character(3) :: short
    character(8) :: long
    short = "???"
    long = "????????"
    if (rank == ranks - 1) call get("text", short)
    if (rank /= ranks - 1) call get("text", long)
    call refused("too small")
    call check(short == "???" .and. long == "????????", "a text was changed")
    call get("text", long)
    call fine(ierr, "text")
    call check(long == "abcdef  ", "the text: " // long)
  end subroutine texts
end program value_capacity
