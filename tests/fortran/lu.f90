! Gaussian elimination without pivots on array sections, and a loss of the solution.
module lu
  use check, only: dp
  implicit none
contains
  subroutine solve(n, a, b, x)
    integer, intent(in) :: n
    real(dp), intent(in) :: a(n, n), b(n)
    real(dp), intent(out) :: x(n)
    real(dp) :: w(n, n), y(n), f
    integer :: i, k
    w = a
    y = b
    do k = 1, n - 1
      do i = k + 1, n
        f = w(i, k)/w(k, k)
        w(i, k + 1:n) = w(i, k + 1:n) - f*w(k, k + 1:n)
        y(i) = y(i) - f*y(k)
      end do
    end do
    do i = n, 1, -1
      x(i) = (y(i) - dot_product(w(i, i + 1:n), x(i + 1:n)))/w(i, i)
    end do
  end subroutine

  function loss(n, z) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: z(n)
    real(dp) :: r
    integer, parameter :: m = 4
    real(dp) :: a(m, m), x(m)
    integer :: i
    a = reshape(z(1:m*m), [m, m])
    do i = 1, m
      a(i, i) = a(i, i) + 4
    end do
    call solve(m, a, z(m*m + 1:m*m + m), x)
    r = sum(x**2) + norm2(matmul(a, x)) + product(x)
  end function
end module

program main
  use lu
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 20
  real(dp) :: z(n), g(n)
  call fill(z)
  g = 0
  call enzyme_grad(loss, n, z, g)
  call check_gradient('lu', loss, n, z, g)
end program
