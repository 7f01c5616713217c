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

    /// Returns `value` as text with a suitable unit.
    func text(_ value: Double) -> String {
        switch self {
        case .bytes: decimal(value / 1_048_576, 1) + " MiB"
        case .psnr: decimal(value, 1) + " dB"
        case .descriptors: decimal(value, 0)
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

/// A group of contenders that do the same work, with the goals of the first one.
struct Case {
    let name: String
    let contenders: [Contender]
    let goals: [Goal]
    /// The number of unmeasured rounds at the beginning, which fill caches and pools.
    var warmUps = 1

    /// Returns the case with additional contenders.
    func against(_ rivals: [Rival]) -> Case {
        Case(
            name: name, contenders: contenders + rivals.map(\.contender), goals: goals + rivals.flatMap(\.goals),
            warmUps: warmUps)
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
