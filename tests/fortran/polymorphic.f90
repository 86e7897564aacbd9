! Polymorphic variables: dispatch by a dummy argument, a pointer and an array; allocation by a type, by another variable and by
! assignment; a list of them as components; select type.
module polymorphic
  use check, only: dp
  implicit none
  type, abstract :: shape
    real(dp) :: density = 2
  contains
    procedure(measure), deferred :: area
  end type
  abstract interface
    function measure(self) result(a)
      import shape, dp
      class(shape), intent(in) :: self
      real(dp) :: a
    end function
  end interface
  type, extends(shape) :: disc
    real(dp) :: radius
  contains
    procedure :: area => area_of_disc
  end type
  type, extends(disc) :: ring
    real(dp) :: hole
  contains
    procedure :: area => area_of_ring
  end type
  type, extends(shape) :: polygon
    real(dp), allocatable :: sides(:)
  contains
    procedure :: area => area_of_polygon
  end type
  type :: holder
    class(shape), allocatable :: held
  end type
contains
  function area_of_disc(self) result(a)
    class(disc), intent(in) :: self
    real(dp) :: a
    a = self%density*3*self%radius**2
  end function

  function area_of_ring(self) result(a)
    class(ring), intent(in) :: self
    real(dp) :: a
    a = self%disc%area() - self%density*3*self%hole**2
  end function

  function area_of_polygon(self) result(a)
    class(polygon), intent(in) :: self
    real(dp) :: a
    a = self%density*sum(self%sides)**2/size(self%sides)
  end function

  function by_reference(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(disc), target :: d
    type(ring), target :: r
    type(disc) :: several(2)
    class(shape), pointer :: p
    d%radius = x(1)
    r%radius = x(2)
    r%hole = x(3)*x(1)
    y = squared(d) + kind_of(r)*squared(r)
    p => d
    if (x(3) > 0) p => r
    y = y + p%area()*x(2)
    several(1)%radius = x(1)*x(2)
    several(2)%radius = x(3)
    several%density = x(1)
    y = y + total(several)
  end function

  function squared(s) result(a)
    class(shape), intent(in) :: s
    real(dp) :: a
    a = s%area()**2
  end function

  function total(s) result(a)
    class(shape), intent(in) :: s(:)
    real(dp) :: a
    integer :: i
    a = 0
    do i = 1, size(s)
      a = a + s(i)%area()
    end do
  end function

  function kind_of(s) result(a)
    class(shape), intent(in) :: s
    real(dp) :: a
    a = 1
    select type (s)
    type is (ring)
      a = s%hole
    class is (disc)
      a = s%radius
    end select
  end function

  function by_type(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    class(shape), allocatable :: s
    if (x(1) > x(2)) then
      allocate (disc :: s)
    else
      allocate (ring :: s)
    end if
    select type (s)
    type is (disc)
      s%radius = x(2)
    type is (ring)
      s%radius = x(1)*x(2)
      s%hole = x(3)
    end select
    y = s%area()*x(3)
  end function

  function by_source(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    class(shape), allocatable :: s, t
    type(ring) :: r
    type(polygon) :: p
    r%radius = x(1)
    r%hole = x(2)
    r%density = x(3)
    allocate (s, source=r)
    t = disc(radius=x(3), density=x(1))
    y = s%area()*t%area()
    p%sides = x**2
    t = p
    y = y + t%area()
  end function

  function by_component(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(holder) :: list(2)
    integer :: i
    allocate (disc :: list(1)%held)
    allocate (ring :: list(2)%held)
    list(1)%held%density = x(1)
    list(2)%held%density = x(2)*x(3)
    do i = 1, 2
      select type (s => list(i)%held)
      type is (disc)
        s%radius = x(2)
      type is (ring)
        s%radius = x(3)
        s%hole = x(1)
      end select
    end do
    y = 0
    do i = 1, 2
      y = y + list(i)%held%area()*x(i)
    end do
  end function
end module

program main
  use polymorphic
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 3
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(by_reference, n, x, g)
  call check_gradient('by reference', by_reference, n, x, g)
  g = 0
  call enzyme_grad(by_type, n, x, g)
  call check_gradient('by type', by_type, n, x, g)
  g = 0
  call enzyme_grad(by_source, n, x, g)
  call check_gradient('by source', by_source, n, x, g)
  g = 0
  call enzyme_grad(by_component, n, x, g)
  call check_gradient('by component', by_component, n, x, g)
end program
