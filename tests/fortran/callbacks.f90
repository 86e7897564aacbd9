! Internal procedures as arguments: they see the variables of the procedure around them, so that what is handed on is more than an
! address (a trampoline, where the optimiser does not bring the callee in).
module callbacks
  use check, only: dp
  implicit none
  interface
    function of_one(t) result(v)
      import dp
      real(dp), intent(in) :: t
      real(dp) :: v
    end function
  end interface
contains
  function simpson(g, a, b, n) result(s)
    procedure(of_one) :: g
    real(dp), intent(in) :: a, b
    integer, intent(in) :: n
    real(dp) :: s, h
    integer :: i
    h = (b - a)/n
    s = g(a) + g(b)
    do i = 1, n - 1
      s = s + merge(4, 2, mod(i, 2) == 1)*g(a + i*h)
    end do
    s = s*h/3
  end function

  function root(g, a, b) result(x)
    procedure(of_one) :: g
    real(dp), intent(in) :: a, b
    real(dp) :: x, x0, f0, f1
    integer :: i
    x0 = a
    x = b
    f0 = g(x0)
    do i = 1, 40
      f1 = g(x)
      if (abs(f1) < 1d-14 .or. f1 == f0) exit
      call step(x0, x, f0, f1)
    end do
  end function

  subroutine step(x0, x1, f0, f1)
    real(dp), intent(inout) :: x0, x1, f0
    real(dp), intent(in) :: f1
    real(dp) :: next
    next = x1 - f1*(x1 - x0)/(f1 - f0)
    x0 = x1
    f0 = f1
    x1 = next
  end subroutine

  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, scale
    scale = x(10)
    y = simpson(decay, 0.0_dp, x(1), 10) + simpson(power, x(2), x(3) + 2, 6) + root(balance, 0.5_dp, 1.0_dp)
  contains
    function decay(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = scale*exp(-x(4)*t)*sum(x(5:8)*[1.0_dp, t, t**2, t**3])
    end function
    function power(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = t**x(9)
    end function
    function balance(t) result(v)
      real(dp), intent(in) :: t
      real(dp) :: v
      v = t**3 + x(11)*t - scale*x(12)
    end function
  end function
end module

program main
  use callbacks
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 12
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, enzyme_const, n, x, g)
  call check_gradient('callbacks', f, n, x, g)
end program
