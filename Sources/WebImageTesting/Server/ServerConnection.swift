// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import WebImage

/// One accepted connection. Belongs to the server's thread.
struct ServerConnection {
    /// What a round of writing led to.
    enum Progress {
        /// The socket takes no more at present.
        case blocked
        /// Waits for a gate.
        case waiting(Gate)
        /// Waits for its time (nanoseconds of the monotonic clock).
        case paced(until: Int64)
        /// The answer is whole.
        case ended(ServerResponse.Ending)
        /// Nothing to do.
        case idle
        /// The client is gone.
        case lost
    }

    let number: Int
    let descriptor: Int32
    var parser = RequestParser()
    private var steps: ArraySlice<ServerStep> = []
    private var offset = 0
    private var bytesPerSecond: Int?
    private var nextSend: Int64 = 0
    /// Whether an answer is being given.
    private(set) var isAnswering = false

    init(number: Int, descriptor: Int32) {
        self.number = number
        self.descriptor = descriptor
    }

    mutating func begin(_ script: [ServerStep], bytesPerSecond: Int?) {
        steps = script[...]
        offset = 0
        self.bytesPerSecond = bytesPerSecond
        isAnswering = true
    }

    mutating func finishAnswer() { isAnswering = false }

    /// Does the next steps as far as they go now. `sent` is told every number of bytes written.
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

    /// Writes the rest of `data`; nil when all is written.
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
                return errno == EAGAIN ? .blocked : .lost
            }
            offset += count
            sent(count)
            if let bytesPerSecond { nextSend = now + Int64(count) * 1_000_000_000 / Int64(max(bytesPerSecond, 1)) }
        }
        return nil
    }
}
