// SPDX-License-Identifier: MIT

#if PDF
    import CPDF
    import Foundation
    import WebImageCore

    /// The decoders of streams, which stop at a limit.
    ///
    /// Like poppler, they return the part of a corrupt stream that they can decode.
    enum PDFFilters {
        /// The filters that this type decodes, with their abbreviations.
        private static let names = [
            "Fl": "FlateDecode", "LZW": "LZWDecode", "AHx": "ASCIIHexDecode", "A85": "ASCII85Decode",
            "RL": "RunLengthDecode", "DCT": "DCTDecode", "CCF": "CCITTFaxDecode",
        ]
        /// The filters of images, which poppler decodes.
        static let imageFilters: Set<String> = ["DCTDecode", "JPXDecode", "CCITTFaxDecode", "JBIG2Decode"]

        static func fullName(_ name: String) -> String { names[name] ?? name }

        /// Throws an ``ImageError`` if the filter is unknown or the result exceeds the limit.
        static func decode(
            _ data: ArraySlice<UInt8>, _ filter: String, _ parameters: [String: PDFValue], limit: Int
        ) throws(ImageError) -> [UInt8] {
            let output =
                switch filter {
                case "FlateDecode": try inflate(data, limit)
                case "LZWDecode": try LZW.decode(data, isEarly: parameters["EarlyChange"]?.integer != 0, limit)
                case "ASCIIHexDecode": hex(data)
                case "ASCII85Decode": base85(data)
                case "RunLengthDecode": try runs(data, limit)
                default: throw PDFBounds.corrupt("the stream filter \(filter.prefix(32)) is unknown here")
                }
            try check(output.count, limit)
            guard ["FlateDecode", "LZWDecode"].contains(filter) else { return output }
            return PDFPredictor(parameters)?.decode(output) ?? output
        }

        private static func check(_ count: Int, _ limit: Int) throws(ImageError) {
            guard count <= limit else {
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .metadataSize, limit: PDFBounds.decodedBytes, actual: PDFBounds.decodedBytes - limit + count,
                        detail: "bytes of decoded PDF streams"))
            }
        }

        private static func inflate(_ data: ArraySlice<UInt8>, _ limit: Int) throws(ImageError) -> [UInt8] {
            var output: UnsafeMutablePointer<UInt8>?
            var count = 0
            let status = data.withUnsafeBufferPointer { input in
                wi_pdf_inflate(input.baseAddress, input.count, limit, &output, &count)
            }
            defer { free(output) }
            switch status {
            case WI_PDF_OK: return output.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
            case WI_PDF_TOO_LARGE:
                try check(limit + 1, limit)
                return []
            default: throw .decoding(.outOfMemory(byteCount: limit))
            }
        }

        private static func hex(_ data: ArraySlice<UInt8>) -> [UInt8] {
            var output: [UInt8] = []
            var high: UInt8?
            for byte in data where !PDFLexer.isSpace(byte) {
                guard byte != 0x3E, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { break }
                if let first = high {
                    output.append(first << 4 | UInt8(digit))
                    high = nil
                } else {
                    high = UInt8(digit)
                }
            }
            if let high { output.append(high << 4) }
            return output
        }

        private static func base85(_ data: ArraySlice<UInt8>) -> [UInt8] {
            var output: [UInt8] = []
            var (word, count) = (UInt32(0), 0)
            func append(_ bytes: Int) {
                for place in 0..<bytes { output.append(UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32(place)))) }
            }
            for byte in data where !PDFLexer.isSpace(byte) {
                if byte == 0x7A, count == 0 {
                    output += [0, 0, 0, 0]
                    continue
                }
                guard (0x21...0x75).contains(byte) else { break }
                word = word &* 85 &+ UInt32(byte - 0x21)
                count += 1
                if count == 5 {
                    append(4)
                    (word, count) = (0, 0)
                }
            }
            if count > 1 {
                for _ in count..<5 { word = word &* 85 &+ 84 }
                append(count - 1)
            }
            return output
        }

        private static func runs(_ data: ArraySlice<UInt8>, _ limit: Int) throws(ImageError) -> [UInt8] {
            var output: [UInt8] = []
            var index = data.startIndex
            while index < data.endIndex, data[index] != 128 {
                let length = Int(data[index])
                index += 1
                if length < 128 {
                    output += data[index..<min(data.endIndex, index + length + 1)]
                    index += length + 1
                } else if index < data.endIndex {
                    output += repeatElement(data[index], count: 257 - length)
                    index += 1
                }
                try check(output.count, limit)
            }
            return output
        }

        /// The decoder of the filter `LZWDecode`.
        private enum LZW {
            static func decode(_ data: ArraySlice<UInt8>, isEarly: Bool, _ limit: Int) throws(ImageError) -> [UInt8] {
                var output: [UInt8] = []
                // Each entry is a range of the output.
                var table: [Range<Int>] = []
                var (bits, bitCount, width) = (0, 0, 9)
                var previous: Range<Int>?
                for byte in data {
                    bits = (bits << 8 | Int(byte)) & 0xFF_FFFF
                    bitCount += 8
                    guard bitCount >= width else { continue }
                    bitCount -= width
                    let code = bits >> bitCount & (1 << width - 1)
                    if code == 257 { break }
                    if code == 256 {
                        table.removeAll(keepingCapacity: true)
                        (width, previous) = (9, nil)
                        continue
                    }
                    let start = output.count
                    if code < 256 {
                        output.append(UInt8(code))
                    } else if code - 258 < table.count {
                        output += Array(output[table[code - 258]])
                    } else if let previous, code - 258 == table.count {
                        output += Array(output[previous]) + [output[previous.lowerBound]]
                    } else {
                        break
                    }
                    try check(output.count, limit)
                    if let previous, table.count < 4_096 - 258 {
                        // The previous string and the first byte of this one are next to each other.
                        table.append(previous.lowerBound..<previous.upperBound + 1)
                    }
                    previous = start..<output.count
                    let next = table.count + 258 + (isEarly ? 1 : 0)
                    width = next >= 2_048 ? 12 : next >= 1_024 ? 11 : next >= 512 ? 10 : 9
                }
                return output
            }
        }
    }

    /// The inverse of the prediction that compresses tables and images better.
    private struct PDFPredictor {
        private let kind: Int
        private let rowBytes: Int
        private let pixelBytes: Int
        private let isBytewise: Bool

        /// Returns `nil` if the parameters specify no prediction, or an invalid one.
        init?(_ parameters: [String: PDFValue]) {
            kind = parameters["Predictor"]?.integer ?? 1
            let colors = parameters["Colors"]?.integer ?? 1
            let bits = parameters["BitsPerComponent"]?.integer ?? 8
            let columns = parameters["Columns"]?.integer ?? 1
            guard kind > 1, (1...32).contains(colors), [1, 2, 4, 8, 16].contains(bits),
                (1...(1 << 24)).contains(columns)
            else { return nil }
            rowBytes = (columns * colors * bits + 7) / 8
            pixelBytes = max(1, colors * bits / 8)
            isBytewise = bits == 8
        }

        func decode(_ data: [UInt8]) -> [UInt8] {
            if kind == 2 { return isBytewise ? differences(data) : data }
            var output: [UInt8] = []
            output.reserveCapacity(data.count)
            var above = [UInt8](repeating: 0, count: rowBytes)
            var index = 0
            while index < data.count {
                let filter = data[index]
                let end = min(index + 1 + rowBytes, data.count)
                var row = Array(data[(index + 1)..<max(index + 1, end)])
                index = index + 1 + rowBytes
                for place in row.indices {
                    let left = place >= pixelBytes ? row[place - pixelBytes] : 0
                    let corner = place >= pixelBytes ? above[place - pixelBytes] : 0
                    switch filter {
                    case 1: row[place] &+= left
                    case 2: row[place] &+= above[place]
                    case 3: row[place] &+= UInt8((Int(left) + Int(above[place])) / 2)
                    case 4: row[place] &+= Self.paeth(left, above[place], corner)
                    default: break
                    }
                }
                output += row
                above.replaceSubrange(0..<row.count, with: row)
            }
            return output
        }

        private static func paeth(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
            let guess = Int(left) + Int(above) - Int(corner)
            let (a, b, c) = (abs(guess - Int(left)), abs(guess - Int(above)), abs(guess - Int(corner)))
            return a <= b && a <= c ? left : b <= c ? above : corner
        }

        private func differences(_ data: [UInt8]) -> [UInt8] {
            var output = data
            for start in stride(from: 0, to: data.count, by: rowBytes) where rowBytes > pixelBytes {
                for place in (start + pixelBytes)..<max(start + pixelBytes, min(start + rowBytes, data.count)) {
                    output[place] &+= output[place - pixelBytes]
                }
            }
            return output
        }
    }
#endif
