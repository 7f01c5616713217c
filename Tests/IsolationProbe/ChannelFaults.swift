// SPDX-License-Identifier: MIT

import CIsolationProbe
import Foundation
import Glibc
import Synchronization
import WebImageCodecs
import WebImageConcurrency
import WebImageCore
import WebImageIsolation

/// Lets each call fail with which this process talks to its helpers: `isolation-probe faults <path of
/// webimage-decoder>`. Each request must return the correct result or throw an ``ImageError``, and descriptors, shared
/// memory, and processes must not remain. The process prints problems and ends with the status 1 if there are any.
final class ChannelFaults {
    private var problems: [String] = []
    /// The numbers of failed calls by function.
    private var failed: [String: Int] = [:]
    private var errors: [Int: Int] = [:]
    private var successes = 0
    /// The time of the pools, which remember for 30 seconds that a helper couldn't be started.
    private let seconds = SharedSeconds()
    /// The number of descriptors that this process inherited, such as the one with which Foundation watches processes.
    private let inherited = ChannelFaults.sockets()
    private let path: String
    private let png: Data
    private let apng: Data
    private let still: [UInt8]
    private let frames: [[UInt8]]

    init(_ path: String) throws {
        self.path = path
        let plain = try Self.image(33, 20, 1)
        let buffers = try (0..<3).map { try Self.image(16, 12, UInt32($0)).pixels }
        let animation = try ImageAnimation(
            frameDurations: buffers.map { _ in .milliseconds(50) }, loopCount: 0, cost: 0
        ) { buffers[$0] }
        png = try ImageCoderRegistry.standard.encode(plain, as: .png)
        apng = try ImageCoderRegistry.standard.encode(
            DecodedImage(pixels: buffers[0], animation: animation), as: .apng)
        still = plain.pixels.packedBytes()
        frames = buffers.map { $0.packedBytes() }
    }

    private static func image(_ width: Int, _ height: Int, _ seed: UInt32) throws -> DecodedImage {
        let canvas = try PixelCanvas(size: PixelSize(width: width, height: height))
        var state = seed
        canvas.withUnsafeMutableBytes { bytes in
            for at in bytes.indices {
                state = state &* 1_664_525 &+ 1_013_904_223
                bytes[at] = at % 4 == 3 ? 255 : UInt8(state >> 24)
            }
        }
        return DecodedImage(pixels: canvas.finish(isOpaque: true))
    }

    func run() -> Int32 {
        for isTransient in [false, true] {
            // Without a usable helper, an error follows in one round, and the work in this process in the other one.
            starts(isTransient, !isTransient)
            requests(isTransient, !isTransient)
        }
        checkEnd()
        print("failed calls: \(failed.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
        print(
            "results: \(successes) correct, errors \(errors.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" })"
        )
        for problem in problems { print("PROBLEM: \(problem)") }
        return problems.isEmpty ? 0 : 1
    }

    private func makePool() -> HelperPool {
        HelperPool(
            HelperPool.Configuration(path: path, maxHelpers: 1),
            time: TimeSource(now: { Date() }, uptime: { [seconds] in seconds.value }))
    }

    private func coders(_ pool: HelperPool, _ isRequired: Bool) -> ImageCoderRegistry {
        ImageCoderRegistry.standard.isolated(
            by: IsolationPolicy(pool: pool, isolatesAllFormats: true, isRequired: isRequired), builtIn: .standard)
    }

    /// The functions that fail. Their calls are counted separately, because other threads call some of them at any time.
    private let functions = [
        "socketpair", "sendmsg", "recvmsg", "memfd_create", "ftruncate", "fcntl", "mmap", "poll", "posix_spawn",
        "posix_spawn_file_actions_addopen", "pidfd_open", "waitid",
    ].map { (text: String) in (text: text, name: strdup(text)) }

    /// Calls `body` with each number of a call of each function, until the function has fewer calls.
    private func eachCall(_ what: String, _ body: (_ name: UnsafeMutablePointer<CChar>?, Int, String) -> Bool) {
        for function in functions {
            let isOver = (1...400).contains { call in
                body(function.name, call, "\(what), call \(call) of \(function.text)")
            }
            if !isOver { problems.append("\(what): \(function.text) has no end") }
        }
    }

    /// Lets each call fail that starts the first helper and serves its first request.
    private func starts(_ isTransient: Bool, _ isRequired: Bool) {
        eachCall("start") { name, call, title in
            let pool = makePool()
            wi_probe_fail(name, call, isTransient)
            decode(coders(pool, isRequired), title, isRequired)
            let isOver = note()
            // The failure isn't permanent.
            seconds.advance(by: 100)
            let before = successes
            decode(coders(pool, true), "after \(title)", isRequired)
            if successes == before { problems.append("the pool doesn't recover: \(title)") }
            return isOver
        }
    }

    /// Lets each call fail of requests to a running helper.
    private func requests(_ isTransient: Bool, _ isRequired: Bool) {
        let pool = makePool()
        let coders = coders(pool, isRequired)
        decode(coders, "first request", isRequired)
        eachCall("requests") { name, call, title in
            wi_probe_fail(name, call, isTransient)
            decode(coders, "decoding: \(title)", isRequired)
            play(coders, "animation: \(title)", isRequired)
            encode(coders, "encoding: \(title)", isRequired)
            let isOver = note()
            // Neither the crashes nor the failures are remembered.
            seconds.advance(by: 10_000)
            let open = Self.sharedMemory()
            // The helper and one that's being collected, each with two parts.
            if open > 4 { problems.append("\(title): \(open) parts of shared memory") }
            return isOver
        }
    }

    /// Ends the fault. Returns whether the number of calls was too small for it.
    private func note() -> Bool {
        let name = wi_probe_failed().map { String(cString: $0) }
        let isOver = name == nil && wi_probe_is_pending()
        wi_probe_fail(nil, 0, false)
        if let name { failed[name, default: 0] += 1 }
        return isOver
    }

    private func expect(_ name: String, _ isRequired: Bool, _ work: () throws -> Bool) {
        do {
            if try work() { successes += 1 } else { problems.append("\(name): the result is wrong") }
        } catch let error as ImageError {
            errors[error.code, default: 0] += 1
            // Without a usable helper, these formats are decoded in process.
            if !isRequired, error.code == 4012 { problems.append("\(name): \(error)") }
        } catch {
            problems.append("\(name): \(error)")
        }
    }

    private func decode(_ coders: ImageCoderRegistry, _ name: String, _ isRequired: Bool) {
        expect(name, isRequired) { try coders.decode(png).pixels.packedBytes() == still }
    }

    private func play(_ coders: ImageCoderRegistry, _ name: String, _ isRequired: Bool) {
        expect(name, isRequired) {
            guard let animation = try coders.decode(apng).animation else { return false }
            return try [2, 0, 1].allSatisfy { try animation.frame(at: $0).packedBytes() == frames[$0] }
        }
    }

    private func encode(_ coders: ImageCoderRegistry, _ name: String, _ isRequired: Bool) {
        expect(name, isRequired) {
            let image = try Self.image(33, 20, 1)
            return try ImageCoderRegistry.standard.decode(coders.encode(image, as: .png)).pixels.packedBytes() == still
        }
    }

    // MARK: Leaks

    private static func sharedMemory() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.contains("memfd:webimage") == true
        }.count
    }

    private static func sockets() -> Int {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return names.filter { name in
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
            return target?.hasPrefix("socket:") == true || target?.contains("pidfd") == true
        }.count
    }

    /// Returns the status of the processes that this process has started.
    private static func children() -> [String] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        let lists = threads.compactMap {
            try? String(contentsOfFile: "/proc/self/task/\($0)/children", encoding: .utf8)
        }
        return lists.flatMap { $0.split(separator: " ") }.map { id in
            (try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)).map { String($0.prefix(60)) } ?? "\(id)"
        }
    }

    /// All pools have ended. Waits until their keepers have collected the processes.
    private func checkEnd() {
        let deadline = ContinuousClock.now + .seconds(60)
        var info = siginfo_t()
        while waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || Self.sockets() > inherited
            || Self.sharedMemory() > 0
        {
            guard ContinuousClock.now < deadline else { break }
            sched_yield()
        }
        if waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 {
            problems.append("processes remain: \(Self.children())")
        }
        if Self.sockets() > inherited {
            problems.append("\(Self.sockets() - inherited) sockets and descriptors of processes remain")
        }
        let maps = (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8)) ?? ""
        let mapped = maps.split(separator: "\n").filter { $0.contains("memfd:webimage") }.count
        if Self.sharedMemory() + mapped > 0 {
            problems.append("\(Self.sharedMemory()) descriptors and \(mapped) mappings of shared memory remain")
        }
    }
}

/// The time of the pools in seconds.
private final class SharedSeconds: Sendable {
    private let seconds = Lock(0.0)

    var value: Double { seconds.withLock { $0 } }

    func advance(by time: Double) { seconds.withLock { $0 += time } }
}
