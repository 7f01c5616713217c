// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore
import WebImageHTTP

/// The thread of the loopback server, which polls the listening socket, a wake-up pipe, and the connections.
///
/// Safe: only the thread of the loop accesses `sockets`, `connections`, `paced`, and `nextNumber`. Before the thread
/// starts, only the creator of the server accesses them. All other properties are constants or guarded by locks.
final class ServerLoop: @unchecked Sendable {
    enum Command: Sendable {
        case proceed(Int)
        case closeIdle(resetting: Bool, done: TestGate)
        case writeToIdle(Data, done: TestGate)
        case acceptPending(done: TestGate)
        case stop
    }

    struct Log: Sendable {
        var counters = LoopbackServer.Counters()
        var requests: [LoopbackServer.Request] = []
    }

    let log = AwaitableValue(Log())
    let port: UInt16
    let handler: LoopbackServer.Handler
    private let acceptance: LoopbackServer.Acceptor
    private var sockets: ServerSockets
    private let waker: Int32
    private let commands = Lock<[Command]>([])
    private let ended = TestGate()
    var connections: [Int: ServerConnection] = [:]
    private var paced: [Int: Int64] = [:]
    private var nextNumber = 0

    init(
        handler: @escaping LoopbackServer.Handler, acceptance: @escaping LoopbackServer.Acceptor
    ) throws(ImageError) {
        self.handler = handler
        self.acceptance = acceptance
        sockets = try ServerSockets()
        port = sockets.port
        waker = sockets.waker
    }

    deinit { sockets.closeAll() }

    func start() {
        let thread = Thread { [self] in
            run()
            sockets.closeListener()
            ended.open()
        }
        thread.name = "loopback server"
        thread.start()
    }

    func stop() {
        post(.stop)
        ended.blockingWait()
    }

    func post(_ command: Command) {
        guard !ended.isOpen else { return command.resume() }
        commands.withLock { $0.append(command) }
        ServerSockets.wake(waker)
        // The loop may have ended after the first check and before the command was appended.
        if ended.isOpen { drain().forEach { $0.resume() } }
    }

    private func drain() -> [Command] {
        commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
    }

    private func run() {
        while true {
            for event in sockets.wait(milliseconds: pollTimeout()) {
                switch event {
                case .listener: acceptAll()
                case .wake: break
                case .connection(let number, let readable):
                    if readable { receive(number) }
                    proceed(number)
                }
            }
            for command in drain() where !perform(command) {
                for number in Array(connections.keys) { close(number, resetting: false) }
                drain().forEach { $0.resume() }
                return
            }
            let now = SystemClock.nanoseconds
            for number in paced.filter({ $0.value <= now }).keys { proceed(number) }
        }
    }

    private func pollTimeout() -> Int32 {
        guard let next = paced.values.min() else { return -1 }
        return Int32(clamping: max(0, (next - SystemClock.nanoseconds + 999_999) / 1_000_000))
    }

    /// Performs a command. Returns `false` if the command ends the loop.
    private func perform(_ command: Command) -> Bool {
        switch command {
        case .stop:
            return false
        case .proceed(let number):
            proceed(number)
        case .closeIdle(let resetting, let done):
            for (number, connection) in connections where !connection.isResponding {
                close(number, resetting: resetting)
            }
            done.open()
        case .writeToIdle(let bytes, let done):
            for connection in connections.values where !connection.isResponding {
                _ = bytes.withUnsafeBytes {
                    send(connection.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                }
            }
            done.open()
        case .acceptPending(let done):
            acceptAll()
            done.open()
        }
        return true
    }

    private func acceptAll() {
        while let descriptor = sockets.accept() {
            let number = nextNumber
            nextNumber += 1
            connections[number] = ServerConnection(number: number, descriptor: descriptor)
            sockets.add(descriptor, number: number)
            log.update { log in
                log.counters.connections += 1
                log.counters.mostOpenConnections = max(
                    log.counters.mostOpenConnections, log.counters.openConnections)
            }
            if acceptance(number) == .reset { close(number, resetting: true) }
        }
    }

    private func receive(_ number: Int) {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while let descriptor = connections[number]?.descriptor {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            guard count > 0 else { return close(number, resetting: false) }
            connections[number]?.parser.append(buffer[..<count])
        }
    }

    private func proceed(_ number: Int) {
        paced[number] = nil
        while let connection = connections[number] {
            if !connection.isResponding, !beginNext(number) { return }
            var sentBytes = 0
            let progress = connections[number]?.proceed(now: SystemClock.nanoseconds) { sentBytes += $0 }
            let sent = sentBytes
            if sent > 0 { log.update { $0.counters.bytesSent += sent } }
            switch progress {
            case .ended(.keepAlive):
                connections[number]?.finishResponse()
                sockets.watch(number: number, writable: false)
            case .ended(let ending):
                return close(number, resetting: ending == .reset)
            case .waiting(let gate):
                return gate.whenOpen { [weak self] in self?.post(.proceed(number)) }
            case .paced(let until):
                paced[number] = until
                return
            case .blocked:
                sockets.watch(number: number, writable: true)
                return
            case .interrupted:
                return close(number, resetting: false)
            case .idle, nil:
                return
            }
        }
    }

    /// Starts the response to the next request. Returns `false` if no complete request has arrived.
    private func beginNext(_ number: Int) -> Bool {
        do {
            guard let message = try connections[number]?.parser.next() else { return false }
            let request = log.update { log in
                let request = LoopbackServer.Request(
                    index: log.counters.requests, connection: number, method: message.method,
                    target: message.target, headers: message.headers, body: message.body)
                log.counters.requests += 1
                log.requests.append(request)
                return request
            }
            let response = handler(request)
            connections[number]?.begin(
                response.script(method: message.method), bytesPerSecond: response.bytesPerSecond)
        } catch {
            let response = LoopbackServer.Response.status(400).with { $0.ending = .close }
            connections[number]?.begin(response.script(method: "GET"), bytesPerSecond: nil)
        }
        return true
    }

    private func close(_ number: Int, resetting: Bool) {
        guard connections.removeValue(forKey: number) != nil else { return }
        paced[number] = nil
        sockets.close(number: number, resetting: resetting)
        log.update { $0.counters.closedConnections += 1 }
    }
}

extension ServerLoop.Command {
    /// Resumes the caller that waits for a command that won't be performed.
    fileprivate func resume() {
        switch self {
        case .closeIdle(_, let done), .writeToIdle(_, let done), .acceptPending(let done): done.open()
        case .proceed, .stop: break
        }
    }
}
