// SPDX-License-Identifier: MIT

import WebImageCore

/// One name of ``TransformList`` and how its values become a transformer.
struct TransformSpec: Sendable {
    typealias Make = @Sendable (inout TransformValues) throws(TransformListError) -> any ImageTransformer

    let name: String
    /// The name with its values; those in brackets may be left out.
    let usage: String
    let make: Make

    init(_ usage: String, _ make: @escaping Make) {
        self.usage = usage
        name = String(usage.prefix { $0.isLetter })
        self.make = make
    }

    static let all = shapes + effects + colors

    private static let shapes: [TransformSpec] = [
        TransformSpec("resize=WxH[:fit|fill|stretch|exactly]") { values throws(TransformListError) in
            let (width, height) = try values.sides("size")
            let mode = try values.word("mode", of: modes, or: .fit)
            return .resize(width: width, height: height, mode: mode)
        },
        TransformSpec("crop=WxH[:ANCHOR]") { values throws(TransformListError) in
            let (width, height) = try values.sides("size")
            guard let width, let height else { throw .missing(name: values.name, parameter: "width and height") }
            let anchors = CropTransformer.Anchor.allCases.map { ($0.rawValue, $0) }
            return .crop(width: width, height: height, anchor: try values.word("anchor", of: anchors, or: .center))
        },
        TransformSpec("corners=RADIUS[:BORDER[:COLOR]]") { values throws(TransformListError) in
            let radius = try values.length("radius")
            return .roundedCorners(radius: radius, border: try values.border())
        },
        TransformSpec("circle[=BORDER[:COLOR]]") { values throws(TransformListError) in
            .circle(border: try values.border())
        },
        TransformSpec("border=WIDTH[:COLOR[:inside|outside]]") { values throws(TransformListError) in
            let width = try values.length("width")
            let color = try values.color("colour", or: .black)
            let placements = BorderTransformer.Placement.allCases.map { ($0.rawValue, $0) }
            return .border(
                width: width, color: color, placement: try values.word("place", of: placements, or: .inside))
        },
        TransformSpec("flip=horizontal|vertical|both") { values throws(TransformListError) in
            .flip(try values.word("direction", of: FlipTransformer.Direction.allCases.map { ($0.rawValue, $0) }))
        },
        TransformSpec("rotate=DEGREES[:fit|clip[:COLOR]]") { values throws(TransformListError) in
            let degrees = try values.number("angle", in: -360_000...360_000)
            let mode = try values.word(
                "mode", of: RotateTransformer.Mode.allCases.map { ($0.rawValue, $0) }, or: .fit)
            return .rotate(degrees: degrees, mode: mode, background: try values.color("background", or: .clear))
        },
        TransformSpec("pad=PIXELS[:COLOR]") { values throws(TransformListError) in
            let length = try values.length("width")
            return .pad(length, color: try values.color("colour", or: .clear))
        },
        TransformSpec("inset=PIXELS") { values throws(TransformListError) in
            .inset(try values.length("width"))
        },
    ]

    private static let effects: [TransformSpec] = [
        TransformSpec("blur=RADIUS|soft|light|extra-light|dark|tinted:COLOR") { values throws(TransformListError) in
            if values.isNext(oneOf: ["tinted"]) {
                _ = values.next()
                return .blur(.tinted(try values.color("colour")))
            }
            if values.isNext(oneOf: styles.map(\.0)) { return .blur(try values.word("look", of: styles)) }
            return .blur(radius: try values.length("radius"))
        },
        TransformSpec("sharpen[=AMOUNT[:RADIUS[:THRESHOLD]]]") { values throws(TransformListError) in
            let amount = try values.number("amount", in: 0...100, or: 0.5)
            let radius = try values.length("radius", or: 2)
            return .sharpen(
                amount: amount, radius: radius, threshold: try values.number("threshold", in: 0...1, or: 0))
        },
        TransformSpec("vignette[=STRENGTH[:START[:COLOR]]]") { values throws(TransformListError) in
            let strength = try values.number("strength", in: 0...1, or: 0.6)
            let start = try values.number("start", in: 0...0.999, or: 0.4)
            return .vignette(strength: strength, start: start, color: try values.color("colour", or: .black))
        },
    ]

    private static let colors: [TransformSpec] = [
        TransformSpec("tint=COLOR[:MODE]") { values throws(TransformListError) in
            let color = try values.color("colour")
            let modes = BlendMode.allCases.map { ($0.rawValue, $0) }
            return .tint(color, mode: try values.word("mode", of: modes, or: .sourceIn))
        },
        TransformSpec("saturation=AMOUNT") { values throws(TransformListError) in
            .saturation(try values.number("amount", in: -1_000...1_000))
        },
        TransformSpec("brightness=AMOUNT") { values throws(TransformListError) in
            .brightness(try values.number("amount", in: 0...1_000))
        },
        TransformSpec("contrast=AMOUNT") { values throws(TransformListError) in
            .contrast(try values.number("amount", in: 0...1_000))
        },
        TransformSpec("grayscale[=AMOUNT]") { values throws(TransformListError) in
            .grayscale(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec("sepia[=AMOUNT]") { values throws(TransformListError) in
            .sepia(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec("invert[=AMOUNT]") { values throws(TransformListError) in
            .invert(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec("hue=DEGREES") { values throws(TransformListError) in
            .hueRotation(degrees: try values.number("angle", in: -360_000...360_000))
        },
    ]

    private static let modes: [(String, TargetSize.Mode)] = [
        ("fit", .fit), ("fill", .fill), ("stretch", .stretch), ("exactly", .exactly),
    ]

    private static let styles: [(String, BlurTransformer.Style)] = [
        ("soft", .soft), ("light", .light), ("extra-light", .extraLight), ("dark", .dark),
    ]
}

extension TransformValues {
    /// `WxH`, `Wx` or `xH`.
    fileprivate mutating func sides(_ parameter: String) throws(TransformListError) -> (Double?, Double?) {
        guard let text = next() else { throw .missing(name: name, parameter: parameter) }
        let sides = text.split(separator: "x", omittingEmptySubsequences: false).map(String.init)
        let lengths = sides.map { side in
            side.utf8.allSatisfy { (48...57).contains($0) } ? Int(side).flatMap { 1...1_000_000 ~= $0 ? $0 : nil } : nil
        }
        let areValid = zip(sides, lengths).allSatisfy { $0.isEmpty || $1 != nil }
        guard sides.count == 2, areValid, lengths.contains(where: { $0 != nil }) else {
            throw invalid(parameter, text, "WxH in pixels, as in 320x240")
        }
        return (lengths[0].map { Double($0) }, lengths[1].map { Double($0) })
    }

    /// A width and a colour, where there is a width.
    fileprivate mutating func border() throws(TransformListError) -> RoundedCornersTransformer.Border? {
        guard hasNext else { return nil }
        let width = try length("border's width")
        return .init(width: width, color: try color("border's colour", or: .black))
    }
}
