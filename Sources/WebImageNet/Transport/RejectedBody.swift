// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// The beginning of the body of a rejected response, without content codings. Only the network thread uses it.
final class RejectedBody {
    /// The maximum number of decoded bytes. A decoder produces up to 64 KiB at a time.
    private static let mostDecoded = 256 << 10

    private let decoder: ContentDecoder?
    private(set) var isComplete = false
    /// The bytes so far, up to ``FailedResponse/maxBodyPrefixByteCount``.
    private(set) var data = Data()

    init(_ head: HTTPResponseHead) {
        decoder = ContentDecoder(head.headers, limit: Self.mostDecoded)
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard let decoder else { return add(bytes) }
        do throws(ContentDecoder.Failure) {
            try decoder.decode(bytes) { add($0) }
        } catch {
            // The status explains the failure better than an invalid body.
            isComplete = true
        }
    }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        let missing = FailedResponse.maxBodyPrefixByteCount - data.count
        data.append(contentsOf: bytes.prefix(missing))
        if bytes.count >= missing { isComplete = true }
    }
}
