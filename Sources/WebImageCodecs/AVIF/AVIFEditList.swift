// SPDX-License-Identifier: MIT

#if AVIF
    import Foundation
    import WebImageCore

    /// A writer of the loop count of an image sequence that libavif has encoded.
    ///
    /// The tracks of a sequence repeat their edit list until the duration in the header of the track is over (ISO/IEC
    /// 14496-12, sections 8.3.2 and 8.6.6), so the duration determines the number of plays. libavif before 1.0 writes no
    /// edit list, which means that the sequence repeats indefinitely.
    struct AVIFEditList {
        /// A box of the file, by the offsets of its beginning, its content, and its end.
        private struct Box {
            var name: String
            var start: Int
            var content: Int
            var end: Int
        }

        /// The file, whose boxes keep their positions until the edit lists are inserted.
        private var bytes: [UInt8]

        /// Returns a file whose tracks play `plays` times, at least once. The result is `nil` if the file doesn't have
        /// the structure that libavif writes, or if the total duration exceeds 64 bits.
        static func adding(plays: Int, to file: Data) -> Data? {
            guard plays > 0 else { return nil }
            var list = AVIFEditList(bytes: [UInt8](file))
            return list.add(plays)
        }

        private mutating func add(_ plays: Int) -> Data? {
            guard let boxes = boxes(in: 0..<bytes.count), let items = first("meta", in: boxes),
                let movie = first("moov", in: boxes), let data = first("mdat", in: boxes),
                items.end <= data.start, movie.end <= data.start,
                let parts = self.boxes(in: movie.content..<movie.end), let header = first("mvhd", in: parts)
            else { return nil }
            let tracks = parts.filter { $0.name == "trak" }
            var lists: [[UInt8]] = []
            var longest: UInt64 = 0
            for track in tracks {
                guard let (once, total) = repeatDuration(of: track, plays) else { return nil }
                lists.append(Self.editList(once, isRepeated: plays > 1))
                longest = max(longest, total)
            }
            let growth = lists.reduce(0) { $0 + $1.count }
            guard !tracks.isEmpty, number(at: header.content, 1) == 1, write(longest, 8, at: header.content + 24),
                moveItems(of: items, by: growth), grow(movie, by: growth)
            else { return nil }
            for (track, list) in zip(tracks, lists) {
                guard moveChunks(of: track, by: growth), grow(track, by: list.count) else { return nil }
            }
            // Insert from the end, so that the positions of the earlier tracks stay valid.
            for (track, list) in zip(tracks, lists).reversed() { bytes.insert(contentsOf: list, at: track.end) }
            return Data(bytes)
        }

        /// Multiplies the duration of a track, and returns the durations of one play and of all plays.
        private mutating func repeatDuration(of track: Box, _ plays: Int) -> (once: UInt64, total: UInt64)? {
            // Version 1 of the header has a duration of 64 bits.
            guard let parts = boxes(in: track.content..<track.end), first("edts", in: parts) == nil,
                let header = first("tkhd", in: parts), number(at: header.content, 1) == 1,
                let once = number(at: header.content + 28, 8), once > 0
            else { return nil }
            let (total, overflow) = once.multipliedReportingOverflow(by: UInt64(plays))
            // If all bits are set, the track repeats indefinitely.
            guard !overflow, total < .max, write(total, 8, at: header.content + 28) else { return nil }
            return (once, total)
        }

        /// Returns the box `edts` with an edit list of version 1 that contains the whole track once.
        private static func editList(_ duration: UInt64, isRepeated: Bool) -> [UInt8] {
            var list: [UInt8] = []
            list.appendBig(44 as UInt32)
            list += Array("edts".utf8)
            list.appendBig(36 as UInt32)
            list += Array("elst".utf8) + [1, 0, 0, isRepeated ? 1 : 0]
            list.appendBig(1 as UInt32)
            list.appendBig(UInt32(truncatingIfNeeded: duration >> 32))
            list.appendBig(UInt32(truncatingIfNeeded: duration))
            // The edit starts at the beginning of the media, at its own rate.
            return list + [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0]
        }

        /// Adds `growth` to the offsets of the items, which are stored after the tracks.
        private mutating func moveItems(of meta: Box, by growth: Int) -> Bool {
            // The box begins with its version and its flags.
            guard let parts = boxes(in: meta.content + 4..<meta.end), let list = first("iloc", in: parts),
                // Version 0 with 4 bytes for offsets and lengths and without base offsets.
                number(at: list.content, 1) == 0, number(at: list.content + 4, 2) == 0x4400,
                let count = number(at: list.content + 6, 2)
            else { return false }
            var offset = list.content + 8
            for _ in 0..<count {
                // The number of extents follows the ID and the reference to the file.
                guard let extents = number(at: offset + 4, 2) else { return false }
                offset += 6
                for _ in 0..<extents {
                    guard offset + 8 <= list.end, move(at: offset, by: growth) else { return false }
                    offset += 8
                }
            }
            return true
        }

        /// Adds `growth` to the offsets of the samples of a track.
        private mutating func moveChunks(of track: Box, by growth: Int) -> Bool {
            var table = track
            for name in ["mdia", "minf", "stbl", "stco"] {
                guard let parts = boxes(in: table.content..<table.end), let next = first(name, in: parts) else {
                    return false
                }
                table = next
            }
            guard let count = number(at: table.content + 4, 4), count <= (table.end - table.content) / 4 else {
                return false
            }
            for index in 0..<Int(count) {
                guard move(at: table.content + 8 + index * 4, by: growth) else { return false }
            }
            return true
        }

        private mutating func grow(_ box: Box, by growth: Int) -> Bool { move(at: box.start, by: growth) }

        /// Adds `amount` to a number of four bytes.
        private mutating func move(at offset: Int, by amount: Int) -> Bool {
            guard let value = number(at: offset, 4), value + UInt64(amount) <= UInt32.max else { return false }
            return write(value + UInt64(amount), 4, at: offset)
        }

        private func number(at offset: Int, _ count: Int) -> UInt64? {
            guard offset >= 0, offset + count <= bytes.count else { return nil }
            return bytes[offset..<offset + count].reduce(0) { $0 << 8 | UInt64($1) }
        }

        private mutating func write(_ value: UInt64, _ count: Int, at offset: Int) -> Bool {
            guard offset >= 0, offset + count <= bytes.count else { return false }
            for index in 0..<count {
                bytes[offset + index] = UInt8(truncatingIfNeeded: value >> UInt64((count - 1 - index) * 8))
            }
            return true
        }

        /// Returns the boxes in a range, or `nil` if they don't fill it. libavif writes sizes of four bytes.
        private func boxes(in range: Range<Int>) -> [Box]? {
            var boxes: [Box] = []
            var offset = range.lowerBound
            while offset < range.upperBound {
                guard offset + 8 <= range.upperBound, let size = number(at: offset, 4), size >= 8,
                    size <= range.upperBound - offset
                else { return nil }
                let name = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
                boxes.append(Box(name: name, start: offset, content: offset + 8, end: offset + Int(size)))
                offset += Int(size)
            }
            return boxes
        }

        private func first(_ name: String, in boxes: [Box]) -> Box? { boxes.first { $0.name == name } }
    }
#endif
