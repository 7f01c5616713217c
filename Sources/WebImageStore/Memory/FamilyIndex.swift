// SPDX-License-Identifier: MIT

/// Which entries were made of the same bytes: the digests of pictures by the digest of their data key. A family of
/// one, as most are, costs no memory of its own.
struct FamilyIndex {
    private struct Members {
        var first: CacheKey.Digest
        var others: [CacheKey.Digest] = []
    }

    private var families: [CacheKey.Digest: Members] = [:]

    /// Data keys that have members.
    var count: Int { families.count }

    /// The entries of `family`, in no order.
    func members(of family: CacheKey.Digest) -> [CacheKey.Digest] {
        guard let members = families[family] else { return [] }
        return [members.first] + members.others
    }

    /// Adds an entry; one that is there already stays once.
    mutating func add(_ digest: CacheKey.Digest, to family: CacheKey.Digest) {
        guard let members = families[family] else {
            families[family] = Members(first: digest)
            return
        }
        if members.first == digest || members.others.contains(digest) { return }
        families[family]?.others.append(digest)
    }

    /// Takes an entry out.
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
