! Heat in a plate, two time levels swapped by move_alloc, with the conductivity in every cell as the unknown.
module heat
  use check, only: dp
  implicit none
contains
  function final(n, k) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: k(n)
    real(dp) :: y
    integer, parameter :: m = 5
    real(dp), allocatable :: now(:, :), next(:, :)
    real(dp) :: c(m, m)
    integer :: i, j, t
    c = reshape(k(1:m*m), [m, m])
    allocate (now(m, m))
    now = 0
    now(m/2 + 1, :) = 1
    do t = 1, 8
      allocate (next(m, m), source=now)
      do concurrent(i=2:m - 1, j=2:m - 1)
        next(i, j) = now(i, j) + 0.1_dp*c(i, j)*(now(i - 1, j) + now(i + 1, j) + now(i, j - 1) + now(i, j + 1) - 4*now(i, j))
      end do
      call move_alloc(next, now)
    end do
    y = sum(now**2)
  end function
end module

program main
  use heat
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 25
  real(dp) :: k(n), g(n)
  call fill(k)
  g = 0
  call enzyme_grad(final, n, k, g)
  call check_gradient('heat', final, n, k, g)
end program
