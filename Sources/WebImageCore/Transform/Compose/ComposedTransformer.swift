// SPDX-License-Identifier: MIT

/// A transformer that applies several transformers in order.
package struct ComposedTransformer: ImageTransformer {
    /// The transformers. If the array is empty, images remain unchanged.
    package let transformers: [any ImageTransformer]

    /// Creates a transformer.
    package init(_ transformers: [any ImageTransformer]) { self.transformers = transformers }

    /// The identities of all transformers. Each one is prefixed with its length, so different lists have different
    /// identities.
    package var identifier: String {
        "composed(" + transformers.map(\.identifier).map { "\($0.utf8.count):\($0)" }.joined() + ")"
    }

    /// Whether all of the transformers apply to animated images. If one of them doesn't, none is applied.
    package var appliesToAnimations: Bool { transformers.allSatisfy(\.appliesToAnimations) }

    /// Whether all of the transformers apply to vector images. If one of them doesn't, none is applied.
    package var appliesToVectors: Bool { transformers.allSatisfy(\.appliesToVectors) }

    /// Applies the transformers in order. Throws the error of the first transformer that fails.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        var result = pixels
        for transformer in transformers {
            try context.checkCancellation()
            result = try transformer.transform(result, context: context)
        }
        return result
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that applies several transformers in order.
    public static func combined(_ transformers: [any ImageTransformer]) -> StandardTransformer {
        StandardTransformer(ComposedTransformer(transformers))
    }
}
