! Rules that the program states of its procedures. Each gives a derivative that is wrong on purpose, by a factor of its own, so
! that it shows which rule was called.
module ruled
  use check, only: dp
  use enzyme
  use, intrinsic :: iso_c_binding, only: c_double, c_f_pointer, c_loc, c_ptr
  implicit none
  integer :: printed = 0

  type, bind(c) :: taped
    type(c_ptr) :: tape
    real(c_double) :: value
  end type
contains

  ! By reference and by value: a power whose exponent is overwritten before the gradient comes back.
  function power(n, x, k, a) result(y)
    integer, intent(in) :: n, k
    real(dp), intent(in) :: x(n), a
    real(dp) :: y
    y = a*sum(x**k)
  end function

  function power_augmented(n, x, dx, k, a, da) result(y)
    integer, value :: n, k
    real(dp), intent(in) :: x(n)
    real(dp), optional, intent(in) :: dx(n), da
    real(dp), value :: a
    real(dp) :: y
    y = power(n, x, k, a)
  end function

  subroutine power_reverse(n, x, dx, k, a, da, seed)
    integer, value :: n, k
    real(dp), intent(in) :: x(n)
    real(dp), optional, intent(inout) :: dx(n), da
    real(dp), value :: a, seed
    if (present(dx)) dx = dx + 3*seed*a*k*x**(k - 1)
    if (present(da)) da = da + 5*seed*sum(x**k)
  end subroutine

  function power_tangent(n, x, dx, k, a, da) result(t)
    integer, value :: n, k
    real(dp), intent(in) :: x(n), dx(n)
    real(dp), value :: a, da
    real(dp) :: t
    t = 7*a*k*sum(x**(k - 1)*dx) + 11*da*sum(x**k)
  end function

  function powers(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, a
    integer :: k
    y = 0
    do k = 1, 3
      a = x(1)**k
      y = y + power(n, x, k, a)
    end do
  end function

  ! A subroutine with arrays by their shapes.
  subroutine doubled(x, y)
    real(dp), intent(in) :: x(:)
    real(dp), intent(out) :: y(:)
    y = 2*x
  end subroutine

  subroutine doubled_reverse(x, dx, y, dy)
    real(dp), intent(in) :: x(:), y(:)
    real(dp), intent(inout) :: dx(:), dy(:)
    dx = dx + 13*dy(1:size(x))
    dy = 0
  end subroutine

  subroutine doubled_tangent(x, dx, y, dy)
    real(dp), intent(in) :: x(:), dx(:)
    real(dp), intent(out) :: y(:), dy(:)
    y = 2*x
    dy = 19*dx
  end subroutine

  subroutine doubled_augmented(x, dx, y, dy)
    real(dp), intent(in) :: x(:), dx(:), dy(:)
    real(dp), intent(out) :: y(:)
    call doubled(x, y)
  end subroutine

  ! The adjoint of the result by reference.
  function length(x) result(y)
    real(dp), intent(in) :: x
    real(dp) :: y
    y = abs(x)
  end function

  subroutine length_reverse(x, dx, seed)
    real(dp), intent(in) :: x, seed
    real(dp), intent(inout) :: dx
    dx = dx + 17*seed
  end subroutine

  function length_augmented(x, dx) result(y)
    real(dp), intent(in) :: x, dx
    real(dp) :: y
    y = length(x)
  end function

  function through(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, z(n)
    integer :: k
    y = length(x(n)) + silent(x(1))
    ! Sections of other lengths each time, from the back and with gaps.
    do k = 1, 2
      z = 0
      call doubled(x(n:k:-k), z(k:n:k))
      y = y + k*sum(z)
    end do
  end function

  ! Tangents need a forward rule of every function that has rules.
  function middle(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, z(n)
    integer :: k
    y = silent(x(1))
    do k = 1, 2
      z = 0
      call doubled(x(n:k:-k), z(k:n:k))
      y = y + k*sum(z)
    end do
  end function

  function silent(x) result(y)
    real(dp), intent(in) :: x
    real(dp) :: y
    printed = printed + 1
    y = x**2
  end function

  ! A tape: what an array held that is overwritten before the gradient comes back.
  function squares(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    y = sum(x**2)
  end function

  function squares_augmented(n, x, dx) result(both) bind(c)
    integer, value :: n
    real(dp) :: x(n), dx(n)
    type(taped) :: both
    real(dp), pointer :: kept(:)
    allocate(kept(n))
    kept = x
    both%tape = c_loc(kept)
    both%value = squares(n, x)
  end function

  subroutine squares_reverse(n, x, dx, seed, tape) bind(c)
    integer, value :: n
    real(dp) :: x(n), dx(n)
    real(dp), value :: seed
    type(c_ptr), value :: tape
    real(dp), pointer :: kept(:)
    call c_f_pointer(tape, kept, [n])
    dx = dx + 23*seed*kept
    deallocate(kept)
  end subroutine

  function overwritten(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y, z(n)
    integer :: k
    y = 0
    z = x
    do k = 1, 3
      y = y + squares(k, z)
      z = z/2
    end do
  end function

  ! Stated wherever it stands: nothing calls this.
  subroutine rules()
    call enzyme_register_gradient(power, power_augmented, power_reverse)
    call enzyme_register_derivative(power, power_tangent)
    call enzyme_register_gradient(doubled, doubled_augmented, doubled_reverse)
    call enzyme_register_derivative(doubled, doubled_tangent)
    call enzyme_register_gradient(length, length_augmented, length_reverse)
    call enzyme_register_gradient(squares, squares_augmented, squares_reverse)
    call enzyme_register_inactive(silent)
  end subroutine
end module

program main
  use ruled
  use check
  implicit none
  integer, parameter :: n = 4
  real(dp) :: x(n), g(n), want(n), v(n), t
  integer :: k
  call fill(x)
  v = [1, -2, 3, 1]

  g = 0
  want = 0
  call enzyme_grad(powers, n, x, g)
  do k = 1, 3
    want = want + 3*x(1)**k*k*x**(k - 1)
    want(1) = want(1) + 5*sum(x**k)*k*x(1)**(k - 1)
  end do
  do k = 1, n
    call expect('power', g(k), want(k), 1d-12*maxval(want))
  end do

  t = enzyme_jvp(powers, n, x, v)
  want = 0
  do k = 1, 3
    want = want + 7*x(1)**k*k*x**(k - 1)
    want(1) = want(1) + 11*sum(x**k)*k*x(1)**(k - 1)
  end do
  call expect('power_tangent', t, dot_product(want, v), 1d-11)

  g = 0
  call enzyme_grad(through, n, x, g)
  want = 0
  do k = 1, 2
    want(n:k:-k) = want(n:k:-k) + 13*k
  end do
  t = dot_product(want*19/13, v)
  want(n) = want(n) + 17
  do k = 1, n
    call expect('through', g(k), want(k), 1d-12)
  end do
  call expect('through_tangent', enzyme_jvp(middle, n, x, v), t, 1d-12)

  g = 0
  call enzyme_grad(overwritten, n, x, g)
  want = 0
  do k = 1, 3
    want(1:k) = want(1:k) + 23*x(1:k)/4d0**(k - 1)
  end do
  do k = 1, n
    call expect('tape', g(k), want(k), 1d-12)
  end do
  print '(a)', 'ok rules'
end program
