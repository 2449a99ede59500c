# The names of Python's math module on numbers that are known.
import math


def near(x):
    return float(f"{x:.12e}")


nan = math.nan
print(nan == nan, nan != nan, [nan] == [nan], nan in [nan], nan < nan, math.isnan(nan), 1.0 != nan)
print(near(math.acosh(2)), near(math.asinh(-2)), near(math.atanh(0.5)), near(math.gamma(4.5)), near(math.lgamma(100)))
print(math.comb(10, 3), math.comb(3, 5), math.comb(40, 20), math.perm(10, 3), math.perm(5), math.perm(2, 3), math.factorial(20))
print(math.gcd(), math.gcd(12), math.gcd(12, 18, 27), math.gcd(-4, 6), math.gcd(0, 0), math.lcm(), math.lcm(4, 6, 10), math.lcm(0, 3), math.lcm(-4, 6))
print([math.isqrt(n) for n in [0, 1, 3, 4, 99, 100, 2**62 - 1, 2**62, 4611686014132420609, 4611686014132420608]])
print(math.frexp(0.0), math.frexp(-3.5), math.frexp(5e-324), math.frexp(math.inf), math.frexp(1))
print(math.ldexp(1.5, 3), math.ldexp(1.0, -1074), math.ldexp(3.0, -1075), math.ldexp(0.0, 5000), math.ldexp(1.0, -5000))
print(math.modf(3.75), math.modf(-0.5), math.modf(-2.0), math.modf(math.inf), math.modf(1e300))
print(math.remainder(7, 4), math.remainder(6, 4), math.remainder(10, 4), math.remainder(-7.0, 2), math.fmod(-7, 4), math.copysign(3, -0.0))
print(math.nextafter(1.0, 2.0), math.nextafter(0.0, -1.0), math.ulp(1.0), math.ulp(0.0), math.ulp(-1e300), math.ulp(1.7976931348623157e308), math.ulp(math.inf))
print(math.hypot(), math.hypot(-3), math.hypot(3, 4), math.hypot(2, 3, 6), math.dist([1, 2], [4, 6]))
print(math.degrees(math.pi), near(math.radians(180)), math.isclose(1.0, 1.0 + 1e-10), math.isclose(1.0, 1.1), math.isclose(0.0, 1e-10), math.isclose(0.0, 1e-10, abs_tol=1e-9))
print(math.isclose(math.inf, math.inf), math.isclose(math.inf, 1e308), math.isclose(nan, nan), math.isclose(100, 101, rel_tol=0.1))
print(math.prod([1, 2, 3]), math.prod([2.0, 3], start=5), math.prod([]), math.fsum([0.1] * 10), math.fsum([1e100, 1.0, -1e100]), math.fsum([]))
print(math.floor(-2.5), math.ceil(-2.5), math.trunc(-2.5), math.fabs(-3), math.sqrt(2), math.cbrt(27.0), math.exp2(10), math.log(8, 2), math.log1p(0.0))
print(math.isfinite(1.0), math.isfinite(math.inf), math.isinf(-math.inf), math.tau == 2 * math.pi, math.e)
