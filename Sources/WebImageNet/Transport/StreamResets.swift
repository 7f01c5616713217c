// SPDX-License-Identifier: MIT

import CCurl
import WebImageCore

/// The HTTP/2 connections with canceled streams to reset.
///
/// When a transfer is removed, libcurl writes the frame that resets its stream to a buffer of the connection, and sends it
/// with the next request. Until then, the server continues to send data.
final class StreamResets {
    private let multi: UnsafeMutableRawPointer
    private let handles: EasyHandlePool
    private let sockets: IdleConnectionChecker
    private let proxies: ProxyResolver
    /// The connections, each with the request of one of the streams.
    private var noted: [ObjectIdentifier: (connection: Connection, transferRequest: TransferRequestBox)] = [:]

    init(
        _ multi: UnsafeMutableRawPointer, _ handles: EasyHandlePool, _ sockets: IdleConnectionChecker,
        _ proxies: ProxyResolver
    ) {
        self.multi = multi
        self.handles = handles
        self.sockets = sockets
        self.proxies = proxies
    }

    var isEmpty: Bool { noted.isEmpty }

    func add(_ connection: Connection, _ transferRequest: TransferRequestBox) {
        noted[ObjectIdentifier(connection)] = (connection, transferRequest)
    }

    /// Sends the frames for the streams that were canceled since the last call.
    func send(_ running: [UInt64: Transfer], _ configuration: ImageDownloader.Configuration) {
        guard !noted.isEmpty else { return }
        let noted = noted.values
        self.noted = [:]
        for (connection, transferRequest) in noted where connection.isOpen && !connection.isSpoiled {
            if let handle = running.values.first(where: { $0.connection === connection })?.handle {
                wi_curl_flush(handle.pointer)
            } else if !flush(connection, transferRequest, configuration) {
                // Without streams, closing the connection costs only the time for a new one.
                sockets.shutDown(connection)
            }
        }
    }

    /// Returns whether libcurl chose the idle `connection`. The transfer aborts before it sends a request.
    private func flush(
        _ connection: Connection, _ transferRequest: TransferRequestBox, _ configuration: ImageDownloader.Configuration
    ) -> Bool {
        guard let handle = handles.take() else { return false }
        let visit = FlushingVisit(handle, connection)
        let proxy = proxies.proxy(for: transferRequest.request.url).map { ProxyAddress($0) }
        handles.prepare(handle, transferRequest, proxy, .normal, configuration)
        visit.install(sockets)
        // libcurl chooses the connection and calls back in one pass, because it doesn't have to wait for anything.
        if wi_curl_multi_add(multi, handle.pointer) == CURLM_OK { wi_curl_multi_perform(multi) }
        wi_curl_multi_remove(multi, handle.pointer)
        handles.recycle(handle)
        return visit.isDone
    }
}

/// The callbacks of a transfer that flushes a connection and sends no request.
///
/// The object must live as long as its handle is in the multi handle.
private final class FlushingVisit {
    private let handle: EasyHandle
    private let port: Int?
    private(set) var isDone = false

    init(_ handle: EasyHandle, _ connection: Connection) {
        self.handle = handle
        port = connection.localPort
    }

    func install(_ sockets: IdleConnectionChecker) {
        let pointer = Unmanaged.passUnretained(self).toOpaque()
        wi_curl_set_before_request(handle.pointer, Self.beforeRequest, pointer)
        wi_curl_set_open_socket(handle.pointer, Self.openSocket, nil)
        TransferCallbacks.installClosing(on: handle, sockets)
    }

    private func arrive(_ port: Int) {
        guard port == self.port else { return }
        isDone = true
        wi_curl_flush(handle.pointer)
    }

    private static let beforeRequest: curl_prereq_callback = { context, _, _, _, port in
        if let context {
            Unmanaged<FlushingVisit>.fromOpaque(context).takeUnretainedValue().arrive(Int(port))
        }
        return Int32(CURL_PREREQFUNC_ABORT)
    }

    private static let openSocket: curl_opensocket_callback = { _, _, _ in CURL_SOCKET_BAD }
}
