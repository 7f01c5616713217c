// SPDX-License-Identifier: MIT

/// A transformer that calls a custom function.
package struct ClosureTransformer: ImageTransformer {
    /// A function that converts premultiplied pixels to premultiplied pixels. It's called on worker threads, on any
    /// number of them at the same time.
    package typealias Body = @Sendable (PixelBuffer, ImageProcessingContext) throws -> PixelBuffer

    /// The identifier of the function and all its parameters, which is part of the cache key.
    package let id: String
    private let body: Body

    /// Creates a transformer. Two closures with different results must have different values of `id`.
    package init(id: String, _ body: @escaping Body) {
        self.id = id
        self.body = body
    }

    /// The word `closure`, followed by the length of the identifier and the identifier itself.
    package var identifier: String { "closure(\(id.utf8.count):\(id))" }

    /// Calls the closure.
    ///
    /// - Throws: An ``ImageError`` of the closure,
    ///   ``ImageError/ProcessingFailure/transformerFailed(transformer:reason:)`` for its other errors, or an
    ///   ``ImageError/LimitFailure`` if the result is too large.
    package func transform(_ pixels: PixelBuffer, context: ImageProcessingContext) throws(ImageError) -> PixelBuffer {
        let result: PixelBuffer
        do {
            result = try body(pixels, context)
        } catch let error as ImageError {
            throw error
        } catch {
            throw .processing(.transformerFailed(transformer: id, reason: "\(error)"))
        }
        try context.limits.check(result: result.size, format: result.format)
        return result
    }
}

extension ImageTransformer where Self == StandardTransformer {
    /// Returns a transformer that calls a custom function.
    ///
    /// - Parameters:
    ///   - id: A string that identifies the function and all its parameters. It's part of the cache key.
    ///   - transform: A function that converts premultiplied pixels to premultiplied pixels. It's called on worker
    ///     threads, on any number of them at the same time.
    public static func custom(
        id: String, _ transform: @escaping @Sendable (PixelBuffer, ImageProcessingContext) throws -> PixelBuffer
    ) -> StandardTransformer {
        StandardTransformer(ClosureTransformer(id: id, transform))
    }
}
