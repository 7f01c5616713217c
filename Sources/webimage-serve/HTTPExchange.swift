// SPDX-License-Identifier: MIT

#if Server
    import CLibmicrohttpd
    import CMicrohttpd
    import Foundation
    import Synchronization
    import WebImageConcurrency
    import WebImageServer

    /// A request and its response on a connection of libmicrohttpd.
    ///
    /// The connection is suspended while the service works on the request. libmicrohttpd requests the next part of the
    /// body when the client can receive it.
    final class HTTPExchange: @unchecked Sendable {
        // Safe: libmicrohttpd calls all functions of a connection on the thread of this connection, and only these
        // functions access the variables. `state` has a lock, and the other properties are constants.
        /// The response, and the number by which the watch knows the suspended connection.
        private struct State {
            var response: ServerResponse?
            var watched: UInt64?
        }

        private let service: ImageService
        private let connection: OpaquePointer
        private let target: String
        private let watch: ConnectionWatch
        private let state = Lock(State())
        private var call: ServiceCall?
        private var isStarted = false
        private var uploadedBytes = 0
        private var sentBytes = 0
        private var body = Data()

        /// The maximum size of a request body, which the server ignores.
        private static let uploadLimit = 65_536

        private init(_ context: HTTPServer.Context, _ connection: OpaquePointer, _ target: String) {
            service = context.service
            watch = context.watch
            self.connection = connection
            self.target = target
        }

        // MARK: - Functions of libmicrohttpd

        static func open(
            _ context: UnsafeMutableRawPointer?, _ text: UnsafePointer<CChar>?, _ connection: OpaquePointer?
        ) -> UnsafeMutableRawPointer? {
            guard let context, let text, let connection else { return nil }
            let shared = Unmanaged<HTTPServer.Context>.fromOpaque(context).takeUnretainedValue()
            return Unmanaged.passRetained(HTTPExchange(shared, connection, String(cString: text))).toOpaque()
        }

        /// Handles a request whose head is complete, a part of its body, its end, and its response.
        static func `continue`(
            _ connection: OpaquePointer?, _ method: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
            _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        ) -> MHD_Result {
            guard let pointer = state?.pointee, let method, let size else { return .NO }
            let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeUnretainedValue()
            return exchange.step(String(cString: method), &size.pointee)
        }

        static func close(_ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_RequestTerminationCode)
        {
            guard let pointer = state?.pointee else { return }
            state?.pointee = nil
            let exchange = Unmanaged<HTTPExchange>.fromOpaque(pointer).takeRetainedValue()
            if let call = exchange.call {
                let isComplete = code == .REQUEST_TERMINATED_COMPLETED_OK
                exchange.service.end(call, sentBytes: exchange.sentBytes, isComplete: isComplete)
            }
        }

        // MARK: - Steps

        private func step(_ method: String, _ uploadSize: inout Int) -> MHD_Result {
            guard isStarted else {
                isStarted = true
                return .YES
            }
            if uploadSize > 0 {
                uploadedBytes += uploadSize
                uploadSize = 0
                return uploadedBytes <= Self.uploadLimit ? .YES : .NO
            }
            if let response = state.withLock({ $0.response }) { return send(response) }
            guard call == nil else { return .YES }
            begin(method)
            return .YES
        }

        private func begin(_ method: String) {
            var peer = [CChar](repeating: 0, count: 64)
            wi_http_peer(UnsafeMutableRawPointer(connection), &peer, peer.count)
            let address = String(decoding: peer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let request = ServerRequest(method: method, target: target, headers: headers)
            // The response can arrive on another thread before this method ends, so suspend the connection first.
            MHD_suspend_connection(connection)
            let call = service.begin(request, peer: address) { [self] response in
                // libmicrohttpd can close a resumed connection, so stop watching it first.
                state.withLock { state in
                    state.response = response
                    if let number = state.watched { watch.remove(number) }
                }
                MHD_resume_connection(connection)
            }
            self.call = call
            // libmicrohttpd doesn't notice that the client of a suspended connection disconnects.
            let socket = wi_http_socket(UnsafeMutableRawPointer(connection))
            state.withLock { state in
                guard state.response == nil, socket >= 0 else { return }
                state.watched = watch.add(socket) { [service] in service.disconnect(call) }
            }
        }

        private var headers: HTTPHeaderFields {
            var list: [(name: String, value: String)] = []
            withUnsafeMutablePointer(to: &list) { pointer in
                _ = MHD_get_connection_values(
                    connection, .HEADER_KIND,
                    { context, _, name, value in
                        guard let name else { return .YES }
                        let list = context?.assumingMemoryBound(to: [(name: String, value: String)].self)
                        list?.pointee.append((String(cString: name), value.map { String(cString: $0) } ?? ""))
                        return .YES
                    }, pointer)
            }
            return HTTPHeaderFields(list)
        }

        private func send(_ response: ServerResponse) -> MHD_Result {
            body = response.body
            // A response to HEAD or with the status code 304 has the length of the body that it omits.
            let announced =
                response.headers["Content-Length"].flatMap { UInt64($0) }
                ?? UInt64(response.omittedByteCount ?? body.count)
            let pointer = Unmanaged.passRetained(self).toOpaque()
            guard
                let reply = MHD_create_response_from_callback(
                    announced, 65_536, { HTTPExchange.read($0, $1, $2, $3) }, pointer,
                    { pointer in
                        if let pointer { Unmanaged<HTTPExchange>.fromOpaque(pointer).release() }
                    })
            else {
                Unmanaged<HTTPExchange>.fromOpaque(pointer).release()
                return .NO
            }
            defer { MHD_destroy_response(reply) }
            for (name, value) in response.headers where name.lowercased() != "content-length" {
                // libmicrohttpd rejects values with line breaks, which the handler doesn't produce.
                _ = MHD_add_response_header(reply, name, value)
            }
            return MHD_queue_response(connection, UInt32(response.statusCode), reply)
        }

        private static func read(
            _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int
        ) -> Int {
            guard let context, let buffer else { return endWithError }
            let exchange = Unmanaged<HTTPExchange>.fromOpaque(context).takeUnretainedValue()
            let rest = exchange.body.dropFirst(Int(position)).prefix(size)
            guard !rest.isEmpty else { return endWithError }
            rest.copyBytes(to: UnsafeMutableRawBufferPointer(start: buffer, count: size))
            exchange.sentBytes += rest.count
            return rest.count
        }

        /// `MHD_CONTENT_READER_END_WITH_ERROR`, a macro that Swift doesn't import.
        private static let endWithError = -2
    }
#endif
