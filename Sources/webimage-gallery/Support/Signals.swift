// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// A Swift closure as the user data of a signal.
    @MainActor
    private final class Handler {
        let call: @MainActor (UnsafeMutableRawPointer) -> Void

        init(_ call: @escaping @MainActor (UnsafeMutableRawPointer) -> Void) { self.call = call }
    }

    private let release: @convention(c) (gpointer?, UnsafeMutablePointer<GClosure>?) -> Void = { data, _ in
        if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
    }

    private func call(_ object: gpointer?, _ data: gpointer?) {
        guard let object, let data else { return }
        // Safe: `assumeIsolated` runs synchronously, so the pointers never leave the main thread.
        nonisolated(unsafe) let (sender, pointer) = (object, data)
        MainActor.assumeIsolated { Unmanaged<Handler>.fromOpaque(pointer).takeUnretainedValue().call(sender) }
    }

    /// Connects a signal that has no arguments and no result. The object retains the closure, which receives the
    /// object.
    @MainActor
    func on(
        _ object: UnsafeMutableRawPointer?, _ signal: String,
        _ action: @escaping @MainActor (UnsafeMutableRawPointer) -> Void
    ) {
        guard let object else { return }
        let function: @convention(c) (gpointer?, gpointer?) -> Void = { call($0, $1) }
        g_signal_connect_data(
            object, signal, unsafeBitCast(function, to: GCallback.self),
            Unmanaged.passRetained(Handler(action)).toOpaque(),
            release, GConnectFlags(rawValue: 0))
    }

    /// Connects a signal that has one pointer argument in addition to the object, such as `notify` and `row-activated`.
    /// Otherwise, this function is like ``on(_:_:_:)``.
    @MainActor
    func onNotify(
        _ object: UnsafeMutableRawPointer?, _ signal: String,
        _ action: @escaping @MainActor (UnsafeMutableRawPointer) -> Void
    ) {
        guard let object else { return }
        let function: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { object, _, data in call(object, data)
        }
        g_signal_connect_data(
            object, signal, unsafeBitCast(function, to: GCallback.self),
            Unmanaged.passRetained(Handler(action)).toOpaque(),
            release, GConnectFlags(rawValue: 0))
    }

    /// A closure that takes an argument and returns a result.
    @MainActor
    final class Callback<Argument, Answer> {
        let call: @MainActor (Argument) -> Answer

        init(_ call: @escaping @MainActor (Argument) -> Answer) { self.call = call }

        /// The user data of a C callback. It must be released when the callback is destroyed.
        var retained: UnsafeMutableRawPointer { Unmanaged.passRetained(self).toOpaque() }

        static func of(_ data: gpointer?) -> Callback? {
            data.map { Unmanaged<Callback>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Connects a C function whose user data is `callback`.
    @MainActor
    func connect<Argument, Answer>(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ function: GCallback,
        _ callback: Callback<Argument, Answer>
    ) {
        g_signal_connect_data(object, signal, function, callback.retained, release, GConnectFlags(rawValue: 0))
    }
#endif
