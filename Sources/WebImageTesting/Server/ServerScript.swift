// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// What a connection does to give an answer, step by step.
enum ServerStep: Sendable {
    /// Send these bytes.
    case send(Data)
    /// Go on when the gate is open.
    case wait(Gate)
    /// The answer is whole; treat the connection so.
    case end(ServerResponse.Ending)
    /// Do nothing more until the client leaves.
    case stall
}

extension ServerResponse {
    /// The steps that give this answer to a request of `method`.
    func script(method: String) -> [ServerStep] {
        if isSilent { return [.stall] }
        var steps: [ServerStep] = []
        if let headGate { steps.append(.wait(headGate)) }
        if let rawBytes { return steps + [.send(rawBytes), .end(ending)] }
        let head = headBytes()
        if let headCut { return steps + [.send(head.prefix(headCut)), .end(faultyEnding)] }
        let hasBody = method != "HEAD" && status >= 200 && status != 204 && status != 304
        guard hasBody else { return steps + [.send(head), .end(ending)] }
        // One write for head and body where nothing stands between them.
        let pieces = framedPieces()
        if bodyGate == nil, pieceGates.isEmpty, bodyCut == nil, bodyStall == nil {
            return steps + [.send(pieces.reduce(into: head) { $0.append($1) }), .end(finalEnding)]
        }
        steps.append(.send(head))
        if let bodyGate { steps.append(.wait(bodyGate)) }
        return steps + bodySteps(pieces)
    }

    private func bodySteps(_ pieces: [Data]) -> [ServerStep] {
        var steps: [ServerStep] = []
        var left = bodyCut ?? bodyStall ?? .max
        for (index, piece) in pieces.enumerated() {
            if index < pieceGates.count { steps.append(.wait(pieceGates[index])) }
            steps.append(.send(piece.prefix(left)))
            left -= min(left, piece.count)
            if left == 0 { break }
        }
        if bodyStall != nil { return steps + [.stall] }
        return steps + [.end(bodyCut == nil ? finalEnding : faultyEnding)]
    }

    private var faultyEnding: Ending { ending == .reset ? .reset : .close }

    private var finalEnding: Ending {
        guard ending == .keepAlive else { return ending }
        switch framing {
        case .length, .chunked: return .keepAlive
        case .untilClose: return .close
        case .lie(let count): return count > body.count ? .close : .keepAlive
        }
    }

    private func framedPieces() -> [Data] {
        let size = max(pieceSize ?? body.count, 1)
        var pieces = stride(from: 0, to: body.count, by: size).map { start in
            Data(body.dropFirst(start).prefix(size))
        }
        guard framing == .chunked else { return pieces }
        pieces = pieces.map { Data("\(String($0.count, radix: 16))\r\n".utf8) + $0 + Data("\r\n".utf8) }
        return pieces + [Data("0\r\n\r\n".utf8)]
    }

    private func headBytes() -> Data {
        var text = "HTTP/1.1 \(status) \(status == 200 ? "OK" : "Status")\r\n"
        for field in fields.lines { text += "\(field.name): \(field.value)\r\n" }
        switch framing {
        case .length: if status >= 200, status != 204, status != 304 { text += "Content-Length: \(body.count)\r\n" }
        case .lie(let count): text += "Content-Length: \(count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose: break
        }
        if finalEnding != .keepAlive { text += "Connection: close\r\n" }
        text += "\r\n"
        return Data(text.unicodeScalars.map { $0.value < 256 ? UInt8($0.value) : UInt8(ascii: "?") })
    }
}
