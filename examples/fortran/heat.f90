! TEST ranks=2 timeout=60 args=-n,2,-s,1,heat.e
! Transient heat conduction in a rod of two materials, written to an Exodus file, from which the program can restart on any
! number of ranks.  This is examples/apps/heat in Fortran, where the equations are described; both write identical files.
!
!   heat [-n CELLS] [-t DT] [-s STEPS] [-e EVERY] [-d metis|curve|order] [-p] [-r] OUT.e
!
! Reading order: the main program at the end, then the file, the mesh, the domain of a rank, elements, solution.
! SPDX-License-Identifier: BSD-3-Clause

! ---------------------------------------------------------------- integrals over elements
module elements
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  real(real64), parameter :: conductivity(2) = [1d0, 4d0], capacity(2) = [1d0, 0.25d0]
  real(real64), parameter :: gauss = 0.57735026918962576d0
  integer, parameter :: corners_of(2) = [8, 4]   ! hexahedra, tetrahedra
  character(4), parameter :: topology(2) = ["HEX8", "TET4"]
  ! The corners of a hexahedron in reference coordinates.
  integer, parameter :: signs(3, 8) = reshape([-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, &
                                               -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1], [3, 8])
contains

  subroutine invert(m, out, det)
    real(real64), intent(in) :: m(3, 3)
    real(real64), intent(out) :: out(3, 3), det
    integer :: r, c, r1, r2, c1, c2
    do r = 1, 3
      do c = 1, 3
        r1 = modulo(r, 3) + 1
        r2 = modulo(r + 1, 3) + 1
        c1 = modulo(c, 3) + 1
        c2 = modulo(c + 1, 3) + 1
        out(c, r) = m(r1, c1) * m(r2, c2) - m(r1, c2) * m(r2, c1)
      end do
    end do
    det = m(1, 1) * out(1, 1) + m(1, 2) * out(2, 1) + m(1, 3) * out(3, 1)
    out = out / det
  end subroutine invert

  ! Compute the shape functions f at q, their gradients g, and the determinant of the Jacobian.
  subroutine shape_of(block, x, q, f, g, volume)
    integer, intent(in) :: block
    real(real64), intent(in) :: x(3, 8), q(3)
    real(real64), intent(out) :: f(8), g(3, 8), volume
    real(real64) :: v(3), own(3, 8), jacobian(3, 3), inverse(3, 3)
    integer :: a, c
    f = 0
    if (block == 2) then
      do c = 1, 3
        jacobian(c, :) = x(:, c + 1) - x(:, 1)
      end do
      call invert(jacobian, inverse, volume)
      g(:, 2:4) = inverse
      g(:, 1) = 0 - g(:, 2) - g(:, 3) - g(:, 4)
      volume = volume / 6
      return
    end if
    jacobian = 0
    do a = 1, 8
      v = 1 + signs(:, a) * q
      f(a) = v(1) * v(2) * v(3) / 8
      own(:, a) = signs(:, a) * v([2, 3, 1]) * v([3, 1, 2]) / 8
      do c = 1, 3
        jacobian(:, c) = jacobian(:, c) + own(:, a) * x(c, a)
      end do
    end do
    call invert(jacobian, inverse, volume)
    do a = 1, 8
      g(:, a) = inverse(:, 1) * own(1, a) + inverse(:, 2) * own(2, a) + inverse(:, 3) * own(3, a)
    end do
  end subroutine shape_of

  subroutine matrices(block, x, mass, stiff)
    integer, intent(in) :: block
    real(real64), intent(in) :: x(3, 8)
    real(real64), intent(out) :: mass(8, 8), stiff(8, 8)
    real(real64) :: f(8), g(3, 8), w
    integer :: a, b, p
    mass = 0
    stiff = 0
    do p = 1, merge(8, 1, block == 1)
      call shape_of(block, x, signs(:, p) * gauss, f, g, w)
      do a = 1, corners_of(block)
        do b = 1, corners_of(block)
          if (block == 1) mass(a, b) = mass(a, b) + capacity(1) * w * f(a) * f(b)
          if (block == 2) mass(a, b) = capacity(2) * w * merge(0.1d0, 0.05d0, a == b)
          stiff(a, b) = stiff(a, b) + conductivity(block) * w * (g(1, a) * g(1, b) + g(2, a) * g(2, b) + g(3, a) * g(3, b))
        end do
      end do
    end do
  end subroutine matrices

  ! Return the heat flux -k grad u at the centre of an element.
  function flux_of(block, x, u) result(flux)
    integer, intent(in) :: block
    real(real64), intent(in) :: x(3, 8), u(8)
    real(real64) :: flux(3), f(8), g(3, 8), volume
    integer :: a
    call shape_of(block, x, [0d0, 0d0, 0d0], f, g, volume)
    flux = 0
    do a = 1, corners_of(block)
      flux = flux - conductivity(block) * g(:, a) * u(a)
    end do
  end function flux_of

  real(real64) function length_of_product(a, b)
    real(real64), intent(in) :: a(3), b(3)
    real(real64) :: p(3)
    p = a([2, 3, 1]) * b([3, 1, 2]) - a([3, 1, 2]) * b([2, 3, 1])
    length_of_product = sqrt(p(1) * p(1) + p(2) * p(2) + p(3) * p(3))
  end function length_of_product

  ! Integrate the shape functions of the corners of a side, weighted by the factors.
  function load_of(x, factor) result(load)
    real(real64), intent(in) :: x(:, :), factor(:)
    real(real64) :: load(size(factor)), f(4), along(3), across(3), here, r, s
    integer :: a, p
    if (size(factor) == 3) then
      load = length_of_product(x(:, 2) - x(:, 1), x(:, 3) - x(:, 1)) / 2
      load = load / 12 * (factor(1) + factor(2) + factor(3) + factor)
      return
    end if
    load = 0
    do p = 1, 4
      r = signs(1, p) * gauss
      s = signs(2, p) * gauss
      along = 0
      across = 0
      here = 0
      do a = 1, 4
        f(a) = (1 + signs(1, a) * r) * (1 + signs(2, a) * s) / 4
        here = here + f(a) * factor(a)
        along = along + signs(1, a) * (1 + signs(2, a) * s) / 4 * x(:, a)
        across = across + signs(2, a) * (1 + signs(1, a) * r) / 4 * x(:, a)
      end do
      load = load + length_of_product(along, across) * here * f
    end do
  end function load_of
end module elements

program heat
  use mpi_f08
  use tutti
  use elements
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  real(real64), parameter :: pi = 3.14159265358979324d0, given = 300, inflow = 100, g = 0.29289321881345248d0
  integer(int64), parameter :: ids(2) = [1, 2], cold_set = 10, heated_set = 20   ! ids of blocks and sets

  type :: element
    integer :: block, place, node(8) = 0   ! place: index in its block, in the order of get_mesh
  end type
  type :: side
    integer :: element, number
    real(real64), allocatable :: factor(:)
  end type
  type :: table
    real(real64), allocatable :: of(:, :)
  end type

  integer :: rank, ranks, cells = 12, spot = 0, every = 1, steps = 20, by = TUTTI_EXODUS_BY_METIS
  real(real64) :: dt = 0
  logical :: resume = .false.
  character(4096) :: path = ""
  type(tutti_exodus) :: file
  type(tutti_exodus_mesh) :: mesh
  type(element), allocatable :: all(:)           ! in ascending order of ids
  type(side), allocatable :: sides(:)            ! in ascending order of element and number
  logical, allocatable :: cold(:)                ! (nodes) whether the temperature is prescribed
  integer, allocatable :: give(:), take(:), give_n(:), take_n(:)   ! nodes sent to, received from each rank
  integer, allocatable :: row(:), row_of(:), start(:), to(:)       ! nodes that this rank computes, and their neighbours
  real(real64), allocatable :: mass(:), stiff(:), left(:), diagonal(:), load(:)   ! M, K, M + g dt K, its diagonal, F

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  if (read_arguments()) then
    call run()
    call MPI_Finalize()
  else
    if (rank == 0) write (error_unit, *) "usage: heat [-n CELLS] [-t DT] [-s STEPS] [-e EVERY] ", &
      "[-d metis|curve|order] [-p] [-r] OUT.e"
    call MPI_Finalize()
    stop 2, quiet=.true.
  end if
contains

  logical function read_arguments()
    character(4096) :: word
    integer :: i, status
    read_arguments = .false.
    status = 0
    i = 1
    do while (i <= command_argument_count())
      call get_command_argument(i, word)
      if (word == "-p") spot = 1
      if (word == "-r") resume = .true.
      if (word(1:1) /= "-") path = word
      if (word(1:1) == "-" .and. .not. any(word == ["-n", "-t", "-s", "-e", "-d", "-p", "-r"])) return
      if (any(word == ["-n", "-t", "-s", "-e", "-d"])) then
        i = i + 1
        if (word == "-n") call number(i, status, cells)
        if (word == "-s") call number(i, status, steps)
        if (word == "-e") call number(i, status, every)
        if (word == "-t") call number(i, status, real_out=dt)
        if (word == "-d") then
          call get_command_argument(i, word)
          by = findloc(["order", "metis", "curve"], word(1:5), 1) - 1
        end if
      end if
      if (status /= 0 .or. by < 0 .or. i > command_argument_count()) return
      i = i + 1
    end do
    if (path == "" .or. cells < 1 .or. cells > 400 .or. steps < 0 .or. every < 1 .or. dt < 0) return
    if (dt == 0) dt = 0.24d0 / cells
    read_arguments = .true.
  end function read_arguments

  subroutine number(i, status, out, real_out)
    integer, intent(in) :: i
    integer, intent(out) :: status
    integer, intent(inout), optional :: out
    real(real64), intent(inout), optional :: real_out
    character(32) :: word
    call get_command_argument(i, word)
    if (present(out)) read (word, *, iostat=status) out
    if (present(real_out)) read (word, *, iostat=status) real_out
  end subroutine number

  subroutine run()
    real(real64), allocatable :: u(:)
    real(real64) :: time(1)
    integer(int64) :: before
    integer :: first, k, inner
    if (.not. resume) call create_file()
    call open_file()
    call make_domain()
    call make_problem()
    allocate (u(size(mesh%x)))
    before = tutti_exodus_steps(file)
    time = 0
    if (before > 0) then
      call tutti_exodus_get(file, before, TUTTI_EXODUS_NODAL, "temperature", u)
      call tutti_exodus_times(file, before, time)
    else
      u = merge(given, exact(mesh%x, 0d0), spot == 1)
      call write_step(0d0, u)
    end if
    first = nint(time(1) / dt)
    if (rank == 0) print "(i0, 3a, i0)", ranks, " ranks, ", merge("going on after", "beginning with", before > 0), " step ", first
    inner = 0
    do k = first + 1, first + steps
      call step_in_time(u, inner)
      if (modulo(k, every) == 0) call write_step(k * dt, u)
    end do
    time(1) = energy_of(u)
    if (rank == 0) print "(i0, a, i0, a, es23.16)", steps, " steps, ", inner, " of conjugate gradients; energy ", time(1)
    call tutti_exodus_close(file)
  end subroutine run

  ! Return the exact solution: the stationary state plus a decaying mode.
  real(real64) elemental function exact(x, time)
    real(real64), intent(in) :: x, time
    real(real64), parameter :: root = 2 * pi / 5
    if (x < 1) then
      exact = given + inflow * x - 120 * exp(-(root * root) * time) * sin(root * x)
    else
      exact = given + (inflow + inflow / 4 * (x - 1)) &
              - 120 * exp(-(root * root) * time) * (sin(root) / cos(root / 4) * cos(root / 4 * (2 - x)))
    end if
  end function exact

  ! ---------------------------------------------------------------- the file

  ! Create a file with the mesh and without steps.
  subroutine create_file()
    type(tutti_exodus_options) :: opt
    character(80) :: line
    call tutti_exodus_options_init(opt)
    opt%overwrite = 1
    call tutti_exodus_create(MPI_COMM_WORLD, path, file, opt=opt)
    call tutti_exodus_init(file, tutti_exodus_parameters(title="heat in a rod of two materials", dims=3))
    call tutti_exodus_define(file, [ &
        tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=ids(1), topology="HEX8", name="steel"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=ids(2), topology="TET4", name="copper"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_NODE_SET, id=cold_set, name="cold"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_SIDE_SET, id=heated_set, name="heated")])
    call tutti_exodus_variables(file, TUTTI_EXODUS_GLOBAL, ["energy ", "hottest"])
    call tutti_exodus_variables(file, TUTTI_EXODUS_NODAL, ["temperature"])
    call tutti_exodus_variables(file, TUTTI_EXODUS_ELEMENT_BLOCK, ["flux_x", "flux_y", "flux_z"])
    call tutti_exodus_variables(file, TUTTI_EXODUS_SIDE_SET, ["inflow"])
    call tutti_exodus_property(file, TUTTI_EXODUS_ELEMENT_BLOCK, "material", [1_int64, 2_int64])
    call tutti_exodus_put_qa(file, [tutti_exodus_qa(program="heat", version="1")])
    write (line, "(a, i0, a, i0, 3a, i0)") "cells ", cells, " spot ", spot, " dt ", text_of(dt), " every ", every
    call tutti_exodus_put_info(file, [line])
    call put_bricks()
    call tutti_exodus_close(file)
  end subroutine create_file

  ! Format a number between 0.0001 and 1 with 17 digits, as C does.
  function text_of(x) result(text)
    real(real64), intent(in) :: x
    character(:), allocatable :: text
    character(40) :: digits, form
    write (form, "(a, i0, a)") "(f40.", 16 - floor(log10(x)), ")"
    write (digits, form) x
    text = trim(adjustl(digits))
    text = text(:verify(text, "0", back=.true.))
  end function text_of

  subroutine open_file()
    character(80) :: line
    character(8) :: word(4)
    integer :: status
    call tutti_exodus_open(MPI_COMM_WORLD, path, ior(TUTTI_READ, TUTTI_WRITE), file)
    line = tutti_exodus_info_line(file, 0)
    read (line, *, iostat=status) word(1), cells, word(2), spot, word(3), dt, word(4), every
    if (status /= 0) then
      write (error_unit, *) trim(path) // " is not a file of this program"
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
    call tutti_exodus_get_mesh(file, mesh, by=by, halo=1)
  end subroutine open_file

  ! Write a step: temperatures, and the heat flux in elements and through the heated sides.
  subroutine write_step(time, u)
    real(real64), intent(in) :: time, u(:)
    character(6), parameter :: direction(3) = ["flux_x", "flux_y", "flux_z"]
    type(tutti_exodus_field) :: fields(9)
    type(table) :: flux(2)
    real(real64) :: global(2), hottest
    real(real64), allocatable :: through(:)
    integer :: e, i, k, c, f
    do k = 1, 2
      allocate (flux(k)%of(size(mesh%blocks(k)%ids), 3))
    end do
    do e = 1, size(all)
      associate (a => all(e))
        flux(a%block)%of(a%place, :) = flux_of(a%block, corners(a), u(max(a%node, 1)))
      end associate
    end do
    allocate (through(0))
    if (associated(mesh%side_sets(1)%members)) then
      deallocate (through)
      allocate (through(size(mesh%side_sets(1)%members)))
      f = 0
      do i = 1, size(through)
        c = corners_of_side(i)
        through(i) = inflow * sum(mesh%side_sets(1)%factors(f + 1:f + c)) / c
        f = f + c
      end do
    end if
    hottest = maxval(u)
    call MPI_Allreduce(hottest, global(2), 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    global(1) = energy_of(u)
    call tutti_exodus_field_make(fields(1), TUTTI_EXODUS_NODAL, "temperature", u)
    call tutti_exodus_field_make(fields(2), TUTTI_EXODUS_GLOBAL, "", global)
    call tutti_exodus_field_make(fields(3), TUTTI_EXODUS_SIDE_SET, "inflow", through, id=heated_set)
    do k = 1, 2
      do c = 1, 3
        call tutti_exodus_field_make(fields(3 * k + c), TUTTI_EXODUS_ELEMENT_BLOCK, direction(c), flux(k)%of(:, c), id=ids(k))
      end do
    end do
    call tutti_exodus_begin(file, time)
    call tutti_exodus_put(file, fields)
    call tutti_exodus_commit(file)
  end subroutine write_step

  ! Return the number of corners of member i of the heated set.
  integer function corners_of_side(i)
    integer, intent(in) :: i
    integer :: block
    block = merge(1, 2, mesh%side_sets(1)%members(i) < size(mesh%blocks(1)%ids))
    corners_of_side = tutti_exodus_side_nodes(topology(block), 0, 3, mesh%side_sets(1)%sides(i))
  end function corners_of_side

  ! ---------------------------------------------------------------- the mesh: cubes, divided into tetrahedra for x > 1

  subroutine put_bricks()
    integer, parameter :: corner(3, 8) = (signs + 1) / 2
    integer, parameter :: cut(4, 0:5) = reshape([1, 2, 3, 7, 1, 3, 4, 7, 1, 4, 8, 7, 1, 8, 5, 7, 1, 5, 6, 7, 1, 6, 2, 7], [4, 6])
    type :: list
      integer(int64), allocatable :: id(:), node(:, :)
    end type
    type(list), target :: part(2)
    integer(int64), allocatable, target :: node_ids(:), frozen(:), members(:)
    integer, allocatable, target :: numbers(:)
    real(real64), allocatable, target :: x(:, :), factors(:)
    real(real64) :: factor(4)
    integer(int64) :: n, e, cell, at(3), count(2), first
    integer :: k, a, c, number, which(9), m, f
    logical :: heated
    n = cells
    count = [n**3, 6 * n**3]
    do k = 1, 2
      first = count(k) * rank / ranks
      part(k)%id = [(first + e + 1 + merge(0_int64, count(1), k == 1), e=0, count(k) * (rank + 1) / ranks - first - 1)]
      allocate (part(k)%node(corners_of(k), size(part(k)%id)))
      do e = 1, size(part(k)%id)
        cell = merge(first + e - 1, (first + e - 1) / 6, k == 1)
        at = [cell / (n * n) + merge(0_int64, n, k == 1), modulo(cell / n, n), modulo(cell, n)]
        do a = 1, corners_of(k)
          c = a
          if (k == 2) c = cut(a, modulo(first + e - 1, 6_int64))
          part(k)%node(a, e) = 1 + ((at(1) + corner(1, c)) * (n + 1) + at(2) + corner(2, c)) * (n + 1) + at(3) + corner(3, c)
        end do
      end do
    end do
    node_ids = unique([part(1)%node, part(2)%node])
    allocate (x(size(node_ids), 3))
    do e = 1, size(node_ids)
      x(e, :) = place_of(node_ids(e))
    end do
    frozen = pack([(e - 1, e=1, size(node_ids))], x(:, 1) == 0)
    allocate (members(6 * size(part(1)%id) + 4 * size(part(2)%id)), numbers(6 * size(part(1)%id) + 4 * size(part(2)%id)))
    allocate (factors(4 * size(numbers)))
    m = 0
    f = 0
    do k = 1, 2
      do e = 1, size(part(k)%id)
        do a = 1, corners_of(k)   ! convert ids to indices
          part(k)%node(a, e) = find(node_ids, part(k)%node(a, e)) - 1
        end do
        do number = 1, merge(6, 4, k == 1)   ! sides whose corners are all heated
          c = tutti_exodus_side_nodes(topology(k), 0, 3, number, which)
          heated = .true.
          do a = 1, c
            heated = heated .and. is_heated(x(part(k)%node(which(a) + 1, e) + 1, :), factor(a))
          end do
          if (.not. heated) cycle
          m = m + 1
          members(m) = e - 1 + merge(0, size(part(1)%id), k == 1)
          numbers(m) = number
          factors(f + 1:f + c) = factor(1:c)
          f = f + c
        end do
      end do
    end do
    call tutti_exodus_put_mesh(file, tutti_exodus_mesh(node_ids=node_ids, x=x(:, 1), y=x(:, 2), z=x(:, 3), &
        blocks=[(tutti_exodus_elements(ids=part(k)%id, nodes=part(k)%node), k=1, 2)], &
        node_sets=[tutti_exodus_members_type(members=frozen)], &
        side_sets=[tutti_exodus_members_type(members=members(:m), sides=numbers(:m), factors=factors(:f))]))
  end subroutine put_bricks

  ! Return the coordinates of a node; inner cells are distorted.
  function place_of(id) result(at)
    integer(int64), intent(in) :: id
    real(real64) :: at(3), x, y, z, inside
    integer(int64) :: n
    n = cells + 1
    x = real((id - 1) / (n * n), real64) / cells
    y = real(modulo((id - 1) / n, n), real64) / cells
    z = real(modulo(id - 1, n), real64) / cells
    inside = sin(pi * x) * sin(pi * x)
    at(1) = x + 0.05d0 * sin(pi * x) * sin(4 * y + 1) * cos(3 * z)
    at(2) = y + 0.05d0 * inside * sin(pi * y) * cos(5 * z + x)
    at(3) = z + 0.05d0 * inside * sin(pi * z) * sin(4 * y - x)
    if (x == 0 .or. x == 1 .or. x == 2) at = [x, y, z]   ! sines are not exactly 0 at the boundary
    if (y == 0 .or. y == 1) at(2) = y
    if (z == 0 .or. z == 1) at(3) = z
  end function place_of

  ! Return whether the node is on the heated surface; factor: fraction of the flux at the node.
  logical function is_heated(at, factor)
    real(real64), intent(in) :: at(3)
    real(real64), intent(out) :: factor
    real(real64) :: r
    factor = 1
    is_heated = at(1) == 2
    if (spot == 0) return
    r = hypot(at(1) - 1, at(2) - 0.5d0) / 0.4d0
    is_heated = at(3) == 1 .and. r < 1.001d0
    factor = 0.5d0 + 0.5d0 * cos(pi * min(r, 1d0))
  end function is_heated

  ! ---------------------------------------------------------------- the domain of a rank

  subroutine make_domain()
    integer, allocatable :: order(:), now(:)
    integer(int64), allocatable :: keys(:)
    type(side), allocatable :: found(:)
    integer :: k, e, i, n, f, c
    n = size(mesh%blocks(1)%ids)
    allocate (all(n + size(mesh%blocks(2)%ids)), cold(size(mesh%x)))
    cold = .false.
    if (associated(mesh%node_sets(1)%members)) cold(mesh%node_sets(1)%members + 1) = .true.
    order = order_of([mesh%blocks(1)%ids, mesh%blocks(2)%ids])
    now = order
    do e = 1, size(all)
      now(order(e)) = e
      k = merge(1, 2, order(e) <= n)
      all(e) = element(k, order(e) - merge(0, n, k == 1))
      all(e)%node(:corners_of(k)) = int(mesh%blocks(k)%nodes(:, all(e)%place)) + 1
    end do
    allocate (found(0))
    if (associated(mesh%side_sets(1)%members)) then
      deallocate (found)
      allocate (found(size(mesh%side_sets(1)%members)))
    end if
    f = 0
    do i = 1, size(found)
      c = corners_of_side(i)
      found(i)%element = now(mesh%side_sets(1)%members(i) + 1)
      found(i)%number = mesh%side_sets(1)%sides(i)
      found(i)%factor = mesh%side_sets(1)%factors(f + 1:f + c)
      f = f + c
    end do
    keys = [(10_int64 * found(i)%element + found(i)%number, i=1, size(found))]
    order = order_of(keys)
    sides = found(order)
    call make_exchange()
  end subroutine make_domain

  ! Return the corners of an element; the unused columns of a tetrahedron are undefined.
  function corners(e) result(x)
    type(element), intent(in) :: e
    real(real64) :: x(3, 8)
    integer :: node(8)
    node = max(e%node, 1)
    x(1, :) = mesh%x(node)
    x(2, :) = mesh%y(node)
    x(3, :) = mesh%z(node)
  end function corners

  ! Create the exchange of copies.  An inspector determines the owner of each node, which has all elements at the node and
  ! computes it.
  subroutine make_exchange()
    type(tutti_replicas) :: r
    type(tutti_replicas_choice) :: choice
    integer, pointer :: owner(:)
    integer, allocatable :: sorted(:)
    integer(int64), allocatable :: ask(:), asked(:)
    integer :: i
    choice%rule = TUTTI_REPLICAS_OWN
    call tutti_replicas_create(MPI_COMM_WORLD, mesh%node_ids, 8_tutti_off, r, own=mesh%own, choice=choice)
    owner => tutti_replicas_writers(r)
    allocate (give_n(0:ranks - 1))
    take_n = [(count(owner == i .and. owner /= rank), i=0, ranks - 1)]
    sorted = order_of(int(owner, int64))
    take = pack(sorted, owner(sorted) /= rank)
    call MPI_Alltoall(take_n, 1, MPI_INTEGER, give_n, 1, MPI_INTEGER, MPI_COMM_WORLD)
    ask = mesh%node_ids(take)
    allocate (asked(sum(give_n)))
    call MPI_Alltoallv(ask, take_n, starts(take_n), MPI_INTEGER8, asked, give_n, starts(give_n), MPI_INTEGER8, MPI_COMM_WORLD)
    give = [(find(mesh%node_ids, asked(i)), i=1, size(asked))]   ! nodes are in ascending order of ids
    call tutti_replicas_free(r)
  end subroutine make_exchange

  function starts(counts)
    integer, intent(in) :: counts(:)
    integer :: starts(size(counts)), i
    starts = [(sum(counts(:i - 1)), i=1, size(counts))]
  end function starts

  ! Update copies from the ranks that compute the nodes.
  subroutine exchange(values)
    real(real64), intent(inout) :: values(:)
    real(real64) :: given_away(size(give)), taken(size(take))
    given_away = values(give)
    call MPI_Alltoallv(given_away, give_n, starts(give_n), MPI_DOUBLE_PRECISION, taken, take_n, starts(take_n), &
                       MPI_DOUBLE_PRECISION, MPI_COMM_WORLD)
    values(take) = taken
  end subroutine exchange

  ! Return the sum over all ranks, independent of the distribution: values are truncated to multiples of 2^-62 of the largest.
  real(real64) function sum_of(values)
    real(real64), intent(in) :: values(:)
    real(real64) :: largest, most, v
    integer(int64) :: parts(2), total(2), high
    integer :: i
    largest = 0
    if (size(values) > 0) largest = maxval(abs(values))
    call MPI_Allreduce(largest, most, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    sum_of = most
    if (most == 0 .or. most > huge(most)) return
    parts = 0
    do i = 1, size(values)
      v = scale(values(i), 30 - exponent(most))
      high = floor(v, int64)
      parts = parts + [high, int(scale(v - high, 32), int64)]
    end do
    call MPI_Allreduce(parts, total, 2, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    sum_of = scale(real(total(1), real64) + scale(real(total(2), real64), -32), exponent(most) - 30)
  end function sum_of

  ! ---------------------------------------------------------------- solution

  ! Find the neighbours of each row, and assemble the matrices.
  subroutine make_problem()
    integer(int64), allocatable :: keys(:)
    integer, allocatable :: column(:), order(:)
    real(real64) :: m(8, 8), k(8, 8), x(3, 8)
    integer :: e, a, b, n, i, which(9), c, r
    integer(int64) :: before
    row = pack([(i, i=1, size(mesh%x))], mesh%own /= 0)
    allocate (row_of(size(mesh%x)), keys(64 * size(all)), column(64 * size(all)), start(size(row) + 1))
    row_of = 0
    row_of(row) = [(i, i=1, size(row))]
    n = 0
    do e = 1, size(all)
      c = corners_of(all(e)%block)
      do a = 1, c
        if (row_of(all(e)%node(a)) == 0) cycle
        column(n + 1:n + c) = all(e)%node(:c)
        keys(n + 1:n + c) = row_of(all(e)%node(a)) * 2_int64**40 + mesh%node_ids(all(e)%node(:c))
        n = n + c
      end do
    end do
    order = order_of(keys(:n))
    allocate (to(n))
    start = 1
    i = 0
    before = 0
    do e = 1, n
      if (keys(order(e)) == before) cycle
      before = keys(order(e))
      i = i + 1
      to(i) = column(order(e))
      start(before / 2_int64**40 + 1) = i + 1
    end do
    allocate (mass(i), stiff(i), left(i), diagonal(size(row)), load(size(row)))
    mass = 0
    stiff = 0
    left = 0
    load = 0
    do e = 1, size(all)
      call matrices(all(e)%block, corners(all(e)), m, k)
      do a = 1, corners_of(all(e)%block)
        r = row_of(all(e)%node(a))
        if (r == 0) cycle
        do b = 1, corners_of(all(e)%block)
          i = place(r, all(e)%node(b))
          mass(i) = mass(i) + m(a, b)
          stiff(i) = stiff(i) + k(a, b)
          left(i) = left(i) + (m(a, b) + g * dt * k(a, b))
        end do
      end do
    end do
    diagonal = [(left(place(i, row(i))), i=1, size(row))]
    do e = 1, size(sides)
      associate (of => all(sides(e)%element))
        c = tutti_exodus_side_nodes(topology(of%block), 0, 3, sides(e)%number, which)
        x = corners(of)
        m(:c, 1) = load_of(x(:, which(:c) + 1), sides(e)%factor)
        do a = 1, c
          r = row_of(of%node(which(a) + 1))
          if (r > 0) load(r) = load(r) + inflow * m(a, 1)
        end do
      end associate
    end do
  end subroutine make_problem

  ! Return the index of a node among the neighbours of a row.
  integer function place(r, node)
    integer, intent(in) :: r, node
    place = start(r) - 1 + find(mesh%node_ids(to(start(r):start(r + 1) - 1)), mesh%node_ids(node))
  end function place

  function times(matrix, v) result(out)
    real(real64), intent(in) :: matrix(:), v(:)
    real(real64) :: out(size(row))
    integer :: i, k
    out = 0
    do i = 1, size(row)
      do k = start(i), start(i + 1) - 1
        out(i) = out(i) + matrix(k) * v(to(k))
      end do
    end do
  end function times

  ! Solve left k = F - stiff u by conjugate gradients, starting with 0; k is 0 where the temperature is prescribed.
  subroutine solve(u, k, inner)
    real(real64), intent(in) :: u(:)
    real(real64), intent(out) :: k(:)
    integer, intent(inout) :: inner
    real(real64) :: r(size(row)), z(size(row)), q(size(row)), p(size(u)), rho, before, goal, alpha
    integer :: steps
    k = 0
    p = 0
    r = merge(0d0, load - times(stiff, u), cold(row))
    z = r / diagonal
    p(row) = z
    rho = sum_of(r * z)
    goal = rho * 1d-24 + 1d-40
    do steps = 1, 10000
      if (rho <= goal) exit
      call exchange(p)
      q = merge(0d0, times(left, p), cold(row))
      z = p(row)
      alpha = rho / sum_of(q * z)
      k(row) = k(row) + alpha * z
      r = r - alpha * q
      z = r / diagonal
      before = rho
      rho = sum_of(r * z)
      p(row) = z + rho / before * p(row)
      inner = inner + 1
    end do
  end subroutine solve

  subroutine step_in_time(u, inner)
    real(real64), intent(inout) :: u(:)
    integer, intent(inout) :: inner
    real(real64) :: k1(size(u)), k2(size(u)), stage(size(u))
    call solve(u, k1, inner)
    stage = u + (1 - g) * dt * k1
    call exchange(stage)
    call solve(stage, k2, inner)
    u(row) = u(row) + dt * ((1 - g) * k1(row) + g * k2(row))
    call exchange(u)
  end subroutine step_in_time

  real(real64) function energy_of(u)
    real(real64), intent(in) :: u(:)
    energy_of = sum_of(times(mass, u))
  end function energy_of

  ! ---------------------------------------------------------------- lists

  ! Return the indices that sort the keys in ascending order; equal keys keep their order.
  function order_of(keys) result(order)
    integer(int64), intent(in) :: keys(:)
    integer, allocatable :: order(:), next(:)
    integer :: width, low, middle, high, i, j, k
    logical :: first
    order = [(i, i=1, size(keys))]
    allocate (next(size(keys)))
    width = 1
    do while (width < size(keys))
      do low = 1, size(keys), 2 * width
        middle = min(low + width, size(keys) + 1)
        high = min(low + 2 * width, size(keys) + 1)
        i = low
        j = middle
        do k = low, high - 1
          first = j == high
          if (i < middle .and. j < high) first = keys(order(i)) <= keys(order(j))
          next(k) = order(merge(i, j, first))
          i = i + merge(1, 0, first)
          j = j + merge(0, 1, first)
        end do
      end do
      order = next
      width = 2 * width
    end do
  end function order_of

  function unique(keys) result(out)
    integer(int64), intent(in) :: keys(:)
    integer(int64), allocatable :: out(:)
    integer :: i
    out = keys(order_of(keys))
    out = pack(out, [(i == 1 .or. out(max(i - 1, 1)) /= out(i), i=1, size(out))])
  end function unique

  ! Return the index of a key in an ascending list; 0: not found.
  integer function find(list, key)
    integer(int64), intent(in) :: list(:), key
    integer :: low, high
    low = 1
    high = size(list)
    do while (low < high)
      find = (low + high) / 2
      if (list(find) < key) then
        low = find + 1
      else
        high = find
      end if
    end do
    find = merge(low, 0, low <= size(list))
  end function find
end program heat
