! A function that saves its last argument and result, as equations of state do: who asks for the value and then for the gradient at the
! same place must not be given what was saved before the derivative began, which has none.
function conductivity(t) result(k)
  use check, only: dp
  implicit none
  real(dp), intent(in) :: t
  real(dp) :: k
  real(dp), save :: last = -1, saved
  integer :: i
  if (t /= last) then
    saved = 0
    do i = 1, 9
      saved = saved + sin(t*i)/i
    end do
    last = t
  end if
  k = saved
end function

function flux(n, x) result(y)
  use check, only: dp
  implicit none
  integer, intent(in) :: n
  real(dp), intent(in) :: x(n)
  real(dp) :: y
  real(dp), external :: conductivity
  y = conductivity(x(1))*x(2) + conductivity(x(1))**2*x(3)
end function

program main
  use check
  use enzyme
  implicit none
  integer, parameter :: m = 3
  real(dp) :: x(m), g(m), y
  real(dp), external :: flux
  call fill(x)
  y = flux(m, x)
  g = 0
  call enzyme_grad(flux, m, x, g)
  call check_gradient('saved_results', flux, m, x, g)
  if (.not. abs(y) < huge(y)) stop 1
end program
