! Derived types: nested, with arrays and allocatable components, in arrays, assigned, returned, passed on.
module beams
  use check, only: dp
  implicit none
  type material
    real(dp) :: stiffness
    integer :: code
    real(dp) :: density
  end type
  type beam
    type(material) :: made_of
    real(dp), allocatable :: load(:)
    real(dp) :: length
    integer :: parts
  end type
contains
  function built(x, parts) result(b)
    real(dp), intent(in) :: x(3)
    integer, intent(in) :: parts
    type(beam) :: b
    integer :: i
    b%made_of = material(x(1), 7, x(2))
    b%length = x(3)
    b%parts = parts
    allocate (b%load(parts))
    do i = 1, parts
      b%load(i) = x(2)*i + x(3)**2/i
    end do
  end function

  function bending(b) result(d)
    type(beam), intent(in) :: b
    real(dp) :: d
    integer :: i
    d = 0
    do i = 1, b%parts
      d = d + b%load(i)*(b%length*i/b%parts)**3/(3*b%made_of%stiffness)
    end do
  end function

  function total(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(beam) :: all(3), copy
    type(material) :: mix(2)
    integer :: i
    y = 0
    do i = 1, 3
      all(i) = built(x(3*i - 2:3*i), 2 + i)
      y = y + bending(all(i))
    end do
    copy = all(2)
    copy%load = copy%load*x(1)
    y = y + bending(copy) + sum(all(2)%load)
    mix(1) = all(1)%made_of
    mix(2) = all(3)%made_of
    y = y + sum(mix%stiffness*mix%density)
  end function
end module

program main
  use beams
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 9
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(total, n, x, g)
  call check_gradient('derived_types', total, n, x, g)
end program
