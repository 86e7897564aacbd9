! Terms of a sum that are chosen by their names, which stand beside active numbers: names are trimmed, shifted and searched.
module terms
  use check, only: dp
  implicit none
  type :: term
    character(len=16) :: name
    real(dp) :: coefficient
    integer :: power
  end type
contains
  function f(n, x) result(y)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: y
    type(term) :: terms(4)
    character(len=32) :: buffer
    integer :: i, p
    terms(1) = term('linear', x(1), 1)
    terms(2) = term('quadratic', x(2), 2)
    terms(3) = term('cubic', x(3), 3)
    terms(4) = term('  root', x(4), 0)
    y = 0
    do i = 1, 4
      write (buffer, '(i0)') i
      read (buffer, *) p
      select case (trim(adjustl(terms(i)%name)))
      case ('linear', 'quadratic', 'cubic')
        y = y + terms(i)%coefficient*x(5)**terms(i)%power
      case ('root')
        y = y + terms(i)%coefficient*sqrt(x(6))
      case default
        y = y + 100
      end select
      if (index(terms(i)%name, 'ua') > 0) y = y*x(7)
      if (verify(trim(terms(i)%name), 'cubic') == 0) y = y + p*x(8)
    end do
  end function
end module

program main
  use terms
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 8
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(f, n, x, g)
  call check_gradient('texts', f, n, x, g)
end program
