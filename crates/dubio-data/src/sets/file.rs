//! A file of a data set: where it lies, how long it is, its checksum and where it comes from.

use std::borrow::Cow;

/// One file of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Path below the data folder, with `/`.
    pub path: Cow<'static, str>,
    /// What the size and the checksum refer to.
    pub measured: Measured,
    /// Length in bytes.
    pub size: Size,
    /// SHA-256 in hexadecimal; `None` where no trusted one is known.
    pub sha256: Option<Cow<'static, str>>,
    /// Where it comes from.
    pub origin: Origin,
}

impl File {
    /// A file that is published by itself.
    pub(crate) const fn at(
        path: &'static str,
        size: u64,
        sha256: &'static str,
        url: &'static str,
    ) -> Self {
        Self {
            path: Cow::Borrowed(path),
            measured: Measured::AsIs,
            size: Size::Exactly(size),
            sha256: Some(Cow::Borrowed(sha256)),
            origin: Origin::Address(Cow::Borrowed(url)),
        }
    }

    /// The length of the file as it is fetched. Where the unpacked file was measured, only a bound is
    /// known: deflate adds at most five bytes to a block, and the header may hold the file's name.
    pub fn packed(&self) -> Size {
        match (self.measured, self.size.most()) {
            (Measured::AsIs, _) => self.size,
            (Measured::Unpacked, most) => Size::AtMost(most + most / 1000 + (1 << 16)),
        }
    }

    /// A file that is published inside an archive.
    pub(crate) const fn inside(
        path: &'static str,
        size: u64,
        sha256: Option<&'static str>,
        archive: &'static Archive,
        member: &'static str,
    ) -> Self {
        let sha256 = match sha256 {
            Some(sum) => Some(Cow::Borrowed(sum)),
            None => None,
        };
        let (path, size) = (Cow::Borrowed(path), Size::Exactly(size));
        Self {
            path,
            measured: Measured::AsIs,
            size,
            sha256,
            origin: Origin::Member(archive, member),
        }
    }
}

/// How long a file is, in bytes. Every download has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// As published.
    Exactly(u64),
    /// Not known; no more than this is taken.
    AtMost(u64),
}

impl Size {
    /// The length that a file must have, if it is known.
    pub fn known(self) -> Option<u64> {
        match self {
            Self::Exactly(bytes) => Some(bytes),
            Self::AtMost(_) => None,
        }
    }

    /// The length that no file may exceed.
    pub fn most(self) -> u64 {
        match self {
            Self::Exactly(bytes) | Self::AtMost(bytes) => bytes,
        }
    }
}

/// What a size and a checksum refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measured {
    /// The file as it lies on disk.
    AsIs,
    /// The unpacked contents of a `.gz`: the same data are in use packed by different programs.
    Unpacked,
}

/// Where a file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// This address.
    Address(Cow<'static, str>),
    /// This member of an archive.
    Member(&'static Archive, &'static str),
    /// No address that can be relied on; how to get it instead.
    ByHand(&'static str),
}

/// A `.tar.gz` that holds files of a set.
#[derive(Debug, PartialEq, Eq)]
pub struct Archive {
    /// Its address.
    pub url: &'static str,
    /// Length in bytes.
    pub size: Size,
    /// SHA-256 in hexadecimal.
    pub sha256: Option<&'static str>,
}
