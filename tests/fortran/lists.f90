! A linked list by pointers: nodes put in front and at the end, turned around, some removed, all given back.
module lists
  use check, only: dp
  implicit none
  type :: node
    real(dp) :: value = 0
    integer :: tag = 7
    type(node), pointer :: next => null()
  end type
contains
  subroutine push(list, v)
    type(node), pointer, intent(inout) :: list
    real(dp), intent(in) :: v
    type(node), pointer :: fresh
    allocate (fresh)
    fresh%value = v
    fresh%next => list
    list => fresh
  end subroutine

  subroutine append(list, v, tag)
    type(node), pointer, intent(inout) :: list
    real(dp), intent(in) :: v
    integer, intent(in) :: tag
    type(node), pointer :: last
    last => list
    do while (associated(last%next))
      last => last%next
    end do
    allocate (last%next)
    last%next%value = v
    last%next%tag = tag
  end subroutine

  subroutine turn(list)
    type(node), pointer, intent(inout) :: list
    type(node), pointer :: done, next
    done => null()
    do while (associated(list))
      next => list%next
      list%next => done
      done => list
      list => next
    end do
    list => done
  end subroutine

  subroutine remove_large(list, limit)
    type(node), pointer, intent(inout) :: list
    real(dp), intent(in) :: limit
    type(node), pointer :: at, gone
    at => list
    do while (associated(at%next))
      if (at%next%value > limit) then
        gone => at%next
        at%next => gone%next
        deallocate (gone)
      else
        at => at%next
      end if
    end do
  end subroutine

  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(node), pointer :: head, at, next
    integer :: i
    head => null()
    do i = 1, n
      call push(head, x(i)**2)
      if (mod(i, 3) == 0) call push(head, x(i)*x(1))
    end do
    call append(head, x(2)*x(3), 2)
    call turn(head)
    call remove_large(head, 1.9_dp)
    y = 0
    i = 0
    at => head
    do while (associated(at))
      i = i + 1
      y = y + i*sin(at%value)*at%tag
      at => at%next
    end do
    at => head
    do while (associated(at))
      next => at%next
      deallocate (at)
      at => next
    end do
  end function
end module

program main
  use lists
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 12
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, enzyme_const, n, x, g)
  call check_gradient('lists', f, n, x, g)
end program
