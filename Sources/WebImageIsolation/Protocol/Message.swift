// SPDX-License-Identifier: MIT

import WebImageCore

/// The head of a message, which precedes its body.
package struct MessageHead: Hashable, Sendable {
    /// The kinds of messages.
    package enum Kind: UInt16, Sendable, BinaryCodable {
        // From the program to the helper.
        case inputRegion = 1, outputRegion, decode, frame, openProgressive, append, preview, encode, transcode
        case framePixels, closeSession
        // From the helper to the program.
        case hello = 100, image, bytes, failure, done, needsRegion, needsFrame, sessionLost
    }

    /// The kind of the message.
    package var kind: Kind
    /// The number of the request that the message belongs to.
    package var request: UInt64
    /// The position of the body in the shared memory of the sender. It's only meaningful if `bodyCount` isn't 0.
    package var bodyOffset: UInt64 = 0
    /// The size of the body in shared memory in bytes, or 0 if the body follows the head.
    package var bodyCount: UInt64 = 0

    /// The maximum size of a message on the socket, in bytes.
    package static let maxMessage = 32 << 10
    /// The maximum size of a body in shared memory, in bytes.
    package static let maxBody = 64 << 20
    /// The size of a head, in bytes.
    package static let size = 32
    private static let magic: UInt32 = 0x4857_4957
    /// The version of the protocol. Programs and helpers with different versions don't work together.
    package static let version: UInt16 = 7

    /// Creates a head.
    package init(_ kind: Kind, request: UInt64) {
        self.kind = kind
        self.request = request
    }

    /// Reads a head, and returns the body that follows it.
    package static func parse(_ message: [UInt8]) throws(MalformedData) -> (head: MessageHead, body: [UInt8]) {
        let head = try MessageHead(body: Array(message.prefix(size)))
        guard head.bodyCount == 0 || message.count == size else { throw MalformedData("the message has two bodies") }
        return (head, Array(message[size...]))
    }

    /// Returns the bytes of the message.
    package func serialized(_ body: [UInt8] = []) -> [UInt8] { self.body + body }
}

extension MessageHead: BinaryFields {
    package static let blank = MessageHead(.hello, request: 0)

    package mutating func code(with coder: inout some FieldCoder) throws(MalformedData) {
        var (magic, version) = (Self.magic, Self.version)
        try coder.code(&magic)
        guard magic == Self.magic else { throw MalformedData("the message has no signature") }
        try coder.code(&version)
        guard version == Self.version else {
            throw MalformedData("the protocol has version \(version) instead of \(Self.version)")
        }
        try coder.code(&kind)
        try coder.code(&request)
        try coder.code(&bodyOffset)
        try coder.code(&bodyCount)
    }

    package func check() throws(MalformedData) {
        guard bodyCount <= UInt64(Self.maxBody) else { throw MalformedData("the body has \(bodyCount) bytes") }
    }
}

/// The layout of the memory in which the program passes data to a helper.
package enum InputLayout {
    /// The number of bytes before the payload. The first word contains the number of the canceled request.
    package static let payload = 64
}
