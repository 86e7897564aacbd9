! Powers with integer exponents of both sizes, of real and complex numbers of both precisions, and what takes numbers apart into a fraction and a
! power of two.
module powers
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    complex(dp) :: z
    integer :: i
    integer(8) :: k
    z = cmplx(x(1), x(2), dp)
    y = nearest(x(5), 1.0_dp) + scale(x(5), 3) + fraction(x(6)) + set_exponent(x(6), 2)
    do i = -3, 5
      k = i
      y = y + real(z**i) + aimag(z**k) + x(3)**i + x(4)**k
    end do
  end function

  ! Differences in single precision would say little: the products are written out.
  function single(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    complex :: c
    integer :: i
    integer(8) :: k
    c = cmplx(x(1), x(2))
    y = 0
    do i = 1, 5
      k = -i
      y = y + real(c**i) + aimag(c**k)
    end do
  end function

  function written_out(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    complex(dp) :: z, up, down
    integer :: i
    z = cmplx(x(1), x(2), dp)
    up = 1
    down = 1
    y = 0
    do i = 1, 5
      up = up*z
      down = down/z
      y = y + real(up) + aimag(down)
    end do
  end function
end module

program main
  use powers
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 6
  real(dp) :: x(n), g(n), h(n)
  integer :: i
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('powers', f, n, x, g)
  g = 0
  h = 0
  call enzyme_grad(single, n, x, g)
  call enzyme_grad(written_out, n, x, h)
  ! Some tens of roundings to 24 bits.
  do i = 1, n
    call expect('single', g(i), h(i), 1d-5*max(1d0, maxval(abs(h))))
  end do
  print '(a)', 'ok single'
end program
