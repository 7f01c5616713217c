// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// Reads the arguments of processing options. Every error names the option and the argument.
struct OptionReader {
    let option: ServerURL.Option

    init(_ option: ServerURL.Option, atMost limit: Int = .max) throws(ServerFailure) {
        guard option.arguments.count <= limit else {
            throw .notFound(
                "The option “\(option.name)” has \(option.arguments.count) arguments. The limit is \(limit).")
        }
        self.option = option
    }

    /// Returns an argument, or `nil` if it's absent or empty.
    func text(_ index: Int) -> String? {
        index < option.arguments.count && !option.arguments[index].isEmpty ? option.arguments[index] : nil
    }

    func required(_ index: Int) throws(ServerFailure) -> String {
        guard let text = text(index) else { throw .notFound("The option “\(option.name)” has no argument.") }
        return text
    }

    func fails(_ text: String, _ expected: String) -> ServerFailure {
        .notFound("The argument “\(text)” of the option “\(option.name)” isn’t \(expected).")
    }

    /// Returns a whole number in a range, or `nil` if the argument is absent.
    func integer(_ index: Int, in range: ClosedRange<Int> = 0...1_000_000) throws(ServerFailure) -> Int? {
        guard let text = text(index) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw fails(text, "a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a number in a range, or `nil` if the argument is absent.
    func number(_ index: Int, in range: ClosedRange<Double>) throws(ServerFailure) -> Double? {
        guard let text = text(index) else { return nil }
        // `Double` also accepts hexadecimal numbers, infinity, and not-a-number values.
        let isDecimal = text.utf8.allSatisfy { "+-.0123456789eE".utf8.contains($0) }
        guard isDecimal, let number = Double(text), range.contains(number) else {
            throw fails(text, "a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    /// Returns a Boolean value. Every text except those of `true` counts as `false`, as in imgproxy.
    func flag(_ index: Int) -> Bool? {
        text(index).map { ["1", "t", "T", "true", "TRUE", "True"].contains($0) }
    }

    func color(_ index: Int) throws(ServerFailure) -> PixelColor? {
        guard let text = text(index) else { return nil }
        let isHexadecimal = [3, 6].contains(text.utf8.count) && text.allSatisfy(\.isHexDigit)
        guard isHexadecimal, let color = PixelColor(hex: "#\(text)") else {
            throw fails(text, "a color of 3 or 6 hexadecimal digits")
        }
        return color
    }

    func format(_ index: Int) throws(ServerFailure) -> ImageFormat? {
        guard let text = text(index) else { return nil }
        guard let format = ServerFormats.format(named: text) else { throw fails(text, "a supported format") }
        return format
    }

    /// Returns the gravity in the arguments from an index on, or `nil` if there is none.
    func gravity(from index: Int, allowsSmart: Bool = true) throws(ServerFailure) -> ProcessingOptions.Gravity? {
        guard let name = text(index) else { return nil }
        var gravity = ProcessingOptions.Gravity()
        if name == "fp" {
            guard let x = try number(index + 1, in: 0...1), let y = try number(index + 2, in: 0...1) else {
                throw .notFound("The gravity “fp” of the option “\(option.name)” needs two numbers from 0 to 1.")
            }
            gravity.kind = .point(x, y)
            gravity.isFocus = true
            return gravity
        }
        if name == "sm", allowsSmart {
            gravity.kind = .smart
            return gravity
        }
        if ["obj", "objw"].contains(name) {
            throw .notFound("The gravity “\(name)” isn’t supported because this server detects no objects.")
        }
        guard let (x, y) = Self.compass[name] else { throw fails(name, "a gravity") }
        gravity.kind = .point(x, y)
        gravity.signX = x == 1 ? -1 : 1
        gravity.signY = y == 1 ? -1 : 1
        gravity.offsetX = try number(index + 1, in: -1e6...1e6) ?? 0
        gravity.offsetY = try number(index + 2, in: -1e6...1e6) ?? 0
        return gravity
    }

    private static let compass: [String: (Double, Double)] = [
        "ce": (0.5, 0.5), "no": (0.5, 0), "so": (0.5, 1), "ea": (1, 0.5), "we": (0, 0.5), "noea": (1, 0),
        "nowe": (0, 0), "soea": (1, 1), "sowe": (0, 1),
    ]
}

/// The formats by the names in URLs.
package enum ServerFormats {
    private static let formats: [String: ImageFormat] = [
        "jpg": .jpeg, "jpeg": .jpeg, "jpe": .jpeg, "png": .png, "webp": .webp, "gif": .gif, "avif": .avif, "jxl": .jxl,
        "bmp": .bmp, "tiff": .tiff, "tif": .tiff, "ico": .ico, "heic": .heif, "svg": .svg, "pdf": .pdf,
    ]

    /// Returns the format of a name in a URL, or `nil` if the name isn't known.
    package static func format(named name: String) -> ImageFormat? { formats[name] }
}
