// SPDX-License-Identifier: MIT

/// Which downloads are decoded while they run: those that are slower than a decoder, and large enough for it to matter.
/// Whatever comes faster is decoded at once when it is there: that costs fewer changes of threads.
enum StreamPace {
    /// Bytes below which decoding takes about as long as a change of threads.
    static let leastBytes = 48 << 10
    /// Seconds after the head before a download's pace is judged.
    static let leastSeconds = 0.02
    /// Bytes a second that decoders keep up with: large photographs are decoded with 15 to 60 MB/s.
    static let mostRate = 16e6
    /// Bytes that may be kept until a download turns out to be slow.
    static let mostBytesHeld = 4 << 20

    /// Whether to begin, with `received` of `expected` bytes `seconds` after the head.
    static func begins(received: Int, expected: Int?, seconds: Double) -> Bool {
        guard seconds >= leastSeconds, Double(received) < seconds * mostRate else { return false }
        guard let expected else { return received >= leastBytes }
        guard expected >= leastBytes, received < expected else { return false }
        // What is about to end is not worth beginning.
        return Double(expected - received) * seconds >= Double(received) * leastSeconds / 2
    }
}
