// SPDX-License-Identifier: MIT

import CWebP
import WebImageCore

/// The chunks of a WebP file that may end early; owns libwebpdemux's handle.
struct WebPContainer: ~Copyable {
    private let handle: OpaquePointer

    /// Longer profiles are ignored.
    static let maxProfileBytes = 4 << 20

    /// Nil where there is nothing to see yet. `bytes` must outlive the container.
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let handle = wi_webp_container_open(bytes.baseAddress, bytes.count) else { return nil }
        self.handle = handle
    }

    deinit { wi_webp_container_close(handle) }

    var isComplete: Bool { wi_webp_container_is_complete(handle) != 0 }
    var frameCount: Int { Int(wi_webp_container_frame_count(handle)) }
    /// As stored, 0 is for ever.
    var loopCount: Int { Int(wi_webp_container_loop_count(handle)) }

    /// The frame at `index` from 0; nil where it has not arrived at all.
    func frame(at index: Int) -> wi_webp_frame? {
        var frame = wi_webp_frame()
        guard wi_webp_container_frame(handle, UInt32(clamping: index), &frame) != 0 else { return nil }
        return frame
    }

    /// The embedded profile.
    func iccProfile() -> [UInt8]? {
        var count = 0
        guard let bytes = wi_webp_container_icc(handle, &count), count <= Self.maxProfileBytes else { return nil }
        return [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
