//! Complex functions by their textbook definitions, from those of real numbers.

#[derive(Clone, Copy)]
struct Z(f64, f64);

impl Z {
    fn add(self, o: Z) -> Z {
        Z(self.0 + o.0, self.1 + o.1)
    }
    fn mul(self, o: Z) -> Z {
        Z(self.0 * o.0 - self.1 * o.1, self.0 * o.1 + self.1 * o.0)
    }
    fn div(self, o: Z) -> Z {
        let d = o.0 * o.0 + o.1 * o.1;
        Z((self.0 * o.0 + self.1 * o.1) / d, (self.1 * o.0 - self.0 * o.1) / d)
    }
    fn scale(self, k: f64) -> Z {
        Z(self.0 * k, self.1 * k)
    }
    /// `i z`.
    fn turn(self) -> Z {
        Z(-self.1, self.0)
    }
    fn exp(self) -> Z {
        Z(libm::cos(self.1), libm::sin(self.1)).scale(libm::exp(self.0))
    }
    fn log(self) -> Z {
        Z(libm::log(libm::hypot(self.0, self.1)), libm::atan2(self.1, self.0))
    }
    fn sqrt(self) -> Z {
        let length = libm::hypot(self.0, self.1);
        let im = libm::sqrt(0.5 * (length - self.0));
        Z(libm::sqrt(0.5 * (length + self.0)), if self.1 < 0.0 { -im } else { im })
    }
    fn sinh(self) -> Z {
        Z(libm::sinh(self.0) * libm::cos(self.1), libm::cosh(self.0) * libm::sin(self.1))
    }
    fn cosh(self) -> Z {
        Z(libm::cosh(self.0) * libm::cos(self.1), libm::sinh(self.0) * libm::sin(self.1))
    }
    fn asinh(self) -> Z {
        self.add(self.mul(self).add(Z(1.0, 0.0)).sqrt()).log()
    }
    fn acosh(self) -> Z {
        let roots = self.add(Z(1.0, 0.0)).sqrt().mul(self.add(Z(-1.0, 0.0)).sqrt());
        self.add(roots).log()
    }
    fn atanh(self) -> Z {
        let (up, down) = (Z(1.0 + self.0, self.1).log(), Z(1.0 - self.0, -self.1).log());
        up.add(down.scale(-1.0)).scale(0.5)
    }
}

/// `f(z) = -i g(i z)`.
fn rotated(z: Z, g: fn(Z) -> Z) -> Z {
    g(z.turn()).turn().scale(-1.0)
}

/// Real and imaginary part of the function `name`.
pub fn primal(name: &str, a: &[f64]) -> Option<Vec<f64>> {
    let z = Z(a[0], a[1]);
    let w = Z(a.get(2).copied().unwrap_or(0.0), a.get(3).copied().unwrap_or(0.0));
    let out = match name {
        "conj" => Z(z.0, -z.1),
        "cproj" => z,
        "cexp" => z.exp(),
        "clog" => z.log(),
        "csqrt" => z.sqrt(),
        "cpow" if z.0 == 0.0 && z.1 == 0.0 => z,
        "cpow" => z.log().mul(w).exp(),
        "csin" => rotated(z, Z::sinh),
        "ccos" => z.turn().cosh(),
        "ctan" => rotated(z, |z| z.sinh().div(z.cosh())),
        "csinh" => z.sinh(),
        "ccosh" => z.cosh(),
        "ctanh" => z.sinh().div(z.cosh()),
        "casin" => rotated(z, Z::asinh),
        "cacos" => {
            let asin = rotated(z, Z::asinh);
            Z(std::f64::consts::FRAC_PI_2 - asin.0, -asin.1)
        }
        "catan" => rotated(z, Z::atanh),
        "casinh" => z.asinh(),
        "cacosh" => z.acosh(),
        "catanh" => z.atanh(),
        _ => return None,
    };
    Some(vec![out.0, out.1])
}
