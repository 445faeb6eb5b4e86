//! Named random streams: a tree in which every generator has a path.
//!
//! A child's key depends on its parent's key and on its own name only, so asking for a new stream
//! never shifts the numbers of another, and work can be handed to any number of threads.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// The generator of a stream: a cipher, so that streams have nothing in common.
pub type Generator = ChaCha8Rng;

/// A node of the tree of streams, `seed / bootstrap / 3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stream {
    key: [u8; 32],
}

impl Stream {
    /// The root of the tree for a seed.
    pub fn root(seed: u64) -> Self {
        Self { key: ChaCha8Rng::seed_from_u64(seed).get_seed() }
    }

    /// The stream called `name` below this one.
    pub fn child(&self, name: &str) -> Self {
        // FNV-1a: names are short and few; the cipher below does the mixing.
        let id = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let mut generator = ChaCha8Rng::from_seed(self.key);
        generator.set_stream(id);
        let mut key = [0; 32];
        generator.fill_bytes(&mut key);
        Self { key }
    }

    /// The `index`-th of a family of streams below this one.
    pub fn nth(&self, index: usize) -> Self {
        self.child(&index.to_string())
    }

    /// The generator at this node.
    pub fn generator(&self) -> Generator {
        Generator::from_seed(self.key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_gives_the_same_numbers_and_another_path_gives_others() {
        let draw = |s: Stream| s.generator().next_u64();
        let root = Stream::root(7);
        assert_eq!(draw(root.child("a").nth(3)), draw(Stream::root(7).child("a").nth(3)));
        let paths = [root.clone(), root.child("a"), root.child("b"), root.child("a").nth(3)];
        let drawn: std::collections::HashSet<u64> = paths.into_iter().map(draw).collect();
        assert_eq!(drawn.len(), 4);
        assert_ne!(draw(Stream::root(7)), draw(Stream::root(8)));
    }
}
