// SPDX-License-Identifier: MIT

import WebImageCore

extension TransformSpec {
    static let effects: [TransformSpec] = [
        TransformSpec(
            "blur=RADIUS[:SATURATION[:COLOR[:MODE]]]|soft|light|extra-light|dark|tinted:COLOR",
            "Applies a Gaussian blur, which can change the saturation (1 by default) and draw a color over the result. "
                + "The names are the styles of user interfaces."
        ) { values throws(TransformProblem) in
            if values.isNext(oneOf: ["tinted"]) {
                _ = values.next()
                return .blur(.tinted(try values.color("color")))
            }
            if values.isNext(oneOf: styles.map(\.0)) { return .blur(try values.word("style", of: styles)) }
            let radius = try values.length("radius")
            let saturation = try values.number("saturation", in: -1_000...1_000, or: 1)
            guard values.hasNext else { return .blur(radius: radius, saturation: saturation) }
            let tint = try values.color("color")
            return .blur(
                radius: radius, saturation: saturation, tint: tint,
                tintBlendMode: try values.word("mode", of: blendModes, or: .normal))
        },
        TransformSpec(
            "sharpen[=AMOUNT[:RADIUS[:THRESHOLD]]]",
            "Applies an unsharp mask (0.5:2:0 by default)."
        ) { values throws(TransformProblem) in
            let amount = try values.number("amount", in: 0...100, or: 0.5)
            let radius = try values.length("radius", or: 2)
            return .sharpen(
                amount: amount, radius: radius, threshold: try values.number("threshold", in: 0...1, or: 0))
        },
        TransformSpec(
            "vignette[=STRENGTH[:START[:COLOR]]]",
            "Fades to a color toward the corners (0.6:0.4:black by default)."
        ) { values throws(TransformProblem) in
            let strength = try values.number("strength", in: 0...1, or: 0.6)
            let start = try values.number("start", in: 0...0.999, or: 0.4)
            return .vignette(strength: strength, start: start, color: try values.color("color", or: .black))
        },
    ]

    private static let styles: [(String, BlurTransformer.Style)] = [
        ("soft", .soft), ("light", .light), ("extra-light", .extraLight), ("dark", .dark),
    ]
}
