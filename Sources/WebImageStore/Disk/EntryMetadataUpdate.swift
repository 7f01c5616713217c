// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// Changes to an entry after it was written. The file remains unchanged, and the index contains the newer values.
struct EntryMetadataUpdate: Sendable, Equatable {
    /// A change of the custom value.
    enum Attachment: Sendable, Equatable {
        case value(Data)
        case removed
    }

    /// The maximum size in bytes of an attachment that is set after the entry was stored.
    static let attachmentLimit = 1 << 20

    /// Checks the size of an attachment.
    ///
    /// - Throws: An ``ImageError/LimitFailure`` of the kind ``ImageError/LimitFailure/Kind/userDataSize``.
    static func check(attachment: Data?) throws(ImageError) {
        guard let count = attachment?.count, count > attachmentLimit else { return }
        throw .limitExceeded(ImageError.LimitFailure(.userDataSize, limit: attachmentLimit, actual: count))
    }

    var head: StoredResponseHead?
    var attachment: Attachment?

    func apply(to entry: inout CacheEntry) {
        if let head { entry.head = head }
        switch attachment {
        case .value(let value): entry.userData = value
        case .removed: entry.userData = nil
        case nil: break
        }
    }

    mutating func merge(_ newer: EntryMetadataUpdate) {
        head = newer.head ?? head
        attachment = newer.attachment ?? attachment
    }
}

extension EntryMetadataUpdate.Attachment {
    /// The encoded form, which is one byte that indicates whether a value exists, followed by the value.
    var encoded: [UInt8] {
        switch self {
        case .removed: [0]
        case .value(let value): [1] + value
        }
    }

    init?(encoded bytes: UnsafeRawBufferPointer) {
        switch bytes.first {
        case 0 where bytes.count == 1: self = .removed
        case 1: self = .value(Data(bytes.dropFirst()))
        default: return nil
        }
    }
}
