! The part in Fortran: the exponential of what C makes.
module model
  use iso_c_binding
  interface
    function half_square(x, n) bind(c) result(y)
      import
      real(c_double), intent(in) :: x(*)
      integer(c_int), value :: n
      real(c_double) :: y
    end function
  end interface
contains
  function f(x) result(y)
    real(8), intent(in) :: x(3)
    real(8) :: y
    y = log(half_square(x, 3))
  end function
end module

program main
  use model
  use enzyme
  real(8) :: x(3), dx(3)
  x = [1d0, 2d0, 3d0]
  dx = 0
  call enzyme_grad(f, x, dx)
  print '(3f7.4)', dx
end program
