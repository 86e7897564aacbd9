! Reductions along dimensions, of several ranks and under masks; single precision beside double.
module reductions
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, a(3, 4), rows(3), columns(4), cube(2, 3, 2)
    real :: rough(n)
    a = reshape(x(1:12), [3, 4])
    rows = sum(a, dim=2)
    columns = product(a, dim=1)
    y = dot_product(rows, rows) + sum(columns) + sum(maxval(a, dim=1)*minval(a, 1))
    cube = reshape(x(1:12), [2, 3, 2])
    y = y + sum(sum(cube, dim=2)**2) + sum(a, mask=a > 1) + maxval(sum(a, 1))
    rough = real(x)
    y = y + 1d-9*real(sum(rough), dp)
  end function
end module

program main
  use reductions
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 13
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('reductions', f, n, x, g)
end program
