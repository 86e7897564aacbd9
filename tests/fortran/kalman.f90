! A Kalman filter for a position and a velocity: the likelihood of measurements as a function of the noise and of these.
module kalman
  use check, only: dp
  implicit none
contains
  function likelihood(n, x) result(l)
    integer, intent(in) :: n
    real(dp), intent(in) :: x(n)
    real(dp) :: l, state(2), cov(2, 2), move(2, 2), noise(2, 2), gain(2), s, error
    integer :: t
    move = reshape([1.0_dp, 0.0_dp, 0.1_dp, 1.0_dp], [2, 2])
    noise = 0
    noise(1, 1) = 0.01_dp*x(1)
    noise(2, 2) = 0.1_dp*x(2)
    state = [0.0_dp, 1.0_dp]
    cov = 0
    cov(1, 1) = 1
    cov(2, 2) = 1
    l = 0
    do t = 4, n
      state = matmul(move, state)
      cov = matmul(matmul(move, cov), transpose(move)) + noise
      s = cov(1, 1) + 0.2_dp*x(3)
      gain = cov(:, 1)/s
      error = x(t) - state(1)
      state = state + gain*error
      cov = cov - spread(gain, 2, 2)*spread(cov(1, :), 1, 2)
      l = l + log(s) + error**2/s
    end do
  end function
end module

program main
  use kalman
  use check
  use enzyme
  implicit none
  integer, parameter :: n = 13
  real(dp) :: x(n), g(n)
  call fill(x)
  g = 0
  call enzyme_grad(likelihood, n, x, g)
  call check_gradient('kalman', likelihood, n, x, g)
end program
