// SPDX-License-Identifier: MIT

// A program for the tests of isolated decoding. Helpers have no environment and fixed arguments, so the name of the
// program selects its behavior:
//
//     confined…         A helper with the real confinement, whose coder attacks the confinement.
//     isolation-probe measure <path of webimage-decoder>
//                       Prints the cost of isolation.
//     isolation-probe memory <path of webimage-decoder>
//                       Prints the address space that helpers need.
//     isolation-probe faults <path of webimage-decoder>
//                       Lets each system call fail with which a program talks to its helpers.
//     isolation-probe network
//                       Lets each system call fail with which a download talks to its server.
//     isolation-probe serve
//                       Serves the image of `network` until the standard input ends.
//     isolation-probe locate
//                       Prints the path of the helper, or the reason why there's none.

import Foundation
import Glibc
import WebImageCore
import WebImageIsolation

let name = CommandLine.arguments[0].split(separator: "/").last ?? ""
if name.hasPrefix("confined") {
    exit(HelperMain.run(CommandLine.arguments, coders: { ImageCoderRegistry([AttackCoder()]) }, prepare: { _ in }))
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "measure" {
    try Measurement.run(CommandLine.arguments[2])
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "memory" {
    try AddressSpace.run(CommandLine.arguments[2])
} else if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "faults" {
    exit(try ChannelFaults(CommandLine.arguments[2]).run())
} else if CommandLine.arguments.dropFirst() == ["network"] {
    exit(try NetworkFaults.run())
} else if CommandLine.arguments.dropFirst() == ["serve"] {
    try NetworkFaults.serve()
} else if CommandLine.arguments.dropFirst() == ["locate"] {
    let (path, reason) = HelperLocation.find(nil)
    print(path ?? reason)
} else {
    exit(2)
}
