! A natural cubic spline through points: its integral of the square, as a function of the values at the knots.
module spline
  use check, only: dp
  implicit none
contains
  ! Second derivatives at the knots, by the algorithm of Thomas for tridiagonal systems.
  subroutine curvatures(n, t, y, c)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(n), y(n)
    real(dp), intent(out) :: c(n)
    real(dp) :: upper(n), rhs(n), below, above, pivot
    integer :: i
    upper(1) = 0
    rhs(1) = 0
    do i = 2, n - 1
      below = t(i) - t(i - 1)
      above = t(i + 1) - t(i)
      pivot = 2*(below + above) - below*upper(i - 1)
      upper(i) = above/pivot
      rhs(i) = (6*((y(i + 1) - y(i))/above - (y(i) - y(i - 1))/below) - below*rhs(i - 1))/pivot
    end do
    c(n) = 0
    do i = n - 1, 1, -1
      c(i) = rhs(i) - upper(i)*c(i + 1)
    end do
  end subroutine

  pure function at(n, t, y, c, s) result(v)
    integer, intent(in) :: n
    real(dp), intent(in) :: t(n), y(n), c(n), s
    real(dp) :: v, h, a, b
    integer :: lo, hi, mid
    lo = 1
    hi = n
    do while (hi - lo > 1)
      mid = (lo + hi)/2
      if (t(mid) > s) then
        hi = mid
      else
        lo = mid
      end if
    end do
    h = t(hi) - t(lo)
    a = (t(hi) - s)/h
    b = (s - t(lo))/h
    v = a*y(lo) + b*y(hi) + ((a**3 - a)*c(lo) + (b**3 - b)*c(hi))*h**2/6
  end function

  function energy(n, y) result(e)
    integer, intent(in) :: n
    real(dp), intent(in) :: y(n)
    real(dp) :: e, t(n), c(n), s
    integer :: i
    t = [(i + 0.1_dp*mod(i, 3), i=1, n)]
    call curvatures(n, t, y, c)
    e = 0
    do i = 1, 40
      s = t(1) + (t(n) - t(1))*(i - 0.5_dp)/40
      e = e + at(n, t, y, c, s)**2
    end do
    e = e/40
  end function
end module

program main
  use spline
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 9
  real(dp) :: y(n), g(n)
  call fill(y)
  g = 0
  call enzyme_grad(energy, n, y, g)
  call check_gradient('spline', energy, n, y, g)
end program
