! TEST ranks=1,3 timeout=60 builds=openmpi,mpich,asan
! `ierr` directly after the required arguments receives the code, also if a procedure has optional integer
! arguments: a failing call returns its code and does not end the program, a successful call returns 0.  Optional
! arguments work by keyword.
! SPDX-License-Identifier: BSD-3-Clause
program positional_ierr
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer, parameter :: n = 6
  integer :: ierr

  call begin()
  call datasets()
  call exodus()
  call others()
  call finish()
contains

  subroutine good(what)
    character(*), intent(in) :: what
    call fine(ierr, what)
    ierr = -77
  end subroutine good

  subroutine bad(code, what)
    integer, intent(in) :: code
    character(*), intent(in) :: what
    call code_is(ierr, code, what)
    ierr = -77
  end subroutine bad

  subroutine datasets()
    type(tutti_dataset) :: d
    type(tutti_decomposition) :: mine
    type(tutti_put) :: puts(1)
    type(tutti_get) :: gets(1)
    type(tutti_request) :: r
    real(real64), asynchronous :: a(n), b(n), few(1)
    integer :: number, type, changed
    integer(int64) :: count
    a = [(10d0 * rank + number, number=1, n)]
    ierr = -77
    call tutti_dataset_open(MPI_COMM_WORLD, path("positional.tutti"), ior(TUTTI_READ, ior(TUTTI_WRITE, TUTTI_CREATE)), d, ierr)
    call good("open")
    call tutti_dataset_grid(d, "nodes", [n * ranks], ierr)
    call good("grid")
    call tutti_dataset_variable(d, "u", "nodes", TUTTI_FLOAT64, ierr)
    call good("variable")
    call tutti_dataset_variable(d, "v", "nothing", TUTTI_FLOAT64, ierr, item=TUTTI_SCALAR)
    call bad(TUTTI_ERR_NOT_FOUND, "a variable on an unknown space")
    call tutti_dataset_begin(d, TUTTI_STATE, 0_int64, 0d0, ierr)
    call good("begin")
    call tutti_decomposition_create(d, "nothing", mine, ierr, index=[1_int64])
    call bad(TUTTI_ERR_NOT_FOUND, "entries of an unknown space")
    call tutti_decomposition_create(d, "nodes", mine, ierr, index=[(int(n * rank + number, int64), number=0, n - 1)])
    call good("entries")
    call tutti_dataset_put(d, "u", mine, few, ierr)
    call bad(TUTTI_ERR_ARG, "put of a short array")
    call tutti_dataset_put(d, "w", mine, a, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "put of an unknown variable")
    call tutti_dataset_put(d, "u", mine, a, ierr)
    call good("put")
    call tutti_dataset_put(d, "u", mine, a, ierr, type=TUTTI_FLOAT64)
    call good("put with a type")
    call tutti_dataset_put_start(d, "w", mine, a, r, ierr)
    call good("start of an unknown variable")
    call tutti_request_wait(r, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "wait for a put of an unknown variable")
    call tutti_dataset_put_start(d, "u", mine, a, r, ierr)
    call good("start of a put")
    call tutti_request_wait(r, ierr)
    call good("wait")
    call tutti_put_make(puts(1), "u", mine, a, ierr)
    call good("put_make")
    call tutti_dataset_put(d, puts, ierr)
    call good("put of a list")
    call tutti_dataset_commit(d, ierr)
    call good("commit")
    call tutti_dataset_refresh(d, changed, ierr)
    call good("refresh")
    b = 0
    call tutti_dataset_get(d, 0_int64, "w", mine, b, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "get of an unknown variable")
    call tutti_dataset_get(d, 0_int64, "u", mine, b, ierr)
    call good("get")
    call check(all(b == a), "what get has read")
    b = 0
    call tutti_get_make(gets(1), "u", mine, b, ierr)
    call good("get_make")
    call tutti_dataset_get_start(d, 0_int64, gets, r, ierr)
    call good("start of a list of gets")
    call tutti_request_wait(r, ierr)
    call good("wait for gets")
    call check(all(b == a), "what a list of gets has read")
    call tutti_dataset_get_start(d, 0_int64, "w", mine, b, r, ierr)
    call good("start of an unknown get")
    call tutti_request_wait(r, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "wait for a get of an unknown variable")
    call tutti_dataset_follow(d, 0_int64, 0_int64, "w", mine, b, count, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "follow of an unknown variable")
    number = 5
    call tutti_dataset_info_set(d, "step", number, ierr)
    call good("info_set")
    number = 0
    call tutti_dataset_info_get(d, "step", number, ierr)
    call good("info_get")
    call check(number == 5, "the value of an info")
    call tutti_dataset_info_get(d, "other", number, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "an unknown info")
    call tutti_dataset_info_size(d, "step", type, count, ierr)
    call good("info_size")
    call check(type == TUTTI_INT32 .and. count == 1, "type and size of an info")
    call tutti_dataset_info_remove(d, "step", ierr)
    call good("info_remove")
    call tutti_dataset_info_size(d, "step", type, count, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "an info that was removed")
    call tutti_decomposition_free(mine)
    call tutti_dataset_close(d, ierr)
    call good("close")
  end subroutine datasets

  subroutine exodus()
    type(tutti_exodus) :: x
    type(tutti_exodus_mesh) :: mesh
    type(tutti_exodus_array) :: piece
    type(tutti_decomposition) :: mine
    real(real64) :: a(n)
    integer :: number, type, changed
    integer(int64) :: count, entries, at
    a = 1
    call tutti_exodus_create(MPI_COMM_WORLD, path("positional.exo"), x, ierr)
    call good("exodus create")
    call tutti_exodus_init(x, tutti_exodus_parameters(title="none", dims=3), ierr)
    call good("init")
    call tutti_exodus_put_mesh(x, tutti_exodus_mesh(), ierr)
    call good("put_mesh")
    number = 4
    call tutti_exodus_note_set(x, "four", number, ierr)
    call good("note_set")
    number = 0
    call tutti_exodus_note_get(x, "four", number, ierr)
    call good("note_get")
    call check(number == 4, "the value of a note")
    call tutti_exodus_note_size(x, "four", type, count, ierr)
    call good("note_size")
    call check(type == TUTTI_INT32 .and. count == 1, "type and size of a note")
    call tutti_exodus_note_remove(x, "four", ierr)
    call good("note_remove")
    call tutti_exodus_note_get(x, "four", number, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "a note that was removed")
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", a, ierr)
    call check(ierr /= TUTTI_OK .and. ierr /= -77, "put of an unknown variable of the file")
    call tutti_exodus_array_make(piece, TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, a, ierr)
    call good("array_make")
    call tutti_exodus_array_size(x, TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, entries, count, type, ierr, &
        id=99_int64)
    call check(ierr /= TUTTI_OK .and. ierr /= -77, "the size of an unknown block")
    call tutti_exodus_field_offset(x, 0_int64, TUTTI_EXODUS_NODAL, "t", at, type, ierr)
    call check(ierr /= TUTTI_OK .and. ierr /= -77, "the place of an unknown variable")
    call tutti_exodus_decomposition(x, TUTTI_EXODUS_ELEMENT_BLOCK, mine, ierr, id=99_int64)
    call check(ierr /= TUTTI_OK .and. ierr /= -77, "entries of an unknown block")
    call tutti_exodus_close(x, ierr)
    call good("exodus close")
    call tutti_exodus_open(MPI_COMM_WORLD, path("positional.exo"), TUTTI_READ, x, ierr)
    call good("exodus open")
    call tutti_exodus_refresh(x, changed, ierr)
    call good("exodus refresh")
    call tutti_exodus_get_mesh(x, mesh, ierr)
    call good("get_mesh")
    call tutti_exodus_close(x, ierr)
    call good("exodus close again")
  end subroutine exodus

  subroutine others()
    type(tutti_file) :: f
    type(tutti_access) :: access
    type(tutti_part) :: part
    type(tutti_tiles) :: tiles
    real(real64) :: a(n)
    a = rank
    call tutti_file_open(MPI_COMM_WORLD, path("nowhere/file"), TUTTI_READ, f, ierr)
    call bad(TUTTI_ERR_NOT_FOUND, "open in a directory that does not exist")
    call tutti_file_open(MPI_COMM_WORLD, path("positional.bin"), ior(TUTTI_READ, ior(TUTTI_WRITE, TUTTI_CREATE)), f, ierr)
    call good("file open")
    call tutti_access_contiguous(int(8 * n * rank, int64), int(8 * n, int64), access, ierr)
    call good("access")
    call tutti_file_write(f, access, a(1:2), ierr)
    call bad(TUTTI_ERR_ARG, "write of a short array")
    call tutti_file_write(f, access, a, ierr)
    call good("write")
    call tutti_part_make(part, access, a, ierr)
    call good("part_make")
    call tutti_part_make(part, access, a, ierr, file_type=TUTTI_FLOAT32)
    ierr = -77
    call tutti_tiles_begin(tiles, 1000_int64, ierr)
    call bad(TUTTI_ERR_ARG, "tiles of no array")
    call tutti_access_free(access)
    call tutti_file_close(f, ierr)
    call good("file close")
  end subroutine others
end program positional_ierr
