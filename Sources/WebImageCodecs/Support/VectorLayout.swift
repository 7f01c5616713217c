// SPDX-License-Identifier: MIT

import WebImageCore

/// A request's size worked out for a drawing: it has no pixels of its own, so that it may also grow.
struct VectorLayout {
    /// The whole drawing in pixels of the result; at least as large as it.
    let drawn: PixelSize
    /// The part of it that is asked for.
    let part: PixelRect

    /// - Parameter size: the drawing's own size.
    /// - Throws: what the size breaks: a rule of ``TargetSize`` or a limit.
    init(size: PixelSize, options: DecodeOptions, limits: Limits) throws(ImageError) {
        try limits.check(size: size)
        guard let target = options.size else {
            drawn = size
            part = PixelRect(x: 0, y: 0, width: size.width, height: size.height)
            return
        }
        // Sizes never enlarge pixels; of a drawing so large that every target is a reduction they are what they say.
        let ceiling = 1 << 15
        let factor = target.mayGrow ? max(1, ceiling / min(size.width, size.height)) : 1
        let large = PixelSize(width: size.width * factor, height: size.height * factor)
        let plan = try target.plan(for: large, scale: options.scale)
        try limits.check(size: plan.output)
        let scaleX = Double(plan.output.width) / plan.window.width
        let scaleY = Double(plan.output.height) / plan.window.height
        func pixels(_ length: Double) -> Int { max(1, Int(min(length.rounded(), 1e9))) }
        drawn = PixelSize(
            width: max(plan.output.width, pixels(Double(large.width) * scaleX)),
            height: max(plan.output.height, pixels(Double(large.height) * scaleY)))
        part = PixelRect(
            x: (drawn.width - plan.output.width) / 2, y: (drawn.height - plan.output.height) / 2,
            width: plan.output.width, height: plan.output.height)
        try limits.check(size: drawn)
    }
}

extension TargetSize {
    /// Whether it says how large a drawing is to be, and not only how large its memory.
    fileprivate var mayGrow: Bool {
        switch mode {
        case .fit: width != nil || height != nil
        case .fill, .stretch, .exactly: width != nil && height != nil
        case .bytes: false
        }
    }
}
