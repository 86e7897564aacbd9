! A model that keeps its state in a module, as programs of the nineties do: set up, advanced, read.
module state
  use check, only: dp
  implicit none
  integer, parameter :: cells = 8
  real(dp), private, save :: water(cells), flux(cells + 1)
  real(dp), private, parameter :: relax = 0.2_dp
  integer, private :: steps_done = 0
contains
  subroutine start(rain)
    real(dp), intent(in) :: rain(cells)
    water = rain
    flux = 0
    steps_done = 0
  end subroutine

  subroutine advance(conductivity)
    real(dp), intent(in) :: conductivity
    integer :: i
    do i = 2, cells
      flux(i) = conductivity*(water(i - 1) - water(i))*abs(water(i - 1) + water(i))
    end do
    do i = 1, cells
      water(i) = water(i) + relax*(flux(i) - flux(i + 1))
    end do
    steps_done = steps_done + 1
  end subroutine

  function outflow(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    integer :: t
    call start(x(1:cells))
    do t = 1, 10
      call advance(0.3_dp*x(n))
    end do
    y = sum(water**2) + flux(cells/2)*steps_done
  end function
end module

program main
  use state
  use check
  use enzyme
  implicit none
  integer, parameter :: n = cells + 1
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(outflow, n, x, g)
  call check_gradient('module_state', outflow, n, x, g)
end program
