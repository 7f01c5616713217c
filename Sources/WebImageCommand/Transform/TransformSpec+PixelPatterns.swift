// SPDX-License-Identifier: MIT

import WebImageCore

extension TransformSpec {
    /// The transformers that use another image from a file.
    static let imageTransformers: [TransformSpec] = [
        TransformSpec(
            "overlay=FILE[:ANCHOR|:stretched|:X:Y[:OPACITY[:MODE]]]",
            "Draws another image at an anchor (center by default), over the whole image (stretched), or at the pixel X, "
                + "Y. The opacity is from 0 to 1."
        ) { values throws(TransformProblem) in
            let path = try values.path("file")
            let placement = try values.placement()
            let opacity = try values.number("opacity", in: 0...1, or: 1)
            let mode = try values.word("mode", of: blendModes, or: .normal)
            let options = "\(placement),\(opacity),\(mode.rawValue)"
            return ImageFileTransformer("overlay", path: path, options: options, read: values.readImage) { pixels in
                .overlay(pixels, at: placement, opacity: opacity, blendMode: mode)
            }
        },
        TransformSpec(
            "mask=FILE[:alpha|luminance]",
            "Shows what the alpha (default) or the luminance of another image shows."
        ) { values throws(TransformProblem) in
            let path = try values.path("file")
            let channel = try values.word(
                "channel", of: PixelMask.Channel.allCases.map { ($0.rawValue, $0) }, or: .alpha)
            return ImageFileTransformer("mask", path: path, options: channel.rawValue, read: values.readImage) {
                .mask($0, channel: channel)
            }
        },
    ]
}

extension TransformValues {
    /// Returns the next value as a file name, which can't contain a comma or a colon.
    fileprivate mutating func path(_ parameter: String) throws(TransformProblem) -> String {
        guard let text = next(), !text.isEmpty else { throw .missing(name: name, parameter: parameter) }
        return text
    }

    /// Returns the next value as a placement, which is an anchor, `stretched`, or a point. The default is the center.
    fileprivate mutating func placement() throws(TransformProblem) -> OverlayTransformer.Placement {
        if isNextNumber {
            let (x, y) = try point()
            return .at(x: x, y: y)
        }
        let placements = TransformSpec.anchors.mapping { OverlayTransformer.Placement.anchored($0) }
        return try word("placement", of: placements.adding("stretched", .stretched), or: .anchored(.center))
    }
}
