! Single precision, half of it mixed with double: a small neural network whose weights are reals of 4 bytes inside.
module network
  use check, only: dp
  implicit none
  integer, parameter :: sp = kind(1e0), inputs = 3, hidden = 4
contains
  function output(x, w) result(y)
    real(sp), intent(in) :: x(inputs), w(hidden*(inputs + 1))
    real(sp) :: y, layer(hidden), matrix(hidden, inputs)
    matrix = reshape(w(1:hidden*inputs), [hidden, inputs])
    layer = tanh(matmul(matrix, x))
    y = dot_product(layer, w(hidden*inputs + 1:))
  end function

  ! The sum of single precision would drown the differences: what is checked is of double precision, with weights rounded.
  function loss(n, w) result(e)
    integer, intent(in) :: n
    real(dp), intent(in) :: w(n)
    real(dp) :: e, layer(hidden)
    integer :: i, k
    e = 0
    do k = 1, 5
      do i = 1, hidden
        layer(i) = tanh(sum(w(i:hidden*inputs:hidden)*[real(k, dp), 0.5_dp*k, 1.0_dp/k])/3)
      end do
      e = e + (dot_product(layer, w(hidden*inputs + 1:n)) - sin(real(k, dp)))**2
    end do
  end function
end module

program main
  use network
  use check
  use enzyme
  implicit none
  interface
    function enzyme_jvp_single(f, x, dx, w, dw) result(dy)
      import sp
      external f
      real(sp) :: x(3), dx(3), w(16), dw(16), dy
    end function
    subroutine enzyme_grad_single(f, x, dx, w, dw)
      import sp
      external f
      real(sp) :: x(3), dx(3), w(16), dw(16)
    end subroutine
  end interface
  integer, parameter :: n = hidden*(inputs + 1)
  real(dp) :: w(n), g(n)
  real(sp) :: x(inputs), dx(inputs), v(n), dv(n), zero(inputs)
  call fill(w)
  g = 0
  call enzyme_grad(loss, n, w, g)
  call check_gradient('single', loss, n, w, g)

  ! Forward against reverse: both round as single precision does, 1e-7 for each of some ten operations.
  x = [0.3_sp, 0.5_sp, 0.7_sp]
  zero = 0
  v = real(w, sp)
  dx = 0
  dv = 0
  call enzyme_grad_single(output, x, dx, v, dv)
  call expect('modes', real(sum(dv*v), dp), real(enzyme_jvp_single(output, x, zero, v, v), dp), 1d-5)
end program
