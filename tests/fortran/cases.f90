! Control flow: select case, named loops with cycle and exit, output and stops in code that is differentiated, optional
! arguments, elemental functions, powers with all kinds of exponents, remainders.
module cases
  use check, only: dp
  implicit none
contains
  elemental function bent(t) result(v)
    real(dp), intent(in) :: t
    real(dp) :: v
    v = merge(t**2, 2*t - 1, t < 1)
  end function

  function weighted(t, w) result(v)
    real(dp), intent(in) :: t
    real(dp), intent(in), optional :: w
    real(dp) :: v
    v = t
    if (present(w)) v = v*w
  end function

  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    character(40) :: line
    integer :: i, j
    if (n < 3) stop 'too few'
    y = 0
    outer: do i = 1, n
      do j = 1, i
        if (mod(i + j, 5) == 0) cycle outer
        if (y > 40) exit outer
        select case (mod(i*j, 4))
        case (0)
          y = y + x(i)**j
        case (1, 2)
          y = y + x(i)**2.5_dp*x(j)
        case default
          y = y + weighted(x(j), x(i)) + weighted(x(i))
        end select
      end do
    end do outer
    write (line, '(f12.4)') y
    if (len_trim(line) == 0) error stop 'nothing written'
    y = y + sum(bent(x)) + mod(7*x(1), 2.0_dp) + modulo(-x(2), 0.75_dp)*x(3) + sign(x(1), -x(2)) + abs(x(2) - 5)
    y = y + hypot(x(1), x(2)) + atan2(x(1), x(3)) + gamma(x(2)) + erf(x(1)) + bessel_j0(x(3)) + max(x(1), x(2), x(3))
  end function
end module

program main
  use cases
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 7
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('cases', f, n, x, g)
end program
