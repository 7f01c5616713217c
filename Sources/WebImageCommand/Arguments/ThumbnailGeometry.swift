// SPDX-License-Identifier: MIT

import WebImageCore

/// The size and the crop of thumbnails, according to `--size` and `--crop`. The marks of sizes are those of vipsthumbnail.
package struct ThumbnailGeometry: Sendable {
    private var size: TargetSize
    /// The size of the box to fill before an interesting part is cropped, or `nil`.
    private let box: (width: Double, height: Double)?
    /// The sides of the box to which a smaller image is enlarged, or `nil` if images are reduced.
    private let enlarged: (width: Int?, height: Int?)?
    /// The transformer that crops the interesting part, or `nil`.
    package let crop: (any ImageTransformer)?

    /// The maximum length of a side without `--size`, as in vipsthumbnail.
    private static let defaultSide = 128

    package init(_ arguments: Arguments) throws(UsageError) {
        let choice = try arguments.choice("crop", of: ["none", "center", "smart", "attention", "entropy"]) ?? "none"
        let text = arguments.last("size") ?? "\(Self.defaultSide)"
        let mark = text.last.flatMap { "^!<>".contains($0) ? $0 : nil }
        let plain = mark == nil ? text : String(text.dropLast())
        // A single number is a box, as in vipsthumbnail. In other commands, it's a width.
        let box = Int(plain).map { "\($0)x\($0)" } ?? plain
        // Thumbnails never enlarge by default, so the mark “>” has no effect.
        let kept = mark == "^" || mark == "!" ? text.suffix(1) : ""
        size = try Arguments.size(box + kept, of: "size", shown: text)
        let sides = Arguments.dimensions(box, in: 1...1_000_000)
        enlarged = mark == "<" ? sides : nil
        if mark == "<", sides == nil {
            throw UsageError("--size: “\(text)” isn’t a size (use pixels with <, such as 200<, 200x200<, or 200x<)")
        }
        guard choice != "none" else {
            (self.box, crop) = (nil, nil)
            return
        }
        if mark == "<" {
            throw UsageError("--crop can’t be combined with a size that only enlarges (use a size such as 200x200)")
        }
        guard let (width, height) = sides, let width, let height, mark != "!" else {
            throw UsageError("--crop requires a size with a width and a height (use a size such as 200x200)")
        }
        let (boxWidth, boxHeight) = (Double(width), Double(height))
        if choice == "center" {
            size = .fill(width: boxWidth, height: boxHeight)
            (self.box, crop) = (nil, nil)
        } else {
            self.box = (boxWidth, boxHeight)
            let strategy: StandardTransformer.SmartCropStrategy = choice == "entropy" ? .entropy : .attention
            crop = StandardTransformer.smartCrop(width: boxWidth, height: boxHeight, strategy: strategy)
        }
    }

    /// Returns the size at which an image is decoded. `natural` is the size of the image with its orientation applied,
    /// or `nil` if it's unknown.
    ///
    /// An image that is cropped afterward is decoded at the smallest size that covers the box. An image that isn't smaller
    /// than the box to which it would be enlarged keeps its size.
    package func decodedSize(natural: PixelSize?) -> TargetSize? {
        guard box != nil || enlarged != nil else { return size }
        guard let natural, !natural.isEmpty else { return nil }
        let (width, height) = (Double(natural.width), Double(natural.height))
        if let enlarged {
            let scale = min(
                enlarged.width.map { Double($0) / width } ?? .infinity,
                enlarged.height.map { Double($0) / height } ?? .infinity)
            guard scale > 1 else { return nil }
            return .exact(width: max(1, (width * scale).rounded()), height: max(1, (height * scale).rounded()))
        }
        guard let box else { return size }
        let scale = max(box.width / width, box.height / height)
        guard scale < 1 else { return nil }
        return .exact(
            width: max(box.width, (width * scale).rounded()), height: max(box.height, (height * scale).rounded()))
    }
}
