! Kepler's equation by Newton's method, as often as it takes: the position of a planet as a function of its elements.
module kepler
  use check, only: dp
  implicit none
contains
  pure recursive function anomaly(m, e, guess, depth) result(a)
    real(dp), intent(in) :: m, e, guess
    integer, intent(in) :: depth
    real(dp) :: a, change
    change = (guess - e*sin(guess) - m)/(1 - e*cos(guess))
    a = guess - change
    if (abs(change) > 1d-13 .and. depth < 30) a = anomaly(m, e, a, depth + 1)
  end function

  function distance(n, x) result(d)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: d, a, change, e, m
    integer :: i
    d = 0
    do i = 1, n/2
      m = x(2*i - 1)
      e = 0.4_dp*x(2*i)
      a = m
      do
        change = (a - e*sin(a) - m)/(1 - e*cos(a))
        a = a - change
        if (abs(change) < 1d-13) exit
      end do
      d = d + (cos(a) - e)**2 + (1 - e**2)*sin(anomaly(m, e, m, 0))**2
    end do
  end function
end module

program main
  use kepler
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 6
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(distance, n, x, g)
  call check_gradient('newton', distance, n, x, g)
end program
