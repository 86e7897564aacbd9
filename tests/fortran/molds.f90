! Arrays that are allocated with the bounds of others (`mold=`), or with their values (`source=`): allocatable, pointers, of derived
! types, polymorphic, results of functions. And a `dot_product` of numbers of several kinds, which is a call without optimisation.
module molds
  use check, only: dp
  implicit none
  type :: cell
    real(dp) :: v = 1
    real(dp), allocatable :: h(:)
  end type
  type :: base
    real(dp) :: b = 2
  end type
  type, extends(base) :: more
    real(dp) :: c = 3
  end type
contains
  function alike(a) result(e)
    real(dp), intent(in) :: a(:, :)
    real(dp), allocatable :: e(:, :)
    allocate (e, mold=a)
    e = 0
    e(1, :) = a(:, 1)**2
    e(size(a, 1), 1) = e(1, 1)*a(1, 2)
  end function
  function shaped_alike(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    real(dp) :: a(3, 3)
    real(dp), allocatable :: b(:, :), c(:), low(:), d(:), e(:), u(:, :, :), from_u_to(:, :, :)
    real(dp), pointer :: p(:), q(:, :)
    real(dp), target :: store(-1:n)
    type(cell), allocatable :: cells(:), others(:)
    class(base), allocatable :: k, l
    integer :: i, j
    a = reshape([x, x(1)*x(2)], [3, 3])
    b = alike(a)
    y = sum(b**2)
    allocate (low(0:n - 1), source=x)
    allocate (c, mold=low)
    do i = lbound(c, 1), ubound(c, 1)
      c(i) = low(i)*(i + 1)
    end do
    y = y + c(0)*c(n - 1)
    store(1:) = x; store(-1:0) = x(1)
    allocate (p, mold=store)
    do i = lbound(p, 1), ubound(p, 1)
      p(i) = store(i)*i
    end do
    allocate (q, mold=a)
    q = transpose(a)
    y = y + sum(p(::2)**2) + q(1, 3)*q(3, 1) + size(p)
    deallocate (p, q)
    allocate (cells(4))
    do i = 1, 4
      cells(i)%v = x(i)
      allocate (cells(i)%h, mold=x(1:i))
      cells(i)%h = x(i)*[(real(j, dp), j=1, i)]
    end do
    allocate (others, mold=cells)
    do i = 1, size(others)
      y = y + others(i)%v
      others(i)%v = cells(i)%v**2
      others(i)%h = cells(5 - i)%h
      y = y + sum(others(i)%h)*others(i)%v
    end do
    allocate (k, source=more(x(1), x(2)))
    allocate (l, mold=k)
    l%b = l%b*x(3)
    select type (l)
    type is (more)
      y = y + l%c*l%b*x(4)
    end select
    allocate (d, e, source=x**2)
    y = y + dot_product(d, e)
    allocate (u(2, 2, 2), mold=reshape(x, [2, 2, 2]))
    u = reshape(x, [2, 2, 2], order=[3, 1, 2])
    y = y + u(1, 2, 1)*u(2, 2, 2)
    call move_alloc(u, from_u_to)
    y = y + sum(from_u_to(:, 2, :)**2)
    deallocate (from_u_to)
    y = y + dot_product([1, 4, 2, 3, 5, 1, 2, 3], x) + dot_product(x, [3_8, 1_8, 2_8, 1_8, 1_8, 3_8, 2_8, 1_8]**2)
    y = y + real(dot_product(cmplx(x, x**2, dp), x)) + aimag(dot_product([2, 1, 1, 3, 1, 2, 1, 1], cmplx(x, x**3, dp)))
    p => store(2:)
    q(0:1, 1:2) => p(1:4)
    y = y + q(0, 2)*q(1, 1) + lbound(q, 1)
    p(5:) => store(1:n)
    y = y + p(5)*p(4 + n)
  end function
end module

program main
  use molds
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 8
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(shaped_alike, n, x, g)
  call check_gradient('molds', shaped_alike, n, x, g)
end program
