// SPDX-License-Identifier: MIT

import Foundation

/// A run of this program in a dedicated process, which measures itself.
///
/// In a process that has loaded images before, new work reuses memory that was freed but is still resident, so the
/// measured memory would be too low.
enum ProbeProcess {
    /// Runs this program, or another program in the same directory, and returns its standard output.
    static func output(_ arguments: [String], input: [String] = [], program: String? = nil) throws -> Data {
        let process = Process()
        let path = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.executableURL = program.map { path.deletingLastPathComponent().appending(path: $0) } ?? path
        process.arguments = arguments
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.joined(separator: "\n").utf8))
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Skipped(reason: "the probe \(arguments.joined(separator: " ")) failed")
        }
        return output
    }
}
