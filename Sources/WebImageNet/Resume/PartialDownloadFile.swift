// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP
import WebImageStore

/// The file format of resume data: a signature, the digest of the remaining file, the length of the description, the
/// description, and the bytes of the body.
///
/// The digest detects truncated and modified files.
enum PartialDownloadFile {
    private struct Description: Codable {
        var plan: PartialDownload.Validator
        var stored: Date
    }

    private static let mark = Data("WIPART1\n".utf8)
    private static let headSize = 8 + 16 + 4
    /// The maximum size of the description, in bytes.
    private static let mostDescription = 256 << 10

    /// Returns the file content, or `nil` if the description can't be encoded or is too long.
    static func encode(_ point: PartialDownload) -> Data? {
        var plan = point.plan
        // Cookies and challenges concern the exchange that received them, so they aren't stored.
        plan.head.headers = plan.head.headers.withoutSecrets
        let description = Description(plan: plan, stored: point.stored)
        guard let text = try? JSONEncoder().encode(description), text.count <= mostDescription else { return nil }
        var rest = Data(capacity: 4 + text.count + point.bytes.count)
        append(UInt64(text.count), bytes: 4, to: &rest)
        rest.append(text)
        rest.append(point.bytes)
        var file = mark
        file.reserveCapacity(headSize + rest.count)
        file.append(digest(rest))
        file.append(rest)
        return file
    }

    static func decode(_ file: Data) -> PartialDownload? {
        guard file.count > headSize, file.prefix(8) == mark else { return nil }
        let rest = Data(file.dropFirst(24))
        guard digest(rest) == file.dropFirst(8).prefix(16) else { return nil }
        let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
        guard length <= mostDescription, length < rest.count - 4,
            var description = try? JSONDecoder().decode(Description.self, from: rest.dropFirst(4).prefix(length))
        else { return nil }
        let bytes = Data(rest.dropFirst(4 + length))
        // A range that begins at the end of the body isn't satisfiable (RFC 9110 14.1.2).
        guard bytes.count < description.plan.total else { return nil }
        // A file that another program wrote can contain fields that are never stored.
        description.plan.head.headers = description.plan.head.headers.withoutSecrets
        return PartialDownload(plan: description.plan, bytes: bytes, stored: description.stored)
    }

    private static func digest(_ data: Data) -> Data {
        let digest = ContentDigest(of: data)
        var bytes = Data(capacity: 16)
        append(digest.high, bytes: 8, to: &bytes)
        append(digest.low, bytes: 8, to: &bytes)
        return bytes
    }

    private static func append(_ number: UInt64, bytes count: Int, to data: inout Data) {
        for index in (0..<count).reversed() { data.append(UInt8(truncatingIfNeeded: number >> (UInt64(index) * 8))) }
    }
}
