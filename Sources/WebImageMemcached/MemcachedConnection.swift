// SPDX-License-Identifier: MIT

#if Memcached
    import CMemcached
    import Foundation

    /// A connection to one server. One thread owns it.
    final class MemcachedConnection {
        /// The result of an operation.
        enum Status: Sendable, Hashable {
            case success
            /// The server has no value, or it has one and doesn't add another.
            case unchanged
            case refused
            /// The connection failed, a timeout expired, or the response isn't valid.
            case failed
        }

        private let node: OpaquePointer?

        init(_ server: MemcachedServer, _ configuration: MemcachedConfiguration) {
            node = wi_memcached_node_open(
                server.host, server.port, Self.milliseconds(configuration.connectTimeout),
                Self.milliseconds(configuration.operationTimeout),
                max(0, configuration.maxValueSize))
        }

        deinit { wi_memcached_node_close(node) }

        private static func milliseconds(_ duration: Duration) -> Int32 {
            Int32(min(max(1, (duration / .milliseconds(1)).rounded(.up)), 60_000))
        }

        /// Reads a value. The value is `nil` unless the status is `success`.
        func value(for name: String) -> (status: Status, value: Data?) {
            guard let node else { return (.failed, nil) }
            var bytes: UnsafeMutablePointer<CChar>?
            var count = 0
            let status = Self.status(wi_memcached_get(node, name, name.utf8.count, &bytes, &count))
            guard status == .success, let bytes else { return (status, nil) }
            return (status, Data(bytesNoCopy: bytes, count: count, deallocator: .free))
        }

        /// Stores a value. If `adds` is `true`, an existing value stays.
        func set(_ value: Data, for name: String, seconds: UInt32, adds: Bool = false) -> Status {
            guard let node else { return .failed }
            return value.withUnsafeBytes {
                Self.status(
                    wi_memcached_set(node, adds ? 1 : 0, name, name.utf8.count, $0.baseAddress, $0.count, seconds))
            }
        }

        func remove(_ name: String) -> Status {
            guard let node else { return .failed }
            return Self.status(wi_memcached_delete(node, name, name.utf8.count))
        }

        func removeAll() -> Status {
            guard let node else { return .failed }
            return Self.status(wi_memcached_flush(node))
        }

        private static func status(_ code: wi_memcached_status) -> Status {
            switch code {
            case WI_MEMCACHED_OK: .success
            case WI_MEMCACHED_MISS, WI_MEMCACHED_EXISTS: .unchanged
            case WI_MEMCACHED_REFUSED: .refused
            default: .failed
            }
        }
    }

    /// A ring that distributes keys over servers with the weighted ketama algorithm.
    final class KetamaRing {
        private let ring: OpaquePointer

        /// Creates a ring. The result is `nil` if there are no servers or memory can't be allocated.
        init?(_ servers: [MemcachedServer]) {
            guard !servers.isEmpty, let ring = wi_memcached_ring_open() else { return nil }
            self.ring = ring
            for server in servers where wi_memcached_ring_add(ring, server.host, server.port, server.weight) == 0 {
                return nil
            }
        }

        deinit { wi_memcached_ring_close(ring) }

        func index(of name: String) -> Int { Int(wi_memcached_ring_index(ring, name, name.utf8.count)) }
    }
#endif
