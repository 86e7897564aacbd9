! Who owns what: values of derived types with allocatable components in structures, in arrays and behind components of their own;
! pointers among components, to data and to procedures; initial values.
module owners
  use check, only: dp
  implicit none
  type inner
    real(dp), allocatable :: v(:)
    real(dp) :: w
  end type
  type outer
    type(inner) :: x
    type(inner) :: pair(2)
    integer :: n
  end type
  type branch
    type(inner), allocatable :: leaf
    type(outer) :: core
  end type
  type labelled
    character(:), allocatable :: name
    type(inner) :: data
  end type
  type node
    real(dp) :: value
    type(node), pointer :: next => null()
  end type
  type chain
    real(dp) :: value = 0
    type(chain), allocatable :: next
  end type
  real(dp), target, save :: unit = 1
  abstract interface
    function fun(t) result(r)
      import dp
      real(dp), intent(in) :: t
      real(dp) :: r
    end function
  end interface
  type holder
    real(dp) :: a = 2
    integer(1) :: small = 3
    logical :: flag = .true.
    character(5) :: text = 'abc'
    real(dp), pointer :: p => unit
    procedure(fun), pointer, nopass :: f => square
  end type
contains
  function square(t) result(r)
    real(dp), intent(in) :: t
    real(dp) :: r
    r = t*t
  end function

  function cube(t) result(r)
    real(dp), intent(in) :: t
    real(dp) :: r
    r = t**3
  end function

  function nested(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(outer) :: a, b
    a%x%v = x
    a%x%w = x(1)
    a%pair(2)%v = x*2
    a%n = n
    b = a
    b%x%v = b%x%v*10
    b%pair(2)%v = b%pair(2)%v**2
    r = sum(a%x%v**2) + sum(b%x%v)*b%x%w + sum(a%pair(2)%v**3) + sum(b%pair(2)%v)
  end function

  function three_deep(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(branch) :: a, b
    allocate (a%leaf)
    a%leaf%v = x**2
    a%leaf%w = x(2)
    a%core%pair(1)%v = x(2:)
    b = a
    b%leaf%v(1) = 0
    b%core%pair(1)%v = b%core%pair(1)%v**2
    r = sum(a%leaf%v**3) + b%leaf%w*sum(b%leaf%v)
    r = r + sum(a%core%pair(1)%v*b%core%pair(1)%v)
  end function

  function labels(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(labelled) :: a, b
    a%name = 'oak'
    a%data%v = x**2
    b = a
    b%name = b%name // 's'
    b%data%v = b%data%v*x
    r = 0
    if (a%name == 'oak' .and. b%name == 'oaks') r = sum(a%data%v) + sum(b%data%v**2)
  end function

  ! Arrays of owners: given new shapes, shifted over themselves, filled with one of their elements.
  function arrays(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(inner), allocatable :: a(:), b(:), c(:)
    integer :: i
    allocate (a(3))
    do i = 1, 3
      a(i)%v = x(1:i)*i
      a(i)%w = x(i)
    end do
    b = a(1:2)
    b = a
    allocate (c, source=b)
    a(2:3) = a(1:2)
    b(1:2) = b(3)
    b(1)%v(1) = x(1)**2
    call move_alloc(c, a)
    r = 0
    do i = 1, 3
      r = r + i*sum(b(i)%v**2)*b(i)%w + sum(a(i)%v)*a(i)%w**2
    end do
    deallocate (a)
    allocate (a(2))
    if (allocated(a(2)%v) .or. allocated(c)) r = 0
  end function

  function list(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(node), target :: first(3), other(3)
    type(node), pointer :: q
    first%value = x(1:3)
    first(1)%next => first(2)
    first(2)%next => first(3)
    other = first
    q => other(1)
    r = 0
    do while (associated(q))
      r = r + q%value**2
      q => q%next
    end do
  end function

  function chained(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(chain) :: a, b
    a%value = x(1)
    allocate (a%next)
    r = a%next%value
    a%next%value = x(2)*x(1)
    b = a
    b%next%value = b%next%value**2
    r = r + a%value*a%next%value + b%value*b%next%value
  end function

  function held(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    type(holder) :: p, q(2), s
    type(holder), allocatable :: t(:)
    allocate (t(2))
    r = t(2)%a*x(3)*t(1)%p
    if (t(2)%small == 3 .and. t(1)%flag .and. t(2)%text == 'abc') r = r**2
    p%a = x(1)
    p%f => cube
    q = p
    r = r + q(2)%f(x(2))*q(1)%a + s%f(x(3))
  end function
end module

program ownership
  use owners
  use check
  use enzyme
  real(dp) :: x(4), g(4)
  call fill(x)
  g = 0
  call enzyme_grad(nested, 4, x, g)
  call check_gradient('nested', nested, 4, x, g)
  g = 0
  call enzyme_grad(three_deep, 4, x, g)
  call check_gradient('three deep', three_deep, 4, x, g)
  g = 0
  call enzyme_grad(labels, 4, x, g)
  call check_gradient('labels', labels, 4, x, g)
  g = 0
  call enzyme_grad(arrays, 4, x, g)
  call check_gradient('arrays', arrays, 4, x, g)
  g = 0
  call enzyme_grad(list, 4, x, g)
  call check_gradient('list', list, 4, x, g)
  g = 0
  call enzyme_grad(chained, 4, x, g)
  call check_gradient('chained', chained, 4, x, g)
  g = 0
  call enzyme_grad(held, 4, x, g)
  call check_gradient('held', held, 4, x, g)
end program
