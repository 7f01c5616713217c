// SPDX-License-Identifier: MIT

import CLimits
import Foundation
import WebImage

/// A server of 1,000 files with known contents, so that both contenders can verify what they receive.
final class PatternServer: Sendable {
    /// The URLs, in the order of the files.
    let urls: [String]
    /// The requests for the files.
    let requests: [LoadRequest]
    /// The size of each file, in bytes.
    let lengths: [Int]
    private let server: FileServer

    init(_ settings: Settings) throws {
        var random = SplitMix(seed: 3)
        let files = (0..<1_000).map { file in
            // The distribution is skewed toward small files, as on the web.
            var bytes = Data(count: 20_000 + Int(280_000 * random.unit() * random.unit()))
            bytes.withUnsafeMutableBytes { bytes in
                if let base = bytes.baseAddress { wi_fill_pattern(Int32(file), base, bytes.count) }
            }
            return bytes
        }
        server = try FileServer(files, settings: settings)
        lengths = files.map(\.count)
        urls = server.urls
        requests = urls.compactMap { URL(string: $0) }.map { LoadRequest(url: $0) }
    }

    /// Returns a Boolean value that indicates whether `body` is the file at `index`. Only every `step`th byte is
    /// checked.
    func isRight(_ index: Int, _ body: Data, step: Int) -> Bool {
        Self.isRight(index, body, length: lengths[index], step: step)
    }

    static func isRight(_ index: Int, _ body: Data, length: Int, step: Int) -> Bool {
        body.withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress else { return false }
            return wi_has_pattern(Int32(index), base, bytes.count, length, step) != 0
        }
    }
}
