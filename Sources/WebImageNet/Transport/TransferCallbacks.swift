// SPDX-License-Identifier: MIT

import CCurl
import Glibc
import WebImageCore

/// The callbacks for libcurl.
///
/// They run inside `curl_multi_perform` on the network thread. They call libcurl only for information about the
/// transfer's own handle.
enum TransferCallbacks {
    /// The context of one transfer's callbacks. It lives as long as the transfer runs.
    final class Context {
        let transfer: Transfer
        let policy: ImageDownloader.Configuration.AddressPolicy
        /// Whether connections go to an explicitly configured proxy, which is trusted.
        let trustsPeer: Bool
        let sockets: IdleConnectionChecker
        let group: String
        let timeouts: TransferTimeouts

        init(
            transfer: Transfer, policy: ImageDownloader.Configuration.AddressPolicy, trustsPeer: Bool,
            sockets: IdleConnectionChecker, group: String, timeouts: TransferTimeouts
        ) {
            self.transfer = transfer
            self.timeouts = timeouts
            self.sockets = sockets
            self.group = group
            self.policy = policy
            self.trustsPeer = trustsPeer
        }
    }

    /// `context` must live as long as the handle is used, and `sockets` as long as any connection is open.
    static func install(on handle: EasyHandle, _ context: Context, _ sockets: IdleConnectionChecker) {
        let pointer = Unmanaged.passUnretained(context).toOpaque()
        wi_curl_set_data_function(handle.pointer, CURLOPT_HEADERFUNCTION, header)
        wi_curl_set_pointer(handle.pointer, CURLOPT_HEADERDATA, pointer)
        wi_curl_set_data_function(handle.pointer, CURLOPT_WRITEFUNCTION, body)
        wi_curl_set_pointer(handle.pointer, CURLOPT_WRITEDATA, pointer)
        wi_curl_set_before_request(handle.pointer, beforeRequest, pointer)
        wi_curl_set_open_socket(handle.pointer, openSocket, pointer)
        wi_curl_set_tls_observer(handle.pointer, beforeHandshake, pointer)
        wi_curl_set_message_observer(handle.pointer, message, pointer)
        installClosing(on: handle, sockets)
    }

    /// Notifies `sockets` of each connection that is closed. `sockets` must live as long as any connection is open.
    static func installClosing(on handle: EasyHandle, _ sockets: IdleConnectionChecker) {
        wi_curl_set_close_socket(handle.pointer, closeSocket, Unmanaged.passUnretained(sockets).toOpaque())
    }

    private static func transfer(_ context: UnsafeMutableRawPointer) -> Context {
        Unmanaged<Context>.fromOpaque(context).takeUnretainedValue()
    }

    private static let header: wi_curl_data_function = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
        // Avoid reference counting, which is expensive for each chunk. The network thread retains the context.
        return Unmanaged<Context>.fromOpaque(context)._withUnsafeGuaranteedRef {
            let continues = $0.transfer.receiveHeader(line, now: MonotonicTime.now)
            if let deadline = $0.transfer.ignoredBodyDeadline { $0.timeouts.add(deadline) }
            if let deadline = $0.transfer.speedDeadline { $0.timeouts.add(deadline) }
            return continues ? line.count : 0
        }
    }

    private static let body: wi_curl_data_function = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let part = UnsafeRawBufferPointer(start: bytes, count: size * count)
        return Unmanaged<Context>.fromOpaque(context)._withUnsafeGuaranteedRef {
            switch $0.transfer.receiveBody(part, now: MonotonicTime.now) {
            case .received: part.count
            case .paused: Int(CURL_WRITEFUNC_PAUSE)
            case .stopped: Int(CURL_WRITEFUNC_ERROR)
            }
        }
    }

    /// Observes each TLS connection that is opened for the transfer. libcurl calls it before the handshake.
    private static let beforeHandshake: curl_ssl_ctx_callback = { _, ssl, context in
        guard let ssl, let context, let facts = TLSFacts() else { return CURLE_OK }
        facts.observe(ssl)
        transfer(context).transfer.tls = facts
        return CURLE_OK
    }

    /// Checks the connection before the request is sent. libcurl calls it again if it repeats the request on the same
    /// or another connection.
    private static let beforeRequest: curl_prereq_callback = { context, _, _, _, port in
        guard let context else { return Int32(CURL_PREREQFUNC_OK) }
        let owner = transfer(context)
        let (transfer, sockets) = (owner.transfer, owner.sockets)
        if let earlier = transfer.connection { sockets.end(earlier) }
        let next = sockets.begin(port: Int(port), group: owner.group, user: transfer.id, tls: transfer.tls)
        let handle = transfer.handle
        // TLS may already have read stray data from the socket, where a peek doesn't find it.
        let isUsable = next.map { connection in
            let hasUnread = handle.map { wi_curl_has_unread_bytes($0.pointer) } ?? false
            connection.session = handle.flatMap { wi_curl_tls($0.pointer) }
            return sockets.isUsable(connection, user: transfer.id, hasUnread: hasUnread)
        }
        let state = isUsable.map { $0 ? Transfer.ConnectionState.usable : .unusable }
        let isSent = transfer.use(
            next, state ?? (sockets.isOpening(owner.group) ? .opening : .unknown), opened: sockets.opened)
        guard isSent else { return Int32(CURL_PREREQFUNC_ABORT) }
        if let next, let handle { prepare(handle, transfer, next) }
        return Int32(CURL_PREREQFUNC_OK)
    }

    /// Sets the options of `handle` that depend on the connection over which the request is about to be sent.
    private static func prepare(_ handle: EasyHandle, _ transfer: Transfer, _ connection: Connection) {
        if connection.isMultiplexed {
            // Some events of HTTP/2 are reported only as messages. Before this point, libcurl would report the details
            // of the TLS handshake.
            handle.set(CURLOPT_VERBOSE, 1)
        } else if connection.opener != transfer.id {
            // If libcurl repeats the request, another idle connection may have ended, too (RFC 9112 9.3.1).
            handle.set(CURLOPT_FRESH_CONNECT, 1)
        }
    }

    /// Observes the messages of libcurl for the events of HTTP/2 streams.
    private static let message: curl_debug_callback = { _, type, text, count, context in
        guard type == CURLINFO_TEXT, let text, let context else { return 0 }
        var number: UInt32 = 0
        let event = wi_curl_stream_event(text, count, &number)
        guard event != WI_STREAM_NO_EVENT else { return 0 }
        let owner = transfer(context)
        owner.transfer.receive(event, Int(number))
        // A request that the server declared unprocessed says nothing about the state of the connection.
        if event == WI_STREAM_ABANDONED, !owner.transfer.isUnprocessed, let connection = owner.transfer.connection {
            owner.sockets.leave(connection)
        }
        return 0
    }

    private static let openSocket: curl_opensocket_callback = { context, _, address in
        guard let context, let address else { return CURL_SOCKET_BAD }
        let owner = transfer(context)
        // Check the address of each connection, because a name can resolve to another address after the request was
        // checked.
        if owner.policy != .any, !owner.trustsPeer, let refusal = refusal(address, owner.policy) {
            owner.transfer.refusedAddress = refusal
            return CURL_SOCKET_BAD
        }
        // Processes that the program starts must not inherit connections.
        let kind = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
        let socket = socket(address.pointee.family, kind, address.pointee.protocol)
        if socket >= 0 {
            owner.transfer.opened = owner.sockets.open(socket, group: owner.group, opener: owner.transfer.id)
        }
        return socket
    }

    private static func refusal(
        _ address: UnsafeMutablePointer<curl_sockaddr>, _ policy: ImageDownloader.Configuration.AddressPolicy
    ) -> String? {
        // The address extends past the declared size of the struct. libcurl reserves space for all address families.
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        let name = (UnsafeRawPointer(address) + offset).assumingMemoryBound(to: sockaddr.self)
        guard let parsed = IPAddress(name) else { return "unknown address family" }
        guard !policy.allows(parsed) else { return nil }
        if case .special(let name, _) = AddressClass(parsed) { return name }
        return "not a public address"
    }

    private static let closeSocket: curl_closesocket_callback = { context, socket in
        if let context { Unmanaged<IdleConnectionChecker>.fromOpaque(context).takeUnretainedValue().close(socket) }
        return close(socket)
    }
}
