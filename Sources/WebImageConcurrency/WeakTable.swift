// SPDX-License-Identifier: MIT

/// A table of weak references to objects, each with a key and a note.
///
/// From time to time, the table removes the entries of deallocated objects, so its size depends only on the number of
/// living objects. The table is a plain value.
///
/// The table is public, although no product contains this module, because Swift 6.3 specializes and inlines only public
/// functions of other modules. Package functions go through the metadata of the generic type, which doubles the time of
/// a store into the memory cache.
public struct WeakTable<Key: Hashable, Object: AnyObject, Note> {
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
    /// The number of entries above which the table removes the entries of deallocated objects.
    @usableFromInline var limit: Int
    @usableFromInline let smallestLimit: Int

    /// Creates an empty table. With up to `smallestLimit` entries, the table removes no entries automatically.
    @inlinable
    public init(smallestLimit: Int = 256) {
        self.smallestLimit = smallestLimit
        limit = smallestLimit
    }

    /// The number of entries, including those of deallocated objects.
    @inlinable
    public var count: Int { entries.count }

    /// A Boolean value that indicates whether the table has no entries.
    @inlinable
    public var isEmpty: Bool { entries.isEmpty }

    /// The objects that are alive.
    @inlinable
    public var objects: [Object] { entries.values.compactMap(\.object) }

    /// Returns the object for a key and its note, or `nil` if the object isn't alive.
    @inlinable
    public subscript(key: Key) -> (object: Object, note: Note)? {
        guard let entry = entries[key], let object = entry.object else { return nil }
        return (object, entry.note)
    }

    /// Adds an object and replaces the previous object for its key.
    ///
    /// - Parameters:
    ///   - object: The object to add.
    ///   - key: The key of the object.
    ///   - note: The note to store with the object.
    ///   - onRemove: A closure to call for each entry that is removed with its object.
    @inlinable
    public mutating func insert(
        _ object: Object, for key: Key, note: Note, onRemove: (Key, Note) -> Void = { _, _ in }
    ) {
        entries[key] = Entry(object: object, note: note)
        if entries.count > limit { prune(onRemove) }
    }

    /// Removes the entry for a key, regardless of whether its object is alive.
    @inlinable
    @discardableResult
    public mutating func remove(_ key: Key) -> (object: Object?, note: Note)? {
        entries.removeValue(forKey: key).map { ($0.object, $0.note) }
    }

    /// Removes the entries of deallocated objects and calls a closure for each of them.
    @inlinable
    public mutating func prune(_ forget: (Key, Note) -> Void = { _, _ in }) {
        for (key, entry) in entries where entry.object == nil {
            entries[key] = nil
            forget(key, entry.note)
        }
        limit = max(smallestLimit, entries.count * 2)
    }
}

extension WeakTable where Note == Void {
    /// Adds an object and replaces the previous object for its key.
    @inlinable
    public mutating func insert(_ object: Object, for key: Key) { insert(object, for: key, note: ()) }
}
