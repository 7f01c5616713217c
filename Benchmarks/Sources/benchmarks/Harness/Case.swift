// SPDX-License-Identifier: MIT

/// A kind of number that a contender gives back.
enum Figure: String, Sendable, Codable {
    /// Seconds of processor time of the whole process, per operation.
    case cpu
    /// Seconds that passed, per operation.
    case wall
    /// Median and 99th percentile of the seconds of single operations.
    case p50, p99
    /// The longest single operation in seconds.
    case longest
    /// Bytes of memory.
    case bytes
    /// Open descriptors.
    case descriptors
    /// Decibels.
    case psnr

    /// `value` with a unit that suits it.
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

/// What one run of a contender gave.
typealias Sample = [Figure: Double]

/// One of those that take turns.
struct Contender {
    let name: String
    /// Does the work of one round; rounds are counted from 0.
    let run: (_ round: Int) async throws -> Sample

    init(_ name: String, _ run: @escaping (_ round: Int) async throws -> Sample) {
        self.name = name
        self.run = run
    }
}

/// What the first contender of a case should reach.
struct Goal {
    let figure: Figure
    /// The contender it is divided by; nil for an absolute figure.
    let rival: String?
    let bound: Double
    /// True where more is better.
    let isFloor: Bool

    /// `figure` at most `bound` times that of `rival`.
    static func ratio(_ figure: Figure, to rival: String, atMost bound: Double) -> Goal {
        Goal(figure: figure, rival: rival, bound: bound, isFloor: false)
    }

    /// `figure` at most `bound`, in the figure's unit.
    static func atMost(_ bound: Double, _ figure: Figure) -> Goal {
        Goal(figure: figure, rival: nil, bound: bound, isFloor: false)
    }

    /// `figure` at least `bound`, in the figure's unit.
    static func atLeast(_ bound: Double, _ figure: Figure) -> Goal {
        Goal(figure: figure, rival: nil, bound: bound, isFloor: true)
    }
}

/// A contender that is not everywhere, and what the first contender should reach against it.
struct Rival {
    let contender: Contender
    let goals: [Goal]

    /// Without a `bound` for the ratio of processor time there is no goal.
    init(contender: Contender, atMost bound: Double?) {
        self.contender = contender
        goals = bound.map { [.ratio(.cpu, to: contender.name, atMost: $0)] } ?? []
    }
}

/// Contenders that do the same work, and what the first of them should reach.
struct Case {
    let name: String
    let contenders: [Contender]
    let goals: [Goal]
    /// Rounds that are run and not counted, to fill caches and pools.
    var warmUps = 1

    /// The same with more contenders.
    func against(_ rivals: [Rival]) -> Case {
        Case(
            name: name, contenders: contenders + rivals.map(\.contender), goals: goals + rivals.flatMap(\.goals),
            warmUps: warmUps)
    }
}

/// `value` with a fixed number of decimals.
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
