// SPDX-License-Identifier: MIT

import WebImageCore

extension TransformSpec {
    static let colors: [TransformSpec] = [
        TransformSpec(
            "tint=COLOR[:MODE]",
            "Draws a color within the shape of the image. The default mode colors a template icon."
        ) { values throws(TransformProblem) in
            let color = try values.color("color")
            return .tint(color, blendMode: try values.word("mode", of: blendModes, or: .sourceIn))
        },
        TransformSpec(
            "saturation=AMOUNT",
            "Multiplies the saturation. 1 changes nothing."
        ) { values throws(TransformProblem) in
            .saturation(try values.number("amount", in: -1_000...1_000))
        },
        TransformSpec(
            "brightness=AMOUNT",
            "Multiplies the brightness. 1 changes nothing."
        ) { values throws(TransformProblem) in
            .brightness(try values.number("amount", in: 0...1_000))
        },
        TransformSpec(
            "contrast=AMOUNT",
            "Multiplies the contrast. 1 changes nothing."
        ) { values throws(TransformProblem) in
            .contrast(try values.number("amount", in: 0...1_000))
        },
        TransformSpec(
            "grayscale[=AMOUNT]",
            "Removes the colors. An amount from 0 to 1 applies a part of the effect."
        ) { values throws(TransformProblem) in
            .grayscale(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec(
            "sepia[=AMOUNT]",
            "Applies a brown tone. An amount from 0 to 1 applies a part of the effect."
        ) { values throws(TransformProblem) in
            .sepia(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec(
            "invert[=AMOUNT]",
            "Inverts the colors. An amount from 0 to 1 applies a part of the effect."
        ) { values throws(TransformProblem) in
            .invert(try values.number("amount", in: 0...1, or: 1))
        },
        TransformSpec(
            "hue-rotation=DEGREES",
            "Rotates the hues."
        ) { values throws(TransformProblem) in
            .hueRotation(degrees: try values.number("angle", in: -360_000...360_000))
        },
        TransformSpec(
            "color-matrix=N:N:…",
            "Multiplies the colors by a matrix of 20 numbers: the factors of red, green, blue, and alpha and a constant, "
                + "for each of red, green, blue, and alpha."
        ) { values throws(TransformProblem) in
            var rows: [ColorMatrix.Row] = []
            for row in ["red", "green", "blue", "alpha"] {
                let range = -1_000.0...1_000
                let red = try values.number("red-to-\(row) coefficient", in: range)
                let green = try values.number("green-to-\(row) coefficient", in: range)
                let blue = try values.number("blue-to-\(row) coefficient", in: range)
                let alpha = try values.number("alpha-to-\(row) coefficient", in: range)
                let constant = try values.number("\(row) constant", in: range)
                rows.append(.init(red: red, green: green, blue: blue, alpha: alpha, constant: constant))
            }
            return .colorMatrix(ColorMatrix(red: rows[0], green: rows[1], blue: rows[2], alpha: rows[3]))
        },
    ]
}
