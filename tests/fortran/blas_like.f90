! Loops as those of the reference BLAS, unrolled by hand, with strides: a power iteration on a matrix.
      subroutine daxpy_like(n, a, x, incx, y, incy)
        integer :: n, incx, incy, i, m, ix, iy
        double precision :: a, x(*), y(*)
        if (n <= 0 .or. a == 0d0) return
        if (incx == 1 .and. incy == 1) then
          m = mod(n, 4)
          do i = 1, m
            y(i) = y(i) + a*x(i)
          end do
          do i = m + 1, n, 4
            y(i) = y(i) + a*x(i)
            y(i + 1) = y(i + 1) + a*x(i + 1)
            y(i + 2) = y(i + 2) + a*x(i + 2)
            y(i + 3) = y(i + 3) + a*x(i + 3)
          end do
        else
          ix = 1
          iy = 1
          if (incx < 0) ix = (1 - n)*incx + 1
          if (incy < 0) iy = (1 - n)*incy + 1
          do i = 1, n
            y(iy) = y(iy) + a*x(ix)
            ix = ix + incx
            iy = iy + incy
          end do
        end if
      end subroutine

      subroutine dgemv_like(m, n, a, lda, x, y)
        integer :: m, n, lda, j
        double precision :: a(lda, *), x(*), y(*)
        y(1:m) = 0
        do j = 1, n
          call daxpy_like(m, x(j), a(1, j), 1, y, 1)
        end do
      end subroutine

      function rayleigh(n, z) result(r)
        implicit none
        integer, intent(in) :: n
        double precision, intent(in) :: z(n)
        double precision :: r, a(6, 5), x(5), y(5), norm
        integer :: k, m
        m = 5
        a = 0
        do k = 1, m
          a(1:m, k) = z(m*(k - 1) + 1:m*k)
        end do
        x = 1
        do k = 1, 6
          call dgemv_like(m, m, a, 6, x, y)
          norm = sqrt(dot_product(y, y))
          x = y/norm
        end do
        call dgemv_like(m, m, a, 6, x, y)
        call daxpy_like(m, -0.5d0, x, -1, y, 1)
        r = dot_product(x, y)
      end function

program main
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 25
  real(dp) :: x(n), g(n)
  procedure(scalar_function) :: rayleigh
  call fill(x)
  g = 0
  call enzyme_grad(rayleigh, n, x, g)
  call check_gradient('blas_like', rayleigh, n, x, g)
end program
