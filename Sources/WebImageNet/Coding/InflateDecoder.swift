// SPDX-License-Identifier: MIT

import CContentCoding

/// A decoder for the content codings `gzip` (RFC 1952, with any number of members) and `deflate` (RFC 1950, and raw
/// RFC 1951, which many servers send).
final class InflateDecoder: ContentCodingDecoder {
    enum Kind {
        case gzip
        case deflate
    }

    private enum State {
        /// The decoder needs the first two bytes to determine the format.
        case starting
        case running
        case between
        /// The stream has ended. The decoder ignores the remaining bytes.
        case ended
    }

    private let kind: Kind
    private var stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private var isOpen = false
    private var state = State.starting
    private var lead: [UInt8] = []
    private let chunk = UnsafeMutableRawBufferPointer.allocate(byteCount: InflateDecoder.chunkSize, alignment: 16)

    init(_ kind: Kind) {
        self.kind = kind
        stream.initialize(to: z_stream())
    }

    deinit {
        if isOpen { inflateEnd(stream) }
        stream.deallocate()
        chunk.deallocate()
    }

    var isAtEnd: Bool {
        switch state {
        case .between, .ended: true
        case .starting, .running: false
        }
    }

    func decode(_ bytes: UnsafeRawBufferPointer, output: ContentDecoder.Output) throws(ContentDecoder.Failure) {
        var rest = bytes[...]
        while !rest.isEmpty {
            switch state {
            case .starting, .between:
                lead.append(rest.removeFirst())
                if lead.count == 2 { try open(output) }
            case .running:
                let consumed = try inflateSome(UnsafeRawBufferPointer(rebasing: rest), output)
                rest = rest.dropFirst(consumed)
            case .ended:
                return
            }
        }
    }

    private func open(_ output: ContentDecoder.Output) throws(ContentDecoder.Failure) {
        let start = lead
        lead = []
        if case .between = state {
            // Some servers send more bytes after the last member, and these bytes don't matter.
            guard start == [0x1f, 0x8b] else {
                state = .ended
                return
            }
            guard inflateReset(stream) == Z_OK else { throw .corrupt("zlib can't start another gzip member") }
        } else {
            // A zlib header specifies method 8 and is a multiple of 31 (RFC 1950 2.2).
            let isZlib = start[0] & 15 == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
            // zlib distinguishes the formats by this number: 16 more for gzip, and a negative number for data without a
            // header.
            let bits: Int32 = kind == .gzip ? 31 : isZlib ? 15 : -15
            guard wi_inflate_begin(stream, bits) == Z_OK else { throw .corrupt("zlib can't be initialized") }
            isOpen = true
        }
        state = .running
        var failure: ContentDecoder.Failure?
        start.withUnsafeBytes { bytes in
            do throws(ContentDecoder.Failure) {
                _ = try inflateSome(bytes, output)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// Inflates until the input is consumed or the member ends. Returns the number of consumed bytes.
    private func inflateSome(
        _ bytes: UnsafeRawBufferPointer, _ output: ContentDecoder.Output
    ) throws(ContentDecoder.Failure) -> Int {
        stream.pointee.next_in = bytes.baseAddress.map {
            UnsafeMutablePointer(mutating: $0.assumingMemoryBound(to: UInt8.self))
        }
        stream.pointee.avail_in = UInt32(clamping: bytes.count)
        repeat {
            stream.pointee.next_out = chunk.baseAddress?.assumingMemoryBound(to: UInt8.self)
            stream.pointee.avail_out = UInt32(chunk.count)
            let result = inflate(stream, Z_NO_FLUSH)
            let count = chunk.count - Int(stream.pointee.avail_out)
            if count > 0 { try output(UnsafeRawBufferPointer(rebasing: chunk[..<count])) }
            switch result {
            case Z_STREAM_END:
                state = kind == .gzip ? .between : .ended
                return bytes.count - Int(stream.pointee.avail_in)
            // Z_BUF_ERROR only means that zlib needs more input or more room.
            case Z_OK, Z_BUF_ERROR: break
            default: throw .corrupt(stream.pointee.msg.map { String(cString: $0) } ?? "zlib error \(result)")
            }
        } while stream.pointee.avail_out == 0 || stream.pointee.avail_in > 0
        return bytes.count
    }
}
