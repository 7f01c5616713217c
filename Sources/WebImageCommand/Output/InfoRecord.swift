// SPDX-License-Identifier: MIT

import WebImageCore

/// The information that `info` prints about an image.
package struct InfoRecord: Sendable {
    /// The path of the file or the URL, without a user name and a password.
    package var source: String
    /// A Boolean value that indicates whether ``source`` is a URL.
    package var isURL: Bool
    /// The size of the file in bytes, or `nil` if the file can't be read.
    package var bytes: Int?
    /// The parsed image header, or `nil` if it can't be parsed.
    package var probe: ImageInfo?
    /// The frames and their durations if the image had to be decoded to determine them, or `nil` for a still image.
    package var timeline: AnimationTimeline?
    /// The name of the embedded color profile.
    package var colorProfile: String?
    /// The EXIF tags, or `nil` if they weren't requested.
    package var exif: [(name: String, value: String)]?
    package var error: ImageError?

    package init(source: String, isURL: Bool) {
        self.source = URLCredentials.removed(from: source)
        self.isURL = isURL
    }

    /// The JSON object for the image.
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(isURL ? "url" : "path", .string(source)), .init("status", error == nil ? "ok" : "failed"),
        ]
        if let probe {
            members += [
                .init("format", .string(probe.format.rawValue)), .init("width", .int(probe.size.width)),
                .init("height", .int(probe.size.height)), .init("storedWidth", .int(probe.storedSize.width)),
                .init("storedHeight", .int(probe.storedSize.height)),
                .init("orientation", .int(probe.orientation.rawValue)),
                .init("frames", .int(timeline?.frameCount ?? probe.frameCount)),
                .init("loopCount", .int(timeline?.loopCount ?? probe.loopCount)),
                .init("frameDurations", .array((timeline?.durations ?? []).map { .int($0) })),
                .init("hasAlpha", .bool(probe.hasAlpha)), .init("bitDepth", .int(probe.bitDepth)),
                .init("colorProfile", JSONValue(colorProfile)),
                .init("colorPrimaries", JSONValue(probe.codePoints?.primaries)),
                .init("transferCharacteristics", JSONValue(probe.codePoints?.transfer)),
            ]
        }
        if let exif {
            members.append(.init("exif", .object(exif.map { .init($0.name, .string($0.value)) })))
        }
        members.append(.init("byteCount", JSONValue(bytes)))
        members.append(.init("error", error.map(JSONValue.init) ?? .null))
        return .object(members)
    }

    /// Returns a heading and one line for each fact. The error isn't included.
    package func lines(_ style: TerminalStyle) -> [String] {
        var facts: [(String, String)] = []
        if let probe {
            let mediaType = probe.format.mimeType.map { " (\($0))" } ?? ""
            facts.append(("format", "\(probe.format)\(mediaType)\(probe.isProgressive ? ", progressive" : "")"))
            let stored =
                probe.orientation == .up ? "" : ", stored \(probe.storedSize.width) × \(probe.storedSize.height)"
            facts.append(("size", "\(probe.size.width) × \(probe.size.height) pixels\(stored)"))
            if probe.orientation != .up {
                facts.append(("orientation", "\(probe.orientation.rawValue) (\(probe.orientation))"))
            }
            facts += frameFacts(probe)
            facts.append(("bit depth", "\(probe.bitDepth) bits\(probe.hasAlpha ? ", with alpha" : "")"))
            if let colors = probe.codePoints { facts.append(("color space", "\(colors)")) }
            if probe.hasICCProfile { facts.append(("profile", colorProfile ?? "ICC, unnamed")) }
        }
        if let bytes {
            facts.append(("bytes", bytes < 1_024 ? "\(bytes)" : "\(bytes) (\(NumberFormatting.bytes(bytes)))"))
        }
        var lines = [
            style.apply(.bold, to: DisplayText.truncated(DisplayText.safe(source), to: style.columns, inMiddle: true))
        ]
        lines += facts.map { "  " + style.apply(.dim, to: DisplayText.padded($0.0, to: 12)) + DisplayText.safe($0.1) }
        for tag in exif ?? [] {
            lines.append("  " + style.apply(.dim, to: DisplayText.padded(tag.name, to: 26)) + tag.value)
        }
        return lines
    }

    private func frameFacts(_ probe: ImageInfo) -> [(String, String)] {
        guard let timeline else {
            guard probe.frameCount > 1 || !probe.frameCountIsExact else { return [] }
            return [("frames", "\(probe.frameCount)\(probe.frameCountIsExact ? "" : " or more")")]
        }
        let seconds = Double(timeline.durations.reduce(0, +)) / 1_000
        let loops = timeline.loopCount == 0 ? "loops forever" : "plays \(timeline.loopCount)×"
        let shortest = timeline.durations.min() ?? 0
        let longest = timeline.durations.max() ?? 0
        let each = shortest == longest ? "\(shortest) ms each" : "\(shortest)…\(longest) ms each"
        return [
            ("frames", "\(timeline.frameCount), \(each), \(NumberFormatting.decimal(seconds, digits: 2)) s, \(loops)")
        ]
    }
}
