// SPDX-License-Identifier: MIT

import Synchronization
import WebImageConcurrency

/// The network conditions that managers and prefetchers take into account: whether the connection is metered, and the
/// measured throughput.
///
/// The application or WebImageGTK sets ``isMetered``, for example from the NetworkManager property `Metered` or from
/// GNetworkMonitor. Managers measure the throughput. On a metered network, prefetchers start no requests, and requests
/// with ``ImageRequest/lowerQuality`` load their lowest quality. This class is thread-safe.
public final class NetworkConditions: Sendable {
    private struct Measurement: Sendable {
        /// The moving average, in bytes per second.
        var average: Double
        /// The time of the last download, in seconds of the time source.
        var date: Double
    }

    /// The conditions of the process. All managers and prefetchers use them by default.
    public static let shared = NetworkConditions()

    /// The minimum size of a measured download, in bytes. Latency dominates the time of smaller ones.
    static let smallestMeasuredDownload = 16 << 10
    static let newestWeight = 0.2
    /// The time after which a measurement is no longer used, in seconds. PINRemoteImage uses the same value.
    static let lifetime = 60.0

    private let metered: ObservableValue<Bool>
    private let measurement = Lock<Measurement?>(nil)
    private let time: TimeSource

    /// Creates conditions that are independent of ``shared``.
    ///
    /// - Parameter isMetered: A Boolean value that indicates whether the network is metered. The default is `false`.
    public convenience init(isMetered: Bool = false) { self.init(isMetered: isMetered, time: .system) }

    /// Creates conditions whose measurements expire according to a time source.
    package init(isMetered: Bool = false, time: TimeSource) {
        metered = ObservableValue(isMetered)
        self.time = time
    }

    /// A Boolean value that indicates whether the network is metered.
    ///
    /// Prefetchers have received a change when the setter returns. Requests use the value at their start. You can use
    /// the property from any thread.
    public var isMetered: Bool {
        get { metered.value }
        set { metered.value = newValue }
    }

    /// The measured throughput in bytes per second, or `nil` if no download finished within the last minute.
    ///
    /// The value is an exponential moving average over the downloads of all managers with these conditions. The most
    /// recent download has a weight of 20%. The time of a download begins when the connection is established and
    /// includes the wait for the response. Concurrent downloads are measured individually, so the value can be lower
    /// than the capacity of the connection. Downloads of less than 16 KiB don't count.
    public var throughput: Double? {
        let now = time.uptime()
        return measurement.withLock { measurement in
            guard let measurement, now - measurement.date < Self.lifetime else { return nil }
            return measurement.average
        }
    }

    /// Adds a finished download of `byteCount` bytes to the average.
    package func recordDownload(byteCount: Int, duration: Duration) {
        let seconds = duration / .seconds(1)
        guard byteCount >= Self.smallestMeasuredDownload, seconds > 0 else { return }
        let (speed, now) = (Double(byteCount) / seconds, time.uptime())
        measurement.withLock { measurement in
            guard let before = measurement, now - before.date < Self.lifetime else {
                measurement = Measurement(average: speed, date: now)
                return
            }
            let average = before.average + (speed - before.average) * Self.newestWeight
            measurement = Measurement(average: average, date: now)
        }
    }

    /// Calls `observer` with the current ``isMetered`` and after every change until ``stopObserving(_:)``.
    func follow(_ observer: @escaping @Sendable (Bool) -> Void) -> Int { metered.follow(observer) }

    func stopObserving(_ token: Int) { metered.stopObserving(token) }
}
