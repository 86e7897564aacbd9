! Lists of polymorphic values, which only the program knows the types of when it runs: copied, assigned to each other, changed in a
! SELECT TYPE, called through what is bound to their types. What is bound has the arguments that the differentiated functions have.
module potentials
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
    real(dp) :: depth, width
  contains
    procedure :: energy => lennard_jones_energy
  end type
  type, extends(potential) :: morse
    real(dp) :: depth, steepness, distance
  contains
    procedure :: energy => morse_energy
  end type
  type :: holder
    class(potential), allocatable :: held
  end type
contains
  function lennard_jones_energy(self, r) result(e)
    class(lennard_jones), intent(in) :: self
    real(dp), intent(in) :: r
    real(dp) :: e
    e = 4*self%depth*((self%width/r)**12 - (self%width/r)**6)
  end function
  function morse_energy(self, r) result(e)
    class(morse), intent(in) :: self
    real(dp), intent(in) :: r
    real(dp) :: e
    e = self%depth*(1 - exp(-self%steepness*(r - self%distance)))**2
  end function

  function twin(one) result(other)
    class(potential), intent(in) :: one
    class(potential), allocatable :: other
    allocate (other, source=one)
  end function

  function cloned(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    class(potential), allocatable :: one, other
    integer :: i
    y = 0
    do i = 1, n
      if (x(i) > 1) then
        one = lennard_jones(x(i), x(1))
      else
        one = morse(x(i), x(2), x(3))
      end if
      other = twin(one)
      y = y + other%energy(1 + x(1))*one%energy(1 + x(2))
    end do
  end function

  function assigned(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(holder) :: list(3)
    integer :: i, j
    allocate (list(1)%held, source=lennard_jones(x(1), x(2)))
    allocate (list(2)%held, source=morse(x(3), x(4), x(5)))
    do i = 1, 2
      list(3)%held = list(i)%held
      select type (p => list(3)%held)
      type is (lennard_jones)
        p%depth = p%depth*x(6)
      type is (morse)
        p%distance = p%distance + x(6)**2
      end select
    end do
    y = 0
    do i = 1, 3
      do j = 1, n
        y = y + i*list(i)%held%energy(x(j) + 0.5_dp)
      end do
    end do
  end function
end module

program main
  use potentials
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 7
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(cloned, n, x, g)
  call check_gradient('cloned', cloned, n, x, g)
  g = 0
  call enzyme_grad(assigned, n, x, g)
  call check_gradient('assigned', assigned, n, x, g)
end program
