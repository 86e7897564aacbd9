! What an assignment leaves beside the values: bounds, lengths of texts, sections that were passed by way of a copy.
module assigned
  use check, only: dp
  implicit none
  type pair
    real(dp) :: a, b
  end type
contains
  subroutine squared(n, y)
    integer, intent(in) :: n
    real(dp), intent(inout) :: y(n)
    y = y*y
  end subroutine

  function weighted(n, y) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: y(n)
    real(dp) :: r
    integer :: i
    r = 0
    do i = 1, n
      r = r + i*y(i)**2
    end do
  end function

  subroutine mixed(n, y)
    integer, intent(in) :: n
    type(pair), intent(inout) :: y(n)
    y%a = y%a*y%b
  end subroutine

  function bounds(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    real(dp), allocatable :: a(:), b(:), c(:, :), d(:, :)
    allocate (b(0:n - 1), c(-1:0, 2:3))
    b = x**2
    a = b
    c(-1, :) = x(1:2)
    c(0, :) = x(2:3)**2
    d = c
    r = a(0)*3 + a(n - 1)*lbound(a, 1) + a(1)*d(-1, 3) + d(0, 2)
    b = [x, x]
    r = r + b(1)*b(2*n)
  end function

  function sections(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    real(dp) :: w(2*n), z(3, 4)
    type(pair) :: p(4)
    w(1:2*n:2) = x
    w(2:2*n:2) = 2*x
    call squared(n, w(1:2*n:2))
    call squared(n, w(2*n:1:-2))
    r = sum(w*w) + weighted(n, w(2::2))
    z = spread(x(1:4), 1, 3)
    call squared(4, z(2, :))
    call squared(6, z(1:3:2, 1:3))
    r = r + sum(z**3)
    p%a = x(1:4)
    p%b = x(4:1:-1)**2
    call mixed(2, p(1:4:2))
    r = r + sum(p%a*p%b)
  end function

  function texts(n, x) result(r)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: r
    character(:), allocatable :: s, many(:)
    character(3) :: t(2)
    character(2) :: u(2)
    s = 'ab'
    s = s // 'cde'
    t = ['abc', 'de ']
    if (len(s) == 5 .and. s == 'abcde' .and. t(2) == 'de') then
      r = sum(x**2)
    else
      r = sum(x)
    end if
    t = 'x'
    if (t(1) == 'x') r = r*x(1)
    u = t
    t = u
    if (t(2) == 'x') r = r*x(2)
    many = [s, s // '']
    if (size(many) == 2 .and. len(many) == 5 .and. many(2) == 'abcde') r = r*x(3)
    many = t
    if (len(many) == 3 .and. many(1) == 'x') r = r + x(1)**3
  end function
end module

program assignment
  use assigned
  use check
  use enzyme
  real(dp) :: x(4), g(4)
  call fill(x)
  g = 0
  call enzyme_grad(bounds, 4, x, g)
  call check_gradient('bounds', bounds, 4, x, g)
  g = 0
  call enzyme_grad(sections, 4, x, g)
  call check_gradient('sections', sections, 4, x, g)
  g = 0
  call enzyme_grad(texts, 4, x, g)
  call check_gradient('texts', texts, 4, x, g)
end program
