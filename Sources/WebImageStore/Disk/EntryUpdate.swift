// SPDX-License-Identifier: MIT

import Foundation
import WebImageHTTP

/// What became known of an entry after it was written: its file stays as it is, and the index says what is newer.
struct EntryUpdate: Sendable, Equatable {
    /// A new value of the app's own.
    enum Attachment: Sendable, Equatable {
        case value(Data)
        case removed
    }

    /// Bytes an attachment may have that is set later.
    static let attachmentLimit = 1 << 20

    var head: StoredHead?
    var attachment: Attachment?

    /// Puts what is newer over what is known.
    func apply(to entry: inout DiskEntry) {
        if let head { entry.head = head }
        switch attachment {
        case .value(let value): entry.attachment = value
        case .removed: entry.attachment = nil
        case nil: break
        }
    }

    /// Takes what `newer` knows better.
    mutating func merge(_ newer: EntryUpdate) {
        head = newer.head ?? head
        attachment = newer.attachment ?? attachment
    }
}

extension EntryUpdate.Attachment {
    /// One byte that says whether there is a value, and the value.
    var encoded: [UInt8] {
        switch self {
        case .removed: [0]
        case .value(let value): [1] + value
        }
    }

    /// nil when `bytes` are not what ``encoded`` made.
    init?(encoded bytes: UnsafeRawBufferPointer) {
        switch bytes.first {
        case 0 where bytes.count == 1: self = .removed
        case 1: self = .value(Data(bytes.dropFirst()))
        default: return nil
        }
    }
}
