! Derivatives of Fortran procedures, by calls that the compiler replaces:
!
!   use enzyme
!   call enzyme_grad(f, x, dx)                     adds df/dx to dx, for a function f(x)
!   y = enzyme_value_and_grad(f, x, dx)            the same, and returns f(x)
!   dy = enzyme_jvp(f, x, v)                       the derivative of f along v
!   call enzyme_grad(s, x, dx, y, dy)              for a subroutine s(x, y): adds dy/dx, times dy, to dx, and clears dy
!   call enzyme_fwddiff(s, x, v, y, dy)            for a subroutine: dy becomes the derivative of y along v
!
! Arguments stand in the order of the procedure's. An array or a real is followed by its shadow (adjoint or tangent); integers
! stand alone, and so does what follows `enzyme_const`. `enzyme_dup` says of an integer array that a shadow follows.
!
! Where the procedure takes an array by its shape (x(:), allocatable, pointer), or the result is not double precision, declare
! an interface of your own under a name that begins with enzyme_grad_, enzyme_value_and_grad_, enzyme_jvp_ or enzyme_fwddiff_.
!
! Derivatives of one's own are stated, as of everything in the file and not run, by
!
!   call enzyme_register_gradient(f, augmented, reverse)
!   call enzyme_register_derivative(f, tangent)
!   call enzyme_register_inactive(f)
!
!   flang-22 -O2 -fpass-plugin=<prefix>/lib/LLVMEnzyme-22.so <prefix>/share/enzyme/fortran/enzyme.f90 program.f90
module enzyme
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  public

  external :: enzyme_grad, enzyme_autodiff, enzyme_fwddiff
  external :: enzyme_register_gradient, enzyme_register_derivative, enzyme_register_inactive
  double precision, external :: enzyme_value_and_grad, enzyme_jvp

  ! What an argument is.
  integer(c_int), bind(c) :: enzyme_const, enzyme_dup, enzyme_dupnoneed
  ! What is said of a whole call.
  integer(c_int), bind(c) :: enzyme_primal_return, enzyme_strong_zero, enzyme_runtime_activity
end module enzyme
