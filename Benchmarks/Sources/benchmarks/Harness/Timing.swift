// SPDX-License-Identifier: MIT

/// Measures the time per operation of `work`, which performs `operations` operations.
func timed(_ operations: Int, _ work: () throws -> Void) rethrows -> Sample {
    let (cpu, wall) = (Clocks.processCPU(), Clocks.wall())
    try work()
    return perOperation(operations, cpu: cpu, wall: wall)
}

/// Measures the time per operation of asynchronous `work`, which performs `operations` operations.
func timed(_ operations: Int, _ work: () async throws -> Void) async rethrows -> Sample {
    let (cpu, wall) = (Clocks.processCPU(), Clocks.wall())
    try await work()
    return perOperation(operations, cpu: cpu, wall: wall)
}

private func perOperation(_ operations: Int, cpu: Double, wall: Double) -> Sample {
    let count = Double(max(1, operations))
    return [.cpu: (Clocks.processCPU() - cpu) / count, .wall: (Clocks.wall() - wall) / count]
}

/// The times of single operations.
struct Latencies {
    private(set) var seconds: [Double] = []

    mutating func add(since start: Double) { add(seconds: Clocks.wall() - start) }

    mutating func add(seconds: Double) { self.seconds.append(seconds) }

    /// The median, the 99th percentile, and the maximum.
    var sample: Sample {
        let sorted = seconds.sorted()
        guard let last = sorted.last else { return [:] }
        return [.p50: sorted[sorted.count / 2], .p99: sorted[sorted.count * 99 / 100], .longest: last]
    }
}

/// Returns the middle value, or the mean of the two middle values.
func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    guard !sorted.isEmpty else { return .nan }
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

/// Prevents the optimizer from removing work whose result isn't used.
@inline(never)
func consume<Value>(_ value: Value) { withExtendedLifetime(value) {} }
