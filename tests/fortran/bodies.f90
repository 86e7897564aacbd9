! Bodies that attract each other, as an array of structures, by the leapfrog: energy at the end.
module bodies
  use check, only: dp
  implicit none
  type body
    real(dp) :: place(3), speed(3), mass
  end type
contains
  subroutine pull(all, force)
    type(body), intent(in) :: all(:)
    real(dp), intent(out) :: force(3, size(all))
    real(dp) :: d(3), r
    integer :: i, j
    force = 0
    do i = 1, size(all)
      do j = 1, size(all)
        if (i == j) cycle
        d = all(j)%place - all(i)%place
        r = sqrt(sum(d**2) + 0.1_dp)
        force(:, i) = force(:, i) + all(j)%mass*d/r**3
      end do
    end do
  end subroutine

  function energy(n, x) result(e)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: e
    integer, parameter :: m = 3
    type(body) :: all(m)
    real(dp) :: force(3, m)
    integer :: i, t
    do i = 1, m
      all(i) = body(x(7*i - 6:7*i - 4)*i, x(7*i - 3:7*i - 1) - 1, x(7*i))
    end do
    do t = 1, 6
      call pull(all, force)
      do i = 1, m
        all(i)%speed = all(i)%speed + 0.05_dp*force(:, i)
        all(i)%place = all(i)%place + 0.05_dp*all(i)%speed
      end do
    end do
    e = 0
    do i = 1, m
      e = e + all(i)%mass*sum(all(i)%speed**2)/2 + all(i)%place(1)
    end do
  end function
end module

program main
  use bodies
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 21
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(energy, n, x, g)
  call check_gradient('bodies', energy, n, x, g)
end program
