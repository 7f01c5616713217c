// SPDX-License-Identifier: MIT

import WebImageHTTP

/// How far an exchange is that may continue an earlier one, and may be continued itself. A pure state machine: it
/// is told what comes and says what to do.
///
/// ```
/// asked ── 200 ──────────────→ whole ──┬─ all bytes ─→ complete
///       ── 206, as asked ────→ rest  ──┼─ too few ──→ short: kept for later
///       ── 206, otherwise ───→ refused └─ too many ─→ an error
///       ── anything else ────→ other
/// ```
struct ResumeState: Equatable {
    /// What an answer's head means for the body.
    enum HeadStep: Equatable {
        /// The body begins at 0; bytes from before are of no use.
        case whole
        /// The body goes on behind the bytes from before; the head is that of the whole.
        case rest(ResponseHead)
        /// A range that was not asked for: the body is of no use.
        case refused(String)
        /// Nothing about ranges: another status.
        case other
    }

    /// What the end of the body means.
    enum EndStep: Equatable {
        case complete
        /// So many bytes are missing.
        case short(Int)
    }

    private let asked: ResumePoint.Plan?
    private let offset: Int
    /// Whether the caller asked for a range of its own, which is then its own affair.
    private let isForeign: Bool
    private var total: Int?
    /// Bytes of the body so far, those from before included.
    private(set) var position = 0
    /// What a body that goes on is part of.
    private var continued: ResumePoint.Plan?
    /// The head of a body that began at 0.
    private var whole: ResponseHead?
    /// Whether the body goes on behind bytes from before.
    private(set) var isContinued = false

    /// - Parameters:
    ///   - point: what the request asks to continue; nil where it asks for the whole.
    ///   - isForeign: whether the request has a Range of its caller's.
    init(_ point: ResumePoint?, isForeign: Bool = false) {
        asked = point?.plan
        offset = point?.bytes.count ?? 0
        self.isForeign = isForeign
    }

    /// What the body is part of; nil where it is not to be continued. Made when it is asked for: most bodies are never
    /// continued.
    var plan: ResumePoint.Plan? {
        if let continued { return continued }
        guard let whole, let total else { return nil }
        return ResumePoint.Plan(whole, total: total)
    }

    /// The final answer's head came.
    mutating func takeHead(_ head: ResponseHead) -> HeadStep {
        if isForeign { return .other }
        switch head.status {
        case 200:
            if case .known(let length) = head.bodyLength {
                total = length
                whole = head
            }
            return .whole
        case 206: return takeRange(head)
        default: return .other
        }
    }

    private mutating func takeRange(_ head: ResponseHead) -> HeadStep {
        guard let asked else { return takeUnasked(head) }
        guard let text = head.fields["Content-Range"], head.fields.values(of: "Content-Range").count == 1,
            case .bytes(let first, let last, let whole) = ContentRange(text)
        else { return .refused("206 without a usable Content-Range") }
        guard first == offset else { return .refused("206 from \(first), asked from \(offset)") }
        guard last == asked.total - 1, whole == nil || whole == asked.total else {
            return .refused("206 with \(text), the whole had \(asked.total) bytes")
        }
        if case .known(let length) = head.bodyLength, length != last - first + 1 {
            return .refused("206 with \(text) and \(length) bytes")
        }
        if let coding = ResumePoint.Plan.coding(head.fields), coding != asked.coding {
            return .refused("206 in another coding")
        }
        if let text = head.fields["ETag"], EntityTag(text)?.description != asked.validator,
            EntityTag(asked.validator) != nil
        {
            return .refused("206 of another version")
        }
        let merged = asked.merged(with: head)
        position = offset
        total = asked.total
        continued = asked
        continued?.head = merged
        isContinued = true
        return .rest(merged)
    }

    /// Some servers answer 206 to everything: fine where it is the whole.
    private func takeUnasked(_ head: ResponseHead) -> HeadStep {
        guard let text = head.fields["Content-Range"], case .bytes(0, let last, let whole) = ContentRange(text),
            whole == last + 1
        else { return .refused("206 without being asked for a range") }
        return .whole
    }

    /// More of the body came. False where it is more than the whole.
    mutating func takeBytes(_ count: Int) -> Bool {
        let (sum, isOverflowing) = position.addingReportingOverflow(count)
        guard !isOverflowing else { return false }
        position = sum
        // A whole body's length is libcurl's to watch; the range's was told by Content-Range.
        return !isContinued || total.map { position <= $0 } ?? true
    }

    /// The body ended in order.
    func end() -> EndStep {
        guard isContinued, let total, position < total else { return .complete }
        return .short(total - position)
    }

    /// Whether the bytes so far are worth keeping after a loss.
    var isWorthKeeping: Bool { position > 0 && position < (total ?? 0) && plan != nil }
}
