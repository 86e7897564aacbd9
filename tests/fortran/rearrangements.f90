! Arrays rearranged: reshape, spread, pack, unpack, cshift, eoshift, transpose, constructors, sections backwards.
module rearrangements
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, a(3, 4), b(4, 3), v(n), w(n)
    real(dp), allocatable :: p(:)
    integer :: i
    a = reshape(x, [3, 4])
    b = transpose(a)
    y = sum(b(:, 2)*a(1, :))
    v = cshift(x, 3)
    w = eoshift(x, -2)
    y = y + dot_product(v, w)
    p = pack(x, x > 0.9_dp)
    y = y + sum(p**2)*size(p)
    v = unpack(p, x > 0.9_dp, x**2)
    y = y + sum(v*[(i*0.5_dp, i=1, n)])
    a = spread(x(1:3), 2, 4)*a
    y = y + sum(a(3:1:-1, 1)*a(:, 4))
    p = [x(1)*x(2), p, x(n:n - 2:-1)]
    y = y + sum(p**3)
    b = cshift(b, 1, dim=1)
    y = y + b(4, 1)*b(1, 3)
  end function
end module

program main
  use rearrangements
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 12
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('rearrangements', f, n, x, g)
end program
