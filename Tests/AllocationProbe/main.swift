// SPDX-License-Identifier: MIT

// A program for the tests of failing allocations:
//
//     allocation-probe all|own CASE SAMPLES FILE…
//                      Runs a case on files. The n-th allocation fails, for at most SAMPLES values of n. Each value has
//                      a copy of the process. Prints the allocations, and the typed errors, successes, and failures.
//                      With `own`, only the allocations of the executable fail, and those of libraries succeed.

import CAllocationFaults
import Foundation
import Glibc
import WebImageCodecs
import WebImageCore

/// The exit statuses of a copy.
enum Outcome: Int32 { case success, typedError, leak }

func require(_ condition: Bool, _ message: String) {
    guard !condition else { return }
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
}

let arguments = CommandLine.arguments
require(
    arguments.count >= 5 && ["all", "own"].contains(arguments[1]), "usage: allocation-probe all|own CASE SAMPLES FILE…")
let files = arguments.dropFirst(4).map { FileManager.default.contents(atPath: $0) ?? Data() }
guard let samples = Int(arguments[3]), let body = AllocationCases.body(arguments[2], Array(files)) else { exit(2) }

/// Runs the case with a failing allocation, and returns the outcome.
func run(_ number: Int) -> Int32 {
    wi_faults_arm(number)
    var outcome = Outcome.success
    do {
        try body()
    } catch {
        outcome = error is ImageError ? .typedError : .leak
    }
    wi_faults_disarm()
    PixelPool.shared.trim()
    return (wi_faults_remaining() == 0 ? outcome : .leak).rawValue
}

// The first runs fill the caches of the libraries.
for _ in 0..<2 { require((try? body()) != nil, "the case fails without failing allocations") }
PixelPool.shared.trim()
wi_faults_prepare(arguments[1] == "own" ? 1 : 0)
wi_faults_arm(0)
try body()
let total = Int(wi_faults_disarm())
PixelPool.shared.trim()
require(wi_faults_remaining() == 0, "\(wi_faults_remaining()) allocations remain without failing allocations")

let step = max(1, (total + samples - 1) / samples)
var results: [Int32: [Int]] = [:]
for number in stride(from: 1, through: total, by: step) {
    let copy = wi_faults_copy(20)
    require(copy >= 0, "the process can't be copied")
    if copy == 0 { _exit(run(number)) }
    let result = wi_faults_wait(copy)
    results[result, default: []].append(number)
}
print("allocations \(total)")
for (result, numbers) in results.sorted(by: { $0.key < $1.key }) {
    let name =
        switch result {
        case Outcome.success.rawValue: "success"
        case Outcome.typedError.rawValue: "error"
        case Outcome.leak.rawValue: "leak"
        case ..<0: "signal \(-result)"
        default: "status \(result)"
        }
    print(name, numbers.count, numbers.prefix(5).map(String.init).joined(separator: ","))
}
