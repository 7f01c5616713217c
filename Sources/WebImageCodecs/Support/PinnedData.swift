// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension Data {
    /// Calls `body` with contiguous bytes. The pointer is valid only during the call. Throws
    /// ``ImageError/DecodingFailure/Reason/noData``, or the error that `body` throws.
    func withBytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        let outcome = withUnsafeBytes { raw -> Swift.Result<Result, ImageError> in
            let bytes = raw.bindMemory(to: UInt8.self)
            guard bytes.baseAddress != nil, !bytes.isEmpty else { return .failure(.decoding(.noData)) }
            do throws(ImageError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

/// Encoded bytes at a stable address. Libraries that decode frame by frame keep pointers into their input.
///
/// Safe: only `init` writes the bytes.
final class PinnedData: @unchecked Sendable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    init(_ data: Data) {
        storage = .allocate(capacity: data.count)
        _ = storage.initialize(from: data)
    }

    deinit { storage.deallocate() }

    /// All bytes. The pointer is valid during the lifetime of this object.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(storage) }
    var count: Int { storage.count }
}

extension ImageInfo? {
    /// The orientation to apply. Without a header, the image keeps its stored orientation.
    var orientation: ImageOrientation { self?.orientation ?? .up }

    /// Throws ``ImageError/DecodingFailure/Reason/contradictsHeader(_:)`` if the codec found another size than the
    /// probe, because the limits were checked against the size of the probe.
    func requireAgreement(on size: PixelSize, format: ImageFormat) throws(ImageError) {
        guard let self, self.storedSize != size else { return }
        throw .decoding(.contradictsHeader(format: format, reason: "the size is \(size) instead of \(self.storedSize)"))
    }
}

extension ImageDecodingOptions {
    /// Throws ``ImageError/RequestFailure/frameNotFound(index:frameCount:)`` if the requested index isn't 0, because a
    /// still image has only one frame.
    func requireStill() throws(ImageError) {
        if case .index(let index) = frames, index != 0 { throw .request(.frameNotFound(index: index, frameCount: 1)) }
    }
}
