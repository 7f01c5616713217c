// SPDX-License-Identifier: MIT

import CSandbox
import Glibc
import Synchronization
import WebImageConcurrency
import WebImageCore

/// The kinds of helpers, which differ in the files that they may read and in the libraries that they load.
package enum HelperKind: String, Sendable, Hashable, CaseIterable {
    /// A helper for JPEG, PNG, GIF, WebP, BMP, ICO, QOI, and Netpbm. It can't open any file, and it starts in half the
    /// time of the others, because it loads none of the libraries that are loaded with their first use.
    case core
    /// A helper for all images of pixels. It can't open any file.
    case raster
    /// A helper for SVG and PDF, which reads fonts.
    case vector

    /// Whether helpers of this kind do the work for which another kind is the smallest one.
    func serves(_ kind: HelperKind) -> Bool { self == kind || self == .raster && kind == .core }
}

/// The reason why a helper can't be used any longer.
enum HelperFailure: Error {
    /// The process ended. The signal is 0 if the process exited or if the signal isn't known.
    case died(signal: Int32)
    /// The helper violated the protocol.
    case violation(String)
    /// The work failed. The helper was killed only if it didn't stop in time.
    case failed(ImageError)
}

/// The times for which a program waits for a helper beyond the limits of a request.
package struct HelperPatience: Sendable, Hashable {
    /// The time after which a helper is killed that doesn't stop canceled work.
    package var grace = Duration.milliseconds(50)
    /// The time that a helper may use beyond the limit, so that its own check reports the limit.
    package var margin = Duration.milliseconds(250)
    /// The time that a helper may wait beyond four times the limit without using the processor.
    package var idle = Duration.seconds(5)
    /// The time in which a process that closed its socket must end on its own. Otherwise, it's killed, and the signal
    /// with which it wanted to end isn't known.
    package var farewell = Duration.milliseconds(200)

    /// Creates the default times.
    package init() {}
}

/// A helper process with its socket and its shared memory. One thread at a time uses it.
package final class HelperProcess: @unchecked Sendable {
    // Safe: the pool gives a helper to one thread at a time, and the lock of the pool orders these threads.

    /// A number that no other helper of this program has.
    package let number: UInt64
    let kind: HelperKind
    let patience: HelperPatience
    /// The number of the process.
    package let id: pid_t
    /// The layers of its confinement.
    package private(set) var report: IsolationReport?
    let socket: Int32
    private let process: Int32
    private(set) var input: SharedRegion?
    private(set) var output: SharedRegion?
    private(set) var isEnded = false
    var uses = 0
    /// The size of the largest result or input since the start, in bytes.
    private(set) var largestSize = 0
    private(set) var lastRequest: UInt64 = 0
    /// The time at which the pool received the helper back.
    var idleSince = ContinuousClock.now
    /// Whether the memory was freed since the last use.
    var isTrimmed = false
    private var deathSignal: Int32?
    /// The address space after the start, in bytes.
    private var initialMemory = 0
    private var memoryLimit: Int?

    /// The address space for fragmented memory and for libraries that are loaded later, in bytes.
    private static let memorySlack = 64 << 20
    /// The address space for the stack of a thread, in bytes.
    private static let stackSize = 8 << 20
    /// The address space of an idle helper, which only matters if the system doesn't report it.
    private static let usualMemory = 192 << 20

    private static let numbers = Counter()

    private init(kind: HelperKind, patience: HelperPatience, id: pid_t, process: Int32, socket: Int32) {
        number = Self.numbers.next()
        self.patience = patience
        self.kind = kind
        self.id = id
        self.process = process
        self.socket = socket
    }

    deinit {
        if !isEnded { wi_sandbox_kill(process) }
        // On a busy machine, the end of a killed process takes longer. No other code collects the process later.
        for _ in 0..<10 where !reap(milliseconds: 1_000) {}
        close(socket)
        close(process)
    }

    /// Starts a helper and waits until it's confined and ready. Throws a description of the problem.
    static func start(
        _ kind: HelperKind, path: String, memoryLimit: Int, patience: HelperPatience, timeout: Duration
    ) throws(HelperStartFailure) -> HelperProcess {
        var sockets: (Int32, Int32) = (-1, -1)
        let error = withUnsafeMutableBytes(of: &sockets) { raw in
            raw.bindMemory(to: Int32.self).baseAddress.map { wi_sandbox_pair($0) } ?? EINVAL
        }
        guard error == 0 else { throw HelperStartFailure("no socket can be created (\(text(error)))") }
        var id: pid_t = 0
        var process: Int32 = -1
        let started = spawn([path, kind.rawValue, "\(memoryLimit)"], sockets.1, &id, &process)
        // Only the helper may have this end. Otherwise, the program would not be notified when the helper ends.
        close(sockets.1)
        guard started == 0 else {
            close(sockets.0)
            throw HelperStartFailure("\(path) can't be started (\(text(started)))")
        }
        let helper = HelperProcess(kind: kind, patience: patience, id: id, process: process, socket: sockets.0)
        try helper.awaitReport(timeout)
        return helper
    }

    private static func spawn(
        _ arguments: [String], _ socket: Int32, _ id: inout pid_t, _ process: inout Int32
    ) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        guard let path = pointers[0] else { return ENOMEM }
        return wi_sandbox_spawn(path, pointers, socket, &id, &process)
    }

    private static func text(_ error: Int32) -> String { String(cString: strerror(error)) }

    private func awaitReport(_ timeout: Duration) throws(HelperStartFailure) {
        let milliseconds = Int32(clamping: Int(saturating: timeout / .milliseconds(1)))
        guard wi_sandbox_poll(socket, false, milliseconds) == 1 else {
            throw HelperStartFailure("the helper didn't start within \(timeout)")
        }
        do {
            let (head, body) = try receive()
            // The helper sends its report after its confinement, so no request can reach a helper that isn't confined.
            guard head.kind == .hello else { throw MalformedData("the first message isn't the report") }
            report = try IsolationReport(body: body)
            // The helper has loaded its libraries by now, so each limit includes their address space.
            initialMemory = addressSpace
        } catch let violation as MalformedData {
            throw HelperStartFailure("the helper isn't usable: \(violation.reason)")
        } catch {
            throw HelperStartFailure("the helper ended while it started")
        }
    }

    // MARK: Messages

    func nextRequest() -> UInt64 {
        lastRequest += 1
        uses += 1
        isTrimmed = false
        return lastRequest
    }

    /// Whether the helper sent a message without a request, or ended.
    var hasUnexpectedMessage: Bool { isEnded || wi_sandbox_poll(socket, false, 0) != 0 }

    /// Sends a message. The receive buffer of an honest helper is never full.
    func send(_ message: [UInt8], descriptor: Int32 = -1) throws(HelperFailure) {
        for attempt in 0..<2 {
            let error = wi_sandbox_send(socket, message, message.count, descriptor)
            switch error {
            case 0: return
            case EAGAIN where attempt == 0: _ = wi_sandbox_poll(socket, true, 1_000)
            case EAGAIN: throw end(.violation("the helper doesn't read its messages"))
            default: throw died()
            }
        }
    }

    /// Receives the message that has arrived.
    func receive() throws(HelperFailure) -> (head: MessageHead, body: [UInt8]) {
        var count = 0
        let message = [UInt8](unsafeUninitializedCapacity: MessageHead.maxMessage) { buffer, initialized in
            // A helper has no reason to send descriptors, so the kernel discards them.
            count = wi_sandbox_receive(socket, buffer.baseAddress, buffer.count, nil)
            initialized = max(0, count)
        }
        guard count != -Int(EMSGSIZE) else { throw end(.violation("a message is too long")) }
        guard count > 0 else { throw died() }
        do throws(MalformedData) {
            var (head, body) = try MessageHead.parse(message)
            if head.bodyCount > 0 {
                // The helper can change shared memory at any time, so copy the body before it is checked.
                guard let copy = output?.copy(offset: head.bodyOffset, count: head.bodyCount) else {
                    throw MalformedData("the body is outside the memory")
                }
                body = copy
            }
            return (head, body)
        } catch {
            throw end(.violation(error.reason))
        }
    }

    // MARK: Memory

    /// Returns memory for `byteCount` bytes after the control words, which the helper can read.
    func inputRegion(_ byteCount: Int) throws(HelperFailure) -> SharedRegion {
        let (size, overflow) = byteCount.addingReportingOverflow(InputLayout.payload)
        if let input, !overflow, input.size >= size { return input }
        guard !overflow, let region = SharedRegion(byteCount: size, isWritable: true) else {
            throw .failed(.decoding(.outOfMemory(byteCount: byteCount)))
        }
        largestSize = max(largestSize, size)
        try send(region, as: .inputRegion)
        input = region
        return region
    }

    /// Ensures that the helper can write results of `byteCount` bytes.
    func ensureOutput(_ byteCount: Int) throws(HelperFailure) {
        largestSize = max(largestSize, byteCount)
        if let output, output.roomForResults >= byteCount { return }
        let (size, overflow) = byteCount.addingReportingOverflow(SharedRegion.progressSize)
        // This process only reads results, so its mapping is read-only.
        guard !overflow, let region = SharedRegion(byteCount: size, isWritable: false) else {
            throw .failed(.decoding(.outOfMemory(byteCount: byteCount)))
        }
        try send(region, as: .outputRegion)
        output = region
    }

    private func send(_ region: SharedRegion, as kind: MessageHead.Kind) throws(HelperFailure) {
        let message = MessageHead(kind, request: lastRequest).serialized(NumberBody(region.size).body)
        try send(message, descriptor: region.sendable)
    }

    /// Limits the address space for the next request, which may use `growth` bytes. The process itself can't raise the
    /// limit.
    func limitMemory(growth: Int, threadCount: Int) {
        guard !isEnded else { return }
        // A helper keeps animations, the decoders of previews, and buffers for the next request.
        let base = max(initialMemory + Self.memorySlack, addressSpace + Self.memorySlack / 2)
        let (sum, overflow) = growth.addingReportingOverflow(base + threadCount * Self.stackSize)
        let limit = overflow ? Int.max : sum
        // Consecutive requests often have the same limit, which then needs no system call.
        guard limit != memoryLimit else { return }
        memoryLimit = limit
        // If this call fails, the limit with which the process was started remains.
        _ = wi_sandbox_set_memory(id, UInt64(limit))
    }

    /// The current address space of the process, in bytes.
    private var addressSpace: Int {
        let size = wi_sandbox_address_space(id)
        return size < 0 ? Self.usualMemory : Int(size)
    }

    /// Frees the shared memory, which no request uses.
    func trim() {
        input?.discard()
        output?.discard()
        isTrimmed = true
    }

    // MARK: End

    var processorTime: Duration {
        let time = wi_sandbox_time(id)
        return time < 0 ? .zero : .nanoseconds(time)
    }

    /// Tells the helper to stop the work of a request.
    func cancel(_ request: UInt64) {
        // The helper doesn't read its socket while it works, so a word in shared memory contains the number.
        if let input { wi_sandbox_store(input.address, UInt32(truncatingIfNeeded: request)) }
    }

    /// Kills the process, and returns the failure.
    func end(_ failure: HelperFailure) -> HelperFailure {
        kill()
        return failure
    }

    /// Kills the process. It's collected later.
    package func kill() {
        guard !isEnded else { return }
        isEnded = true
        wi_sandbox_kill(process)
    }

    /// Waits for the end of a process that has closed its socket, and returns the reason.
    func died() -> HelperFailure {
        // A process that only closed its socket is killed, but its own signal counts if it's already ending.
        if !reap(milliseconds: Int32(clamping: Int(saturating: patience.farewell / .milliseconds(1)))) {
            wi_sandbox_kill(process)
        }
        isEnded = true
        reap(milliseconds: 1_000)
        return .died(signal: deathSignal ?? 0)
    }

    /// Collects the process if it ends in time, so that no zombie remains.
    @discardableResult
    func reap(milliseconds: Int32) -> Bool {
        if deathSignal != nil { return true }
        var signal: Int32 = 0
        guard wi_sandbox_wait(process, milliseconds, &signal) != ETIMEDOUT else { return false }
        deathSignal = signal
        return true
    }
}

/// The reason why a helper can't be started, as a clause.
struct HelperStartFailure: Error, Sendable {
    let reason: String
    init(_ reason: String) { self.reason = reason }
}

/// Numbers that count up.
final class Counter: Sendable {
    private let last = Lock<UInt64>(0)

    func next() -> UInt64 {
        last.withLock { last in
            last += 1
            return last
        }
    }
}
