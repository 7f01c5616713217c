// SPDX-License-Identifier: MIT

import CCurl
import WebImageCore

/// The part of the network loop that resets canceled HTTP/2 streams.
extension NetworkLoop {
    /// Sends the frames that reset the streams that were canceled since the last call.
    ///
    /// When a transfer is removed, libcurl writes such a frame to a buffer of the connection and sends it with the
    /// next request. Until then, the server continues to send data.
    func sendResets() {
        guard !resets.isEmpty else { return }
        let noted = resets.values
        resets = [:]
        for (connection, transferRequest) in noted where connection.isOpen && !connection.isSpoiled {
            if let handle = running.values.first(where: { $0.connection === connection })?.handle {
                wi_curl_flush(handle.pointer)
            } else if !flush(connection, transferRequest) {
                // Without streams, closing the connection costs only the time for a new one.
                sockets.shutDown(connection)
            }
        }
    }

    /// Lets a transfer like `transferRequest` use the idle `connection` and abort before it sends a request.
    ///
    /// Returns whether libcurl chose that connection.
    private func flush(_ connection: Connection, _ transferRequest: TransferRequestBox) -> Bool {
        guard let handle = spareHandles.popLast() ?? EasyHandle() else { return false }
        let visit = FlushingVisit(handle, connection)
        prepare(
            handle, transferRequest, proxies.proxy(for: transferRequest.request.url).map { ProxyAddress($0) }, .normal)
        visit.install(sockets)
        // libcurl chooses the connection and calls back in one pass, because it doesn't have to wait for anything.
        if wi_curl_multi_add(multi, handle.pointer) == CURLM_OK { wi_curl_multi_perform(multi) }
        wi_curl_multi_remove(multi, handle.pointer)
        handle.reset()
        if spareHandles.count < Self.mostSpareHandles { spareHandles.append(handle) }
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
