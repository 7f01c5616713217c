// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// A thread-safe store that keeps responses in memory, up to a limit in bytes. It evicts the least recently used
/// responses first.
package final class MemoryResponseStore: HTTPResponseStore {
    private struct Entry {
        var response: StoredResponse
        let key: String
        var used: UInt64
        var cost: Int
    }

    private struct State {
        var lists: [String: VaryIndex] = [:]
        var entries: [String: Entry] = [:]
        var bytes = 0
        var clock: UInt64 = 0

        mutating func drop(_ id: String) {
            guard let entry = entries.removeValue(forKey: id) else { return }
            bytes -= entry.cost
            lists[entry.key]?.remove(id)
            if lists[entry.key]?.variants.isEmpty == true { lists[entry.key] = nil }
        }

        /// Evict several entries in one pass, so that the entries are sorted only once.
        mutating func evict(to goal: Int) {
            for (id, _) in entries.map({ ($0.key, $0.value.used) }).sorted(by: { $0.1 < $1.1 }) {
                guard bytes > goal else { return }
                drop(id)
            }
        }
    }

    private let state = Lock(State())
    private let byteLimit: Int

    /// Creates an empty store with a limit for the total size of bodies and heads, in bytes. Responses larger than one
    /// quarter of the limit aren't stored.
    package init(byteLimit: Int = 64 << 20) { self.byteLimit = max(0, byteLimit) }

    /// The total size of the stored responses, in bytes.
    package var byteCount: Int { state.withLock { $0.bytes } }
    /// The number of stored responses.
    package var count: Int { state.withLock { $0.entries.count } }

    /// Returns the newest response that matches the request.
    package func response(for key: String, matching request: HTTPHeaderFields) async -> StoredResponse? {
        state.withLock { state in
            guard let id = state.lists[key]?.matching(request).first?.id, state.entries[id] != nil else { return nil }
            state.clock += 1
            state.entries[id]?.used = state.clock
            return state.entries[id]?.response
        }
    }

    /// Stores a response without fields for authentication. A challenge isn't stored.
    package func put(_ response: StoredResponse, request: HTTPHeaderFields, for key: String) async {
        guard !response.isChallenge else { return await remove(matching: request, for: key) }
        let response = response.withoutAuthentication
        let cost = Self.cost(response)
        state.withLock { state in
            guard cost <= byteLimit / 4 else {
                // Remove the previous response, because it's outdated.
                for variant in state.lists[key]?.matching(request) ?? [] { state.drop(variant.id) }
                return
            }
            for id in state.lists[key, default: VaryIndex()].insert(response.variant, request: request) {
                state.drop(id)
            }
            state.clock += 1
            state.entries[response.variant.id] = Entry(response: response, key: key, used: state.clock, cost: cost)
            state.bytes += cost
            if state.bytes > byteLimit { state.evict(to: byteLimit - byteLimit / 10) }
        }
    }

    /// Replaces the head of a response.
    package func update(_ response: StoredResponse, for key: String) async {
        let response = response.withoutAuthentication
        state.withLock { state in
            guard var entry = state.entries[response.variant.id] else { return }
            let cost = Self.cost(response)
            state.bytes += cost - entry.cost
            entry.cost = cost
            entry.response.head = response.head
            entry.response.variant = response.variant
            state.entries[response.variant.id] = entry
            _ = state.lists[key]?.replace(response.variant)
        }
    }

    /// Removes one response.
    package func remove(_ id: String, for key: String) async { state.withLock { $0.drop(id) } }

    /// Removes the responses that match the request.
    package func remove(matching request: HTTPHeaderFields, for key: String) async {
        state.withLock { state in
            for variant in state.lists[key]?.matching(request) ?? [] { state.drop(variant.id) }
        }
    }

    /// Removes all responses for `key`.
    package func removeAll(for key: String) async {
        state.withLock { state in
            for variant in state.lists[key]?.variants ?? [] { state.drop(variant.id) }
        }
    }

    /// Removes all responses.
    package func removeAll() async {
        state.replace(with: State())
    }

    private static func cost(_ response: StoredResponse) -> Int {
        let lines = response.head.head.headers.lines + response.variant.varyHeaders.lines
        return lines.reduce(response.body.count + 512) { $0 + $1.name.utf8.count + $1.value.utf8.count + 64 }
    }
}
