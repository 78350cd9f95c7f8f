! TEST ranks=1,3 timeout=60 builds=openmpi,mpich,asan
! Invalid arguments set ierr, in collective calls to the same value on all ranks: arrays of a wrong type, too
! small, or with strides that a call cannot use, and freed handles, on one rank; afterwards correct calls work.
! With the argument `stop`: an error without ierr ends the program with a message (t1405_error_ends_program.sh).
! SPDX-License-Identifier: BSD-3-Clause
program wrong_use
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  logical :: odd   ! this rank passes the invalid argument
  call begin()
  odd = rank == ranks - 1
  if (command_argument_count() > 0) call stop_here()
  call files()
  call handles()
  call arrays()
  call items()
  call datasets()
  call meshes()
  call exodus()
  call finish()
contains

  subroutine stop_here()
    type(tutti_file) :: f
    call tutti_file_open(MPI_COMM_WORLD, path("nowhere/at/all"), TUTTI_READ, f)
    print *, "went on"
    call finish()
  end subroutine stop_here

  integer function read_write()
    read_write = ior(ior(TUTTI_READ, TUTTI_WRITE), TUTTI_CREATE)
  end function read_write

  subroutine says(words)
    character(*), intent(in) :: words
    call check(index(tutti_last_message(), words) > 0, "'" // words // "' is not in: " // tutti_last_message())
  end subroutine says

  subroutine files()
    type(tutti_file) :: f
    type(tutti_access) :: a
    type(tutti_error_info) :: why
    type(tutti_plan) :: plan
    type(tutti_part) :: part(1)
    real(real64) :: x(20), y(20, 2)
    integer(int8) :: packed(100)
    integer :: ierr
    type :: particle
      real(real64) :: mass
      integer(int32) :: kind
    end type
    type(particle) :: particles(10)
    call tutti_file_open(MPI_COMM_WORLD, path("no/such/file"), TUTTI_READ, f, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "a file that is not there")
    why = tutti_last_error()
    call check(why%code == TUTTI_ERR_NOT_FOUND .and. index(tutti_text(why%path), "no/such/file") > 0, "the last error")
    call check(.not. c_associated(f%p), "a file that was not opened")
    call tutti_file_open(MPI_COMM_NULL, path("a.dat"), read_write(), f, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "no communicator")
    call tutti_file_open(MPI_COMM_WORLD, path("a.dat"), read_write(), f, ierr=ierr)
    call fine(ierr, "open")
    x = 1
    y = 2
    call tutti_access_contiguous(int(rank * 80, tutti_off), 80_tutti_off, a)
    ! The array of one rank is too small.
    if (odd) then
      call tutti_file_write(f, a, x(1:5), ierr=ierr)
    else
      call tutti_file_write(f, a, x, ierr=ierr)
    end if
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array")
    call says("40 bytes")
    call tutti_file_write_begin(f, a, x(1:merge(9, 10, odd)), ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array to begin with")
    ! Run a plan for contiguous arrays with a strided array.
    call tutti_plan_write(f, a, plan, ierr=ierr)
    call fine(ierr, "plan")
    if (odd) then
      call tutti_plan_run(plan, x(::2), ierr=ierr)
    else
      call tutti_plan_run(plan, x, ierr=ierr)
    end if
    call code_is(ierr, TUTTI_ERR_ARG, "a plan for other strides")
    call tutti_plan_run(plan, x, ierr=ierr)
    call fine(ierr, "the plan afterwards")
    call tutti_plan_free(plan)
    call tutti_plan_run(plan, x, ierr=ierr)
    call check(ierr /= 0, "a plan that has been freed")
    ! Write parts that are too small or have no numeric type.
    call tutti_part_make(part(1), a, x(1:merge(5, 20, odd)))
    call tutti_file_write_parts(f, part, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small a part")
    call tutti_part_make(part(1), a, particles, file_type=TUTTI_FLOAT64, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a part of no numbers")
    ! Write components of a derived type, whose distance is not a multiple of the element size.
    particles%mass = 3
    particles%kind = 1
    call tutti_file_write(f, a, particles%mass, ierr=ierr)
    call fine(ierr, "components")
    call tutti_file_read(f, a, y(:, 2), ierr=ierr)
    call check(all(y(1:10, 2) == 3) .and. all(y(11:, 2) == 2) .and. all(y(:, 1) == 2), "components are wrong")
    ! Pack to an array that is too small, beyond the end of the access, and correctly.
    call tutti_access_pack(a, x, 0_tutti_off, 80_tutti_off, packed(1:79), ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "no room for what is packed")
    call tutti_access_pack(a, x, 0_tutti_off, 81_tutti_off, packed, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "more than there is")
    call tutti_access_pack(a, x(::2), 0_tutti_off, 80_tutti_off, packed, ierr)
    call fine(ierr, "packing")
    call check(transfer(packed(73:80), 0d0) == 1, "what is packed")
    call tutti_access_free(a)
    call tutti_file_close(f, ierr)
    call fine(ierr, "close")
  end subroutine files

  subroutine handles()
    type(tutti_file) :: f, copy
    type(tutti_access) :: a, gone
    type(tutti_request) :: request
    real(real64) :: x(10)
    integer :: ierr
    x = 1
    call tutti_file_open(MPI_COMM_WORLD, path("a.dat"), read_write(), f)
    call tutti_access_contiguous(0_tutti_off, 80_tutti_off, a)
    gone = a
    call tutti_access_free(a)
    call tutti_file_write(f, gone, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "an access that has been freed")
    call tutti_file_write(f, a, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an access that is no more")
    call tutti_request_wait(request, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a request that never was")
    copy = f
    call tutti_file_close(f, ierr)
    call fine(ierr, "close")
    call tutti_file_write(f, a, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a file that is no more")
    call tutti_file_write(copy, a, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "a file that has been closed")
    call tutti_file_close(copy, ierr)
    call check(ierr /= 0, "a file that is closed twice")
    call tutti_access_runs([0_int64, 1_int64], [1_int64], a, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "lists of different lengths")
  end subroutine handles

  subroutine arrays()
    type(tutti_array_spec) :: spec
    type(tutti_array) :: a, copy
    type(tutti_slice) :: s
    type(tutti_section) :: memory
    type(tutti_distribution) :: d
    type(tutti_tiles) :: t
    real(real64) :: x(8, 6), y(8, 6)
    real(real32) :: small(8, 6)
    integer :: ierr
    call tutti_slice_fortran([0, 1], [8, 6], s, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a lower bound of 0")
    call tutti_slice_fortran([1, 1, 1], [8, 6], s, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "bounds of different lengths")
    call tutti_slice_fortran([1., 1.], [8, 6], s, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "bounds that are no integers")
    call tutti_slice_fortran([1, 1], [8, 6], s, stride=[1.5], ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "strides that are no integers")
    spec%ndims = 2
    spec%shape(1:2) = [8, 6]
    spec%type = TUTTI_FLOAT64
    call tutti_array_create(MPI_COMM_WORLD, path("a.tta"), spec, a, ierr=ierr)
    call fine(ierr, "create")
    call tutti_slice_fortran([1, 1], [8, 6], s)
    x = 4
    small = 1
    if (odd) then
      call tutti_array_write(a, s, small, ierr=ierr)
    else
      call tutti_array_write(a, s, x, ierr=ierr)
    end if
    call code_is(ierr, TUTTI_ERR_ARG, "an array of another type")
    call says("float32")
    call tutti_array_write(a, s, x(1:merge(7, 8, odd), :), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an array of another shape")
    if (odd) then
      call tutti_array_write(a, s, x(8:1:-1, :), ierr=ierr)
    else
      call tutti_array_write(a, s, x, ierr=ierr)
    end if
    call code_is(ierr, TUTTI_ERR_UNSUPPORTED, "an array that goes backwards")
    memory%ndims = 2
    memory%shape(1:2) = [8, merge(7, 6, odd)]
    memory%hi(1:2) = [8, 6]
    if (odd) memory%lo(2) = 1
    if (odd) memory%hi(2) = 7
    call tutti_array_write(a, s, x, memory=memory, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a section that goes beyond the array")
    if (odd) then
      call tutti_array_fill(a, 1., ierr)
    else
      call tutti_array_fill(a, 1d0, ierr)
    end if
    call code_is(ierr, TUTTI_ERR_ARG, "an element of another type")
    call tutti_distribution_make([8, 6], [tutti_dist_dim(TUTTI_DIST_NONE, 1)], d, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a distribution of one dimension too few")
    call tutti_distribution_make([8, 6], [tutti_dist_dim(TUTTI_DIST_NONE, 1), tutti_dist_dim(TUTTI_DIST_BLOCK, ranks)], &
                                 d, ierr)
    call fine(ierr, "a distribution")
    call tutti_array_write_part(a, d, x(1:merge(3, 8, odd), 1:(5 + ranks) / ranks), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a part of another shape")
    call tutti_distribution_free(d)
    call tutti_array_write_part(a, d, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a distribution that is no more")
    call tutti_tiles_begin(t, 1_tutti_off, from=a, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small a budget")
    call tutti_tiles_begin(t, 100000_tutti_off, from=a, tile=[2., 3.], ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "tiles of no integers")
    ! Correct calls work.
    call tutti_array_write(a, s, x, ierr=ierr)
    call fine(ierr, "a write afterwards")
    call tutti_array_read(a, s, y, ierr=ierr)
    call check(all(y == 4), "a read afterwards")
    copy = a
    call tutti_array_close(a, ierr)
    call fine(ierr, "close")
    call tutti_array_read(copy, s, y, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "an array that has been closed")
    call tutti_array_read(a, s, y, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an array that is no more")
  end subroutine arrays

  subroutine items()
    type(tutti_replicas) :: r, gone
    type(tutti_file) :: f
    real(real64) :: v(12)
    integer(int64) :: numbers(6)
    integer :: ierr, i
    numbers = [(int(5 * rank + i, int64), i=0, 5)]
    call tutti_replicas_create(MPI_COMM_WORLD, numbers, 8_tutti_off, r, own=[1_int8], ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too short a list of owners")
    call tutti_replicas_create(MPI_COMM_WORLD, numbers, 8_tutti_off, r, ierr=ierr)
    call fine(ierr, "replicas")
    call tutti_file_open(MPI_COMM_WORLD, path("r.dat"), read_write(), f)
    v = 1
    call tutti_replicas_write(f, 0_tutti_off, r, v(::merge(3, 2, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too few items that are not contiguous")
    call says("32 bytes")
    call tutti_replicas_check(r, v(1:merge(5, 6, odd)), ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too few items")
    call tutti_replicas_write(f, 0_tutti_off, r, v, check=1, ierr=ierr)
    call fine(ierr, "items afterwards")
    gone = r
    call tutti_replicas_free(r)
    call tutti_replicas_write(f, 0_tutti_off, gone, v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "an inspector that has been freed")
    call check(.not. associated(tutti_replicas_writers(gone)), "writers of an inspector that has been freed")
    call tutti_file_close(f)
  end subroutine items

  subroutine datasets()
    type(tutti_dataset) :: d
    type(tutti_decomposition) :: mine, gone
    type(tutti_request) :: request
    real(real64), asynchronous :: v(20)
    logical :: flags(10)
    integer(int32) :: number(2)
    character(2) :: short
    integer :: ierr, i
    call tutti_dataset_open(MPI_COMM_WORLD, path("d.tutti"), ior(read_write(), TUTTI_TRUNCATE), d, ierr=ierr)
    call fine(ierr, "open")
    call tutti_dataset_grid(d, "grid", [1.5], ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a grid of no integers")
    call tutti_dataset_grid(d, "grid", [10 * ranks], ierr)
    call fine(ierr, "grid")
    call tutti_dataset_variable(d, "x", "grid", TUTTI_FLOAT64, ierr=ierr)
    call fine(ierr, "variable")
    call tutti_decomposition_create(d, "grid", mine, index=[1_int64, 2_int64], own=[1_int8], ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "lists of different lengths")
    call tutti_decomposition_create(d, "grid", mine, index=[1_int64, 2_int64], memory=[0_int64, -1_int64], ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an entry before the array")
    call tutti_decomposition_create(d, "grid", mine, index=[(int(10 * rank + i, int64), i=0, 9)], ierr=ierr)
    call fine(ierr, "decomposition")
    call tutti_dataset_begin(d, TUTTI_STATE, 1_int64, 0d0)
    v = [(10d0 * rank + i, i=0, 19)]
    flags = .true.
    if (odd) then
      call tutti_dataset_put_start(d, "x", mine, v(::2), request, ierr=ierr)
    else
      call tutti_dataset_put_start(d, "x", mine, v, request, ierr=ierr)
    end if
    call fine(ierr, "start, which does not wait for the rank with a wrong array")
    call tutti_request_wait(request, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an array that is not contiguous, started")
    call says("not contiguous")
    call tutti_dataset_put_start(d, "x", mine, v(1:merge(9, 10, odd)), request, ierr=ierr)
    call fine(ierr, "start with too small an array")
    call tutti_request_wait(request, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array, started")
    call says("72 bytes")
    call tutti_dataset_put(d, "x", mine, v(::merge(3, 2, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array that is not contiguous")
    call tutti_dataset_put(d, "x", mine, v(1:merge(9, 10, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array")
    call tutti_dataset_put(d, "x", mine, v, type=merge(TUTTI_INT32, TUTTI_FLOAT64, odd), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an array of another type than is said")
    if (ranks == 1) then   ! on more ranks, different types are another error
      call tutti_dataset_put(d, "x", mine, flags, ierr=ierr)
      call code_is(ierr, TUTTI_ERR_ARG, "an array of no numbers")
    end if
    call tutti_dataset_put(d, "x", mine, v, ierr=ierr)
    call fine(ierr, "put")
    call tutti_dataset_commit(d, ierr)
    call fine(ierr, "commit")
    call tutti_dataset_info_set(d, "steps", 7, ierr=ierr)
    call fine(ierr, "info")
    call tutti_dataset_info_set(d, "title", "of no great length", ierr=ierr)
    call tutti_dataset_info_get(d, "steps", v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an info of another type")
    call tutti_dataset_info_get(d, "title", short, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "no room for an info")
    call tutti_dataset_info_get(d, "steps", number(1), ierr=ierr)
    call fine(ierr, "an info")
    call check(number(1) == 7, "the info")
    call tutti_dataset_info_get(d, "nothing", number, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "an info that is not there")
    call tutti_decomposition_create(d, "grid", gone, index=[10_int64 * rank], memory=[20_int64], ierr=ierr)
    call fine(ierr, "a place beyond arrays")
    call tutti_dataset_get(d, 0_int64, "x", gone, v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a place beyond the array")
    call tutti_decomposition_free(gone)
    gone = mine
    call tutti_decomposition_free(mine)
    call tutti_dataset_get(d, 0_int64, "x", gone, v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "a decomposition that has been freed")
    call tutti_dataset_get(d, 0_int64, "x", mine, v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a decomposition that is no more")
    call tutti_dataset_close(d, ierr)
    call fine(ierr, "close")
    call tutti_dataset_commit(d, ierr)
    call check(ierr /= 0, "a dataset that is no more")
  end subroutine datasets

  subroutine meshes()
    type(tutti_mesh) :: m
    type(tutti_mesh_part) :: part
    type(tutti_mesh_view) :: view
    real(real64) :: x(3, 8), u(100)
    integer(int64) :: start(2), node(8)
    integer(int32), allocatable :: of(:)
    integer :: ierr, i, many
    x = reshape([(real(modulo(i, 5), real64), i=1, 24)], [3, 8])
    start = [0, 8]
    node = [(int(i, int64), i=0, 7)]
    many = merge(1, 0, rank == 0)
    ! The list of nodes is too short for the last element.
    call tutti_mesh_make(MPI_COMM_WORLD, x(:, 1:8 * many), [(int(TUTTI_MESH_HEX, int8), i=1, many)], start, &
                         node(1:7), m, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too short a list of nodes")
    call tutti_mesh_make(MPI_COMM_WORLD, x(1:2, 1:8 * many), [(int(TUTTI_MESH_HEX, int8), i=1, many)], start, &
                         node, m, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "nodes in two dimensions")
    call tutti_mesh_make(MPI_COMM_WORLD, x(:, 1:8 * many), [(int(TUTTI_MESH_HEX, int8), i=1, many)], start, node, m, &
                         ierr=ierr)
    call fine(ierr, "mesh")
    call tutti_mesh_view_get(m, view)
    allocate (of(view%nodes))
    call tutti_mesh_partition(m, ranks, TUTTI_MESH_BY_CURVE, of(1:size(of) - merge(1, 0, odd .and. size(of) > 0)), &
                              ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too short a list of partitions")
    call tutti_mesh_partition(m, ranks, TUTTI_MESH_BY_CURVE, of, ierr=ierr)
    call fine(ierr, "partition")
    call tutti_mesh_part_make(m, of, part, ierr)
    call fine(ierr, "part")
    u = 1
    call tutti_mesh_part_exchange(part, u(1:merge(0, 100, odd)), 1, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too few values")
    call tutti_mesh_part_exchange(part, u, 1, ierr)
    call fine(ierr, "exchange")
    call tutti_mesh_part_free(part)
    call tutti_mesh_free(m)
    call tutti_mesh_view_get(m, view, ierr)
    call check(ierr /= 0 .and. .not. associated(view%node), "a mesh that is no more")
  end subroutine meshes

  subroutine exodus()
    type(tutti_exodus) :: x, copy
    type(tutti_exodus_mesh) :: mesh, good
    type(tutti_exodus_field) :: field(1)
    type(tutti_exodus_options) :: opt
    type(tutti_request) :: request
    type(tutti_decomposition) :: none
    integer(int64), target :: ids(3), nodes(3, 2), element(2), more(2, 4)
    integer(int32), target :: sides(2)
    real(real64), target :: xy(2, 3), factors(5)
    real(real64), asynchronous :: v(6)
    real(real32) :: flags(2, 2)
    logical :: no_numbers(3)
    integer :: ierr, i
    call tutti_exodus_options_init(opt)
    opt%level = TUTTI_VISIBLE
    call tutti_exodus_open(MPI_COMM_WORLD, path("no.e"), TUTTI_READ, x, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "a file that is not there")
    call tutti_exodus_create(MPI_COMM_WORLD, path("x.e"), x, ierr, opt=opt)
    call fine(ierr, "create")
    call tutti_exodus_init(x, tutti_exodus_parameters(dims=2, title=repeat("l", 81)), ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too long a title")
    call tutti_exodus_init(x, tutti_exodus_parameters(dims=2), ierr)
    call tutti_exodus_define(x, [tutti_exodus_entity(id=1, topology="TRI3", name=repeat("n", 256))], ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too long a name")
    call tutti_exodus_define(x, [tutti_exodus_entity(id=1, topology="TRI3", attributes=1), &
                                 tutti_exodus_entity(kind=TUTTI_EXODUS_SIDE_SET, id=1)], ierr)
    call fine(ierr, "define")
    call tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, [character(4) :: "t", "u"], ierr)
    call fine(ierr, "variables")
    call tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, [character(4) :: "a"], ierr)
    call tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, reshape([logical ::], [0, 1]), ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small a truth table")
    call tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "p", [integer(int64) ::], ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too few values of a property")
    ! Each rank has one triangle; one rank passes lists of wrong lengths.
    ids = 3 * rank + [1, 2, 3]
    xy = reshape([0, 0, 1, 0, 0, 1], [2, 3])
    nodes = reshape([0, 1, 2, 0, 1, 2], [3, 2])
    element = rank + 1
    sides = 1
    factors = 1
    good = tutti_exodus_mesh(node_ids=ids, x=xy(1, :), y=xy(2, :), &
        blocks=[tutti_exodus_elements(ids=element(1:1), nodes=nodes(:, 1:1))], &
        side_sets=[tutti_exodus_members_type(members=nodes(1:1, 1), sides=sides(1:1), factors=factors(1:2))])
    do i = 1, 9
      mesh = good
      if (odd .and. i == 1) mesh%node_ids => ids(1:2)
      if (odd .and. i == 2) mesh%y => xy(2, 1:2)
      if (odd .and. i == 3) mesh%blocks(1)%nodes => more(:, 1:1)
      if (odd .and. i == 4) mesh%blocks(1)%ids => element
      if (odd .and. i == 5) mesh%blocks(1)%attributes => xy(:, 1:1)
      if (odd .and. i == 6) mesh%side_sets(1)%sides => sides
      if (odd .and. i == 7) mesh%side_sets(1)%factors => factors
      if (odd .and. i == 8) mesh%blocks = [good%blocks, good%blocks]
      if (odd .and. i == 9) mesh%blocks(1)%nodes => nodes(3:1:-1, 1:1)
      call tutti_exodus_put_mesh(x, mesh, ierr)
      call code_is(ierr, TUTTI_ERR_ARG, "a list of a mesh that does not fit the rest")
    end do
    call says("nodes")
    mesh = good
    nodes(2, 1) = merge(3, 1, odd)
    call tutti_exodus_put_mesh(x, mesh, ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a node that is not there")
    nodes(2, 1) = 1
    call tutti_exodus_put_mesh(x, good, ierr)
    call fine(ierr, "put_mesh")
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "no step has begun")
    call tutti_exodus_begin(x, 0d0, ierr)
    v = 1
    flags = 1
    no_numbers = .true.
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", v(1:merge(2, 3, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array")
    call says("16 bytes")
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", v(::merge(3, 2, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array that is not contiguous")
    if (odd) then
      call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", v(::2), request, ierr=ierr)
    else
      call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", v, request, ierr=ierr)
    end if
    call fine(ierr, "start, which does not wait for the rank with a wrong array")
    call tutti_request_wait(request, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "an array that is not contiguous, started")
    call says("not contiguous")
    call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", v(1:merge(2, 3, odd)), request, ierr=ierr)
    call fine(ierr, "start with too small an array")
    call tutti_request_wait(request, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "too small an array, started")
    call says("16 bytes")
    if (odd) then
      call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", no_numbers, ierr=ierr)
    else
      call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", v, ierr=ierr)
    end if
    call code_is(ierr, TUTTI_ERR_ARG, "an array of no numbers")
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, repeat("t", 300), v, ierr=ierr)
    call check(ierr /= 0, "a variable with a very long name")
    call tutti_exodus_field_make(field(1), TUTTI_EXODUS_NODAL, repeat("t", 300), v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a field with a very long name")
    call tutti_exodus_put(x, TUTTI_EXODUS_ELEMENT_BLOCK, "a", v, id=9_int64, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "a block that is not there")
    call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", v(1:5:2), ierr=ierr)
    call fine(ierr, "put")
    call tutti_exodus_commit(x, ierr)
    call fine(ierr, "commit")
    v = 0
    call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", v(6:2:-2), ierr=ierr)
    call check(ierr == 0 .and. all(v == [0, 1, 0, 1, 0, 1]), "what was put")
    call tutti_exodus_follow(x, 1_int64, 1_int64, TUTTI_EXODUS_NODAL, "t", v(1:merge(2, 3, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "no room for a field through time")
    call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", flags(1, 1:merge(1, 2, odd)), ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "no room for a field")
    call tutti_exodus_get(x, 2_int64, TUTTI_EXODUS_NODAL, "t", v, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_NOT_FOUND, "a step that is not there")
    copy = x
    call tutti_exodus_close(x, ierr)
    call fine(ierr, "close")
    call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", v, entries=none, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_ARG, "a file that is no more")
    call tutti_exodus_put_mesh(copy, good, ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "a file that has been closed")
    call tutti_exodus_get_mesh(copy, mesh, ierr=ierr)
    call code_is(ierr, TUTTI_ERR_STATE, "a mesh of a file that has been closed")
  end subroutine exodus
end program wrong_use
