// SPDX-License-Identifier: MIT

import WebImageCore

/// The requested size, resolved for a vector image. Vector images have no pixels of their own, so they can also be
/// enlarged.
struct VectorLayout {
    /// The size of the whole drawing in pixels of the result. It's at least as large as the result.
    let drawn: PixelSize
    /// The requested region of the drawing.
    let part: PixelRect

    /// Creates a layout for a drawing with an intrinsic size. Throws an ``ImageError`` if the requested size violates a
    /// rule of ``TargetSize`` or a limit.
    init(size: PixelSize, options: ImageDecodingOptions, limits: ImageLimits) throws(ImageError) {
        try limits.check(size)
        guard let target = options.size else {
            drawn = size
            part = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            return
        }
        // A ``TargetSize`` never enlarges pixels. Plan with a drawing so large that every target is a reduction.
        let ceiling = 1 << 15
        let factor = target.mayGrow ? max(1, ceiling / min(size.width, size.height)) : 1
        let large = PixelSize(width: size.width * factor, height: size.height * factor)
        let plan = try target.plan(for: large, scale: options.scale)
        try limits.check(plan.output)
        let scaleX = Double(plan.output.width) / plan.window.width
        let scaleY = Double(plan.output.height) / plan.window.height
        func pixels(_ length: Double) -> Int { max(1, Int(min(length.rounded(), 1e9))) }
        drawn = PixelSize(
            width: max(plan.output.width, pixels(Double(large.width) * scaleX)),
            height: max(plan.output.height, pixels(Double(large.height) * scaleY)))
        part = PixelRect(
            x: (drawn.width - plan.output.width) / 2, y: (drawn.height - plan.output.height) / 2,
            width: plan.output.width, height: plan.output.height)
        try limits.check(drawn)
    }
}

extension TargetSize {
    /// Whether the target determines the dimensions of a drawing, regardless of its intrinsic size.
    fileprivate var mayGrow: Bool {
        switch mode {
        case .fit: width != nil || height != nil
        case .fill, .stretch, .exactly: width != nil && height != nil
        case .scaled, .bytes: false
        }
    }
}
