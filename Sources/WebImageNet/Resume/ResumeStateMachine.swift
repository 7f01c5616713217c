// SPDX-License-Identifier: MIT

import WebImageHTTP

/// The state of the body in an exchange that may continue an earlier one and may itself be continued later. It's a
/// pure state machine.
///
/// ```
/// requested ── 200 ──────────────→ whole ──┬─ all bytes ─→ complete
///           ── 206, as requested → rest  ──┼─ too few ──→ short: resume data
///           ── 206, otherwise ───→ refused └─ too many ─→ an error
///           ── anything else ────→ other
/// ```
struct ResumeStateMachine: Equatable {
    /// The meaning of a response head for the body.
    enum HeadStep: Equatable {
        /// A body that begins at 0, so the resume data isn't needed.
        case whole
        /// A body that continues after the resume data. The head is that of the complete response.
        case rest(HTTPResponseHead)
        /// A body that can't be used, because the response has an unexpected range. The string is the reason.
        case refused(String)
        case other
    }

    /// The meaning of the end of the body.
    enum EndStep: Equatable {
        case complete
        case short(Int)
    }

    private let requestedRange: PartialDownload.Validator?
    private let offset: Int
    /// Whether the caller itself requested a range, which this type ignores.
    private let isForeign: Bool
    private var total: Int?
    /// The number of body bytes so far, including the resume data.
    private(set) var position = 0
    /// The plan of a body that continues after resume data.
    private var continued: PartialDownload.Validator?
    private var whole: HTTPResponseHead?
    private(set) var isContinued = false

    /// `isForeign` indicates that the request has the caller's own `Range`.
    init(_ point: PartialDownload?, isForeign: Bool = false) {
        requestedRange = point?.plan
        offset = point?.bytes.count ?? 0
        self.isForeign = isForeign
    }

    /// The plan is computed on demand because most bodies are never resumed. It's `nil` if the body can't be resumed.
    var plan: PartialDownload.Validator? {
        if let continued { return continued }
        guard let whole, let total else { return nil }
        return PartialDownload.Validator(whole, total: total)
    }

    mutating func receiveHead(_ head: HTTPResponseHead) -> HeadStep {
        if isForeign { return .other }
        switch head.statusCode {
        case 200:
            if case .known(let length) = head.bodyLength {
                total = length
                whole = head
            }
            return .whole
        case 206: return receiveRange(head)
        default: return .other
        }
    }

    private mutating func receiveRange(_ head: HTTPResponseHead) -> HeadStep {
        guard let requestedRange else { return receiveUnrequested(head) }
        // libcurl delivers the bytes of a wrong range without an error, so each value is checked here.
        guard let text = head.headers["Content-Range"], head.headers.values(for: "Content-Range").count == 1,
            case .bytes(let first, let last, let whole) = ContentRange(text)
        else { return .refused("status 206 without a valid Content-Range") }
        guard first == offset else {
            return .refused("status 206 starts at byte \(first), but the request starts at byte \(offset)")
        }
        guard last == requestedRange.total - 1, whole == nil || whole == requestedRange.total else {
            return .refused(
                "status 206 with Content-Range \(text), but the complete body has \(requestedRange.total) bytes")
        }
        if case .known(let length) = head.bodyLength, length != last - first + 1 {
            return .refused("status 206 with Content-Range \(text), but the body has \(length) bytes")
        }
        // The stored bytes and the rest are one encoded stream.
        if let coding = PartialDownload.Validator.coding(head.headers), coding != requestedRange.coding {
            return .refused("status 206 with a different content coding")
        }
        if let text = head.headers["ETag"], EntityTag(text)?.description != requestedRange.validator,
            EntityTag(requestedRange.validator) != nil
        {
            return .refused("status 206 with a different ETag")
        }
        let merged = requestedRange.merged(with: head)
        position = offset
        total = requestedRange.total
        continued = requestedRange
        continued?.head = merged
        isContinued = true
        return .rest(merged)
    }

    /// Accepts a 206 response without a requested range if it contains the complete body, because some servers always
    /// respond with 206.
    private func receiveUnrequested(_ head: HTTPResponseHead) -> HeadStep {
        guard let text = head.headers["Content-Range"], case .bytes(0, let last, let whole) = ContentRange(text),
            whole == last + 1
        else { return .refused("status 206, but the request has no range") }
        return .whole
    }

    /// Processes more bytes of the body. Returns `false` if the body is longer than expected.
    mutating func receiveBytes(_ count: Int) -> Bool {
        let (sum, isOverflowing) = position.addingReportingOverflow(count)
        guard !isOverflowing else { return false }
        position = sum
        // libcurl checks the length of a complete body. `Content-Range` specifies the length of a range.
        return !isContinued || total.map { position <= $0 } ?? true
    }

    func end() -> EndStep {
        guard isContinued, let total, position < total else { return .complete }
        return .short(total - position)
    }

    var isWorthKeeping: Bool { position > 0 && position < (total ?? 0) && plan != nil }
}
