// SPDX-License-Identifier: MIT

#if PDF
    import Foundation
    import WebImageCore

    /// The objects of a PDF document, which are read when they're needed.
    ///
    /// If the cross-reference table is invalid, the objects are found by their keywords, as poppler does.
    final class PDFFile {
        private enum Place { case offset(Int), objectStream(Int) }

        private let bytes: ArraySlice<UInt8>
        private var places: [Int: Place] = [:]
        private(set) var trailer: [String: PDFValue] = [:]
        private var cache: [Int: PDFObject] = [:]
        /// The objects that are being read, so that a reference in their own description isn't followed.
        private var open: Set<Int> = []
        private var isRepaired = false
        private(set) var remainingValues = PDFBounds.values
        private var remainingBytes: Int
        /// The bytes in which ends of streams may still be searched.
        private var remainingSearch: Int

        /// Reads the table of a document. Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        init(_ data: Data) throws(ImageError) {
            let all = [UInt8](data)
            // Offsets begin at the header.
            let header = Self.find("%PDF-", in: all[...], from: 0, to: min(all.count, 1_024)) ?? 0
            bytes = ArraySlice(Array(all[header...]))
            remainingBytes = PDFBounds.decodedBytes
            remainingSearch = (bytes.count + 65_536) * 16
            if try !readTable() { try repair() }
            guard trailer["Encrypt"] == nil || trailer["Encrypt"] == .null else {
                throw .decoding(.unsupportedFeature(format: .pdf, feature: PDFBounds.encryption))
            }
            if try resolve(trailer["Root"]).dictionary["Pages"] == nil, !isRepaired { try repair() }
        }

        var count: Int { bytes.count }

        // MARK: Objects

        /// Returns the object to which a value refers, or the value itself.
        func resolve(_ value: PDFValue?) throws(ImageError) -> PDFObject {
            var value = value ?? .null
            var steps = 0
            while case .reference(let number) = value {
                let object = try self.object(number)
                guard case .reference = object.value else { return object }
                value = object.value
                steps += 1
                try DrawingBounds.check(steps, PDFBounds.nesting, "PDF references to references")
            }
            return PDFObject(value: value)
        }

        /// Returns the object with a number, or `null` if there is none.
        private func object(_ number: Int) throws(ImageError) -> PDFObject {
            if let known = cache[number] { return known }
            guard let place = places[number], open.insert(number).inserted else { return PDFObject(value: .null) }
            defer { open.remove(number) }
            // The length of a stream can be an object that is a stream itself.
            try DrawingBounds.check(open.count, PDFBounds.nesting, "PDF objects that describe each other")
            switch place {
            case .offset(let offset):
                if let (found, object) = try read(at: offset), found == number {
                    cache[number] = object
                } else if !isRepaired {
                    try repair()
                    open.remove(number)
                    return try self.object(number)
                }
            case .objectStream(let stream): try readObjectStream(stream)
            }
            let object = cache[number] ?? PDFObject(value: .null)
            cache[number] = object
            return object
        }

        /// Reads an object with its number at an offset.
        private func read(at offset: Int) throws(ImageError) -> (number: Int, object: PDFObject)? {
            guard offset >= 0, offset < bytes.count else { return nil }
            var lexer = PDFLexer(bytes, at: offset, values: remainingValues)
            defer { remainingValues = min(remainingValues, lexer.remainingValues) }
            guard case .value(.number(let number))? = try lexer.token(), case .value(.number)? = try lexer.token(),
                case .keyword("obj")? = try lexer.token(), number >= 0, number < 1e9
            else { return nil }
            let value = try lexer.value() ?? .null
            var object = PDFObject(value: value)
            guard case .dictionary(let entries) = value else { return (Int(number), object) }
            let end = lexer.index
            guard case .keyword("stream")? = try lexer.token() else {
                lexer.index = end
                return (Int(number), object)
            }
            var start = lexer.index
            if start < bytes.endIndex, bytes[start] == 0x0D { start += 1 }
            if start < bytes.endIndex, bytes[start] == 0x0A { start += 1 }
            remainingValues = lexer.remainingValues
            object.stream = try stream(from: start, length: entries["Length"])
            return (Int(number), object)
        }

        private func stream(from start: Int, length: PDFValue?) throws(ImageError) -> ArraySlice<UInt8> {
            if let length = try resolve(length).value.integer, length >= 0, length <= bytes.endIndex - start {
                var lexer = PDFLexer(bytes, at: start + length, values: 4)
                if case .keyword("endstream")? = try lexer.token() { return bytes[start..<(start + length)] }
            }
            let end = Self.find("endstream", in: bytes, from: start, to: bytes.endIndex) ?? bytes.endIndex
            remainingSearch -= end - start
            guard remainingSearch >= 0 else { throw PDFBounds.corrupt("many streams have no valid length") }
            return bytes[start..<end]
        }

        private func readObjectStream(_ number: Int) throws(ImageError) {
            guard case .offset? = places[number] else { return }
            let container = try object(number)
            guard container.stream != nil else { return }
            let data = try decoded(container)[...]
            let first = try resolve(container.dictionary["First"]).value.integer ?? 0
            let count = try resolve(container.dictionary["N"]).value.integer ?? 0
            try DrawingBounds.check(count, PDFBounds.objects, "objects of a PDF object stream")
            var header = PDFLexer(data, values: remainingValues, hasReferences: false)
            for _ in 0..<max(0, count) {
                guard case .value(.number(let object))? = try header.token(),
                    case .value(.number(let offset))? = try header.token(), object >= 0, object < 1e9, offset >= 0,
                    offset < 1e9
                else { break }
                remainingValues = header.remainingValues
                // A newer version of the object can be elsewhere.
                guard case .objectStream(number)? = places[Int(object)], cache[Int(object)] == nil else { continue }
                var lexer = PDFLexer(data, at: first + Int(offset), values: remainingValues)
                cache[Int(object)] = PDFObject(value: try lexer.value() ?? .null)
                remainingValues = lexer.remainingValues
            }
        }

        // MARK: Streams

        func filters(_ object: PDFObject) throws(ImageError) -> [(name: String, parameters: [String: PDFValue])] {
            let entries = object.dictionary
            let names = try list(entries["Filter"] ?? entries["F"])
            let parameters = try list(entries["DecodeParms"] ?? entries["DP"])
            try DrawingBounds.check(names.count, PDFBounds.filters, "filters of one PDF stream")
            var result: [(String, [String: PDFValue])] = []
            for (place, value) in names.enumerated() {
                var values: [String: PDFValue] = [:]
                if place < parameters.count {
                    for (key, value) in try resolve(parameters[place]).dictionary {
                        values[key] = try resolve(value).value
                    }
                }
                result.append((PDFFilters.fullName(try resolve(value).value.name ?? ""), values))
            }
            return result
        }

        /// Returns the values of an array, or the value itself.
        func list(_ value: PDFValue?) throws(ImageError) -> [PDFValue] {
            switch try resolve(value).value {
            case .null: []
            case .array(let values): values
            default: value.map { [$0] } ?? []
            }
        }

        /// Returns the data of a stream. Throws an ``ImageError/DecodingFailure`` or an ``ImageError/LimitFailure``.
        func decoded(_ object: PDFObject) throws(ImageError) -> [UInt8] {
            let (data, rest) = try partlyDecoded(object)
            guard rest.isEmpty else { throw PDFBounds.corrupt("a stream has the filter of an image") }
            // Objects can share the bytes of a stream without filters.
            if data.startIndex != 0 { remainingBytes -= data.count }
            guard remainingBytes >= 0 else {
                let limit = PDFBounds.decodedBytes
                throw .limitExceeded(
                    ImageError.LimitFailure(
                        .metadataSize, limit: limit, actual: limit - remainingBytes,
                        detail: "bytes of decoded PDF streams"))
            }
            return Array(data)
        }

        /// Returns the data of a stream up to a filter of images, and the remaining filters.
        func partlyDecoded(_ object: PDFObject) throws(ImageError) -> (
            data: ArraySlice<UInt8>, rest: ArraySlice<(name: String, parameters: [String: PDFValue])>
        ) {
            var data = object.stream ?? []
            let filters = try self.filters(object)
            for (place, filter) in filters.enumerated() {
                guard !PDFFilters.imageFilters.contains(filter.name) else { return (data, filters[place...]) }
                data = ArraySlice(
                    try PDFFilters.decode(data, filter.name, filter.parameters, limit: remainingBytes))
                remainingBytes -= data.count
            }
            return (data, [])
        }

        // MARK: Tables

        /// Reads the sections of the cross-reference table, beginning with the newest one.
        private func readTable() throws(ImageError) -> Bool {
            let tail = max(0, bytes.count - 1_024)
            guard let place = Self.findLast("startxref", in: bytes, from: tail) else { return false }
            var lexer = PDFLexer(bytes, at: place + 9, values: 4, hasReferences: false)
            guard case .value(.number(let start))? = try lexer.token() else { return false }
            var next = [start]
            var seen: Set<Double> = []
            while let offset = next.popLast() {
                // A cycle ends here.
                guard seen.insert(offset).inserted else { continue }
                try DrawingBounds.check(seen.count, PDFBounds.sections, "sections of a PDF cross-reference table")
                guard offset >= 0, offset < Double(bytes.count), let entries = try readSection(at: Int(offset))
                else { return false }
                trailer.merge(entries) { newest, _ in newest }
                // The section of a hybrid file counts before the previous one.
                for key in ["Prev", "XRefStm"] { if let number = entries[key]?.number { next.append(number) } }
            }
            return trailer["Root"] != nil
        }

        private func readSection(at offset: Int) throws(ImageError) -> [String: PDFValue]? {
            var lexer = PDFLexer(bytes, at: offset, values: remainingValues)
            lexer.skipSpaces()
            guard bytes[lexer.index...].starts(with: "xref".utf8) else { return try readStreamSection(at: offset) }
            defer { remainingValues = min(remainingValues, lexer.remainingValues) }
            _ = try lexer.token()
            while let token = try lexer.token() {
                if token == .keyword("trailer") {
                    guard case .dictionary(let entries)? = try lexer.value() else { return nil }
                    return entries
                }
                guard case .value(.number(let first)) = token, case .value(.number(let count))? = try lexer.token(),
                    first >= 0, count >= 0, first < 1e9
                else { return nil }
                try DrawingBounds.check(count, Double(PDFBounds.objects), "objects of a PDF document")
                for number in Int(first)..<(Int(first) + Int(count)) {
                    guard case .value(.number(let place))? = try lexer.token(),
                        case .value(.number)? = try lexer.token(), case .keyword(let kind)? = try lexer.token()
                    else { return nil }
                    if kind == "n", place > 0, place < 1e12 { try add(number, .offset(Int(place))) }
                }
            }
            return nil
        }

        private func add(_ number: Int, _ place: Place) throws(ImageError) {
            guard places[number] == nil else { return }
            places[number] = place
            try DrawingBounds.check(places.count, PDFBounds.objects, "objects of a PDF document")
        }

        private func readStreamSection(at offset: Int) throws(ImageError) -> [String: PDFValue]? {
            guard let (_, object) = try read(at: offset), object.stream != nil,
                case .array(let widths)? = object.dictionary["W"], widths.count == 3
            else { return nil }
            let sizes = widths.map { $0.integer ?? -1 }
            guard sizes.allSatisfy({ (0...8).contains($0) }), sizes.reduce(0, +) > 0 else { return nil }
            let data = try decoded(object)
            var ranges = try list(object.dictionary["Index"]).compactMap(\.integer)
            if ranges.isEmpty { ranges = [0, object.dictionary["Size"]?.integer ?? 0] }
            var index = 0
            func field(_ place: Int) -> Int {
                var value: UInt64 = 0
                for _ in 0..<sizes[place] {
                    value = value << 8 | UInt64(data[index])
                    index += 1
                }
                return Int(min(value, 1 << 40))
            }
            for place in stride(from: 0, to: ranges.count - 1, by: 2) {
                guard ranges[place] >= 0, ranges[place] < 1 << 30 else { return nil }
                var number = ranges[place]
                var rest = ranges[place + 1]
                while rest > 0, index + sizes[0] + sizes[1] + sizes[2] <= data.count {
                    let kind = sizes[0] == 0 ? 1 : field(0)
                    let value = field(1)
                    _ = field(2)
                    if kind == 1 { try add(number, .offset(value)) }
                    if kind == 2 { try add(number, .objectStream(value)) }
                    number += 1
                    rest -= 1
                }
            }
            return object.dictionary
        }

        // MARK: Repair

        /// Finds the objects by their keywords. The last one with a number counts.
        private func repair() throws(ImageError) {
            isRepaired = true
            places = [:]
            cache = [:]
            var objectStreams: [Int] = []
            var index = 0
            while let place = Self.find("obj", in: bytes, from: index, to: bytes.endIndex) {
                index = place + 3
                guard let (number, offset) = Self.header(before: place, in: bytes) else { continue }
                places[number] = .offset(offset)
                try DrawingBounds.check(places.count, PDFBounds.objects, "objects of a PDF document")
                let head = bytes[index..<min(index + 256, bytes.endIndex)]
                if Self.find("/ObjStm", in: head, from: head.startIndex, to: head.endIndex) != nil {
                    objectStreams.append(number)
                }
            }
            for number in objectStreams { try addObjects(ofStream: number) }
            try repairTrailer()
        }

        /// Returns the number and the offset of the object whose keyword `obj` is at a place.
        private static func header(before place: Int, in bytes: ArraySlice<UInt8>) -> (number: Int, offset: Int)? {
            var index = place
            func skip(_ matches: (UInt8) -> Bool) -> Int {
                let end = index
                while index > bytes.startIndex, end - index < 12, matches(bytes[index - 1]) { index -= 1 }
                return end - index
            }
            func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
            guard skip(PDFLexer.isSpace) > 0, skip(isDigit) > 0, skip(PDFLexer.isSpace) > 0 else { return nil }
            let end = index
            guard skip(isDigit) > 0, let number = Int(String(decoding: bytes[index..<end], as: UTF8.self)),
                number < 1 << 30
            else { return nil }
            return (number, index)
        }

        private func addObjects(ofStream number: Int) throws(ImageError) {
            let container = try object(number)
            guard container.stream != nil else { return }
            var lexer = PDFLexer(try decoded(container)[...], values: remainingValues, hasReferences: false)
            defer { remainingValues = lexer.remainingValues }
            for _ in 0..<max(0, min(PDFBounds.objects, container.dictionary["N"]?.integer ?? 0)) {
                guard case .value(.number(let object))? = try lexer.token(), case .value(.number)? = try lexer.token(),
                    object >= 0, object < 1e9
                else { return }
                // A corrupt file doesn't show which version is newer.
                try add(Int(object), .objectStream(number))
            }
        }

        private func repairTrailer() throws(ImageError) {
            var index = 0
            while let place = Self.find("trailer", in: bytes, from: index, to: bytes.endIndex) {
                index = place + 7
                var lexer = PDFLexer(bytes, at: index, values: remainingValues)
                if case .dictionary(let entries)? = try lexer.value() {
                    trailer.merge(entries) { _, newest in newest }
                }
                remainingValues = lexer.remainingValues
            }
            if try resolve(trailer["Root"]).dictionary["Pages"] != nil { return }
            for number in places.keys.sorted() {
                let entries = try object(number).dictionary
                if entries["Encrypt"] != nil, entries["Root"] != nil { trailer["Encrypt"] = entries["Encrypt"] }
                if entries["Type"] == .name("Catalog"), entries["Pages"] != nil { trailer["Root"] = .reference(number) }
            }
            guard trailer["Root"] != nil else { throw PDFBounds.corrupt("it has no catalog") }
        }

        // MARK: Searching

        private static func find(_ word: String, in bytes: ArraySlice<UInt8>, from start: Int, to end: Int) -> Int? {
            let word = Array(word.utf8)
            return bytes.withUnsafeBufferPointer { buffer in
                let base = bytes.startIndex
                guard start >= base, end <= bytes.endIndex, end - start >= word.count else { return nil }
                for place in (start - base)...(end - base - word.count) where buffer[place] == word[0] {
                    var count = 1
                    while count < word.count, buffer[place + count] == word[count] { count += 1 }
                    if count == word.count { return place + base }
                }
                return nil
            }
        }

        private static func findLast(_ word: String, in bytes: ArraySlice<UInt8>, from start: Int) -> Int? {
            var last: Int?
            var index = start
            while let place = find(word, in: bytes, from: index, to: bytes.endIndex) {
                last = place
                index = place + 1
            }
            return last
        }
    }
#endif
