! A system of ordinary differential equations by Runge and Kutta's method, with allocatable stages and the right-hand side as a
! procedure argument.
module predators
  use check, only: dp
  implicit none
  abstract interface
    subroutine rates(t, s, p, d)
      import dp
      real(dp), intent(in) :: t, s(:), p(:)
      real(dp), intent(out) :: d(:)
    end subroutine
  end interface
contains
  subroutine lotka_volterra(t, s, p, d)
    real(dp), intent(in) :: t, s(:), p(:)
    real(dp), intent(out) :: d(:)
    d(1) = p(1)*s(1) - p(2)*s(1)*s(2) + 0.01_dp*sin(t)
    d(2) = p(3)*s(1)*s(2) - p(4)*s(2)
  end subroutine

  subroutine integrate(f, s, p, steps, dt)
    procedure(rates) :: f
    real(dp), intent(inout) :: s(:)
    real(dp), intent(in) :: p(:), dt
    integer, intent(in) :: steps
    real(dp), allocatable :: k(:, :)
    real(dp) :: t
    integer :: i
    allocate (k(size(s), 4))
    do i = 0, steps - 1
      t = i*dt
      call f(t, s, p, k(:, 1))
      call f(t + dt/2, s + dt/2*k(:, 1), p, k(:, 2))
      call f(t + dt/2, s + dt/2*k(:, 2), p, k(:, 3))
      call f(t + dt, s + dt*k(:, 3), p, k(:, 4))
      s = s + dt/6*(k(:, 1) + 2*k(:, 2) + 2*k(:, 3) + k(:, 4))
    end do
  end subroutine

  function final(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, s(2)
    s = x(1:2)
    call integrate(lotka_volterra, s, x(3:n), 25, 0.05_dp)
    y = s(1)**2 + 3*s(2)
  end function
end module

program main
  use predators
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 6
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(final, n, x, g)
  call check_gradient('predators', final, n, x, g)
end program
