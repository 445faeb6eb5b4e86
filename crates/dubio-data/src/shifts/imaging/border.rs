//! What lies beyond the edge of an image.

/// What lies beyond the edge, here of the row `a b c d`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Border {
    /// `a a | a b c d | d d`: scipy's `nearest`, OpenCV's `REPLICATE`.
    Nearest,
    /// `b a | a b c d | d c`: scipy's `reflect`, OpenCV's `REFLECT`.
    Reflect,
    /// `c b | a b c d | c b`: scipy's `mirror`, OpenCV's `REFLECT_101`.
    Mirror,
}

impl Border {
    /// The index in `0..len` whose value stands at `index`, which may be beyond the edge.
    pub fn index(self, index: isize, len: usize) -> usize {
        let last = len as isize - 1;
        let folded = match self {
            Self::Nearest => index.clamp(0, last),
            Self::Reflect => {
                let turn = index.rem_euclid(2 * last + 2);
                turn.min(2 * last + 1 - turn)
            }
            Self::Mirror if last == 0 => 0,
            Self::Mirror => {
                let turn = index.rem_euclid(2 * last);
                turn.min(2 * last - turn)
            }
        };
        folded as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_continues_as_its_name_says() {
        let row = |border: Border| -> String {
            (-5..9).map(|i| char::from(b'a' + border.index(i, 4) as u8)).collect()
        };
        assert_eq!(row(Border::Nearest), "aaaaaabcdddddd");
        assert_eq!(row(Border::Reflect), "ddcbaabcddcbaa");
        assert_eq!(row(Border::Mirror), "bcdcbabcdcbabc");
        assert_eq!(Border::Mirror.index(-7, 1), 0);
    }
}
