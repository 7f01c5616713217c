// SPDX-License-Identifier: MIT

// A program for the tests of isolated decoding. Helpers have no environment and fixed arguments, so the name of the
// program selects its behavior:
//
//     hostile-<seed>    A helper that attacks its program. It isn't confined.
//     confined          A helper with the real confinement, whose coder attacks the confinement.
//     isolation-probe measure <path of webimage-decoder>
//                       Prints the cost of isolation.

import Foundation
import Glibc
import WebImageCore
import WebImageIsolation

let name = CommandLine.arguments[0].split(separator: "/").last ?? ""
if name.hasPrefix("hostile-"), let seed = UInt64(name.dropFirst(8)) {
    HostileHelper(seed: seed).run()
} else if name == "confined" {
    exit(HelperMain.run(CommandLine.arguments, coders: { ImageCoderRegistry([AttackCoder()]) }, prepare: { _ in }))
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "measure" {
    try Measurement.run(CommandLine.arguments[2])
} else {
    exit(2)
}
