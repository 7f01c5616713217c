// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// The options that determine the geometry of the result.
extension ProcessingOptions {
    /// Applies an option of the size. Returns `false` if the option isn't one of those.
    mutating func applySize(_ option: ServerURL.Option) throws(ServerFailure) -> Bool {
        switch option.name {
        case "resize", "rs": try applyResize(OptionReader(option, atMost: 8))
        case "size", "s": try applyBox(OptionReader(option, atMost: 7), from: 0)
        case "resizing_type", "rt": try applyType(OptionReader(option, atMost: 1))
        case "width", "w": width = try OptionReader(option, atMost: 1).integer(0) ?? 0
        case "height", "h": height = try OptionReader(option, atMost: 1).integer(0) ?? 0
        case "min-width", "mw": minWidth = try OptionReader(option, atMost: 1).integer(0) ?? 0
        case "min-height", "mh": minHeight = try OptionReader(option, atMost: 1).integer(0) ?? 0
        case "zoom", "z":
            let reader = try OptionReader(option, atMost: 2)
            zoomX = try reader.number(0, in: 0.001...1_000) ?? 1
            zoomY = try reader.number(1, in: 0.001...1_000) ?? zoomX
        case "dpr": dpr = try OptionReader(option, atMost: 1).number(0, in: 0.001...100) ?? 1
        case "enlarge", "el": enlarges = try OptionReader(option, atMost: 1).flag(0) ?? false
        case "extend", "ex": try Self.apply(OptionReader(option, atMost: 4), from: 0, to: &extend)
        case "extend_aspect_ratio", "extend_ar", "exar":
            try Self.apply(OptionReader(option, atMost: 4), from: 0, to: &extendAspectRatio)
        case "gravity", "g": gravity = try OptionReader(option, atMost: 3).gravity(from: 0) ?? .center
        case "crop", "c": try applyCrop(OptionReader(option, atMost: 5))
        case "padding", "pd": try applyPadding(OptionReader(option, atMost: 4))
        default: return false
        }
        return true
    }

    private mutating func applyType(_ reader: OptionReader) throws(ServerFailure) {
        guard let name = reader.text(0) else { return }
        guard let type = ResizingType(rawValue: name) else { throw reader.fails(name, "a resizing type") }
        resizingType = type
    }

    private mutating func applyResize(_ reader: OptionReader) throws(ServerFailure) {
        try applyType(reader)
        try applyBox(reader, from: 1)
    }

    private mutating func applyBox(_ reader: OptionReader, from index: Int) throws(ServerFailure) {
        width = try reader.integer(index) ?? width
        height = try reader.integer(index + 1) ?? height
        enlarges = reader.flag(index + 2) ?? enlarges
        try Self.apply(reader, from: index + 3, to: &extend)
    }

    private static func apply(
        _ reader: OptionReader, from index: Int, to extend: inout Extend
    ) throws(ServerFailure) {
        guard let isEnabled = reader.flag(index) else { return }
        extend.isEnabled = isEnabled
        extend.gravity = try reader.gravity(from: index + 1, allowsSmart: false) ?? extend.gravity
    }

    private mutating func applyCrop(_ reader: OptionReader) throws(ServerFailure) {
        cropWidth = try reader.number(0, in: 0...1_000_000) ?? 0
        cropHeight = try reader.number(1, in: 0...1_000_000) ?? 0
        cropGravity = try reader.gravity(from: 2) ?? cropGravity
    }

    private mutating func applyPadding(_ reader: OptionReader) throws(ServerFailure) {
        paddingTop = try reader.integer(0) ?? paddingTop
        paddingRight = try reader.integer(1) ?? paddingTop
        paddingBottom = try reader.integer(2) ?? paddingTop
        paddingLeft = try reader.integer(3) ?? paddingRight
    }
}

/// The options that change the pixels.
extension ProcessingOptions {
    /// Applies an option of the pixels. Returns `false` if the option isn't one of those.
    mutating func applyContent(_ option: ServerURL.Option) throws(ServerFailure) -> Bool {
        switch option.name {
        case "trim", "t": try applyTrim(OptionReader(option, atMost: 4))
        case "auto_rotate", "ar":
            guard try OptionReader(option, atMost: 1).flag(0) ?? true else {
                throw .notFound("The server always applies the orientation of the source.")
            }
        case "rotate", "rot":
            let reader = try OptionReader(option, atMost: 1)
            let degrees = try reader.integer(0, in: -1_000_000...1_000_000) ?? 0
            guard degrees % 90 == 0 else { throw reader.fails(try reader.required(0), "a multiple of 90") }
            rotation = ((degrees % 360) + 360) % 360
        case "flip", "fl":
            let reader = try OptionReader(option, atMost: 2)
            flipsHorizontally = reader.flag(0) ?? flipsHorizontally
            flipsVertically = reader.flag(1) ?? flipsVertically
        case "background", "bg": try applyBackground(OptionReader(option, atMost: 3))
        case "blur", "bl": blur = try OptionReader(option, atMost: 1).number(0, in: 0...1_000) ?? 0
        case "sharpen", "sh": sharpen = try OptionReader(option, atMost: 1).number(0, in: 0...100) ?? 0
        case "pixelate", "pix": pixelate = try OptionReader(option, atMost: 1).integer(0) ?? 0
        case "watermark", "wm": try applyWatermark(OptionReader(option, atMost: 5))
        default: return false
        }
        return true
    }

    private mutating func applyWatermark(_ reader: OptionReader) throws(ServerFailure) {
        var mark = Watermark()
        mark.opacity = try reader.number(0, in: 0...1) ?? 0
        switch reader.text(1) {
        case "re":
            mark.isRepeated = true
            mark.gravity.offsetX = try reader.number(2, in: 0...1e6) ?? 0
            mark.gravity.offsetY = try reader.number(3, in: 0...1e6) ?? 0
        case "ch": throw .notFound("The position “ch” of the option “\(reader.option.name)” isn’t supported.")
        case "fp", "sm": throw reader.fails(reader.text(1) ?? "", "a position")
        case nil:
            mark.gravity.offsetX = try reader.number(2, in: -1e6...1e6) ?? 0
            mark.gravity.offsetY = try reader.number(3, in: -1e6...1e6) ?? 0
        default: mark.gravity = try reader.gravity(from: 1, allowsSmart: false) ?? .center
        }
        mark.scale = try reader.number(4, in: 0...100) ?? 0
        watermark = mark.opacity > 0 ? mark : nil
    }

    private mutating func applyTrim(_ reader: OptionReader) throws(ServerFailure) {
        trimThreshold = try reader.number(0, in: 0...255)
        trimColor = try reader.color(1)
        trimsSidesEqually = reader.flag(2) ?? false
        trimsEndsEqually = reader.flag(3) ?? false
    }

    private mutating func applyBackground(_ reader: OptionReader) throws(ServerFailure) {
        guard reader.option.arguments.count == 3 else {
            guard reader.option.arguments.count == 1 else {
                throw .notFound("The option “\(reader.option.name)” needs one or three arguments.")
            }
            return background = try reader.color(0)
        }
        var channels: [UInt8] = []
        for index in 0..<3 {
            guard let value = try reader.integer(index, in: 0...255) else {
                throw .notFound("The option “\(reader.option.name)” needs three numbers from 0 to 255.")
            }
            channels.append(UInt8(value))
        }
        background = PixelColor(red: channels[0], green: channels[1], blue: channels[2])
    }
}

/// The options of the encoded result and of the response.
extension ProcessingOptions {
    /// Applies an option of the result. Returns `false` if the option isn't one of those.
    mutating func applyResult(_ option: ServerURL.Option) throws(ServerFailure) -> Bool {
        switch option.name {
        case "quality", "q": quality = try OptionReader(option, atMost: 1).integer(0, in: 0...100) ?? 0
        case "format_quality", "fq": try applyFormatQuality(OptionReader(option))
        case "max_bytes", "mb": maxBytes = try OptionReader(option, atMost: 1).integer(0, in: 0...(1 << 30)) ?? 0
        case "format", "f", "ext": format = try OptionReader(option, atMost: 1).format(0)
        case "strip_metadata", "sm": stripsMetadata = try OptionReader(option, atMost: 1).flag(0) ?? true
        case "keep_copyright", "kcr": keepsCopyright = try OptionReader(option, atMost: 1).flag(0) ?? true
        case "strip_color_profile", "scp":
            guard try OptionReader(option, atMost: 1).flag(0) ?? true else {
                throw .notFound("The server always converts colors to sRGB.")
            }
        case "page", "pg": page = try OptionReader(option, atMost: 1).integer(0)
        case "raw": isRaw = try OptionReader(option, atMost: 1).flag(0) ?? false
        case "skip_processing", "skp":
            let reader = try OptionReader(option)
            for index in option.arguments.indices {
                if let format = try reader.format(index) { skippedFormats.insert(format) }
            }
        case "cachebuster", "cb": _ = try OptionReader(option, atMost: 1)
        case "expires", "exp":
            expires = try OptionReader(option, atMost: 1).integer(0, in: 0...(1 << 40)).flatMap { $0 > 0 ? $0 : nil }
        case "filename", "fn": try applyFilename(OptionReader(option, atMost: 2))
        case "return_attachment", "att": isAttachment = try OptionReader(option, atMost: 1).flag(0) ?? false
        default: return false
        }
        return true
    }

    private mutating func applyFormatQuality(_ reader: OptionReader) throws(ServerFailure) {
        let count = reader.option.arguments.count
        guard count % 2 == 0 else {
            throw .notFound("The option “\(reader.option.name)” needs a quality after each format.")
        }
        for index in stride(from: 0, to: count, by: 2) {
            guard let format = try reader.format(index), let value = try reader.integer(index + 1, in: 0...100) else {
                throw .notFound("The option “\(reader.option.name)” needs a quality after each format.")
            }
            formatQuality[format] = value
        }
    }

    private mutating func applyFilename(_ reader: OptionReader) throws(ServerFailure) {
        let text = try reader.required(0)
        guard reader.flag(1) == true else {
            guard let name = text.removingPercentEncoding else { throw reader.fails(text, "percent-encoded text") }
            return filename = name
        }
        guard let bytes = Base64URL.decode(text), let name = String(validating: bytes, as: UTF8.self) else {
            throw reader.fails(text, "base64url")
        }
        filename = name
    }
}
