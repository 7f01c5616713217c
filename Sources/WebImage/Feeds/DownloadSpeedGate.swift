// SPDX-License-Identifier: MIT

import WebImageConcurrency
import WebImageCore
import WebImageNet

/// The rules that decide which downloads are decoded while they run.
///
/// These are downloads that are slower than a decoder and large enough to benefit. Faster downloads are decoded after
/// they're complete, which needs fewer thread switches.
enum DownloadSpeedGate {
    /// The minimum size in bytes. Smaller images decode in about the time of a thread switch.
    static let leastBytes = 48 << 10
    /// The time after the response head before the pace of a download is evaluated, in seconds.
    static let leastSeconds = 0.02
    /// The maximum rate in bytes per second with which decoders keep up. Large photographs decode at 15 to 60 MB/s.
    static let mostRate = 16e6
    /// The maximum number of bytes to buffer until a download proves to be slow.
    static let maxBufferedBytes = 4 << 20

    /// `seconds` is the time since the response head.
    static func begins(received: Int, expected: Int?, seconds: Double) -> Bool {
        guard seconds >= leastSeconds, Double(received) < seconds * mostRate else { return false }
        guard let expected else { return received >= leastBytes }
        guard expected >= leastBytes, received < expected else { return false }
        // Decoding isn't worth starting if the download is about to finish.
        return Double(expected - received) * seconds >= Double(received) * leastSeconds / 2
    }
}
