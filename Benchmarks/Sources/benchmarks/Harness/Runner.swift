// SPDX-License-Identifier: MIT

/// A runner that alternates between the contenders of a case, so that other load on the machine affects all of them
/// equally.
struct Runner {
    /// The number of measured rounds.
    let rounds: Int

    /// Measures a case. If a goal is missed by less than a tenth, which can be noise, the case is measured once more.
    func run(_ item: Case, suite: String) async throws -> CaseReport {
        let first = try await measure(item, suite: suite)
        guard first.verdicts.contains(where: \.isNearMiss) else { return first }
        var second = try await measure(item, suite: suite)
        second.wasRepeated = true
        return second
    }

    private func measure(_ item: Case, suite: String) async throws -> CaseReport {
        var samples: [String: [Sample]] = [:]
        for round in -item.warmUps..<min(rounds, item.maxRounds ?? rounds) {
            for contender in item.contenders {
                let sample = try await contender.run(round + item.warmUps)
                if round >= 0 { samples[contender.name, default: []].append(sample) }
            }
        }
        let rows = item.contenders.map { contender in
            ContenderReport(name: contender.name, medians: medians(samples[contender.name] ?? []))
        }
        let own = samples[item.contenders.first?.name ?? ""] ?? []
        let verdicts = item.goals.map { verdict($0, own, $0.rival.flatMap { samples[$0] }) }
        return CaseReport(
            suite: suite, name: item.name, contenders: rows, verdicts: verdicts, point: item.point)
    }

    private func medians(_ samples: [Sample]) -> [Figure: Double] {
        var values: [Figure: [Double]] = [:]
        for sample in samples { for (figure, value) in sample { values[figure, default: []].append(value) } }
        return values.mapValues(median)
    }

    /// Ratios are computed within each round before the median, because consecutive measurements are subject to the
    /// same noise.
    private func verdict(_ goal: Goal, _ own: [Sample], _ rival: [Sample]?) -> Verdict {
        let values = own.compactMap { $0[goal.figure] }
        let reached: Double
        if goal.rival != nil {
            let others = (rival ?? []).compactMap { $0[goal.figure] }
            reached = median(zip(values, others).map { $1 > 0 ? $0 / $1 : .nan })
        } else {
            reached = median(values)
        }
        return Verdict(
            figure: goal.figure, rival: goal.rival, bound: goal.bound, isFloor: goal.isFloor, reached: reached)
    }
}
