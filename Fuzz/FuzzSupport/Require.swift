// SPDX-License-Identifier: MIT

/// Ends the process with a message, which is a finding, if an invariant doesn't hold.
///
/// In contrast to `precondition`, the message is also printed by optimized programs.
package func require(
    _ condition: Bool, _ message: @autoclosure () -> String = "An invariant doesn’t hold.",
    file: StaticString = #fileID, line: UInt = #line
) {
    guard !condition else { return }
    fatalError(message(), file: file, line: line)
}
