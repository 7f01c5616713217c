// SPDX-License-Identifier: MIT

import WebImageCore

/// What a picture was made as: of which bytes, decoded how, transformed how. Pictures in memory carry it, so that one
/// size can be found by another.
public final class Rendition: Sendable {
    /// Digest of the data key: the same for all pictures made of the same bytes.
    public let data: CacheKey.Digest
    /// How the bytes were decoded, size and scale included.
    public let decoding: DecodeOptions
    /// Identities of the transformers that followed, in order.
    public let transformers: [String]

    /// Describes a picture that is held or wanted.
    public init(data: CacheKey, decoding: DecodeOptions, transformers: [String] = []) {
        self.data = data.digest
        self.decoding = decoding
        self.transformers = transformers
    }
}

/// A picture in memory with what it was made as.
public struct HeldPicture: Sendable {
    /// Digest of its key.
    public let key: CacheKey.Digest
    /// The picture.
    public let image: Image
    /// What it was made as.
    public let rendition: Rendition
}
