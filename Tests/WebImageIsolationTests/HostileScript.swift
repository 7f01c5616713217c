// SPDX-License-Identifier: MIT

import CSandbox
import Foundation
import Glibc
import WebImageCore
import WebImageTestSupport

@testable import WebImageIsolation

/// The attacks of a hostile helper (`Tests/HostileHelper`), which a seed determines.
struct HostileScript {
    /// The actions of the helper before it sends its messages, with the numbers that it knows.
    private enum Action: UInt32 {
        case send = 0
        case exit, signal, close, spin, sleep, unmap, resize, beyond, descriptors, race
    }

    private struct Attack {
        var action = Action.send
        var argument = 0
        /// The messages, and whether they get the number of the request.
        var messages: [(bytes: [UInt8], isResponse: Bool)] = []
    }

    private var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    /// Returns the content of the file with `count` attacks.
    mutating func file(count: Int) throws -> Data {
        let attacks = try (0..<count).map { _ in try attack() }
        var positions: [UInt32] = []
        var records: [UInt8] = []
        let start = 20 + 4 * count
        let base = (start + 7) / 8 * 8
        func append(_ numbers: [UInt32]) { for number in numbers { put(number, &records) } }
        let hello = MessageHead(.hello, request: 0).serialized(IsolationReport(.init()).body)
        appendMessage(hello, isResponse: false, &records)
        for attack in attacks {
            positions.append(UInt32(base + records.count))
            append([
                attack.action.rawValue, UInt32(attack.argument), UInt32(next(60)), UInt32(attack.messages.count),
            ])
            for message in attack.messages { appendMessage(message.bytes, isResponse: message.isResponse, &records) }
        }
        var bytes: [UInt8] = []
        put(0, &bytes)
        put(UInt32(count), &bytes)
        for kind in [MessageHead.Kind.inputRegion, .outputRegion, .closeSession] {
            bytes += [UInt8(truncatingIfNeeded: kind.rawValue), UInt8(kind.rawValue >> 8)]
        }
        bytes += [0, 0]
        put(UInt32(base), &bytes)
        for position in positions { put(position, &bytes) }
        bytes += [UInt8](repeating: 0, count: base - bytes.count)
        return Data(bytes + records)
    }

    private func put(_ number: UInt32, _ bytes: inout [UInt8]) {
        withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private func appendMessage(_ message: [UInt8], isResponse: Bool, _ records: inout [UInt8]) {
        put(UInt32(message.count), &records)
        put(isResponse ? 1 : 0, &records)
        records += message + [UInt8](repeating: 0, count: (8 - message.count % 8) % 8)
    }

    // MARK: Attacks

    private mutating func next(_ limit: Int) -> Int { Int.random(in: 0..<max(1, limit), using: &random) }

    private mutating func attack() throws -> Attack {
        switch next(28) {
        case 0: return Attack(action: .exit, argument: next(256))
        case 1: return Attack(action: .signal, argument: Int([SIGSEGV, SIGABRT, SIGKILL, SIGBUS, SIGILL][next(5)]))
        case 2: return Attack(action: .close)
        case 3: return try deadlines()
        case 4:
            let messages = (0..<1 + next(200)).map { _ in ((0..<next(200)).map { _ in UInt8(next(256)) }, false) }
            return Attack(messages: messages)
        case 5:
            return send([UInt8](repeating: 0, count: MessageHead.maxMessage + next(40_000)), isResponse: false)
        case 6:
            let message = (message(.image, try image()), true)
            return Attack(action: .descriptors, messages: Array(repeating: message, count: 1 + next(20)))
        case 7: return send(message(.needsRegion, number([1 << 62, -1, 1 << 42][next(3)])))
        case 8:
            return Attack(messages: (0..<3).map { _ in (message(.needsRegion, number(next(1 << 20))), true) })
        case 9: return send(message(.needsFrame, number(next(10))))
        case 10: return send(MessageHead(.image, request: UInt64(next(5))).serialized(try image()), isResponse: false)
        case 11: return send(inMemory())
        case 12: return send(message(.bytes, range()))
        case 13: return send(message(.done, number(next(4) - 1)))
        case 14: return send(message(.sessionLost, []))
        case 15: return send(message(.failure, failure()))
        case 16: return send(changed(message(.image, try image())))
        case 17: return Attack(action: .unmap, messages: [(message(.image, try image()), true)])
        case 18: return Attack(action: .resize, messages: [(message(.image, try image()), true)])
        case 19: return Attack(action: .beyond)
        case 20: return Attack(action: .race, argument: 1 + next(500), messages: [(message(.image, try image()), true)])
        case 21: return send([], isResponse: false)
        default:
            var own = send(message(.image, try image()))
            // The next message belongs to no request.
            if next(3) == 0 { own.messages.append((message(.done, number(1)), true)) }
            return own
        }
    }

    /// An attack on the deadlines, which only a kill can end.
    private mutating func deadlines() throws -> Attack {
        switch next(4) {
        case 0: Attack(action: .spin)
        case 1: Attack(action: .sleep)
        // A helper that's still working when it has sent half of the messages.
        case 2: Attack(action: .race, argument: 1 << 20, messages: [(message(.needsRegion, number(100)), true)])
        default: Attack()
        }
    }

    private func send(_ bytes: [UInt8], isResponse: Bool = true) -> Attack {
        Attack(messages: [(bytes, isResponse)])
    }

    private func message(_ kind: MessageHead.Kind, _ body: [UInt8]) -> [UInt8] {
        MessageHead(kind, request: 0).serialized(body)
    }

    private func number(_ value: Int) -> [UInt8] {
        var writer = BinaryWriter()
        writer.put(value)
        return writer.bytes
    }

    private mutating func range() -> [UInt8] {
        next(3) == 0 ? number(0) + number(next(4_096)) : number(odd()) + number(odd())
    }

    private mutating func odd() -> Int {
        [-1, 0, 1, 63, 64, 4_096, 1 << 20, (1 << 20) + 1, 1 << 31, 1 << 40, Int.max, Int.min][next(12)]
    }

    private mutating func failure() -> [UInt8] {
        guard next(3) > 0 else {
            return ImageError.decoding(
                .corrupted(format: .png, reason: "\u{1B}[31m" + String(repeating: "x", count: next(600)))
            ).body
        }
        var writer = BinaryWriter()
        writer.put(next(7_000))
        for _ in 0..<next(6) { writer.put(odd()) }
        writer.put("\u{1B}[31m" + String(repeating: "x", count: next(600)))
        return writer.bytes
    }

    private mutating func inMemory() -> [UInt8] {
        var head = MessageHead(.image, request: 0)
        head.bodyOffset = UInt64(bitPattern: Int64(odd()))
        head.bodyCount = UInt64(bitPattern: Int64(odd()))
        return head.serialized()
    }

    /// A description of an image in which most values are possible and some aren't.
    private mutating func image() throws -> [UInt8] {
        func plausible() -> Int { 1 + next(64) }
        let canvas = try PixelCanvas(size: PixelSize(width: plausible(), height: plausible()))
        var animation: ImageAnimation?
        if next(4) == 0 {
            let frame = canvas.finish(isOpaque: false)
            animation = try ImageAnimation(
                frameDurations: [.milliseconds(40), .milliseconds(80)], loopCount: next(3), cost: 0
            ) { _ in frame }
        }
        let pixels = try PixelCanvas(size: PixelSize(width: plausible(), height: plausible())).finish(isOpaque: true)
        let format: ImageFormat? = [.jpeg, .png, .svg, .html, ImageFormat(rawValue: "x\u{1B}"), nil][next(6)]
        var body = ImageBody(
            DecodedImage(pixels: pixels, animation: animation, scale: 1, format: next(2) == 0 ? .png : format),
            offset: next(4) == 0 ? 64 : 0)
        if next(14) == 0 { body.scale = [.nan, .infinity, -1, 0, 1e300][next(5)] }
        if next(14) == 0 { body.pixels.offset = abs(odd() / 2) }
        if next(14) == 0 { body.pixels.bytesPerRow = odd() }
        if next(14) == 0 { body.metadata.bitDepth = odd() }
        return next(5) == 0 ? changedFields(body.body) : body.body
    }

    /// Overwrites some of the values, most of which are numbers of eight bytes.
    private mutating func changedFields(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<1 + next(3) {
            let at = next(4) == 0 ? next(bytes.count) : next(6) * 8
            let value = number(odd())
            for (index, byte) in value.enumerated() where at + index < bytes.count { bytes[at + index] = byte }
        }
        return bytes
    }

    private mutating func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<1 + next(8) { bytes[next(bytes.count)] = UInt8(next(256)) }
        return next(3) == 0 ? Array(bytes.prefix(next(bytes.count))) : bytes
    }
}
