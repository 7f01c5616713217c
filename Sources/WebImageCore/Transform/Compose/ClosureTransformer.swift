// SPDX-License-Identifier: MIT

/// An app's own function as a transformer.
public struct ClosureTransformer: ImageTransformer {
    /// Takes premultiplied pixels, gives premultiplied pixels. Called on worker threads, on any number at once.
    public typealias Body = @Sendable (PixelBuffer, TransformContext) throws -> PixelBuffer

    /// Names the function and all its parameters; enters the cache key.
    public let id: String
    private let body: Body

    /// Creates a transformer. Two closures whose results differ must have different `id`s.
    public init(id: String, _ body: @escaping Body) {
        self.id = id
        self.body = body
    }

    /// `closure` and the id.
    public var identity: String { "closure(\(id.utf8.count):\(id))" }

    /// Calls the closure.
    ///
    /// - Throws: the closure's own ``ImageError``, ``TransformError/failed(transformer:reason:)`` for its other
    ///   errors, a ``LimitError`` for a result that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let result: PixelBuffer
        do {
            result = try body(pixels, context)
        } catch let error as ImageError {
            throw error
        } catch {
            throw .transform(.failed(transformer: id, reason: "\(error)"))
        }
        try context.coding.limits.check(result: result.size, format: result.format)
        return result
    }
}

extension ImageTransformer where Self == ClosureTransformer {
    /// An app's own function; `id` names it and all its parameters.
    public static func closure(id: String, _ body: @escaping ClosureTransformer.Body) -> Self {
        ClosureTransformer(id: id, body)
    }
}
