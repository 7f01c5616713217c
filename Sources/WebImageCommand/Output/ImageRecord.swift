// SPDX-License-Identifier: MIT

import WebImageCore

/// A file that a command wrote.
package struct OutputRecord: Sendable, Equatable {
    /// The path, or `-` for standard output.
    package var path: String
    /// The format, or the format of the pixels.
    package var format: String
    package var width: Int
    package var height: Int
    package var byteCount: Int
    /// Whether the file existed and was preserved. The other properties then describe the image that would have been
    /// written, as far as they're known.
    package var isPreserved = false

    package init(
        path: String, format: String, width: Int = 0, height: Int = 0, byteCount: Int = 0, isPreserved: Bool = false
    ) {
        self.path = path
        self.format = format
        self.width = width
        self.height = height
        self.byteCount = byteCount
        self.isPreserved = isPreserved
    }

    /// The JSON object for the file. The properties of a preserved file are `null`, because it isn't read.
    package var json: JSONValue {
        [
            "path": .string(path), "format": .string(format), "width": isPreserved ? .null : .int(width),
            "height": isPreserved ? .null : .int(height), "byteCount": isPreserved ? .null : .int(byteCount),
        ]
    }
}

/// The result of a command for one input, in the shape that the JSON output of all commands has.
package struct ImageRecord: Sendable {
    /// The number of the input, from 0.
    package var index = 0
    /// The path or the URL, without credentials and without the values of the query.
    package var input: String
    package var format: String?
    package var width: Int?
    package var height: Int?
    package var frames: Int?
    package var byteCount: Int?
    package var outputs: [OutputRecord] = []
    /// Messages about losses that the arguments don't request, such as clipped colors.
    package var notes: [String] = []
    package var error: ImageError?

    package init(input: String) { self.input = InputLabel.redacted(input) }

    /// Whether nothing was written because all output files exist.
    package var isSkipped: Bool { error == nil && !outputs.isEmpty && outputs.allSatisfy(\.isPreserved) }

    /// Copies the properties of the header of the input.
    package mutating func read(_ probe: ImageInfo, byteCount: Int) {
        format = probe.format.rawValue
        width = probe.size.width
        height = probe.size.height
        frames = probe.frameCount
        self.byteCount = byteCount
    }

    /// Returns the JSON object, with `extra` members before the error.
    package func json(_ extra: [JSONValue.Member] = []) -> JSONValue {
        let status: JSONValue = error != nil ? "failed" : isSkipped ? "skipped" : "ok"
        return .object(
            [
                .init("index", .int(index)), .init("input", .string(input)), .init("status", status),
                .init("format", JSONValue(format)), .init("width", JSONValue(width)),
                .init("height", JSONValue(height)), .init("frames", JSONValue(frames)),
                .init("byteCount", JSONValue(byteCount)), .init("outputs", .array(outputs.map(\.json))),
                .init("notes", .array(notes.map { .string($0) })),
            ] + extra + [.init("error", error.map(JSONValue.init) ?? .null)])
    }

    /// The lines that report the output files, such as `a.png → b.webp (64 × 48 pixels, 1.2 KiB)`.
    package func lines(label: String) -> [String] {
        outputs.map { output in
            let target = "\(DisplayText.safe(label)) → \(DisplayText.safe(output.path))"
            if output.isPreserved { return "\(target) (skipped, the file exists)" }
            return "\(target) (\(output.width) × \(output.height) pixels, \(NumberFormatting.bytes(output.byteCount)))"
        }
    }
}

/// The forms of inputs in messages and in records.
package enum InputLabel {
    /// Returns a path unchanged, or a URL without its user information and with `…` for each value of its query. The
    /// query of a URL often contains secrets, such as signatures and tokens.
    package static func redacted(_ text: String) -> String { redactedParts(withTwoSlashes(text)) }

    /// Returns a web URL with two slashes after its scheme and without ignored characters, or other text unchanged.
    ///
    /// The URL Standard accepts any number of slashes and backslashes there, but without `://`, text isn't recognized
    /// as a URL with user information.
    private static func withTwoSlashes(_ text: String) -> String {
        let plain = URLText.withoutIgnoredCharacters(text)
        guard let colon = plain.firstIndex(of: ":"),
            ["http", "https", "ftp", "ws", "wss"].contains(plain[..<colon].lowercased())
        else { return text }
        let rest = plain[plain.index(after: colon)...].drop { $0 == "/" || $0 == "\\" }
        return "\(plain[..<colon])://\(rest)"
    }

    private static func redactedParts(_ text: String) -> String {
        if text.lowercased().hasPrefix("data:") { return String(text.prefix { $0 != "," }) + ",…" }
        let isURL = text.contains("://")
        let original = text
        let text = isURL ? URLCredentials.removed(from: URLCredentials.split(text)?.url ?? text) : withoutUser(text)
        // A question mark in the name of a file begins no query.
        let mayHaveQuery =
            isURL || text != original || text.contains(/^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+(:[0-9]+)?\/.*\?/)
        guard mayHaveQuery else { return text }
        let withoutFragment = text.prefix { $0 != "#" }
        guard let mark = withoutFragment.firstIndex(of: "?") else { return String(withoutFragment) }
        let parts = withoutFragment[withoutFragment.index(after: mark)...].split(separator: "&")
        let names = parts.map { part in
            part.contains("=") ? part.prefix { $0 != "=" } + "=…" : "…"
        }
        return withoutFragment[...mark] + names.joined(separator: "&")
    }

    /// Returns text without the user information at its beginning, as in `user:password@example.org/a.png`. Names of
    /// files, such as `photo@2x.png`, don't change.
    package static func withoutUser(_ text: String) -> String {
        let authority = text.prefix { !"/?#".contains($0) }
        guard let at = authority.lastIndex(of: "@") else { return text }
        let host = authority[text.index(after: at)...]
        let isHost = host.contains(".") && text[authority.endIndex...].hasPrefix("/")
        return authority[..<at].contains(":") || isHost ? String(text[host.startIndex...]) : text
    }
}
