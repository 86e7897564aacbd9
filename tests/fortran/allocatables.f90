! Allocatable arguments and results, arrays that grow, automatic reallocation, optional arrays, a block with its own variables.
module growth
  use check, only: dp
  implicit none
contains
  subroutine append(list, value)
    real(dp), allocatable, intent(inout) :: list(:)
    real(dp), intent(in) :: value
    if (.not. allocated(list)) allocate (list(0))
    list = [list, value]
  end subroutine

  function smoothed(x, weights) result(y)
    real(dp), intent(in) :: x(:)
    real(dp), intent(in), optional :: weights(:)
    real(dp), allocatable :: y(:)
    integer :: i
    allocate (y(size(x) - 1))
    do i = 1, size(y)
      if (present(weights)) then
        y(i) = weights(i)*x(i) + (1 - weights(i))*x(i + 1)
      else
        y(i) = (x(i) + x(i + 1))/2
      end if
    end do
  end function

  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    real(dp), allocatable :: list(:), level(:)
    integer :: i
    do i = 1, n
      if (mod(i, 3) /= 0) call append(list, x(i)**2)
    end do
    level = list
    do while (size(level) > 1)
      block
        real(dp), allocatable :: next(:)
        if (mod(size(level), 2) == 0) then
          next = smoothed(level)
        else
          next = smoothed(level, x)
        end if
        level = next*1.1_dp
      end block
    end do
    y = level(1)*sum(list)
  end function
end module

program main
  use growth
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 9
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('allocatables', f, n, x, g)
end program
