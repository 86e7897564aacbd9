! Products of matrices by the intrinsics: matmul of all ranks, transpose, dot_product, of sections and of temporaries.
module products
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    integer, parameter :: m = 3
    real(dp) :: a(m, m), b(m, m), v(m), w(m)
    a = reshape(x(1:9), [m, m])
    b = reshape(x(10:18), [m, m])
    v = matmul(a, x(1:n:7))
    w = matmul(x(2:4), b)
    b = matmul(transpose(a), matmul(a, b))
    y = dot_product(v, w) + sum(b) + b(1, 2)*dot_product(b(2, :), b(:, 3))
    a = matmul(a(:, m:1:-1), b)
    y = y + sum(a(1:2, 2:3)) + norm2(a)
  end function
end module

program main
  use products
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 18
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('products', f, n, x, g)
end program
