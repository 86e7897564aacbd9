! A polynomial through points by normal equations and Cholesky's factorisation in place.
module least_squares
  use check, only: dp
  implicit none
contains
  subroutine factor(n, a)
    integer, intent(in) :: n
    real(dp), intent(inout) :: a(n, n)
    integer :: j
    do j = 1, n
      a(j, j) = sqrt(a(j, j) - sum(a(j, 1:j - 1)**2))
      if (j < n) a(j + 1:n, j) = (a(j + 1:n, j) - matmul(a(j + 1:n, 1:j - 1), a(j, 1:j - 1)))/a(j, j)
    end do
  end subroutine

  function residual(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    integer, parameter :: m = 3
    real(dp) :: v(n/2, m), a(m, m), c(m)
    integer :: i
    do i = 1, m
      v(:, i) = x(1:n/2)**(i - 1)
    end do
    a = matmul(transpose(v), v)
    c = matmul(transpose(v), x(n/2 + 1:n))
    do i = 1, m
      a(i, i) = a(i, i) + 0.01_dp
    end do
    call factor(m, a)
    do i = 1, m
      c(i) = (c(i) - dot_product(a(i, 1:i - 1), c(1:i - 1)))/a(i, i)
    end do
    do i = m, 1, -1
      c(i) = (c(i) - dot_product(a(i + 1:m, i), c(i + 1:m)))/a(i, i)
    end do
    r = sum((matmul(v, c) - x(n/2 + 1:n))**2) + c(1)*c(2)*c(3)
  end function
end module

program main
  use least_squares
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 14
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(residual, n, x, g)
  call check_gradient('least_squares', residual, n, x, g)
end program
