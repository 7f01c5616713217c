// SPDX-License-Identifier: MIT

/// Mirrors a picture.
public struct FlipTransformer: ImageTransformer, Hashable {
    /// What is exchanged.
    public enum Direction: String, Sendable, Hashable, CaseIterable {
        /// Left and right.
        case horizontal
        /// Top and bottom.
        case vertical
        /// Both, which is half a turn.
        case both
    }

    /// What is exchanged.
    public let direction: Direction

    /// Creates a transformer.
    public init(_ direction: Direction) { self.direction = direction }

    /// Name and all parameters.
    public var identity: String { "flip(\(direction.rawValue))" }

    /// Mirrors; every pixel stays as it is. Opaque pictures stay opaque.
    ///
    /// - Throws: a ``LimitError`` for a picture that is too large.
    public func transform(_ pixels: PixelBuffer, context: TransformContext) throws(ImageError) -> PixelBuffer {
        let orientation: Orientation =
            switch direction {
            case .horizontal: .upMirrored
            case .vertical: .downMirrored
            case .both: .down
            }
        return try PixelOrienting.upright(pixels, orientation, context: context.coding)
    }
}

extension ImageTransformer where Self == FlipTransformer {
    /// Exchanges left and right, top and bottom, or both.
    public static func flip(_ direction: FlipTransformer.Direction) -> Self { FlipTransformer(direction) }
}
