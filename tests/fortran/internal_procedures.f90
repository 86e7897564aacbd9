! Internal procedures, which see the variables of the procedure around them, as arguments of recursive ones: an adaptive step
! (Hairer, Norsett, Wanner, "Solving ordinary differential equations I", section II.4) with an optional observer that sums, a
! bisection, two that call each other with their arguments exchanged, and Simpson's rule where it is not accurate enough.
module internal_procedures
  use check, only: dp
  implicit none
  abstract interface
    function func(t) result(v)
      import dp
      real(dp), intent(in) :: t
      real(dp) :: v
    end function
    subroutine rates(s, d)
      import dp
      real(dp), intent(in) :: s(:)
      real(dp), intent(out) :: d(:)
    end subroutine
    subroutine observer(s)
      import dp
      real(dp), intent(in) :: s(:)
    end subroutine
  end interface
contains
  ! Halves a step until it is accurate enough.
  recursive subroutine advance(f, see, s, h, depth)
    procedure(rates) :: f
    procedure(observer), optional :: see
    real(dp), intent(inout) :: s(:)
    real(dp), intent(in) :: h
    integer, intent(in) :: depth
    real(dp) :: one(size(s)), two(size(s)), d(size(s))
    call f(s, d)
    one = s + h*d
    two = s + h/2*d
    call f(two, d)
    two = two + h/2*d
    if (depth == 0 .or. maxval(abs(one - two)) < 1e-3_dp) then
      s = 2*two - one
      if (present(see)) call see(s)
    else
      call advance(f, see, s, h/2, depth - 1)
      call advance(f, see, s, h/2, depth - 1)
    end if
  end subroutine

  recursive function bisect(f, a, b, fa, depth) result(x)
    procedure(func) :: f
    real(dp), intent(in) :: a, b, fa
    integer, intent(in) :: depth
    real(dp) :: x, c, fc
    c = (a + b)/2
    fc = f(c)
    if (depth == 0) then
      ! The secant's root.
      x = a - fa*(b - a)/(f(b) - fa)
    else if (fa*fc <= 0) then
      x = bisect(f, a, c, fa, depth - 1)
    else
      x = bisect(f, c, b, fc, depth - 1)
    end if
  end function

  recursive function even(f, g, t, n) result(v)
    procedure(func) :: f, g
    real(dp), intent(in) :: t
    integer, intent(in) :: n
    real(dp) :: v
    v = t
    if (n > 0) v = f(t) + 0.5_dp*odd(f, g, g(t), n - 1)
  end function
  recursive function odd(f, g, t, n) result(v)
    procedure(func) :: f, g
    real(dp), intent(in) :: t
    integer, intent(in) :: n
    real(dp) :: v
    v = 1
    if (n > 0) v = g(t)*even(g, f, f(t), n - 1)
  end function

  recursive function adapt(g, a, b, fa, fm, fb, tol, depth) result(s)
    procedure(func) :: g
    real(dp), intent(in) :: a, b, fa, fm, fb, tol
    integer, intent(in) :: depth
    real(dp) :: s, c, l, r, s1, s2
    c = (a + b)/2; l = g((a + c)/2); r = g((c + b)/2)
    s1 = (b - a)/6*(fa + 4*fm + fb)
    s2 = (b - a)/12*(fa + 4*l + 2*fm + 4*r + fb)
    if (depth == 0 .or. abs(s2 - s1) < tol) then
      s = s2 + (s2 - s1)/15
    else
      s = adapt(g, a, c, fa, l, fm, tol/2, depth - 1) + adapt(g, c, b, fm, r, fb, tol/2, depth - 1)
    end if
  end function

  function all_of_them(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, s(2), total, shift
    integer :: calls
    s = x(1:2)
    total = 0
    calls = 0
    call advance(pendulum, watch, s, 0.4_dp, 3)
    call advance(pendulum, s=s, h=0.2_dp, depth=2)
    y = total + s(1)*s(2)
    shift = x(5)
    y = y + bisect(cubic, 0.0_dp, 3.0_dp, cubic(0.0_dp), 4)
    shift = shift*x(6)
    y = y + bisect(cubic, -1.0_dp, 3.0_dp, cubic(-1.0_dp), 3)
    y = y + even(cubic, wave, 0.3_dp*x(7), 5) + nested(x(8))
    y = y + adapt(bumps, 0.1_dp*x(1), 1 + x(2), bumps(0.1_dp*x(1)), bumps((0.1_dp*x(1) + 1 + x(2))/2), bumps(1 + x(2)), &
                  1e-9_dp, 5)
  contains
    subroutine pendulum(s, d)
      real(dp), intent(in) :: s(:)
      real(dp), intent(out) :: d(:)
      d(1) = s(2)*x(4)
      d(2) = -x(3)*sin(s(1))
      calls = calls + 1
    end subroutine
    subroutine watch(s)
      real(dp), intent(in) :: s(:)
      total = total + s(1)**2*x(4) + 0.1_dp*total*s(2)
    end subroutine
    function cubic(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = 0.1_dp*t**3 + t - shift
    end function
    function wave(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = sin(t*shift) + x(6)
    end function
    function bumps(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      integer :: k
      v = 0
      do k = 3, n
        v = v + x(k)*exp(-(t - x(k))**2*k)
      end do
    end function
    function nested(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = even(wave, cubic, t, 2)*shift
    end function
  end function
end module

program main
  use internal_procedures
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 8
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(all_of_them, n, x, g)
  call check_gradient('internal procedures', all_of_them, n, x, g)
end program
