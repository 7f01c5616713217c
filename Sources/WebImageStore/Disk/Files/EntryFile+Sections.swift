// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

extension StoredResponseHead {
    /// The form is: status u16 | final URL | request time | response time | header fields | varying header fields. A
    /// list of header fields is a 32-bit count followed by names and values.
    func encoded() -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(UInt16(clamping: head.statusCode))
        writer.put(finalURL)
        writer.put(requestTime)
        writer.put(responseTime)
        for fields in [headersForFile.withoutSecrets, varyHeaders] {
            writer.put(UInt32(clamping: fields.lines.count))
            for line in fields.lines {
                writer.put(line.name)
                writer.put(line.value)
            }
        }
        return writer.bytes
    }

    init?(encoded bytes: UnsafeRawBufferPointer) {
        var reader = BinaryReader(bytes)
        do throws(MalformedData) {
            let status = try reader.number(UInt16.self)
            let finalURL = try reader.text()
            let (request, response) = (try reader.value(Date.self), try reader.value(Date.self))
            let (fields, varying) = (try HTTPHeaderFields(from: &reader), try HTTPHeaderFields(from: &reader))
            try reader.finish()
            self.init(
                head: HTTPResponseHead(statusCode: Int(status), headers: fields), varyHeaders: varying,
                finalURL: finalURL, requestTime: request, responseTime: response)
        } catch {
            return nil
        }
        extractRedirectLifetime()
    }
}

extension HTTPHeaderFields {
    fileprivate init(from reader: inout BinaryReader) throws(MalformedData) {
        var lines: [Field] = []
        for _ in 0..<(try reader.number(UInt32.self)) {
            lines.append(Field(name: try reader.text(), value: try reader.text()))
        }
        self.init(lines)
    }
}

extension ImageInfo {
    /// Encodes the probe as format | width, height, orientation, depth, frames, loops, and smallest file as i64 | flags
    /// u8.
    ///
    /// If the flags indicate them, the color primaries and the transfer function, then the width and height of the clean
    /// aperture, and then the rows per unit follow as i64.
    func encoded() -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(format.rawValue)
        for number in [
            storedSize.width, storedSize.height, orientation.rawValue, bitDepth, frameCount, loopCount, smallestFile,
        ] {
            writer.put(Int64(number))
        }
        let facts = [
            hasAlpha, frameCountIsExact, hasICCProfile, isProgressive, codePoints != nil, cleanAperture != nil,
            isLosslessWebP, rowsPerUnit != nil,
        ]
        writer.put(facts.enumerated().reduce(UInt8(0)) { $0 | ($1.element ? 1 << $1.offset : 0) })
        let extras = [
            codePoints?.primaries, codePoints?.transfer, cleanAperture?.width, cleanAperture?.height, rowsPerUnit,
        ]
        for number in extras.compactMap({ $0 }) { writer.put(Int64(number)) }
        return writer.bytes
    }

    init?(encoded bytes: UnsafeRawBufferPointer) {
        var reader = BinaryReader(bytes)
        guard let format = try? reader.text() else { return nil }
        // Don't use arrays or dictionaries, because every read of an entry would allocate them.
        func number() -> Int? { try? reader.int() }
        guard let width = number(), let height = number(), let rotation = number(), let bitDepth = number(),
            let frameCount = number(), let loopCount = number(), let smallestFile = number(),
            let flags = try? reader.number(UInt8.self)
        else { return nil }
        func pair(_ flag: UInt8) -> (isValid: Bool, values: (Int, Int)?) {
            guard flags & flag != 0 else { return (true, nil) }
            guard let first = number(), let second = number() else { return (false, nil) }
            return (true, (first, second))
        }
        let codePoints = pair(16)
        let cleanAperture = pair(32)
        guard codePoints.isValid, cleanAperture.isValid else { return nil }
        var rowsPerUnit: Int?
        if flags & 128 != 0 {
            guard let rows = number(), rows > 0 else { return nil }
            rowsPerUnit = rows
        }
        guard reader.isAtEnd, width >= 0, height >= 0, let orientation = ImageOrientation(rawValue: rotation)
        else { return nil }
        self.init(
            format: ImageFormat(rawValue: format), storedSize: PixelSize(width: width, height: height),
            orientation: orientation, bitDepth: bitDepth, hasAlpha: flags & 1 != 0, frameCount: frameCount,
            frameCountIsExact: flags & 2 != 0, loopCount: loopCount, hasICCProfile: flags & 4 != 0,
            isProgressive: flags & 8 != 0, smallestFile: smallestFile,
            cleanAperture: cleanAperture.values.map { PixelSize(width: $0.0, height: $0.1) },
            codePoints: codePoints.values.map { ColorCodePoints(primaries: $0.0, transfer: $0.1) },
            isLosslessWebP: flags & 64 != 0, rowsPerUnit: rowsPerUnit)
    }
}

extension Set<String> {
    /// Encodes the tags as a 32-bit count followed by the sorted strings.
    func encoded() -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(UInt32(clamping: count))
        for tag in sorted() { writer.put(tag) }
        return writer.bytes
    }

    /// Returns the tags at the beginning of the data and their encoded size in bytes, or `nil` if the bytes aren't
    /// valid.
    static func decoded(_ bytes: UnsafeRawBufferPointer) -> (Set<String>, Int)? {
        var reader = BinaryReader(bytes)
        guard let count = try? reader.number(UInt32.self), count <= CacheEntry.tagLimit else { return nil }
        var tags: Set<String> = []
        for _ in 0..<count {
            guard let tag = try? reader.text() else { return nil }
            tags.insert(tag)
        }
        return (tags, bytes.count - reader.remaining)
    }
}
