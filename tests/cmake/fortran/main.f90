! A gradient in Fortran, by CMake.
module model
contains
  function f(x) result(y)
    real(8), intent(in) :: x(3)
    real(8) :: y
    y = sum(x**2)
  end function
end module

program main
  use model
  use enzyme
  real(8) :: x(3), dx(3)
  x = [1d0, 2d0, 3d0]
  dx = 0
  call enzyme_grad(f, x, dx)
  print '(3f4.1)', dx
end program
