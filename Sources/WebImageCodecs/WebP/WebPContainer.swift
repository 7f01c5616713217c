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

    /// Returns the embedded profile.
    func iccProfile() -> [UInt8]? {
        var count = 0
        guard let bytes = wi_webp_container_icc(handle, &count), count <= Self.maxProfileBytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
