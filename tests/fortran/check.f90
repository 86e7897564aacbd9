! Compares gradients with central differences. A program prints one line per check: "ok NAME" or "WRONG NAME ...".
module check
  implicit none
  integer, parameter :: dp = kind(1d0)

  abstract interface
    function scalar_function(n, x) result(y)
      import dp
      integer, intent(in) :: n
      real(dp), intent(in) :: x(n)
      real(dp) :: y
    end function
  end interface

contains

  ! Fourth-order differences with a step of 1e-3: the error is about 1e-12 of the fifth derivative, and rounding adds 1e-13 of
  ! the value; 1e-8 leaves room for both.
  subroutine check_gradient(name, f, n, x, g)
    character(*), intent(in) :: name
    procedure(scalar_function) :: f
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n), g(n)
    real(dp) :: moved(n), d, h, scale
    integer :: i
    moved = x
    scale = maxval(abs(g))
    do i = 1, n
      h = 1d-3*max(1d-1, abs(x(i)))
      d = 8*(along(h) - along(-h)) - (along(2*h) - along(-2*h))
      call expect(name, g(i), d/(12*h), 1d-8*max(1d0, scale))
    end do
    print '(2a)', 'ok ', name
  contains
    function along(step) result(y)
      real(dp), intent(in) :: step
      real(dp) :: y
      moved(i) = x(i) + step
      y = f(n, moved)
      moved(i) = x(i)
    end function
  end subroutine

  subroutine expect(name, got, want, tolerance)
    character(*), intent(in) :: name
    real(dp), intent(in) :: got, want, tolerance
    if (.not. abs(got - want) <= tolerance) print '(3a,2es24.15)', 'WRONG ', name, ': got, want', got, want
  end subroutine

  ! Numbers between 0.5 and 1.5, the same each time.
  subroutine fill(x)
    real(dp), intent(out) :: x(:)
    integer :: i
    do i = 1, size(x)
      x(i) = 0.5_dp + modulo(0.6180339887_dp*i, 1.0_dp)
    end do
  end subroutine
end module
