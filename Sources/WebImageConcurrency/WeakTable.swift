// SPDX-License-Identifier: MIT

/// Objects that live as long as something else holds them, by key, each with a note. Entries of objects that are gone are
/// removed from time to time, so that the table grows with the number of living objects only. A plain value.
///
/// The members can be inlined, so that the table is specialized where it is used.
package struct WeakTable<Key: Hashable, Object: AnyObject, Note> {
    @usableFromInline
    struct Entry {
        @usableFromInline weak var object: Object?
        @usableFromInline let note: Note

        @inlinable
        init(object: Object, note: Note) {
            self.object = object
            self.note = note
        }
    }

    @usableFromInline var entries: [Key: Entry] = [:]
    /// More entries than these are searched for such whose objects are gone.
    @usableFromInline var limit: Int
    @usableFromInline let smallestLimit: Int

    /// Creates an empty table. Below `smallestLimit` entries none is removed by itself.
    @inlinable
    package init(smallestLimit: Int = 256) {
        self.smallestLimit = smallestLimit
        limit = smallestLimit
    }

    /// The number of entries, including those whose objects are gone.
    @inlinable
    package var count: Int { entries.count }

    /// Whether there are no entries.
    @inlinable
    package var isEmpty: Bool { entries.isEmpty }

    /// The living objects.
    @inlinable
    package var objects: [Object] { entries.values.compactMap(\.object) }

    /// The object of `key`, if it lives, and its note.
    @inlinable
    package subscript(key: Key) -> (object: Object, note: Note)? {
        guard let entry = entries[key], let object = entry.object else { return nil }
        return (object, entry.note)
    }

    /// Adds an object, in place of any other of its key.
    ///
    /// - Parameter forget: Called for every entry that is removed because its object is gone.
    @inlinable
    package mutating func insert(
        _ object: Object, for key: Key, note: Note, forget: (Key, Note) -> Void = { _, _ in }
    ) {
        entries[key] = Entry(object: object, note: note)
        if entries.count > limit { prune(forget) }
    }

    /// Removes the entry of `key`, whether its object lives or not.
    @inlinable
    @discardableResult
    package mutating func remove(_ key: Key) -> (object: Object?, note: Note)? {
        entries.removeValue(forKey: key).map { ($0.object, $0.note) }
    }

    /// Removes the entries whose objects are gone, and calls `forget` for each.
    @inlinable
    package mutating func prune(_ forget: (Key, Note) -> Void = { _, _ in }) {
        for (key, entry) in entries where entry.object == nil {
            entries[key] = nil
            forget(key, entry.note)
        }
        limit = max(smallestLimit, entries.count * 2)
    }
}

extension WeakTable where Note == Void {
    /// Adds an object, in place of any other of its key.
    @inlinable
    package mutating func insert(_ object: Object, for key: Key) { insert(object, for: key, note: ()) }
}
