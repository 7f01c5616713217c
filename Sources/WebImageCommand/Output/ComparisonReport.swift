// SPDX-License-Identifier: MIT

import WebImageCore

/// The output of `compare`.
package struct ComparisonReport: Sendable {
    /// The inputs without secrets.
    package var inputs: [String]
    /// The size of the first image.
    package var size: PixelSize?
    package var comparison: ImageComparison?
    /// The difference image.
    package var outputs: [OutputRecord] = []
    /// Messages that the user may not expect, such as about frames that aren't compared.
    package var notes: [String] = []
    package var error: ImageError?

    package init(inputs: [String]) { self.inputs = inputs }

    /// The JSON object. The score and the PSNR have at most six decimal places.
    package var json: JSONValue {
        [
            "inputs": .array(inputs.map { .string($0) }), "status": error == nil ? "ok" : "failed",
            "width": JSONValue(size?.width), "height": JSONValue(size?.height),
            "isEqual": comparison.map { .bool($0.isEqual) } ?? .null, "ssimulacra2": Self.number(comparison?.score),
            "psnr": Self.number(comparison?.psnr), "outputs": .array(outputs.map(\.json)),
            "notes": .array(notes.map { .string($0) }),
            "error": error.map(JSONValue.init) ?? .null,
        ]
    }

    private static func number(_ value: Double?) -> JSONValue {
        value.map { .double(($0 * 1_000_000).rounded() / 1_000_000) } ?? .null
    }

    /// The lines for the user.
    package var lines: [String] {
        guard let comparison else { return [] }
        let score = comparison.score.map { NumberFormatting.decimal($0, digits: 2) } ?? "– (smaller than 8 × 8 pixels)"
        let psnr = comparison.psnr.map { "\(NumberFormatting.decimal($0, digits: 2)) dB" } ?? "– (the pixels are equal)"
        return ["SSIMULACRA 2  \(score)", "PSNR          \(psnr)"]
            + outputs.map { "difference    \(DisplayText.safe($0.path))" }
    }
}
