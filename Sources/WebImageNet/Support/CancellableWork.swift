// SPDX-License-Identifier: MIT

/// Work that can be canceled independently of the Swift task that runs it. Implementations are thread-safe.
protocol CancellableWork: Sendable {
    var isCancelled: Bool { get }

    /// Sets the closure that ends the wait that begins now. If the work was canceled, this method calls it immediately.
    func onCancel(_ endWait: @escaping @Sendable () -> Void)
}
