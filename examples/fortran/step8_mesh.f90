! TEST ranks=4 timeout=60
! Step 8.  An unstructured mesh: renumbered along a Hilbert curve, partitioned, used for a computation with halo nodes; the value of each
! node is written once, by one of the ranks that hold it.
! SPDX-License-Identifier: BSD-3-Clause
program step8
  use mpi_f08
  use tutti
  implicit none
  integer, parameter :: side = 12, cells = side - 1, sweeps = 20
  integer :: rank, ranks, sweep, wrong
  integer, allocatable :: of(:)
  real(8), allocatable :: u(:), back(:)
  type(tutti_mesh) :: mesh
  type(tutti_mesh_view) :: slice
  type(tutti_mesh_part) :: part
  type(tutti_mesh_part_view) :: p
  type(tutti_replicas) :: r
  type(tutti_file) :: f
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)

  ! Partition the mesh, and create the part of this rank with its halo.
  call box()
  call tutti_mesh_renumber(mesh, TUTTI_MESH_CURVE)
  call tutti_mesh_view_get(mesh, slice)
  allocate (of(slice%nodes))
  call tutti_mesh_partition(mesh, ranks, TUTTI_MESH_METIS, of)
  call tutti_mesh_part_make(mesh, of, part)
  call tutti_mesh_free(mesh)
  call tutti_mesh_part_get(part, p)

  u = p%coordinates(1, :)
  do sweep = 1, sweeps
    call smooth()
    call tutti_mesh_part_exchange(part, u, 1)   ! update halo nodes from their owners
  end do

  ! Write each node once, in the order of the mesh; one of the ranks that hold it writes it.
  call tutti_replicas_create(MPI_COMM_WORLD, p%number, 8_tutti_off, r, own=p%own)
  call tutti_file_open(MPI_COMM_WORLD, "step8.dat", &
                       ior(ior(TUTTI_READ, TUTTI_WRITE), ior(TUTTI_CREATE, TUTTI_TRUNCATE)), f)
  call tutti_replicas_write(f, 0_tutti_off, r, u, check=1)
  allocate (back(size(u)), source=-1d0)
  call tutti_replicas_read(f, 0_tutti_off, r, back)
  wrong = count(back /= u)
  call tutti_file_close(f)
  call tutti_replicas_free(r)
  call tutti_mesh_part_free(part)
  call MPI_Finalize()
  if (wrong > 0) stop 1
contains

  ! Make a box of tetrahedra on rank 0; most programs call tutti_mesh_open instead.
  subroutine box()
    integer, parameter :: six(2, 6) = reshape([1, 3, 1, 5, 2, 3, 2, 6, 4, 5, 4, 6], [2, 6])
    integer, parameter :: corner(0:7) = [0, 1, side, side + 1, side**2, side**2 + 1, side**2 + side, side**2 + side + 1]
    real(8), allocatable :: x(:, :)
    integer(8), allocatable :: node(:, :), start(:)
    integer(1), allocatable :: type(:)
    integer :: i, j, k, e, t
    allocate (x(3, side**3), node(4, 6 * cells**3), start(6 * cells**3 + 1), type(6 * cells**3))
    e = 0
    do k = 0, side - 1
      do j = 0, side - 1
        do i = 0, side - 1
          x(:, 1 + i + side * j + side**2 * k) = [i, j, k] / real(cells, 8)
          if (max(i, j, k) == cells) cycle
          do t = 1, 6
            e = e + 1
            node(:, e) = i + side * j + side**2 * k + [corner(0), corner(six(:, t)), corner(7)]   ! numbers from 0
          end do
        end do
      end do
    end do
    type = TUTTI_MESH_TET
    start = [(4_8 * i, i=0, e)]
    if (rank > 0) e = 0
    call tutti_mesh_make(MPI_COMM_WORLD, x(:, 1:merge(side**3, 0, rank == 0)), type(1:e), start, &
                         reshape(node, [size(node)]), mesh)
  end subroutine box

  ! Set each owned node to the mean of the nodes of its elements, except on the boundary.
  subroutine smooth()
    real(8) :: sum_of(p%nodes)
    integer :: n(p%nodes), e, i
    sum_of = 0
    n = 0
    do e = 1, int(p%elements)
      associate (nodes => p%node(p%start(e) + 1:p%start(e + 1)) + 1)
        sum_of(nodes) = sum_of(nodes) + sum(u(nodes))
        n(nodes) = n(nodes) + size(nodes)
      end associate
    end do
    do i = 1, int(p%own_nodes)
      associate (x => p%coordinates(1:2, i))
        if (all(x > 0 .and. x < 1)) u(i) = sum_of(i) / n(i)
      end associate
    end do
  end subroutine smooth
end program step8
