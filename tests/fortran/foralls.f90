! `forall` over arrays whose places or values must be put aside until the whole statement has been evaluated: what is assigned
! to overlaps what is read, lies behind descriptors, or is chosen by an index or a mask.
module foralls
  use check, only: dp
  implicit none
  type :: pt
    real(dp) :: a, b
    integer :: k
  end type
contains
  function assigned_at_once(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, a(n, n), v(n)
    real(dp), allocatable :: h(:), z(:, :)
    type(pt), allocatable :: p(:)
    integer :: i, j, idx(n)
    allocate (z(n, n), h(n), p(n))
    forall (i=1:n, j=1:n) a(i, j) = x(i)*sin(x(j))
    ! overlaps: the right-hand side is the old one
    forall (i=2:n) a(i, :) = a(i-1, :)*0.5_dp + a(i, :)
    forall (i=1:n, j=1:n, i > j) a(i, j) = a(j, i) + x(i)
    z = a
    forall (i=1:n)
      z(i, i:) = z(i:, i)*x(i)
    end forall
    forall (i=1:n)
      where (z(i, :) > 0.4_dp)
        z(i, :) = z(:, i)*2
      elsewhere
        z(i, :) = x(i)
      end where
    end forall
    idx = [(mod(i*3, n)+1, i=1, n)]
    h = x
    forall (i=1:n, x(i) > 0.6_dp) h(idx(i)) = h(i)**2
    forall (i=1:n) p(i) = pt(x(i), x(n+1-i)**2, i)
    forall (i=1:n) p(i)%a = p(n+1-i)%b*p(i)%k
    v = matmul(z, h)
    y = sum(v**2)*1e-3_dp + sum(a*z)*1e-2_dp + sum(p%a*p%b)
    do concurrent (i=1:n, x(i) < 1.2_dp) local(j)
      j = i
      v(j) = x(j)**3
    end do
    y = y + sum(v)
  end function
end module

program main
  use foralls
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 8
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(assigned_at_once, n, x, g)
  call check_gradient('foralls', assigned_at_once, n, x, g)
end program
