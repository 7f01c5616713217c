// SPDX-License-Identifier: MIT

/// The earliest time at which a transfer of a network loop may time out.
///
/// The loop and the callbacks of libcurl share this object. It's used only on the network thread.
final class TransferDeadlines {
    /// The earliest deadline, in nanoseconds of the monotonic clock. The actual deadline of a transfer can be later.
    private(set) var next = Int64.max

    /// Takes a deadline into account.
    func add(_ deadline: Int64) { next = min(next, deadline) }

    func removeAll() { next = .max }
}
