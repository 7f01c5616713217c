// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Connects a C function with the signature of the signal, and returns the ID of the connection. `handler` and
    /// `data` must stay valid until `object` is destroyed or the connection is disconnected.
    @MainActor
    @discardableResult
    func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, _ data: gpointer?) -> gulong
    {
        g_signal_connect_data(object, signal, handler, data, nil, GConnectFlags(rawValue: 0))
    }

    /// A Swift closure as the user data of a signal. It's released with the connection.
    @MainActor
    final class SignalAction<Arguments> {
        let call: @MainActor (Arguments) -> Void

        init(_ call: @escaping @MainActor (Arguments) -> Void) { self.call = call }

        static func of(_ data: gpointer?) -> SignalAction? {
            data.map { Unmanaged<SignalAction>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Connects a C function whose user data is `action`. The function gets the action with ``SignalAction/of(_:)``.
    @MainActor
    func connect<Arguments>(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, action: SignalAction<Arguments>
    ) {
        g_signal_connect_data(
            object, signal, handler, Unmanaged.passRetained(action).toOpaque(),
            { data, _ in
                if let data { Unmanaged<AnyObject>.fromOpaque(data).release() }
            }, GConnectFlags(rawValue: 0))
    }
#endif
