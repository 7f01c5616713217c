// SPDX-License-Identifier: MIT

import Foundation
import WebImage

/// A step of a connection that sends a response.
enum ServerStep: Sendable {
    /// Sends bytes.
    case send(Data)
    /// Continues after the gate is open.
    case wait(Gate)
    /// Ends the response and treats the connection as specified.
    case end(ServerResponse.Ending)
    /// Sends bytes repeatedly without an end.
    case repeatForever(Data)
    /// Does nothing until the client closes the connection.
    case stall
}

extension ServerResponse {
    /// Returns the steps that send this response to a request with the given method.
    func script(method: String) -> [ServerStep] {
        if isSilent { return [.stall] }
        var steps: [ServerStep] = []
        if let headGate { steps.append(.wait(headGate)) }
        if let rawBytes { return steps + [.send(rawBytes), last(ending)] }
        let head = preamble + headBytes()
        if let headCut { return steps + [.send(head.prefix(headCut)), last(faultyEnding)] }
        let hasBody = method != "HEAD" && status >= 200 && status != 204 && status != 304
        guard hasBody else { return steps + [.send(head + surplus), last(ending)] }
        // If nothing separates the head from the body, send both in one write.
        let pieces = framedPieces()
        if bodyGate == nil, pieceGates.isEmpty, bodyCut == nil, bodyStall == nil, !isEndless {
            return steps + [.send(pieces.reduce(into: head) { $0.append($1) } + surplus), last(finalEnding)]
        }
        steps.append(.send(head))
        if let bodyGate { steps.append(.wait(bodyGate)) }
        return steps + bodySteps(pieces)
    }

    private func last(_ ending: Ending) -> ServerStep { ending == .stall ? .stall : .end(ending) }

    private func bodySteps(_ pieces: [Data]) -> [ServerStep] {
        if isEndless { return [.repeatForever(pieces.first ?? Data())] }
        var steps: [ServerStep] = []
        var left = bodyCut ?? bodyStall ?? .max
        for (index, piece) in pieces.enumerated() {
            if index < pieceGates.count { steps.append(.wait(pieceGates[index])) }
            steps.append(.send(piece.prefix(left)))
            left -= min(left, piece.count)
            if left == 0 { break }
        }
        if bodyStall != nil { return steps + [.stall] }
        if bodyCut != nil { return steps + [last(faultyEnding)] }
        return steps + [.send(surplus), last(finalEnding)]
    }

    private var faultyEnding: Ending { ending == .keepAlive ? .close : ending }

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
        pieces = pieces.map {
            Data("\(String($0.count, radix: 16))\(chunkExtension)\r\n".utf8) + $0 + Data("\r\n".utf8)
        }
        return pieces + [Data("0\r\n\(Self.text(trailers))\r\n".utf8)]
    }

    private func headBytes() -> Data {
        var text = "\(version) \(status) \(status == 200 ? "OK" : "Status")\r\n" + Self.text(fields)
        switch framing {
        case .length: if status >= 200, status != 204, status != 304 { text += "Content-Length: \(body.count)\r\n" }
        case .lie(let count): text += "Content-Length: \(count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .untilClose: break
        }
        if finalEnding == .close || finalEnding == .reset { text += "Connection: close\r\n" }
        text += "\r\n"
        return Data(text.unicodeScalars.map { $0.value < 256 ? UInt8($0.value) : UInt8(ascii: "?") })
    }

    private static func text(_ fields: HTTPFields) -> String {
        fields.lines.reduce(into: "") { $0 += "\($1.name): \($1.value)\r\n" }
    }
}
