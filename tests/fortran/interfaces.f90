! The markers as their users call them: values with gradients, tangents, subroutines with seeds, arrays of assumed shape and
! single precision through interfaces of one's own.
module models
  use check, only: dp
  implicit none
contains
  function f(x) result(y)
    real(dp), intent(in) :: x(3)
    real(dp) :: y
    y = x(1)*x(2) + sin(x(3))
  end function

  subroutine s(x, y)
    real(dp), intent(in) :: x(2)
    real(dp), intent(out) :: y(2)
    y(1) = x(1)**2*x(2)
    y(2) = exp(x(2))
  end subroutine

  function shaped(x) result(y)
    real(dp), intent(in) :: x(:)
    real(dp) :: y
    y = sum(x**3)
  end function

  function single(x) result(y)
    real, intent(in) :: x
    real :: y
    y = x**2
  end function
end module

program main
  use models
  use check
  use enzyme
  implicit none
  interface
    subroutine enzyme_grad_shaped(f, x, dx)
      import dp
      external f
      real(dp) :: x(:), dx(:)
    end subroutine
    function enzyme_jvp_single(f, x, v) result(dy)
      external f
      real :: x, v, dy
    end function
  end interface
  real(dp) :: x(3), dx(3), y, v(3), z(2), dz(2), w(2), dw(2), rows(2, 4), d(2, 4)
  real :: a
  x = [2.0_dp, 3.0_dp, 0.5_dp]
  dx = 0
  y = enzyme_value_and_grad(f, x, dx)
  call expect('value', y, 6 + sin(0.5_dp), 1d-14)
  call expect('first', dx(1), 3.0_dp, 1d-14)
  call expect('third', dx(3), cos(0.5_dp), 1d-14)
  v = [1.0_dp, -1.0_dp, 2.0_dp]
  call expect('tangent', enzyme_jvp(f, x, v), dot_product(dx, v), 1d-14)

  z = [1.5_dp, 0.5_dp]
  dz = 0
  dw = [1.0_dp, 2.0_dp]
  call enzyme_grad(s, z, dz, w, dw)
  call expect('seeded 1', dz(1), 1.5_dp, 1d-14)
  call expect('seeded 2', dz(2), 2.25_dp + 2*exp(0.5_dp), 1d-14)
  dz = [1.0_dp, 1.0_dp]
  call enzyme_fwddiff(s, z, dz, w, dw)
  call expect('forward 1', dw(1), 1.5_dp + 2.25_dp, 1d-14)
  call expect('forward 2', dw(2), exp(0.5_dp), 1d-14)

  rows = 2
  rows(1, 3) = 3
  d = 0
  call enzyme_grad_shaped(shaped, rows(1, :), d(1, :))
  call expect('shaped', d(1, 3), 27.0_dp, 1d-14)
  call expect('beside', d(2, 3), 0.0_dp, 0.0_dp)
  a = 3
  call expect('single', real(enzyme_jvp_single(single, a, 1.0), dp), 6.0_dp, 1d-6)
  print '(a)', 'ok interfaces'
end program
