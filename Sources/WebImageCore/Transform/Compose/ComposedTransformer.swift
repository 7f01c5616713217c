// SPDX-License-Identifier: MIT

/// Several transformers as one, in their order.
public struct ComposedTransformer: ImageTransformer {
    /// The transformers; none leaves pictures as they are.
    public let transformers: [any ImageTransformer]

    /// Creates a transformer.
    public init(_ transformers: [any ImageTransformer]) { self.transformers = transformers }

    /// The identities of all, each behind its length, so that no two lists have the same.
    public var identity: String {
        "composed(" + transformers.map(\.identity).map { "\($0.utf8.count):\($0)" }.joined() + ")"
    }

    /// Whether all of them apply to animated pictures: it is all of them or none.
    public var appliesToFrames: Bool { transformers.allSatisfy(\.appliesToFrames) }

    /// Whether all of them apply to vectors: it is all of them or none.
    public var appliesToVectors: Bool { transformers.allSatisfy(\.appliesToVectors) }

    /// Runs one after the other.
    ///
    /// - Throws: what the first one that fails throws.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        var result = pixels
        for transformer in transformers {
            try context.coding.checkpoint()
            result = try transformer.transform(result, context: context)
        }
        return result
    }
}

extension ImageTransformer where Self == ComposedTransformer {
    /// Several transformers as one, in their order.
    public static func composed(_ transformers: [any ImageTransformer]) -> Self { ComposedTransformer(transformers) }

    /// Several transformers as one, in their order.
    public static func composed(_ transformers: any ImageTransformer...) -> Self { ComposedTransformer(transformers) }
}
