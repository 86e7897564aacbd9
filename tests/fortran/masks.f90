! Masks: where and elsewhere, merge, reductions under a mask, count, any and all in conditions.
module masks
  use check, only: dp
  implicit none
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, w(n)
    logical :: big(n)
    big = x > 1
    where (big)
      w = log(x)*x
    elsewhere(x > 0.7_dp)
      w = x**3
    elsewhere
      w = exp(x)
    end where
    y = sum(w, mask=big) + 2*sum(w, mask=.not. big) + maxval(w) - minval(x, mask=big)
    if (any(big) .and. .not. all(big)) y = y*(1 + x(1)**2)
    if (count(big) > 2) y = y + sum(merge(w, x, big))
    y = y + w(maxloc(x, 1))*x(minloc(w, dim=1)) + product(x, mask=x < 0.9_dp)
  end function
end module

program main
  use masks
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 11
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('masks', f, n, x, g)
end program
