// SPDX-License-Identifier: MIT

/// A kind of measurement.
enum Figure: String, Sendable, Codable {
    /// The processor time of the whole process per operation, in seconds.
    case cpu
    /// The elapsed time per operation, in seconds.
    case wall
    /// The median and the 99th percentile of the times of single operations, in seconds.
    case p50, p99
    /// The longest time of a single operation, in seconds.
    case longest
    /// An amount of memory, in bytes.
    case bytes
    /// The number of open file descriptors.
    case descriptors
    /// The peak signal-to-noise ratio, in decibels.
    case psnr
    /// The share of the requests, and of the requested bytes, that a cache served, in percent.
    case hits, byteHits
    /// The difference between two shares, in percentage points.
    case shortfall

    /// The name of the figure in the title of a plot.
    var words: String {
        switch self {
        case .cpu: "processor time per item"
        case .wall: "time per item"
        case .p50: "median time of a call"
        case .p99: "99th percentile of the times of a call"
        case .longest: "longest time of a call"
        case .bytes: "memory per item"
        case .descriptors: "descriptors"
        case .psnr: "signal-to-noise ratio"
        case .hits: "hit ratio"
        case .byteHits: "byte hit ratio"
        case .shortfall: "difference of the hit ratio"
        }
    }

    /// Returns `value` as text with a suitable unit.
    func text(_ value: Double) -> String {
        switch self {
        case .bytes: Self.memory(value)
        case .psnr: decimal(value, 1) + " dB"
        case .descriptors: decimal(value, 0)
        case .hits, .byteHits: decimal(value, 2) + " %"
        case .shortfall: decimal(value, 2) + " points"
        default:
            if value < 1e-6 {
                decimal(value * 1e9, 0) + " ns"
            } else if value < 1e-3 {
                decimal(value * 1e6, 1) + " µs"
            } else if value < 1 {
                decimal(value * 1e3, 2) + " ms"
            } else {
                decimal(value, 2) + " s"
            }
        }
    }

    private static func memory(_ bytes: Double) -> String {
        if bytes.magnitude < 4_096 { return decimal(bytes, 0) + " bytes" }
        if bytes.magnitude < 1_048_576 { return decimal(bytes / 1_024, 1) + " KiB" }
        return decimal(bytes / 1_048_576, 1) + " MiB"
    }
}

/// The measurements of one run of a contender.
typealias Sample = [Figure: Double]

/// An implementation that takes part in a case.
struct Contender {
    let name: String
    /// A closure that does the work of one round. Rounds are numbered from 0.
    let run: (_ round: Int) async throws -> Sample

    init(_ name: String, _ run: @escaping (_ round: Int) async throws -> Sample) {
        self.name = name
        self.run = run
    }
}

/// A goal for the first contender of a case.
struct Goal {
    let figure: Figure
    /// The contender by whose measurement that of the first contender is divided, or `nil` for an absolute goal.
    let rival: String?
    let bound: Double
    /// A Boolean value that indicates whether the goal is a minimum instead of a maximum.
    let isFloor: Bool

    /// Returns the goal that `figure` is at most `bound` times that of `rival`.
    static func ratio(_ figure: Figure, to rival: String, atMost bound: Double) -> Goal {
        Goal(figure: figure, rival: rival, bound: bound, isFloor: false)
    }

    /// Returns the goal that `figure` is at most `bound`, in the unit of the measurement.
    static func atMost(_ bound: Double, _ figure: Figure) -> Goal {
        Goal(figure: figure, rival: nil, bound: bound, isFloor: false)
    }

    /// Returns the goal that `figure` is at least `bound` times that of `rival`.
    static func ratioAtLeast(_ bound: Double, _ figure: Figure, of rival: String) -> Goal {
        Goal(figure: figure, rival: rival, bound: bound, isFloor: true)
    }

    /// Returns the goal that `figure` is at least `bound`, in the unit of the measurement.
    static func atLeast(_ bound: Double, _ figure: Figure) -> Goal {
        Goal(figure: figure, rival: nil, bound: bound, isFloor: true)
    }
}

/// An optional contender, which may not be installed, with the goals of the first contender relative to it.
struct Rival {
    let contender: Contender
    let goals: [Goal]

    /// Creates a rival. If `bound` is `nil`, there's no goal for the ratio of processor time.
    init(contender: Contender, atMost bound: Double?) {
        self.contender = contender
        goals = bound.map { [.ratio(.cpu, to: contender.name, atMost: $0)] } ?? []
    }
}

/// The place of a case in a series of cases that differ only in one number.
struct SeriesPoint {
    /// The title of the series.
    let series: String
    /// The name of the number.
    let axis: String
    let value: Int
    /// The measurements to plot, each in its own plot.
    let figures: [Figure]
}

/// A group of contenders that do the same work, with the goals of the first one.
struct Case {
    let name: String
    let contenders: [Contender]
    let goals: [Goal]
    /// The number of unmeasured rounds at the beginning, which fill caches and pools.
    var warmUps = 1
    /// The maximum number of measured rounds, or `nil` for that of the settings.
    var maxRounds: Int?
    /// The place of the case in a series, or `nil` for a case of its own.
    var point: SeriesPoint?

    /// Returns the case with additional contenders.
    func against(_ rivals: [Rival]) -> Case {
        Case(
            name: name, contenders: contenders + rivals.map(\.contender), goals: goals + rivals.flatMap(\.goals),
            warmUps: warmUps, maxRounds: maxRounds, point: point)
    }
}

/// Returns `value` with a fixed number of decimal places.
func decimal(_ value: Double, _ places: Int) -> String {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    guard value.isFinite, value.magnitude < 1e15 else { return "\(value)" }
    let whole = Int((value.magnitude * scale).rounded())
    let sign = value < 0 && whole > 0 ? "-" : ""
    guard places > 0 else { return sign + String(whole) }
    let digits = String(whole)
    let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
    return sign + padded.dropLast(places) + "." + padded.suffix(places)
}
