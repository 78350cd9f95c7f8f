! TEST ranks=1,3 timeout=60
! Exodus files from Fortran: definitions, meshes, results, arrays, notes and Nemesis data are written and read
! back, by one or several variables per call, blocking or non-blocking; a mesh that was read is written to
! another file with the same bytes.
! SPDX-License-Identifier: BSD-3-Clause
program exodus_files
  use mpi_f08
  use tutti
  use checks
  use, intrinsic :: iso_fortran_env, only: int8, int32, int64, real32, real64
  implicit none
  integer, parameter :: long = 7      ! quadrilaterals in a row, then as many triangles, distributed over the ranks
  integer(int64), parameter :: quads = 10, triangles = 20, nodes_of_row = 5, bottom = 30
  type :: part
    integer(int64), allocatable :: node_ids(:), quad_ids(:), quad(:, :), tri_ids(:), tri(:, :), row(:), low(:)
    integer(int32), allocatable :: sides(:)
    real(real64), allocatable :: x(:, :), factors(:), low_factors(:), thick(:, :), weight(:, :)
  end type
  type(part), target :: mine
  integer :: ierr
  call begin()
  call make_part()
  call write_file()
  call read_file()
  call copy_file()
  call write_arrays()
  call finish()
contains

  ! Make this rank's part of the mesh: node 2 i + 1 is at (i, 0), node 2 i + 2 at (i, 1); quadrilaterals come first,
  ! then pairs of triangles.
  subroutine make_part()
    integer :: first, last, i, n
    first = 2 * long * rank / ranks          ! cells
    last = 2 * long * (rank + 1) / ranks
    n = merge(2 * (last - first + 1), 0, last > first)
    mine%node_ids = [(int(2 * first + i, int64), i=1, n)]
    allocate (mine%x(2, n), mine%weight(2, n))
    mine%x(1, :) = (mine%node_ids - 1) / 2
    mine%x(2, :) = modulo(mine%node_ids - 1, 2_int64)
    mine%weight(1, :) = mine%node_ids
    mine%weight(2, :) = -mine%node_ids
    mine%quad_ids = [(int(i + 1, int64), i=first, min(last, long) - 1)]
    mine%tri_ids = [(int(long + 2 * (i - long) + 1, int64), int(long + 2 * (i - long) + 2, int64), &
                     i=max(first, long), last - 1)]
    mine%quad = reshape([(int(2 * (i - first) + [0, 2, 3, 1], int64), i=first, min(last, long) - 1)], &
                        [4, size(mine%quad_ids)])
    mine%tri = reshape([(int(2 * (i - first) + [0, 2, 3, 0, 3, 1], int64), i=max(first, long), last - 1)], &
                       [3, size(mine%tri_ids)])
    allocate (mine%thick(3, size(mine%quad_ids)))
    do i = 1, size(mine%quad_ids)
      mine%thick(:, i) = mine%quad_ids(i) * [1, 10, 100]
    end do
    mine%row = [(int(i, int64), i=0, n - 1, 2)]            ! nodes at y = 0
    mine%factors = mine%x(1, 1::2) / 2
    ! Collect the sides at y = 0, of quadrilaterals and of every other triangle.
    mine%low = [(int(i, int64), i=0, size(mine%quad_ids) - 1), &
                (int(size(mine%quad_ids) + i, int64), i=0, size(mine%tri_ids) - 1, 2)]
    mine%sides = [(1, i=1, size(mine%low))]
    mine%low_factors = [(real(i, real64), i=1, 2 * size(mine%low))]
  end subroutine make_part

  subroutine define(x)
    type(tutti_exodus), intent(in) :: x
    call tutti_exodus_init(x, tutti_exodus_parameters(title="all of it", dims=2, coordinate_names=["r", "s", " "], &
                                                      node_attributes=2), ierr)
    call fine(ierr, "init")
    call tutti_exodus_define(x, [ &
        tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=quads, topology="QUAD4", name="squares", attributes=3), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=triangles, topology="TRI3"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_NODE_SET, id=nodes_of_row, name="row"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_SIDE_SET, id=bottom, name="bottom")], ierr)
    call fine(ierr, "define")
    call tutti_exodus_variables(x, TUTTI_EXODUS_GLOBAL, ["energy ", "hottest"], ierr)
    call fine(ierr, "global variables")
    call tutti_exodus_variables(x, TUTTI_EXODUS_NODAL, ["t "], ierr)
    call tutti_exodus_variables(x, TUTTI_EXODUS_ELEMENT_BLOCK, ["flux_x", "flux_y"], ierr)
    call tutti_exodus_variables(x, TUTTI_EXODUS_SIDE_SET, ["inflow"], ierr)
    call fine(ierr, "variables")
    call tutti_exodus_truth_table(x, TUTTI_EXODUS_ELEMENT_BLOCK, reshape([.true., .true., .true., .false.], [2, 2]), ierr)
    call fine(ierr, "truth")
    call tutti_exodus_attribute_names(x, TUTTI_EXODUS_ELEMENT_BLOCK, quads, ["a  ", "bb ", "ccc"], ierr)
    call fine(ierr, "names of attributes")
    call tutti_exodus_property(x, TUTTI_EXODUS_ELEMENT_BLOCK, "material", [7_int64, 8_int64], ierr)
    call fine(ierr, "property")
    call tutti_exodus_put_qa(x, [tutti_exodus_qa("t1407", "1", "today", "now"), tutti_exodus_qa("again")], ierr)
    call fine(ierr, "qa")
    call tutti_exodus_put_info(x, ["one line    ", "another line"], ierr)
    call fine(ierr, "info")
  end subroutine define

  subroutine create(name, x)
    character(*), intent(in) :: name
    type(tutti_exodus), intent(out) :: x
    type(tutti_exodus_options) :: opt
    type(tutti_options) :: io
    call tutti_exodus_options_init(opt)
    call tutti_options_init(io)
    opt%nemesis = 1
    opt%level = TUTTI_VISIBLE
    call tutti_exodus_create(MPI_COMM_WORLD, path(name), x, ierr, opt=opt, io=io)
    call fine(ierr, "create")
    call define(x)
  end subroutine create

  real(real64) elemental function value(id, step)
    integer(int64), intent(in) :: id
    integer, intent(in) :: step
    value = 1000 * step + id
  end function value

  subroutine write_file()
    type(tutti_exodus) :: x
    type(tutti_exodus_mesh) :: mesh
    type(tutti_exodus_field) :: fields(4)
    type(tutti_request) :: request
    real(real64), asynchronous :: t(2, size(mine%node_ids)), f(size(mine%quad_ids), 2), g(size(mine%tri_ids))
    real(real32) :: inflow(size(mine%low))
    real(real64) :: global(2)
    integer :: step
    call create("a.e", x)
    mesh%node_ids => mine%node_ids
    mesh%x => mine%x(1, :)            ! strided
    mesh%y => mine%x(2, :)
    mesh%node_attributes => mine%weight
    mesh%blocks = [tutti_exodus_elements(ids=mine%quad_ids, nodes=mine%quad, attributes=mine%thick), &
                   tutti_exodus_elements(ids=mine%tri_ids, nodes=mine%tri)]
    mesh%node_sets = [tutti_exodus_members_type(members=mine%row, factors=mine%factors)]
    mesh%side_sets = [tutti_exodus_members_type(members=mine%low, sides=mine%sides)]
    call tutti_exodus_put_mesh(x, mesh, ierr)
    call fine(ierr, "put_mesh")
    call check(tutti_exodus_entries(x, TUTTI_EXODUS_NODAL, 0_int64) == size(mine%node_ids), "entries of nodes")
    call check(tutti_exodus_entries(x, TUTTI_EXODUS_ELEMENT_BLOCK, triangles) == size(mine%tri_ids), "entries of a block")
    call check(tutti_exodus_entries(x, TUTTI_EXODUS_ELEMENT_BLOCK, 99_int64) == -1, "entries of no block")
    do step = 1, 3
      t(1, :) = value(mine%node_ids, step)
      f(:, 1) = value(mine%quad_ids, step)
      f(:, 2) = -f(:, 1)
      g = value(mine%tri_ids, step)
      inflow = real(mine%low, real32)
      global = [real(step, real64), 7d0]
      call tutti_exodus_begin(x, 0.5d0 * step, ierr)
      call fine(ierr, "begin")
      if (step == 1) then            ! one variable per call
        call tutti_exodus_put(x, TUTTI_EXODUS_NODAL, "t", t(1, :), ierr=ierr)
        call fine(ierr, "put of a strided array")
        call tutti_exodus_put(x, TUTTI_EXODUS_GLOBAL, "", global, ierr=ierr)
        call fine(ierr, "put of all global variables")
        call tutti_exodus_put(x, TUTTI_EXODUS_ELEMENT_BLOCK, "flux_x", f(:, 1), id=quads, ierr=ierr)
        call tutti_exodus_put(x, TUTTI_EXODUS_ELEMENT_BLOCK, "flux_y", f(:, 2), id=quads, ierr=ierr)
        call tutti_exodus_put(x, TUTTI_EXODUS_ELEMENT_BLOCK, "flux_x", g, id=triangles, ierr=ierr)
        call tutti_exodus_put(x, TUTTI_EXODUS_SIDE_SET, "inflow", inflow, id=bottom, ierr=ierr)
        call fine(ierr, "put of single precision")
      else                           ! several variables per call, blocking or non-blocking
        call tutti_exodus_field_make(fields(1), TUTTI_EXODUS_GLOBAL, "energy", global(1))
        call tutti_exodus_field_make(fields(2), TUTTI_EXODUS_ELEMENT_BLOCK, "flux_x", f(:, 1), id=quads)
        call tutti_exodus_field_make(fields(3), TUTTI_EXODUS_ELEMENT_BLOCK, "flux_y", f(:, 2), id=quads)
        call tutti_exodus_field_make(fields(4), TUTTI_EXODUS_ELEMENT_BLOCK, "flux_x", g, id=triangles)
        if (step == 2) call tutti_exodus_put(x, fields, ierr)
        if (step == 3) call tutti_exodus_put_start(x, fields, request, ierr)
        call fine(ierr, "put of several")
        if (step == 3) call tutti_request_wait(request, ierr=ierr)
        call fine(ierr, "wait")
        t(2, :) = t(1, :)
        call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", g, request, ierr=ierr)
        call fine(ierr, "start with too small an array")
        call tutti_request_wait(request, ierr=ierr)
        call check((ierr == TUTTI_ERR_ARG), "too small an array")
        call put_plain(x, t(2, :), request)
        call tutti_exodus_put(x, TUTTI_EXODUS_GLOBAL, "hottest", global(2), ierr=ierr)
        call fine(ierr, "put of one global variable")
      end if
      call tutti_exodus_commit(x, ierr)
      call fine(ierr, "commit")
    end do
    call tutti_exodus_note_set(x, "grid", "coarse", ierr)
    call fine(ierr, "a note")
    call tutti_exodus_note_set(x, "numbers", [1, 2, 3], ierr)
    call fine(ierr, "a note of integers")
    call tutti_exodus_close(x, ierr)
    call fine(ierr, "close")
  end subroutine write_file

  subroutine put_plain(x, t, request)
    type(tutti_exodus), intent(in) :: x
    real(real64), intent(in) :: t(:)
    type(tutti_request), intent(inout) :: request
    real(real64), allocatable, asynchronous :: plain(:)
    plain = t
    call tutti_exodus_put_start(x, TUTTI_EXODUS_NODAL, "t", plain, request, ierr=ierr)
    call fine(ierr, "put_start")
    call tutti_request_wait(request, ierr=ierr)
    call fine(ierr, "wait")
  end subroutine put_plain

  subroutine read_file()
    type(tutti_exodus) :: x
    type(tutti_exodus_mesh) :: mesh
    type(tutti_exodus_parameters) :: p
    type(tutti_exodus_entity) :: e
    type(tutti_exodus_qa) :: qa
    type(tutti_exodus_nemesis) :: nemesis
    type(tutti_exodus_field) :: fields(2)
    type(tutti_request) :: request
    type(tutti_decomposition) :: one
    real(real64), allocatable, asynchronous :: t(:), f(:)
    type(tutti_exodus_array) :: piece(1)
    real(real64) :: times(3), through(2, 3), global(2), wide(3)
    integer(int64) :: values(2), number, entries, numbers, at
    integer :: three(3), i, type, which(9)
    character(20) :: text
    call tutti_exodus_open(MPI_COMM_WORLD, path("a.e"), TUTTI_READ, x, ierr=ierr)
    call fine(ierr, "open")
    call tutti_exodus_parameters_get(x, p, ierr)
    call check(p%title == "all of it" .and. p%dims == 2 .and. p%nodes == 2 * (2 * long + 1), "parameters")
    call check(p%elements == 3 * long .and. all(p%coordinate_names(1:2) == ["r", "s"]), "parameters")
    call tutti_exodus_entity_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, 0_int64, e, ierr)
    call check(e%id == quads .and. e%name == "squares" .and. e%topology == "QUAD4" .and. e%attributes == 3 &
               .and. e%entries == long, "the first block")
    call tutti_exodus_entity_get(x, TUTTI_EXODUS_SIDE_SET, 5_int64, e, ierr)
    call check(ierr /= 0 .and. e%name == "", "a set that is not there")
    call tutti_exodus_find(x, TUTTI_EXODUS_ELEMENT_BLOCK, triangles, number, ierr)
    call check(ierr == 0 .and. number == 1, "find")
    call check(tutti_exodus_variable_name(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1) == "flux_y", "the name of a variable")
    call check(tutti_exodus_has(x, TUTTI_EXODUS_ELEMENT_BLOCK, 1_int64, 1) == 0, "the truth table")
    call check(tutti_exodus_attribute_name(x, TUTTI_EXODUS_ELEMENT_BLOCK, quads, 2) == "ccc", "the name of an attribute")
    call tutti_exodus_property_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, "material", values, ierr)
    call check(ierr == 0 .and. all(values == [7, 8]), "a property")
    call tutti_exodus_property_get(x, TUTTI_EXODUS_ELEMENT_BLOCK, "material", values(1:1), ierr)
    call check(ierr /= 0, "no room for a property")
    call tutti_exodus_qa_get(x, 0, qa, ierr)
    call check(qa%program == "t1407" .and. qa%time == "now" .and. tutti_exodus_qa_count(x) == 2, "qa")
    call check(tutti_exodus_info_line(x, 1) == "another line", "info")
    i = tutti_exodus_side_nodes("QUAD4", 0, 2, 2, which)
    call check(i == 2 .and. all(which(1:2) == [1, 2]), "nodes of a side")

    call tutti_exodus_get_mesh(x, mesh, by=TUTTI_EXODUS_BY_CURVE, halo=1, ierr=ierr)
    call fine(ierr, "get_mesh")
    call check(all(mesh%x == (mesh%node_ids - 1) / 2) .and. all(mesh%y == modulo(mesh%node_ids - 1, 2_int64)), "coordinates")
    call check(.not. associated(mesh%z) .and. all(mesh%node_attributes(2, :) == -mesh%node_ids), "attributes of nodes")
    call check(size(mesh%blocks) == 2 .and. size(mesh%node_sets) == 1 .and. size(mesh%side_sets) == 1, "blocks and sets")
    associate (b => mesh%blocks(1))
      do i = 1, size(b%ids)
        call check(all(mesh%node_ids(b%nodes(:, i) + 1) == 2 * b%ids(i) + [-1, 1, 2, 0]), "nodes of an element")
        call check(all(b%attributes(:, i) == b%ids(i) * [1, 10, 100]), "attributes of an element")
      end do
    end associate
    if (associated(mesh%node_sets(1)%members)) then
      call check(all(mesh%node_sets(1)%factors == mesh%x(mesh%node_sets(1)%members + 1) / 2), "factors of a node set")
    end if
    allocate (t(size(mesh%x)), f(size(mesh%blocks(1)%ids)))
    call tutti_exodus_get(x, 2_int64, TUTTI_EXODUS_NODAL, "t", t, ierr=ierr)
    call check(ierr == 0 .and. all(t == value(mesh%node_ids, 2)), "get: " // tutti_last_message())
    call tutti_exodus_field_make(fields(1), TUTTI_EXODUS_NODAL, "t", t)
    call tutti_exodus_field_make(fields(2), TUTTI_EXODUS_ELEMENT_BLOCK, "flux_y", f, id=quads)
    call tutti_exodus_get_start(x, 3_int64, fields, request, ierr)
    call fine(ierr, "get_start")
    call tutti_request_wait(request, ierr=ierr)
    call check(ierr == 0 .and. all(t == value(mesh%node_ids, 3)) .and. all(f == -value(mesh%blocks(1)%ids, 3)), "get_start")
    call tutti_exodus_get(x, 1_int64, fields, ierr)
    call check(ierr == 0 .and. all(t == value(mesh%node_ids, 1)) .and. all(f == -value(mesh%blocks(1)%ids, 1)), "get of two")
    call tutti_exodus_get_start(x, 2_int64, TUTTI_EXODUS_NODAL, "t", t, request, ierr=ierr)
    call tutti_request_wait(request, ierr=ierr)
    call check(ierr == 0 .and. all(t == value(mesh%node_ids, 2)), "get_start of one")
    call tutti_exodus_get(x, 3_int64, TUTTI_EXODUS_GLOBAL, "", global, ierr=ierr)
    call check(ierr == 0 .and. all(global == [3, 7]), "global variables")
    call tutti_exodus_times(x, 1_int64, times, ierr)
    call check(ierr == 0 .and. all(times == [0.5d0, 1d0, 1.5d0]), "times")

    ! Read time series of nodes 3 and 1, then one step of them to given positions in memory.
    call tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, one, ids=[3_int64, 1_int64], ierr=ierr)
    call fine(ierr, "decomposition")
    call tutti_exodus_follow(x, 1_int64, 3_int64, TUTTI_EXODUS_NODAL, "t", through, entries=one, ierr=ierr)
    call check(ierr == 0 .and. all(through(2, :) == [1001, 2001, 3001]), "follow: " // tutti_last_message())
    call tutti_decomposition_free(one)
    call tutti_exodus_decomposition(x, TUTTI_EXODUS_NODAL, one, ids=[3_int64, 1_int64], memory=[2_int64, 0_int64], ierr=ierr)
    wide = -1
    call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", wide, entries=one, ierr=ierr)
    call check(ierr == 0 .and. all(wide == [1001, -1, 1003]), "places in memory")
    call tutti_exodus_get(x, 1_int64, TUTTI_EXODUS_NODAL, "t", wide(1:2), entries=one, ierr=ierr)
    call check(ierr == TUTTI_ERR_ARG, "places beyond the array")
    call tutti_exodus_array_make(piece(1), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, wide, entries=one)
    call tutti_exodus_get_arrays(x, piece, ierr)
    call fine(ierr, "places of coordinates")
    call tutti_exodus_array_make(piece(1), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, wide(1:2), entries=one)
    call tutti_exodus_get_arrays(x, piece, ierr)
    call check(ierr == TUTTI_ERR_ARG, "places of coordinates beyond the array")
    call tutti_decomposition_free(one)

    call tutti_exodus_array_size(x, TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, entries, numbers, type, &
                                 id=quads, ierr=ierr)
    call check(ierr == 0 .and. entries == long .and. numbers == 4 .and. type == TUTTI_INT32, "the size of an array")
    call tutti_exodus_array_offset(x, TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, at, type, ierr, component=1)
    call check(ierr == 0 .and. at > 0, "the place of an array")
    call tutti_exodus_field_offset(x, 2_int64, TUTTI_EXODUS_NODAL, "t", at, type, ierr=ierr)
    call check(ierr == 0 .and. at > 0 .and. type == TUTTI_FLOAT64, "the place of a field")
    call tutti_exodus_note_get(x, "grid", text, ierr=ierr)
    call check(ierr == 0 .and. text == "coarse", "a note")
    call tutti_exodus_note_get(x, "numbers", three, count=number, ierr=ierr)
    call check(ierr == 0 .and. all(three == [1, 2, 3]) .and. number == 3, "a note of integers")
    call tutti_exodus_note_get(x, "numbers", three(1:2), ierr=ierr)
    call check(ierr == TUTTI_ERR_ARG, "no room for a note")
    call tutti_exodus_nemesis_get(x, rank, nemesis, ierr)
    call fine(ierr, "nemesis")
    call check(nemesis%processors == ranks .and. nemesis%internal_elements + nemesis%border_elements == size(nemesis%elements), &
               "what Nemesis has")
    call check(size(nemesis%node_map_ids) == merge(0, merge(1, 2, rank == 0 .or. rank == ranks - 1), ranks == 1), "neighbours")
    call tutti_exodus_close(x, ierr)
  end subroutine read_file

  ! Read a mesh and write it to two files, which must be identical; write and read distribution factors of sides.
  subroutine copy_file()
    type(tutti_exodus) :: from, to, again
    type(tutti_exodus_mesh) :: mesh, second
    integer :: i
    call tutti_exodus_open(MPI_COMM_WORLD, path("a.e"), TUTTI_READ, from)
    call tutti_exodus_get_mesh(from, mesh, ierr=ierr)
    call fine(ierr, "get_mesh")
    call check_copy(mesh, "b.e")
    call check_copy(mesh, "c.e")
    if (rank == 0) then
      call execute_command_line("cmp -s '" // path("b.e") // "' '" // path("c.e") // "'", exitstat=i)
      call check(i == 0, "the same mesh gives other bytes")
    end if
    call tutti_exodus_close(from)
    ! Write and read distribution factors of sides.
    call create("d.e", to)
    mesh = tutti_exodus_mesh(node_ids=mine%node_ids, x=mine%x(1, :), y=mine%x(2, :), &
        blocks=[tutti_exodus_elements(ids=mine%quad_ids, nodes=mine%quad), &
                tutti_exodus_elements(ids=mine%tri_ids, nodes=mine%tri)], &
        side_sets=[tutti_exodus_members_type(members=mine%low, sides=mine%sides, factors=mine%low_factors)])
    call tutti_exodus_put_mesh(to, mesh, ierr)
    call fine(ierr, "put_mesh with factors")
    call tutti_exodus_close(to)
    call tutti_exodus_open(MPI_COMM_WORLD, path("d.e"), TUTTI_READ, again)
    call tutti_exodus_get_mesh(again, second, by=TUTTI_EXODUS_ON_ROOT, ierr=ierr)
    if (rank == 0) then
      call check(size(second%side_sets(1)%factors) == 2 * 2 * long, "factors of sides")
      call check(all(second%side_sets(1)%factors(1:2) == [1, 2]), "the first factors of sides")
    end if
    call tutti_exodus_close(again)
  end subroutine copy_file

  subroutine check_copy(mesh, name)
    type(tutti_exodus_mesh), intent(in) :: mesh
    character(*), intent(in) :: name
    type(tutti_exodus) :: to
    call create(name, to)
    call tutti_exodus_put_mesh(to, mesh, ierr)
    call fine(ierr, "put_mesh of a mesh that was got")
    call tutti_exodus_close(to, ierr)
    call fine(ierr, "close")
  end subroutine check_copy

  ! Write single arrays of a file in pieces by all ranks, also from strided Fortran arrays.
  subroutine write_arrays()
    type(tutti_exodus) :: x
    type(tutti_exodus_array) :: pieces(3)
    integer(int64), parameter :: all_nodes = 12
    real(real64) :: xy(2, all_nodes), back(2, all_nodes)
    integer(int32) :: node(4, 5), got(4, 5)
    integer(int64) :: n, first
    integer :: i
    xy = reshape([(real(i, real64), i=1, 24)], [2, 12])
    node = reshape([(modulo(7 * i, 12) + 1, i=1, 20)], [4, 5])
    call tutti_exodus_create(MPI_COMM_WORLD, path("e.e"), x, ierr=ierr)
    call tutti_exodus_init(x, tutti_exodus_parameters(dims=2, nodes=all_nodes, elements=5), ierr)
    call tutti_exodus_define(x, [tutti_exodus_entity(id=1, topology="quad", entries=5)], ierr)
    call tutti_exodus_end_definitions(x, ierr)
    call fine(ierr, "end_definitions")
    first = all_nodes * rank / ranks
    n = all_nodes * (rank + 1) / ranks - first
    call tutti_exodus_array_make(pieces(1), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, xy(1, first + 1:first + n), first=first)
    call tutti_exodus_array_make(pieces(2), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, xy(2, first + 1:), first=first, &
                                 n=n, component=1)
    call tutti_exodus_array_make(pieces(3), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, &
                                 node(:, 1:merge(5, 0, rank == 0)), id=1_int64)
    call tutti_exodus_put_arrays(x, pieces, ierr)
    call fine(ierr, "put_arrays")
    back = 0
    call tutti_exodus_array_make(pieces(1), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, back(1, :))
    call tutti_exodus_array_make(pieces(2), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, back(2, :), component=1)
    call tutti_exodus_array_make(pieces(3), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, got, id=1_int64)
    call tutti_exodus_get_arrays(x, pieces, ierr)
    call fine(ierr, "get_arrays")
    call check(all(back == xy) .and. all(got == node), "arrays")
    ! Pieces of 0 entries transfer nothing, even if their arrays are not empty.
    back = -1
    got = -1
    call tutti_exodus_array_make(pieces(1), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, back(1, :), n=0_int64)
    call tutti_exodus_array_make(pieces(2), TUTTI_EXODUS_COORDINATES, TUTTI_EXODUS_NODAL, back(2, :), n=0_int64, component=1)
    call tutti_exodus_array_make(pieces(3), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, got, id=1_int64, n=0_int64)
    call tutti_exodus_get_arrays(x, pieces, ierr)
    call fine(ierr, "get_arrays of no entries")
    call check(all(back == -1) .and. all(got == -1), "arrays of no entries")
    call tutti_exodus_array_make(pieces(3), TUTTI_EXODUS_CONNECTIVITY, TUTTI_EXODUS_ELEMENT_BLOCK, got(:, 1:4), &
                                 id=1_int64, n=5_int64)
    call tutti_exodus_get_arrays(x, pieces, ierr)
    call check(ierr == TUTTI_ERR_ARG, "no room for an array")
    call tutti_exodus_close(x, ierr)
  end subroutine write_arrays
end program exodus_files
