//! The functions of the rows themselves.

use crate::eval::{cospi, sinpi};

/// Values of all outputs of the row `name`; `None` if the name is not known here.
pub fn primal(name: &str, a: &[f64]) -> Option<Vec<f64>> {
    let x = a[0];
    let y = a.get(1).copied().unwrap_or(0.0);
    let z = a.get(2).copied().unwrap_or(0.0);
    let w = a.get(3).copied().unwrap_or(0.0);
    let pi = std::f64::consts::PI;
    let one = match name {
        "fneg" => -x,
        "fadd" => x + y,
        "fsub" => x - y,
        "fmul" => x * y,
        "fdiv" => x / y,
        "fpext" | "fptrunc" | "sitofp" | "uitofp" | "canonicalize" => x,
        "fma" => libm::fma(x, y, z),
        "sqrt" => libm::sqrt(x),
        "rsqrt" => 1.0 / libm::sqrt(x),
        "cbrt" => libm::cbrt(x),
        "hypot" => libm::hypot(x, y),
        "pow" => libm::pow(x, y),
        "powi" => x.powi(y as i32),
        "exp" => libm::exp(x),
        "exp2" => libm::exp2(x),
        "exp10" => libm::exp10(x),
        "expm1" => libm::expm1(x),
        "exp2m1" => libm::exp2(x) - 1.0,
        "exp10m1" => libm::exp10(x) - 1.0,
        "log" => libm::log(x),
        "log2" => libm::log2(x),
        "log10" => libm::log10(x),
        "log1p" => libm::log1p(x),
        "log2p1" => libm::log1p(x) / std::f64::consts::LN_2,
        "log10p1" => libm::log1p(x) / std::f64::consts::LN_10,
        "sin" => libm::sin(x),
        "cos" => libm::cos(x),
        "tan" => libm::tan(x),
        "asin" => libm::asin(x),
        "acos" => libm::acos(x),
        "atan" => libm::atan(x),
        "atan2" => libm::atan2(x, y),
        "sinpi" => sinpi(x),
        "cospi" => cospi(x),
        "tanpi" => libm::tan(pi * x),
        "asinpi" => libm::asin(x) / pi,
        "acospi" => libm::acos(x) / pi,
        "atanpi" => libm::atan(x) / pi,
        "atan2pi" => libm::atan2(x, y) / pi,
        "sinh" => libm::sinh(x),
        "cosh" => libm::cosh(x),
        "tanh" => libm::tanh(x),
        "asinh" => libm::asinh(x),
        "acosh" => libm::acosh(x),
        "atanh" => libm::atanh(x),
        "erf" => libm::erf(x),
        "erfc" => libm::erfc(x),
        "erfc_scaled" => libm::exp(x * x) * libm::erfc(x),
        "lgamma" | "lgamma_r" => libm::lgamma(x),
        "tgamma" => libm::tgamma(x),
        "j0" => libm::j0(x),
        "j1" => libm::j1(x),
        "jn" => libm::jn(x as i32, y),
        "y0" => libm::y0(x),
        "y1" => libm::y1(x),
        "yn" => libm::yn(x as i32, y),
        "fabs" => libm::fabs(x),
        "copysign" => libm::copysign(x, y),
        "fmax" => libm::fmax(x, y),
        "fmin" => libm::fmin(x, y),
        "fmaximum" if x.is_nan() || y.is_nan() => f64::NAN,
        "fmaximum" => libm::fmax(x, y),
        "fminimum" if x.is_nan() || y.is_nan() => f64::NAN,
        "fminimum" => libm::fmin(x, y),
        "fdim" => libm::fdim(x, y),
        "floor" => libm::floor(x),
        "ceil" => libm::ceil(x),
        "trunc" => libm::trunc(x),
        "rint" | "nearbyint" | "roundeven" => libm::rint(x),
        "round" => libm::round(x),
        "ldexp" | "scalbln" => libm::ldexp(x, y as i32),
        "frexp" | "llvm.frexp" => libm::frexp(x).0,
        "logb" => f64::from(libm::ilogb(x)),
        "fmod" => libm::fmod(x, y),
        "remainder" => libm::remainder(x, y),
        "remquo" => libm::remquo(x, y).0,
        "nan" => f64::NAN,
        "nextafter" | "nexttoward" => libm::nextafter(x, y),
        "nextup" => libm::nextafter(x, f64::INFINITY),
        "sincos" | "llvm.sincos" => return Some(vec![libm::sin(x), libm::cos(x)]),
        "llvm.sincospi" => return Some(vec![sinpi(x), cospi(x)]),
        "modf" | "llvm.modf" => {
            let (fraction, integral) = libm::modf(x);
            return Some(vec![fraction, integral]);
        }
        "complex product" => return Some(vec![x * z - y * w, x * w + y * z]),
        "complex quotient" => {
            let d = z * z + w * w;
            return Some(vec![(x * z + y * w) / d, (y * z - x * w) / d]);
        }
        "cabs" => libm::hypot(x, y),
        "carg" => libm::atan2(y, x),
        "creal" => x,
        "cimag" => y,
        // As it is near a float of which it is made, here zero: there the value is y, whatever the slope.
        "float made of bits" => y + z * x,
        "x86 reciprocal" => 1.0 / x,
        "x86 reciprocal root" => 1.0 / libm::sqrt(x),
        _ if name.starts_with('c') => return crate::complex::primal(name, a),
        "fptosi" | "fptoui" | "lround" | "llround" | "lrint" | "llrint" | "ilogb" => return Some(vec![]),
        _ => return None,
    };
    Some(vec![one])
}
