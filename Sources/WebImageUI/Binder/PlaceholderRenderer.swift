// SPDX-License-Identifier: MIT

import WebImageCore

/// A renderer for the BlurHash and ThumbHash placeholders.
///
/// Rendering a hash takes some tens of microseconds, so it happens synchronously on the main thread. Rendering it one
/// frame later would cause flicker. The most recently rendered images are cached because lists show the same
/// placeholders repeatedly.
@MainActor
final class PlaceholderRenderer {
    static let shared = PlaceholderRenderer()

    private enum Key: Hashable {
        case blurHash(String, PixelSize)
        case thumbHash([UInt8])
    }

    private var drawn: [Key: DecodedImage] = [:]
    private var order: [Key] = []
    private let limit: Int

    init(limit: Int = 128) { self.limit = limit }

    /// The length of the longer side in pixels.
    private static let dimension = 32.0

    /// Returns the image of `placeholder`, or `nil` for invalid hashes and for content that isn't an image.
    func image(_ placeholder: ImagePlaceholder) -> DecodedImage? {
        switch placeholder {
        case .empty, .color, .icon, .custom: nil
        case .image(let image): image
        case .blurHash(let text, let ratio):
            blurHash(text, Self.size(aspectRatio: ratio))
        case .thumbHash(let bytes): image(.thumbHash(bytes)) { try ThumbHash(bytes).pixels() }
        }
    }

    private func blurHash(_ text: String, _ size: PixelSize) -> DecodedImage? {
        image(.blurHash(text, size)) { try BlurHash(text).pixels(size: size) }
    }

    private func image(_ key: Key, _ draw: () throws -> PixelBuffer) -> DecodedImage? {
        if let image = drawn[key] { return image }
        guard let pixels = try? draw() else { return nil }
        let image = DecodedImage(pixels: pixels)
        if order.count >= limit { drawn[order.removeFirst()] = nil }
        order.append(key)
        drawn[key] = image
        return image
    }

    private static func size(aspectRatio: Double) -> PixelSize {
        guard aspectRatio.isFinite, aspectRatio > 0 else {
            return PixelSize(width: Int(dimension), height: Int(dimension))
        }
        let ratio = min(dimension, max(1 / dimension, aspectRatio))
        return PixelSize(
            width: max(1, Int((ratio >= 1 ? dimension : dimension * ratio).rounded())),
            height: max(1, Int((ratio >= 1 ? dimension / ratio : dimension).rounded())))
    }
}

extension ImageBinder.Presentation {
    @MainActor
    init(_ showing: BinderStateMachine.PendingPresentation) {
        self.init(
            showing.kind, image: PlaceholderRenderer.shared.image(showing.content),
            transition: showing.transition, source: showing.source, bindingID: showing.generation)
        switch showing.content {
        case .color(let plain): color = plain
        case .icon(let name): icon = name
        case .custom(let content): custom = content
        case .empty, .image, .blurHash, .thumbHash: break
        }
    }
}
