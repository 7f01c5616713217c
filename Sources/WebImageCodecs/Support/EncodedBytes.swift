// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore

extension Data {
    /// Runs `body` with the bytes in one piece. The pointer is valid during the call only.
    ///
    /// - Throws: ``DecodeError/empty`` and what `body` throws.
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

/// Encoded bytes at an address that stays: libraries that decode frame by frame keep pointers into their input.
final class EncodedBytes: @unchecked Sendable {
    // Sendable: the bytes are written in init only.
    private let storage: UnsafeMutableBufferPointer<UInt8>

    init(_ data: Data) {
        storage = .allocate(capacity: data.count)
        _ = storage.initialize(from: data)
    }

    deinit { storage.deallocate() }

    /// All bytes; valid as long as this object lives.
    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(storage) }
    /// Number of bytes.
    var count: Int { storage.count }
}

extension ImageProbe? {
    /// The orientation to be applied; without a header the picture is taken as it is stored.
    var orientation: Orientation { self?.orientation ?? .up }

    /// - Throws: ``DecodeError/inconsistent(format:reason:)`` where the codec found another size than the probe, on
    ///   whose answer the limits were checked.
    func requireAgreement(on size: PixelSize, format: ImageFormat) throws(ImageError) {
        guard let self, self.rawSize != size else { return }
        throw .decode(.inconsistent(format: format, reason: "\(size) instead of \(self.rawSize)"))
    }
}

extension DecodeOptions {
    /// - Throws: ``RequestError/noSuchFrame(index:count:)`` where another frame than a still's only one is wanted.
    func requireStill() throws(ImageError) {
        if case .single(let index) = frames, index != 0 { throw .request(.noSuchFrame(index: index, count: 1)) }
    }
}
