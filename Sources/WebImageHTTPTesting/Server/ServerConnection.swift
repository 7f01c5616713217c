// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImageCore
import WebImageHTTP

/// An accepted connection, which is confined to the server's thread.
struct ServerConnection {
    /// The result of a round of writing.
    enum Progress {
        /// The socket accepts no more bytes at the moment.
        case blocked
        /// The connection waits for a gate.
        case waiting(TestGate)
        /// The connection waits until a time in nanoseconds of the monotonic clock.
        case paced(until: Int64)
        case ended(LoopbackServer.Response.Ending)
        case idle
        /// The client closed the connection.
        case interrupted
    }

    let number: Int
    let descriptor: Int32
    var parser = RequestParser()
    private var steps: ArraySlice<ResponseStep> = []
    private var offset = 0
    private var bytesPerSecond: Int?
    private var nextSend: Int64 = 0
    private(set) var isResponding = false

    init(number: Int, descriptor: Int32) {
        self.number = number
        self.descriptor = descriptor
    }

    mutating func begin(_ script: [ResponseStep], bytesPerSecond: Int?) {
        steps = script[...]
        offset = 0
        self.bytesPerSecond = bytesPerSecond
        isResponding = true
    }

    mutating func finishResponse() { isResponding = false }

    /// Performs the next steps as far as possible. The closure `sent` receives the size of each write in bytes.
    mutating func proceed(now: Int64, sent: (Int) -> Void) -> Progress {
        while let step = steps.first {
            switch step {
            case .wait(let gate):
                guard gate.isOpen else { return .waiting(gate) }
            case .end(let ending):
                steps = []
                return .ended(ending)
            case .stall:
                return .idle
            case .send(let data):
                if let stop = write(data, now: now, sent: sent) { return stop }
                offset = 0
            case .repeatForever(let data):
                if data.isEmpty { return .idle }
                if let stop = write(data, now: now, sent: sent) { return stop }
                offset = 0
                continue
            }
            steps.removeFirst()
        }
        return .idle
    }

    /// Writes the remaining bytes of `data`. Returns `nil` when all bytes are written.
    private mutating func write(_ data: Data, now: Int64, sent: (Int) -> Void) -> Progress? {
        while offset < data.count {
            var limit = data.count - offset
            if let bytesPerSecond {
                guard now >= nextSend else { return .paced(until: nextSend) }
                limit = min(limit, max(bytesPerSecond / 50, 1))
            }
            let count = data.withUnsafeBytes { bytes in
                send(descriptor, bytes.baseAddress.map { $0 + offset }, limit, Int32(MSG_NOSIGNAL))
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : .interrupted
            }
            offset += count
            sent(count)
            if let bytesPerSecond { nextSend = now + Int64(count) * 1_000_000_000 / Int64(max(bytesPerSecond, 1)) }
        }
        return nil
    }
}
