! A fast Fourier transform of complex numbers, in place, and the power in some of its frequencies.
module fourier
  use check, only: dp
  implicit none
contains
  recursive subroutine transform(n, z)
    integer, intent(in) :: n
    complex(dp), intent(inout) :: z(n)
    complex(dp) :: even(n/2), odd(n/2), w
    integer :: k
    if (n == 1) return
    even = z(1:n:2)
    odd = z(2:n:2)
    call transform(n/2, even)
    call transform(n/2, odd)
    do k = 1, n/2
      w = exp(cmplx(0, -2*acos(-1.0_dp)*(k - 1)/n, dp))*odd(k)
      z(k) = even(k) + w
      z(k + n/2) = even(k) - w
    end do
  end subroutine

  function power(n, x) result(p)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: p
    complex(dp) :: z(n)
    z = cmplx(x, x**2, dp)
    call transform(n, z)
    p = sum(abs(z(2:n/2))**2) + real(z(3)*conjg(z(5))) + aimag(z(2))**2 + abs(z(4)/(z(2) + 3)) + real(z(6)**3)
  end function
end module

program main
  use fourier
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 8
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(power, n, x, g)
  call check_gradient('fourier', power, n, x, g)
end program
