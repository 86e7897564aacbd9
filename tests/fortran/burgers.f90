! The viscous Burgers equation, upwind in space, explicit in time: misfit at the end as a function of the initial state and of
! the viscosity. Arrays of assumed shape inside, an allocatable work array in every step.
module burgers
  use check, only: dp
  implicit none
contains
  subroutine step(u, nu, dt, dx)
    real(dp), intent(inout) :: u(:)
    real(dp), intent(in) :: nu, dt, dx
    real(dp), allocatable :: next(:)
    integer :: i, n
    n = size(u)
    allocate (next(n))
    next(1) = u(1)
    next(n) = u(n)
    do i = 2, n - 1
      next(i) = u(i) - dt*u(i)*(u(i) - u(i - 1))/dx + nu*dt*(u(i + 1) - 2*u(i) + u(i - 1))/dx**2
    end do
    u = next
    deallocate (next)
  end subroutine

  function misfit(n, x) result(j)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: j, u(n - 1)
    integer :: t
    u = x(1:n - 1)
    do t = 1, 12
      call step(u, 0.05_dp*x(n), 2e-3_dp, 1.0_dp/n)
    end do
    j = dot_product(u, u)/n + maxval(u)
  end function
end module

program main
  use burgers
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 17
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(misfit, n, x, g)
  call check_gradient('burgers', misfit, n, x, g)
end program
