//! The random number generator of ns-2 2.35, for tests that repeat one of its runs draw by draw.

const MODULUS_1: i64 = 4_294_967_087;
const MODULUS_2: i64 = 4_294_944_443;

/// MRG32k3a: two linear recurrences of order three, combined (L'Ecuyer, Operations Research 47, 1999).
#[derive(Clone, Debug)]
pub struct Mrg32k3a {
    first: [i64; 3],
    second: [i64; 3],
}

impl Mrg32k3a {
    /// A generator with six words of state; ns-2 has 12345 in each by default.
    pub fn new(seeds: [u32; 6]) -> Mrg32k3a {
        let [a, b, c, d, e, f] = seeds.map(i64::from);
        Mrg32k3a { first: [a, b, c], second: [d, e, f] }
    }

    /// The next number, in (0, 1).
    pub fn uniform(&mut self) -> f64 {
        let next_1 = (1_403_580 * self.first[1] - 810_728 * self.first[0]).rem_euclid(MODULUS_1);
        let next_2 = (527_612 * self.second[2] - 1_370_589 * self.second[0]).rem_euclid(MODULUS_2);
        self.first = [self.first[1], self.first[2], next_1];
        self.second = [self.second[1], self.second[2], next_2];
        let difference = next_1 - next_2;
        let number = if difference <= 0 { difference + MODULUS_1 } else { difference };
        number as f64 / (MODULUS_1 + 1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::golden;

    #[test]
    fn golden_first_numbers() {
        let case = golden::vector("vectors-active-and-unicast.json", "rng-mrg32k3a");
        let seeds = golden::numbers(&case.input["seeds"]);
        let mut generator = Mrg32k3a::new(std::array::from_fn(|word| seeds[word] as u32));
        let expected = golden::numbers(&case.expected["u"]);
        let numbers: Vec<f64> = expected.iter().map(|_| generator.uniform()).collect();
        case.check_list("u", &numbers, &case.expected["u"]);
    }

    #[test]
    fn all_numbers_are_inside_of_the_unit_interval() {
        let mut generator = Mrg32k3a::new([12345; 6]);
        assert!((0..100_000).all(|_| (0.0..1.0).contains(&generator.uniform())));
    }
}
