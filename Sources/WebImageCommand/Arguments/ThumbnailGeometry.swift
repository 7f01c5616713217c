// SPDX-License-Identifier: MIT

import WebImageCore

/// The size and the crop of thumbnails, according to `--size` and `--crop`.
package struct ThumbnailGeometry: Sendable {
    private let size: TargetSize
    /// The size of the box to fill before an interesting part is cropped, or `nil`.
    private let box: (width: Double, height: Double)?
    /// The transformer that crops the interesting part, or `nil`.
    package let crop: (any ImageTransformer)?

    /// The maximum length of a side without `--size`, as in vipsthumbnail.
    private static let defaultSide = 128.0

    package init(_ arguments: Arguments) throws(UsageError) {
        let choice = try arguments.choice("crop", of: ["none", "center", "smart", "attention", "entropy"]) ?? "none"
        // Thumbnails never enlarge, so the mark of vipsthumbnail for this has no effect.
        let arguments = arguments.dropping(">", from: "size")
        var size = try arguments.size() ?? .fit(width: Self.defaultSide, height: Self.defaultSide)
        let text = arguments.last("size") ?? "\(Int(Self.defaultSide))"
        // A single number is a box, as in vipsthumbnail. In other commands, it's a width.
        let sides = Double(text).map { ($0, $0) } ?? Self.sides(text)
        if Double(text) != nil, let sides { size = .fit(width: sides.0, height: sides.1) }
        guard choice != "none" else {
            (self.size, box, crop) = (size, nil, nil)
            return
        }
        guard let (width, height) = sides, !text.hasSuffix("!") else {
            throw UsageError("--crop requires a size with a width and a height (use a size such as 200x200)")
        }
        if choice == "center" {
            (self.size, box, crop) = (.fill(width: width, height: height), nil, nil)
        } else {
            self.size = size
            box = (width, height)
            let strategy: StandardTransformer.SmartCropStrategy = choice == "entropy" ? .entropy : .attention
            crop = StandardTransformer.smartCrop(width: width, height: height, strategy: strategy)
        }
    }

    /// Returns the width and the height of a valid size, or `nil` if one of them is omitted.
    private static func sides(_ text: String) -> (Double, Double)? {
        let box = text.filter { !"^!".contains($0) }
        guard let (width, height) = Arguments.dimensions(box, in: 1...1_000_000), let width, let height else {
            return nil
        }
        return (Double(width), Double(height))
    }

    /// Returns the size at which an image is decoded. `natural` is the size of the image with its orientation applied,
    /// or `nil` if it's unknown.
    ///
    /// An image that is cropped afterward is decoded at the smallest size that covers the box.
    package func decodedSize(natural: PixelSize?) -> TargetSize? {
        guard let box else { return size }
        guard let natural, !natural.isEmpty else { return nil }
        let scale = max(box.width / Double(natural.width), box.height / Double(natural.height))
        guard scale < 1 else { return nil }
        return .exact(
            width: max(box.width, (Double(natural.width) * scale).rounded()),
            height: max(box.height, (Double(natural.height) * scale).rounded()))
    }
}
