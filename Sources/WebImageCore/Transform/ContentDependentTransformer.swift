// SPDX-License-Identifier: MIT

/// A transformer that selects a part of each image by its content.
package protocol ContentDependentTransformer: ImageTransformer {
    /// Whether the content of an image determines the part that the transformer selects.
    var dependsOnContent: Bool { get }

    /// Returns a transformer that has the same effect on `pixels` and selects the same part of every other image of
    /// the same size.
    ///
    /// - Throws: The errors of ``ImageTransformer/transform(_:context:)``.
    func fixed(for pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> any ImageTransformer
}

extension ImageTransformer {
    var selectsByContent: Bool { (self as? any ContentDependentTransformer)?.dependsOnContent ?? false }

    /// Returns a transformer that selects the same part of every image as of `pixels`, or this transformer if the part
    /// doesn't depend on the content.
    func fixed(by pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> any ImageTransformer {
        guard let dependent = self as? any ContentDependentTransformer, dependent.dependsOnContent else { return self }
        return try dependent.fixed(for: pixels, context: context)
    }
}

/// A transformer that applies another transformer and selects the same part.
protocol TransformerWrapper: ContentDependentTransformer {
    var base: any ImageTransformer { get }
}

extension TransformerWrapper {
    package var dependsOnContent: Bool { base.selectsByContent }

    package func fixed(
        for pixels: PixelBuffer, context: ImageProcessingContext
    ) throws(ImageError) -> any ImageTransformer {
        try base.fixed(by: pixels, context: context)
    }
}

extension StandardTransformer: TransformerWrapper {}

extension RestrictedTransformer: TransformerWrapper {}

extension ComposedTransformer: ContentDependentTransformer {
    package var dependsOnContent: Bool { transformers.contains { $0.selectsByContent } }

    package func fixed(
        for pixels: PixelBuffer, context: ImageProcessingContext
    ) throws(ImageError) -> any ImageTransformer {
        guard let last = transformers.lastIndex(where: { $0.selectsByContent }) else { return self }
        var fixed = transformers
        var current = pixels
        for index in 0...last {
            try context.checkCancellation()
            fixed[index] = try transformers[index].fixed(by: current, context: context)
            if index < last { current = try fixed[index].transform(current, context: context) }
        }
        return ComposedTransformer(fixed)
    }
}
