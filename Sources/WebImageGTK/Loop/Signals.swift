// SPDX-License-Identifier: MIT

#if GTK
    import CGTK4

    /// Connects `handler`, a C function of the signal's own signature, with `data`; both must live as long as `object`, or
    /// until the connection, whose number is returned, is disconnected.
    @MainActor
    @discardableResult
    func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ handler: GCallback, _ data: gpointer?) -> gulong
    {
        g_signal_connect_data(object, signal, handler, data, nil, GConnectFlags(rawValue: 0))
    }

    /// A Swift closure as the data of a signal; released with the connection.
    @MainActor
    final class SignalAction<Arguments> {
        let call: @MainActor (Arguments) -> Void

        init(_ call: @escaping @MainActor (Arguments) -> Void) { self.call = call }

        static func of(_ data: gpointer?) -> SignalAction? {
            data.map { Unmanaged<SignalAction>.fromOpaque($0).takeUnretainedValue() }
        }
    }

    /// Connects a C function whose data is `action`, which it may find with ``SignalAction/of(_:)``.
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
