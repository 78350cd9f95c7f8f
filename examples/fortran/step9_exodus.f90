! TEST ranks=1,4 timeout=60
! Step 9.  Finite elements: a rod of hexahedra in one shared Exodus file, which ParaView opens.  Each rank passes its elements by global
! ids and its values at every step.  The file is read with another distribution.
! SPDX-License-Identifier: BSD-3-Clause
program step9_exodus
  use mpi_f08
  use tutti
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  implicit none
  integer, parameter :: long = 24, across = 4, steps = 3, per_slab = (across + 1)**2
  integer(int64), allocatable, target :: node_id(:), element_id(:), node(:, :), heated(:)
  integer, allocatable, target :: side(:)
  real(real64), allocatable, target :: x(:, :)
  integer :: rank, ranks, wrong
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call make_part(long * rank / ranks, long * (rank + 1) / ranks)
  call write_all()
  call read_all(wrong)
  if (wrong > 0) write (error_unit, *) "rank", rank, ":", wrong, "values are wrong"
  if (rank == 0) print "(a, i0, a, i0, a)", "step9.e has ", steps, " steps of ", (long + 1) * per_slab, " nodes"
  call MPI_Finalize()
  if (wrong > 0) error stop
contains

  ! Create this rank's slab of elements with all their nodes; nodes between two slabs are on both ranks.
  subroutine make_part(first, last)
    integer, intent(in) :: first, last
    integer, parameter :: corner(3, 8) = reshape([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, &
                                                  0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], [3, 8])
    integer :: i, k, c, n
    n = merge((last - first + 1) * per_slab, 0, last > first)
    node_id = [(int(first * per_slab + k, int64), k=1, n)]
    element_id = [(int(first * across**2 + k, int64), k=1, (last - first) * across**2)]
    allocate (x(3, n), node(8, size(element_id)))
    do k = 0, n - 1
      x(:, k + 1) = [first + k / per_slab, modulo(k, across + 1), modulo(k, per_slab) / (across + 1)]
    end do
    do k = 0, size(element_id) - 1
      i = modulo(k, across**2)
      do c = 1, 8   ! local node indices from 0
        node(c, k + 1) = (k / across**2 + corner(1, c)) * per_slab + modulo(i, across) + corner(2, c) &
                         + (i / across + corner(3, c)) * (across + 1)
      end do
    end do
    heated = [(int(k, int64), k=0, merge(across**2, 0, first == 0 .and. last > 0) - 1)]
    side = [(4, k=1, size(heated))]   ! the side at x = 0
  end subroutine make_part

  subroutine write_all()
    type(tutti_exodus) :: f
    type(tutti_exodus_options) :: opt
    integer :: step
    call tutti_exodus_options_init(opt)
    opt%overwrite = 1
    call tutti_exodus_create(MPI_COMM_WORLD, "step9.e", f, opt=opt)
    call tutti_exodus_init(f, tutti_exodus_parameters(title="a rod", dims=3))
    call tutti_exodus_define(f, [ &
        tutti_exodus_entity(kind=TUTTI_EXODUS_ELEMENT_BLOCK, id=1, topology="HEX8", name="rod"), &
        tutti_exodus_entity(kind=TUTTI_EXODUS_SIDE_SET, id=7, name="heated")])
    call tutti_exodus_variables(f, TUTTI_EXODUS_NODAL, ["temperature"])
    call tutti_exodus_put_mesh(f, tutti_exodus_mesh(node_ids=node_id, x=x(1, :), y=x(2, :), z=x(3, :), &
        blocks=[tutti_exodus_elements(ids=element_id, nodes=node)], &
        side_sets=[tutti_exodus_members_type(members=heated, sides=side)]))
    do step = 0, steps - 1
      call tutti_exodus_begin(f, real(step, real64))
      call tutti_exodus_put(f, TUTTI_EXODUS_NODAL, "temperature", exp(-x(1, :) / (1 + step)))
      call tutti_exodus_commit(f)   ! committed atomically
    end do
    call tutti_exodus_close(f)
  end subroutine write_all

  ! Read the last step with a distribution along the Hilbert curve.
  subroutine read_all(wrong)
    integer, intent(out) :: wrong
    type(tutti_exodus) :: f
    type(tutti_exodus_mesh) :: mine
    real(real64), allocatable :: t(:)
    call tutti_exodus_open(MPI_COMM_WORLD, "step9.e", TUTTI_READ, f)
    call tutti_exodus_get_mesh(f, mine, by=TUTTI_EXODUS_BY_CURVE)
    allocate (t(size(mine%x)))
    call tutti_exodus_get(f, tutti_exodus_steps(f), TUTTI_EXODUS_NODAL, "temperature", t)
    wrong = count(t /= exp(-mine%x / steps))
    call tutti_exodus_close(f)
  end subroutine read_all
end program step9_exodus
