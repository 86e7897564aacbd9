! Pointers to arrays, to sections and to scalars, associate, and a list of nodes that point to the next.
module pointers
  use check, only: dp
  implicit none
  type node
    real(dp) :: value
    type(node), pointer :: next => null()
  end type
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    real(dp), target :: work(n), given(n)
    real(dp), pointer :: part(:), one
    type(node), pointer :: head, new
    integer :: i
    work = x**2
    part => work(2:n:2)
    part = part*x(1)
    one => work(3)
    one = one + x(2)
    nullify (head)
    do i = 1, n
      allocate (new)
      new%value = work(i)*i
      new%next => head
      head => new
    end do
    y = 0
    do while (associated(head))
      associate (v => head%value)
        v = v + y/10
        y = y + sin(v)
      end associate
      new => head%next
      deallocate (head)
      head => new
    end do
    given = x
    part => given
    y = y + sum(part(1:3))
  end function
end module

program main
  use pointers
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 7
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('pointers', f, n, x, g)
end program
