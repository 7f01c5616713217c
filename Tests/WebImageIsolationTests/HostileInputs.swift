// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageTestSupport

/// Hostile inputs that a seed determines: fixtures of all formats with changes.
struct HostileInputs: Sendable {
    /// An input and its description.
    struct Input: Sendable {
        let seed: UInt64
        /// A number that selects the use of the input. It doesn't depend on the format.
        let choice: UInt64
        let data: Data
        let description: String
    }

    private struct File: Sendable {
        let name: String
        let data: Data
        let format: ImageFormat?

        init(name: String, data: Data) {
            (self.name, self.data, format) = (name, data, ImageFormat(sniffing: data))
        }
    }

    private let files: [File]
    /// The places of the files of each format.
    private let formats: [ImageFormat?: [Int]]
    /// The formats in a fixed order, so that each format has the same number of inputs.
    private let order: [ImageFormat?]

    /// Larger files make the test slower without other effects.
    private static let maxFile = 256 << 10

    init() throws {
        var files = try Images.files.map { File(name: $0, data: try Images.data($0)) }
        files += try Self.images(in: Images.directory.appending(path: "colors"))
        let package = Images.directory.deletingLastPathComponent().deletingLastPathComponent()
        files += try Self.images(in: package.appending(path: "Fuzz/Corpora"))
        files.removeAll { $0.data.count > Self.maxFile }
        self.files = files
        formats = Dictionary(grouping: files.indices) { [files] in files[$0].format }
        order = formats.keys.sorted { ($0?.rawValue ?? "") < ($1?.rawValue ?? "") }
    }

    /// Returns the images in a directory and in its subdirectories.
    private static func images(in directory: URL) throws -> [File] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
        return names.compactMap { name in
            guard let data = FileManager.default.contents(atPath: directory.appending(path: name).path) else {
                return nil
            }
            let file = File(name: "\(directory.lastPathComponent)/\(name)", data: data)
            return file.format?.isImage == true ? file : nil
        }
    }

    /// Returns the input of a seed.
    func input(_ seed: UInt64) -> Input {
        var random = SeededGenerator(seed: seed)
        let format = order[Int(seed % UInt64(order.count))]
        let places = formats[format] ?? [0]
        let file = files[places[Int.random(in: 0..<places.count, using: &random)]]
        var bytes = [UInt8](file.data)
        var names: [String] = []
        for _ in 0..<[1, 1, 1, 2, 3][Int.random(in: 0..<5, using: &random)] {
            let other = files[places[Int.random(in: 0..<places.count, using: &random)]]
            names.append(change(&bytes, other, &random))
        }
        return Input(
            seed: seed, choice: random.next(), data: Data(bytes),
            description: "\(file.name): \(names.joined(separator: ", "))")
    }

    private func change(_ bytes: inout [UInt8], _ other: File, _ random: inout SeededGenerator) -> String {
        guard !bytes.isEmpty else { return "empty" }
        /// A position, of which most are in the headers at the beginning.
        func position(_ random: inout SeededGenerator) -> Int {
            let limit = Bool.random(using: &random) ? min(bytes.count, 256) : bytes.count
            return Int.random(in: 0..<limit, using: &random)
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1:
            let count = 1 << Int.random(in: 0..<6, using: &random)
            for _ in 0..<count { bytes[position(&random)] ^= 1 << UInt8.random(in: 0..<8, using: &random) }
            return "\(count) bits"
        case 2:
            bytes.removeLast(Int.random(in: 1...bytes.count, using: &random))
            return "truncated"
        case 3: return splice(&bytes, other, position(&random), &random)
        case 4, 5: return edit(&bytes, position(&random), &random)
        case 6:
            let from = position(&random)
            let count = min(Int.random(in: 1...512, using: &random), bytes.count - from)
            let part = Array(bytes[from..<from + count])
            let to = position(&random)
            let repeats = 1 << Int.random(in: 0..<5, using: &random)
            for _ in 0..<repeats { bytes.insert(contentsOf: part, at: to) }
            return "\(count) bytes repeated \(repeats) times"
        default:
            let from = position(&random)
            let count = min(Int.random(in: 1...64, using: &random), bytes.count - from)
            if Bool.random(using: &random) {
                bytes.removeSubrange(from..<from + count)
                return "\(count) bytes removed"
            }
            let value = UInt8.random(in: 0...255, using: &random)
            for at in from..<from + count { bytes[at] = value }
            return "\(count) bytes filled"
        }
    }

    private func splice(
        _ bytes: inout [UInt8], _ other: File, _ position: Int, _ random: inout SeededGenerator
    ) -> String {
        let from = Int.random(in: 0..<max(1, other.data.count), using: &random)
        bytes = Array(bytes[..<position]) + other.data.dropFirst(from)
        return "spliced with \(other.name)"
    }

    /// Overwrites a field with a number at which arithmetic often fails.
    private func edit(_ bytes: inout [UInt8], _ position: Int, _ random: inout SeededGenerator) -> String {
        let size = [1, 2, 4, 8][Int.random(in: 0..<4, using: &random)]
        let values: [UInt64] = [
            0, 1, 2, 0x7F, 0x80, 0xFF, 0x100, 0x7FFF, 0x8000, 0xFFFF, 0x1_0000, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF,
            .max, .max - 1, 16_384, 65_500, UInt64(bytes.count), UInt64.random(in: 0...(.max), using: &random),
        ]
        let value = values[Int.random(in: 0..<values.count, using: &random)]
        let isBigEndian = Bool.random(using: &random)
        for index in 0..<size where position + index < bytes.count {
            let shift = 8 * UInt64(isBigEndian ? size - 1 - index : index)
            bytes[position + index] = UInt8(truncatingIfNeeded: value >> shift)
        }
        return "\(value) as \(size) bytes at \(position)"
    }
}
