// SPDX-License-Identifier: MIT

/// A type that represents a priority with a few levels.
///
/// The raw values are consecutive integers that start at 0 and order the levels. The highest level is the most urgent.
public protocol PriorityLevel: Hashable, Comparable, CaseIterable, RawRepresentable, Sendable where RawValue == Int {}
