// SPDX-License-Identifier: MIT

import WebImageCore

/// The information that `info` prints about an image.
package struct InfoRecord: Sendable {
    /// The number of the input, from 0.
    package var index = 0
    /// The short form of the input, for the text output.
    package let label: String
    /// The path of the file or the URL, without secrets.
    package let input: String
    /// The size of the file in bytes, or `nil` if the file can't be read.
    package var bytes: Int?
    /// The parsed image header, or `nil` if it can't be parsed.
    package var probe: ImageInfo?
    /// The resolution, the chroma subsampling, and the quality, or `nil` if the file can't be read.
    package var details: ImageFileDetails?
    /// The frames and their durations if the image had to be decoded to determine them, or `nil` for a still image.
    package var timeline: AnimationTimeline?
    /// The gain map of the file, or `nil` if it has none.
    package var gainMap: GainMapInfo?
    /// The name of the embedded color profile.
    package var colorProfile: String?
    /// Whether the data is truncated or corrupt, although a part of it or all of it can be decoded.
    package var isDamaged = false
    /// The EXIF tags, or `nil` if they weren't requested.
    package var exif: [(name: String, value: String)]?
    package var error: ImageError?

    /// Creates a record. `label` is the short form of the input. `input` is the path or the URL.
    package init(label: String, input: String) {
        self.label = label
        self.input = InputLabel.redacted(input)
    }

    /// The JSON object for the image.
    package var json: JSONValue {
        var record = ImageRecord(input: input)
        record.index = index
        record.byteCount = bytes
        record.error = error
        if isDamaged { record.notes = ["the data is truncated or corrupt"] }
        if let probe {
            record.read(probe, byteCount: bytes ?? 0)
            record.frames = timeline?.frameCount ?? probe.frameCount
        }
        var members: [JSONValue.Member] = [
            .init("storedWidth", JSONValue(probe?.storedSize.width)),
            .init("storedHeight", JSONValue(probe?.storedSize.height)),
            .init("orientation", JSONValue(probe?.orientation.rawValue)),
            .init("loopCount", JSONValue(timeline?.loopCount ?? probe?.loopCount)),
            .init("frameDurations", .array((timeline?.durations ?? []).map { .int($0) })),
            .init("hasAlpha", probe.map { .bool($0.hasAlpha) } ?? .null),
            .init("bitDepth", JSONValue(probe?.bitDepth)),
            .init("horizontalResolution", details?.resolution.map { .double($0.horizontal) } ?? .null),
            .init("verticalResolution", details?.resolution.map { .double($0.vertical) } ?? .null),
            .init("chromaSubsampling", JSONValue(details?.chromaSubsampling?.description)),
            .init("estimatedQuality", JSONValue(details?.estimatedQuality)),
            .init("colorProfile", JSONValue(colorProfile)),
            .init("colorPrimaries", JSONValue(probe?.codePoints?.primaries)),
            .init("transferCharacteristics", JSONValue(probe?.codePoints?.transfer)),
        ]
        if let gainMap {
            members.append(
                .init(
                    "gainMap",
                    .object([
                        .init("kind", .string(gainMap.metadata.kind.rawValue)),
                        .init("headroom", .double(gainMap.metadata.maxHeadroom)),
                        .init("width", .int(gainMap.size.width)), .init("height", .int(gainMap.size.height)),
                        .init("base", .string(gainMap.metadata.hasHDRBase ? "high" : "standard")),
                    ])))
        }
        if let exif {
            members.append(.init("exif", .object(exif.map { .init($0.name, .string($0.value)) })))
        }
        return record.json(members)
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
            facts += detailFacts
            if let colors = probe.codePoints { facts.append(("color space", "\(colors)")) }
            if let gainMap {
                let headroom = NumberFormatting.decimal(gainMap.metadata.maxHeadroom, digits: 2)
                let size = "\(gainMap.size.width) × \(gainMap.size.height) pixels"
                let base = gainMap.metadata.hasHDRBase ? "high" : "standard"
                let properties = "\(gainMap.metadata.kind.rawValue), headroom \(headroom), \(size), \(base) base image"
                facts.append(("gain map", properties))
            } else if probe.codePoints?.isHDR == true {
                facts.append(("range", "high"))
            }
            if probe.hasICCProfile { facts.append(("profile", colorProfile ?? "ICC, unnamed")) }
        }
        if isDamaged { facts.append(("data", "truncated or corrupt")) }
        if let bytes {
            facts.append(("bytes", bytes < 1_024 ? "\(bytes)" : "\(bytes) (\(NumberFormatting.bytes(bytes)))"))
        }
        var lines = [
            style.apply(.bold, to: DisplayText.truncated(DisplayText.safe(label), to: style.columns, inMiddle: true))
        ]
        lines += facts.map { "  " + style.apply(.dim, to: DisplayText.padded($0.0, to: 12)) + DisplayText.safe($0.1) }
        for tag in exif ?? [] {
            lines.append("  " + style.apply(.dim, to: DisplayText.padded(tag.name, to: 26)) + tag.value)
        }
        return lines
    }

    private var detailFacts: [(String, String)] {
        var facts: [(String, String)] = []
        let encoding = [
            details?.chromaSubsampling.map { "chroma \($0)" },
            details?.estimatedQuality.map { "estimated quality \($0)" },
        ].compactMap { $0 }
        if !encoding.isEmpty { facts.append(("encoding", encoding.joined(separator: ", "))) }
        guard let resolution = details?.resolution else { return facts }
        let numbers = [resolution.horizontal, resolution.vertical].map(Self.rounded)
        let isSquare = numbers[0] == numbers[1]
        facts.append(("resolution", isSquare ? "\(numbers[0]) dpi" : "\(numbers[0]) × \(numbers[1]) dpi"))
        return facts
    }

    /// Returns a number with one digit after the decimal point, if it isn't zero.
    private static func rounded(_ number: Double) -> String {
        let text = NumberFormatting.decimal(number, digits: 1)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
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
