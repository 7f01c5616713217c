// SPDX-License-Identifier: MIT

import WebImageCore

/// The output of `animate`.
package struct AnimationReport: Sendable {
    /// The inputs without secrets.
    package let inputs: [String]
    /// The durations of the frames in milliseconds.
    package let durations: [Int]
    package let loopCount: Int
    package var size: PixelSize?
    package var output: OutputRecord?
    package var notes: [String] = []
    package var error: ImageError?

    package init(inputs: [String], durations: [Int], loopCount: Int) {
        self.inputs = inputs
        self.durations = durations
        self.loopCount = loopCount
    }

    /// The JSON object.
    package var json: JSONValue {
        [
            "inputs": .array(inputs.map { .string($0) }), "status": error == nil ? "ok" : "failed",
            "width": JSONValue(size?.width), "height": JSONValue(size?.height), "frames": .int(durations.count),
            "loopCount": .int(loopCount), "frameDurations": .array(durations.map { .int($0) }),
            "outputs": .array(output.map { [$0.json] } ?? []), "notes": .array(notes.map { .string($0) }),
            "error": error.map(JSONValue.init) ?? .null,
        ]
    }

    /// The lines for the user.
    package var lines: [String] {
        guard let output else { return [] }
        let frames = NumberFormatting.count(durations.count, "frame")
        let seconds = NumberFormatting.decimal(Double(durations.reduce(0, +)) / 1_000, digits: 2)
        return [
            "\(DisplayText.safe(output.path)) (\(output.width) × \(output.height) pixels, \(frames), \(seconds) s, "
                + "\(NumberFormatting.bytes(output.byteCount)))"
        ]
    }
}
