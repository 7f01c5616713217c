// SPDX-License-Identifier: MIT

/// A transformer that leaves animations or vectors as they are; see ``ImageTransformer/applied(toFrames:toVectors:)``.
public struct RestrictedTransformer: ImageTransformer {
    /// What transforms.
    public let base: any ImageTransformer
    /// Whether animated pictures are transformed.
    public let appliesToFrames: Bool
    /// Whether pictures that were drawn from vectors are transformed.
    public let appliesToVectors: Bool

    init(_ base: any ImageTransformer, toFrames: Bool, toVectors: Bool) {
        self.base = base
        appliesToFrames = toFrames && base.appliesToFrames
        appliesToVectors = toVectors && base.appliesToVectors
    }

    /// The identity of ``base`` behind what it applies to.
    public var identity: String {
        "restricted(\(appliesToFrames ? "frames" : "stills"),\(appliesToVectors ? "all" : "pixels"),"
            + "\(base.identity.utf8.count):\(base.identity))"
    }

    /// Runs ``base``.
    ///
    /// - Throws: what it throws.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        try base.transform(pixels, context: context)
    }
}

extension ImageTransformer {
    /// The same transformer for stills alone (`toFrames` false), or for pictures of pixels alone (`toVectors` false).
    /// What it does not apply to already, it does not apply to afterwards either.
    public func applied(toFrames: Bool = true, toVectors: Bool = true) -> RestrictedTransformer {
        RestrictedTransformer(self, toFrames: toFrames, toVectors: toVectors)
    }
}
