// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageHTTP
import WebImagePrograms
import WebImageStore

/// The output of the actions.
extension CacheCommand {
    func reportInfo(_ info: DiskCacheInfo?, limit: Int) {
        let oldest = info?.oldest.map(CacheRow.timestamp)
        let share = Double(info?.bytes ?? 0) / Double(max(1, limit)) * 100
        let rate = info?.hitRate
        let reads = "\(info?.totalHits ?? 0) hits, \(info?.totalMisses ?? 0) misses"
        var facts: [Fact] = [
            Fact("path", .string(options.directory), options.directory),
            Fact("entries", .int(info?.entries ?? 0), "\(info?.entries ?? 0)"),
            Fact(
                "bytes", .int(info?.bytes ?? 0),
                "\(Figures.bytes(info?.bytes ?? 0)) of \(Figures.bytes(limit)) (\(Figures.decimal(share, digits: 1))%)"
            ),
            Fact("limit", .int(limit), nil),
            Fact("oldest", JSONValue(oldest), oldest ?? "–"),
            Fact("hits", .int(info?.totalHits ?? 0), nil),
            Fact("misses", .int(info?.totalMisses ?? 0), nil),
            Fact(
                "hitRate", rate.map { .double(($0 * 10_000).rounded() / 10_000) } ?? .null,
                rate.map { "\(Figures.decimal($0 * 100, digits: 1))% (\(reads))" } ?? "–", label: "hit rate"),
        ]
        facts.append(
            Fact(
                "negativeEntries", .int(0), "0 (each process remembers its failures in memory)",
                label: "negative entries"))
        facts.append(Fact("suspended", JSONValue(info?.suspended), info?.suspended, label: "writing"))
        tell(facts)
    }

    func reportList(_ entries: [DiskEntrySummary]) {
        let rows = entries.map(CacheRow.init)
        if options.json {
            console.print(rows.map(\.json.text))
        } else if rows.isEmpty {
            console.print(options.glob == nil ? "The cache is empty." : "No URL in the cache matches the pattern.")
        } else {
            console.print(CacheRow.table(rows, now: Date()).lines(console.out))
        }
    }

    func report(on summary: DiskEntrySummary, _ entry: DiskEntry?) {
        let row = CacheRow(summary)
        let head = entry?.head
        let size = entry?.probe.map { "\($0.size.width)x\($0.size.height)" }
        let fields = head?.head.fields.lines ?? []
        tell([
            Fact("url", .string(row.source), row.source),
            Fact("key", .string(row.key), row.key),
            Fact("name", .string(row.name), row.name),
            Fact("whole", .bool(entry != nil), entry == nil ? "no" : "yes", label: "readable"),
            Fact("format", JSONValue(row.format), row.format ?? "–"),
            Fact("size", JSONValue(size), size ?? "–"),
            Fact(
                "bytes", .int(row.bytes),
                "\(Figures.bytes(summary.payloadBytes)), \(Figures.bytes(row.bytes)) on disk"),
            Fact("payloadBytes", .int(summary.payloadBytes), nil),
            Fact("stored", .string(CacheRow.timestamp(row.stored)), CacheRow.timestamp(row.stored)),
            Fact(
                "lastAccess", .string(CacheRow.timestamp(row.lastAccess)), CacheRow.timestamp(row.lastAccess),
                label: "accessed"),
            Fact("expires", JSONValue(row.expires.map(CacheRow.timestamp)), row.expires.map(CacheRow.timestamp) ?? "–"),
            Fact(
                "tags", .array(row.tags.map { .string($0) }), row.tags.isEmpty ? "–" : row.tags.joined(separator: ", ")),
            Fact("attachment", JSONValue(entry?.attachment?.count), entry?.attachment.map { Figures.bytes($0.count) }),
            Fact("status", JSONValue(head?.head.status), head.map { "\($0.head.status) from \($0.finalURL)" }),
            Fact(
                "fields", .array(fields.map { .array([.string($0.name), .string($0.value)]) }),
                fields.isEmpty ? nil : fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), label: ""),
        ])
    }

    func reportVerified(_ report: VerifyReport) -> Int32 {
        tell(
            [
                "checked": .int(report.checked), "damaged": .int(report.damaged), "adopted": .int(report.adopted),
                "missing": .int(report.missing),
            ],
            "\(report.checked) checked, \(report.damaged) corrupt, \(report.adopted) recovered, "
                + "\(report.missing) missing")
        return report.damaged > 0 ? ExitStatus.failed : ExitStatus.ok
    }

    func report(on result: Result<DiskTransfer, ImageError>, verb: String) -> Int32 {
        switch result {
        case .success(let transfer): return report(on: transfer, verb: verb)
        case .failure(let error):
            console.report("\(error)")
            return ExitStatus.failed
        }
    }

    func report(on transfer: DiskTransfer, verb: String) -> Int32 {
        for failure in transfer.failures { console.report("\(failure.name): \(failure.error)") }
        let failures = transfer.failures.isEmpty ? "" : ", \(transfer.failures.count) rejected"
        let skipped = transfer.skipped == 0 ? "" : ", \(transfer.skipped) skipped"
        tell(
            [
                verb: .int(transfer.entries), "bytes": .int(transfer.bytes), "skipped": .int(transfer.skipped),
                "failed": .int(transfer.failures.count),
            ],
            "\(transfer.entries) \(verb) (\(Figures.bytes(transfer.bytes)))\(skipped)\(failures)")
        return transfer.failures.isEmpty ? ExitStatus.ok : ExitStatus.failed
    }

    /// A fact in its text and JSON forms.
    struct Fact {
        let name: String
        let json: JSONValue
        /// The text, or `nil` if the text output omits the fact.
        let text: String?
        let label: String

        init(_ name: String, _ json: JSONValue, _ text: String?, label: String? = nil) {
            self.name = name
            self.json = json
            self.text = text
            self.label = label ?? name
        }
    }

    private func tell(_ facts: [Fact]) {
        guard !options.json else {
            return console.print(JSONValue.object(facts.map { .init($0.name, $0.json) }).text)
        }
        let width = (facts.filter { $0.text != nil }.map(\.label.count).max() ?? 0) + 2
        for fact in facts {
            guard let text = fact.text else { continue }
            for (index, line) in text.split(separator: "\n").enumerated() {
                let label = index == 0 ? fact.label : ""
                console.print(DisplayText.padded(label, to: width) + DisplayText.safe(String(line)))
            }
        }
    }
}

extension CacheRow {
    init(_ entry: DiskEntrySummary) {
        self.init(
            key: entry.key, source: entry.source, name: CacheKey(canonical: entry.key).fileName,
            format: entry.format?.rawValue, bytes: entry.bytes, stored: entry.stored, lastAccess: entry.lastAccess,
            expires: entry.expires, tags: entry.tags.sorted())
    }
}
