// SPDX-License-Identifier: MIT

import Foundation
import WebImage
import WebImageCommand
import WebImageHTTP
import WebImagePrograms
import WebImageStore

/// The output of the actions.
extension CacheCommand {
    func reportInfo(_ info: DiskCache.Info?, limit: Int) {
        let oldest = info?.oldestEntryDate.map(CacheRow.timestamp)
        let share = Double(info?.size ?? 0) / Double(max(1, limit)) * 100
        let rate = info?.hitRate
        let reads = "\(info?.hits ?? 0) hits, \(info?.misses ?? 0) misses"
        var facts: [ReportField] = [
            ReportField("path", .string(options.directory), options.directory),
            ReportField("entries", .int(info?.entryCount ?? 0), "\(info?.entryCount ?? 0)"),
            ReportField(
                "bytes", .int(info?.size ?? 0),
                "\(NumberFormatting.bytes(info?.size ?? 0)) of \(NumberFormatting.bytes(limit)) (\(NumberFormatting.decimal(share, digits: 1))%)"
            ),
            ReportField("limit", .int(limit), nil),
            ReportField("oldest", JSONValue(oldest), oldest ?? "–"),
            ReportField("hits", .int(info?.hits ?? 0), nil),
            ReportField("misses", .int(info?.misses ?? 0), nil),
            ReportField(
                "hitRate", rate.map { .double(($0 * 10_000).rounded() / 10_000) } ?? .null,
                rate.map { "\(NumberFormatting.decimal($0 * 100, digits: 1))% (\(reads))" } ?? "–", label: "hit rate"),
        ]
        facts.append(
            ReportField(
                "negativeEntries", .int(0), "0 (each process remembers its failures in memory)",
                label: "negative entries"))
        facts.append(
            ReportField("suspended", JSONValue(info?.suspensionReason), info?.suspensionReason, label: "writing"))
        report(facts)
    }

    func reportList(_ entries: [DiskCache.EntryInfo]) {
        let rows = entries.map(CacheRow.init)
        if options.json {
            for row in rows { printJSON(row.json) }
        } else if rows.isEmpty {
            console.print(options.glob == nil ? "The cache is empty." : "No URL in the cache matches the pattern.")
        } else {
            console.print(CacheRow.table(rows, now: Date()).lines(console.out))
        }
    }

    func report(on summary: DiskCache.EntryInfo, _ entry: CacheEntry?) {
        let row = CacheRow(summary)
        let head = entry?.head
        let size = entry?.probe.map { "\($0.size.width)x\($0.size.height)" }
        let fields = head?.head.headers.lines ?? []
        report([
            ReportField("url", .string(row.source), row.source),
            ReportField("key", .string(row.key), row.key),
            ReportField("fileName", .string(row.name), row.name, label: "file name"),
            ReportField("readable", .bool(entry != nil), entry == nil ? "no" : "yes"),
            ReportField("format", JSONValue(row.format), row.format ?? "–"),
            ReportField("size", JSONValue(size), size ?? "–"),
            ReportField(
                "bytes", .int(row.bytes),
                "\(NumberFormatting.bytes(summary.dataSize)), \(NumberFormatting.bytes(row.bytes)) on disk"),
            ReportField("dataSize", .int(summary.dataSize), nil),
            ReportField(
                "storedAt", .string(CacheRow.timestamp(row.stored)), CacheRow.timestamp(row.stored), label: "stored"),
            ReportField(
                "lastAccessedAt", .string(CacheRow.timestamp(row.lastAccess)), CacheRow.timestamp(row.lastAccess),
                label: "accessed"),
            ReportField(
                "expiresAt", JSONValue(row.expires.map(CacheRow.timestamp)),
                row.expires.map(CacheRow.timestamp) ?? "–", label: "expires"),
            ReportField(
                "tags", .array(row.tags.map { .string($0) }), row.tags.isEmpty ? "–" : row.tags.joined(separator: ", ")),
            ReportField(
                "attachment", JSONValue(entry?.userData?.count),
                entry?.userData.map { NumberFormatting.bytes($0.count) }),
            ReportField(
                "httpStatus", JSONValue(head?.head.statusCode),
                head.map { "\($0.head.statusCode) from \($0.finalURL)" },
                label: "status"),
            ReportField(
                "fields", .array(fields.map { .array([.string($0.name), .string($0.value)]) }),
                fields.isEmpty ? nil : fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n"), label: ""),
        ])
    }

    func reportVerified(_ report: DiskCache.MaintenanceReport) -> Int32 {
        let corrupt = ImageError.cache(
            .corruptEntry(reason: "\(NumberFormatting.entries(report.corruptCount)) removed"))
        self.report(
            [
                "checked": .int(report.entryCount), "corrupt": .int(report.corruptCount),
                "recovered": .int(report.recoveredCount),
                "missing": .int(report.missingCount),
            ],
            "\(report.entryCount) checked, \(report.corruptCount) corrupt, \(report.recoveredCount) recovered, "
                + "\(report.missingCount) missing", error: report.corruptCount > 0 ? corrupt : nil)
        return report.corruptCount > 0 ? ExitStatus.failed : ExitStatus.ok
    }

    func report(on result: Result<DiskCache.MaintenanceReport, ImageError>, verb: String) -> Int32 {
        switch result {
        case .success(let transfer): return report(on: transfer, verb: verb)
        case .failure(let error): return fail(error)
        }
    }

    func report(on transfer: DiskCache.MaintenanceReport, verb: String) -> Int32 {
        let failed = transfer.failures.sorted { $0.key < $1.key }
        for (name, error) in failed { console.report(name, error) }
        let failures = transfer.failures.isEmpty ? "" : ", \(transfer.failures.count) rejected"
        let skipped = transfer.skippedCount == 0 ? "" : ", \(transfer.skippedCount) skipped"
        report(
            [
                verb: .int(transfer.entryCount), "bytes": .int(transfer.size), "skipped": .int(transfer.skippedCount),
                "failed": .int(transfer.failures.count),
                "failures": .array(
                    failed.map { name, error in
                        ["input": .string(InputLabel.redacted(name)), "error": JSONValue(error)]
                    }),
            ],
            "\(transfer.entryCount) \(verb) (\(NumberFormatting.bytes(transfer.size)))\(skipped)\(failures)",
            error: failed.first?.value)
        return transfer.failures.isEmpty ? ExitStatus.ok : ExitStatus.failed
    }

    /// A fact in its text and JSON forms.
    struct ReportField {
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

    private func report(_ facts: [ReportField]) {
        guard !options.json else {
            return printJSON(JSONValue.object(facts.map { .init($0.name, $0.json) }))
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
    init(_ entry: DiskCache.EntryInfo) {
        self.init(
            key: entry.key.canonical, source: entry.source, name: entry.key.fileName,
            format: entry.format?.rawValue, bytes: entry.diskSize, stored: entry.storedAt,
            lastAccess: entry.lastAccessedAt,
            expires: entry.expiresAt, tags: entry.tags.sorted())
    }
}
