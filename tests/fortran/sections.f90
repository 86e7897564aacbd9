! Assignments whose two sides overlap, to sections of several dimensions that are not contiguous: what is read is as it was before.
! Also of derived types, with and without allocatable components, which always go by way of a copy.
module sections
  use check, only: dp
  implicit none
  type :: record
    real(dp) :: x = 0
    real(dp) :: w(2) = 1
    integer :: id = 0
  end type
  type :: owner
    integer :: tag = 3
    real(dp), allocatable :: h(:)
  end type
contains
  function of_reals(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    real(dp), allocatable :: m(:, :), t(:, :, :)
    integer :: j, k
    m = reshape([x, 2*x + 0.1_dp], [2, n])
    t = reshape(x, [2, 3, 2])
    m(:, n:1:-1) = m
    m(2:1:-1, :) = m*m(2, 3)
    m(:, 1:n:2) = m(:, 2:n:2)**2
    m(1, :) = m(2, n:1:-1)
    t(:, :, 2:1:-1) = t
    t(2:1:-1, :, 1) = t(:, 3:1:-1, 2)
    t(1, :, :) = t(2, 3:1:-1, :)
    y = 0
    do k = 1, n
      y = y + m(1, k)*k + m(2, k)**2
    end do
    do k = 1, 3
      do j = 1, 2
        y = y + t(j, k, 1)*(j - 2.3_dp*k) + t(j, k, 2)**2*j/k
      end do
    end do
  end function

  function of_records(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(record) :: g(2, n)
    type(owner) :: o(2, 3)
    integer :: j, k
    do k = 1, n
      g(1, k) = record(x(k), [x(k)**2, x(1)], k)
      g(2, k) = record(2*x(k), [x(k)**3, x(2)], -k)
    end do
    do k = 1, 3
      o(1, k)%h = x(1:k)
      o(2, k)%h = x(k:5)**2
    end do
    g(:, n:1:-1) = g
    g(1, 2:n) = g(2, 1:n - 1)
    o(:, 3:1:-1) = o
    o(1, :) = o(2, 3:1:-1)
    y = 0
    do k = 1, n
      do j = 1, 2
        y = y + g(j, k)%x*(j + 1.1_dp*k) + g(j, k)%w(2)*j*k + g(j, k)%id*g(j, k)%w(1)
      end do
    end do
    do k = 1, 3
      do j = 1, 2
        y = y + sum(o(j, k)%h)*(1.3_dp*j + k)
      end do
    end do
  end function
end module

program main
  use sections
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 12
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(of_reals, enzyme_const, n, x, g)
  call check_gradient('of_reals', of_reals, n, x, g)
  g = 0
  call enzyme_grad(of_records, enzyme_const, n, x, g)
  call check_gradient('of_records', of_records, n, x, g)
end program
