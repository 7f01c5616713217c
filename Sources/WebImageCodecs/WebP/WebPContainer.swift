// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// The chunks of a WebP file, which may be truncated. This type owns a handle of libwebpdemux.
struct WebPContainer: ~Copyable {
    private let handle: OpaquePointer

    /// The maximum size of a profile in bytes. Larger profiles are ignored.
    static let maxProfileBytes = 4 << 20

    /// Opens a container. The initializer returns `nil` if the data is too short. `bytes` must outlive the container.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let handle = wi_webp_container_open(bytes.baseAddress, bytes.count) else { return nil }
        self.handle = handle
    }

    deinit { wi_webp_container_close(handle) }

    var isComplete: Bool { wi_webp_container_is_complete(handle) != 0 }
    var frameCount: Int { Int(wi_webp_container_frame_count(handle)) }
    /// The stored loop count. 0 repeats indefinitely.
    var loopCount: Int { Int(wi_webp_container_loop_count(handle)) }

    /// Returns the frame at `index`, starting from 0, or `nil` if no data of the frame was received.
    func frame(at index: Int) -> wi_webp_frame? {
        var frame = wi_webp_frame()
        guard wi_webp_container_frame(handle, UInt32(clamping: index), &frame) != 0 else { return nil }
        return frame
    }

    /// The offset of the content of the chunk after `VP8X`, in bytes (RFC 9649, section 2.7).
    static let leadingChunkHeaderEnd = 38

    /// Returns the range of a profile that directly follows the chunk `VP8X`, even if `start` doesn't contain all of it
    /// yet. Returns `nil` if another chunk follows or the profile is too large.
    static func leadingProfile(in start: [UInt8]) -> Range<Int>? {
        let end = leadingChunkHeaderEnd
        guard start.count >= end, start[(end - 8)..<(end - 4)].elementsEqual("ICCP".utf8) else { return nil }
        let count = start[(end - 4)..<end].reversed().reduce(0) { $0 << 8 | Int($1) }
        return count <= maxProfileBytes ? end..<(end + count) : nil
    }

    func iccProfile() -> [UInt8]? {
        var count = 0
        guard let bytes = wi_webp_container_icc(handle, &count), count <= Self.maxProfileBytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
