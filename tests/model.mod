!mod$ v1 sum:ecd11ed20519dee1
module model
contains
function f(x) result(y)
real(8),intent(in)::x(1_8:3_8)
real(8)::y
end
end
