// SPDX-License-Identifier: MIT

import CHash
import Foundation

/// The digests of the data that crashed a helper last, so that the same data doesn't end one helper after another.
struct CrashMemory {
    private var digests: [[UInt8]] = []
    private var counts: [Int] = []

    private static let limit = 256

    /// Returns the SHA-256 digest of `data`. An attacker can't make other data with the digest of remembered data.
    static func digest(of data: Data) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        let isComplete = data.withUnsafeBytes { wi_sha256($0.baseAddress, $0.count, &digest) }
        return isComplete ? digest : []
    }

    var isEmpty: Bool { digests.isEmpty }

    /// Returns whether remembered data has this size, so that most data needs no digest.
    func mayContain(_ count: Int) -> Bool { counts.contains(count) }

    func contains(_ digest: [UInt8]) -> Bool { digests.contains(digest) }

    mutating func insert(_ digest: [UInt8], count: Int) {
        guard !digest.isEmpty, !digests.contains(digest) else { return }
        if digests.count == Self.limit {
            digests.removeFirst()
            counts.removeFirst()
        }
        digests.append(digest)
        counts.append(count)
    }
}
