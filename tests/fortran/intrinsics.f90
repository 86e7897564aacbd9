! Intrinsic procedures that reach the run-time library: products of mixed kinds, norms and sums along dimensions, reduce, shifts of
! several dimensions, reshape in another order, transfer, erfc_scaled, set_exponent; allocation by an example; arrays of any
! rank; random numbers, which are constants.
module intrinsics
  use check, only: dp
  implicit none
contains
  pure function times(a, b) result(c)
    real(dp), intent(in) :: a, b
    real(dp) :: c
    c = a*b
  end function

  function products(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, a(2, 2)
    complex(dp) :: z(2, 2), c(n)
    real(4) :: s(2, 2)
    integer :: i(2, 2)
    a = reshape(x(1:4), [2, 2])
    z = reshape(cmplx(x(5:8), x(1:4)**2, dp), [2, 2])
    c = cmplx(x, 0.3_dp*x**2, dp)
    s = reshape([1.0, 2.0, 0.5, -1.0], [2, 2])
    i = reshape([1, 2, 3, -4], [2, 2])
    y = sum(matmul(a, i)**2) + sum(matmul(i, a)*a) + sum(matmul(a, s)) + sum(matmul(s, a)**2)
    y = y + real(sum(matmul(a, z)*matmul(z, a))) + aimag(sum(matmul(z, s) + matmul(i, z)*z))
    y = y + sum(matmul(transpose(a), i)*a) + real(sum(matmul(transpose(z), z)))
    y = y + abs(product(c(1:5))) + real(product(c, mask=x > 1.0_dp))
  end function

  function along(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, m(2, n)
    complex(dp) :: z(2, 3)
    m = reshape([x, x*2 - 0.4_dp], [2, n])
    z = reshape(cmplx(x(1:6), x(7:12), dp), [2, 3])
    y = sum(norm2(m, dim=1)*x) + sum(norm2(m, dim=2)**3) + abs(sum(sum(z, dim=1)**2))
    y = y + reduce(x, times) + sum(reduce(m, times, dim=1)**2) + reduce(x, times, mask=x > 1.0_dp, identity=2.0_dp)
  end function

  function shifts(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, t(2, 3, 2), m(2, n)
    complex(dp) :: z(n)
    integer :: k
    t = reshape(x, [2, 3, 2])
    m = reshape([x, x*2 - 0.4_dp], [2, n])
    z = cmplx(x, x**2, dp)
    y = sum(cshift(t, 1, dim=3)*t) + sum(cshift(t, -1, dim=2)*t**2) + sum(cshift(t, 1)*t)
    y = y + sum(cshift(m, [1, -2], dim=2)*m**2) + sum(eoshift(m, [3, -1], boundary=x(1:2), dim=2)*m)
    y = y + sum(eoshift(m, 1, boundary=x(3))*m) + real(sum(eoshift(z, 2)*z)) + sum(eoshift(t, -1, dim=2)*t)
    y = y + sum(reshape(x, [4, 3], order=[2, 1])*reshape(x, [4, 3]))
    t = reshape(x(1:7), [2, 3, 2], pad=x(8:9), order=[3, 1, 2])
    y = y + sum([(k*t(:, mod(k, 3) + 1, 2), k=1, 3)]) + sum(t(2, :, 1)**2)
  end function

  function energy(a) result(e)
    real(dp), intent(in) :: a(..)
    real(dp) :: e
    select rank (a)
    rank (1)
      e = sum(a**2)
    rank (2)
      e = sum(a(1, :)*a(2, :))
    rank default
      e = 0
    end select
  end function

  function others(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, w(n), m(2, 3)
    real(dp), allocatable :: like(:)
    real(dp), pointer :: one, some(:)
    integer(8) :: bits
    m = reshape(x(1:6), [2, 3])
    y = energy(x) + energy(m) + sum(transfer(x, w)**2) + transfer(transfer(x(1)**2, bits), 1.0_dp)
    y = y + erfc_scaled(x(1)) + set_exponent(x(2), 3)*x(3)
    allocate (like(n), mold=x)
    like = x
    allocate (one, source=x(3))
    one = one*x(1)
    allocate (some, source=x)
    y = y + sum(like*some(n:1:-1)) + one
    deallocate (one, some)
  end function

  ! What is drawn replaces what was there, and has no derivative.
  function noise(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, w(n)
    integer :: seeds
    call random_seed(size=seeds)
    call random_seed(put=spread(7, 1, seeds))
    w = x
    y = sum(w**2)
    call random_number(w)
    y = y + sum(w*x)
    call random_number(w(1:n:2))
    y = y + sum(w*sin(x))
  end function
end module

program main
  use intrinsics
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 12
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(products, enzyme_const, n, x, g)
  call check_gradient('products', products, n, x, g)
  g = 0
  call enzyme_grad(along, enzyme_const, n, x, g)
  call check_gradient('along', along, n, x, g)
  g = 0
  call enzyme_grad(shifts, enzyme_const, n, x, g)
  call check_gradient('shifts', shifts, n, x, g)
  g = 0
  call enzyme_grad(others, enzyme_const, n, x, g)
  call check_gradient('others', others, n, x, g)
  g = 0
  call enzyme_grad(noise, enzyme_const, n, x, g)
  call check_gradient('noise', noise, n, x, g)
end program
