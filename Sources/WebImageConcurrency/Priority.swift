// SPDX-License-Identifier: MIT

/// A priority of a few levels. The raw values count from zero, without gaps, and order the levels: the highest is the
/// most urgent.
package protocol PriorityLevel: Hashable, Comparable, CaseIterable, RawRepresentable, Sendable where RawValue == Int {}

/// An error type that has a case for work that was canceled.
package protocol CancellableError: Error {
    /// The error of a wait whose task was canceled.
    static var cancelled: Self { get }
}
