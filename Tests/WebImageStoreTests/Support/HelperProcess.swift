// SPDX-License-Identifier: MIT

import Foundation
import WebImageStore
import WebImageTestSupport

/// Runs `store-helper`, which is located next to the test bundle.
enum HelperProcess {
    static func start(_ arguments: [String], input: Int32? = nil, output: Int32? = nil) throws -> ChildProcess {
        try ChildProcess(
            try executable().path(percentEncoded: false), arguments, in: FileManager.default.temporaryDirectory,
            input: input.map { .descriptor($0) },
            output: output.map { .descriptor($0) } ?? .file("/dev/null"), error: .descriptor(2))
    }

    /// The argument that makes the helper use ``testKey(_:)``.
    static let keyArgument = "key=" + testKeyBytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()

    struct Missing: Error {}

    private static func executable() throws -> URL {
        let places = [
            Bundle.main.bundleURL, URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent(),
            Bundle.main.bundleURL.deletingLastPathComponent(),
        ]
        for place in places {
            let file = place.appending(path: "store-helper")
            if FileManager.default.isExecutableFile(atPath: file.path) { return file }
        }
        throw Missing()
    }

    /// Returns the data of an entry as the helper writes it.
    static func payload(_ number: Int, count: Int) -> Data {
        var wanted = Data(capacity: count + 256)
        for block in 0...(count / 256) {
            wanted.append(Data(repeating: UInt8(truncatingIfNeeded: number &+ block), count: 256))
        }
        return wanted.prefix(count)
    }

    static func key(_ number: Int) -> CacheKey { CacheKey(["process", String(number)]) }

    /// Returns a Boolean value that indicates whether the entry `number` is as the helper wrote it.
    static func isWhole(_ entry: CacheEntry, _ number: Int) -> Bool {
        guard let text = entry.userData.map({ String(decoding: $0, as: UTF8.self) }), let count = Int(text) else {
            return false
        }
        return entry.key == key(number) && entry.data == payload(number, count: count)
    }
}
