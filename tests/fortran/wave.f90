! A wave on a string with the speed in every point unknown: three time levels in one array, the index of which turns.
module wave
  use check, only: dp
  implicit none
contains
  function recorded(n, c) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: c(n)
    real(dp) :: y, u(0:n + 1, 0:2)
    integer :: t, i, now, before, next
    u = 0
    u(n/2, 0) = 1
    u(n/2, 1) = 1
    y = 0
    do t = 1, 14
      before = mod(t - 1, 3)
      now = mod(t, 3)
      next = mod(t + 1, 3)
      do i = 1, n
        u(i, next) = 2*u(i, now) - u(i, before) + 0.2_dp*c(i)**2*(u(i - 1, now) - 2*u(i, now) + u(i + 1, now))
      end do
      y = y + u(2, next)**2*t
    end do
  end function
end module

program main
  use wave
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 10
  real(dp) :: c(n), g(n)
  call fill(c)
  g = 0
  call enzyme_grad(recorded, n, c, g)
  call check_gradient('wave', recorded, n, c, g)
end program
