! Markers under names that end in those of C: what programs for other tools declare.
module suffixed
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    integer :: i
    y = 1
    do i = 1, n
      y = y*(1 + x(i)**2/i)
    end do
  end function
end module

program main
  use suffixed
  use check
  use enzyme
  implicit none
  interface
    subroutine f__enzyme_autodiff(f, const, n, x, dx)
      use iso_c_binding, only: c_int
      import dp
      external f
      integer(c_int) :: const
      integer :: n
      real(dp) :: x(n), dx(n)
    end subroutine
    function f__enzyme_fwddiff(f, const, n, x, v) result(t)
      use iso_c_binding, only: c_int
      import dp
      external f
      integer(c_int) :: const
      integer :: n
      real(dp) :: x(n), v(n), t
    end function
  end interface
  integer, parameter :: n = 4
  real(dp) :: x(n), g(n), v(n)
  call fill(x)
  g = 0
  call f__enzyme_autodiff(f, enzyme_const, n, x, g)
  call check_gradient('suffixes', f, n, x, g)
  v = [1.0_dp, -1.0_dp, 0.5_dp, 2.0_dp]
  call expect('tangent', f__enzyme_fwddiff(f, enzyme_const, n, x, v), dot_product(g, v), 1d-12)
end program
