! Adaptive quadrature by recursion, with the integrand as a procedure argument and its parameters in a host procedure.
module quadrature
  use check, only: dp
  implicit none
  abstract interface
    function integrand(t, p) result(v)
      import dp
      real(dp), intent(in) :: t, p(:)
      real(dp) :: v
    end function
  end interface
contains
  function bump(t, p) result(v)
    real(dp), intent(in) :: t, p(:)
    real(dp) :: v
    v = p(1)*exp(-p(2)*(t - p(3))**2) + sin(p(2)*t)
  end function

  recursive function simpson(f, p, a, b, depth) result(s)
    procedure(integrand) :: f
    real(dp), intent(in) :: p(:), a, b
    integer, intent(in) :: depth
    real(dp) :: s, m, whole, halves
    m = (a + b)/2
    whole = (b - a)/6*(f(a, p) + 4*f(m, p) + f(b, p))
    halves = (b - a)/12*(f(a, p) + 4*f((a + m)/2, p) + 2*f(m, p) + 4*f((m + b)/2, p) + f(b, p))
    if (depth == 0 .or. abs(halves - whole) < 1d-3) then
      s = halves
    else
      s = simpson(f, p, a, m, depth - 1) + simpson(f, p, m, b, depth - 1)
    end if
  end function

  function integral(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    y = simpson(bump, x, 0.0_dp, 2.0_dp, 5)**2
  end function
end module

program main
  use quadrature
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 3
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(integral, n, x, g)
  call check_gradient('quadrature', integral, n, x, g)
end program
