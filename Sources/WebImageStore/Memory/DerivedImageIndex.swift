// SPDX-License-Identifier: MIT

/// An index of the memory cache entries that were created from the same data.
///
/// The index maps the digest of a data key to the digests of its images (its family). Most families have one member,
/// which needs no separate array.
struct DerivedImageIndex {
    private struct Members {
        var first: CacheKey.Digest
        var others: [CacheKey.Digest] = []
    }

    private var families: [CacheKey.Digest: Members] = [:]

    var count: Int { families.count }

    /// Returns the entries of a family in no particular order.
    func members(of family: CacheKey.Digest) -> [CacheKey.Digest] {
        guard let members = families[family] else { return [] }
        return [members.first] + members.others
    }

    /// Adds an entry to a family. Adding a member again has no effect.
    mutating func add(_ digest: CacheKey.Digest, to family: CacheKey.Digest) {
        guard let members = families[family] else {
            families[family] = Members(first: digest)
            return
        }
        if members.first == digest || members.others.contains(digest) { return }
        families[family]?.others.append(digest)
    }

    mutating func remove(_ digest: CacheKey.Digest, from family: CacheKey.Digest) {
        guard let members = families[family] else { return }
        if members.first == digest {
            if let last = families[family]?.others.popLast() {
                families[family]?.first = last
            } else {
                families[family] = nil
            }
        } else if let index = members.others.firstIndex(of: digest) {
            families[family]?.others.remove(at: index)
        }
    }
}
