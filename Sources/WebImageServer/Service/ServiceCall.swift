// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import WebImage
import WebImageConcurrency

/// A request to an ``ImageService`` and its response. This class is thread-safe.
package final class ServiceCall: Sendable {
    private struct State {
        var response: ServerResponse?
        var respond: (@Sendable (ServerResponse) -> Void)?
        var work: Task<Void, Never>?
        var timer: Task<Void, Never>?
        var waitingTime: Duration?
    }

    /// The number of the call, which is unique within the service.
    package let number: Int
    /// The request, whose header fields contain the trace context of the server's own span.
    package let request: ServerRequest
    /// The numeric address of the client, or `unix`.
    package let client: String
    /// The identifier in the header field `X-Request-ID`.
    package let requestID: String
    /// The server's own span.
    package let trace: TraceContext
    /// The time at which the service received the request, in seconds of `time`.
    private let start: Double
    private let time: TimeSource
    private let state: Lock<State>

    init(
        number: Int, _ request: ServerRequest, client: String, time: TimeSource,
        respond: @escaping @Sendable (ServerResponse) -> Void
    ) {
        self.number = number
        self.time = time
        start = time.uptime()
        self.client = client
        requestID = Self.requestID(request.headers["X-Request-ID"])
        trace = request.headers["traceparent"].flatMap(TraceContext.init)?.child() ?? .root()
        var request = request
        request.headers = HTTPHeaderFields(request.headers.filter { $0.name.lowercased() != "traceparent" })
        request.headers.append(name: "traceparent", value: trace.header)
        self.request = request
        state = Lock(State(respond: respond))
    }

    /// Returns the identifier of a client if it's safe in logs and header fields, or a random one.
    private static func requestID(_ text: String?) -> String {
        let isAllowed = { (byte: UInt8) in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "-_.:=+/".utf8.contains(byte)
        }
        if let text, (1...128).contains(text.utf8.count), text.utf8.allSatisfy(isAllowed) { return text }
        return UUID().uuidString.lowercased()
    }

    /// The time since the service received the request.
    var duration: Duration { .seconds(time.uptime() - start) }
    var response: ServerResponse? { state.withLock { $0.response } }
    /// The time that the request waited for a slot, or `nil` if it got none.
    var waitingTime: Duration? { state.withLock { $0.waitingTime } }

    /// Sends the response unless the call has one.
    @discardableResult
    func resolve(_ response: ServerResponse) -> Bool {
        let (respond, timer) = state.withLock { state in
            guard state.response == nil else { return (nil as (@Sendable (ServerResponse) -> Void)?, state.timer) }
            state.response = response
            defer { (state.respond, state.timer) = (nil, nil) }
            return (state.respond, state.timer)
        }
        timer?.cancel()
        respond?(response)
        return respond != nil
    }

    /// Sets the timeout, whose task ends with the response.
    func setTimer(_ timer: Task<Void, Never>) {
        let isLate = state.withLock { state in
            guard state.response == nil else { return true }
            state.timer = timer
            return false
        }
        if isLate { timer.cancel() }
    }

    /// Begins the lookup before the work of the call. The lookup is canceled immediately if the call has a response.
    func beginLookup(_ lookup: Task<Void, Never>) {
        let isLate = state.withLock { state in
            // The work can begin before this method is called.
            if state.work == nil { state.work = lookup }
            return state.response != nil
        }
        if isLate { lookup.cancel() }
    }

    /// Begins the work of the call. The work is canceled immediately if the call has a response.
    func begin(_ work: Task<Void, Never>) {
        let isLate = state.withLock { state in
            state.work = work
            state.waitingTime = duration
            return state.response != nil
        }
        if isLate { work.cancel() }
    }

    /// Cancels the work, which keeps its slot until it ends.
    func cancelWork() { state.withLock { $0.work }?.cancel() }
}
