//! Random numbers from a fixed seed, and what they do to a file.

/// SplitMix64: one number follows from the one before, so that a case is its number and nothing else.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    pub(crate) fn pick<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// A number in [-1, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

/// Numbers at which something ends.
const NUMBERS: [&str; 18] = [
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "3",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "1e-320",
    "nan",
    "inf",
    "0.5",
];

/// The bytes after one to four changes; often only a bit of the last half, where the numbers are.
pub(crate) fn mutated(mut bytes: Vec<u8>, random: &mut Random) -> Vec<u8> {
    if random.below(3) == 0 {
        let at = bytes.len() / 2 + random.below(bytes.len().div_ceil(2));
        bytes[at] ^= 1 << random.below(8);
        return bytes;
    }
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return bytes;
        }
        change(&mut bytes, random);
    }
    bytes
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let length = bytes.len();
    let at = random.below(length);
    let size = 1 + random.below(32.min(length - at));
    match random.below(9) {
        0 => bytes[at] ^= 1 << random.below(8),
        1 => bytes[at] = *random.pick(&[&0, &0xff, &0x7f, &0x80, &b'\n', &b'"', &b',', &b'[']),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..at + size)),
        4 => {
            let piece = bytes[at..at + size].to_vec();
            let to = random.below(length);
            bytes.splice(to..to, piece);
        }
        5 => {
            let number = random.pick(&[&0_u64, &1, &u64::MAX, &(1 << 31), &(1 << 32), &(1 << 63)]);
            let width = size.min(8);
            bytes[at..at + width].copy_from_slice(&number.to_le_bytes()[..width]);
        }
        _ => number(bytes, at, random),
    }
}

/// Another number in place of the first one in digits from there on.
fn number(bytes: &mut Vec<u8>, from: usize, random: &mut Random) {
    let Some(start) = bytes[from..].iter().position(u8::is_ascii_digit) else { return };
    let start = from + start;
    let digits = bytes[start..].iter().take_while(|b| b.is_ascii_digit() || **b == b'.').count();
    bytes.splice(start..start + digits, random.pick(&NUMBERS).bytes());
}
