// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension Data {
    /// Calls `body` with contiguous bytes. The pointer is valid only during the call.
    ///
    /// - Throws: ``DecodeError/empty``, or the error that `body` throws.
    func withBytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(ImageError) -> Result
    ) throws(ImageError) -> Result {
        let outcome = withUnsafeBytes { raw -> Swift.Result<Result, ImageError> in
            let bytes = raw.bindMemory(to: UInt8.self)
            guard bytes.baseAddress != nil, !bytes.isEmpty else { return .failure(.decode(.empty)) }
            do throws(ImageError) { return .success(try body(bytes)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}

/// Encoded bytes at a stable address. Libraries that decode frame by frame keep pointers into their input.
final class EncodedBytes: @unchecked Sendable {
    // Safe: only `init` writes the bytes.
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

extension ImageProbe? {
    /// The orientation to apply. Without a header, the image keeps its stored orientation.
    var orientation: Orientation { self?.orientation ?? .up }

    /// Checks that the codec found the same size as the probe, because the limits were checked against the size of the
    /// probe.
    ///
    /// - Throws: ``DecodeError/inconsistent(format:reason:)`` if the sizes differ.
    func requireAgreement(on size: PixelSize, format: ImageFormat) throws(ImageError) {
        guard let self, self.rawSize != size else { return }
        throw .decode(.inconsistent(format: format, reason: "the size is \(size) instead of \(self.rawSize)"))
    }
}

extension DecodeOptions {
    /// Checks that the requested frame exists in a still image, which has only one.
    ///
    /// - Throws: ``RequestError/noSuchFrame(index:count:)`` if the index isn't 0.
    func requireStill() throws(ImageError) {
        if case .single(let index) = frames, index != 0 { throw .request(.noSuchFrame(index: index, count: 1)) }
    }
}
