! A model that holds two polymorphic values: one of a type that nothing extends, with an array of its own, and one of a family. It is copied as a whole.
module families
  use check, only: dp
  implicit none
  type :: base
    real(dp) :: a
  end type
  type, extends(base) :: more
    real(dp) :: b
  end type
  type :: solver
    real(dp) :: omega
    real(dp), allocatable :: w(:)
    integer :: steps
  end type
  type :: model
    class(solver), allocatable :: s
    class(base), allocatable :: b
  end type
contains
  function run(m, x) result(y)
    type(model), intent(in) :: m
    real(dp), intent(in) :: x
    real(dp) :: y
    integer :: i
    y = x
    do i = 1, m%s%steps
      y = y + m%s%omega*(cos(y) - y)*m%s%w(mod(i, 2) + 1)
    end do
    y = y*m%b%a
  end function
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(model) :: m, k
    class(solver), allocatable :: s, t
    class(base), allocatable :: b
    s = solver(x(1), x(2:3), 3)
    t = s
    if (x(2) > 0.6) then
      b = base(x(3))
    else
      b = more(x(3), x(1))
    end if
    allocate(m%s, source=t)
    allocate(m%b, source=b)
    k = m
    y = run(k, x(2)) + t%omega
    select type (b)
    type is (more)
      y = y*b%b
    end select
  end function
end module

program main
  use families
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 3
  real(dp) :: x(n), g(n)
  integer :: i
  ! The second number decides which of the family it is.
  do i = 1, 2
    call fill(x)
    x(2) = 0.4_dp*i
    g = 0
    call enzyme_grad(f, n, x, g)
    call check_gradient('families', f, n, x, g)
  end do
end program
