! A module procedure that is differentiated in several ways: with respect to one argument and to the other, constant ones named,
! forward and reverse in one program, a gradient of a function that takes scalars.
module oscillator
  use check, only: dp
  implicit none
contains
  function amplitude(mass, spring, damping, omega) result(a)
    real(dp), intent(in) :: mass, spring, damping, omega
    real(dp) :: a
    a = 1/sqrt((spring - mass*omega**2)**2 + (damping*omega)**2)
  end function

  function of_vector(n, x) result(a)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: a
    a = amplitude(x(1), x(2), x(3), x(4))
  end function
end module

program main
  use oscillator
  use check
  use enzyme
  implicit none
  real(dp) :: x(4), g(4), one, only
  integer :: i
  call fill(x)
  g = 0
  call enzyme_grad(amplitude, x(1), g(1), x(2), g(2), x(3), g(3), x(4), g(4))
  call check_gradient('shared_code', of_vector, 4, x, g)

  only = 0
  call enzyme_autodiff(amplitude, enzyme_const, x(1), enzyme_dup, x(2), only, enzyme_const, x(3), enzyme_const, x(4))
  call expect('spring', only, g(2), 1d-14)
  one = 1
  call expect('omega', enzyme_jvp(amplitude, enzyme_const, x(1), enzyme_const, x(2), enzyme_const, x(3), x(4), one), g(4), 1d-14)
  do i = 1, 2
    only = 0
    call enzyme_grad(of_vector, 4, x, g)
  end do
end program
