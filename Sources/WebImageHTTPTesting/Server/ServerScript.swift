// SPDX-License-Identifier: MIT

import Foundation
import WebImageCore
import WebImageHTTP

/// A step of a connection that sends a response.
enum ResponseStep: Sendable {
    case send(Data)
    /// Continues after the gate is open.
    case wait(TestGate)
    case end(LoopbackServer.Response.Ending)
    /// Sends bytes repeatedly without an end.
    case repeatForever(Data)
    /// Does nothing until the client closes the connection.
    case stall
}

extension LoopbackServer.Response {
    /// Returns the steps that send this response to a request with the given method.
    func script(method: String) -> [ResponseStep] {
        if isSilent { return [.stall] }
        var steps: [ResponseStep] = []
        if let headGate { steps.append(.wait(headGate)) }
        if let rawBytes { return steps + [.send(rawBytes), last(ending)] }
        let head = preamble + headBytes()
        if let truncatesHeadAfter { return steps + [.send(head.prefix(truncatesHeadAfter)), last(faultyEnding)] }
        let hasBody = method != "HEAD" && statusCode >= 200 && statusCode != 204 && statusCode != 304
        guard hasBody else { return steps + [.send(head + surplus), last(ending)] }
        // If nothing separates the head from the body, send both in one write.
        let pieces = framedChunks()
        if bodyGate == nil, chunkGates.isEmpty, truncatesBodyAfter == nil, stallsBodyAfter == nil, !isEndless {
            return steps + [.send(pieces.reduce(into: head) { $0.append($1) } + surplus), last(finalEnding)]
        }
        steps.append(.send(head))
        if let bodyGate { steps.append(.wait(bodyGate)) }
        return steps + bodySteps(pieces)
    }

    private func last(_ ending: Ending) -> ResponseStep { ending == .stall ? .stall : .end(ending) }

    private func bodySteps(_ pieces: [Data]) -> [ResponseStep] {
        if isEndless { return [.repeatForever(pieces.first ?? Data())] }
        var steps: [ResponseStep] = []
        var left = truncatesBodyAfter ?? stallsBodyAfter ?? .max
        for (index, piece) in pieces.enumerated() {
            if index < chunkGates.count { steps.append(.wait(chunkGates[index])) }
            steps.append(.send(piece.prefix(left)))
            left -= min(left, piece.count)
            if left == 0 { break }
        }
        if stallsBodyAfter != nil { return steps + [.stall] }
        if truncatesBodyAfter != nil { return steps + [last(faultyEnding)] }
        return steps + [.send(surplus), last(finalEnding)]
    }

    private var faultyEnding: Ending { ending == .keepAlive ? .close : ending }

    private var finalEnding: Ending {
        guard ending == .keepAlive else { return ending }
        switch framing {
        case .contentLength, .chunked: return .keepAlive
        case .connectionClose: return .close
        case .wrongContentLength(let count): return count > body.count ? .close : .keepAlive
        }
    }

    private func framedChunks() -> [Data] {
        let size = max(chunkSize ?? body.count, 1)
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
        var text = "\(version) \(statusCode) \(statusCode == 200 ? "OK" : "Status")\r\n" + Self.text(headers)
        switch framing {
        case .contentLength:
            if statusCode >= 200, statusCode != 204, statusCode != 304 { text += "Content-Length: \(body.count)\r\n" }
        case .wrongContentLength(let count): text += "Content-Length: \(count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .connectionClose: break
        }
        if finalEnding == .close || finalEnding == .reset { text += "Connection: close\r\n" }
        text += "\r\n"
        return Data(text.unicodeScalars.map { $0.value < 256 ? UInt8($0.value) : UInt8(ascii: "?") })
    }

    private static func text(_ fields: HTTPHeaderFields) -> String {
        fields.lines.reduce(into: "") { $0 += "\($1.name): \($1.value)\r\n" }
    }
}
