// SPDX-License-Identifier: MIT

import CNetFaults
import Foundation

/// A content coding as servers apply it.
public enum CodedBody: String, Sendable, CaseIterable {
    case gzip
    case zlib
    case rawDeflate
    case brotli
    case zstd

    /// The name of the coding in Content-Encoding.
    public var name: String {
        switch self {
        case .gzip: "gzip"
        case .zlib, .rawDeflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        }
    }

    /// Returns `body` in this coding.
    public func encode(_ body: Data) -> Data {
        let room = body.count + body.count / 8 + 1_024
        var coded = Data(count: room)
        let count = coded.withUnsafeMutableBytes { target in
            body.withUnsafeBytes { source in
                switch self {
                case .gzip: wi_deflate(source.baseAddress, source.count, target.baseAddress, room, 31)
                case .zlib: wi_deflate(source.baseAddress, source.count, target.baseAddress, room, 15)
                case .rawDeflate: wi_deflate(source.baseAddress, source.count, target.baseAddress, room, -15)
                case .brotli: wi_brotli(source.baseAddress, source.count, target.baseAddress, room)
                case .zstd: wi_zstd(source.baseAddress, source.count, target.baseAddress, room)
                }
            }
        }
        return Data(coded.prefix(count))
    }
}
