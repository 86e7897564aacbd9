! Polymorphic values that are assigned: of the type that the variable has, which stays where it lies, of another one with
! memory of its own, and arrays; and dispatch over a list of them, from a function whose own arguments are like those of the
! procedures.
module assigned
  use check, only: dp
  implicit none
  type, abstract :: potential
  contains
    procedure(energy_of), deferred :: energy
  end type
  abstract interface
    function energy_of(self, r) result(e)
      import potential, dp
      class(potential), intent(in) :: self
      real(dp), intent(in) :: r
      real(dp) :: e
    end function
  end interface
  type, extends(potential) :: lennard_jones
    real(dp) :: eps, sigma
  contains
    procedure :: energy => lj_energy
  end type
  type, extends(potential) :: table
    real(dp), allocatable :: v(:)
  contains
    procedure :: energy => table_energy
  end type
  type, extends(potential) :: morse
    real(dp) :: depth, width, at
  contains
    procedure :: energy => morse_energy
  end type
  type :: holder
    class(potential), allocatable :: p
  end type
contains
  function lj_energy(self, r) result(e)
    class(lennard_jones), intent(in) :: self
    real(dp), intent(in) :: r
    real(dp) :: e
    e = 4*self%eps*((self%sigma/r)**12 - (self%sigma/r)**6)
  end function
  function table_energy(self, r) result(e)
    class(table), intent(in) :: self
    real(dp), intent(in) :: r
    real(dp) :: e
    e = sum(self%v)*r
  end function
  function morse_energy(self, r) result(e)
    class(morse), intent(in) :: self
    real(dp), intent(in) :: r
    real(dp) :: e
    e = self%depth*(1 - exp(-self%width*(r - self%at)))**2
  end function
  ! The same type: the value stays where a pointer points to.
  function stays(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(holder), target :: a, b
    real(dp), pointer :: e
    allocate(a%p, source=lennard_jones(x(1), x(2)))
    allocate(b%p, source=lennard_jones(x(2), x(3)*x(1)))
    e => null()
    select type (q => b%p)
    type is (lennard_jones)
      e => q%eps
    end select
    b%p = a%p
    y = e*b%p%energy(x(4) + 1)
  end function
  ! Another type, with memory of its own.
  function changes(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(table) :: t
    class(potential), allocatable :: a
    integer :: i
    t%v = [(x(i)**2, i = 1, n)]
    allocate(a, source=lennard_jones(x(1), x(2)))
    y = a%energy(x(3) + 1)
    a = t
    t%v(1) = 0
    y = y*a%energy(x(4))
    a = t
    y = y + a%energy(x(5))
  end function
  ! Arrays.
  function arrays(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    class(lennard_jones), allocatable :: a(:)
    type(lennard_jones) :: b(3)
    integer :: i
    do i = 1, 3
      b(i) = lennard_jones(x(i), x(i + 1))
    end do
    allocate(a(2))
    a = b(:2)
    y = a(2)%energy(x(4) + 1)
    a = b
    y = y*a(3)%energy(x(5) + 1)
    a = b(1)
    y = y + a(3)%energy(x(3) + 1)*size(a)
  end function
  function dispatched(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(holder) :: all(3)
    integer :: i
    allocate(all(1)%p, source=lennard_jones(x(1), x(2)))
    allocate(all(2)%p, source=morse(x(2), x(3), x(4)))
    allocate(all(3)%p, source=lennard_jones(x(5), x(6)))
    y = 0
    do i = 1, 3
      y = y + all(i)%p%energy(x(i) + 1)
    end do
  end function
end module

program main
  use assigned
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 6
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(stays, n, x, g)
  call check_gradient('stays', stays, n, x, g)
  g = 0
  call enzyme_grad(changes, n, x, g)
  call check_gradient('changes', changes, n, x, g)
  g = 0
  call enzyme_grad(arrays, n, x, g)
  call check_gradient('arrays', arrays, n, x, g)
  g = 0
  call enzyme_grad(dispatched, n, x, g)
  call check_gradient('dispatched', dispatched, n, x, g)
end program
