//! Cells that hold an example, where there may be more cells than examples.

use rayon::prelude::*;

/// The distinct values among some numbers, ascending, and which of them each number is.
pub(crate) fn dense<T: Copy + Into<u64> + Sync>(numbers: &[T]) -> (Vec<u64>, Vec<u32>) {
    const FEW: u64 = 1 << 16;
    // Few numbers are not worth sharing out.
    let all = || numbers.par_iter().with_min_len(1 << 14).map(|&number| number.into());
    let limit = numbers.iter().map(|&n| n.into()).max().map_or(0, |largest| largest + 1);
    if limit > FEW.max(numbers.len() as u64) {
        let mut distinct: Vec<u64> = all().collect();
        distinct.par_sort_unstable();
        distinct.dedup();
        let which = |number: u64| distinct.partition_point(|&other| other < number) as u32;
        let which = all().map(which).collect();
        return (distinct, which);
    }
    let mut there = vec![false; limit as usize];
    numbers.iter().for_each(|&number| there[number.into() as usize] = true);
    let distinct: Vec<u64> = (0..limit).filter(|&number| there[number as usize]).collect();
    let mut which = vec![0; limit as usize];
    distinct.iter().enumerate().for_each(|(index, &number)| which[number as usize] = index as u32);
    let which = all().map(|number| which[number as usize]).collect();
    (distinct, which)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_apart_whether_they_are_close_or_far_between() {
        for far in [1, 1 << 40] {
            let (distinct, which) = dense::<u64>(&[3 * far, 1, 3 * far, 2]);
            assert_eq!((distinct, which), (vec![1, 2, 3 * far], vec![2, 0, 2, 1]));
        }
        assert_eq!(dense::<u32>(&[]), (vec![], vec![]));
    }
}
