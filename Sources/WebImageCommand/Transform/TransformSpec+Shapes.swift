// SPDX-License-Identifier: MIT

import WebImageCore

extension TransformSpec {
    static let shapes: [TransformSpec] = [
        TransformSpec(
            "resize=WxH[:fit|fill|stretch|exact]|PERCENT%[xPERCENT%]",
            "Fits the image into the size without enlarging it. fill covers the size and crops the rest, stretch limits "
                + "each side alone, and exact also enlarges. One side can be omitted. Percentages multiply the sides."
        ) { values throws(TransformProblem) in
            if let target = try values.percentages("size") { return .resize(target, upscales: false) }
            let (width, height) = try values.size("size")
            let mode = try values.word("mode", of: modes, or: .fit)
            return .resize(width: width, height: height, mode: mode)
        },
        TransformSpec(
            "crop=WxH[:ANCHOR|:X:Y]",
            "Keeps a part of this size at an anchor (center by default), or from the pixel X, Y of the top left corner."
        ) { values throws(TransformProblem) in
            let (width, height) = try values.size("size")
            guard let width, let height else { throw .missing(name: values.name, parameter: "width or height") }
            if values.isNextNumber {
                let (x, y) = try values.point()
                return .crop(x: x, y: y, width: width, height: height)
            }
            return .crop(width: width, height: height, anchor: try values.word("anchor", of: anchors, or: .center))
        },
        TransformSpec(
            "smart-crop=WxH[:attention|entropy]",
            "Covers the size and crops the least interesting parts, which attention (default) or entropy finds."
        ) { values throws(TransformProblem) in
            let (width, height) = try values.size("size")
            guard let width, let height else { throw .missing(name: values.name, parameter: "width or height") }
            let strategies = StandardTransformer.SmartCropStrategy.allCases.map { ($0.rawValue, $0) }
            return .smartCrop(
                width: width, height: height, strategy: try values.word("strategy", of: strategies, or: .attention))
        },
        TransformSpec(
            "canvas=WxH[:fit|fill|stretch|original[:ANCHOR[:COLOR[:upscale]]]]",
            "Places the image on a background with exactly this size (fit, center, and clear by default). With upscale, "
                + "smaller images are enlarged."
        ) { values throws(TransformProblem) in
            let (width, height) = try values.size("size")
            guard let width, let height else { throw .missing(name: values.name, parameter: "width or height") }
            let modes = StandardTransformer.ContentMode.allCases.map { ($0.rawValue, $0) }
            let mode = try values.word("mode", of: modes, or: .fit)
            let anchor = try values.word("anchor", of: anchors, or: .center)
            let background = try values.color("background", or: .clear)
            return .canvas(
                width: width, height: height, mode: mode, anchor: anchor, background: background,
                upscales: try values.word("scaling", of: [("upscale", true)], or: false))
        },
        TransformSpec(
            "trim[=TOLERANCE[:COLOR]]",
            "Crops the border of one color, by default that of the top left pixel. The tolerance is from 0 to 1 (0.04 by "
                + "default)."
        ) { values throws(TransformProblem) in
            let tolerance = try values.number("tolerance", in: 0...1, or: 0.04)
            guard values.hasNext else { return .trim(tolerance: tolerance) }
            return .trim(tolerance: tolerance, color: try values.color("color"))
        },
        TransformSpec(
            "rounded-corners=RADIUS|PERCENT%[:all|CORNER+CORNER…][:BORDER[:COLOR]]",
            "Rounds all or some corners, with an optional border. A percentage is one of the shorter side."
        ) { values throws(TransformProblem) in
            if let percentage = try values.percentage("radius") {
                let corners = try values.corners()
                return .roundedCorners(
                    radiusFraction: percentage / 100, corners: corners, border: try values.border())
            }
            let radius = try values.length("radius")
            let corners = try values.corners()
            return .roundedCorners(radius: radius, corners: corners, border: try values.border())
        },
        TransformSpec(
            "circle[=BORDER[:COLOR]]",
            "Keeps the largest circle at the center, with an optional border."
        ) { values throws(TransformProblem) in
            .circle(border: try values.border())
        },
        TransformSpec(
            "border=WIDTH[:COLOR[:inside|outside]]",
            "Draws a line over the outermost pixels (inside, default), or around the image. It’s black by default."
        ) { values throws(TransformProblem) in
            let width = try values.length("width")
            let color = try values.color("color", or: .black)
            let placements = BorderTransformer.Placement.allCases.map { ($0.rawValue, $0) }
            return .border(
                width: width, color: color, placement: try values.word("placement", of: placements, or: .inside))
        },
        TransformSpec(
            "flip=horizontal|vertical|both",
            "Swaps left and right (horizontal), top and bottom (vertical), or both."
        ) { values throws(TransformProblem) in
            .flip(try values.word("direction", of: FlipTransformer.Direction.allCases.map { ($0.rawValue, $0) }))
        },
        TransformSpec(
            "rotate=DEGREES[:fit|clip[:COLOR]]",
            "Rotates clockwise. With fit (default), the size increases. With clip, it doesn’t change."
        ) { values throws(TransformProblem) in
            let degrees = try values.number("angle", in: -360_000...360_000)
            let mode = try values.word(
                "mode", of: RotateTransformer.Mode.allCases.map { ($0.rawValue, $0) }, or: .fit)
            return .rotate(degrees: degrees, mode: mode, background: try values.color("background", or: .clear))
        },
        TransformSpec(
            "pad=PIXELS|TOP:LEFT:BOTTOM:RIGHT[:COLOR]",
            "Adds pixels at the edges (clear by default). Negative numbers crop."
        ) { values throws(TransformProblem) in
            let sides = -1_000_000.0...1_000_000
            let first = try values.number("width", in: sides)
            var edges = PadTransformer.Edges(all: first)
            if values.isNextNumber {
                edges.leading = try values.number("left width", in: sides)
                edges.bottom = try values.number("bottom width", in: sides)
                edges.trailing = try values.number("right width", in: sides)
            }
            return .pad(edges, color: try values.color("color", or: .clear))
        },
        TransformSpec(
            "inset=PIXELS",
            "Crops all edges."
        ) { values throws(TransformProblem) in
            .inset(try values.length("width"))
        },
    ]

    private static let modes: [(String, TargetSize.Mode)] = [
        ("fit", .fit), ("fill", .fill), ("stretch", .stretch), ("exact", .exactly),
    ]
}

extension TransformValues {
    /// Returns the next value as a size in the form `WxH`, `Wx`, or `xH`.
    fileprivate mutating func size(_ parameter: String) throws(TransformProblem) -> (Double?, Double?) {
        guard let text = next() else { throw .missing(name: name, parameter: parameter) }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
        let lengths = sides.map { side in
            side.utf8.allSatisfy { (48...57).contains($0) } ? Int(side).flatMap { 1...1_000_000 ~= $0 ? $0 : nil } : nil
        }
        let areValid = zip(sides, lengths).allSatisfy { $0.isEmpty || $1 != nil }
        guard sides.count == 2, areValid, lengths.contains(where: { $0 != nil }) else {
            throw invalid(parameter, text, "WxH in pixels, such as 320x240")
        }
        return (lengths[0].map { Double($0) }, lengths[1].map { Double($0) })
    }

    /// Returns the next value as a size in percent of the image, or `nil` if it contains no percent sign.
    fileprivate mutating func percentages(_ parameter: String) throws(TransformProblem) -> TargetSize? {
        guard let text = peek, text.contains("%") else { return nil }
        _ = next()
        guard let size = TargetSize(percentages: text) else {
            throw invalid(parameter, text, TargetSize.validPercentages)
        }
        return size
    }

    /// Returns the next value as corners, with plus signs between their names. If there's no next value or it's a
    /// number, all corners are returned.
    fileprivate mutating func corners() throws(TransformProblem) -> StandardTransformer.Corners {
        guard hasNext, !isNextNumber, let text = next() else { return .all }
        if text == "all" { return .all }
        var corners: StandardTransformer.Corners = []
        for name in text.split(separator: "+", omittingEmptySubsequences: false) {
            guard let corner = TransformSpec.corners[String(name)] else {
                throw invalid("corners", text, "all, or some of \(TransformSpec.corners.list.joined(separator: "+"))")
            }
            corners.insert(corner)
        }
        return corners
    }

    /// Returns a border with the next values as its width and color, or `nil` if there's no value left.
    fileprivate mutating func border() throws(TransformProblem) -> RoundedCornersTransformer.Border? {
        guard hasNext else { return nil }
        let width = try length("border width")
        return .init(width: width, color: try color("border color", or: .black))
    }
}
