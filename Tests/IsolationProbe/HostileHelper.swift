// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import WebImageCore
import WebImageIsolation

/// A helper that attacks its program. Its path ends with `hostile-<seed>`, and the seed selects the attacks. It isn't
/// confined, as if an attacker had control over a confined helper and ignored the limits of this test.
final class HostileHelper {
    private var random: UInt64
    private let socket = Int32(WI_HELPER_SOCKET)
    /// `MADV_REMOVE`, which frees the pages for all processes.
    private let removePages: Int32 = 9
    private var output: (address: UnsafeMutableRawPointer, size: Int)?
    private var input: (address: UnsafeMutableRawPointer, size: Int)?

    init(seed: UInt64) { random = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

    private func next(_ limit: Int) -> Int {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Int((random >> 33) % UInt64(max(1, limit)))
    }

    func run() -> Never {
        let layers = wi_sandbox_layers()
        send(MessageHead(.hello, request: 0).serialized(IsolationReport(layers).body))
        while true {
            guard wi_sandbox_poll(socket, false, -1) == 1, let head = receive() else { exit(0) }
            switch head.kind {
            case .inputRegion, .outputRegion, .closeSession: continue
            default: attack(head)
            }
        }
    }

    private func receive() -> MessageHead? {
        var descriptor: Int32 = -1
        var count = 0
        let message = [UInt8](unsafeUninitializedCapacity: MessageHead.maxMessage) { buffer, initialized in
            count = wi_sandbox_receive(socket, buffer.baseAddress, buffer.count, &descriptor)
            initialized = max(0, count)
        }
        guard count > 0, let (head, body) = try? MessageHead.parse(message) else { return nil }
        if descriptor >= 0, let size = try? NumberBody(body: body).number,
            let address = wi_sandbox_map(descriptor, size, true)
        {
            if head.kind == .inputRegion { input = (address, size) } else { output = (address, size) }
        }
        return head
    }

    private func send(_ bytes: [UInt8], _ descriptor: Int32 = -1) {
        _ = wi_sandbox_send(socket, bytes, bytes.count, descriptor)
    }

    /// Responds to a request with one of the attacks.
    private func attack(_ head: MessageHead) {
        scribble()
        switch next(20) {
        case 0: exit(Int32(next(256)))
        case 1: kill(getpid(), [SIGSEGV, SIGABRT, SIGKILL, SIGBUS, SIGILL][next(5)])
        case 2: close(socket)
        case 3: for _ in 0..<200 { send((0..<next(200)).map { _ in UInt8(next(256)) }) }
        case 4: send([UInt8](repeating: 0, count: MessageHead.maxMessage + next(40_000)))
        case 5:
            for _ in 0..<20 {
                send(MessageHead(.image, request: head.request).serialized(), open("/dev/null", O_RDONLY))
            }
        case 6:
            send(MessageHead(.needsRegion, request: head.request).serialized(number([1 << 62, -1, 1 << 42][next(3)])))
        case 7:
            for _ in 0..<3 { send(MessageHead(.needsRegion, request: head.request).serialized(number(next(1 << 20)))) }
        case 8: send(MessageHead(.needsFrame, request: head.request).serialized(number(next(10))))
        case 9: send(MessageHead(.image, request: head.request &+ UInt64(next(5)) &+ 1).serialized(image()))
        case 10: sendInMemory(head)
        case 11: send(MessageHead(.bytes, request: head.request).serialized(range()))
        case 12: send(MessageHead(.done, request: head.request).serialized(number(next(4) - 1)))
        case 13: send(MessageHead(.sessionLost, request: head.request).serialized())
        case 14: send(MessageHead(.failure, request: head.request).serialized(failure()))
        case 15: send(changed(MessageHead(.image, request: head.request).serialized(image())))
        case 16:
            if let output { munmap(output.address, output.size) }
            output = nil
            send(MessageHead(.image, request: head.request).serialized(image()))
        default:
            send(MessageHead(.image, request: head.request).serialized(image()))
            // The next message belongs to no request.
            if next(3) == 0 { send(MessageHead(.done, request: head.request).serialized(number(1))) }
        }
    }

    private func scribble() {
        for region in [input, output] {
            guard let region else { continue }
            for _ in 0..<50 {
                region.address.storeBytes(of: UInt8(next(256)), toByteOffset: next(region.size), as: UInt8.self)
            }
        }
        if let output, next(4) == 0 { madvise(output.address, output.size, removePages) }
    }

    private func number(_ value: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.put(value)
        return writer.bytes
    }

    private func range() -> [UInt8] { number(odd()) + number(odd()) }

    private func odd() -> Int {
        [-1, 0, 1, 63, 64, 4_096, 1 << 20, (1 << 20) + 1, 1 << 31, 1 << 40, Int.max, Int.min][next(12)]
    }

    private func failure() -> [UInt8] {
        var writer = WireWriter()
        writer.put(next(7_000))
        for _ in 0..<next(6) { writer.put(odd()) }
        writer.put("\u{1B}[31m" + String(repeating: "x", count: next(600)))
        return writer.bytes
    }

    private func sendInMemory(_ head: MessageHead) {
        var head = MessageHead(.image, request: head.request)
        head.bodyOffset = UInt64(bitPattern: Int64(odd()))
        head.bodyCount = UInt64(bitPattern: Int64(odd()))
        let body = image()
        if let output, body.count < output.size { output.address.copyMemory(from: body, byteCount: body.count) }
        send(head.serialized())
    }

    /// A description of an image in which most values are possible and some aren't.
    private func image() -> [UInt8] {
        func side() -> Int { next(6) == 0 ? odd() : 1 + next(64) }
        let (width, height) = (side(), side())
        var writer = WireWriter()
        writer.put(width)
        writer.put(height)
        writer.put(UInt8(next(8) == 0 ? next(256) : 0))
        let stride = PixelFormat.rgba8.bytesPerRow(width: max(0, min(width, 1 << 40))) ?? 0
        writer.put(next(6) == 0 ? odd() : stride)
        writer.put(UInt8(next(8) == 0 ? next(256) : 1))
        writer.put(next(6) == 0 ? odd() : 0)
        writer.put(true)
        writer.put(["jpeg", "png", "svg", "html", "x\u{1B}"][next(5)])
        writer.put(next(8) == 0 ? Double(odd()) * .nan : 1.0)
        writer.put(side())
        writer.put(side())
        writer.put(next(8) == 0 ? odd() : 1)
        writer.put(next(8) == 0 ? odd() : 8)
        for _ in 0..<3 { writer.put(UInt8(next(20) == 0 ? 2 : next(2))) }
        for _ in 0..<5 { writer.put(UInt8(0)) }
        if next(4) == 0 {
            writer.put(true)
            writer.put(odd())
            writer.put(next(2) == 0 ? odd() : 3)
            for _ in 0..<3 { writer.put(UInt32(truncatingIfNeeded: next(200))) }
        } else {
            writer.put(false)
        }
        writer.put(true)
        writer.put(next(8) == 0)
        return writer.bytes
    }

    private func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<1 + next(8) { bytes[next(bytes.count)] = UInt8(next(256)) }
        return next(3) == 0 ? Array(bytes.prefix(next(bytes.count))) : bytes
    }
}
