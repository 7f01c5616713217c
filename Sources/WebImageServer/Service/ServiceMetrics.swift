// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Synchronization
import WebImage
import WebImageConcurrency

/// The counters of a server, in the text format of Prometheus. This class is thread-safe.
///
/// Add it to the observers of the manager, so that it measures the stages.
package final class ServiceMetrics: ImageManagerObserver {
    private struct Histogram: Sendable {
        /// The upper bounds in seconds.
        static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
        /// The number of values up to each bound, without the values up to lower bounds, and then the larger values.
        private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        private(set) var sum = 0.0

        mutating func add(_ seconds: Double) {
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            sum += seconds
        }
    }

    private struct Values: Sendable {
        var requests: [Int: Int] = [:]
        var stages: [String: Histogram] = [:]
        var rejections: [String: Int] = [:]
        var sentBytes = 0
    }

    /// A number that is read when the metrics are written.
    package struct Gauge: Sendable {
        /// The name with optional labels.
        package var name: String
        /// `counter` or `gauge`.
        package var type: String
        /// The current value.
        package var value: Int

        /// Creates a value.
        package init(_ name: String, _ value: Int, type: String = "gauge") {
            (self.name, self.value, self.type) = (name, value, type)
        }
    }

    private let values = Lock(Values())

    /// Creates counters that are zero.
    package init() {}

    /// Counts the end of a stage.
    package func observe(_ event: ImageManager.Event) {
        guard let duration = event.duration else { return }
        add(duration, stage: event.stage.rawValue)
    }

    /// Adds the duration of a stage.
    package func add(_ duration: Duration, stage: String) {
        values.withLock { $0.stages[stage, default: Histogram()].add(duration / .seconds(1)) }
    }

    /// Counts a response.
    package func count(status: Int, sentBytes: Int) {
        values.withLock {
            $0.requests[status, default: 0] += 1
            $0.sentBytes += sentBytes
        }
    }

    /// Counts a request that the server rejected because of its load.
    package func countRejection(_ reason: String) { values.withLock { $0.rejections[reason, default: 0] += 1 } }

    /// Returns all values in the text format.
    package func text(_ gauges: [Gauge]) -> String {
        let values = values.withLock { $0 }
        var lines = ["# TYPE webimage_requests_total counter"]
        for (status, count) in values.requests.sorted(by: { $0.key < $1.key }) {
            lines.append("webimage_requests_total{status=\"\(status)\"} \(count)")
        }
        lines.append("# TYPE webimage_rejected_requests_total counter")
        for (reason, count) in values.rejections.sorted(by: { $0.key < $1.key }) {
            lines.append("webimage_rejected_requests_total{reason=\"\(reason)\"} \(count)")
        }
        lines += ["# TYPE webimage_sent_bytes_total counter", "webimage_sent_bytes_total \(values.sentBytes)"]
        lines.append("# TYPE webimage_stage_duration_seconds histogram")
        for (stage, histogram) in values.stages.sorted(by: { $0.key < $1.key }) {
            lines += Self.lines(of: histogram, stage)
        }
        var last = ""
        for gauge in gauges {
            let name = String(gauge.name.prefix { $0 != "{" })
            if name != last { lines.append("# TYPE \(name) \(gauge.type)") }
            last = name
            lines.append("\(gauge.name) \(gauge.value)")
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func lines(of histogram: Histogram, _ stage: String) -> [String] {
        let name = "webimage_stage_duration_seconds"
        var (lines, total): ([String], Int) = ([], 0)
        for (bound, count) in zip(Histogram.bounds.map { "\($0)" } + ["+Inf"], histogram.counts) {
            total += count
            lines.append("\(name)_bucket{stage=\"\(stage)\",le=\"\(bound)\"} \(total)")
        }
        return lines + [
            "\(name)_sum{stage=\"\(stage)\"} \(histogram.sum)", "\(name)_count{stage=\"\(stage)\"} \(total)",
        ]
    }

    /// The resident memory of the process in bytes, or 0 if the system doesn't report it.
    package static var residentBytes: Int { residentBytes(of: getpid()) }

    /// The resident memory of the helper processes in bytes, or 0 if the system doesn't report it.
    package static var helperResidentBytes: Int {
        descendants(of: getpid()).map(residentBytes(of:)).reduce(0, +)
    }

    private static func residentBytes(of process: pid_t) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process)/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Returns the running children of a process, their children, and so on.
    private static func descendants(of process: pid_t, depth: Int = 0) -> [pid_t] {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task")) ?? []
        let children = threads.flatMap { thread in
            let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/children", encoding: .utf8)) ?? ""
            return text.split(separator: " ").compactMap { pid_t($0) }
        }
        // A helper has few descendants, and the limit bounds the work in any case.
        return children + (depth < 4 ? children.flatMap { descendants(of: $0, depth: depth + 1) } : [])
    }
}
