! BLAS and LAPACK by their names in Fortran: products and solutions with matrices, an update of one half, a Cholesky factor, a dot product;
! without prototypes, as most programs call them.
module linear_algebra
  use check, only: dp
  implicit none
  interface
    function ddot(n, x, incx, y, incy) result(r)
      import dp
      integer, intent(in) :: n, incx, incy
      real(dp), intent(in) :: x(*), y(*)
      real(dp) :: r
    end function
  end interface
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    real(dp) :: a(n, n), b(n, n), c(n, n)
    integer :: i, j, info, p(n)
    external dgemm, dgesv, dpotrf, dsyrk
    do j = 1, n
      do i = 1, n
        a(i, j) = sin(real(i*j, dp))*x(i) + merge(30, 0, i == j)
        b(i, j) = cos(real(i + j, dp))*x(j)
      end do
    end do
    c = 1
    call dgemm('N', 'T', n, n, n, x(1), a, n, b, n, 0.5_dp, c, n)
    call dgesv(n, n, a, n, p, c, n, info)
    b = 0
    call dsyrk('L', 'N', n, n, 1.0_dp, c, n, 0.0_dp, b, n)
    do i = 1, n
      b(i, i) = b(i, i) + 1
    end do
    call dpotrf('L', n, b, n, info)
    y = ddot(n*n, c, 1, c, 1) + info
    do i = 1, n
      y = y + log(b(i, i))
    end do
  end function
end module

program main
  use linear_algebra
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 20
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('linear algebra', f, n, x, g)
end program
