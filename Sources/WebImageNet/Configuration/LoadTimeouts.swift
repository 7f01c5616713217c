// SPDX-License-Identifier: MIT

/// The timeouts of one transfer, in seconds.
package struct LoadTimeouts: Sendable, Hashable {
    /// The timeout for establishing the connection, including TLS. The default is 10 seconds.
    package var connect: Double
    /// The timeout without any received byte, before or during the response. The default is 15 seconds.
    package var idle: Double
    /// The timeout for the entire load, including redirects but not the time in the queue. The default is 60 seconds.
    package var total: Double

    /// Creates timeouts.
    package init(connect: Double = 10, idle: Double = 15, total: Double = 60) {
        self.connect = connect
        self.idle = idle
        self.total = total
    }

    /// Returns a timeout for a message, such as “10 s” or “0.25 s”.
    package static func text(_ seconds: Double) -> String {
        let milliseconds = (seconds * 1_000).rounded()
        guard milliseconds.magnitude < 1e12 else { return "\(seconds) s" }
        let number = Int(milliseconds)
        return number.isMultiple(of: 1_000) ? "\(number / 1_000) s" : "\(Double(number) / 1_000) s"
    }
}

extension ImageDownloader.Configuration {
    /// The timeouts of requests that don't specify any.
    package var loadTimeouts: LoadTimeouts {
        LoadTimeouts(
            connect: connectTimeout / .seconds(1), idle: idleTimeout / .seconds(1), total: timeout / .seconds(1))
    }
}

extension NetworkOptions {
    /// The timeouts that a request specifies.
    package struct Timeouts: Sendable, Hashable {
        /// The timeout for establishing the connection.
        package var connect: Duration?
        /// The timeout without any received byte.
        package var idle: Duration?
        /// The timeout for the entire load.
        package var total: Duration?

        /// Returns these timeouts, and those of `defaults` instead of the ones that aren't set.
        package func replacing(_ defaults: LoadTimeouts) -> LoadTimeouts {
            var timeouts = defaults
            if let connect { timeouts.connect = connect / .seconds(1) }
            if let idle { timeouts.idle = idle / .seconds(1) }
            if let total { timeouts.total = total / .seconds(1) }
            return timeouts
        }
    }

    /// The timeouts of the request.
    package var timeouts: Timeouts { Timeouts(connect: connectTimeout, idle: idleTimeout, total: timeout) }
}
