! TEST ranks=1,2,3,5 timeout=120
! Random slices, accesses, decompositions and conversions, compared with Fortran arrays: every rank computes the
! writes of all ranks, applies them to a local array, and compares.  Arrays in memory are strided sections of
! larger arrays.
! SPDX-License-Identifier: BSD-3-Clause
program properties
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  integer :: round
  call begin()
  if (rank == 0) print "(a, i0)", "seed ", seed()
  do round = 1, 5
    call other_seed(round)
    call slices_of_doubles(round)
    call planes_of_integers(round)
    call lists(round)
    call parts(round)
    call grids(round)
  end do
  call finish()
contains

  ! Choose a random section of the extent 1:n.
  subroutine range(n, low, high, stride)
    integer, intent(in) :: n
    integer, intent(out) :: low, high, stride
    low = chance(1, n)
    high = chance(low, n)
    stride = chance(1, 3)
  end subroutine range

  elemental integer function many(low, high, stride)
    integer, intent(in) :: low, high, stride
    many = max(0, (high - low) / stride + 1)
  end function many

  ! Return the value that rank r writes to element (i, j, k) of its section.
  elemental real(real64) function value(r, round, i, j, k)
    integer, intent(in) :: r, round, i, j, k
    value = 1000000d0 * round + 10000 * r + i + 20 * j + 400 * k
  end function value

  ! Test sections of arrays of three dimensions, in both orders in the file.
  subroutine slices_of_doubles(round)
    integer, intent(in) :: round
    integer :: shape(3), low(3), high(3), stride(3), n(3), pad(3), step(3), r, d, ierr, turn, i, j, k
    real(real64), allocatable :: model(:, :, :), memory(:, :, :), got(:, :, :)
    type(tutti_array_spec) :: spec
    type(tutti_array) :: a
    type(tutti_slice) :: s
    do d = 1, 3
      shape(d) = chance(1, 9)
    end do
    allocate (model(shape(1), shape(2), shape(3)), source=0d0)
    spec%ndims = 3
    spec%shape(1:3) = shape
    spec%type = TUTTI_FLOAT64
    if (chance(0, 1) == 1) spec%order = TUTTI_ROW_MAJOR
    call tutti_array_create(MPI_COMM_WORLD, path("doubles.tta"), spec, a, ierr=ierr)
    call fine(ierr, "create")
    do turn = 1, 3
      ! Choose the slices of all ranks in rank order: where slices overlap, the highest rank's values remain.
      do r = 0, ranks - 1
        do d = 1, 3
          call range(shape(d), low(d), high(d), stride(d))
          pad(d) = chance(0, 2)
          step(d) = chance(1, 2)
        end do
        n = many(low, high, stride)
        do k = 1, n(3)
          do j = 1, n(2)
            do i = 1, n(1)
              model(low(1) + (i - 1) * stride(1), low(2) + (j - 1) * stride(2), low(3) + (k - 1) * stride(3)) = &
                value(r, round + turn, i, j, k)
            end do
          end do
        end do
        if (r /= rank) cycle
        ! The data of this rank is a strided section of a larger array.
        allocate (memory(pad(1) + step(1) * n(1), pad(2) + step(2) * n(2), pad(3) + step(3) * n(3) + 1))
        memory = -1
        do k = 1, n(3)
          do j = 1, n(2)
            do i = 1, n(1)
              memory(pad(1) + (i - 1) * step(1) + 1, pad(2) + (j - 1) * step(2) + 1, &
                     pad(3) + (k - 1) * step(3) + 1) = value(r, round + turn, i, j, k)
            end do
          end do
        end do
        call tutti_slice_fortran(low, high, s, stride=stride)
        call tutti_array_write(a, s, memory(pad(1) + 1:pad(1) + step(1) * (n(1) - 1) + 1:step(1), &
                                            pad(2) + 1:pad(2) + step(2) * (n(2) - 1) + 1:step(2), &
                                            pad(3) + 1:pad(3) + step(3) * (n(3) - 1) + 1:step(3)), ierr=ierr)
        call fine(ierr, "write of a slice")
        deallocate (memory)
      end do
      ! Read the whole array into a contiguous array.
      allocate (got(shape(1), shape(2), shape(3)), source=-1d0)
      call tutti_array_read(a, tutti_slice_all(shape), got, ierr=ierr)
      call fine(ierr, "read of everything")
      call check(all(got == model), "everything is not what was written")
      deallocate (got)
      ! Each rank reads another section into the middle of an array.
      do r = 0, ranks - 1
        do d = 1, 3
          call range(shape(d), low(d), high(d), stride(d))
        end do
        if (r /= rank) cycle
        n = many(low, high, stride)
        allocate (got(n(1) + 2, n(2) + 1, 2 * n(3)), source=-1d0)
        call tutti_slice_fortran(low, high, s, stride=stride)
        call tutti_array_read(a, s, got(2:n(1) + 1, 2:n(2) + 1, 1:2 * n(3) - 1:2), ierr=ierr)
        call fine(ierr, "read of a slice")
        call check(all(got(2:n(1) + 1, 2:n(2) + 1, 1:2 * n(3) - 1:2) == &
                       model(low(1):high(1):stride(1), low(2):high(2):stride(2), low(3):high(3):stride(3))), &
                   "a slice is not what was written")
        got(2:n(1) + 1, 2:n(2) + 1, 1:2 * n(3) - 1:2) = -1
        call check(all(got == -1), "elements between were changed")
        deallocate (got)
      end do
    end do
    call tutti_array_close(a, ierr)
    call fine(ierr, "close")
  end subroutine slices_of_doubles

  ! Test a plane in an array of three dimensions, by non-blocking and by independent calls.
  subroutine planes_of_integers(round)
    integer, intent(in) :: round
    integer :: n1, n2, k, r, ierr, done
    integer(int16), asynchronous, allocatable :: mine(:, :), got(:, :)
    type(tutti_array_spec) :: spec
    type(tutti_array) :: a
    type(tutti_slice) :: s
    type(tutti_request) :: request
    n1 = chance(1, 20)
    n2 = chance(1, 20)
    spec%ndims = 3
    spec%shape(1:3) = [n1, ranks, n2]
    spec%type = merge(TUTTI_INT16, TUTTI_UINT16, chance(0, 1) == 1)
    spec%order = merge(TUTTI_COL_MAJOR, TUTTI_ROW_MAJOR, chance(0, 1) == 1)
    allocate (mine(2 * n1, n2), got(n2 + 1, n1 + 1))
    mine = -7
    mine(::2, :) = spread([(int(10 * rank + round + k, int16), k=1, n1)], 2, n2)
    call tutti_array_create(MPI_COMM_WORLD%MPI_VAL, path("planes.tta"), spec, a, ierr=ierr)
    call fine(ierr, "create")
    call tutti_slice_fortran([1, rank + 1, 1], [n1, rank + 1, n2], s)
    call tutti_array_write_start(a, s, mine(::2, :), request, ierr=ierr)
    call fine(ierr, "start")
    done = 0
    do while (done == 0)
      call tutti_request_test(request, done, ierr=ierr)
      call fine(ierr, "test")
    end do
    call check(.not. c_associated(request%p), "a request that is complete is still there")
    do r = 0, ranks - 1
      call tutti_slice_fortran([1, r + 1, 1], [n1, r + 1, n2], s)
      got = -1
      call tutti_array_read_independent(a, s, got(1:n2, 1:n1), ierr=ierr)
      call code_if(ierr, n1 /= n2 .and. n1 > 1 .and. n2 > 1)
      deallocate (got)
      allocate (got(n1 + 1, n2 + 1))
      got = -1
      call tutti_array_read(a, s, got(1:n1, 1:n2), ierr=ierr)
      call fine(ierr, "read of a plane")
      call check(all(got(1:n1, 1:n2) == spread([(int(10 * r + round + k, int16), k=1, n1)], 2, n2)), "a plane is wrong")
      got(1:n1, 1:n2) = -1
      call check(all(got == -1), "elements around a plane were changed")
      deallocate (got)
      allocate (got(n2 + 1, n1 + 1))
    end do
    call tutti_array_close(a, ierr)
    call fine(ierr, "close")
  end subroutine planes_of_integers

  ! Check, if `refused` is true, that an array of another shape was refused.
  subroutine code_if(ierr, refused)
    integer, intent(in) :: ierr
    logical, intent(in) :: refused
    if (refused) call code_is(ierr, TUTTI_ERR_ARG, "a plane of another shape")
  end subroutine code_if

  ! Test randomly distributed items, in sections with negative strides; by blocking, split, planned and independent calls.
  subroutine lists(round)
    integer, intent(in) :: round
    integer, parameter :: n = 24
    integer(int32), asynchronous :: grid(13, 17), back(13, 17)
    integer(int32), allocatable :: whole(:), model(:)
    integer(int64) :: order(n * ranks), mine(n), count
    integer :: i, j, r, ierr, way
    type(tutti_file) :: f
    type(tutti_access) :: a, all_of_it, placed
    type(tutti_plan) :: plan
    order = [(i - 1, i=1, n * ranks)]
    do i = n * ranks, 2, -1
      j = chance(1, i)
      order([i, j]) = order([j, i])
    end do
    way = chance(1, 4)
    call tutti_file_open(MPI_COMM_WORLD, path("lists.dat"), ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f, &
                         ierr=ierr)
    call fine(ierr, "open")
    allocate (model(n * ranks), whole(n * ranks))
    do r = 0, ranks - 1
      do i = 1, n
        model(order(r * n + i) + 1) = 1000 * r + i + round
      end do
    end do
    mine = order(rank * n + 1:rank * n + n)
    call tutti_access_indices(0_tutti_off, 4_tutti_off, mine, a, ierr)
    call fine(ierr, "indices")
    call check(tutti_access_bytes(a) == 4 * n, "bytes of an access")
    ! Write from a section of 4 x 6 elements of the grid with strides, descending in one dimension.
    grid = -1
    grid(11:5:-2, 2:17:3) = reshape([(1000 * rank + i + round, i=1, n)], [4, 6])
    select case (way)
    case (1)
      call tutti_file_write(f, a, grid(11:5:-2, 2:17:3), ierr, count=count)
      call check(count == 4 * n, "count of a write")
    case (2)
      call tutti_file_write_begin(f, a, grid(11:5:-2, 2:17:3), ierr)
      call fine(ierr, "begin")
      call tutti_file_write_end(f, ierr=ierr)
    case (3)
      call tutti_plan_write(f, a, plan, like=grid(11:5:-2, 2:17:3), ierr=ierr)
      call fine(ierr, "plan")
      call tutti_plan_run(plan, grid(11:5:-2, 2:17:3), ierr=ierr)
      call tutti_plan_free(plan)
    case (4)
      call tutti_access_for(a, grid(11:5:-2, 2:17:3), placed, ierr)
      call fine(ierr, "an access for an array")
      call tutti_file_write_independent(f, a, grid(11:5:-2, 2:17:3), ierr=ierr)
      call tutti_access_free(placed)
    end select
    call fine(ierr, "write of a list")
    call tutti_file_sync(f, ierr)
    call tutti_access_contiguous(0_tutti_off, 4_tutti_off * n * ranks, all_of_it)
    call tutti_file_read(f, all_of_it, whole, ierr, count=count)
    call fine(ierr, "read of the file")
    call check(count == 4 * n * ranks .and. all(whole == model), "the file is not what was written")
    ! Read the values back to a section of another array.
    back = -1
    call tutti_file_read(f, a, back(1:12:3, 17:2:-3), ierr, count=count)
    call fine(ierr, "read of a list")
    call check(all(back(1:12:3, 17:2:-3) == grid(11:5:-2, 2:17:3)), "a list is not what was written")
    back(1:12:3, 17:2:-3) = -1
    call check(all(back == -1), "elements between were changed")
    call columns(f, round)
    call tutti_access_free(a)
    call tutti_access_free(all_of_it)
    call tutti_file_close(f, ierr)
    call fine(ierr, "close")
  end subroutine lists

  ! Test columns of a matrix; the access for a strided array in memory has a small description.
  subroutine columns(f, round)
    type(tutti_file), intent(in) :: f
    integer, intent(in) :: round
    integer, parameter :: rows = 30, mine = 4
    integer(int32) :: halo(0:rows + 1, 0:mine + 1), all_of_it(rows, mine * ranks)
    type(tutti_access) :: a, placed
    type(tutti_section) :: s
    integer :: ierr, i, j
    s%ndims = 2
    s%element_size = 4
    s%shape(1:2) = [rows, mine * ranks]
    s%lo(1:2) = [0, mine * rank]
    s%hi(1:2) = [rows, mine * (rank + 1)]
    call tutti_access_section(s, a, ierr=ierr)
    call fine(ierr, "section")
    halo = -5
    do j = 1, mine
      halo(1:rows, j) = [(i + 100 * (j + mine * rank) + round, i=1, rows)]
    end do
    call tutti_access_for(a, halo(1:rows, 1:mine), placed)
    call check(tutti_access_size(placed) < 1000, "the description of columns is large")
    call tutti_access_free(placed)
    call tutti_file_write(f, a, halo(1:rows, 1:mine), ierr=ierr)
    call fine(ierr, "write of columns")
    call tutti_access_free(a)
    s%lo(1:2) = 0
    s%hi(1:2) = s%shape(1:2)
    call tutti_access_section(s, a)
    call tutti_file_read(f, a, all_of_it, ierr=ierr)
    call fine(ierr, "read of columns")
    call check(all(all_of_it == reshape([((i + 100 * j + round, i=1, rows), j=1, mine * ranks)], &
                                        [rows, mine * ranks])), "columns are wrong")
    call tutti_access_free(a)
  end subroutine columns

  ! Test two variables in one operation, with type conversion.
  subroutine parts(round)
    integer, intent(in) :: round
    integer, parameter :: n = 40
    real(real64) :: x(2, n), back(n, 3)
    integer(int32) :: k(n), kept(n)
    integer(int8) :: bytes(4)
    type(tutti_part) :: part(2)
    type(tutti_file) :: f
    type(tutti_access) :: a(2), four
    integer :: ierr, i
    integer(int64) :: count
    x = 0
    x(2, :) = [(round + 0.1d0 * i * (rank + 1), i=1, n)]
    k = [(i * round + rank, i=1, n)]
    call tutti_file_open(MPI_COMM_WORLD, path("parts.dat"), ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE), f)
    call tutti_access_contiguous(4_tutti_off * n * rank, 4_tutti_off * n, a(1))
    call tutti_access_contiguous(4_tutti_off * n * ranks + 2_tutti_off * n * rank, 2_tutti_off * n, a(2))
    call tutti_part_make(part(1), a(1), x(2, :), file_type=TUTTI_FLOAT32, file_order=TUTTI_BIG_ENDIAN)
    call tutti_part_make(part(2), a(2), k, file_type=TUTTI_INT16)
    call tutti_file_write_parts(f, part, ierr, count=count)
    call fine(ierr, "write of parts")
    call check(count == 6 * n, "count of parts")
    back = -1
    kept = -1
    call tutti_part_make(part(1), a(1), back(:, 2), file_type=TUTTI_FLOAT32, file_order=TUTTI_BIG_ENDIAN)
    call tutti_part_make(part(2), a(2), kept(n:1:-1), file_type=TUTTI_INT16)
    call tutti_file_read_parts(f, part, ierr=ierr)
    call fine(ierr, "read of parts")
    call check(all(back(:, 2) == real(real(x(2, :), real32), real64)), "float32 and back")
    call check(all(back(:, 1) == -1 .and. back(:, 3) == -1), "other columns were changed")
    call check(all(kept(n:1:-1) == k), "int16 and back")
    call tutti_access_contiguous(4_tutti_off * n * rank, 4_tutti_off, four)
    call tutti_file_read_independent(f, four, bytes)
    call check(all(bytes(4:1:-1) == transfer(real(x(2, 1), real32), bytes)), "the big end does not come first")
    x(2, n) = 1d300
    call tutti_part_make(part(1), a(1), x(2, :), file_type=TUTTI_FLOAT32)
    call tutti_file_write_parts(f, part(1:1), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_VALUE, "a value that does not fit")
    call tutti_access_free(a(1))
    call tutti_access_free(a(2))
    call tutti_access_free(four)
    call tutti_file_close(f)
  end subroutine parts

  ! Write a dataset by blocks of columns, and read it by other decompositions, in other types.
  subroutine grids(round)
    integer, intent(in) :: round
    integer :: n1, n2, low, high, i, j, m, ierr
    real(real32), allocatable :: mine(:, :), strip(:, :)
    real(real64), allocatable :: some(:), everything(:, :)
    integer(int64), allocatable :: index(:), memory(:), shape(:)
    type(tutti_dataset) :: d
    type(tutti_dataset_options) :: opt
    type(tutti_decomposition) :: columns, picked, rows
    type(tutti_slice) :: s
    n1 = chance(1, 12)
    n2 = chance(ranks, 20)
    low = n2 * rank / ranks + 1
    high = n2 * (rank + 1) / ranks
    call tutti_dataset_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_dataset_open(MPI_COMM_WORLD, path("grids.tutti"), &
                            ior(ior(TUTTI_READ, TUTTI_WRITE), ior(TUTTI_CREATE, TUTTI_TRUNCATE)), d, opt=opt, ierr=ierr)
    call fine(ierr, "open of a dataset")
    call tutti_dataset_grid(d, "grid", [n1, n2], ierr)
    call fine(ierr, "grid")
    call tutti_dataset_variable(d, "x", "grid", merge(TUTTI_FLOAT32, TUTTI_FLOAT64, chance(0, 1) == 1), &
                                units="m", fill=-1d0, ierr=ierr)
    call fine(ierr, "variable")
    call tutti_slice_fortran([1, low], [n1, high], s)
    call tutti_decomposition_create(d, "grid", columns, slice=s, whole=1, ierr=ierr)
    call fine(ierr, "decomposition by columns")
    allocate (mine(n1, low:high))
    do j = low, high
      mine(:, j) = [(real(i + 100 * j + round, real32), i=1, n1)]
    end do
    call tutti_dataset_begin(d, TUTTI_STATE, int(round, int64), 0.5d0 * round, ierr)
    call fine(ierr, "begin")
    call tutti_dataset_put(d, "x", columns, mine, ierr=ierr)
    call fine(ierr, "put")
    call tutti_dataset_commit(d, ierr)
    call fine(ierr, "commit")
    call tutti_dataset_shape(d, "grid", -1_int64, shape)
    call check(all(shape == [n1, n2]), "shape of a grid")
    ! Read entries by position, in reverse order in memory.
    m = chance(0, n1 * n2)
    allocate (index(m), memory(m), some(m))
    index = [(modulo(i * 7_int64 + rank, int(n1 * n2, int64)), i=1, m)]
    if (modulo(n1 * n2, 7) == 0) index = [(int(i - 1, int64), i=1, m)]
    memory = [(m - i, i=1, m)]
    call tutti_decomposition_create(d, "grid", picked, index=index, memory=memory, ierr=ierr)
    call fine(ierr, "decomposition by positions")
    some = -1
    call tutti_dataset_get(d, 0_int64, "x", picked, some, ierr=ierr)
    call fine(ierr, "get")
    call check(all([(some(m - i + 1) == real(modulo(index(i), int(n1, int64)) + 1 + 100 * (index(i) / n1 + 1) + round, &
                                             real64), i=1, m)]), "entries by position are wrong")
    ! Read every second row and every third column.
    call tutti_slice_fortran([1, 1], [n1, n2], s, stride=[2, 3])
    call tutti_decomposition_create(d, "grid", rows, slice=s, ierr=ierr)
    call fine(ierr, "decomposition by strides")
    allocate (strip((n1 + 1) / 2, (n2 + 2) / 3))
    call tutti_dataset_get(d, 0_int64, "x", rows, strip, ierr=ierr)
    call fine(ierr, "get of strides")
    allocate (everything(n1, n2))
    everything = reshape([((i + 100d0 * j + round, i=1, n1), j=1, n2)], [n1, n2])
    call check(all(strip == everything(::2, ::3)), "a slice with strides is wrong")
    call tutti_decomposition_free(columns)
    call tutti_decomposition_free(picked)
    call tutti_decomposition_free(rows)
    call tutti_dataset_close(d, ierr)
    call fine(ierr, "close of a dataset")
  end subroutine grids
end program properties
