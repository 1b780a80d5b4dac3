//! What all quantities have in common: arithmetic that saturates instead of overflowing.

/// Whether a quantity is zero, and its product with a factor.
macro_rules! scalable {
    ($name:ident) => {
        impl $name {
            /// Whether this is nothing at all.
            #[inline]
            #[must_use]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// `self × factor`, rounded towards zero. A negative or NaN factor gives zero, a product
            /// beyond the range gives the largest value.
            #[inline]
            #[must_use]
            pub fn mul_f64(self, factor: f64) -> Self {
                // `as` saturates and maps NaN to zero, which is exactly the contract.
                Self((self.0 as f64 * factor) as u64)
            }
        }
    };
}

/// Sums, differences and multiples of a quantity.
macro_rules! additive {
    ($name:ident) => {
        impl core::ops::Add for $name {
            type Output = Self;
            #[inline]
            fn add(self, rhs: Self) -> Self {
                Self(self.0.saturating_add(rhs.0))
            }
        }

        impl core::ops::AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, rhs: Self) {
                *self = *self + rhs;
            }
        }

        impl core::ops::Sub for $name {
            type Output = Self;
            #[inline]
            fn sub(self, rhs: Self) -> Self {
                Self(self.0.saturating_sub(rhs.0))
            }
        }

        impl core::ops::SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, rhs: Self) {
                *self = *self - rhs;
            }
        }

        impl core::ops::Mul<u64> for $name {
            type Output = Self;
            #[inline]
            fn mul(self, rhs: u64) -> Self {
                Self(self.0.saturating_mul(rhs))
            }
        }
    };
}

pub(super) use additive;
pub(super) use scalable;

/// `a × b / divisor` without overflow in between, rounded down. `divisor` is not zero.
#[inline]
pub(super) const fn mul_div(a: u64, b: u64, divisor: u64) -> u64 {
    // The 64-bit division is several times cheaper and serves volumes up to 18 GB a second.
    match a.checked_mul(b) {
        Some(product) => product / divisor,
        None => {
            let quotient = a as u128 * b as u128 / divisor as u128;
            if quotient > u64::MAX as u128 {
                u64::MAX
            } else {
                quotient as u64
            }
        }
    }
}
